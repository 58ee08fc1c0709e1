/* The moves of the converger about systems: they open, are observed, and go. */
#include "bbs/system/parts.h"
#include "bbs/system/system.h"
#include "common/lifecycle/system.h"
#include "common/model/head.h"

#include <assert.h>
#include <string.h>

/* Bits of `reads`. */
enum { RANGES = 1, LEFTOVERS = 2, VERSIONS = 4 };

/* Records that one move sweeps; versions that are kept of a repository. */
enum { SWEPT_MAX = 48, VERSIONS_MAX = 1000 };

static const Board__SystemMove *body_of(const struct move_turn *t)
{
    return move_system(t->move);
}

static const Board__SystemRecord *before_of(const struct move_turn *t)
{
    return (const Board__SystemRecord *)t->record;
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* What is removed by others before the system is. */
static const enum record_type owned[] = {RECORD_BUILD,    RECORD_DEPLOY, RECORD_JOB_RUN,
                                         RECORD_POOL,     RECORD_REVISION, RECORD_SECRET,
                                         RECORD_SERVICE,  RECORD_TEARDOWN};

/* The first kind of which it has one yet. */
static const char *gather_left(struct view *v, const char *uid)
{
    struct arena *a = view_arena(v);
    const char *left = NULL;
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
        bool empty = view_range_empty(v, key_range_of(a, owned[i], uid));
        left = left || empty ? left : record_type_name(owned[i]);
    }
    return left || !view_exists(v, key_versions(a, uid)) ? left : "versions";
}

/* Of a system that is deleted: what nobody else removes. Revisions only when no service is left. */
static void gather_leftovers(struct view *v, struct system_snapshot *s)
{
    struct arena *a = view_arena(v);
    const char *prefixes[] = {key_range_of(a, RECORD_SECRET, s->of.uid),
                              key_range_of(a, RECORD_REVISION, s->of.uid)};
    size_t kinds = view_range_empty(v, key_range_of(a, RECORD_SERVICE, s->of.uid)) ? 2 : 1;
    s->swept = ARENA_ARRAY(a, SWEPT_MAX + 1, const char *);
    if (view_get(v, key_versions(a, s->of.uid))) {
        s->swept[s->swept_count++] = key_versions(a, s->of.uid);
    }
    for (size_t i = 0; i < kinds; i++) {
        const char *from = NULL;
        view_nothing_newer(v, prefixes[i]);
        for (const char *key; s->swept_count < SWEPT_MAX &&
                              (key = view_peek_key(v, prefixes[i], from));) {
            (void)view_get(v, key);
            s->swept[s->swept_count++] = arena_strdup(a, key);
            from = arena_printf(a, "%s!", key); /* the first key after it that may stand */
        }
    }
}

static void system_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct system_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *uid = move_system(m)->uid;
    unsigned reads = move_row_named(&system_moves, m->move)->reads;
    s->of = system_facts_gather(v, move_name(a, m), uid);
    s->board_generation = view_board_generation(v);
    if (s->of.system) {
        s->revision = view_get(v, key_system(a, s->of.id))->mod_revision;
        const struct seen *head = view_get(v, key_head(a, uid));
        s->head = head ? (const Board__HeadRecord *)head->message : NULL;
        s->head_revision = head ? head->mod_revision : 0;
        s->hold = view_message(v, key_hold(a, uid));
        s->domain = view_get(v, key_domain(a, system_domain(a, uid)));
        s->left = reads & RANGES ? gather_left(v, uid) : NULL;
        s->versions = reads & VERSIONS ? view_message(v, key_versions(a, uid)) : NULL;
        if (reads & LEFTOVERS && s->of.state == SYSTEM_DELETING) {
            gather_leftovers(v, s);
        }
    }
    speaker_gather(v, in, &s->by);
}

static bool system_begin(struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    t->record = s->of.system ? &s->of.system->base : NULL;
    t->from = s->of.state;
    t->plan->record = t->record;
    return speaker_authorised(&s->by, t->in, t->plan);
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static uint32_t check_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

static uint32_t open_guards(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    return s->head && s->hold ? SYSTEM_IF_CHECKED : 0;
}

enum { OPENING_TRIES = 5 };

static uint32_t list_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

static uint32_t give_up_guards(const struct move_turn *t)
{
    return before_of(t)->tries >= OPENING_TRIES ? SYSTEM_IF_TRIED : 0;
}

/* It is judged as it stands, and so is the head. */
static bool is_current(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    return s->revision == t->move->subject->revision &&
           s->head_revision == body_of(t)->head_revision;
}

static uint32_t observe_guards(const struct move_turn *t)
{
    static const uint32_t seen[SYSTEM_STATE_COUNT] = {[SYSTEM_STABLE] = SYSTEM_IF_SEEN_STABLE,
                                                      [SYSTEM_UPDATING] = SYSTEM_IF_SEEN_UPDATING,
                                                      [SYSTEM_SCALING] = SYSTEM_IF_SEEN_SCALING,
                                                      [SYSTEM_DEGRADED] = SYSTEM_IF_SEEN_DEGRADED};
    int state = lifecycle_state(&system_lifecycle, body_of(t)->state);
    return state >= 0 && is_current(t) ? seen[state] : 0;
}

static uint32_t spread_guards(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    bool stands = s->head && s->head->generation == body_of(t)->generation &&
                  s->head_revision == body_of(t)->head_revision;
    return stands ? SYSTEM_IF_HEAD_STANDS : 0;
}

static uint32_t remove_guards(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    return s->left ? 0 : SYSTEM_IF_NOTHING_LEFT;
}

/* ---- What they do ---------------------------------------------------------------------------- */

static Board__SystemRecord *changed(const struct move_turn *t)
{
    Board__SystemRecord *after = system_changed(t->plan->arena, before_of(t), t->to, t->in->now);
    after->message = borrowed(message_cut(t->plan->arena, body_of(t)->message));
    return after;
}

static void put(const struct move_turn *t, const Board__SystemRecord *after)
{
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

static bool says_the_same(const struct move_turn *t)
{
    return t->from == t->to &&
           strcmp(before_of(t)->message, message_cut(t->plan->arena, body_of(t)->message)) == 0;
}

/* 1. Pending: one try more, and why it failed.
 * 2. Deleting: what it waits for; of what nobody else removes a portion goes. */
static void check_decide(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    if (t->to == SYSTEM_PENDING) { /* 1 */
        Board__SystemRecord *after = changed(t);
        after->tries++;
        put(t, after);
        return;
    }
    assert(t->to == SYSTEM_DELETING); /* 2 */
    assert(s->swept_count <= SWEPT_MAX);
    for (size_t i = 0; i < s->swept_count; i++) {
        plan_delete(t->plan, s->swept[i], "check", t->in->actor);
    }
    if (!says_the_same(t)) {
        put(t, changed(t));
    }
}

static void open_decide(const struct move_turn *t)
{
    assert(t->to == SYSTEM_STABLE);
    put(t, changed(t));
}

static void give_up_decide(const struct move_turn *t)
{
    assert(t->to == SYSTEM_FAILED);
    put(t, changed(t));
}

static void observe_decide(const struct move_turn *t)
{
    if (!says_the_same(t)) {
        put(t, changed(t));
    }
}

static void spread_decide(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    assert(t->from == t->to && s->head);
    if (s->head->spread >= s->head->generation) {
        return;
    }
    Board__HeadRecord *after = head_told(t->plan->arena, s->head);
    plan_put(t->plan, key_head(t->plan->arena, after->uid), "spread", t->in->actor, &after->base);
}

static bool lists_the_same(const struct move_turn *t)
{
    const Board__VersionsRecord *r = ((const struct system_snapshot *)t->snapshot)->versions;
    const Board__SystemMove *m = body_of(t);
    bool same = r && r->n_versions == m->n_versions && strcmp(r->fault, m->fault) == 0;
    for (size_t i = 0; same && i < m->n_versions; i++) {
        same = strcmp(r->versions[i], m->versions[i]) == 0;
    }
    return same;
}

/* 1. They are known already: nothing.
 * 2. They could not be read: those that are known stay, and why stands beside them. */
static void list_decide(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    const Board__SystemMove *m = body_of(t);
    if (lists_the_same(t)) { /* 1 */
        return;
    }
    Board__VersionsRecord *after =
        arena_message(t->plan->arena, &board__versions_record__descriptor);
    bool keeps = *m->fault && s->versions; /* 2 */
    after->uid = before_of(t)->uid;
    after->n_versions = keeps ? s->versions->n_versions : m->n_versions;
    after->versions = keeps ? s->versions->versions : m->versions;
    after->fault = m->fault;
    after->fetched_at = t->in->now.wall_ns;
    plan_put(t->plan, key_versions(t->plan->arena, after->uid), "list", t->in->actor,
             &after->base);
}

/* All four, as far as they stand. */
static void remove_decide(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    struct arena *a = t->plan->arena;
    const char *domain = key_domain(a, system_domain(a, s->of.uid));
    assert(t->from == SYSTEM_DELETING && !s->left);
    move_delete_subject(t);
    if (s->head) {
        plan_delete(t->plan, key_head(a, s->of.uid), "remove", t->in->actor);
    }
    if (s->hold) {
        plan_delete(t->plan, key_hold(a, s->of.uid), "remove", t->in->actor);
    }
    if (s->domain) {
        plan_delete(t->plan, domain, "remove", t->in->actor);
    }
    t->plan->record = NULL;
}

/* ---- What refuses ---------------------------------------------------------------------------- */

static void refuse(const struct move_turn *t, const char *why)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "system %s %s",
                before_of(t)->id, why);
}

static void refuse_by_state(const struct move_turn *t)
{
    refuse(t, arena_printf(t->plan->arena, "is %s", before_of(t)->state));
}

static void check_refuse(const struct move_turn *t)
{
    refuse_by_state(t);
}

static void list_refuse(const struct move_turn *t)
{
    refuse_by_state(t);
}

/* It was opened before: nothing. */
static void open_refuse(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    if (!system_facts_open(&s->of)) {
        refuse(t, t->from == SYSTEM_PENDING ? "lacks its head or its hold" : "cannot be opened");
    }
}

static void give_up_refuse(const struct move_turn *t)
{
    if (t->from != SYSTEM_FAILED) {
        refuse(t, t->from == SYSTEM_PENDING ? "was not tried often enough" : "is not pending");
    }
}

static void observe_refuse(const struct move_turn *t)
{
    if (system_facts_open(&((const struct system_snapshot *)t->snapshot)->of)) {
        refuse(t, "is not as it was judged");
    } else {
        refuse_by_state(t);
    }
}

static void spread_refuse(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    if (system_facts_open(&s->of)) {
        refuse(t, "has another head than the one that was spread");
    } else {
        refuse_by_state(t);
    }
}

static void remove_refuse(const struct move_turn *t)
{
    const struct system_snapshot *s = t->snapshot;
    if (t->from == SYSTEM_DELETING) {
        refuse(t, arena_printf(t->plan->arena, "has a record of the kind %s yet", s->left));
    } else {
        refuse_by_state(t);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_system_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    check_system_id(v, move_name(&a, move));
    check_action_id(v, move_system(move)->uid);
    if (move_system(move)->n_versions > VERSIONS_MAX) {
        say_field(v, "versions");
    }
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&system_moves, snapshot, in, p);
}

static const struct op_row system_op = {
    .name = "system",
    .target = move_subject_key,
    .gather = system_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct system_snapshot),
};

#define MOVE_ROW(move, read, absents)                                                              \
    {                                                                                              \
        .name = #move, .valid = valid_system_move, .reads = read, .absent = ABSENT_##absents,      \
        .guards = move##_guards, .refuse = move##_refuse, .decide = move##_decide,                 \
        .op = &system_op, .op_of_rep = &system_op,                                                 \
    }

static const struct move_row rows[] = {
    MOVE_ROW(check, LEFTOVERS, REFUSED), MOVE_ROW(open, 0, REFUSED),
    MOVE_ROW(give_up, 0, REFUSED),       MOVE_ROW(observe, 0, REFUSED),
    MOVE_ROW(spread, 0, REFUSED),        MOVE_ROW(list, VERSIONS, REFUSED),
    MOVE_ROW(remove, RANGES, NOTHING),
};

const struct move_family system_moves = {
    .lifecycle = &system_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = system_begin,
};
