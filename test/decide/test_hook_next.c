/* Which hook comes next: the ladder of rep/unit/hook.c row by row, with its numbers; and each order
 * of events in small worlds, with the journal that a rep keeps, where nothing may come twice, too
 * early, after the end, or never. */
#include "rep/unit/hook.h"
#include "rep/unit/journal.h"

#include "common/base/message.h"
#include "test/tool/cmocka.h"
#include "test/tool/frontier.h"

#include <string.h>

/* ---- The rules ------------------------------------------------------------------------------- */

enum { MEMBERS = 2, RELATIONS = 2 };

/* A relation of a row. Its number is 7 and 8, its members are 0 and 1. */
struct row_relation {
    const char *is; /* "" = there is none; of "alive", "silent", "broken" what it is; "dying" */
    struct hook_member members[MEMBERS];
};

#define PRESENT(v)                                                                                 \
    {                                                                                              \
        .present = true, .version = (v)                                                            \
    }
#define KNOWN(v, told_v)                                                                           \
    {                                                                                              \
        .present = true, .version = (v), .told = true, .told_version = (told_v)                    \
    }
#define OWES(v)                                                                                    \
    {                                                                                              \
        .present = true, .version = (v), .told = true, .owes_changed = true                        \
    }
#define OWES_GONE                                                                                  \
    {                                                                                              \
        .told = true, .owes_changed = true                                                         \
    }
#define GONE(told_v)                                                                               \
    {                                                                                              \
        .told = true, .told_version = (told_v)                                                     \
    }

static const struct row {
    int number;
    const char *unit; /* "dying", "uninstalled", "unconfigured", "unstarted", "stopped", "upgrade",
                         "owed", "again", "config"; "runs", "error", "retry", "skip" of `current` */
    struct row_relation relations[RELATIONS];
    struct hook_subject current;
    enum hook_act act;
    struct hook_subject subject;
} rows[] = {
    /* 1: one at a time; in error nothing goes on */
    {1, "runs", {{"alive", {PRESENT(1)}}}, {HOOK_START, 0, 0}, HOOK_WAIT, {0}},
    {1, "error", {{"alive", {PRESENT(1)}}}, {HOOK_CHANGED, 7, 0}, HOOK_WAIT, {0}},
    {1, "error dying", {{""}}, {HOOK_CHANGED, 7, 0}, HOOK_WAIT, {0}},
    {1, "error retry", {{"alive"}}, {HOOK_CHANGED, 7, 1}, HOOK_RUN, {HOOK_CHANGED, 7, 1}},
    {1, "error skip", {{"alive"}}, {HOOK_CHANGED, 7, 1}, HOOK_ACCEPT, {HOOK_CHANGED, 7, 1}},
    {1, "error retry", {{""}}, {HOOK_DEPARTED, 7, 1}, HOOK_ACCEPT, {HOOK_DEPARTED, 7, 1}},
    {1, "error retry", {{""}, {"alive"}}, {HOOK_JOINED, 7, 1}, HOOK_ACCEPT, {HOOK_JOINED, 7, 1}},
    {1, "error retry", {{""}}, {HOOK_STOP, 0, 0}, HOOK_RUN, {HOOK_STOP, 0, 0}},
    {1, "error", {{""}}, {HOOK_DEPARTED, 7, 1}, HOOK_WAIT, {0}},
    {1, "runs retry", {{"alive"}}, {HOOK_CHANGED, 7, 1}, HOOK_WAIT, {0}},
    /* 2: none after stop */
    {2, "dying stopped", {{""}}, {0}, HOOK_WAIT, {0}},
    {2, "dying stopped config upgrade", {{""}}, {0}, HOOK_WAIT, {0}},
    {2, "dying stopped", {{"alive", {KNOWN(1, 1)}}}, {0}, HOOK_LEAVE, {HOOK_NONE, 7}},
    {2, "dying stopped", {{"dying"}, {"alive"}}, {0}, HOOK_LEAVE, {HOOK_NONE, 7}},
    /* 3: what was never installed owes nothing */
    {3, "dying uninstalled", {{""}}, {0}, HOOK_WAIT, {0}},
    /* 4: the start, also of a unit that is Dying by then */
    {4, "uninstalled", {{""}}, {0}, HOOK_RUN, {HOOK_INSTALL}},
    {4, "dying uninstalled", {{"alive"}}, {0}, HOOK_RUN, {HOOK_INSTALL}},
    {4, "unconfigured", {{""}}, {0}, HOOK_RUN, {HOOK_CONFIG_CHANGED}},
    {4, "unstarted", {{""}}, {0}, HOOK_RUN, {HOOK_START}},
    {4, "dying unstarted", {{"dying", {GONE(1)}}}, {0}, HOOK_RUN, {HOOK_START}},
    /* 5: changed follows joined, before all else, even when its unit has left meanwhile */
    {5, "upgrade", {{"alive", {PRESENT(1), OWES(1)}}}, {0}, HOOK_RUN, {HOOK_CHANGED, 7, 1}},
    {5, "", {{"dying", {GONE(1)}}, {"alive", {OWES_GONE}}}, {0}, HOOK_RUN, {HOOK_CHANGED, 8, 0}},
    {5, "dying", {{"alive", {KNOWN(1, 1), OWES_GONE}}}, {0}, HOOK_RUN, {HOOK_CHANGED, 7, 1}},
    /* 6: a relation ends: departed of all that are known, broken, leave */
    {6, "", {{"dying", {PRESENT(1), KNOWN(2, 1)}}}, {0}, HOOK_RUN, {HOOK_DEPARTED, 7, 1}},
    {6, "", {{"dying", {PRESENT(1)}}}, {0}, HOOK_RUN, {HOOK_BROKEN, 7}},
    {6, "", {{"dying broken"}}, {0}, HOOK_LEAVE, {HOOK_NONE, 7}},
    {6, "", {{"dying silent", {PRESENT(1)}}}, {0}, HOOK_LEAVE, {HOOK_NONE, 7}},
    {6, "upgrade", {{"alive", {GONE(1)}}, {"dying"}}, {0}, HOOK_RUN, {HOOK_BROKEN, 8}},
    {6, "dying", {{"alive", {KNOWN(1, 1)}}}, {0}, HOOK_RUN, {HOOK_DEPARTED, 7, 0}},
    {6, "dying config", {{"alive"}}, {0}, HOOK_RUN, {HOOK_BROKEN, 7}},
    {6, "dying", {{"alive broken"}, {"alive"}}, {0}, HOOK_LEAVE, {HOOK_NONE, 7}},
    /* 7: stop, when no relation is left */
    {7, "dying", {{""}}, {0}, HOOK_RUN, {HOOK_STOP}},
    {7, "dying upgrade config owed again", {{""}}, {0}, HOOK_RUN, {HOOK_STOP}},
    /* 8: upgrade, then config-changed */
    {8, "upgrade", {{"alive", {PRESENT(1)}}}, {0}, HOOK_RUN, {HOOK_UPGRADE}},
    {8, "owed", {{"alive", {PRESENT(1)}}}, {0}, HOOK_RUN, {HOOK_CONFIG_CHANGED}},
    {8, "upgrade owed", {{""}}, {0}, HOOK_RUN, {HOOK_UPGRADE}},
    /* 9: departed before joined before changed; each by relation, then unit */
    {9,
     "config",
     {{"alive", {KNOWN(2, 1), PRESENT(1)}}, {"alive", {GONE(1)}}},
     {0},
     HOOK_RUN,
     {HOOK_DEPARTED, 8, 0}},
    {9,
     "config",
     {{"alive", {KNOWN(2, 1)}}, {"alive", {{0}, PRESENT(1)}}},
     {0},
     HOOK_RUN,
     {HOOK_JOINED, 8, 1}},
    {9,
     "config",
     {{"alive", {PRESENT(1), PRESENT(1)}}, {"alive", {PRESENT(1)}}},
     {0},
     HOOK_RUN,
     {HOOK_JOINED, 7, 0}},
    {9, "again", {{"alive", {KNOWN(1, 1), KNOWN(2, 1)}}}, {0}, HOOK_RUN, {HOOK_CHANGED, 7, 1}},
    {9,
     "",
     {{"alive silent", {PRESENT(1)}}, {"alive", {PRESENT(1)}}},
     {0},
     HOOK_RUN,
     {HOOK_JOINED, 8, 0}},
    /* folded: it left before its joined; it came back before its departed */
    {9, "", {{"alive", {{0}}}}, {0}, HOOK_WAIT, {0}},
    {9, "", {{"alive", {KNOWN(1, 1)}}}, {0}, HOOK_WAIT, {0}},
    /* 10: config-changed, last, once for all that was changed */
    {10, "config", {{"alive", {KNOWN(1, 1)}}}, {0}, HOOK_RUN, {HOOK_CONFIG_CHANGED}},
    {10, "again", {{""}}, {0}, HOOK_RUN, {HOOK_CONFIG_CHANGED}},
    {10, "", {{""}}, {0}, HOOK_WAIT, {0}},
};

static bool says(const char *words, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word)) {
        if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' ')) {
            return true;
        }
    }
    return false;
}

static struct hook_world world_of(const struct row *row, struct hook_relation relations[RELATIONS],
                                  struct hook_member members[RELATIONS][MEMBERS])
{
    size_t count = 0;
    for (size_t i = 0; i < RELATIONS; i++) {
        const char *is = row->relations[i].is;
        memcpy(members[i], row->relations[i].members, sizeof(members[i]));
        members[i][1].unit = 1;
        if (is && *is) {
            relations[count++] = (struct hook_relation){.number = (uint32_t)(7 + i),
                                                        .alive = says(is, "alive"),
                                                        .silent = says(is, "silent"),
                                                        .broken = says(is, "broken"),
                                                        .members = members[i],
                                                        .member_count = MEMBERS};
        }
    }
    const char *unit = row->unit;
    bool fresh = says(unit, "uninstalled"), unconfigured = fresh || says(unit, "unconfigured");
    return (struct hook_world){.alive = !says(unit, "dying"),
                               .installed = !fresh,
                               .configured = !unconfigured,
                               .started = !unconfigured && !says(unit, "unstarted"),
                               .stopped = says(unit, "stopped"),
                               .charm = says(unit, "upgrade") ? "b" : "a",
                               .charm_told = fresh ? "" : "a",
                               .config_version = says(unit, "config") ? 4 : 3,
                               .config_told = 3,
                               .config_owed = says(unit, "owed"),
                               .config_again = says(unit, "again"),
                               .relations = relations,
                               .relation_count = count,
                               .current = row->current,
                               .error = says(unit, "error"),
                               .resolution = says(unit, "retry")  ? HOOK_RETRY
                                             : says(unit, "skip") ? HOOK_SKIP
                                                                  : HOOK_UNRESOLVED};
}

static void each_rule_has_its_hook(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct hook_relation relations[RELATIONS];
        struct hook_member members[RELATIONS][MEMBERS];
        struct hook_world w = world_of(row, relations, members);
        struct hook_step s = hook_next(&w);
        if (s.act != row->act || s.subject.hook != row->subject.hook ||
            s.subject.relation != row->subject.relation || s.subject.unit != row->subject.unit) {
            fail_msg("row %zu, rule %d, %s: act %d, hook \"%s\" of relation %u, unit %u", i,
                     row->number, row->unit, (int)s.act, hook_name(s.subject.hook),
                     s.subject.relation, s.subject.unit);
        }
    }
}

/* A hook begins with what is there when it begins. */
static void a_hook_begins_with_the_newest_version(void **state)
{
    (void)state;
    static const struct row retried = {.unit = "error retry config",
                                       .relations = {{"alive", {{0}, KNOWN(9, 2)}}},
                                       .current = {HOOK_CHANGED, 7, 1}};
    static const struct row config = {.unit = "config"};
    struct hook_relation relations[RELATIONS];
    struct hook_member members[RELATIONS][MEMBERS];
    struct hook_world w = world_of(&retried, relations, members);
    assert_int_equal(hook_next(&w).version, 9);
    w = world_of(&config, relations, members);
    assert_int_equal(hook_next(&w).version, 4);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void as_many_are_told_of_as_fit(void **state)
{
    (void)state;
    enum { FULL = HOOK_UNIT_TOLD_MAX / HOOK_SCOPE_TOLD_MAX };
    static struct hook_member members[HOOK_SCOPE_TOLD_MAX + 1];
    struct hook_relation relations[FULL + 1];
    for (uint32_t i = 0; i <= HOOK_SCOPE_TOLD_MAX; i++) {
        members[i] = (struct hook_member){.unit = i,
                                          .present = true,
                                          .version = 1,
                                          .told = i < HOOK_SCOPE_TOLD_MAX,
                                          .told_version = 1};
    }
    for (uint32_t i = 0; i <= FULL; i++) {
        relations[i] = (struct hook_relation){.number = i,
                                              .alive = true,
                                              .members = members,
                                              .member_count = HOOK_SCOPE_TOLD_MAX + 1};
    }
    struct hook_world w = {.alive = true,
                           .installed = true,
                           .configured = true,
                           .started = true,
                           .charm = "a",
                           .charm_told = "a",
                           .relations = relations,
                           .relation_count = 1};
    assert_int_equal(hook_next(&w).act, HOOK_WAIT); /* a scope is full */
    assert_int_equal(hook_untold(&w), 1);
    members[HOOK_SCOPE_TOLD_MAX - 1].told = false; /* one is free */
    assert_int_equal(hook_next(&w).subject.hook, HOOK_JOINED);
    assert_int_equal(hook_untold(&w), 1);
    members[HOOK_SCOPE_TOLD_MAX - 1].told = true;
    relations[FULL].member_count = 1; /* the unit is full, and this scope is not */
    struct hook_member one = {.unit = 5, .present = true, .version = 1};
    relations[FULL].members = &one;
    w.relation_count = FULL + 1;
    assert_int_equal(hook_next(&w).act, HOOK_WAIT);
    assert_int_equal(hook_untold(&w), FULL + 1);
    w.relations = &relations[1];
    w.relation_count = FULL;
    assert_int_equal(hook_next(&w).subject.hook, HOOK_JOINED);
    assert_int_equal(hook_next(&w).subject.relation, FULL);
}

/* ---- Each order of events -------------------------------------------------------------------- */

enum { JOURNAL_BYTES = 600 };

/* A remote unit: it comes, changes and goes, so many times. */
struct model_member {
    uint8_t present, departing, version, entered, changes;
};

struct model_relation {
    uint8_t entered, alive; /* our unit is a member */
    struct model_member members[MEMBERS];
    /* what the hooks that ran say */
    uint8_t known[MEMBERS], broken, changed_next; /* of the member before it; 0 = none */
};

struct model {
    uint8_t alive, charm, config, faults, restarts;
    uint8_t resolution, installed, configured, started, stopped, config_next;
    struct model_relation relations[RELATIONS];
    uint16_t journal_size;
    uint8_t journal[JOURNAL_BYTES];
};

/* What a world may have: relations, members of each, and what is tried beside. */
struct model_bounds {
    size_t relations, members;
    uint8_t entries, changes, faults, restarts, charms, configs;
    bool forced; /* a job takes a dying unit out of its relations */
};

struct search {
    struct model_bounds bounds;
    struct frontier frontier;
    size_t rests;
};

static Rep__UnitNote *journal_of(struct arena *a, const struct model *m)
{
    Rep__UnitNote *j = NULL;
    struct err err;
    if (journal_read(a, (struct bytes){m->journal, m->journal_size}, &j, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return j;
}

static void keep_journal(struct arena *a, struct model *m, const Rep__UnitNote *j)
{
    struct bytes packed = message_packed(a, &j->base);
    assert_true(packed.size <= JOURNAL_BYTES);
    memset(m->journal, 0, sizeof(m->journal));
    memcpy(m->journal, packed.data, packed.size);
    m->journal_size = (uint16_t)packed.size;
}

static struct unit_sight sight_of(struct arena *a, const struct model *m)
{
    struct sight_relation *relations = ARENA_ARRAY(a, RELATIONS, struct sight_relation);
    struct unit_sight s = {.epoch = "e",
                           .alive = m->alive,
                           .charm = m->charm ? "b" : "a",
                           .config_version = 1u + m->config,
                           .resolution = (enum hook_resolution)m->resolution,
                           .relations = relations};
    for (size_t i = 0; i < RELATIONS; i++) {
        const struct model_relation *r = &m->relations[i];
        struct sight_member *members = ARENA_ARRAY(a, MEMBERS, struct sight_member);
        if (!r->entered) {
            continue;
        }
        struct sight_relation *to = &relations[s.relation_count++];
        *to = (struct sight_relation){
            .number = (uint32_t)i, .guid = i ? "g1" : "g0", .alive = r->alive, .members = members};
        for (uint32_t k = 0; k < MEMBERS; k++) {
            if (r->members[k].present) {
                members[to->member_count++] =
                    (struct sight_member){k, r->members[k].version, r->members[k].departing};
            }
        }
    }
    return s;
}

#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("hook \"%s\" of relation %u, unit %u: " #condition,                           \
                     hook_name(s->subject.hook), s->subject.relation, s->subject.unit);            \
        }                                                                                          \
    } while (0)

/* What must hold of a hook that begins. */
static void check_begin(const struct model *m, const struct hook_step *s)
{
    const struct model_relation *r = &m->relations[s->subject.relation];
    uint32_t unit = s->subject.unit;
    HOLD(!m->stopped);
    HOLD(m->installed || s->subject.hook == HOOK_INSTALL);
    HOLD(!m->installed || m->configured || s->subject.hook == HOOK_CONFIG_CHANGED);
    HOLD(!m->configured || m->started || s->subject.hook == HOOK_START);
    HOLD(!m->config_next || s->subject.hook == HOOK_CONFIG_CHANGED || !m->alive ||
         s->subject.hook >= HOOK_CHANGED || s->subject.hook == HOOK_UPGRADE);
    switch (s->subject.hook) {
    case HOOK_INSTALL:
        HOLD(!m->installed);
        break;
    case HOOK_START:
        HOLD(!m->started);
        break;
    case HOOK_STOP:
        HOLD(!m->alive);
        for (size_t i = 0; i < RELATIONS; i++) {
            HOLD(!m->relations[i].entered);
        }
        break;
    case HOOK_JOINED:
        HOLD(m->alive && r->alive && !r->changed_next && !r->known[unit]);
        HOLD(r->members[unit].present && !r->members[unit].departing);
        break;
    case HOOK_CHANGED:
        HOLD(r->known[unit] && (!r->changed_next || r->changed_next == unit + 1));
        break;
    case HOOK_DEPARTED:
        HOLD(r->known[unit] && !r->changed_next);
        break;
    case HOOK_BROKEN:
        HOLD(!r->known[0] && !r->known[1] && !r->broken && (!r->alive || !m->alive));
        break;
    default:
        break;
    }
}

/* What the author of the hooks knows when it has ended well, or counts as done. */
static void hook_has_ended(struct model *m, const Rep__UnitNoteHook *h)
{
    struct model_relation *r = &m->relations[h->relation];
    switch ((enum unit_hook)h->hook) {
    case HOOK_INSTALL:
        m->installed = 1;
        break;
    case HOOK_START:
        m->started = 1;
        break;
    case HOOK_STOP:
        m->stopped = 1;
        break;
    case HOOK_UPGRADE:
        m->config_next = 1;
        break;
    case HOOK_CONFIG_CHANGED:
        m->configured = 1;
        m->config_next = 0;
        break;
    case HOOK_JOINED:
        r->known[h->unit] = 1;
        r->changed_next = (uint8_t)(h->unit + 1);
        break;
    case HOOK_CHANGED:
        r->changed_next = 0;
        break;
    case HOOK_DEPARTED:
        r->known[h->unit] = 0;
        break;
    case HOOK_BROKEN:
        r->broken = 1;
        break;
    default:
        break;
    }
}

/* Nothing is to be done: nothing that is owed is forgotten. */
static void check_rest(const struct model *m, const struct hook_world *w)
{
    const struct hook_step nothing = {HOOK_WAIT, {0}, 0}, *s = &nothing;
    HOLD(m->alive || m->stopped || !m->installed);
    for (size_t i = 0; i < w->relation_count; i++) {
        const struct hook_relation *r = &w->relations[i];
        HOLD(m->alive && r->alive);
        for (size_t k = 0; k < r->member_count; k++) {
            const struct hook_member *x = &r->members[k];
            HOLD(x->told == x->present && m->relations[r->number].known[x->unit] == x->told);
            HOLD(!x->owes_changed && x->told_version == x->version);
        }
    }
    HOLD(!m->alive || (m->started && w->config_told == w->config_version));
    HOLD(!m->alive ||
         (strcmp(w->charm, w->charm_told) == 0 && !w->config_again && !m->config_next));
}

static void push(struct search *x, const struct model *m)
{
    frontier_push(&x->frontier, m, offsetof(struct model, journal) + m->journal_size);
}

/* With what the rep takes up of the board. */
static void push_seen(struct search *x, struct arena *a, struct model *m, bool restarted)
{
    struct unit_sight seen = sight_of(a, m);
    keep_journal(a, m, journal_adopt(a, journal_of(a, m), &seen, restarted));
    push(x, m);
}

static void members_move(struct search *x, struct arena *a, const struct model *m, size_t i,
                         size_t k)
{
    const struct model_member *u = &m->relations[i].members[k];
    struct model n = *m;
    struct model_member *v = &n.relations[i].members[k];
    if (!u->present && u->entered < x->bounds.entries && m->relations[i].alive) {
        *v = (struct model_member){.present = 1,
                                   .version = (uint8_t)(u->version + 1),
                                   .entered = (uint8_t)(u->entered + 1),
                                   .changes = u->changes};
        push_seen(x, a, &n, false);
        n = *m;
    }
    if (u->present && u->changes < x->bounds.changes) {
        v->version++;
        v->changes++;
        push_seen(x, a, &n, false);
        n = *m;
    }
    if (u->present) {
        v->present = v->departing = 0;
        push_seen(x, a, &n, false);
        n = *m;
    }
    if (u->present && !u->departing) {
        v->departing = 1;
        push_seen(x, a, &n, false);
    }
}

/* What others do. */
static void the_board_moves(struct search *x, struct arena *a, const struct model *m)
{
    for (size_t i = 0; i < x->bounds.relations; i++) {
        const struct model_relation *r = &m->relations[i];
        struct model n = *m;
        if (m->alive && m->started && r->alive && !r->entered && !r->broken) {
            n.relations[i].entered = 1;
            push_seen(x, a, &n, false);
        }
        if (r->alive) {
            n = *m;
            n.relations[i].alive = 0;
            push_seen(x, a, &n, false);
        }
        if (!m->alive && r->entered && x->bounds.forced) {
            n = *m;
            n.relations[i].entered = 0;
            push_seen(x, a, &n, false);
        }
        for (size_t k = 0; k < x->bounds.members; k++) {
            members_move(x, a, m, i, k);
        }
    }
    struct model n = *m;
    n.alive = 0;
    push_seen(x, a, &n, false);
    n = *m;
    if (m->config < x->bounds.configs) {
        n.config++;
        push_seen(x, a, &n, false);
        n = *m;
    }
    if (m->charm < x->bounds.charms) {
        n.charm++;
        push_seen(x, a, &n, false);
        n = *m;
    }
    if (m->restarts < x->bounds.restarts) {
        n.restarts++;
        push_seen(x, a, &n, true);
    }
}

/* The hook that runs ends, in each way; one in error is resolved, in each way. */
static void the_hook_moves(struct search *x, struct arena *a, const struct model *m,
                           const Rep__UnitNote *j)
{
    struct model n = *m;
    if (strcmp(j->hook->state, "noted") == 0) {
        keep_journal(a, &n, journal_end(a, j, JOURNAL_GOOD, ""));
        hook_has_ended(&n, j->hook);
        push(x, &n);
        n = *m;
        n.faults++;
        if (n.faults <= x->bounds.faults) {
            keep_journal(a, &n, journal_end(a, j, JOURNAL_BAD, "x"));
            push(x, &n);
            keep_journal(a, &n, journal_end(a, j, JOURNAL_LOST, "x"));
            push(x, &n);
        }
    } else if (!j->hook->lost && m->resolution == HOOK_UNRESOLVED) {
        n.resolution = HOOK_RETRY;
        push(x, &n);
        n.resolution = HOOK_SKIP;
        push(x, &n);
    }
}

static bool is_in_its_relation(const struct model *m, const struct hook_step *s)
{
    return s->subject.hook < HOOK_JOINED || m->relations[s->subject.relation].entered;
}

static void the_rep_moves(struct search *x, struct arena *a, const struct model *m,
                          const Rep__UnitNote *j)
{
    struct unit_sight seen = sight_of(a, m);
    struct hook_world w = journal_world(a, j, &seen);
    struct hook_step step = hook_next(&w), *s = &step;
    struct model n = *m;
    n.resolution = HOOK_UNRESOLVED;
    bool runs = j->hook && strcmp(j->hook->state, "noted") == 0;
    HOLD(!runs || s->act == HOOK_WAIT);
    switch (step.act) {
    case HOOK_RUN:
        HOLD(is_in_its_relation(m, s));
        if (!j->hook) {
            check_begin(m, s);
        }
        keep_journal(a, &n, journal_begin(a, j, s, seen.charm, "t"));
        push(x, &n);
        break;
    case HOOK_ACCEPT:
        HOLD(j->hook && (m->resolution == HOOK_SKIP || !is_in_its_relation(m, s)));
        keep_journal(a, &n, journal_accept(a, j));
        hook_has_ended(&n, j->hook);
        push(x, &n);
        break;
    case HOOK_LEAVE:
        HOLD(m->relations[s->subject.relation].broken);
        n.relations[s->subject.relation].entered = 0;
        push_seen(x, a, &n, false);
        break;
    default:
        if (!j->hook) {
            check_rest(m, &w);
            x->rests++;
        }
    }
}

static void search(const struct model_bounds *bounds, size_t least_states)
{
    struct search x = {.bounds = *bounds};
    frontier_init(&x.frontier, sizeof(struct model));
    struct model m;
    memset(&m, 0, sizeof(m));
    m.alive = 1;
    for (size_t i = 0; i < bounds->relations; i++) {
        m.relations[i].alive = 1;
    }
    SCOPED_ARENA(a);
    keep_journal(&a, &m, journal_new(&a, "e"));
    push(&x, &m);
    while (frontier_pop(&x.frontier, &m)) {
        arena_reset(&a);
        Rep__UnitNote *j = journal_of(&a, &m);
        the_board_moves(&x, &a, &m);
        the_rep_moves(&x, &a, &m, j);
        if (j->hook) {
            the_hook_moves(&x, &a, &m, j);
        }
    }
    print_message("%zu states, in %zu nothing is to be done\n", x.frontier.states,
                  x.rests);
    assert_true(x.frontier.states >= least_states && x.rests > 0);
    frontier_done(&x.frontier);
}

static void two_units_of_a_relation_in_every_order(void **state)
{
    (void)state;
    search(&(struct model_bounds){.relations = 1, .members = 2, .entries = 2, .changes = 1}, 1000);
}

static void two_relations_in_every_order(void **state)
{
    (void)state;
    search(&(struct model_bounds){.relations = 2, .members = 1, .entries = 2, .changes = 1}, 1000);
}

static void faults_upgrades_and_configuration_in_every_order(void **state)
{
    (void)state;
    search(&(struct model_bounds){.relations = 1,
                                  .members = 1,
                                  .entries = 1,
                                  .changes = 1,
                                  .faults = 1,
                                  .restarts = 1,
                                  .forced = true,
                                  .charms = 1,
                                  .configs = 1},
           1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_its_hook),
        cmocka_unit_test(a_hook_begins_with_the_newest_version),
        cmocka_unit_test(as_many_are_told_of_as_fit),
        cmocka_unit_test(two_units_of_a_relation_in_every_order),
        cmocka_unit_test(two_relations_in_every_order),
        cmocka_unit_test(faults_upgrades_and_configuration_in_every_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
