#include "bbs/lrp/move.h"

#include "bbs/board/errors.h"
#include "bbs/lrp/actual.h"
#include "bbs/lrp/validate.h"
#include "bbs/setting/in_force.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

/* An index has at most three records; a few more may be of presences that a newer version knows. */
enum { RECORDS_OF_INDEX_MAX = 8 };

/* ---- Which record ---------------------------------------------------------------------------- */

static bool bears(const Models__ActualLRP *record, const Board__Move *m)
{
    return record &&
           instance_key_equal(record->actual_lrp_instance_key,
                                        move_instance(m)->actual_lrp_instance_key);
}

static const Models__ActualLRP *target(const struct move_snapshot *s, const Board__Move *m)
{
    return bears(s->ordinary, m)     ? s->ordinary
           : bears(s->evacuating, m) ? s->evacuating
           : bears(s->suspect, m)    ? s->suspect
                                     : NULL;
}

static const Models__ActualLRP *about(const struct move_row *row, const struct move_snapshot *s,
                                      const Board__Move *m)
{
    switch ((enum lrp_about)row->about) {
    case ABOUT_SUSPECT:
        return s->suspect;
    case ABOUT_EVACUATING:
        return s->evacuating;
    case ABOUT_NAMED:
        return record_of_presence(s, s->place.presence);
    case ABOUT_TARGET:
        return target(s, m);
    case ABOUT_RUNNER:
        return bears(s->suspect, m) ? s->suspect : s->ordinary;
    case ABOUT_ORDINARY:
    case ABOUT_NEWCOMER:
        break;
    }
    return s->ordinary;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static const char *move_target(struct arena *a, const struct op_input *in)
{
    const char *key = move_key(a, in->request);
    return arena_strndup(a, key, key_parent_size(key));
}

static void gather_records(struct view *v, const char *prefix, struct move_snapshot *s)
{
    const struct seen *list;
    int count = view_range(v, prefix, RECORDS_OF_INDEX_MAX, &list);
    s->crowded = count < 0;
    for (int i = 0; i < count; i++) {
        const Models__ActualLRP *record = (const Models__ActualLRP *)list[i].message;
        switch (record->presence) {
        case MODELS__ACTUAL_LRP__PRESENCE__ORDINARY:
            s->ordinary = record;
            s->ordinary_seen = view_seen(v, list[i].key);
            break;
        case MODELS__ACTUAL_LRP__PRESENCE__EVACUATING:
            s->evacuating = record;
            break;
        case MODELS__ACTUAL_LRP__PRESENCE__SUSPECT:
            s->suspect = record;
            break;
        default: /* of a newer version: left alone */
            break;
        }
    }
}

/* What has a record is stopped by that. */
static void gather_removal(struct view *v, const char *definition_id, struct move_snapshot *s)
{
    if (s->ordinary || !definition_id[0]) {
        return;
    }
    const char *key = key_removal(view_arena(v), s->place.key.process_guid, definition_id);
    if (!view_unreadable(v, key)) {
        s->removal = view_message(v, key);
    }
}

static void gather_domain(struct view *v, const char *domain, struct move_snapshot *s)
{
    const char *key = key_domain(view_arena(v), domain);
    s->domain = view_message(v, key);
    s->domain_seen = view_domain_seen(v, key);
}

/* Of the instance: its cell and its domain. */
static void gather_around(struct view *v, unsigned reads, const Models__ActualLRP *record,
                          struct move_snapshot *s)
{
    if ((reads & READS_CELL) && actual_has_instance(record)) {
        const char *cell_id = record->actual_lrp_instance_key->cell_id;
        s->cell = view_message(v, key_cell(view_arena(v), cell_id));
    }
    if ((reads & READS_DOMAIN) && record) {
        gather_domain(v, record->actual_lrp_key->domain, s);
    }
}

static void move_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct move_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const struct move_row *row = move_row_named(&lrp_moves, m->move);
    const char *definition_id = move_instance(m)->definition_id;
    s->policy = row->reads & READS_SETTINGS ? &settings_gather(v)->crash : &SETTINGS_DEFAULT.crash;
    bool named = move_place(a, m, &s->place);
    assert(named); /* or it would not be valid */
    (void)named;
    gather_records(v, move_target(a, in), s);
    if ((row->reads & READS_DESIRED) ||
        ((row->reads & READS_DESIRED_OF_DEFINITION) && definition_id[0])) {
        s->desired = view_message(v, key_desired(a, s->place.key.process_guid));
    }
    if (row->reads & READS_REMOVAL) {
        gather_removal(v, definition_id, s);
    }
    speaker_gather(v, in, &s->by);
    gather_around(v, row->reads, about(row, s, m), s);
    if ((row->reads & READS_DOMAIN_OF_KEY) && !s->ordinary) {
        gather_domain(v, s->place.key.domain, s);
    }
}

/* ---- What is decided ------------------------------------------------------------------------- */

static bool authorised(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRPInstanceKey *key = turn_says(t)->actual_lrp_instance_key;
    if (s->crowded) { /* nothing was read, so nothing may be written */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "the index has more than %d records: delete those of unknown presences",
                    RECORDS_OF_INDEX_MAX);
        return false;
    }
    return speaker_authorised_for(&s->by, t->in, key ? key->cell_id : "", "instances", t->plan);
}

/* A cell comes to an index that it is not at, and its node pool, or that it has none, does not fit
 * what is desired: it was given away or taken while it was asked. */
static bool pool_refuses(const struct move_turn *t, const Models__ActualLRP *record)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__DesiredLRP *d = s->desired;
    if (t->row->about != ABOUT_NEWCOMER || !s->by.cell || !d || bears(record, t->move) ||
        pool_tag_fits(s->by.cell->pool, d->placementtags, d->n_placementtags)) {
        return false;
    }
    plan_refuse(t->plan,
                strcmp(t->row->name, "claim") == 0
                    ? MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed
                    : MODELS__ERROR__TYPE__ActualLRPCannotBeStarted,
                "%s/%d does not go with the node pool of cell %s", d->process_guid,
                turn_key(t)->index, t->in->peer_name);
    return true;
}

static bool move_begin(struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    t->plan->keep_container = t->row->reads & READS_KEEPS;
    if (!authorised(t)) {
        return false;
    }
    const Models__ActualLRP *record = about(t->row, s, t->move);
    bool other = t->row->about == ABOUT_NEWCOMER && bears(s->suspect, t->move);
    bool shown = record || t->row->about == ABOUT_TARGET || t->row->about == ABOUT_NAMED;
    const Models__ActualLRP *show = other ? s->suspect : shown ? record : s->ordinary;
    t->record = record ? &record->base : NULL;
    t->from = actual_state(record);
    t->plan->record = show ? &show->base : NULL;
    t->plan->keep_container = t->plan->keep_container && record;
    return !other && !pool_refuses(t, record);
}

static void move_decide_lrp(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&lrp_moves, snapshot, in, p);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

#define AS(type) plan_refuse_as(t->plan, MODELS__ERROR__TYPE__##type)
#define AS_OF_RECORD(type)                                                                         \
    plan_refuse_as(t->plan, t->record ? MODELS__ERROR__TYPE__##type                                \
                                      : MODELS__ERROR__TYPE__ResourceNotFound)
#define UNLESS_THERE(type)                                                                         \
    t->record ? (void)0 : plan_refuse_as(t->plan, MODELS__ERROR__TYPE__##type)
#define SAYS(...) plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, __VA_ARGS__)
#define PLACE turn_key(t)->process_guid, turn_key(t)->index
#define DOMAIN_NAME turn_record(t)->actual_lrp_key->domain

#define MOVE_ROW(move, valid, about, absent, reads, guards, refusal, decide)                       \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refusal;                                                                                   \
    }
#include "bbs/lrp/moves.def"

enum {
    DESIRED = READS_DESIRED,
    DESIRED_OF_DEFINITION = READS_DESIRED_OF_DEFINITION,
    REMOVAL = READS_REMOVAL,
    CELL = READS_CELL,
    DOMAIN = READS_DOMAIN,
    DOMAIN_OF_KEY = READS_DOMAIN_OF_KEY,
    KEEPS = READS_KEEPS,
    SETTINGS = READS_SETTINGS,
};

static const struct op_row move_op = {
    .name = "move of an instance",
    .target = move_target,
    .gather = move_gather,
    .decide = move_decide_lrp,
    .snapshot_size = sizeof(struct move_snapshot),
};

static const struct op_row hasty_op = {
    .name = "move of an instance",
    .target = move_target,
    .gather = move_gather,
    .decide = move_decide_lrp,
    .snapshot_size = sizeof(struct move_snapshot),
    .nothing_unconfirmed = true,
};

/* An evacuation's "nothing" may say that the container goes, so it is never hasty. What a cell
 * reserves or runs, it runs by a definition (design.md 5). */
#define MOVE_ROW(move, valids, abouts, absents, read, guard, refusal, decides)                     \
    {                                                                                              \
        .name = #move, .valid = valid_##valids, .reads = read, .about = ABOUT_##abouts,            \
        .rep_says = ABOUT_##abouts == ABOUT_NEWCOMER ? "definition_id" : NULL,                     \
        .absent = ABSENT_##absents, .guards = guard##_guards, .refuse = refuse_##move,             \
        .decide = decides##_decide, .op = &move_op,                                                \
        .op_of_rep = ABOUT_##abouts == ABOUT_TARGET ? &move_op : &hasty_op,                        \
    },
static const struct move_row rows[] = {
#include "bbs/lrp/moves.def"
};

const struct move_family lrp_moves = {
    .lifecycle = &actual_lrp_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = move_begin,
};
