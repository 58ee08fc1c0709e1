/* The model containers pass the conformance program of the drivers, on virtual time. */
#include "common/base/map.h"
#include "test/conformance/driver_conformance.h"
#include "test/sim/model/containers.h"
#include "test/tool/cmocka.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXITS_AFTER_MS = 100, STEP_EXITS_AFTER_MS = 500, PROGRAMS_MAX = 256, CODE = 3 };

#define LEFT_AT "/tmp/result"

struct virtual {
    struct subject subject; /* first */
    struct model_containers *m;
    int64_t now_ns;
    struct {
        char guid[80]; /* or "GUID/STEP" */
        enum program program;
        int64_t exits_ns;
    } programs[PROGRAMS_MAX];
    size_t count;
};

static enum program program_of(struct virtual *v, const char *guid)
{
    for (size_t i = v->count; i-- > 0;) {
        if (strcmp(v->programs[i].guid, guid) == 0) {
            return v->programs[i].program;
        }
    }
    return PROGRAM_SLEEPS;
}

static void program(struct subject *s, const char *guid, enum program p,
                    struct container_spec *spec)
{
    struct virtual *v = (struct virtual *)s;
    assert_true(v->count < PROGRAMS_MAX);
    snprintf(v->programs[v->count].guid, sizeof(v->programs[0].guid), "%s", guid);
    v->programs[v->count].program = p;
    bool exits = p == PROGRAM_EXITS || p == PROGRAM_LEAVES || p == PROGRAM_SAYS;
    v->programs[v->count++].exits_ns = exits ? 0 : NEVER_NS;
    spec->path = "/bin/model";
}

/* A while after a step began, if it does: what does not run cannot end. */
static void begun(struct virtual *v, const char *name, enum program p)
{
    if (p == PROGRAM_IS_MISSING) {
        model_containers_fail_begins(v->m, 1, "no such program");
    }
    for (size_t i = 0; i < v->count; i++) {
        if (v->programs[i].exits_ns == 0 && strcmp(v->programs[i].guid, name) == 0) {
            v->programs[i].exits_ns = v->now_ns + STEP_EXITS_AFTER_MS * MILLISECOND_NS;
        }
    }
}

static void call(struct subject *s, const struct verb_call *c)
{
    struct virtual *v = (struct virtual *)s;
    char name[96];
    int n = snprintf(name, sizeof(name), "%s", c->guid ? c->guid : "");
    uint32_t step = c->run ? c->run->step : c->step;
    if (step > 0) {
        snprintf(name + n, sizeof(name) - (size_t)n, "/%u", step);
    }
    enum program p = c->guid ? program_of(v, name) : PROGRAM_SLEEPS;
    if (c->verb == VERB_BEGIN || c->verb == VERB_RUN) {
        begun(v, name, p);
    }
    if (c->verb == VERB_START && p == PROGRAM_IS_MISSING) {
        model_containers_fail_starts(v->m, 1, "no such program");
    }
    model_containers_pace(v->m)->term_ns =
        p == PROGRAM_IS_STUBBORN ? 3600 * SECOND_NS : 20 * MILLISECOND_NS;
    model_containers_call(v->m, v->now_ns, c);
}

static int64_t now_ns(struct subject *s)
{
    return ((struct virtual *)s)->now_ns;
}

static const char *said(void)
{
    static char text[RUN_OUTPUT_MAX + 1];
    memset(text, ' ', RUN_OUTPUT_MAX);
    memcpy(text + RUN_OUTPUT_MAX - 3, "end", 3);
    return text;
}

static void end_program(struct virtual *v, const char *name, int code)
{
    char guid[80];
    const char *step = strchr(name, '/');
    snprintf(guid, sizeof(guid), "%.*s", (int)strcspn(name, "/"), name);
    model_containers_write(v->m, guid, LEFT_AT, bytes_of("left behind"));
    if (step) {
        uint32_t number = (uint32_t)atoi(step + 1);
        model_containers_run_wrote(v->m, guid, number, said());
        model_containers_end_step(v->m, v->now_ns, guid, number, code, 0, false);
    } else {
        model_containers_end(v->m, v->now_ns, guid, code, 0);
    }
}

/* What runs and should exit does so a while after its start was answered. */
static int64_t run_scripts(struct virtual *v)
{
    int64_t due = NEVER_NS;
    for (size_t i = 0; i < v->count; i++) {
        if (v->programs[i].exits_ns > 0 && v->programs[i].exits_ns <= v->now_ns) {
            bool leaves = v->programs[i].program == PROGRAM_LEAVES;
            end_program(v, v->programs[i].guid, leaves ? 0 : CODE);
            v->programs[i].exits_ns = NEVER_NS;
        } else if (v->programs[i].exits_ns > 0) {
            due = earlier_ns(due, v->programs[i].exits_ns);
        }
    }
    return due;
}

static void started(struct virtual *v, const struct event *ev)
{
    for (size_t i = 0; ev->kind == EVENT_VERB && ev->verb.verb == VERB_START && i < v->count; i++) {
        if (v->programs[i].exits_ns == 0 && strcmp(v->programs[i].guid, ev->verb.guid) == 0) {
            v->programs[i].exits_ns = v->now_ns + EXITS_AFTER_MS * MILLISECOND_NS;
        }
    }
}

static bool next(struct subject *s, int64_t wait_ns, struct arena *arena, struct event *ret)
{
    struct virtual *v = (struct virtual *)s;
    int64_t until = v->now_ns + wait_ns;
    for (;;) {
        int64_t script_due = run_scripts(v);
        if (model_containers_next(v->m, v->now_ns, arena, ret)) {
            started(v, ret);
            return true;
        }
        int64_t due = earlier_ns(script_due, model_containers_due(v->m));
        if (due > until) {
            v->now_ns = until;
            return false;
        }
        v->now_ns = due > v->now_ns ? due : v->now_ns;
    }
}

static void restart(struct subject *s)
{
    struct virtual *v = (struct virtual *)s;
    model_containers_orphaned(v->m, v->now_ns);
    s->ended_count = 0;
}

static void passes(bool wavers)
{
    struct virtual v = {
        .subject = {.name = "model",
                    .call = call,
                    .next = next,
                    .now_ns = now_ns,
                    .restart = restart,
                    .program = program,
                    .rootfs = "preloaded:model",
                    .file = LEFT_AT},
        .m = model_containers_new(),
        .now_ns = SECOND_NS,
    };
    if (wavers) {
        model_containers_waver(v.m, 1);
    }
    driver_conformance(&v.subject);
    runs_conformance(&v.subject);
    model_containers_free(v.m);
}

static void passes_conformance(void **state)
{
    passes(false);
}

static void passes_conformance_when_it_wavers(void **state)
{
    passes(true);
}

/* A START that hangs: how many of so many are done before their deadline, later, never. */
static void what_nobody_answers_may_be_done(void **state)
{
    enum { TRIES = 300 };
    int before = 0, later = 0, never = 0;
    SCOPED_ARENA(a);
    struct event ev;
    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct model_containers *m = model_containers_new();
        struct verb_call call = {.verb = VERB_PREPARE, .guid = "g", .deadline_ns = SECOND_NS};
        model_containers_waver(m, seed);
        model_containers_call(m, 0, &call);
        while (model_containers_next(m, SECOND_NS, &a, &ev)) {
        }
        model_containers_hang(m, true);
        call.verb = VERB_START;
        call.deadline_ns = 2 * SECOND_NS;
        model_containers_call(m, SECOND_NS, &call);
        assert_true(model_containers_next(m, 2 * SECOND_NS, &a, &ev));
        assert_int_equal(ev.verb.outcome, VERB_UNCERTAIN);
        int at_deadline = model_containers_state(m, "g");
        assert_false(model_containers_next(m, 5 * SECOND_NS, &a, &ev));
        int at_last = model_containers_state(m, "g");
        before += at_deadline == CONTAINER_RUNNING;
        later += at_deadline == CONTAINER_STARTING && at_last == CONTAINER_RUNNING;
        never += at_last == CONTAINER_PREPARED;
        model_containers_free(m);
        arena_reset(&a);
    }
    print_message("%d %d %d\n", before, later, never);
    assert_int_equal(before + later + never, TRIES);
    assert_true(before > TRIES / 6 && later > TRIES / 12 && never > TRIES / 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_conformance),
        cmocka_unit_test(passes_conformance_when_it_wavers),
        cmocka_unit_test(what_nobody_answers_may_be_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
