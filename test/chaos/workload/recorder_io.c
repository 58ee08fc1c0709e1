#include "test/chaos/workload/recorder_io.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct recorder {
    int fd;
    pthread_mutex_t lock;
    char name[64];
};

int64_t chaos_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void chaos_sleep_ms(int64_t ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

struct recorder *recorder_open(const char *dir, const char *name)
{
    char file[4096];
    struct recorder *r = calloc(1, sizeof(*r));
    if (!r) {
        errx(1, "no memory");
    }
    snprintf(file, sizeof(file), "%s/history", dir);
    if (mkdir(file, 0755) != 0 && errno != EEXIST) {
        err(2, "cannot make %s", file);
    }
    snprintf(file, sizeof(file), "%s/history/%s.jsonl", dir, name);
    snprintf(r->name, sizeof(r->name), "%s", name);
    r->fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (r->fd < 0) {
        err(2, "cannot write %s", file);
    }
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void recorder_close(struct recorder *r)
{
    if (r) {
        close(r->fd);
        free(r);
    }
}

static void write_all(struct recorder *r, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(r->fd, text, size);
        if (n < 0 && errno != EINTR) {
            err(2, "cannot write history/%s.jsonl", r->name); /* half a history is none */
        }
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

void record(struct recorder *r, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(line);
    if (!text) {
        errx(2, "history/%s.jsonl: a line is no JSON", r->name);
    }
    size_t size = strlen(text);
    text[size] = '\n'; /* in the place of the NUL, so that a line is one write */
    pthread_mutex_lock(&r->lock);
    write_all(r, text, size + 1);
    pthread_mutex_unlock(&r->lock);
    free(text);
}
