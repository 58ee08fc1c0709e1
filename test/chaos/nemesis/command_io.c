#include "test/chaos/nemesis/command_io.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_WORDS_MAX = 80, TIMED_OUT = 255 };

int64_t nanoseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void exec_command(const char **argv, int output)
{
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(output, 1);
    dup2(output, 2);
    execv("/bin/sh", (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Reads to the end of the output, or until the time is over; gives whether it ended. */
static bool read_output(int fd, int64_t deadline_ns, char *said, size_t size)
{
    size_t used = 0;
    for (;;) {
        char rest[4096];
        int64_t left_ms = (deadline_ns - nanoseconds_now()) / 1000000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = left_ms > 0 ? poll(&p, 1, (int)left_ms) : 0;
        ssize_t got = ready > 0 ? read(fd, rest, sizeof(rest)) : -1;
        if (ready == 0 || got == 0) {
            said[used] = '\0';
            return ready > 0;
        }
        size_t room = size - 1 - used, take = got > 0 ? (size_t)got : 0;
        take = take < room ? take : room;
        memcpy(said + used, rest, take);
        used += take;
    }
}

static void to_one_line(char *said)
{
    size_t size = strlen(said);
    while (size && said[size - 1] == '\n') {
        said[--size] = '\0';
    }
    for (char *c = said; *c; c++) {
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    }
}

static int wait_for_end(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool command_run(const char *command, const char *words, size_t size, int count,
                 int64_t limit_ms, struct command_result *ret_result)
{
    char text[4096];
    const char *argv[COMMAND_WORDS_MAX + 5] = {"sh", "-c", text, "sh"};
    int ends[2], at = 4;
    snprintf(text, sizeof(text), "%s \"$@\"", command);
    for (int i = 0; i < count && i < COMMAND_WORDS_MAX; i++) {
        argv[at++] = words + (size_t)i * size;
    }
    *ret_result = (struct command_result){.status = 127, .said = "cannot start a process"};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        exec_command(argv, ends[1]);
    }
    close(ends[1]);
    if (pid > 0) {
        int64_t deadline = nanoseconds_now() + limit_ms * 1000000;
        bool ended = read_output(ends[0], deadline, ret_result->said, sizeof(ret_result->said));
        if (!ended) {
            kill(-pid, SIGKILL);
        }
        ret_result->status = wait_for_end(pid);
        ret_result->status = ended ? ret_result->status : TIMED_OUT;
        to_one_line(ret_result->said);
    }
    close(ends[0]);
    return ret_result->status == 0;
}
