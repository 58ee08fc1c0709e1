/* What a converger does about a service now, rule by rule (converger/service_look.h). */
#include "common/base/memory.h"
#include "converger/service_look.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REVISIONS = 2, OLD = 0, NEW = 1 };

#define S SECOND_NS
#define NOW_S 5000

/* The service /api of shop. Of a revision: how many instances are desired, the first so many of
 * which are there and available; -1 = there is no such DesiredLRP. The newest is the target. */
struct look_row {
    const char *rule;
    const char *state;
    int32_t wanted, old, old_ready, new, new_ready;
    uint64_t generation; /* 0 = 1, which was taken up */
    bool differs, paused, unconfirmed, unrouted, restarting, counted;
    int64_t step_ago_s, stuck_ago_s, gone_ago_s; /* 0 = long ago; of stuck: now */
    const char *fault;
    const char *move; /* and its end, where it must be looked at again: "-, in 3 s" */
};

static const struct look_row rows[] = {
    {"1", "deleting", 3, -1, 0, 3, 3, .move = "unroute"},
    {"1 restored", "deleting", 3, -1, 0, 3, 3, .unconfirmed = true,
     .move = "observe deleting: the board was restored: nothing is done until bbs systems confirm"},
    {"2", "deleting", 3, -1, 0, 3, 3, .unrouted = true, .gone_ago_s = 2, .counted = true,
     .move = "observe deleting: its routes are gone, its instances go next, in 3 s"},
    {"3 the oldest first", "deleting", 3, 1, 1, 3, 3, .unrouted = true, .gone_ago_s = 5,
     .move = "shrink old to 0"},
    {"3", "deleting", 3, -1, 0, 3, 3, .unrouted = true, .gone_ago_s = 5,
     .move = "shrink new to 0"},
    {"4", "deleting", 3, -1, 0, -1, 0, .unrouted = true, .gone_ago_s = 5, .move = "remove"},
    {"5 records are left", "deleting", 3, -1, 0, -1, 2, .unrouted = true, .gone_ago_s = 5,
     .move = "observe deleting: 2 of its instances are to end"},
    {"6 another state", "updating", 3, -1, 0, 3, 3, .move = "observe stable: "},
    {"6 the generation", "stable", 3, -1, 0, 3, 3, .generation = 2, .move = "observe stable: "},
    {"6 before its step", "stable", 3, 3, 3, 0, 0, .move = "observe updating: 0 of 3 replaced"},
    {"7 surge", "updating", 3, 3, 3, 0, 0, .move = "surge new to 1"},
    {"7 shrink", "updating", 3, 3, 3, 1, 1, .move = "shrink old to 2"},
    {"7 not within a second", "updating", 3, 3, 3, 1, 1, .step_ago_s = -1, .counted = true,
     .move = "observe updating: 1 of 3 replaced, in 1 s"},
    {"7 adjust", "updating", 3, -1, 0, 3, 3, .differs = true, .move = "adjust new to 3"},
    {"7 paused", "updating", 3, 3, 3, 0, 0, .paused = true, .counted = true,
     .move = "observe updating: 0 of 3 replaced; paused"},
    {"7 restored", "scaling", 3, -1, 0, 2, 2, .unconfirmed = true, .counted = true,
     .move = "observe scaling: 2 of 3 available; the board was restored: nothing is done until "
             "bbs systems confirm"},
    {"3 of its state: overdue", "scaling", 3, -1, 0, 3, 2, .stuck_ago_s = 600,
     .move = "observe failed: no progress for 600 s; 2 of 3 available"},
    {"not a second before", "scaling", 3, -1, 0, 3, 2, .stuck_ago_s = 599, .counted = true,
     .move = "observe scaling: 2 of 3 available, in 1 s"},
    {"never while it is held", "scaling", 3, -1, 0, 3, 2, .stuck_ago_s = 600, .paused = true,
     .counted = true, .move = "observe scaling: 2 of 3 available; paused"},
    {"8", "stable", 3, -1, 0, 3, 3, .restarting = true, .counted = true,
     .move = "retire new at 0"},
    {"8 paused", "stable", 3, -1, 0, 3, 3, .restarting = true, .paused = true, .counted = true,
     .move = "-"},
    {"8 too few are available", "scaling", 3, -1, 0, 3, 2, .restarting = true, .counted = true,
     .stuck_ago_s = 1, .move = "observe scaling: 2 of 3 available, in 299 s"},
    {"9 nothing", "stable", 3, -1, 0, 3, 3, .counted = true, .move = "-"},
    {"9 counts", "stable", 3, -1, 0, 3, 3, .move = "observe stable: "},
    {"9 a fault", "stable", 3, -1, 0, 3, 3, .counted = true, .fault = "no image",
     .move = "observe stable: "},
    {"none wanted", "stable", 0, -1, 0, 0, 0, .counted = true, .move = "-"},
};

static struct moment now(void)
{
    return (struct moment){.mono_ns = NOW_S * S, .wall_ns = 2 * NOW_S * S};
}

/* So many are there, and ready for an hour, for all that this process has seen. */
static struct seats seats_of(int32_t desired, int32_t ready)
{
    struct seats s;
    Models__ActualLRP m = MODELS__ACTUAL_LRP__INIT;
    struct sighting seen = {.since_ns = now().mono_ns - 3600 * S,
                            .after_ns = now().mono_ns - 3600 * S};
    seats_init(&s);
    m.state = (char *)(uintptr_t)"RUNNING";
    m.since = now().wall_ns - 3600 * S;
    seats_rule(&s, (struct seat_rules){desired > 0 ? desired : 0, 15 * S, NULL}, now());
    for (int32_t i = 0; i < ready; i++) {
        seats_change(&s, i, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY, &m, seen, now());
    }
    seats_wake(&s, now(), true);
    return s;
}

static char *text(const char *t)
{
    return (char *)(uintptr_t)(t ? t : "");
}

static void lay(struct arena *a, const struct look_row *r, Board__ServiceRecord *ret)
{
    static const char *const hashes[] = {"old", "new"};
    board__service_record__init(ret);
    ret->uid = text("u");
    ret->path = text("/api");
    ret->system = text("shop");
    ret->state = text(r->state);
    ret->instances = r->wanted;
    ret->target = text("new");
    ret->generation = r->generation ? r->generation : 1;
    ret->observed = 1;
    ret->unrouted_at = r->unrouted;
    ret->restarting = text(r->restarting ? "R1" : "");
    ret->revisions = ARENA_ARRAY(a, REVISIONS, Board__Revision *);
    for (int i = 0; i < REVISIONS; i++) {
        int32_t desired = i == OLD ? r->old : r->new;
        Board__Revision *v = ret->revisions[ret->n_revisions++] = ARENA_NEW(a, Board__Revision);
        board__revision__init(v);
        v->hash = text(hashes[i]);
        v->instances = desired > 0 ? desired : 0;
    }
    if (r->counted) {
        int32_t old = r->old > 0 ? r->old_ready : 0, new = r->new > 0 ? r->new_ready : 0;
        ret->counts = ARENA_NEW(a, Board__Counts);
        board__counts__init(ret->counts);
        ret->counts->total = ret->counts->available = old + new;
        ret->counts->updated = new;
    }
}

static const char *printed(struct arena *a, const struct service_answer *answer)
{
    const char *line = "-";
    if (answer->move) {
        const Board__ServiceMove *m = answer->move->service;
        const char *name = answer->move->move;
        assert_string_equal(answer->move->subject->key, "u/%2Fapi");
        assert_string_equal(m->system, "shop");
        line = strcmp(name, "observe") == 0
                   ? arena_printf(a, "observe %s: %s", m->state, m->message)
               : strcmp(name, "retire") == 0
                   ? arena_printf(a, "retire %s at %d", m->revision, (int)m->index)
               : m->revision[0]
                   ? arena_printf(a, "%s %s to %d", name, m->revision, (int)m->instances)
                   : name;
    }
    int64_t left_ns = answer->due_ns == NEVER_NS ? 0 : answer->due_ns - now().mono_ns;
    return left_ns > 0 && left_ns < 300 * S
               ? arena_printf(a, "%s, in %lld s", line, (long long)(left_ns / S))
               : line;
}

static void each_rule(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct look_row *r = &rows[i];
        SCOPED_ARENA(a);
        Board__ServiceRecord record;
        struct seats old = seats_of(r->old, r->old_ready), new = seats_of(r->new, r->new_ready);
        const struct service_revision_view revisions[] = {{&old, r->old >= 0}, {&new, r->new >= 0}};
        struct service_answer answer;
        lay(&a, r, &record);
        struct service_look l = {
            .record = &record,
            .now = now(),
            .revisions = revisions,
            .fits = !r->differs,
            .paused = r->paused,
            .unconfirmed = r->unconfirmed,
            .fault = text(r->fault),
            .drain_ns = 5 * S,
            .stuck_ns = now().mono_ns - r->stuck_ago_s * S,
            .unrouted_ns = now().mono_ns - r->gone_ago_s * S,
            .step_ns = r->step_ago_s < 0 ? now().mono_ns : 0,
            .restart = {.at_ns = now().wall_ns, .known_ns = now().mono_ns},
        };
        service_look_at(&a, &l, &answer);
        const char *got = printed(&a, &answer);
        if (strcmp(got, r->move) != 0) {
            print_error("%s: \"%s\", not \"%s\"\n", r->rule, got, r->move);
            wrong++;
        }
        seats_done(&old);
        seats_done(&new);
    }
    assert_int_equal(wrong, 0);
}

/* What only counts is written once a second; a state at once. */
static void counts_are_written_once_a_second(void **state)
{
    struct look_row r = {.state = "stable", .wanted = 1, .old = -1, .new = 1, .new_ready = 1};
    struct seats old = seats_of(-1, 0), new = seats_of(1, 1);
    const struct service_revision_view revisions[] = {{&old, false}, {&new, true}};
    Board__ServiceRecord record;
    struct service_answer answer;
    SCOPED_ARENA(a);
    (void)state;
    lay(&a, &r, &record);
    struct service_look l = {.record = &record, .now = now(), .revisions = revisions, .fits = true,
                             .fault = "", .observe_ns = now().mono_ns};
    service_look_at(&a, &l, &answer);
    assert_null(answer.move);
    assert_int_equal(answer.due_ns, now().mono_ns + SERVICE_STEP_NS);
    l.observe_ns -= SERVICE_STEP_NS;
    service_look_at(&a, &l, &answer);
    assert_string_equal(answer.move->move, "observe");
    record.state = text("scaling");
    l.observe_ns = now().mono_ns;
    service_look_at(&a, &l, &answer);
    assert_string_equal(answer.move->service->state, "stable");
    seats_done(&old);
    seats_done(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(counts_are_written_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
