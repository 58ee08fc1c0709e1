/* The watch: one over the whole key space, from the revision after the copy's. What it tells is
 * queued in order; a gap, a repetition or a fall leads to a fresh list (design.md 2). */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void drop_changes(struct watch *w)
{
    struct watch_change *n;
    while ((n = STAILQ_FIRST(&w->list))) {
        STAILQ_REMOVE_HEAD(&w->list, link);
        version_unref(n->item);
        blob_unref(n->cause);
        free(n);
    }
}

static void subscribe(struct board *b, struct effects *out)
{
    struct watch *w = &b->watch;
    w->id = ++b->last_id;
    w->open = false;
    w->retry_ns = NEVER_NS;
    struct effect *e = effects_add(out, EFFECT_WATCH);
    e->watch.id = w->id;
    e->watch.start_revision = w->revision + 1;
}

void watch_start(struct board *b, struct effects *out)
{
    drop_changes(&b->watch);
    b->watch.revision = b->revision;
    b->watch.failures = 0;
    subscribe(b, out);
}

void watch_stop(struct board *b, struct effects *out)
{
    struct watch *w = &b->watch;
    if (w->id) {
        effects_add(out, EFFECT_UNWATCH)->unwatch = w->id;
    }
    w->id = 0;
    w->open = false;
    w->retry_ns = NEVER_NS;
    drop_changes(w);
}

void watch_done(struct board *b)
{
    drop_changes(&b->watch);
}

static struct watch_change *change_of(const Etcd__Event *e)
{
    const Etcd__KeyValue *kv = e->kv;
    struct watch_change *n = mem_zeroed(sizeof(*n) + kv->key.len + 1);
    memcpy(n->key, kv->key.data, kv->key.len);
    n->revision = kv->mod_revision;
    n->previous_revision = e->prev_kv ? e->prev_kv->mod_revision : 0;
    n->type = key_type(n->key);
    n->deleted = e->type == ETCD__EVENT__TYPE__DELETE;
    return n;
}

static void queue_event(struct board *b, const Etcd__Event *e, struct arena *scratch)
{
    struct watch_change *n = change_of(e);
    struct bytes value = {.data = e->kv->value.data, .size = e->kv->value.len};
    if (n->deleted || strlen(n->key) != e->kv->key.len) {
        /* nothing stands there */
    } else if (n->type == RECORD_CAUSE) {
        n->cause = blob_new(value.data, value.size);
    } else if (record_is_kept(n->type)) {
        n->item = version_new(scratch, n->key, value, e->kv->create_revision, e->kv->mod_revision);
    }
    STAILQ_INSERT_TAIL(&b->watch.list, n, link);
}

/* Every revision of etcd changes at least one key and the watch spans all keys, so revisions come
 * without a gap. Gives what is wrong, or NULL. */
static const char *order_fault(const Etcd__WatchResponse *r, int64_t last)
{
    int64_t revision = last;
    for (size_t i = 0; i < r->n_events; i++) {
        const Etcd__KeyValue *kv = r->events[i]->kv;
        if (!kv) {
            return "the watch sent a change without a key";
        }
        bool same = i > 0 && kv->mod_revision == revision;
        if (!same && kv->mod_revision <= revision) {
            return "the watch sent a revision twice or backwards";
        }
        if (!same && kv->mod_revision != revision + 1) {
            return "the watch left out a revision";
        }
        revision = kv->mod_revision;
    }
    return NULL;
}

static void on_events(struct board *b, const Etcd__WatchResponse *r)
{
    struct watch *w = &b->watch;
    const char *fault = order_fault(r, w->revision);
    if (fault) {
        board_want_reload(b, fault);
        return;
    }
    SCOPED_ARENA(scratch);
    for (size_t i = 0; i < r->n_events; i++) {
        queue_event(b, r->events[i], &scratch);
        w->revision = r->events[i]->kv->mod_revision;
        arena_reset(&scratch);
    }
    if (w->revision > b->known_revision) {
        b->known_revision = w->revision;
    }
    assert(w->revision >= b->revision && b->known_revision >= w->revision);
}

static void on_checked(void *context, bool passed, struct effects *out)
{
    (void)context, (void)passed, (void)out; /* what it was asked for is known by its answer */
}

/* Behind the copy: a member of etcd that lags, and tells what comes once it has it; or an etcd that
 * went back, which a linearizable answer shows at once. */
static void on_open(struct board *b, const Etcd__WatchResponse *r, struct effects *out)
{
    struct watch *w = &b->watch;
    w->open = true;
    w->failures = 0;
    board_well(b, out);
    if (r && r->header && r->header->revision < w->revision) {
        barrier_wait(b, on_checked, b, out);
    }
}

static void on_closed(struct board *b, const struct watch_event *ev, struct effects *out)
{
    struct watch *w = &b->watch;
    w->id = 0;
    w->open = false;
    if (ev->response && ev->response->compact_revision) {
        board_want_reload(b, "the watch began before what etcd has kept");
        return;
    }
    w->retry_ns = b->now.mono_ns + backoff_ns(w->failures++);
    if (w->failures > 1) {
        board_trouble(b, ev->text, out);
    }
}

bool watch_step(struct board *b, const struct watch_event *ev, struct effects *out)
{
    if (b->watch.id == 0 || ev->id != b->watch.id) {
        return false;
    }
    if (ev->kind == WATCH_OPEN) {
        on_open(b, ev->response, out);
    } else if (ev->kind == WATCH_EVENTS) {
        on_events(b, ev->response);
    } else {
        on_closed(b, ev, out);
    }
    return true;
}

void watch_timer(struct board *b, struct effects *out)
{
    struct watch *w = &b->watch;
    if (!b->loaded || w->id || w->retry_ns == NEVER_NS) {
        return;
    }
    if (w->retry_ns <= b->now.mono_ns) {
        subscribe(b, out);
    } else {
        effects_due(out, w->retry_ns);
    }
}
