#include "common/shell/log_io.h"

#include "common/base/memory.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One message as the burst limit sees it. */
struct burst {
    enum log_level level;
    char *message;
    int64_t since_ns; /* monotonic start of its second */
    unsigned written;
    unsigned suppressed;
};

struct log {
    char *name;
    enum log_level level;
    int fd;
    unsigned lost; /* lines since the last that was written */
    struct burst bursts[LOG_MESSAGES];
};

static const char *const level_names[] = {
    [LOG_DEBUG_LEVEL] = "debug",
    [LOG_INFO_LEVEL] = "info",
    [LOG_WARN_LEVEL] = "warn",
    [LOG_ERROR_LEVEL] = "error",
};

const char *log_level_name(enum log_level level)
{
    assert(level <= LOG_ERROR_LEVEL);
    return level_names[level];
}

int log_level_of(const char *name, enum log_level *ret_level)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(*level_names); i++) {
        if (strcmp(level_names[i], name) == 0) {
            *ret_level = (enum log_level)i;
            return 0;
        }
    }
    return -1;
}

struct log *log_new(const char *name, enum log_level level, int fd)
{
    struct log *log = mem_zeroed(sizeof(*log));
    log->name = mem_text(name);
    log->level = level;
    log->fd = fd;
    return log;
}

/* A line being made; what does not fit is cut. Room for "...\n" is kept back. */
struct line {
    char text[LOG_LINE_BYTES];
    size_t size;
    bool cut;
};

static void add(struct line *l, const char *s, size_t size)
{
    size_t room = sizeof(l->text) - 4 - l->size;
    if (size > room) {
        l->cut = true;
        size = 0;
    }
    if (!l->cut) {
        memcpy(l->text + l->size, s, size);
        l->size += size;
    }
}

/* Escapes what could end the line or move a terminal's cursor; bytes above 0x7f pass as UTF-8. */
static void add_escaped(struct line *l, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        char escaped[8];
        if (c == '\n') {
            add(l, "\\n", 2);
        } else if (c < 0x20 || c == 0x7f) {
            add(l, escaped, (size_t)snprintf(escaped, sizeof(escaped), "\\x%02x", c));
        } else {
            add(l, s, 1);
        }
    }
}

static void add_time(struct line *l)
{
    struct timespec now;
    struct tm tm;
    char text[64];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t size = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    size += (size_t)snprintf(text + size, sizeof(text) - size, ".%03ldZ ", now.tv_nsec / 1000000);
    add(l, text, size);
}

/* A log that cannot be written must not stop the process: a closed stderr, or one that nobody
 * reads, loses lines. What is ready takes a line at once, for a line is smaller than what pipes and
 * sockets have free when they are. */
static bool is_ready(const struct log *log)
{
    struct pollfd p = {.fd = log->fd, .events = POLLOUT};
    return poll(&p, 1, 0) != 0;
}

static void write_line(const struct log *log, struct line *l)
{
    if (l->cut) {
        memcpy(l->text + l->size, "...", 3);
        l->size += 3;
    }
    l->text[l->size++] = '\n';
    ssize_t n;
    do {
        n = write(log->fd, l->text, l->size);
    } while (n < 0 && errno == EINTR);
}

static void write_message(const struct log *log, enum log_level level, const char *message,
                          const char *data)
{
    struct line l = {.size = 0};
    add_time(&l);
    add(&l, log_level_name(level), strlen(log_level_name(level)));
    add(&l, " ", 1);
    add_escaped(&l, log->name);
    add(&l, " \"", 2);
    add_escaped(&l, message);
    add(&l, "\"", 1);
    if (*data) {
        add(&l, " ", 1);
        add_escaped(&l, data);
    }
    write_line(log, &l);
}

static void emit(struct log *log, enum log_level level, const char *message, const char *data)
{
    if (log->lost && is_ready(log)) {
        char count[40];
        snprintf(count, sizeof(count), "count=%u", log->lost);
        log->lost = 0;
        write_message(log, LOG_WARN_LEVEL, "log lines are lost", count);
    }
    if (log->lost || !is_ready(log)) {
        log->lost++;
        return;
    }
    write_message(log, level, message, data);
}

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* Tells how many lines were left out and forgets the message. */
static void settle(struct log *log, struct burst *b)
{
    if (b->message && b->suppressed) {
        char data[40];
        snprintf(data, sizeof(data), "suppressed=%u", b->suppressed);
        emit(log, b->level, b->message, data);
    }
    free(b->message);
    *b = (struct burst){0};
}

static struct burst *find(struct log *log, const struct log_line *line, int64_t now_ns)
{
    struct burst *oldest = &log->bursts[0];
    for (size_t i = 0; i < LOG_MESSAGES; i++) {
        struct burst *b = &log->bursts[i];
        if (b->message && b->level == line->level && strcmp(b->message, line->message) == 0) {
            return b;
        }
        if (!b->message) {
            oldest = b;
            break;
        }
        if (b->since_ns < oldest->since_ns) {
            oldest = b;
        }
    }
    settle(log, oldest);
    *oldest = (struct burst){.level = line->level, .since_ns = now_ns};
    oldest->message = mem_text(line->message);
    return oldest;
}

void log_put(struct log *log, const struct log_line *line)
{
    if (!log || line->level < log->level) {
        return;
    }
    int64_t now_ns = monotonic_ns();
    struct burst *b = find(log, line, now_ns);
    if (now_ns - b->since_ns >= SECOND_NS) {
        unsigned suppressed = b->suppressed;
        b->since_ns = now_ns;
        b->written = b->suppressed = 0;
        if (suppressed) {
            char data[40];
            snprintf(data, sizeof(data), "suppressed=%u", suppressed);
            emit(log, line->level, line->message, data);
        }
    }
    if (b->written >= (line->single ? LOG_SINGLES : LOG_BURST)) {
        b->suppressed++;
        return;
    }
    b->written++;
    emit(log, line->level, line->message, line->data ? line->data : "");
}

void log_printf(struct log *log, enum log_level level, const char *message,
                const char *data_format, ...)
{
    if (!log || level < log->level) {
        return;
    }
    char data[LOG_LINE_BYTES];
    va_list args;
    va_start(args, data_format);
    vsnprintf(data, sizeof(data), data_format, args);
    va_end(args);
    log_put(log, &(struct log_line){.level = level, .message = message, .data = data});
}

bool log_tick(struct log *log)
{
    if (!log) {
        return false;
    }
    int64_t now_ns = monotonic_ns();
    bool counted = false;
    for (size_t i = 0; i < LOG_MESSAGES; i++) {
        struct burst *b = &log->bursts[i];
        if (b->suppressed && now_ns - b->since_ns >= SECOND_NS) {
            char data[40];
            snprintf(data, sizeof(data), "suppressed=%u", b->suppressed);
            emit(log, b->level, b->message, data);
            b->since_ns = now_ns;
            b->written = b->suppressed = 0;
        }
        counted = counted || b->suppressed;
    }
    return counted;
}

void log_free(struct log *log)
{
    if (!log) {
        return;
    }
    for (size_t i = 0; i < LOG_MESSAGES; i++) {
        settle(log, &log->bursts[i]);
    }
    free(log->name);
    free(log);
}
