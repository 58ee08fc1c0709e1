#include "bbs/site/site.h"

#include "common/lifecycle/site.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <string.h>

/* Bytes of a board generation. */
enum { GENERATION_BYTES_MAX = 64 };

static const Board__SiteMove *says(const struct move_turn *t)
{
    return move_site(t->move);
}

static const Board__SiteRecord *record_of(const struct move_turn *t)
{
    return ((const struct site_snapshot *)t->snapshot)->site;
}

static void site_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct site_snapshot *s = snapshot;
    speaker_gather(v, in, &s->by);
    s->site = view_message(v, move_subject_key(view_arena(v), in));
}

static bool is_another(const struct move_turn *t)
{
    const Board__SiteRecord *s = record_of(t);
    return s && strcmp(s->cloudlet, says(t)->cloudlet) != 0;
}

static uint32_t site_guards(const struct move_turn *t)
{
    return SITE_IF_TERM | (is_another(t) ? 0 : SITE_IF_CLOUDLET);
}

static void refuse_site(const struct move_turn *t)
{
    assert(is_another(t));
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                "this cluster is the site of cloudlet %s, not of %s", record_of(t)->cloudlet,
                says(t)->cloudlet);
}

static void name_site(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    assert(t->to == SITE_NAMED && !is_another(t));
    if (record_of(t)) {
        return; /* so it is */
    }
    Board__SiteRecord *after = arena_message(a, &board__site_record__descriptor);
    char *identity = arena_alloc(a, GUID_BYTES);
    random_guid(t->in->random, identity);
    after->identity = identity;
    after->cloudlet = says(t)->cloudlet;
    after->since = t->in->now.wall_ns;
    move_put(t, move_subject_key(a, t->in), t->from, t->to, &after->base);
}

static void follow_site(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    assert(record_of(t) && t->from == SITE_NAMED && t->to == SITE_NAMED);
    if (strcmp(record_of(t)->board_generation, says(t)->board_generation) == 0) {
        return;
    }
    Board__SiteRecord *after = arena_copy(a, record_of(t), sizeof(*after));
    after->board_generation = says(t)->board_generation;
    move_put(t, move_subject_key(a, t->in), t->from, t->to, &after->base);
}

static bool site_begin(struct move_turn *t)
{
    const struct site_snapshot *s = t->snapshot;
    t->record = s->site ? &s->site->base : NULL;
    t->from = s->site ? SITE_NAMED : SITE_NONE;
    return speaker_authorised(&s->by, t->in, t->plan);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_name(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    if (strcmp(move_name(&a, move), SITE_KEY_NAME) != 0) {
        say_field(v, "key");
    }
    if (edge_name_fault(&a, RECORD_CLOUDLET, move_site(move)->cloudlet)) {
        say_field(v, "cloudlet");
    }
}

static void valid_follow(struct validation *v, const Board__Move *move)
{
    size_t size = strlen(move_site(move)->board_generation);
    valid_name(v, move);
    if (size == 0 || size > GENERATION_BYTES_MAX) {
        say_field(v, "board_generation");
    }
}

static void site_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&site_moves, snapshot, in, p);
}

static const struct op_row site_op = {
    .name = "move of a site",
    .target = move_subject_key,
    .gather = site_gather,
    .decide = site_decide,
    .snapshot_size = sizeof(struct site_snapshot),
};

#define MOVE_ROW(move, absents, decides)                                                           \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_##decides,                                                                  \
        .absent = ABSENT_##absents,                                                                \
        .guards = site_guards,                                                                     \
        .refuse = refuse_site,                                                                     \
        .decide = decides##_site,                                                                  \
        .op = &site_op,                                                                            \
        .op_of_rep = &site_op,                                                                     \
    },
static const struct move_row rows[] = {
#include "bbs/site/moves.def"
};

const struct move_family site_moves = {
    .lifecycle = &site_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = site_begin,
};
