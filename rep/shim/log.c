/* A log of rotated files: PATH is written, PATH.1 the one before, and so on. Bounded in size; a
 * full disk costs log lines, never the container. */
#include "rep/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* False when the present file cannot be moved out of the way at all. */
static bool rotate(struct shim_log *l, int files)
{
    char from[64], to[64];
    if (l->fd >= 0) {
        close(l->fd);
        l->fd = -1;
    }
    for (int i = files - 1; i >= 1; i--) {
        if (i == 1) {
            snprintf(from, sizeof(from), "%s", l->path);
        } else {
            snprintf(from, sizeof(from), "%s.%d", l->path, i - 1);
        }
        snprintf(to, sizeof(to), "%s.%d", l->path, i);
        rename(from, to);
    }
    if (unlink(l->path) < 0 && errno != ENOENT) {
        l->error = errno;
        return false;
    }
    l->size = 0;
    return true;
}

static bool ready(struct shim_log *l)
{
    struct stat st;
    if (l->fd >= 0) {
        return true;
    }
    l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (l->fd < 0) {
        l->error = errno;
        return false;
    }
    l->size = fstat(l->fd, &st) == 0 ? (long long)st.st_size : 0;
    return true;
}

/* A line of which not all could be written is taken back: the next one would go on in it. */
static void take_back(struct shim_log *l, const char *begin, const char *at)
{
    const char *end = at > begin ? memrchr(begin, '\n', (size_t)(at - begin)) : NULL;
    long long torn = at - (end ? end + 1 : begin);
    struct stat st;
    if (torn > 0 && fstat(l->fd, &st) == 0 && ftruncate(l->fd, st.st_size - torn) == 0) {
        l->size -= torn;
        l->dropped += torn;
    }
}

static bool put(struct shim_log *l, const char *data, size_t size)
{
    const char *begin = data;
    while (size > 0) {
        ssize_t n = write(l->fd, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            l->error = errno;
            l->dropped += (long long)size;
            take_back(l, begin, data);
            return false;
        }
        data += n;
        size -= (size_t)n;
        l->size += n;
    }
    return true;
}

/* Says in the log itself that something is missing from it. */
static void confess(struct shim_log *l)
{
    char line[300], time[LOG_TIME_SIZE + 1];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    log_time_print(now.tv_sec * INT64_C(1000000000) + now.tv_nsec, time);
    int n = snprintf(line, sizeof(line),
                     "%s stderr F %s -- corkboard: %lld bytes of log were lost here: %s --\n", time,
                     l->source, l->dropped, strerror(l->error));
    long long lost = l->dropped;
    l->dropped = 0;
    if (!put(l, line, (size_t)n)) {
        l->dropped = lost;
    }
}

/* How much of `data` still goes to the present file: whole lines where there are some. */
static size_t fitting(const struct shim_log *l, const struct options *o, const char *data,
                      size_t size)
{
    long long room = o->log_bytes - l->size;
    if (room >= (long long)size) {
        return size;
    }
    if (room <= 0) {
        return 0;
    }
    const char *end = memrchr(data, '\n', (size_t)room);
    if (end) {
        return (size_t)(end - data) + 1;
    }
    return l->size > 0 ? 0 : (size_t)room;
}

void log_write(struct shim_log *l, const struct options *o, const char *data, size_t size)
{
    while (size > 0) {
        if (!ready(l)) {
            l->dropped += (long long)size;
            return;
        }
        if (l->dropped > 0) {
            confess(l);
        }
        size_t n = fitting(l, o, data, size);
        if (n == 0 && rotate(l, o->log_files)) {
            continue;
        }
        if (n == 0) {
            l->dropped += (long long)size;
            return;
        }
        if (!put(l, data, n)) {
            l->dropped += (long long)(size - n);
            return;
        }
        data += n;
        size -= n;
    }
}

/* Whoever had the lock before may have written to the file, or put another in its place. */
static void catch_up(struct shim_log *l)
{
    struct stat mine, there;
    if (l->fd < 0) {
        return;
    }
    if (fstat(l->fd, &mine) == 0 && stat(l->path, &there) == 0 && mine.st_ino == there.st_ino) {
        l->size = (long long)mine.st_size;
    } else {
        close(l->fd);
        l->fd = -1;
    }
}

void log_lock(struct shim_log *l)
{
    if (l->shared && l->lock < 0) {
        l->lock = open(l->shared, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    l->locked = l->shared && l->lock >= 0 && flock(l->lock, LOCK_EX) == 0;
    if (l->shared) {
        catch_up(l);
    }
}

void log_unlock(struct shim_log *l)
{
    if (l->locked) {
        flock(l->lock, LOCK_UN);
        l->locked = false;
    }
}
