#include "common/base/version.h"
#include "common/cli/cli_io.h"

#include "common/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A log is not a terminal: it gets fewer lines. */
enum { PROGRESS_MS = 2000 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

void cli_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool cli_interrupted(void)
{
    return interrupted;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t cli_now_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t cli_wall_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

void cli_sleep_ms(int64_t ms)
{
    if (ms > 0 && !cli_interrupted()) {
        struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
        nanosleep(&t, NULL);
    }
}

static bool write_out(struct bytes text)
{
    return fwrite(text.data, 1, text.size, stdout) == text.size && fflush(stdout) == 0;
}

int cli_print_or(struct bytes text, const char *instead, struct err *err)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool written = write_out(text);
    int error = errno;
    signal(SIGPIPE, before == SIG_ERR ? SIG_DFL : before);
    return written ? 0 : err_set(err, ERR_IO, "%s (%s)", instead, strerror(error));
}

static int unwritable(int error, struct err *err)
{
    if (error == EPIPE) { /* as in `bbs ps | head`: the end that every filter has, quietly */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return err_set(err, ERR_IO, "cannot write the output: %s", strerror(error));
}

int cli_print(struct bytes text, struct err *err)
{
    return write_out(text) ? 0 : unwritable(errno, err);
}

int cli_output_check(struct err *err)
{
    struct pollfd p = {.fd = STDOUT_FILENO};
    if (poll(&p, 1, 0) > 0 && (p.revents & POLLERR)) {
        return unwritable(EPIPE, err);
    }
    bool takes = write(STDOUT_FILENO, "", 0) == 0 || errno == EINTR || errno == EAGAIN;
    return takes ? 0 : unwritable(errno, err);
}

unsigned cli_columns(void)
{
    struct winsize w;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

/* How many bytes of the text fit into one line of the terminal: one that wraps could not be
 * replaced by the next. */
static int fitting(const char *text)
{
    struct winsize w;
    size_t room = SIZE_MAX;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1) {
        room = w.ws_col - 1u; /* the cursor stands in the last column */
    }
    const char *end = text;
    for (; *end; end++) {
        bool letter = ((unsigned char)*end & 0xc0) != 0x80; /* else a later byte of one in UTF-8 */
        if (letter && room-- == 0) {
            break;
        }
    }
    return (int)(end - text);
}

void cli_progress(struct cli_progress *p, const char *text)
{
    bool terminal = isatty(STDERR_FILENO);
    if (!text) {
        fputs(terminal && p->shown[0] ? "\r\033[K" : "", stderr);
        p->shown[0] = 0;
        return;
    }
    bool soon = !terminal && p->shown[0] && cli_now_ms() - p->shown_ms < PROGRESS_MS;
    if (soon || strncmp(p->shown, text, sizeof(p->shown) - 1) == 0) {
        return;
    }
    p->shown_ms = cli_now_ms();
    snprintf(p->shown, sizeof(p->shown), "%s", text);
    if (terminal) {
        fprintf(stderr, "\r\033[K%.*s", fitting(p->shown), p->shown);
    } else {
        fprintf(stderr, "%s\n", p->shown);
    }
    fflush(stderr);
}

void cli_progress_end(struct cli_progress *p, const char *text)
{
    if (!isatty(STDERR_FILENO) && p->shown[0] &&
        strncmp(p->shown, text, sizeof(p->shown) - 1) != 0) {
        fprintf(stderr, "%.*s\n", (int)sizeof(p->shown) - 1, text);
    }
    cli_progress(p, NULL);
}

int cli_exit_of(enum err_code code)
{
    switch (code) {
    case ERR_INVALID:
    case ERR_TOO_LARGE:
        return CLI_USAGE;
    case ERR_NOT_FOUND:
        return CLI_NOT_FOUND;
    case ERR_EXISTS:
    case ERR_CONFLICT:
        return CLI_CONFLICT;
    case ERR_UNAVAILABLE:
        return CLI_UNAVAILABLE;
    case ERR_TIMEOUT:
        return CLI_TIMEOUT;
    case ERR_DENIED:
        return CLI_DENIED;
    default:
        return CLI_FAILED;
    }
}

static int run(struct invocation *call, struct err *err)
{
    SCOPED_BUF(out);
    int r = 0;
    if (call->help) {
        cli_help(call, &out);
        r = cli_print(buf_bytes(&out), err);
    } else if (call->version) {
        buf_printf(&out, "%s %s (corkboard)\n", call->program->name, CORKBOARD_VERSION);
        r = cli_print(buf_bytes(&out), err);
    } else if (call->completion) {
        cli_completion(call->program, &out);
        r = cli_print(buf_bytes(&out), err);
    } else {
        r = cli_complete(call, environ, err);
        r = r < 0 ? r : call->command->run(call, err);
    }
    return r;
}

/* A standard descriptor that is closed would be the number of the next file or socket, and what is
 * printed or logged would go there. So it is opened, the wrong way round: it can still not be used.
 */
static void fill_closed_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) { /* those below it are open: it is the next number */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

/* Ctrl-C has one wording, whatever the command was about then. A command that gave an exit status
 * has told what it had to tell. */
static void tell_end(const struct cli_program *program, int r, bool interrupted_by_user,
                     const struct err *err)
{
    static const char word[] = "interrupted";
    const char *text = r < 0 ? err->text : NULL;
    bool said = text && strncmp(text, word, sizeof(word) - 1) == 0;
    if (interrupted_by_user && !said) {
        fprintf(stderr, "%s: %s%s%s\n", program->name, word, text ? ": " : "", text ? text : "");
    } else if (text) {
        fprintf(stderr, "%s: %s\n", program->name, text);
    }
}

int cli_main(const struct cli_program *program, int argc, char *const *argv)
{
    fill_closed_descriptors();
    SCOPED_ARENA(arena);
    struct invocation call;
    struct err err = {.code = ERR_IO, .text = "failed"};
    int r = cli_parse(&arena, program, argc, argv, &call, &err);
    r = r < 0 ? r : run(&call, &err);
    bool interrupted_by_user = r != 0 && cli_interrupted();
    tell_end(program, r, interrupted_by_user, &err);
    return interrupted_by_user ? CLI_INTERRUPTED : r < 0 ? cli_exit_of(err.code) : r;
}
