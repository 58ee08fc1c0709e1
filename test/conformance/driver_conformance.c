/* The conformance program of the container drivers. */
#include "test/conformance/driver_conformance.h"

#include "test/tool/cmocka.h"


#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_S = 120 };

/* ---- Talking to a subject ---- */

static void keep_end(struct subject *s, const struct container_status *c)
{
    size_t room = sizeof(s->ended) / sizeof(s->ended[0]);
    if (c->state == CONTAINER_RUNNING || c->state == CONTAINER_PREPARED) {
        assert_true(c->fact_count > 0);
        s->facts_told++;
        return;
    }
    assert_true(s->ended_count < room);
    struct ended *e = &s->ended[s->ended_count++];
    snprintf(e->guid, sizeof(e->guid), "%s", c->guid);
    e->exit_code = c->exit_code;
    e->exit_signal = c->exit_signal;
    e->oom_killed = c->oom_killed;
    e->disk_full = c->disk_full;
    assert_int_equal(c->state, CONTAINER_EXITED);
}

struct verb_answer subject_verb(struct subject *s, struct arena *arena, struct verb_call call)
{
    struct event ev;
    call.id = ++s->ids;
    if (!call.deadline_ns) {
        call.deadline_ns = s->now_ns(s) + ANSWER_S * SECOND_NS;
    }
    s->call(s, &call);
    while (s->next(s, (ANSWER_S + 5) * SECOND_NS, arena, &ev)) {
        if (ev.kind == EVENT_CONTAINER) {
            keep_end(s, &ev.container);
        } else if (ev.verb.id == call.id) {
            assert_int_equal(ev.kind, EVENT_VERB);
            assert_int_equal(ev.verb.verb, call.verb);
            assert_non_null(ev.verb.text);
            return ev.verb;
        }
    }
    fail_msg("%s: no answer to verb %d of %s", s->name, call.verb, call.guid ? call.guid : "all");
    return (struct verb_answer){0};
}

struct verb_answer subject_prepare(struct subject *s, struct arena *arena, const char *guid,
                                   const struct container_spec *spec)
{
    return subject_verb(s, arena, (struct verb_call){.verb = VERB_PREPARE,
                                                     .guid = guid,
                                                     .spec = spec,
                                                     .note = bytes_of(guid)});
}

struct verb_answer subject_plain(struct subject *s, struct arena *arena, enum verb verb,
                                 const char *guid)
{
    return subject_verb(s, arena, (struct verb_call){.verb = verb, .guid = guid});
}

struct verb_answer subject_signal(struct subject *s, struct arena *arena, const char *guid,
                                  int number)
{
    return subject_verb(
        s, arena, (struct verb_call){.verb = VERB_SIGNAL, .guid = guid, .signal = number});
}

static void done(const struct verb_answer *a)
{
    if (a->outcome != VERB_DONE) {
        fail_msg("verb %d of %s: outcome %d: %s", a->verb, a->guid, a->outcome, a->text);
    }
}

void subject_begin(struct subject *s, const char *guid, enum program program)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs, .cpu_weight = 1};
    s->program(s, guid, program, &spec);
    struct verb_answer a = subject_prepare(s, &arena, guid, &spec);
    done(&a);
    a = subject_plain(s, &arena, VERB_START, guid);
    done(&a);
}

static bool take_end(struct subject *s, const char *guid, struct ended *ret)
{
    for (size_t i = 0; i < s->ended_count; i++) {
        if (strcmp(s->ended[i].guid, guid) == 0) {
            *ret = s->ended[i];
            s->ended[i] = s->ended[--s->ended_count];
            return true;
        }
    }
    return false;
}

struct ended subject_await_end(struct subject *s, const char *guid)
{
    struct ended found;
    struct event ev;
    SCOPED_ARENA(arena);
    while (!take_end(s, guid, &found)) {
        if (!s->next(s, ANSWER_S * SECOND_NS, &arena, &ev)) {
            fail_msg("%s: %s did not end", s->name, guid);
        }
        assert_int_equal(ev.kind, EVENT_CONTAINER);
        keep_end(s, &ev.container);
    }
    return found;
}

struct container_status subject_find(struct subject *s, struct arena *arena, const char *guid)
{
    struct verb_answer a = subject_plain(s, arena, VERB_LIST, NULL);
    struct container_status found = {0};
    done(&a);
    for (size_t i = 0; i < a.container_count; i++) {
        assert_true(i == 0 || strcmp(a.containers[i - 1].guid, a.containers[i].guid) < 0);
        if (strcmp(a.containers[i].guid, guid) == 0) {
            found = a.containers[i];
        }
    }
    return found;
}

void subject_remove(struct subject *s, const char *guid)
{
    SCOPED_ARENA(arena);
    struct ended unused;
    struct verb_answer a = subject_plain(s, &arena, VERB_REMOVE, guid);
    done(&a);
    assert_null(subject_find(s, &arena, guid).guid);
    while (take_end(s, guid, &unused)) {
    }
}

/* ---- The program ---- */

static enum container_state state_of(struct subject *s, const char *guid)
{
    SCOPED_ARENA(arena);
    struct container_status c = subject_find(s, &arena, guid);
    assert_non_null(c.guid);
    assert_true(bytes_equal(c.note, bytes_of(guid)));
    enum container_state state = c.state;
    assert_int_equal(c.pid > 0, state == CONTAINER_RUNNING);
    return state;
}

static void life_of_one(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs};
    s->program(s, "one", PROGRAM_SLEEPS, &spec);
    struct verb_answer a = subject_prepare(s, &arena, "one", &spec);
    done(&a);
    assert_string_equal(a.guid, "one");
    assert_int_equal(state_of(s, "one"), CONTAINER_PREPARED);
    assert_int_equal(subject_prepare(s, &arena, "one", &spec).outcome, VERB_FAILED);
    assert_int_equal(subject_signal(s, &arena, "one", SIGTERM).outcome, VERB_FAILED);
    a = subject_plain(s, &arena, VERB_START, "one");
    done(&a);
    assert_int_equal(state_of(s, "one"), CONTAINER_RUNNING);
    assert_int_equal(subject_plain(s, &arena, VERB_START, "one").outcome, VERB_FAILED);
    a = subject_signal(s, &arena, "one", SIGTERM);
    done(&a);
    struct ended e = subject_await_end(s, "one");
    assert_true(e.exit_signal == SIGTERM || e.exit_code == 128 + SIGTERM);
    assert_false(e.oom_killed);
    assert_int_equal(state_of(s, "one"), CONTAINER_EXITED);
    assert_int_equal(subject_signal(s, &arena, "one", SIGTERM).outcome, VERB_FAILED);
    subject_remove(s, "one");
    subject_remove(s, "one"); /* once more is as good */
}

static void exit_code_is_kept(struct subject *s)
{
    SCOPED_ARENA(arena);
    subject_begin(s, "code", PROGRAM_EXITS);
    struct ended e = subject_await_end(s, "code");
    assert_int_equal(e.exit_code, 3);
    assert_int_equal(e.exit_signal, 0);
    struct container_status c = subject_find(s, &arena, "code");
    assert_int_equal(c.exit_code, 3);
    assert_string_equal(c.text, "");
    s->restart(s);
    c = subject_find(s, &arena, "code");
    assert_int_equal(c.state, CONTAINER_EXITED);
    assert_int_equal(c.exit_code, 3);
    subject_remove(s, "code");
}

static void kill_is_obeyed(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct event ev;
    subject_begin(s, "stubborn", PROGRAM_IS_STUBBORN);
    /* It sets its trap first; told before, it would end. */
    assert_false(s->next(s, 500 * MILLISECOND_NS, &arena, &ev));
    struct verb_answer a = subject_signal(s, &arena, "stubborn", SIGTERM);
    done(&a);
    assert_false(s->next(s, 500 * MILLISECOND_NS, &arena, &ev));
    assert_int_equal(state_of(s, "stubborn"), CONTAINER_RUNNING);
    a = subject_signal(s, &arena, "stubborn", SIGKILL);
    done(&a);
    struct ended e = subject_await_end(s, "stubborn");
    assert_true(e.exit_signal == SIGKILL || e.exit_code == 128 + SIGKILL);
    subject_remove(s, "stubborn");
}

static void bad_starts_say_why(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs};
    s->program(s, "missing", PROGRAM_IS_MISSING, &spec);
    struct verb_answer a = subject_prepare(s, &arena, "missing", &spec);
    done(&a);
    a = subject_plain(s, &arena, VERB_START, "missing");
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_true(strlen(a.text) > 0);
    struct container_status c = subject_find(s, &arena, "missing");
    assert_int_equal(c.state, CONTAINER_EXITED);
    assert_string_equal(c.text, a.text);
    assert_int_equal(c.pid, 0);
    assert_int_equal(s->ended_count, 0); /* nothing ended that never ran */
    subject_remove(s, "missing");
    a = subject_plain(s, &arena, VERB_START, "nobody");
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_int_equal(subject_signal(s, &arena, "nobody", SIGTERM).outcome, VERB_FAILED);
    subject_remove(s, "nobody");
}

static void bad_specs_leave_nothing(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = "preloaded:nosuch"};
    struct verb_answer a;
    s->program(s, "bad", PROGRAM_SLEEPS, &spec);
    if (s->knows_rootfs) {
        a = subject_prepare(s, &arena, "bad", &spec);
        assert_int_equal(a.outcome, VERB_FAILED);
        assert_non_null(strstr(a.text, "nosuch"));
        assert_null(subject_find(s, &arena, "bad").guid);
        spec.rootfs = arena_printf(&arena, "%s?arch=any", s->rootfs); /* its name ends at "?" */
        a = subject_prepare(s, &arena, "good", &spec);
        assert_string_equal(a.text, "");
        assert_int_equal(a.outcome, VERB_DONE);
        subject_remove(s, "good");
    }
    spec.rootfs = s->rootfs;
    a = subject_prepare(s, &arena, "../bad", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    a = subject_plain(s, &arena, VERB_LIST, NULL);
    assert_int_equal(a.container_count, 0);
}

/* The text is Diego's. */
static void an_unknown_volume_driver_is_told(struct subject *s)
{
    static const struct volume volume = {"nosuch", "data", "", "/data", true};
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs, .volumes = &volume, .volume_count = 1};
    s->program(s, "volume", PROGRAM_SLEEPS, &spec);
    struct verb_answer a = subject_prepare(s, &arena, "volume", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_string_equal(a.text, "failed to mount volume");
    assert_null(subject_find(s, &arena, "volume").guid);
}

/* Two containers have no user id in common, also when the rep has been away; with the container its
 * range is free again. */
static void a_range_of_ids_is_given_once(struct subject *s)
{
    enum { FIRST = 1200000000 };
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs, .ids_first = FIRST};
    s->program(s, "mapped", PROGRAM_SLEEPS, &spec);
    struct verb_answer a = subject_prepare(s, &arena, "mapped", &spec);
    done(&a);
    a = subject_plain(s, &arena, VERB_START, "mapped");
    done(&a);
    for (int i = 0; s->has_ids && i < 2; i++) {
        spec.ids_first = FIRST + (i ? CONTAINER_IDS - 1 : 0);
        a = subject_prepare(s, &arena, "second", &spec);
        assert_int_equal(a.outcome, VERB_FAILED);
        assert_non_null(strstr(a.text, "range of ids"));
        assert_null(subject_find(s, &arena, "second").guid);
        s->restart(s);
    }
    spec.ids_first = FIRST + CONTAINER_IDS;
    a = subject_prepare(s, &arena, "second", &spec);
    done(&a);
    subject_remove(s, "mapped");
    spec.ids_first = FIRST;
    a = subject_prepare(s, &arena, "third", &spec);
    done(&a);
    subject_remove(s, "second");
    subject_remove(s, "third");
}

static void restart_adopts(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs};
    subject_begin(s, "adopted", PROGRAM_SLEEPS);
    s->program(s, "waiting", PROGRAM_SLEEPS, &spec);
    struct verb_answer a = subject_prepare(s, &arena, "waiting", &spec);
    done(&a);
    int64_t pid = subject_find(s, &arena, "adopted").pid;
    for (int i = 0; i < 3; i++) {
        s->restart(s);
        assert_int_equal(state_of(s, "adopted"), CONTAINER_RUNNING);
        assert_int_equal(state_of(s, "waiting"), CONTAINER_PREPARED);
        assert_int_equal(subject_find(s, &arena, "adopted").pid, pid);
    }
    a = subject_plain(s, &arena, VERB_START, "waiting");
    done(&a);
    a = subject_signal(s, &arena, "adopted", SIGTERM);
    done(&a);
    subject_await_end(s, "adopted");
    subject_remove(s, "adopted");
    s->restart(s);
    subject_remove(s, "waiting"); /* running, and adopted */
}

static void only_what_runs_is_measured(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs};
    struct verb_answer a = subject_plain(s, &arena, VERB_MEASURE, NULL);
    done(&a);
    assert_int_equal(a.usage_count, 0);
    s->program(s, "waiting", PROGRAM_SLEEPS, &spec);
    a = subject_prepare(s, &arena, "waiting", &spec);
    done(&a);
    subject_begin(s, "beta", PROGRAM_SLEEPS);
    subject_begin(s, "alpha", PROGRAM_SLEEPS);
    a = subject_plain(s, &arena, VERB_MEASURE, NULL);
    done(&a);
    assert_null(a.guid);
    assert_int_equal(a.usage_count, 2);
    assert_string_equal(a.usages[0].guid, "alpha");
    assert_string_equal(a.usages[1].guid, "beta");
    subject_remove(s, "alpha");
    a = subject_plain(s, &arena, VERB_MEASURE, NULL);
    assert_int_equal(a.usage_count, 1);
    subject_remove(s, "beta");
    subject_remove(s, "waiting");
}

static void exec_needs_a_container(struct subject *s)
{
    static const char *const argv[] = {"true", NULL};
    SCOPED_ARENA(arena);
    struct verb_call call = {.verb = VERB_EXEC, .guid = "nobody", .argv = argv};
    assert_int_equal(subject_verb(s, &arena, call).outcome, VERB_FAILED);
    subject_begin(s, "with-exec", PROGRAM_SLEEPS);
    call.guid = "with-exec";
    struct verb_answer a = subject_verb(s, &arena, call);
    done(&a);
    assert_int_equal(a.exit_code, 0);
    subject_remove(s, "with-exec");
    assert_int_equal(subject_verb(s, &arena, call).outcome, VERB_FAILED);
}

/* It may change while the container runs, and nothing else does. */
static void a_note_is_replaced(struct subject *s, bool durable)
{
    SCOPED_ARENA(arena);
    struct verb_call call = {
        .verb = VERB_NOTE, .guid = "nobody", .note = bytes_of("x"), .durable = durable};
    assert_int_equal(subject_verb(s, &arena, call).outcome, VERB_FAILED);
    subject_begin(s, "with-note", PROGRAM_SLEEPS);
    call.guid = "with-note";
    call.note = bytes_of("other words");
    struct verb_answer a = subject_verb(s, &arena, call);
    done(&a);
    struct container_status c = subject_find(s, &arena, "with-note");
    assert_true(bytes_equal(c.note, call.note));
    assert_int_equal(c.state, CONTAINER_RUNNING);
    s->restart(s);
    c = subject_find(s, &arena, "with-note");
    assert_true(bytes_equal(c.note, call.note));
    subject_remove(s, "with-note");
    assert_int_equal(subject_verb(s, &arena, call).outcome, VERB_FAILED);
}

static void is_kept(struct subject *s, const char *guid, struct bytes note)
{
    SCOPED_ARENA(arena);
    struct container_status c = subject_find(s, &arena, guid);
    assert_non_null(c.guid);
    assert_int_equal(c.state, CONTAINER_KEPT);
    assert_true(bytes_equal(c.note, note));
    assert_int_equal(c.pid, 0);
}

/* By a REMOVE that says so, in whatever state it is: the last that was noted, until there is
 * another one of that guid, or it is removed, too. */
static void a_note_is_kept(struct subject *s)
{
    SCOPED_ARENA(arena);
    struct container_spec spec = {.rootfs = s->rootfs};
    struct verb_call remove = {.verb = VERB_REMOVE, .guid = "keeper", .keep_note = true};
    struct verb_call note = {.verb = VERB_NOTE, .guid = "keeper", .note = bytes_of("last")};
    struct verb_answer a = subject_verb(s, &arena, remove); /* of nothing nothing is kept */
    done(&a);
    assert_null(subject_find(s, &arena, "keeper").guid);
    s->program(s, "keeper", PROGRAM_SLEEPS, &spec);
    a = subject_prepare(s, &arena, "keeper", &spec);
    done(&a);
    for (int i = 0; i < 2; i++) { /* never started, and running */
        a = subject_verb(s, &arena, note);
        done(&a);
        a = subject_verb(s, &arena, remove);
        done(&a);
        is_kept(s, "keeper", note.note);
        a = subject_verb(s, &arena, note); /* to what is not there */
        assert_int_equal(a.outcome, VERB_FAILED);
        a = subject_verb(s, &arena, remove);
        done(&a);
        s->restart(s);
        is_kept(s, "keeper", note.note);
        assert_int_equal(subject_plain(s, &arena, VERB_START, "keeper").outcome, VERB_FAILED);
        a = subject_prepare(s, &arena, "keeper", &spec);
        done(&a);
        assert_int_equal(state_of(s, "keeper"), CONTAINER_PREPARED);
        a = subject_plain(s, &arena, VERB_START, "keeper");
        done(&a);
    }
    subject_remove(s, "keeper"); /* nothing came back */
    subject_begin(s, "keeper", PROGRAM_SLEEPS);
    a = subject_verb(s, &arena, remove);
    done(&a);
    subject_remove(s, "keeper");
    s->restart(s);
    assert_null(subject_find(s, &arena, "keeper").guid);
    s->ended_count = 0;
}

static struct verb_answer read_of(struct subject *s, struct arena *arena, const char *guid,
                                  const char *path)
{
    return subject_verb(s, arena,
                        (struct verb_call){.verb = VERB_READ, .guid = guid, .path = path});
}

/* What it left is there after its end, also for the next rep, until it is removed. */
static void a_file_is_read(struct subject *s)
{
    SCOPED_ARENA(arena);
    assert_int_equal(read_of(s, &arena, "nobody", s->file).outcome, VERB_FAILED);
    subject_begin(s, "leaves", PROGRAM_LEAVES);
    struct ended e = subject_await_end(s, "leaves");
    assert_int_equal(e.exit_code, 0);
    assert_int_equal(e.exit_signal, 0);
    for (int i = 0; i < 2; i++) {
        struct verb_answer a = read_of(s, &arena, "leaves", s->file);
        done(&a);
        assert_string_equal(a.guid, "leaves");
        assert_true(bytes_equal(a.data, bytes_of("left behind")));
        a = read_of(s, &arena, "leaves", "/no/such/file");
        assert_int_equal(a.outcome, VERB_FAILED);
        assert_true(strlen(a.text) > 0);
        s->restart(s);
    }
    subject_remove(s, "leaves");
    assert_int_equal(read_of(s, &arena, "leaves", s->file).outcome, VERB_FAILED);
}

/* Verbs of one container asked for at once are done in order, each answered once. */
static void verbs_take_turns(struct subject *s)
{
    static const enum verb verbs[] = {VERB_PREPARE, VERB_START, VERB_REMOVE};
    SCOPED_ARENA(arena);
    struct event ev;
    struct container_spec spec = {.rootfs = s->rootfs};
    unsigned answers[3] = {0};
    s->program(s, "turns", PROGRAM_SLEEPS, &spec);
    struct verb_answer a = subject_prepare(s, &arena, "turns", &spec);
    done(&a);
    uint64_t first = s->ids + 1;
    for (int i = 1; i < 3; i++) {
        struct verb_call call = {.id = ++s->ids,
                                 .verb = verbs[i],
                                 .guid = "turns",
                                 .deadline_ns = s->now_ns(s) + ANSWER_S * SECOND_NS};
        s->call(s, &call);
    }
    while (answers[2] == 0 && s->next(s, ANSWER_S * SECOND_NS, &arena, &ev)) {
        if (ev.kind == EVENT_VERB) {
            assert_int_equal(ev.verb.outcome, VERB_DONE);
            answers[ev.verb.id - first + 1]++;
            assert_int_equal(answers[1], 1);
        }
    }
    assert_int_equal(answers[2], 1);
    assert_null(subject_find(s, &arena, "turns").guid);
    s->ended_count = 0;
}

void driver_conformance(struct subject *s)
{
    life_of_one(s);
    exit_code_is_kept(s);
    kill_is_obeyed(s);
    bad_starts_say_why(s);
    bad_specs_leave_nothing(s);
    an_unknown_volume_driver_is_told(s);
    a_range_of_ids_is_given_once(s);
    restart_adopts(s);
    only_what_runs_is_measured(s);
    exec_needs_a_container(s);
    a_note_is_replaced(s, false);
    a_note_is_replaced(s, true);
    a_note_is_kept(s);
    a_file_is_read(s);
    verbs_take_turns(s);
    steps_conformance(s);
}
