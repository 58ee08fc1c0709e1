/* Network plugins: programs that get JSON on their standard input and words in their environment,
 * and answer on their standard output (CNI specification 0.4.0). */
#include "rep/driver/cni_words.h"
#include "rep/network/network.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 256 * 1024 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* The first program of that name in the directories; NULL: none. */
static const char *find_program(struct arena *a, const char *path, const char *name)
{
    while (*path) {
        size_t size = strcspn(path, ":");
        const char *file = arena_printf(a, "%.*s/%s", (int)size, path, name);
        if (size > 0 && access(file, X_OK) == 0) {
            return file;
        }
        path += size + (path[size] == ':');
    }
    return NULL;
}

/* All of it at once, so that neither waits for the other. -1 with errno. */
static int input_file(const char *text)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        return -1;
    }
    return lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd;
}

static pid_t spawn(const char *program, char *const *env, int input, int output)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it works for us alone */
        setpgid(0, 0);
        dup2(input, 0);
        dup2(output, 1);
        char *const argv[] = {(char *)(uintptr_t)program, NULL};
        execve(program, argv, env);
        dprintf(2, "%s: %s\n", program, strerror(errno));
        _exit(127);
    }
    return pid;
}

/* Until the end of file, the bound or the time. */
static bool read_answer(int fd, struct buf *out)
{
    int64_t until = now_ms() + PLUGIN_MS;
    char chunk[4096];
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = until - now_ms();
        if (left <= 0 || poll(&p, 1, (int)left) == 0) {
            return false;
        }
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n == 0) {
            return true;
        }
        if (n > 0 && out->size < ANSWER_BYTES_MAX) {
            buf_append(out, chunk, (size_t)n);
        }
    }
}

/* Its exit status; -1 when it had to be killed. */
static int await(pid_t pid, int output, struct buf *said)
{
    bool whole = read_answer(output, said);
    int status = -1;
    if (!whole) {
        kill(-pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return whole && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *program, char *const *env, const char *input, struct buf *said,
               struct err *err)
{
    int pipes[2], in = input_file(input);
    if (in < 0 || pipe2(pipes, O_CLOEXEC) < 0) {
        return err_set(err, ERR_IO, "cannot run %s: %s", program, strerror(errno));
    }
    pid_t pid = spawn(program, env, in, pipes[1]);
    close(in);
    close(pipes[1]);
    int status = pid < 0 ? -1 : await(pid, pipes[0], said);
    close(pipes[0]);
    if (status != 0) {
        char why[256];
        cni_failure(buf_string(said), why, sizeof(why));
        return err_set(err, ERR_UNAVAILABLE, "network plugin %s failed: %s", program,
                       status < 0 ? "it did not end in time" : why);
    }
    return 0;
}

/* One plugin; its answer is appended to `said`. */
static int run_plugin(const struct network_plan *plan, size_t plugin, const char *command,
                      const char *space, json_t *before, struct buf *said, struct err *err)
{
    SCOPED_ARENA(a);
    const char *name = cni_program(plan->list, plugin);
    const char *program = find_program(&a, plan->path, name);
    if (!program) {
        return err_set(err, ERR_NOT_FOUND, "no network plugin %s in %s", name, plan->path);
    }
    char *const env[] = {
        arena_printf(&a, "CNI_COMMAND=%s", command),
        arena_printf(&a, "CNI_CONTAINERID=%s", plan->id),
        arena_printf(&a, "CNI_NETNS=%s", space),
        arena_strdup(&a, "CNI_IFNAME=eth0"),
        arena_printf(&a, "CNI_PATH=%s", plan->path),
        arena_strdup(&a, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        NULL,
    };
    json_t *input = cni_input(plan->list, plugin, before, plan->ports, plan->port_count);
    char *text = json_dumps(input, JSON_COMPACT);
    json_decref(input);
    int result = text ? run(program, env, text, said, err)
                      : err_set(err, ERR_INVALID, "its configuration is not UTF-8");
    free(text);
    return result;
}

json_t *plugins_add(const struct network_plan *plan, const char *space, struct err *err)
{
    json_t *result = NULL;
    for (size_t i = 0; i < cni_count(plan->list); i++) {
        SCOPED_BUF(said);
        int rc = run_plugin(plan, i, "ADD", space, result, &said, err);
        json_decref(result);
        result = rc < 0 ? NULL : json_loads(buf_string(&said), 0, NULL);
        if (rc == 0 && !result) {
            err_set(err, ERR_UNAVAILABLE, "network plugin %s said nothing that can be read",
                    cni_program(plan->list, i));
        }
        if (!result) {
            return NULL;
        }
    }
    return result;
}

int plugins_delete(const struct network_plan *plan, const char *space, json_t *result,
                   struct err *err)
{
    int first = 0;
    for (size_t i = cni_count(plan->list); i-- > 0;) {
        SCOPED_BUF(said);
        int rc = run_plugin(plan, i, "DEL", space, result, &said, first < 0 ? NULL : err);
        first = first < 0 ? first : rc;
    }
    return first;
}
