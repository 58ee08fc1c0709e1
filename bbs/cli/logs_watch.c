#include "bbs/cli/logs_watch.h"

#include "bbs/cli/name.h"
#include "common/base/memory.h"
#include "common/model/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a record said last. */
struct watched {
    char *instance_guid; /* "" = it names no container */
    int32_t crash_count;
    bool stale; /* of before a reset, and not reported again yet */
};

static void watched_free(void *watched)
{
    free(((struct watched *)watched)->instance_guid);
    free(watched);
}

void logs_watch_init(struct logs_watch *w)
{
    frames_init(&w->frames);
    map_init(&w->records);
}

void logs_watch_done(struct logs_watch *w)
{
    frames_done(&w->frames);
    map_done(&w->records, watched_free);
}

void logs_watch_connect(struct logs_watch *w, bool compares)
{
    w->compares = compares;
    frames_connect(&w->frames);
    w->snapshot = w->caught_up = w->older = false;
}

bool logs_watch_is_gone(const struct logs_watch *w)
{
    return w->seen && !w->snapshot && w->records.count == 0 && w->beyond == 0;
}

/* As while a cell is emptied: its record moves to another key. */
static bool another_names_it(const struct logs_watch *w, const struct watched *old)
{
    MAP_EACH(&w->records, n)
    {
        const struct watched *other = map_value(n);
        if (other != old && strcmp(other->instance_guid, old->instance_guid) == 0) {
            return true;
        }
    }
    return false;
}

static void end(struct logs_watch *w, const struct watched *old, const char *why)
{
    if (*old->instance_guid && !another_names_it(w, old)) {
        w->on_end(w->owner, old->instance_guid, why);
    }
}

static void forget(struct logs_watch *w, const char *key)
{
    struct watched *old = map_remove(&w->records, key);
    if (old) {
        end(w, old, "removed");
        watched_free(old);
    }
}

static void note(struct logs_watch *w, const char *key, const char *instance_guid,
                 int32_t crash_count)
{
    struct watched *now = mem_zeroed(sizeof(*now));
    char *guid = mem_text(instance_guid);
    *now = (struct watched){.instance_guid = guid, .crash_count = crash_count};
    struct watched *old = map_put(&w->records, key, now);
    if (old) {
        watched_free(old);
    }
}

static void begin(struct logs_watch *w, struct arena *a, const Models__ActualLRP *r)
{
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    const char *name =
        w->definitions ? key->process_guid : name_of_guid(a, w->name, key->process_guid);
    const struct log_source source = {.label = arena_printf(a, "%s/%d", name, (int)key->index),
                                      .process_guid = key->process_guid,
                                      .instance_guid = at->instance_guid,
                                      .cell_id = at->cell_id,
                                      .index = key->index};
    w->on_begin(w->owner, &source, !w->seen);
}

/* What became of the container that the record named before. */
static const char *why_text(struct arena *a, const struct watched *old, const Models__ActualLRP *r)
{
    if (r->crash_count > old->crash_count || strcmp(r->state, "CRASHED") == 0) {
        return arena_printf(a, "crashed: %s", text_printable(a, r->crash_reason));
    }
    return *r->placement_error ? "stopped" : "replaced";
}

static void take_actual(struct logs_watch *w, struct arena *a, const char *key,
                        const Models__ActualLRP *r)
{
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    const char *guid = at ? at->instance_guid : "";
    struct watched *old = map_get(&w->records, key);
    bool same = old && strcmp(old->instance_guid, guid) == 0;
    if (old && !same) {
        end(w, old, why_text(a, old, r));
    }
    if (!old && w->records.count >= LOGS_WATCHED_MAX) {
        w->beyond++;
        return;
    }
    note(w, key, guid, r->crash_count);
    if (*guid && !same) {
        begin(w, a, r);
    }
}

/* A record of the app, or of its process; NULL: another app's, whose name begins alike. */
static const char *guid_of(struct logs_watch *w, struct arena *a, const Board__FeedFrame *f)
{
    const char *guid = key_component(a, f->key, 1);
    return guid && name_of_guid(a, w->name, guid) ? guid : NULL;
}

static bool is_wanted(const struct logs_watch *w, const Models__ActualLRP *r)
{
    return r->actual_lrp_key && (w->index < 0 || r->actual_lrp_key->index == w->index);
}

static void take_record(struct logs_watch *w, struct arena *a, const Board__FeedFrame *f)
{
    enum record_type type = key_type(f->key);
    const char *guid = guid_of(w, a, f);
    if (!guid || (type != RECORD_ACTUAL && type != RECORD_DESIRED)) {
        return;
    }
    if (!*w->first_guid) {
        snprintf(w->first_guid, sizeof(w->first_guid), "%s", guid);
    }
    if (!w->definitions && strcmp(w->first_guid, guid) != 0) {
        w->definitions = strcmp(name_of_guid(a, w->name, w->first_guid),
                                name_of_guid(a, w->name, guid)) == 0;
    }
    ProtobufCMessage *m = frame_record(a, f);
    if (type == RECORD_DESIRED) {
        note(w, f->key, "", 0);
    } else if (m && is_wanted(w, (const Models__ActualLRP *)m)) {
        take_actual(w, a, f->key, (const Models__ActualLRP *)m);
    }
}

static void reset(struct logs_watch *w, const Board__FeedFrame *f)
{
    w->older = w->compares && strcmp(w->board_generation, f->board_generation) == 0 &&
               f->revision < w->revision;
    if (w->older) {
        return;
    }
    w->snapshot = true;
    w->beyond = 0;
    MAP_EACH(&w->records, n)
    {
        ((struct watched *)map_value(n))->stale = true;
    }
}

/* What the snapshot did not tell again is gone. */
static void become_current(struct logs_watch *w)
{
    MAP_EACH(&w->records, n)
    {
        struct watched *old = map_value(n);
        if (old->stale) {
            end(w, old, "removed");
            map_remove(&w->records, map_key(n));
            watched_free(old);
        }
    }
    w->snapshot = false;
    w->seen = w->caught_up = true;
}

static void move_to(struct logs_watch *w, const Board__FeedFrame *f)
{
    if (*f->board_generation) {
        snprintf(w->board_generation, sizeof(w->board_generation), "%s", f->board_generation);
    }
    w->revision = f->revision;
}

static void take_frame(void *watch, struct arena *a, const Board__FeedFrame *f)
{
    struct logs_watch *w = watch;
    if (w->older) {
        return;
    }
    switch (f->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        reset(w, f);
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
        become_current(w);
        move_to(w, f);
        break;
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        if (!w->snapshot) { /* a long one is alive, and its end has the position */
            w->caught_up =
                f->revision >= w->revision || strcmp(f->board_generation, w->board_generation) != 0;
            if (w->caught_up) {
                move_to(w, f);
            }
        }
        break;
    case BOARD__FEED_FRAME__KIND__RECORD:
    case BOARD__FEED_FRAME__KIND__PUT:
        take_record(w, a, f);
        break;
    case BOARD__FEED_FRAME__KIND__DELETE:
        if (guid_of(w, a, f)) {
            forget(w, f->key);
        }
        break;
    default:
        break;
    }
    if (f->kind == BOARD__FEED_FRAME__KIND__PUT || f->kind == BOARD__FEED_FRAME__KIND__DELETE) {
        /* More changes may have this revision: only a heartbeat says that all were reported. */
        w->revision = f->revision > w->revision ? f->revision - 1 : w->revision;
    }
}

int logs_watch_take(struct logs_watch *w, struct bytes bytes, struct err *err)
{
    int r = frames_take(&w->frames, bytes, take_frame, w, err);
    return r == 0 && w->older ? err_set(err, ERR_UNAVAILABLE, "this bbs is behind another one") : r;
}
