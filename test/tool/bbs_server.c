#include "test/tool/bbs_server.h"

#include "bbs/bbs.h"
#include "common/shell/host_io.h"
#include "test/tool/patience.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void bbs_server_start(struct bbs_server *s, const char *name, struct certs *certs,
                      const struct tls_files *files, const struct etcd_server *etcd)
{
    snprintf(s->log_path, sizeof(s->log_path), "%s/%s.log", certs->dir, name);
    int fd = open(s->log_path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        dup2(fd, STDERR_FILENO);
        struct host_config config = {
            .name = name,
            .listen = "127.0.0.1:0",
            .tls = *files,
            .etcd = etcd->endpoint,
            .etcd_tls = {.ca = etcd->ca, .cert = etcd->cert, .key = etcd->key},
        };
        struct err err;
        struct role *role = bbs_new(&(struct bbs_config){.url = "https://127.0.0.1", .name = name});
        int r = host_run(role, &config, &err);
        if (r < 0) {
            dprintf(STDERR_FILENO, "failed: %s\n", err.text);
        }
        role_free(role);
        certs_forget(certs);
        exit(r < 0 ? 100 : r);
    }
    close(fd);
    s->port = patience_port_in_log(s->log_path, "\"listens\"");
}

int bbs_server_end(struct bbs_server *s)
{
    int status = 0;
    kill(s->pid, SIGTERM);
    for (struct patience p = {0}; waitpid(s->pid, &status, WNOHANG) == 0 && patience(&p);) {
    }
    unlink(s->log_path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
