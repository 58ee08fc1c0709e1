/* Which events of Diego's API a change of the board makes: a row for every row of behaviour.md 16.3
 * and for every rule beside it. Records are written as in lrp_rows.h, with "epoch=F" and "tag=5"
 * for their modification tag; an event is printed as changed[RUNNING a@c1 O -> UNCLAIMED O] of c1
 * (state, instance, presence; the cells whose filter it passes). */
#include "bbs/event/actual_events.h"
#include "bbs/lrp/group.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

struct event_case {
    const char *name;
    const char *before[ACTUAL_PRESENCES]; /* ORDINARY, EVACUATING, SUSPECT; NULL = none */
    const char *after[ACTUAL_PRESENCES];
    bool crash; /* one was counted */
    bool retired; /* its container is told to stop */
    const char *groups, *instances;
};

#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof((cases)[0]))
#define ORDINARY(text) {(text), NULL, NULL}
#define BESIDE_E(o, e) {(o), (e), NULL}
#define BESIDE_S(o, s) {(o), NULL, (s)}
#define NOBODY {NULL, NULL, NULL}
#define ONLY_E(text) {NULL, (text), NULL}
#define ONLY_S(text) {NULL, NULL, (text)}

/* ---- reading and printing ---- */

static const Models__ActualLRP *record(struct arena *a, const char *text, int presence)
{
    if (!text) {
        return NULL;
    }
    Models__ActualLRP *r = row_actual(a, text, 1, presence);
    if (row_value(a, text, "epoch")) {
        r->modification_tag->epoch = row_value(a, text, "epoch");
    }
    r->modification_tag->index = (uint32_t)row_number(a, text, "index", 4);
    return r;
}

static void print_record(struct buf *out, const char *state, const Models__ActualLRPInstanceKey *k,
                         int presence)
{
    buf_printf(out, "%s", state);
    if (k && k->instance_guid[0]) {
        buf_printf(out, " %s@%s", k->instance_guid, k->cell_id);
    }
    buf_printf(out, " %c", "OES"[presence]);
}

static void print_actual(struct buf *out, const Models__ActualLRP *r)
{
    print_record(out, r->state, r->actual_lrp_instance_key, (int)r->presence);
}

/* An event shows one half of its group. */
static void print_group(struct buf *out, const Models__ActualLRPGroup *g)
{
    assert_true((g->instance != NULL) != (g->evacuating != NULL));
    print_actual(out, g->instance ? g->instance : g->evacuating);
}

static void print_shown(struct buf *out, const char *name, const ProtobufCMessage *m)
{
    if (strcmp(name, "actual_lrp_created") == 0) {
        print_group(out, ((const Models__ActualLRPCreatedEvent *)m)->actual_lrp_group);
    } else if (strcmp(name, "actual_lrp_removed") == 0) {
        print_group(out, ((const Models__ActualLRPRemovedEvent *)m)->actual_lrp_group);
    } else if (strcmp(name, "actual_lrp_changed") == 0) {
        print_group(out, ((const Models__ActualLRPChangedEvent *)m)->before);
        buf_append_string(out, " -> ");
        print_group(out, ((const Models__ActualLRPChangedEvent *)m)->after);
    } else if (strcmp(name, "actual_lrp_instance_created") == 0) {
        const Models__ActualLRPInstanceCreatedEvent *e = (const void *)m;
        print_actual(out, e->actual_lrp);
        assert_string_equal(e->trace_id, "t");
    } else if (strcmp(name, "actual_lrp_instance_removed") == 0) {
        const Models__ActualLRPInstanceRemovedEvent *e = (const void *)m;
        print_actual(out, e->actual_lrp);
        assert_string_equal(e->trace_id, "t");
    } else if (strcmp(name, "actual_lrp_instance_changed") == 0) {
        const Models__ActualLRPInstanceChangedEvent *e = (const void *)m;
        print_record(out, e->before->state, e->actual_lrp_instance_key, (int)e->before->presence);
        buf_append_string(out, " -> ");
        print_record(out, e->after->state, NULL, (int)e->after->presence);
        assert_string_equal(e->trace_id, "t");
        assert_string_equal(e->actual_lrp_key->process_guid, ROWS_PROCESS);
    } else {
        assert_string_equal(name, "actual_lrp_crashed");
        const Models__ActualLRPCrashedEvent *e = (const void *)m;
        buf_printf(out, "%s@%s %d times since %lld: %s", e->actual_lrp_instance_key->instance_guid,
                   e->actual_lrp_instance_key->cell_id, e->crash_count,
                   (long long)(e->since / SECOND_NS), e->crash_reason);
        assert_int_equal(e->actual_lrp_key->index, 1);
    }
}

static void print_events(struct buf *out, const struct api_events *events, const char *prefix)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct api_event *e = &events->list[i];
        bool crashed = strcmp(e->name, "actual_lrp_crashed") == 0;
        const char *leader_lock = crashed ? "actual_lrp_" : prefix;
        assert_int_equal(strncmp(e->name, leader_lock, strlen(leader_lock)), 0);
        buf_printf(out, "%s%s[", i ? ", " : "", e->name + strlen(leader_lock));
        print_shown(out, e->name, e->message);
        buf_append_string(out, "]");
        assert_false(e->of_all_cells);
        assert_true(protobuf_c_message_get_packed_size(e->message) > 0);
        const char *word = " of ";
        for (size_t c = 0; c < API_EVENT_CELLS; c++) {
            if (e->cells[c] && e->cells[c][0]) {
                buf_printf(out, "%s%s", word, e->cells[c]);
                word = " and ";
            }
        }
    }
    if (events->count == 0) {
        buf_append_string(out, "none");
    }
}

static void expect(const char *name, const char *stream, const char *wanted, struct buf *got)
{
    if (strcmp(wanted, buf_string(got)) != 0) {
        fail_msg("%s, %s:\n  wanted %s\n  got    %s", name, stream, wanted, buf_string(got));
    }
    buf_clear(got);
}

static void run_cases(const struct event_case *cases, size_t count)
{
    SCOPED_BUF(got);
    for (size_t i = 0; i < count; i++) {
        const struct event_case *c = &cases[i];
        SCOPED_ARENA(a);
        struct actual_change change = {.trace_id = "t", .crashed = c->crash, .retired = c->retired};
        for (int p = 0; p < ACTUAL_PRESENCES; p++) {
            change.before.records[p] = record(&a, c->before[p], p);
            change.after.records[p] = record(&a, c->after[p], p);
        }
        struct api_events events;
        actual_group_events(&a, &change, &events);
        print_events(&got, &events, "actual_lrp_");
        expect(c->name, "groups", c->groups, &got);
        actual_instance_events(&a, &change, &events);
        print_events(&got, &events, "actual_lrp_instance_");
        expect(c->name, "instances", c->instances, &got);
    }
}

/* ---- behaviour.md 16.3, row by row ---- */

static void ordinary_life(void **state)
{
    static const struct event_case cases[] = {
        {"create UNCLAIMED", NOBODY, ORDINARY("UNCLAIMED"), .groups = "created[UNCLAIMED O]",
         .instances = "created[UNCLAIMED O]"},
        {"claim", ORDINARY("UNCLAIMED"), ORDINARY("CLAIMED a@c1 index=5"),
         .groups = "changed[UNCLAIMED O -> CLAIMED a@c1 O] of c1",
         .instances = "changed[UNCLAIMED a@c1 O -> CLAIMED O] of c1"},
        {"claim or start with nothing new", ORDINARY("RUNNING a@c1"), ORDINARY("RUNNING a@c1"),
         .groups = "none", .instances = "none"},
        {"start UNCLAIMED", ORDINARY("UNCLAIMED"), ORDINARY("RUNNING a@c1 index=5"),
         .groups = "changed[UNCLAIMED O -> RUNNING a@c1 O] of c1",
         .instances = "changed[UNCLAIMED a@c1 O -> RUNNING O] of c1"},
        {"start CLAIMED", ORDINARY("CLAIMED a@c1"), ORDINARY("RUNNING a@c1 index=5"),
         .groups = "changed[CLAIMED a@c1 O -> RUNNING a@c1 O] of c1 and c1",
         .instances = "changed[CLAIMED a@c1 O -> RUNNING O] of c1"},
        {"start RUNNING with other net info", ORDINARY("RUNNING a@c1 address=10.0.0.1"),
         ORDINARY("RUNNING a@c1 address=10.0.0.2 index=5"),
         .groups = "changed[RUNNING a@c1 O -> RUNNING a@c1 O] of c1 and c1",
         .instances = "changed[RUNNING a@c1 O -> RUNNING O] of c1"},
        {"start with other routes: the tag tells", ORDINARY("RUNNING a@c1 route=x"),
         ORDINARY("RUNNING a@c1 route=y index=5"),
         .groups = "changed[RUNNING a@c1 O -> RUNNING a@c1 O] of c1 and c1",
         .instances = "changed[RUNNING a@c1 O -> RUNNING O] of c1"},
        {"RUNNING claimed again by its instance", ORDINARY("RUNNING a@c1"),
         ORDINARY("CLAIMED a@c1 index=5"),
         .groups = "changed[RUNNING a@c1 O -> CLAIMED a@c1 O] of c1 and c1",
         .instances = "changed[RUNNING a@c1 O -> CLAIMED O] of c1"},
        {"start with no record", NOBODY, ORDINARY("RUNNING a@c1"),
         .groups = "created[RUNNING a@c1 O] of c1", .instances = "created[RUNNING a@c1 O] of c1"},
        {"start taking over another instance's CLAIMED", ORDINARY("CLAIMED a@c1"),
         ORDINARY("RUNNING b@c2 index=5"),
         .groups = "created[RUNNING b@c2 O] of c2, removed[CLAIMED a@c1 O] of c1",
         .instances = "changed[CLAIMED b@c2 O -> RUNNING O] of c2"},
        {"fail", ORDINARY("UNCLAIMED"), ORDINARY("UNCLAIMED error=full index=5"),
         .groups = "changed[UNCLAIMED O -> UNCLAIMED O]",
         .instances = "changed[UNCLAIMED O -> UNCLAIMED O]"},
        {"remove of RUNNING", ORDINARY("RUNNING a@c1"), NOBODY,
         .groups = "removed[RUNNING a@c1 O] of c1", .instances = "removed[RUNNING a@c1 O] of c1"},
        {"retire of UNCLAIMED", ORDINARY("UNCLAIMED"), NOBODY, .groups = "removed[UNCLAIMED O]",
         .instances = "removed[UNCLAIMED O]"},
        {"retire of CRASHED", ORDINARY("CRASHED crash=3"), NOBODY, .groups = "removed[CRASHED O]",
         .instances = "removed[CRASHED O]"},
        {"retire of RUNNING: told at once, though the record stays until the container has ended",
         ORDINARY("RUNNING a@c1"), ORDINARY("RUNNING a@c1 stopping"), .retired = true,
         .groups = "removed[RUNNING a@c1 O] of c1", .instances = "removed[RUNNING a@c1 O] of c1"},
        {"retire of CLAIMED", ORDINARY("CLAIMED a@c1"), ORDINARY("CLAIMED a@c1 stopping"),
         .retired = true, .groups = "removed[CLAIMED a@c1 O] of c1",
         .instances = "removed[CLAIMED a@c1 O] of c1"},
        {"retire again: told again", ORDINARY("RUNNING a@c1 stopping"),
         ORDINARY("RUNNING a@c1 stopping"), .retired = true,
         .groups = "removed[RUNNING a@c1 O] of c1", .instances = "removed[RUNNING a@c1 O] of c1"},
        {"scale-down or removal marks it: none before the end", ORDINARY("RUNNING a@c1"),
         ORDINARY("RUNNING a@c1 stopping"), .groups = "none", .instances = "none"},
        {"converger: missing index", NOBODY, ORDINARY("UNCLAIMED"),
         .groups = "created[UNCLAIMED O]", .instances = "created[UNCLAIMED O]"},
    };
    RUN(cases);
}

static void crashes(void **state)
{
    static const struct event_case cases[] = {
        {"crash to CRASHED", ORDINARY("RUNNING a@c1 crash=2 since=900"),
         ORDINARY("CRASHED crash=3 reason=x since=1000 index=5"), .crash = true,
         .groups = "crashed[a@c1 3 times since 1000: x] of c1, "
                   "changed[RUNNING a@c1 O -> CRASHED O] of c1",
         .instances = "crashed[a@c1 3 times since 1000: x] of c1, "
                      "changed[RUNNING a@c1 O -> CRASHED O] of c1"},
        {"crash with immediate restart", ORDINARY("RUNNING a@c1"),
         ORDINARY("UNCLAIMED crash=1 since=1000 index=5"), .crash = true,
         .groups = "crashed[a@c1 1 times since 1000: ] of c1, "
                   "changed[RUNNING a@c1 O -> UNCLAIMED O] of c1",
         .instances = "crashed[a@c1 1 times since 1000: ] of c1, created[UNCLAIMED O], "
                      "removed[RUNNING a@c1 O] of c1"},
        {"crash of CLAIMED with immediate restart", ORDINARY("CLAIMED a@c1"),
         ORDINARY("UNCLAIMED crash=1 reason=x since=1000 index=5"), .crash = true,
         .groups = "crashed[a@c1 1 times since 1000: x] of c1, "
                   "changed[CLAIMED a@c1 O -> UNCLAIMED O] of c1",
         .instances = "crashed[a@c1 1 times since 1000: x] of c1, created[UNCLAIMED O], "
                      "removed[CLAIMED a@c1 O] of c1"},
        {"a rep's crash without a record: whose is not known", NOBODY,
         ORDINARY("UNCLAIMED crash=1 reason=x since=1000"), .crash = true,
         .groups = "crashed[@ 1 times since 1000: x], created[UNCLAIMED O]",
         .instances = "crashed[@ 1 times since 1000: x], created[UNCLAIMED O]"},
        {"the end that was asked for: nothing was counted", ORDINARY("RUNNING a@c1 stopping"),
         NOBODY, .crash = true, .groups = "removed[RUNNING a@c1 O] of c1",
         .instances = "removed[RUNNING a@c1 O] of c1"},
        {"unclaim: converger restarting CRASHED", ORDINARY("CRASHED crash=3"),
         ORDINARY("UNCLAIMED crash=3 index=5"), .groups = "changed[CRASHED O -> UNCLAIMED O]",
         .instances = "created[UNCLAIMED O], removed[CRASHED O]"},
        {"a rep's CRASHED instance runs", ORDINARY("CRASHED crash=3"),
         ORDINARY("RUNNING a@c1 crash=3 index=5"),
         .groups = "changed[CRASHED O -> RUNNING a@c1 O] of c1",
         .instances = "changed[CRASHED a@c1 O -> RUNNING O] of c1"},
    };
    RUN(cases);
}

static void evacuations(void **state)
{
    static const struct event_case cases[] = {
        {"unclaim: evacuate_claimed", ORDINARY("CLAIMED a@c1"), ORDINARY("UNCLAIMED index=5"),
         .groups = "changed[CLAIMED a@c1 O -> UNCLAIMED O] of c1",
         .instances = "created[UNCLAIMED O], removed[CLAIMED a@c1 O] of c1"},
        {"evacuate_crashed to UNCLAIMED", ORDINARY("RUNNING a@c1"),
         ORDINARY("UNCLAIMED crash=1 index=5"),
         .groups = "changed[RUNNING a@c1 O -> UNCLAIMED O] of c1",
         .instances = "created[UNCLAIMED O], removed[RUNNING a@c1 O] of c1"},
        {"evacuate_crashed to CRASHED", ORDINARY("RUNNING a@c1 crash=2"),
         ORDINARY("CRASHED crash=3 reason=x since=1000 index=5"),
         .groups = "crashed[a@c1 3 times since 1000: x] of c1, "
                   "changed[RUNNING a@c1 O -> CRASHED O] of c1",
         .instances = "crashed[a@c1 3 times since 1000: x] of c1, "
                      "changed[RUNNING a@c1 O -> CRASHED O] of c1"},
        {"evacuate_stopped", ORDINARY("RUNNING a@c1"), NOBODY,
         .groups = "removed[RUNNING a@c1 O] of c1", .instances = "removed[RUNNING a@c1 O] of c1"},
        {"evacuate_running of O", ORDINARY("RUNNING a@c1"),
         BESIDE_E("UNCLAIMED index=5", "RUNNING a@c1 epoch=F index=0"),
         .groups = "created[RUNNING a@c1 E] of c1, changed[RUNNING a@c1 O -> UNCLAIMED O] of c1",
         .instances = "changed[RUNNING a@c1 O -> RUNNING E] of c1, created[UNCLAIMED O]"},
        {"evacuate_running of a CLAIMED O", ORDINARY("CLAIMED a@c1"),
         BESIDE_E("UNCLAIMED index=5", "RUNNING a@c1 epoch=F index=0"),
         .groups = "created[RUNNING a@c1 E] of c1, changed[CLAIMED a@c1 O -> UNCLAIMED O] of c1",
         .instances = "changed[CLAIMED a@c1 O -> RUNNING E] of c1, created[UNCLAIMED O]"},
        {"evacuate_running of S", BESIDE_S("UNCLAIMED epoch=G", "RUNNING a@c1"),
         BESIDE_E("UNCLAIMED epoch=G", "RUNNING a@c1 epoch=F"),
         .groups = "created[RUNNING a@c1 E] of c1, changed[RUNNING a@c1 S -> UNCLAIMED O] of c1",
         .instances = "changed[RUNNING a@c1 S -> RUNNING E] of c1"},
        {"evacuate_running with no own record", ORDINARY("CLAIMED b@c2"),
         BESIDE_E("CLAIMED b@c2", "RUNNING a@c1 epoch=F"),
         .groups = "created[RUNNING a@c1 E] of c1", .instances = "created[RUNNING a@c1 E] of c1"},
        {"evacuate_running again, with other net info",
         BESIDE_E("UNCLAIMED", "RUNNING a@c1 epoch=F address=1"),
         BESIDE_E("UNCLAIMED", "RUNNING a@c1 epoch=F address=2 index=5"),
         .groups = "changed[RUNNING a@c1 E -> RUNNING a@c1 E] of c1 and c1",
         .instances = "changed[RUNNING a@c1 E -> RUNNING E] of c1"},
        {"replacement claimed while E exists", BESIDE_E("UNCLAIMED", "RUNNING a@c1 epoch=F"),
         BESIDE_E("CLAIMED b@c2 index=5", "RUNNING a@c1 epoch=F"),
         .groups = "changed[UNCLAIMED O -> CLAIMED b@c2 O] of c2",
         .instances = "changed[UNCLAIMED b@c2 O -> CLAIMED O] of c2"},
        {"replacement running, E removed", BESIDE_E("CLAIMED b@c2", "RUNNING a@c1 epoch=F"),
         ORDINARY("RUNNING b@c2 index=5"),
         .groups = "changed[CLAIMED b@c2 O -> RUNNING b@c2 O] of c2 and c2, "
                   "removed[RUNNING a@c1 E] of c1",
         .instances = "changed[CLAIMED b@c2 O -> RUNNING O] of c2, removed[RUNNING a@c1 E] of c1"},
        {"E removed", BESIDE_E("UNCLAIMED", "RUNNING a@c1 epoch=F"), ORDINARY("UNCLAIMED"),
         .groups = "removed[RUNNING a@c1 E] of c1", .instances = "removed[RUNNING a@c1 E] of c1"},
        {"retire beside E: E stays", BESIDE_E("RUNNING b@c2", "RUNNING a@c1 epoch=F"),
         BESIDE_E("RUNNING b@c2 stopping", "RUNNING a@c1 epoch=F"), .retired = true,
         .groups = "removed[RUNNING b@c2 O] of c2", .instances = "removed[RUNNING b@c2 O] of c2"},
        {"E removed, and there was nothing beside it", ONLY_E("RUNNING a@c1 epoch=F"), NOBODY,
         .groups = "removed[RUNNING a@c1 E] of c1", .instances = "removed[RUNNING a@c1 E] of c1"},
    };
    RUN(cases);
}

static void lost_cells(void **state)
{
    static const struct event_case cases[] = {
        {"converger: O to S plus new O", ORDINARY("RUNNING a@c1"),
         BESIDE_S("UNCLAIMED epoch=G index=0", "RUNNING a@c1"), .groups = "none",
         .instances = "changed[RUNNING a@c1 O -> RUNNING S] of c1, created[UNCLAIMED O]"},
        {"converger: a CLAIMED O to S plus new O", ORDINARY("CLAIMED a@c1"),
         BESIDE_S("UNCLAIMED epoch=G index=0", "CLAIMED a@c1"), .groups = "none",
         .instances = "changed[CLAIMED a@c1 O -> CLAIMED S] of c1, created[UNCLAIMED O]"},
        {"replacement claimed while S RUNNING", BESIDE_S("UNCLAIMED epoch=G", "RUNNING a@c1"),
         BESIDE_S("CLAIMED b@c2 epoch=G index=5", "RUNNING a@c1"), .groups = "none",
         .instances = "changed[UNCLAIMED b@c2 O -> CLAIMED O] of c2"},
        {"retire of a CLAIMED replacement while S RUNNING",
         BESIDE_S("CLAIMED b@c2 epoch=G", "RUNNING a@c1"),
         BESIDE_S("CLAIMED b@c2 epoch=G stopping", "RUNNING a@c1"), .retired = true,
         .groups = "none", .instances = "removed[CLAIMED b@c2 O] of c2"},
        {"replacement running, S removed", BESIDE_S("CLAIMED b@c2 epoch=G", "RUNNING a@c1"),
         ORDINARY("RUNNING b@c2 epoch=G index=5"),
         .groups = "created[RUNNING b@c2 O] of c2, removed[RUNNING a@c1 S] of c1",
         .instances = "changed[CLAIMED b@c2 O -> RUNNING O] of c2, removed[RUNNING a@c1 S] of c1"},
        {"S crashed or removed, O UNCLAIMED", BESIDE_S("UNCLAIMED epoch=G", "RUNNING a@c1"),
         ORDINARY("UNCLAIMED epoch=G"),
         .groups = "changed[RUNNING a@c1 S -> UNCLAIMED O] of c1",
         .instances = "removed[RUNNING a@c1 S] of c1"},
        {"replacement crashes while S RUNNING", BESIDE_S("CLAIMED b@c2 epoch=G", "RUNNING a@c1"),
         BESIDE_S("UNCLAIMED epoch=G crash=1 reason=x since=1000 index=5", "RUNNING a@c1"),
         .crash = true, .groups = "none",
         .instances = "crashed[b@c2 1 times since 1000: x] of c2, created[UNCLAIMED O], "
                      "removed[CLAIMED b@c2 O] of c2"},
        {"S removed, O CRASHED: now that is seen",
         BESIDE_S("CRASHED epoch=G crash=3 reason=x since=1000", "RUNNING a@c1"),
         ORDINARY("CRASHED epoch=G crash=3 reason=x since=1000"),
         .groups = "crashed[a@c1 3 times since 1000: x] of c1, "
                   "changed[RUNNING a@c1 S -> CRASHED O] of c1",
         .instances = "removed[RUNNING a@c1 S] of c1"},
        {"S removed, no O", ONLY_S("RUNNING a@c1"), NOBODY,
         .groups = "removed[RUNNING a@c1 S] of c1", .instances = "removed[RUNNING a@c1 S] of c1"},
        {"converger: S removed, both RUNNING", BESIDE_S("RUNNING b@c2 epoch=G", "RUNNING a@c1"),
         ORDINARY("RUNNING b@c2 epoch=G"), .groups = "none",
         .instances = "removed[RUNNING a@c1 S] of c1"},
        {"converger: replacement lost while S exists",
         BESIDE_S("CLAIMED b@c2 epoch=G", "RUNNING a@c1"),
         BESIDE_S("UNCLAIMED epoch=G index=5", "RUNNING a@c1"), .groups = "none",
         .instances = "created[UNCLAIMED O], removed[CLAIMED b@c2 O] of c2"},
        {"converger: S back to O", BESIDE_S("UNCLAIMED epoch=G", "RUNNING a@c1"),
         ORDINARY("RUNNING a@c1"), .groups = "removed[UNCLAIMED O]",
         .instances = "removed[UNCLAIMED O], changed[RUNNING a@c1 S -> RUNNING O] of c1"},
        {"converger: S back to O, claimed meanwhile",
         BESIDE_S("CLAIMED b@c2 epoch=G", "CLAIMED a@c1"), ORDINARY("CLAIMED a@c1"),
         .groups = "removed[CLAIMED b@c2 O] of c2",
         .instances = "removed[CLAIMED b@c2 O] of c2, changed[CLAIMED a@c1 S -> CLAIMED O] of c1"},
        {"converger: S back to O, no replacement", ONLY_S("RUNNING a@c1"),
         ORDINARY("RUNNING a@c1"), .groups = "none",
         .instances = "changed[RUNNING a@c1 S -> RUNNING O] of c1"},
    };
    RUN(cases);
}

static void ours(void **state)
{
    static const struct event_case cases[] = {
        {"the stopping mark is not seen", ORDINARY("RUNNING a@c1"),
         ORDINARY("RUNNING a@c1 stopping"), .groups = "none", .instances = "none"},
        {"nor the definition", ORDINARY("RUNNING a@c1 def=D1"), ORDINARY("RUNNING a@c1 def=D2"),
         .groups = "none", .instances = "none"},
        {"stopped, and desired again: one goes, another is made",
         ORDINARY("RUNNING a@c1 stopping"), ORDINARY("UNCLAIMED epoch=G index=0"),
         .groups = "removed[RUNNING a@c1 O] of c1, created[UNCLAIMED O]",
         .instances = "removed[RUNNING a@c1 O] of c1, created[UNCLAIMED O]"},
        {"nothing there, nothing told", NOBODY, NOBODY, .groups = "none", .instances = "none"},
    };
    RUN(cases);
}

/* behaviour.md 10.5. */
static void groups_resolve(void **state)
{
    static const struct {
        const char *ordinary, *suspect, *instance;
    } best[] = {
        {"RUNNING b@c2", "RUNNING a@c1", "b"}, {"CLAIMED b@c2", "RUNNING a@c1", "a"},
        {"CLAIMED b@c2", "CLAIMED a@c1", "a"}, {"UNCLAIMED", "CLAIMED a@c1", "a"},
        {"CLAIMED b@c2", NULL, "b"},           {"CRASHED", NULL, ""},
        {NULL, "RUNNING a@c1", "a"},
    };
    static const struct {
        const char *instance, *evacuating, *resolved;
    } filtered[] = {
        {"UNCLAIMED", NULL, ""},
        {"RUNNING b@c2", "RUNNING a@c1", "b"},
        {"CRASHED", "RUNNING a@c1", ""},
        {"CLAIMED b@c2", "RUNNING a@c1", "a"},
        {"UNCLAIMED", "RUNNING a@c1", "a"},
        {NULL, "RUNNING a@c1", "a"},
    };
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(best) / sizeof(best[0]); i++) {
        struct actual_index index = {
            .records = {record(&a, best[i].ordinary, 0), NULL, record(&a, best[i].suspect, 2)}};
        const Models__ActualLRP *found = group_instance(&index);
        const Models__ActualLRPInstanceKey *k = found->actual_lrp_instance_key;
        assert_string_equal(k ? k->instance_guid : "", best[i].instance);
    }
    for (size_t i = 0; i < sizeof(filtered) / sizeof(filtered[0]); i++) {
        Models__ActualLRPGroup group = MODELS__ACTUAL_LRPGROUP__INIT;
        group.instance = (Models__ActualLRP *)(uintptr_t)record(&a, filtered[i].instance, 0);
        group.evacuating = (Models__ActualLRP *)(uintptr_t)record(&a, filtered[i].evacuating, 1);
        const Models__ActualLRPInstanceKey *k = group_resolve(&group)->actual_lrp_instance_key;
        assert_string_equal(k ? k->instance_guid : "", filtered[i].resolved);
    }
    struct actual_index none = {0};
    assert_null(group_instance(&none));
}

/* What Diego always writes is there, what is ours is not (behaviour.md 2). */
static void only_what_diego_knows(void **state)
{
    SCOPED_ARENA(a);
    Models__Owner owner = MODELS__OWNER__INIT;
    Models__ActualLRP bare = MODELS__ACTUAL_LRP__INIT;
    bare.stopping = true;
    bare.definition_id = arena_strdup(&a, "D");
    bare.owner = &owner;
    uint8_t bytes[64];
    size_t size = models__actual_lrp__pack(actual_visible(&a, &bare), bytes);
    static const uint8_t golden[] = {0x0a, 0, 0x12, 0, 0x1a, 0, 0x4a, 0};
    assert_int_equal(size, sizeof(golden));
    assert_memory_equal(bytes, golden, sizeof(golden));
    assert_true(bare.stopping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_life),  cmocka_unit_test(crashes),
        cmocka_unit_test(evacuations),    cmocka_unit_test(lost_cells),
        cmocka_unit_test(ours),           cmocka_unit_test(groups_resolve),
        cmocka_unit_test(only_what_diego_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
