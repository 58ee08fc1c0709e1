/* Agents of units by what their reps know (unit_cells.h), against the shipping ops: a client
 * deploys db, two units of web and the subordinate logger, and relates them; hooks run, fail, are
 * resolved, and set what others are told; reps, containers and moves are lost. When all has come to
 * rest everybody was told of everybody. Then all is destroyed, in any order, and nothing is left
 * (V11).
 *
 *   test_unit_agents [--schedules N] [--seed S] | --seeds A-B     (test/decide/schedules.h) */
#include "bbs/inside.h"
#include "bbs/units/facts.h"
#include "bbs/units/units.h"
#include "common/lifecycle/unit_status.h"
#include "test/decide/schedules.h"
#include "test/decide/unit_cells.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 1500, REST_STEPS_MAX = 30000 };

#ifdef __SANITIZE_ADDRESS__
static struct schedules schedules = {1, 20, false};
#else
static struct schedules schedules = {1, 200, false};
#endif

/* ---- Clients --------------------------------------------------------------------------------- */

/* Something that somebody who is no rep wants: at a bbs that has heard all. */
static bool ask(struct unit_world *w, enum actor actor, const struct op_row *op,
                const ProtobufCMessage *request)
{
    struct unit_turn t;
    unit_turn_init(&t, (unsigned)random_below(&w->random, UNIT_WORLD_BBS));
    unit_world_hear(w, t.bbs, SIZE_MAX);
    t.actor = actor;
    t.op = op;
    t.request = request;
    unit_world_decide(w, &t);
    bool done = t.plan.plan.verdict == PLAN_COMMIT;
    assert_true(unit_world_commit(w, &t));
    unit_turn_done(&t);
    return done;
}

static void deploy_service(struct unit_world *w, struct arena *a, const char *name,
                           const char *ends, uint32_t count)
{
    const char *key;
    const Board__CharmRecord *charm = (const Board__CharmRecord *)unit_row(
        a, arena_printf(a, "charm/%s/d endpoints=%s", name, ends), &key);
    Board__DeployUnitsRequest *r = arena_message(a, &board__deploy_units_request__descriptor);
    r->charm = charm->charm;
    r->charm->name = arena_strdup(a, name);
    r->charm->subordinate = count == 0;
    r->charm->run = arena_message(a, &models__desired_lrp__descriptor);
    r->charm->run->root_fs = arena_strdup(a, "preloaded:busybox");
    r->count = count;
    assert_true(ask(w, ACTOR_CLIENT, &deploy_units_row, &r->base));
}

static void relate_ends(struct unit_world *w, struct arena *a, const char *ends)
{
    assert_true(ask(w, ACTOR_CLIENT, &relate_units_row, &relate_request(a, ends)->base));
}

static void deploy_all(struct unit_world *w)
{
    SCOPED_ARENA(a);
    deploy_service(w, &a, "db", "db:1:kv:0,ring:2:ring:0", 2);
    deploy_service(w, &a, "web", "db:0:kv:0,site:1:http:0", 2);
    deploy_service(w, &a, "logger", "log:0:juju-info:1", 0);
    relate_ends(w, &a, "web:db db:db");
    relate_ends(w, &a, "logger:log web:juju-info");
}

/* Any record with that prefix; NULL = there is none. */
static const ProtobufCMessage *any(struct unit_world *w, struct arena *a, const char *prefix,
                                   const char **ret_key)
{
    const char **keys;
    size_t count = laid_keys(w->store, a, prefix, &keys);
    if (!count) {
        return NULL;
    }
    *ret_key = keys[random_below(&w->random, count)];
    return laid_message(w->store, a, *ret_key);
}

static void works_at_a_job(struct unit_world *w)
{
    SCOPED_ARENA(a);
    const char *key;
    const ProtobufCMessage *job = any(w, &a, "job/", &key);
    if (job) {
        ask(w, ACTOR_BBS, bbs_job_row(NULL, (const Board__JobRecord *)job), job);
    }
}

static void wish_of(struct unit_world *w, const struct move_family *family, const char *text)
{
    struct unit_turn t;
    unit_turn_init(&t, 0);
    unit_world_hear(w, 0, SIZE_MAX);
    unit_turn_move(&t, family, ACTOR_CLIENT, "", text);
    unit_world_decide(w, &t);
    assert_true(unit_world_commit(w, &t));
    unit_turn_done(&t);
}

static void resolves(struct unit_world *w)
{
    SCOPED_ARENA(a);
    const char *key;
    const Board__UnitStatusRecord *s =
        (const Board__UnitStatusRecord *)any(w, &a, "unit_status/", &key);
    if (s && life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_ERROR && !s->resolved) {
        wish_of(w, &unit_status_moves,
                arena_printf(&a, "resolve %s guid=%s resolved=%u", key, s->guid,
                             1 + (unsigned)random_below(&w->random, 2)));
    }
}

static void configures(struct unit_world *w)
{
    SCOPED_ARENA(a);
    Board__ConfigureUnitsRequest *r =
        arena_message(&a, &board__configure_units_request__descriptor);
    r->service = arena_strdup(&a, random_below(&w->random, 2) ? "db" : "web");
    ask(w, ACTOR_CLIENT, &configure_units_row, &r->base);
}

/* Kind and key of what is destroyed, one at a time. */
static bool destroys(struct unit_world *w, const char *prefix, const struct move_family *family)
{
    SCOPED_ARENA(a);
    const char *key;
    const ProtobufCMessage *m = any(w, &a, prefix, &key);
    if (!m) {
        return false;
    }
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "guid");
    const char *guid = *(char *const *)((const char *)m + f->offset);
    const Board__UnitRecord *u = family == &unit_moves ? (const Board__UnitRecord *)m : NULL;
    if (!u || !*u->principal) { /* nobody names a subordinate */
        wish_of(w, family,
                family == &relation_moves ? arena_printf(&a, "destroy %s", key)
                                          : arena_printf(&a, "destroy %s guid=%s", key, guid));
    }
    return true;
}

/* ---- Schedules ------------------------------------------------------------------------------- */

static struct {
    size_t acts[AGENT_ACT_COUNT], ends[3], deaths, refused, gave_up, commits;
} seen;

static void step(struct unit_cells *c)
{
    struct unit_world *w = c->w;
    uint64_t drawn = random_below(&w->random, 100);
    if (drawn < 6) {
        works_at_a_job(w);
    } else if (drawn < 10) {
        resolves(w);
    } else if (drawn < 12) {
        unit_world_hear(w, (unsigned)drawn % UNIT_WORLD_BBS, 1 + random_below(&w->random, 6));
    } else {
        unit_cells_step(c);
    }
}

static bool something_is_left(struct unit_cells *c)
{
    SCOPED_ARENA(a);
    static const char *const kinds[] = {"unit_service/", "unit/", "relation/", "job/"};
    const char **keys;
    size_t count = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        count += laid_keys(c->w->store, &a, kinds[i], &keys);
    }
    for (size_t i = 0; i < c->agent_count; i++) {
        count += c->agents[i].container != AGENT_CONTAINER_NONE;
    }
    return count > 0;
}

static bool is_waited_for(struct unit_world *w)
{
    SCOPED_ARENA(a);
    const char **keys;
    size_t count = laid_keys(w->store, &a, "unit/", &keys);
    bool waits = laid_keys(w->store, &a, "job/", &keys) > 0;
    laid_keys(w->store, &a, "unit/", &keys);
    for (size_t i = 0; i < count; i++) {
        const Board__UnitRecord *u = (const Board__UnitRecord *)laid_message(w->store, &a, keys[i]);
        waits = waits || (!u->assigned && !*u->principal);
    }
    count = laid_keys(w->store, &a, "unit_status/", &keys);
    for (size_t i = 0; i < count; i++) {
        const Board__UnitStatusRecord *s =
            (const Board__UnitStatusRecord *)laid_message(w->store, &a, keys[i]);
        waits = waits || life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_ERROR;
    }
    return waits;
}

/* Nothing fails any more: everybody is told of everybody, and waits. */
static void come_to_rest(struct unit_cells *c)
{
    unsigned i = 0;
    c->calm = true;
    for (; i < REST_STEPS_MAX; i++) {
        step(c);
        if (i % 50 == 0 && !is_waited_for(c->w) && unit_cells_at_rest(c)) {
            break;
        }
    }
    if (i == REST_STEPS_MAX) {
        SCOPED_ARENA(a);
        fail_msg("seed %u does not come to rest: %s", (unsigned)c->w->seed, unit_cells_text(c, &a));
    }
    unit_cells_all_told(c);
    c->calm = false;
}

/* Services last, or first, or in between. */
static void destroy_all(struct unit_cells *c)
{
    for (unsigned i = 0; i < STEPS; i++) {
        step(c);
        uint64_t drawn = random_below(&c->w->random, 200);
        if (drawn == 0) {
            destroys(c->w, "unit_service/", &unit_service_moves);
        } else if (drawn < 4) {
            destroys(c->w, "unit/", &unit_moves);
        } else if (drawn < 6) {
            destroys(c->w, "relation/", &relation_moves);
        } else if (drawn < 8) {
            configures(c->w);
        }
    }
    while (destroys(c->w, "unit_service/", &unit_service_moves) &&
           random_below(&c->w->random, 20)) {
        step(c);
    }
}

static void nothing_is_left(struct unit_cells *c)
{
    bool left = true;
    c->w->at_rest = true;
    for (unsigned i = 0; i < REST_STEPS_MAX && left; i++) {
        c->calm = i > REST_STEPS_MAX / 4;
        step(c);
        if (i % 100 == 0) {
            destroys(c->w, "unit_service/", &unit_service_moves);
        }
        left = something_is_left(c);
    }
    if (left) {
        SCOPED_ARENA(a);
        fail_msg("seed %u: V11, %s", (unsigned)c->w->seed, unit_cells_text(c, &a));
    }
    unit_world_is_empty(c->w);
}

static void count(const struct unit_cells *c)
{
    for (size_t i = 0; i < AGENT_ACT_COUNT; i++) {
        seen.acts[i] += c->acts[i];
    }
    for (size_t i = 0; i < 3; i++) {
        seen.ends[i] += c->ends[i];
    }
    seen.deaths += c->deaths;
    seen.refused += c->refused;
    seen.gave_up += c->gave_up;
    seen.commits += c->w->commits;
}

static void live(uint64_t seed)
{
    struct unit_world w;
    struct unit_cells *c = calloc(1, sizeof(*c));
    unit_world_init(&w, seed, "");
    unit_cells_init(c, &w);
    deploy_all(&w);
    for (uint64_t i = random_below(&w.random, STEPS); i > 0; i--) {
        step(c);
    }
    if (random_below(&w.random, 2)) { /* or it is destroyed while it is made */
        come_to_rest(c);
    }
    destroy_all(c);
    nothing_is_left(c);
    count(c);
    unit_cells_done(c);
    unit_world_done(&w);
    free(c);
}

static void agents_come_to_the_end_in_every_schedule(void **state)
{
    (void)state;
    assert_int_equal(0, schedules_run(&schedules, live));
    if (schedules.apart) { /* they counted each for itself */
        return;
    }
    print_message("%u schedules: %zu commits, %zu deaths, %zu refused, %zu scopes left without a "
                  "container; hooks ended well %zu, badly %zu, lost %zu\n",
                  schedules.count, seen.commits, seen.deaths, seen.refused, seen.gave_up,
                  seen.ends[0], seen.ends[1], seen.ends[2]);
    bool many = schedules.count >= 100;
    for (size_t i = 0; i < AGENT_ACT_COUNT; i++) {
        print_message("%s: %zu times\n", agent_act_name((enum agent_act)i), seen.acts[i]);
        assert_true(!many || seen.acts[i] > 0 || i == AGENT_WAIT || i == AGENT_CUT ||
                    i == AGENT_ADOPT);
    }
    assert_true(!many || (seen.gave_up && seen.refused && seen.ends[1] && seen.ends[2]));
}

int main(int argc, char **argv)
{
    if (!schedules_parse(&schedules, argc, argv)) {
        return 2;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(agents_come_to_the_end_in_every_schedule)};
    return cmocka_run_group_tests_name("agents of units by schedules", tests, NULL, NULL);
}
