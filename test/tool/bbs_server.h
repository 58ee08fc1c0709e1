/* A bbs for tests, in a process of its own: the role and the shell that ship, on a free loopback
 * port. */
#ifndef TEST_TOOL_BBS_SERVER_H
#define TEST_TOOL_BBS_SERVER_H

#include "test/tool/certs.h"
#include "test/tool/etcd_server.h"

struct bbs_server {
    pid_t pid;
    int port;
    char log_path[96];
};

/* Starts it and waits until it listens; it may need a while more to be ready. Fails the test when
 * it does not come up. Its log lives beside the certificates. */
void bbs_server_start(struct bbs_server *s, const char *name, struct certs *certs,
                      const struct tls_files *files, const struct etcd_server *etcd);

/* SIGTERM; the exit code, or the signal that ended it, negative. Removes the log. */
int bbs_server_end(struct bbs_server *s);

#endif
