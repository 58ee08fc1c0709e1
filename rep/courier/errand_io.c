#include "rep/courier/errand_io.h"

#include "common/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TELL_MS = 1000,        /* between two lines of progress */
    TOLD_BYTES = 8 * 1024, /* of a line, and of an answer, at most */
};

struct errand_tell {
    int fd;
    int64_t told_ms, total;
};

int64_t errand_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the child ---- */

static void tell_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR) {
            _exit(1); /* the parent is gone */
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

void errand_moved(struct errand_tell *tell, int64_t bytes, int64_t total)
{
    int64_t now = errand_now_ms();
    if (total == tell->total && now - tell->told_ms < TELL_MS) {
        return;
    }
    char line[64];
    int n = snprintf(line, sizeof(line), "moved %lld %lld\n", (long long)bytes, (long long)total);
    tell->told_ms = now;
    tell->total = total;
    tell_all(tell->fd, line, (size_t)n);
}

void errand_note(struct errand_tell *tell, const char *line)
{
    char text[2100];
    int n = snprintf(text, sizeof(text), "note %.2048s\n", line);
    tell_all(tell->fd, text, (size_t)n);
}

_Noreturn static void child(const struct errand *e, int fd, pid_t parent)
{
    struct errand_tell tell = {.fd = fd, .total = -1};
    struct courier_answer answer = {0};
    struct err err = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    tell.told_ms = errand_now_ms();
    if (e->work(e->context, &tell, &answer, &err) == 0) {
        answer.done = true;
    } else {
        answer = (struct courier_answer){.code = err.code ? err.code : ERR_UNKNOWN};
        snprintf(answer.text, sizeof(answer.text), "%s", err.text);
    }
    SCOPED_BUF(text);
    buf_append_string(&text, "answer\n");
    answer_print(&answer, &text);
    tell_all(fd, text.data, text.size);
    _exit(0);
}

/* ---- the parent ---- */

struct hearing {
    const struct errand *e;
    struct buf told;
    bool answered; /* what is in `told` now is the answer */
    int rc;        /* below 0: it is given up, says err */
    struct err err;
};

/* Nobody is waited for who does not read. */
static void progress(const struct hearing *h, int64_t bytes, int64_t total)
{
    char line[64];
    struct pollfd p = {.fd = h->e->progress_fd, .events = POLLOUT};
    if (h->e->progress_fd >= 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLOUT)) {
        int n = snprintf(line, sizeof(line), "%lld %lld\n", (long long)bytes, (long long)total);
        (void)!write(h->e->progress_fd, line, (size_t)n);
    }
}

static void take_line(struct hearing *h, const char *line)
{
    long long bytes, total;
    if (strcmp(line, "answer") == 0) {
        h->answered = true;
    } else if (sscanf(line, "moved %lld %lld", &bytes, &total) == 2 && bytes >= 0 && total >= -1) {
        progress(h, bytes, total);
        h->rc = h->e->moved ? h->e->moved(h->e->context, bytes, total, &h->err) : 0;
    } else if (strncmp(line, "note ", 5) == 0 && h->e->noted) {
        h->e->noted(h->e->context, line + 5);
    }
}

static void take_lines(struct hearing *h)
{
    while (!h->answered && h->rc == 0 && h->told.size > 0) {
        uint8_t *end = memchr(h->told.data, '\n', h->told.size);
        if (!end) {
            break;
        }
        size_t size = (size_t)(end - h->told.data) + 1;
        *end = '\0';
        take_line(h, (const char *)h->told.data);
        buf_consume(&h->told, size);
    }
    if (h->told.size > TOLD_BYTES && h->rc == 0) {
        h->rc = err_set(&h->err, ERR_INVALID, "the courier's helper told nonsense");
    }
}

/* Reads until the child closes its end, tells nonsense, or takes too long. */
static void hear(struct hearing *h, int fd)
{
    int64_t end_ms = errand_now_ms() + h->e->whole_ms;
    while (h->rc == 0) {
        int64_t left = end_ms - errand_now_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0) {
            h->rc = err_set(&h->err, ERR_TIMEOUT, "it took longer than it may");
        } else if (poll(&p, 1, left < 1000 ? (int)left : 1000) > 0) {
            buf_reserve(&h->told, 1024);
            ssize_t n = read(fd, h->told.data + h->told.size, 1024);
            if (n == 0 || (n < 0 && errno != EINTR)) {
                return;
            }
            h->told.size += n > 0 ? (size_t)n : 0;
            take_lines(h);
        }
    }
}

static int outcome(struct hearing *h, int status, struct courier_answer *ret, struct err *err)
{
    if (h->rc) {
        return err_set(err, h->err.code, "%s", h->err.text);
    }
    if (h->answered && answer_parse(buf_bytes(&h->told), ret, NULL) == 0) {
        return ret->done ? 0 : err_set(err, ret->code, "%s", ret->text);
    }
    if (WIFSIGNALED(status)) {
        return err_set(err, ERR_UNKNOWN, "the courier's helper was killed by signal %d%s",
                       WTERMSIG(status), WTERMSIG(status) == SIGKILL ? " (out of memory?)" : "");
    }
    return err_set(err, ERR_UNKNOWN, "the courier's helper ended without an answer, status %d",
                   WEXITSTATUS(status));
}

int errand_run(const struct errand *e, struct courier_answer *ret, struct err *err)
{
    int ends[2], status = 0;
    pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(e, ends[1], self);
    }
    int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_set(err, ERR_IO, "cannot start a process: %s", strerror(error));
    }
    struct hearing h = {.e = e, .told = buf_empty()};
    hear(&h, ends[0]);
    if (h.rc) {
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    int rc = outcome(&h, status, ret, err);
    close(ends[0]);
    buf_done(&h.told);
    return rc;
}
