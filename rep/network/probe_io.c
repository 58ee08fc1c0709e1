/* The trial: a namespace in the place of the machine, so that nothing of the machine is touched,
 * and in it one in the place of a container. */
#include "rep/driver/nft_words.h"
#include "rep/network/network.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process in a network namespace of its own, which it has when this returns; -1 with errno. */
static pid_t container(void)
{
    int pipes[2];
    char byte;
    if (pipe(pipes) < 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) == 0 && write(pipes[1], "", 1) == 1) {
            close(pipes[1]);
            for (;;) {
                pause();
            }
        }
        _exit(1);
    }
    close(pipes[1]);
    bool made = pid > 0 && read(pipes[0], &byte, 1) == 1;
    close(pipes[0]);
    if (pid > 0 && !made) {
        waitpid(pid, NULL, 0);
        errno = EPERM;
    }
    return made ? pid : -1;
}

static int make_table(const char *table, const char *subnet, struct err *err)
{
    SCOPED_BUF(words);
    nft_base(table, subnet, &words);
    return filter_run(buf_string(&words), NULL, err);
}

int network_probe_here(const char *dir, const char *subnet, struct err *err)
{
    SCOPED_ARENA(a);
    struct network_plan plan;
    json_t *read;
    int rc = plan_load(&a, dir, &plan, &read, err);
    if (rc < 0) {
        return rc;
    }
    pid_t pid = unshare(CLONE_NEWNET) < 0 ? -1 : container();
    if (pid < 0) {
        rc = err_set(err, ERR_UNAVAILABLE, "no network namespace can be made: %s",
                     strerror(errno));
    } else {
        struct err later;
        rc = make_table(plan.table, subnet, err);
        rc = rc < 0 ? rc : network_attach(dir, pid, err);
        int after = network_detach(dir, rc < 0 ? &later : err);
        rc = rc < 0 ? rc : after;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    json_decref(read);
    return rc;
}
