/* A real etcd for tests: on random loopback ports, in a directory of its own, with the flags that
 * design.md 10 names. The same from the shell: test/tool/etcd-server. Tests run in the root of the
 * tree. */
#pragma once

#include "common/base/err.h"
#include "common/shell/etcd_io.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct etcd_server_config {
    bool tls;
    int64_t quota_bytes; /* 0 = etcd's default */
};

struct etcd_server {
    struct etcd_server_config config;
    char dir[64];
    char endpoint[64];              /* "https://127.0.0.1:port" */
    char ca[96], cert[96], key[96]; /* of a client; empty without TLS */
    int port;
    int peer_port;
    pid_t pid; /* 0 = not running */
};

/* Whether an etcd can be run here; tests skip themselves when not. */
bool etcd_server_possible(void);

/* Starts one and waits until it serves. ret is filled in; end it with etcd_server_done(). */
int etcd_server_start(const struct etcd_server_config *config, struct etcd_server *ret,
                      struct err *err);

/* kill -9 at once (a crash), and starting it again on the same data and ports, waiting until it
 * serves. */
void etcd_server_kill(struct etcd_server *s);
int etcd_server_restart(struct etcd_server *s, struct err *err);

/* SIGSTOP and SIGCONT. */
void etcd_server_pause(struct etcd_server *s);
void etcd_server_resume(struct etcd_server *s);

/* What a client needs. Borrows the server's strings. */
struct etcd_config etcd_server_client(const struct etcd_server *s);

/* Ends the process and removes the directory. Accepts one that never started. */
void etcd_server_done(struct etcd_server *s);
