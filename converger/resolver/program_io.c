#include "converger/resolver/program_io.h"

#include "converger/resolver/git_text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMPLAINT_BYTES_MAX = 4096, CHUNK = 64 * 1024 };

int64_t program_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct ends {
    int output[2], complaint[2];
};

static void close_end(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static int open_ends(struct ends *e, struct err *err)
{
    *e = (struct ends){{-1, -1}, {-1, -1}};
    if (pipe2(e->output, O_CLOEXEC) == 0 && pipe2(e->complaint, O_CLOEXEC) == 0) {
        return 0;
    }
    return err_set(err, ERR_IO, "no pipe: %s", strerror(errno));
}

static void close_ends(struct ends *e)
{
    for (int i = 0; i < 2; i++) {
        close_end(&e->output[i]);
        close_end(&e->complaint[i]);
    }
}

/* In a group of its own, so that what it starts is ended with it. */
static int spawn(const struct program_run *p, struct ends *e, pid_t *ret_pid, struct err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, e->output[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, e->complaint[1], STDERR_FILENO);
    int r = posix_spawnp(ret_pid, p->argv[0], &files, &attributes, (char *const *)p->argv,
                         (char *const *)p->env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close_end(&e->output[1]);
    close_end(&e->complaint[1]);
    return r ? err_set(err, ERR_IO, "%s cannot be run: %s", p->argv[0], strerror(r)) : 0;
}

/* What is there is taken; the end is closed when there will be no more. */
static void take(int *fd, struct buf *into)
{
    char chunk[CHUNK];
    ssize_t n = read(*fd, chunk, sizeof(chunk));
    if (n > 0) {
        buf_append(into, chunk, (size_t)n);
    } else if (n == 0 || errno != EINTR) {
        close_end(fd);
    }
}

/* Of a complaint the last bytes count. */
static void keep_end(struct buf *b)
{
    if (b->size > COMPLAINT_BYTES_MAX) {
        buf_consume(b, b->size - COMPLAINT_BYTES_MAX);
    }
}

static int listen_to(const struct program_run *p, struct ends *e, struct buf *output,
                     struct buf *complaint, struct err *err)
{
    while (e->output[0] >= 0 || e->complaint[0] >= 0) {
        int64_t left = p->end_ms - program_now_ms();
        if (left <= 0) {
            return err_set(err, ERR_TIMEOUT, "%s took too long", p->argv[0]);
        }
        struct pollfd fds[] = {{e->output[0], POLLIN, 0}, {e->complaint[0], POLLIN, 0}};
        poll(fds, 2, left > 1000 ? 1000 : (int)left);
        if (fds[0].revents) {
            take(&e->output[0], output);
        }
        if (fds[1].revents) {
            take(&e->complaint[0], complaint);
            keep_end(complaint);
        }
        if (output->size > p->bytes_max) {
            return err_set(err, ERR_TOO_LARGE, "more than %zu bytes", p->bytes_max);
        }
    }
    return 0;
}

static int ended(struct arena *a, pid_t pid, const struct buf *complaint, struct err *err)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    const char *line = git_text_complaint(a, buf_bytes(complaint));
    if (WIFSIGNALED(status)) {
        return err_set(err, ERR_IO, "ended by signal %d %s", WTERMSIG(status), line);
    }
    return err_set(err, ERR_IO, "%s", line[0] ? line : "ended without a word");
}

int program_run_to_end(struct arena *a, const struct program_run *p, struct bytes *ret_output,
                       struct err *err)
{
    assert(p->argv[0]);
    struct ends e;
    SCOPED_BUF(output);
    SCOPED_BUF(complaint);
    pid_t pid = -1;
    int r = open_ends(&e, err);
    r = r < 0 ? r : spawn(p, &e, &pid, err);
    if (r == 0) {
        r = listen_to(p, &e, &output, &complaint, err);
        if (r < 0) {
            kill(-pid, SIGKILL);
        }
        struct err end = {0};
        int how = ended(a, pid, &complaint, &end);
        if (r == 0 && how < 0) {
            r = err_set(err, end.code, "%s", end.text);
        }
    }
    if (r == 0) {
        *ret_output = (struct bytes){arena_copy(a, output.data, output.size), output.size};
    }
    close_ends(&e);
    return r;
}
