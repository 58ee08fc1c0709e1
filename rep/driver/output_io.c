/* The output of containers, given to readers by cursors that read the shim's files themselves. A
 * cursor outlives its driver and the container: it holds descriptors, no records. */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"
#include "rep/driver/output_parts.h"

#include <event2/event.h>
#include <sys/stat.h>
#include <time.h>

#define OUTPUT_CHANNEL "output"

enum {
    FOLLOW_MS = 200,      /* between two looks at what they follow */
    PRUNE_S = 60,
    FILES = 3,            /* of a container's log: one, and two of earlier versions */
};

static const char *const file_names[FILES] = {"stdout", "stderr", LOG_FILE};

/* Shared by a driver and its cursors, of which the last one frees it. */
struct outputs {
    unsigned references; /* the driver's, and one of each cursor */
    unsigned readers, following; /* cursors, and those of them that follow */
    struct event *look;  /* NULL: the driver has gone */
    struct event *prune;
    struct driver *driver;
    int prunes; /* wait or work */
};

struct output_cursor {
    struct cursor cursor;
    struct outputs *outputs;
    int dir;  /* the container's, -1: it is kept output, which ends */
    int log;
    struct output_file files[FILES];
    struct output_text text;
    bool follow;
};

static void unref(struct outputs *o)
{
    if (--o->references == 0) {
        free(o);
    }
}

static int64_t wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec;
}

/* ---- A cursor ---- */

/* Whether nobody writes any more. Its shim writes the status after the last words. */
static bool has_ended(const struct output_cursor *c)
{
    struct stat st;
    return c->dir < 0 || faccessat(c->dir, "status", F_OK, 0) == 0 || fstat(c->dir, &st) < 0 ||
           st.st_nlink == 0 || faccessat(c->dir, "log", F_OK, 0) < 0;
}

static void take_lines(struct output_text *t, size_t which, struct bytes bytes, struct buf *out)
{
    if (which < FILES - 1) {
        output_text_plain(t, which == 1, bytes, out);
        return;
    }
    for (size_t at = 0; at < bytes.size;) {
        const uint8_t *end = memchr(bytes.data + at, '\n', bytes.size - at);
        size_t size = end ? (size_t)(end - (bytes.data + at)) + 1 : bytes.size - at;
        output_text_take(t, (struct bytes){bytes.data + at, size}, out);
        at += size;
    }
}

/* Until something of a file is given, or it has no more: what is not wanted is passed over. */
static bool fill_of(struct output_cursor *c, size_t which, struct buf *out, size_t max, bool last)
{
    struct output_file *f = &c->files[which];
    size_t before = out->size;
    bool more = !f->done;
    while (more && out->size == before) {
        SCOPED_BUF(read);
        more = output_file_read(f, &read, max, last) && !f->done;
        take_lines(&c->text, which, buf_bytes(&read), out);
    }
    return out->size > before;
}

static enum cursor_state output_fill(struct cursor *cursor, struct buf *out, size_t max)
{
    struct output_cursor *c = (struct output_cursor *)cursor;
    bool last = !c->follow || has_ended(c), given = false, done = true;
    for (size_t i = 0; i < FILES; i++) {
        given |= fill_of(c, i, out, max / 2, last);
        done = done && c->files[i].done;
    }
    if (done) {
        output_text_end(&c->text, out);
        return CURSOR_END;
    }
    return given ? CURSOR_MORE : CURSOR_WAIT;
}

static void output_done(struct cursor *cursor)
{
    struct output_cursor *c = (struct output_cursor *)cursor;
    for (size_t i = 0; i < FILES; i++) {
        output_file_close(&c->files[i]);
    }
    output_text_done(&c->text);
    close(c->log);
    fd_close(c->dir);
    c->outputs->readers--;
    c->outputs->following -= c->follow;
    unref(c->outputs);
    free(c);
}

static const struct cursor_ops cursor_ops = {.fill = output_fill, .free = output_done};

static struct output_choice choice_of(const struct output_request *wanted)
{
    struct output_choice choice = {
        .stream = wanted->stream, .times = wanted->times, .sources = wanted->sources};
    if (wanted->source) {
        log_source_print(wanted->source, choice.source);
    }
    if (wanted->since_ns > 0) {
        log_time_print(wanted->since_ns, choice.since);
    }
    return choice;
}

static struct cursor *cursor_new(struct outputs *o, int dir, int log,
                                 const struct output_request *wanted)
{
    struct output_cursor *c = mem_zeroed(sizeof(*c));
    int64_t lines = wanted->tail > 0 ? wanted->tail : wanted->lines;
    *c = (struct output_cursor){
        .cursor = {&cursor_ops}, .outputs = o, .dir = dir, .log = log, .follow = wanted->follow};
    c->text.choice = choice_of(wanted);
    o->references++;
    o->readers++;
    o->following += c->follow;
    for (size_t i = 0; i < FILES - 1; i++) {
        output_file_open(&c->files[i], log, file_names[i], lines);
        c->files[i].done = wanted->stream == (i == 0 ? OUTPUT_STDERR : OUTPUT_STDOUT);
    }
    output_file_open_log(&c->files[FILES - 1], log, wanted, &c->text);
    return &c->cursor;
}

/* ---- The driver's side ---- */

static char *kept_dir(const struct driver *d)
{
    return mem_printf("%s/kept", d->state_dir);
}

static void on_look(evutil_socket_t fd, short what, void *outputs)
{
    struct outputs *o = outputs;
    struct timeval later = {.tv_usec = FOLLOW_MS * 1000};
    (void)fd;
    (void)what;
    if (o->following > 0) {
        o->driver->owner.wake(o->driver->owner.context, OUTPUT_CHANNEL);
        event_add(o->look, &later);
    }
}

/* ---- Kept output, beside the loop ---- */

/* One thing done with what is kept. */
struct tidy {
    struct driver_work work;
    struct driver *driver;
    char *path;
    struct output_request wanted; /* guid or label are its own */
    struct buf text;              /* the list */
    int log;                      /* the opened one; -1 with `error` */
    int error;
};

static void tidy_free(struct driver_work *work)
{
    struct tidy *t = (struct tidy *)work;
    fd_close(t->log);
    free((char *)(uintptr_t)t->wanted.guid);
    free((char *)(uintptr_t)t->wanted.label);
    free((char *)(uintptr_t)t->wanted.source);
    buf_done(&t->text);
    free(t->path);
    free(t);
}

/* `wanted` may be NULL. */
static struct tidy *tidy_new(struct driver *d, const struct output_request *wanted,
                             void (*run)(struct driver_work *w, const atomic_bool *ending),
                             void (*done)(struct driver_work *w))
{
    struct tidy *t = mem_zeroed(sizeof(*t));
    t->work = (struct driver_work){.run = run, .done = done, .drop = tidy_free};
    t->driver = d;
    t->path = kept_dir(d);
    t->log = -1;
    buf_init(&t->text);
    if (wanted) {
        t->wanted = *wanted;
        t->wanted.guid = mem_text(wanted->guid);
        t->wanted.label = mem_text(wanted->label);
        t->wanted.source = mem_text(wanted->source);
    }
    return t;
}

static void run_prune(struct driver_work *work, const atomic_bool *ending)
{
    kept_prune(((struct tidy *)work)->path, wall_s(), ending);
}

static void pruned(struct driver_work *work)
{
    struct driver *d = ((struct tidy *)work)->driver;
    tidy_free(work);
    d->outputs->prunes--;
}

/* Of two the second has not begun, and so sees to all that has come before. Refused: the next
 * minute does it. */
static void prune(struct driver *d)
{
    struct tidy *t = d->outputs->prunes < 2 ? tidy_new(d, NULL, run_prune, pruned) : NULL;
    if (t && worker_add(d->worker, &t->work)) {
        d->outputs->prunes++;
    } else if (t) {
        tidy_free(&t->work);
    }
}

static void on_prune(evutil_socket_t fd, short what, void *outputs)
{
    struct outputs *o = outputs;
    struct timeval later = {.tv_sec = PRUNE_S};
    (void)fd;
    (void)what;
    prune(o->driver);
    event_add(o->prune, &later);
}

void outputs_init(struct driver *d)
{
    struct outputs *o = mem_zeroed(sizeof(*o));
    o->references = 1;
    o->driver = d;
    o->look = event_new(d->loop, -1, 0, on_look, o);
    o->prune = event_new(d->loop, -1, 0, on_prune, o);
    d->outputs = o;
    on_prune(-1, 0, o);
}

void outputs_done(struct driver *d)
{
    struct outputs *o = d->outputs;
    if (o) {
        event_free(o->look);
        event_free(o->prune);
        o->look = o->prune = NULL;
        o->driver = NULL;
        unref(o);
    }
}

/* Wanted for a while after the container is removed: where it goes. */
char *outputs_keep(struct driver *d, const char *label, const char *guid)
{
    char *dir = kept_dir(d), *name = kept_name(label, guid, wall_s()), *path = NULL;
    if (dir_make(dir, NULL) == 0) {
        path = mem_printf("../../kept/%s", name);
    }
    free(dir);
    free(name);
    return path;
}

void outputs_kept(struct driver *d)
{
    prune(d);
}

/* ---- Answers ---- */

static void answer(struct driver *d, uint64_t id, struct reply reply)
{
    reply.id = id;
    reply.etag = reply.allow = "";
    reply.size = -1;
    reply.channel = reply.channel ? reply.channel : "";
    d->owner.reply(d->owner.context, &reply);
}

static void answer_text(struct driver *d, uint64_t id, int status, const char *text)
{
    answer(d, id,
           (struct reply){.status = status,
                          .content_type = "text/plain; charset=utf-8",
                          .body = bytes_of(text)});
}

/* With a log that is open, or -1 and why; takes both descriptors. */
static void answer_output(struct driver *d, const struct output_request *wanted, int dir, int log,
                          int error)
{
    struct timeval later = {.tv_usec = FOLLOW_MS * 1000};
    if (log < 0 && error != ENOENT) {
        answer_text(d, wanted->id, 503, "the output of this container cannot be read now\n");
        return;
    }
    if (log < 0) {
        answer_text(d, wanted->id, 404, "no output of this container is kept on this cell\n");
        return;
    }
    if (d->outputs->readers >= OUTPUT_READERS_MAX) {
        close(log);
        fd_close(dir);
        answer_text(d, wanted->id, 503, "too many read the output of containers on this cell\n");
        return;
    }
    if (wanted->follow && !evtimer_pending(d->outputs->look, NULL)) {
        event_add(d->outputs->look, &later);
    }
    answer(d, wanted->id,
           (struct reply){.status = 200,
                          .content_type = "text/plain; charset=utf-8",
                          .cursor = cursor_new(d->outputs, dir, log, wanted),
                          .channel = wanted->follow ? OUTPUT_CHANNEL : NULL});
}

static void run_list(struct driver_work *work, const atomic_bool *ending)
{
    struct tidy *t = (struct tidy *)work;
    (void)ending;
    kept_list(t->path, t->wanted.label, t->wanted.label_begins, &t->text);
}

static void listed(struct driver_work *work)
{
    struct tidy *t = (struct tidy *)work;
    answer(t->driver, t->wanted.id,
           (struct reply){.status = 200,
                          .content_type = "application/json",
                          .body = buf_bytes(&t->text)});
    tidy_free(work);
}

static void run_open(struct driver_work *work, const atomic_bool *ending)
{
    struct tidy *t = (struct tidy *)work;
    (void)ending;
    t->log = kept_open(t->path, t->wanted.guid);
    t->error = t->log < 0 ? errno : 0;
}

static void opened(struct driver_work *work)
{
    struct tidy *t = (struct tidy *)work;
    int log = t->log;
    t->log = -1;
    answer_output(t->driver, &t->wanted, -1, log, t->error);
    tidy_free(work);
}

static void answer_kept(struct driver *d, const struct output_request *wanted,
                        void (*run)(struct driver_work *w, const atomic_bool *ending),
                        void (*done)(struct driver_work *w))
{
    struct tidy *t = tidy_new(d, wanted, run, done);
    if (!worker_add(d->worker, &t->work)) {
        tidy_free(&t->work);
        answer_text(d, wanted->id, 503, "too many ask for kept output on this cell\n");
    }
}

/* The container's own directory, while it has one; its log's descriptor in *ret_log. -1 with errno,
 * ENOENT when there is none. */
static int open_container(const struct driver *d, const char *guid, int *ret_log)
{
    char *path = mem_printf("%s/%s", d->containers_dir, guid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *ret_log = dir < 0 ? -1 : openat(dir, "log", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    free(path);
    if (*ret_log < 0 && dir >= 0) {
        close(dir);
        dir = -1;
    }
    errno = error;
    return dir;
}

void outputs_answer(struct driver *d, const struct output_request *wanted)
{
    int log, dir;
    if (!wanted->guid) {
        answer_kept(d, wanted, run_list, listed);
        return;
    }
    if (!guid_valid(wanted->guid)) {
        answer_text(d, wanted->id, 404, "no such container\n");
        return;
    }
    dir = open_container(d, wanted->guid, &log);
    int error = errno;
    if (dir < 0 && error == ENOENT) {
        answer_kept(d, wanted, run_open, opened);
    } else {
        answer_output(d, wanted, dir, log, error);
    }
}
