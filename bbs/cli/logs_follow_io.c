/* bbs logs -f: the board's feed says which containers an app has, and each is followed by a thread
 * of its own until it has ended: through restarts, replacements and moves, until the app is
 * removed. */
#include "bbs/cli/feed_io.h"
#include "bbs/cli/logs_io.h"
#include "common/cli/cli_io.h"
#include "common/model/keys.h"

#include <stdio.h>
#include <string.h>

enum {
    RETRY_MS = 500,
    END_TRIGGER_MS = 2000, /* the board learns of an end a moment later than its reader sees it */
};

/* One container that is followed. What the main thread and the container's share is under the lock.
 */
struct log_slot {
    struct following *all;
    struct arena arena; /* of the source's strings */
    struct log_source source;
    bool speaks; /* tells of the container; of two slots of one, the first */
    char url[256]; /* "" = to be looked up */
    pthread_t thread;
    bool used, finished;
    bool initial;    /* it was there when the following began */
    bool ended;      /* the board does not name it any more */
    bool unwritable; /* what it wrote could not be printed, and nothing else could */
    char why[200];
    int result;
    struct err err;
};

struct following {
    struct logs *logs;
    struct logs_watch watch;
    pthread_mutex_t lock; /* of all that is printed, and of the slots */
    struct log_slot slots[LOGS_FOLLOWED_MAX * LOGS_STREAMS];
    const char *streams[LOGS_STREAMS]; /* a slot each of a container */
    size_t stream_count;
    char first[300]; /* process_guid/index of the first that was seen */
    bool labelled;   /* there was another one: it stays so */
    bool reported_none, reported_many, over;
    bool unwritable; /* of one of the slots */
    atomic_bool stop;
    int result; /* of the last that could not be read */
    struct err err;
};

/* ---- One container, in its thread ---- */

static void say(struct log_slot *s, const char *text)
{
    if (!s->speaks) {
        return;
    }
    pthread_mutex_lock(&s->all->lock);
    fprintf(stderr, "bbs: %s %s\n", s->source.label, text);
    pthread_mutex_unlock(&s->all->lock);
}

static bool has_ended(struct log_slot *s)
{
    pthread_mutex_lock(&s->all->lock);
    bool ended = s->ended;
    pthread_mutex_unlock(&s->all->lock);
    return ended;
}

static bool is_stopping(const struct log_slot *s)
{
    return cli_interrupted() || atomic_load(&s->all->stop);
}

/* Where its cell's rep is now: the cell may be newer than the list, or its rep have moved. */
static int look_up(struct log_slot *s, struct err *err)
{
    const struct logs *l = s->all->logs;
    struct cli_client *c = NULL;
    SCOPED_ARENA(a);
    ProtobufCMessage *m = NULL;
    int r = cli_client_open(l->call, cli_text(l->call, "bbs-url"), &c, err);
    if (r == 0) {
        cli_client_limit(c, l->s->timeout_ms);
        cli_client_stop(c, &s->all->stop);
        r = cli_client_call(c, &a, "/v1/cells/list.r1", NULL, &models__cells_response__descriptor,
                            &m, err);
    }
    cli_client_close(c);
    const Models__CellsResponse *cells = (const Models__CellsResponse *)m;
    for (size_t i = 0; r == 0 && i < cells->n_cells; i++) {
        if (strcmp(cells->cells[i]->cell_id, s->source.cell_id) == 0) {
            snprintf(s->url, sizeof(s->url), "%s", cells->cells[i]->rep_url);
        }
    }
    return r == 0 && !*s->url ? err_set(err, ERR_UNAVAILABLE, "its cell is not present") : r;
}

/* What trying on may put right. */
static bool may_pass(int r)
{
    return r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT || r == -ERR_NOT_FOUND;
}

/* Of a new container all is wanted; of one that was there the last lines; and after a break, what
 * comes: what was written meanwhile is in its files only. */
static int64_t lines_wanted(const struct log_slot *s, bool was_read)
{
    return was_read ? 0 : s->initial ? s->all->logs->lines : -1;
}

static void read_on(struct log_slot *s, struct log_reader *r)
{
    bool was_read = false, reported = false;
    while (!is_stopping(s)) {
        r->result = *s->url ? 0 : look_up(s, &r->err);
        r->answered = false;
        if (r->result == 0) {
            log_reader_read(r, lines_wanted(s, was_read), true, s->all->logs->s->timeout_ms);
        }
        was_read = was_read || r->answered;
        reported = reported && !r->answered; /* this break is another one */
        bool missing = r->result == -ERR_NOT_FOUND; /* not yet, or not any more */
        if (!may_pass(r->result) || has_ended(s) || (missing && was_read)) {
            break;
        }
        if (!missing && !reported && !is_stopping(s)) {
            say(s, "cannot be read now; trying on, lines may be missing");
        }
        reported = reported || !missing;
        *s->url = 0;
        cli_sleep_ms(RETRY_MS);
    }
}

/* Why it ended is known when the board has been notified. */
static void tell_end(struct log_slot *s)
{
    int64_t until_ms = cli_now_ms() + END_TRIGGER_MS;
    while (!has_ended(s) && !is_stopping(s) && cli_now_ms() < until_ms) {
        cli_sleep_ms(RETRY_MS / 10);
    }
    if (!s->speaks) {
        return;
    }
    pthread_mutex_lock(&s->all->lock);
    fprintf(stderr, "bbs: %s ended on %s%s%s%s\n", s->source.label, s->source.cell_id,
            *s->why ? " (" : "", s->why, *s->why ? ")" : "");
    pthread_mutex_unlock(&s->all->lock);
}

static void *follow_one(void *slot)
{
    struct log_slot *s = slot;
    struct following *all = s->all;
    struct log_reader r;
    char text[200];
    log_reader_init(&r, all->logs, &s->source);
    r.printing = &all->lock;
    r.labelled = &all->labelled;
    r.stop = &all->stop;
    snprintf(text, sizeof(text), "%s on %.100s (%.80s)", s->initial ? "is" : "begins",
             s->source.cell_id, s->source.instance_guid);
    say(s, text);
    read_on(s, &r);
    bool readable = r.result == 0 || may_pass(r.result);
    if (readable && !is_stopping(s)) {
        tell_end(s);
    }
    pthread_mutex_lock(&all->lock);
    s->result = readable ? 0 : r.result;
    s->err = r.err;
    s->unwritable = r.unwritable;
    s->finished = true;
    pthread_mutex_unlock(&all->lock);
    log_reader_done(&r);
    return NULL;
}

/* ---- All of them, in the main thread ---- */

static size_t slot_count(const struct following *all)
{
    return LOGS_FOLLOWED_MAX * all->stream_count;
}

static struct log_slot *slot_of(struct following *all, const char *instance_guid,
                                const char *stream)
{
    for (size_t i = 0; i < slot_count(all); i++) {
        struct log_slot *s = &all->slots[i];
        if (s->used && s->source.stream == stream &&
            strcmp(s->source.instance_guid, instance_guid) == 0) {
            return s;
        }
    }
    return NULL;
}

static struct log_slot *free_slot(struct following *all)
{
    for (size_t i = 0; i < slot_count(all); i++) {
        if (!all->slots[i].used) {
            return &all->slots[i];
        }
    }
    return NULL;
}

static void begin_thread(struct log_slot *s)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LOGS_STACK_BYTES);
    s->used = pthread_create(&s->thread, &attributes, follow_one, s) == 0;
    pthread_attr_destroy(&attributes);
    if (!s->used) {
        fprintf(stderr, "bbs: %s is not followed: cannot begin one more thread\n", s->source.label);
        arena_done(&s->arena);
    }
}

static void begin(struct following *all, const struct log_source *source, const char *stream,
                  bool initial)
{
    struct log_slot *s = free_slot(all);
    char place[300];
    if (!s) {
        if (!all->reported_many) {
            fprintf(stderr, "bbs: %s and others are not followed: more than %d at once\n",
                    source->label, LOGS_FOLLOWED_MAX);
        }
        all->reported_many = true;
        return;
    }
    snprintf(place, sizeof(place), "%.250s/%d", source->process_guid, (int)source->index);
    if (!*all->first) {
        snprintf(all->first, sizeof(all->first), "%s", place);
    }
    all->labelled = all->labelled || strcmp(all->first, place) != 0;
    *s = (struct log_slot){.all = all, .initial = initial, .source = *source};
    s->source.stream = stream;
    s->speaks = stream == all->streams[0];
    arena_init(&s->arena);
    s->source.label = arena_strdup(&s->arena, source->label);
    s->source.process_guid = arena_strdup(&s->arena, source->process_guid);
    s->source.instance_guid = arena_strdup(&s->arena, source->instance_guid);
    s->source.cell_id = arena_strdup(&s->arena, source->cell_id);
    s->source.url = s->url;
    const char *url = logs_url_of(all->logs, source->cell_id);
    snprintf(s->url, sizeof(s->url), "%s", url ? url : "");
    begin_thread(s);
}

static void on_begin(void *following, const struct log_source *source, bool initial)
{
    struct following *all = following;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->stream_count; i++) {
        struct log_slot *s = slot_of(all, source->instance_guid, all->streams[i]);
        if (s) {
            s->ended = false;
        } else {
            begin(all, source, all->streams[i], initial);
        }
    }
    pthread_mutex_unlock(&all->lock);
}

static void on_end(void *following, const char *instance_guid, const char *why)
{
    struct following *all = following;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->stream_count; i++) {
        struct log_slot *s = slot_of(all, instance_guid, all->streams[i]);
        if (s) {
            s->ended = true;
            snprintf(s->why, sizeof(s->why), "%s", why);
        }
    }
    pthread_mutex_unlock(&all->lock);
}

/* Joins those that have finished, or all; gives how many are left. */
static size_t reap(struct following *all, bool wait)
{
    size_t left = 0;
    for (size_t i = 0; i < slot_count(all); i++) {
        struct log_slot *s = &all->slots[i];
        pthread_mutex_lock(&all->lock);
        bool join = s->used && (s->finished || wait);
        left += s->used && !join;
        pthread_mutex_unlock(&all->lock);
        if (!join) {
            continue;
        }
        pthread_join(s->thread, NULL);
        if (s->unwritable) {
            all->unwritable = true;
            all->result = s->result;
            all->err = s->err;
        } else if (s->result < 0 && !cli_interrupted()) {
            all->result = err_set(&all->err, (enum err_code) - s->result, "%.60s on %.60s: %.100s",
                                  s->source.label, s->source.cell_id, s->err.text);
            fprintf(stderr, "bbs: %s\n", all->err.text);
        }
        arena_done(&s->arena);
        s->used = false;
    }
    return left;
}

/* -ERR_UNKNOWN ends the following: nothing more can come, or be shown. */
static int look(void *following, struct err *err)
{
    struct following *all = following;
    size_t left = reap(all, false);
    if (all->unwritable) {
        return err_set(err, ERR_UNKNOWN, "%s", all->err.text);
    }
    if (left == 0 && logs_watch_is_gone(&all->watch)) {
        all->over = true;
        return err_set(err, ERR_UNKNOWN, "%.60s was removed", all->watch.name);
    }
    if (left == 0 && all->watch.seen && !all->reported_none && !*all->first) {
        all->reported_none = true;
        fprintf(stderr, "bbs: %s has no container now; waiting for one\n",
                all->logs->name);
    }
    return 0;
}

static int take(void *following, struct bytes bytes, struct err *err)
{
    struct following *all = following;
    int r = logs_watch_take(&all->watch, bytes, err);
    return r < 0 ? r : look(all, err);
}

static void connect(void *following, bool compares)
{
    logs_watch_connect(&((struct following *)following)->watch, compares);
}

/* The records whose key begins like that of the app: others' among them are not taken. */
static Board__Selector *selector(struct arena *a, enum record_type type, const char *key)
{
    Board__Selector *s = arena_message(a, &board__selector__descriptor);
    s->type = arena_strdup(a, record_type_name(type));
    s->key_prefix = arena_strdup(a, key);
    return s;
}

int logs_follow(struct logs *l, const char *name, int32_t index, bool definitions, struct err *err)
{
    struct arena *a = &l->s->arena;
    struct following *all = ARENA_NEW(a, struct following);
    const char *prefix = name_guid_prefix(a, name);
    const char *actual = key_actual_process(a, prefix); /* it ends in "/" */
    Board__Selector *selectors[] = {
        selector(a, RECORD_ACTUAL, arena_strndup(a, actual, strlen(actual) - 1)),
        selector(a, RECORD_DESIRED, key_desired(a, prefix)),
    };
    *all = (struct following){
        .logs = l,
        .watch = {.name = name,
                  .index = index,
                  .definitions = definitions,
                  .on_begin = on_begin,
                  .on_end = on_end,
                  .owner = all},
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    struct feed_follow feed = {.selectors = selectors,
                               .selector_count = 2,
                               .board_generation = all->watch.board_generation,
                               .revision = &all->watch.revision,
                               .seen = &all->watch.seen,
                               .caught_up = &all->watch.caught_up,
                               .connect = connect,
                               .take = take,
                               .idle = look,
                               .owner = all};
    all->stream_count = logs_streams(l, all->streams);
    logs_watch_init(&all->watch);
    int r = feed_follow(l->s, &feed, err);
    atomic_store(&all->stop, true);
    reap(all, true);
    logs_watch_done(&all->watch);
    if (all->unwritable) {
        *err = all->err;
        return all->result;
    }
    if (!all->over) {
        return r;
    }
    fprintf(stderr, "bbs: %s\n", err->text);
    *err = all->err;
    return all->result;
}
