#include "converger/systems.h"

#include "common/base/memory.h"
#include "common/lifecycle/system.h"
#include "common/model/record.h"
#include "converger/deploys.h"
#include "converger/inside.h"
#include "converger/system_passes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Systems looked at in one step. */
enum { SYSTEM_LOOKS_MAX = 64 };
/* What is said of a state is written so often at most. */
#define TELL_NS (1 * SECOND_NS)
/* A definition that waits to be read is looked at again. */
#define READ_AGAIN_NS (1 * SECOND_NS)

static void init(void *state, const struct converger_config *config)
{
    struct systems_keeper *k = state;
    (void)config;
    map_init(&k->by_uid);
    map_init(&k->by_id);
    work_init(&k->work);
    builds_init(&k->builds, &k->kept.x->life.boards);
    versions_init(&k->versions, &k->kept.x->life.boards);
}

/* ---- What is kept ---------------------------------------------------------------------------- */

static struct system_seen *seen_of(struct systems_keeper *k, const char *uid)
{
    struct system_seen *s = map_named(&k->by_uid, uid, offsetof(struct system_seen, uid));
    if (!s->item.name) {
        work_item_init(&s->item, s->uid);
        system_copy_init(&s->copy);
    }
    return s;
}

static void forget_id(struct systems_keeper *k, struct system_seen *s)
{
    if (s->id) {
        map_remove(&k->by_id, s->id);
        free(s->id);
        s->id = NULL;
    }
}

static void drop(struct systems_keeper *k, struct system_seen *s)
{
    forget_id(k, s);
    system_copy_done(&s->copy);
    versions_forget(&k->versions, s->uid);
    work_drop(&k->work, &s->item);
    map_remove(&k->by_uid, s->uid);
    free(s);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Keys of it name the id alone. */
static struct system_seen *learn_system(struct systems_keeper *k, struct arena *a, const char *key,
                                        const struct followed *record)
{
    const char *id = key_component(a, key, 1);
    const Board__SystemRecord *r = message_of(a, key, record);
    struct system_seen *was = id ? map_get(&k->by_id, id) : NULL;
    struct system_seen *is = r && *r->uid ? seen_of(k, r->uid) : record ? was : NULL;
    if (was && was != is) {
        forget_id(k, was);
        work_touch(&k->work, &was->item);
    }
    if (is && !is->id) {
        is->id = mem_text(id);
        map_put(&k->by_id, is->id, is);
    }
    return is ? is : was;
}

/* Who a record of this key belongs to; NULL = nobody that is looked after here. */
static struct system_seen *owner_of(struct systems_keeper *k, struct arena *a, const char *key,
                                    const struct followed *record)
{
    const char *uid = key_component(a, key, 1);
    enum record_type type = key_type(key);
    if (type == RECORD_SYSTEM) {
        return learn_system(k, a, key, record);
    }
    if (type == RECORD_INDEX) {
        const Board__IndexRecord *r = message_of(a, key, record);
        uid = r ? r->uid : NULL;
    } else if (type == RECORD_SOURCE) {
        const Board__SourceRecord *r = message_of(a, key, record);
        uid = r ? r->uid : NULL;
    }
    bool is_system = uid && *uid && strcmp(uid, "apps") != 0;
    return !is_system ? NULL : record ? seen_of(k, uid) : map_get(&k->by_uid, uid);
}

static void change(void *state, const char *key, const struct followed *record)
{
    struct systems_keeper *k = state;
    SCOPED_ARENA(a);
    struct system_seen *s = owner_of(k, &a, key, record);
    if (!s) {
        return;
    }
    system_copy_change(&s->copy, key, record);
    if (!record && !s->id && s->copy.services.count == 0 && s->copy.actions.count == 0 &&
        s->copy.pools.count == 0) {
        drop(k, s);
    } else {
        s->rests = false;
        work_touch(&k->work, &s->item);
    }
}

static void touch_full(struct systems_keeper *k, struct system_seen *s)
{
    s->full = true;
    work_touch(&k->work, &s->item);
}

static void current(void *state)
{
    struct systems_keeper *k = state;
    MAP_EACH(&k->by_uid, n)
    {
        touch_full(k, map_value(n));
    }
}

/* A full pass whose time has come: what is at rest costs nothing. Of those the first one that the
 * last such pass left out is looked at, and so each in its turn. */
static void touch_some(struct systems_keeper *k)
{
    struct system_seen *turn = NULL;
    MAP_EACH(&k->by_uid, n)
    {
        struct system_seen *s = map_value(n);
        if (!s->rests) {
            touch_full(k, s);
        } else if (!turn || s->turn < turn->turn) {
            turn = s;
        }
    }
    if (turn) {
        touch_full(k, turn);
        turn->turn = ++k->turns;
    }
}

static void reset(void *state)
{
    struct systems_keeper *k = state;
    MAP_EACH(&k->by_uid, n)
    {
        drop(k, map_value(n));
    }
    assert(k->by_id.count == 0);
    builds_reset(&k->builds);
    versions_reset(&k->versions);
}

static void done(void *state)
{
    struct systems_keeper *k = state;
    reset(k);
    map_done(&k->by_uid, NULL);
    map_done(&k->by_id, NULL);
    work_done(&k->work);
    builds_done(&k->builds);
    versions_done(&k->versions);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void view_of(const struct systems_keeper *k, const struct system_seen *s, struct arena *a,
                    struct watched_system *ret)
{
    const struct converger *x = k->kept.x;
    system_copy_view(&s->copy, &x->life.feed_client.records, a, s->uid, s->id, x->board_generation,
                     ret);
    ret->now = x->life.now;
}

/* A system that nobody has confirmed since a restore stands still, and says how it is. One of a
 * newer version is left alone. */
static void plan_of(struct systems_keeper *k, const struct system_seen *s,
                    const struct watched_system *v, struct system_moves *out)
{
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    bool may_tell = s->told_ns == 0 || now_ns - s->told_ns >= TELL_NS;
    if (!v->system || v->state < 0) {
        return;
    }
    if (v->confirmed && v->state == SYSTEM_PENDING) {
        system_opens(v, s->refused, out);
    } else if (v->confirmed) {
        deploys_run(v, out);
        builds_run(&k->builds, v, out);
    }
    if (v->confirmed && v->state == SYSTEM_DELETING) {
        system_goes(v, s->refused, out);
    } else if (v->confirmed && s->full) {
        system_forgets(v, out);
    } else if (v->confirmed) {
        system_forgets_surplus(v, out);
    }
    if (system_is_open(v)) {
        versions_run(&k->versions, v, out);
        system_told(v, out);
        system_observed(v, may_tell, out);
    }
}

static void note_moves(struct system_seen *s, const struct system_moves *m, int64_t now_ns)
{
    s->turning = s->collecting = false;
    for (size_t i = 0; i < m->count; i++) {
        s->turning = s->turning || strcmp(m->list[i].pass, "open") == 0 ||
                     strcmp(m->list[i].pass, "remove") == 0;
        s->collecting = s->collecting || strcmp(m->list[i].pass, "collect") == 0;
        if (strcmp(m->list[i].pass, "observe") == 0) {
            s->told_ns = now_ns;
        }
    }
}

static void look_at(struct systems_keeper *k, struct system_seen *s, struct effects *out)
{
    struct converger *x = k->kept.x;
    struct watched_system v;
    struct system_moves *m = ARENA_NEW(out->arena, struct system_moves);
    m->arena = out->arena;
    view_of(k, s, out->arena, &v);
    plan_of(k, s, &v, m);
    s->reads = v.confirmed && v.state != SYSTEM_PENDING && builds_resolve(&k->builds, &v, out);
    int64_t list_ns = versions_resolve(&k->versions, &v, out);
    s->rests = m->count == 0 && !s->reads && (s->full || s->rests);
    s->full = false;
    assert(s->item.moving == 0);
    for (size_t i = 0; i < m->count; i++) {
        mover_add(&x->mover, &k->kept.owner, s->uid, m->list[i].move);
        work_moving(&k->work, &s->item);
    }
    note_moves(s, m, x->life.now.mono_ns);
    if (v.system && s->told_ns && x->life.now.mono_ns - s->told_ns < TELL_NS) {
        work_due(&k->work, &s->item, s->told_ns + TELL_NS);
    }
    if (s->reads) {
        work_due(&k->work, &s->item, x->life.now.mono_ns + READ_AGAIN_NS);
    } else if (list_ns != NEVER_NS) {
        work_due(&k->work, &s->item, list_ns);
    }
    if (m->more) {
        work_touch(&k->work, &s->item);
    }
}

static void look(void *state, bool all, struct effects *out)
{
    struct systems_keeper *k = state;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all && k->kept.x->by_time) {
        touch_some(k);
    } else if (all) {
        current(k);
    }
    struct work_item *due;
    while ((due = work_wake(&k->work, now_ns))) {
        work_touch(&k->work, due);
    }
    int looks = 0;
    struct system_seen *s;
    while (mover_room(&k->kept.x->mover, SYSTEM_MOVES_MAX) && looks < SYSTEM_LOOKS_MAX &&
           (s = (struct system_seen *)work_next(&k->work))) {
        look_at(k, s, out);
        looks++;
    }
    effects_due(out, looks == SYSTEM_LOOKS_MAX ? now_ns : work_wake_ns(&k->work));
}

static void settled(void *state, const char *uid, enum move_end end)
{
    struct systems_keeper *k = state;
    struct system_seen *s = map_get(&k->by_uid, uid);
    if (s) {
        s->refused = s->turning && end == MOVE_REFUSED;
        if (s->collecting && end == MOVE_DONE) {
            touch_full(k, s); /* the next portion: no change of a record would lead to it */
        }
        work_settled(&k->work, &s->item, work_again_ns(end, k->kept.x->life.now.mono_ns));
    }
}

/* Another one leads: what was resolved here is of no use any more. */
static void stand_by(void *state)
{
    struct systems_keeper *k = state;
    builds_reset(&k->builds);
    versions_reset(&k->versions);
}

/* Those that wait for room to have a definition read. */
static void touch_those_reading(struct systems_keeper *k)
{
    MAP_EACH(&k->by_uid, n)
    {
        struct system_seen *other = map_value(n);
        if (other->reads) {
            work_touch(&k->work, &other->item);
        }
    }
}

/* A definition that was read is taken up at once, and makes room for others. */
static void hear(void *state, const struct event *ev, struct effects *out)
{
    struct systems_keeper *k = state;
    const char *uid = builds_hear(&k->builds, ev);
    uid = uid ? uid : versions_hear(&k->versions, ev);
    struct system_seen *s = uid ? map_get(&k->by_uid, uid) : NULL;
    (void)out;
    if (s) {
        work_touch(&k->work, &s->item);
    }
    if (uid) {
        touch_those_reading(k);
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan(void *state, struct plan_shown *ret)
{
    struct systems_keeper *k = state;
    MAP_EACH(&k->by_uid, n)
    {
        struct watched_system v;
        struct system_moves *m = ARENA_NEW(ret->arena, struct system_moves);
        struct system_seen s = *(struct system_seen *)map_value(n);
        s.full = true;
        m->arena = ret->arena;
        view_of(k, &s, ret->arena, &v);
        plan_of(k, &s, &v, m);
        for (size_t i = 0; i < m->count && !ret->plan->more; i++) {
            plan_show(ret, m->list[i].pass, m->list[i].move);
        }
    }
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    const struct systems_keeper *k = state;
    (void)a;
    ret->systems = k->by_id.count;
    ret->systems_waiting = k->work.waiting_count;
    MAP_EACH(&k->by_uid, n)
    {
        const struct system_seen *s = map_value(n);
        MAP_EACH(&s->copy.actions, m)
        {
            ret->actions += !((const struct action_seen *)map_value(m))->over;
        }
    }
}

const struct keeper systems_keeper = {.state_size = sizeof(struct systems_keeper),
                                      .init = init,
                                      .done = done,
                                      .reset = reset,
                                      .change = change,
                                      .current = current,
                                      .hear = hear,
                                      .look = look,
                                      .settled = settled,
                                      .stand_by = stand_by,
                                      .plan = plan,
                                      .show = show};
