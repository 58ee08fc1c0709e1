/* From what a container's process writes to lines of its log: parts of long ones, the time, and the
 * limit of bytes per second. What is over the limit is dropped, by whole lines, and once a second
 * the log says so. */
#include "rep/shim/shim.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUT_BYTES = 32 * 1024 };
#define SECOND_NS 1000000000LL

/* A line of a stream that has not ended. */
struct unfinished {
    char text[LOG_PART_SIZE];
    size_t size;
    bool begun;    /* a part of it is in the log */
    bool dropping; /* the rest of it is dropped */
};

static struct unfinished unfinished[2]; /* by stream */

/* Lines of the log that are not written yet. */
static char waiting[OUT_BYTES];
static size_t waiting_size;

static struct bucket own_bucket;

static long long clock_ns(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static void write_waiting(struct shim_lines *l)
{
    if (waiting_size > 0) {
        log_write(&l->log, l->o, waiting, waiting_size);
        waiting_size = 0;
    }
}

static void put(struct shim_lines *l, int stream, char flag, const char *text, size_t size)
{
    if (sizeof(waiting) - waiting_size < l->head_size + size + 1) {
        write_waiting(l);
    }
    char *to = waiting + waiting_size;
    memcpy(to, l->heads[stream], l->head_size);
    to[LOG_FLAG_AT] = flag;
    memcpy(to + l->head_size, text, size);
    to[l->head_size + size] = '\n';
    waiting_size += l->head_size + size + 1;
}

/* ---- The limit ---- */

/* The steps of a container have one limit together: theirs stands in a file that each has mapped,
 * and who holds the log's lock has its turn. */
static struct bucket *open_bucket(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof(struct bucket)) == 0) {
        at = mmap(NULL, sizeof(struct bucket), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);
    return at == MAP_FAILED ? &own_bucket : at;
}

/* As much as comes in a second, at most as much as fits in: a second's. */
static bool bucket_take(struct shim_lines *l, size_t size)
{
    struct bucket *b = l->bucket;
    long long now = clock_ns(CLOCK_MONOTONIC), rate = l->o->log_rate;
    long long passed = now - b->at_ns;
    if (b->at_ns == 0 || passed >= SECOND_NS) {
        b->bytes = rate;
        b->at_ns = now;
    } else {
        long long more = (long long)((double)passed / SECOND_NS * (double)rate);
        if (more > 0) {
            b->bytes = b->bytes + more < rate ? b->bytes + more : rate;
            b->at_ns = now;
        }
    }
    if ((long long)size > b->bytes) {
        return false;
    }
    b->bytes -= (long long)size;
    return true;
}

static void tell_limit(struct shim_lines *l)
{
    char text[100];
    long long now = clock_ns(CLOCK_MONOTONIC);
    if (l->o->log_rate > 0 && (l->bucket->told_ns == 0 || now - l->bucket->told_ns >= SECOND_NS)) {
        l->bucket->told_ns = now;
        int n = snprintf(text, sizeof(text),
                         "app instance exceeded log rate limit (%lld bytes/sec)", l->o->log_rate);
        put(l, 0, 'F', text, (size_t)n);
    }
}

/* Whether this goes into the log. Of a line of which a part is dropped no later one goes there;
 * what is there already gets its end. */
static bool may_pass(struct shim_lines *l, int stream, char flag, size_t size)
{
    struct unfinished *u = &unfinished[stream];
    bool dropping = u->dropping;
    if (!dropping && bucket_take(l, size)) {
        return true;
    }
    if (u->begun) {
        put(l, stream, 'F', "", 0);
        u->begun = false;
    }
    if (!dropping) {
        tell_limit(l);
    }
    u->dropping = flag == 'P';
    return false;
}

/* ---- Lines ---- */

static void give(struct shim_lines *l, int stream, char flag, const char *text, size_t size)
{
    if (l->bucket && !may_pass(l, stream, flag, size)) {
        return;
    }
    put(l, stream, flag, text, size);
    unfinished[stream].begun = flag == 'P';
}

static void give_unfinished(struct shim_lines *l, int stream, char flag)
{
    struct unfinished *u = &unfinished[stream];
    size_t size = u->size;
    u->size = 0;
    give(l, stream, flag, u->text, size);
}

/* What does not end here waits for the rest, or until there is enough of it for a part. */
static void hold(struct shim_lines *l, int stream, const char *data, size_t size)
{
    struct unfinished *u = &unfinished[stream];
    while (size > 0) {
        if (u->size == LOG_PART_SIZE) {
            give_unfinished(l, stream, 'P');
        }
        size_t n = size < LOG_PART_SIZE - u->size ? size : LOG_PART_SIZE - u->size;
        memcpy(u->text + u->size, data, n);
        u->size += n;
        data += n;
        size -= n;
    }
}

static void begin_turn(struct shim_lines *l)
{
    char time[LOG_TIME_SIZE + 1];
    log_time_print(clock_ns(CLOCK_REALTIME), time);
    memcpy(l->heads[0], time, LOG_TIME_SIZE);
    memcpy(l->heads[1], time, LOG_TIME_SIZE);
    log_lock(&l->log);
}

static void end_turn(struct shim_lines *l)
{
    write_waiting(l);
    log_unlock(&l->log);
}

void lines_init(struct shim_lines *l, const struct options *o, bool shared)
{
    *l = (struct shim_lines){.o = o};
    log_source_print(o->source, l->source);
    for (int stream = 0; stream < 2; stream++) {
        l->head_size = (size_t)snprintf(l->heads[stream], sizeof(l->heads[stream]), "%*s %s F %s ",
                                        LOG_TIME_SIZE, "", stream == 0 ? "stdout" : "stderr",
                                        l->source);
    }
    l->log = (struct shim_log){
        .path = shared ? "../../log/" LOG_FILE : "log/" LOG_FILE,
        .fd = -1,
        .shared = shared ? "../../log" : NULL,
        .lock = -1,
        .source = l->source,
    };
    if (o->log_rate >= 0) {
        l->bucket = shared ? open_bucket("../../log.limit") : &own_bucket;
    }
}

void lines_take(struct shim_lines *l, int stream, const char *data, size_t size)
{
    if (l->o->mute) {
        return;
    }
    begin_turn(l);
    while (size > 0) {
        const char *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        if (end && unfinished[stream].size == 0 && n <= LOG_PART_SIZE) {
            give(l, stream, 'F', data, n);
        } else {
            hold(l, stream, data, n);
            if (end) {
                give_unfinished(l, stream, 'F');
            }
        }
        data += n + (end != NULL);
        size -= n + (end != NULL);
    }
    end_turn(l);
}

bool lines_unfinished(void)
{
    return unfinished[0].size > 0 || unfinished[1].size > 0;
}

void lines_show(struct shim_lines *l, bool end)
{
    begin_turn(l);
    for (int stream = 0; stream < 2; stream++) {
        if (unfinished[stream].size > 0 || (end && unfinished[stream].begun)) {
            give_unfinished(l, stream, end ? 'F' : 'P');
        }
    }
    end_turn(l);
}
