/* 10,000 random trees with random ends, in a world of processes on virtual time. Each is lived
 * once; lived again by a rep that is killed between any two of its doings and goes on from the
 * lines that its driver kept; and a third time with pauses between its lives. */
#include "common/base/random.h"
#include "rep/steps/fact.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/steps/steps_text.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum { TREES = 10000, LEAVES_MAX = 24, DEPTH_MAX = 5, KILLS = 50, TICKS_MAX = 5000 };

/* ---- A random tree, as text ------------------------------------------------------------------ */

struct drawing {
    struct random random;
    struct buf text;
    int leaves;
};

static uint64_t draw(struct drawing *d, uint64_t below)
{
    return random_below(&d->random, below);
}

static void draw_step(struct drawing *d, int depth);

static void draw_group(struct drawing *d, const char *name, int depth)
{
    uint64_t count = 1 + draw(d, 4);
    buf_printf(&d->text, "%s(", name);
    for (uint64_t i = 0; i < count; i++) {
        buf_append_string(&d->text, i ? " " : "");
        draw_step(d, depth + 1);
    }
    buf_append_string(&d->text, ")");
}

static void draw_wrapper(struct drawing *d, int depth)
{
    static const char *const names[] = {"try(", "say("};
    if (draw(d, 2)) {
        buf_printf(&d->text, "timeout:%d(", (int)(1 + draw(d, 3000)));
    } else {
        buf_append_string(&d->text, names[draw(d, 2)]);
    }
    draw_step(d, depth + 1);
    buf_append_string(&d->text, ")");
}

static void draw_step(struct drawing *d, int depth)
{
    static const char *const groups[] = {"serial", "serial", "parallel", "codependent"};
    uint64_t what = depth >= DEPTH_MAX || d->leaves >= LEAVES_MAX ? 0 : draw(d, 10);
    if (what < 4) {
        d->leaves++;
        buf_append_string(&d->text, "run");
    } else if (what < 7) {
        draw_group(d, groups[draw(d, 4)], depth);
    } else {
        draw_wrapper(d, depth);
    }
}

static const char *draw_tree(struct arena *a, uint64_t seed)
{
    struct drawing d = {.text = buf_empty()};
    random_seed(&d.random, (uint64_t[2]){0x74726565, seed});
    if (draw(&d, 4) == 0) {
        buf_append_string(&d.text, "setup: ");
        draw_step(&d, 1);
        buf_append_string(&d.text, " + ");
    }
    draw_step(&d, 0);
    for (uint64_t n = draw(&d, 4) ? 0 : 1 + draw(&d, 2); n > 0; n--) {
        buf_append_string(&d.text, " + ");
        draw_step(&d, 2);
    }
    const char *text = arena_strdup(a, buf_string(&d.text));
    buf_done(&d.text);
    return text;
}

/* ---- The world of processes ------------------------------------------------------------------ */

/* What a leaf's process does, drawn by its number alone, so that each life has the same world. */
struct script {
    int64_t lasts_ms, term_ms; /* -1: it does not end by itself; it does not obey SIGTERM */
    bool stuck, lost;          /* nor SIGKILL; its end is seen by nobody */
    int code;
};

struct life {
    struct arena *arena;
    struct action_tree tree;
    struct script *scripts;
    int64_t *ends_ms; /* by step; -1: it does not run */
    bool gone;
    int64_t now_ms;
    struct buf lines; /* what the driver keeps */
    struct random kills;
    int kills_left;
    bool pauses; /* a killed rep stays away for a while */
    struct steps_orders last;
    unsigned begun[STEPS_MAX];
};

/* How often what may happen did, over all lives. */
static struct {
    unsigned timeouts, beside, stuck, lost, stopped, kills, wells, failures, setups;
} seen;

static struct script draw_script(uint64_t seed, uint32_t step)
{
    struct random r;
    random_seed(&r, (uint64_t[2]){seed, step});
    random_next(&r);
    struct script s = {.lasts_ms = 1 + (int64_t)random_below(&r, 1500)};
    s.code = random_below(&r, 3) ? 0 : (int)random_below(&r, 200);
    s.lost = random_below(&r, 40) == 0;
    s.term_ms = random_below(&r, 6) ? (int64_t)random_below(&r, 12000) : -1;
    s.stuck = random_below(&r, 30) == 0;
    s.lasts_ms = random_below(&r, 10) ? s.lasts_ms : 60000;
    return s;
}

static void note(struct life *l, const struct step_fact *f)
{
    struct step_fact fact = *f;
    fact.at_ns = l->now_ms * MILLISECOND_NS;
    fact.text = fact.text ? fact.text : "";
    fact_print(&fact, &l->lines);
}

static struct step_fact *facts_now(struct life *l, size_t *ret_count)
{
    struct step_fact *facts;
    struct err err;
    if (facts_parse(l->arena, buf_bytes(&l->lines), l->tree.count, &facts, ret_count, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return facts;
}

static void begin(struct life *l, uint32_t step)
{
    const struct script *s = &l->scripts[step];
    assert_int_equal(++l->begun[step], 1); /* at most once */
    note(l, &(struct step_fact){FACT_BEGUN, step});
    l->ends_ms[step] = l->now_ms + s->lasts_ms;
}

static void cut(struct life *l, const struct step_cut *c)
{
    seen.timeouts += c->why == CUT_TIMEOUT;
    seen.beside += c->why == CUT_BESIDE;
    seen.stuck += c->why == CUT_STUCK;
    note(l, &(struct step_fact){FACT_CUT, c->step, .why = c->why});
}

static void tell(struct life *l, const struct step_signal *signal)
{
    const struct script *s = &l->scripts[signal->step];
    int64_t *ends = &l->ends_ms[signal->step];
    assert_true(*ends >= 0); /* it runs */
    int64_t soon = signal->kill ? (s->stuck ? -1 : 1) : s->term_ms;
    if (soon >= 0 && l->now_ms + soon < *ends) {
        *ends = l->now_ms + soon;
    }
}

/* Ends of which the time has come, in order of steps. */
static void end_some(struct life *l)
{
    for (uint32_t step = 0; step < l->tree.count; step++) {
        const struct script *s = &l->scripts[step];
        if (l->ends_ms[step] < 0 || l->ends_ms[step] > l->now_ms) {
            continue;
        }
        l->ends_ms[step] = -1;
        seen.lost += s->lost;
        note(l, s->lost ? &(struct step_fact){FACT_LOST, step}
                        : &(struct step_fact){FACT_ENDED, step, .exit_code = s->code});
    }
}

static int64_t next_end_ms(const struct life *l)
{
    int64_t first = INT64_MAX;
    for (uint32_t step = 0; step < l->tree.count; step++) {
        first = l->ends_ms[step] >= 0 && l->ends_ms[step] < first ? l->ends_ms[step] : first;
    }
    return first;
}

/* ---- A life of a rep ------------------------------------------------------------------------- */

/* Before the next of its doings. */
static bool is_killed(struct life *l)
{
    if (l->kills_left == 0 || random_below(&l->kills, 3)) {
        return false;
    }
    l->kills_left--;
    seen.kills++;
    return true;
}

/* What is to be done, in order; false if the rep was killed on the way. */
static bool do_all(struct life *l, const struct steps_orders *o)
{
    for (size_t i = 0; i < o->cut_count; i++) {
        if (is_killed(l)) {
            return false;
        }
        cut(l, &o->cuts[i]);
    }
    for (size_t i = 0; i < o->signal_count; i++) {
        if (is_killed(l)) {
            return false;
        }
        tell(l, &o->signals[i]);
    }
    for (size_t i = 0; i < o->begin_count; i++) {
        if (is_killed(l)) {
            return false;
        }
        begin(l, o->begins[i]);
    }
    l->gone = l->gone || o->kill;
    return true;
}

static void move_on(struct life *l)
{
    int64_t due_ms = l->last.due_ns == NEVER_NS ? INT64_MAX : l->last.due_ns / MILLISECOND_NS;
    int64_t at_ms = next_end_ms(l) < due_ms ? next_end_ms(l) : due_ms;
    if (l->last.cut_count > 0 || l->last.begin_count > 0 || l->gone) {
        return; /* facts have come, or everything has ended: look at once */
    }
    assert_true(at_ms != INT64_MAX); /* it waits for something that comes */
    l->now_ms = at_ms > l->now_ms ? at_ms : l->now_ms;
}

static void look(struct life *l)
{
    size_t count;
    struct step_fact *facts = facts_now(l, &count);
    l->last = steps_next(l->arena, &l->tree, facts, count, l->now_ms * MILLISECOND_NS,
                         l->gone ? STEPS_GONE : STEPS_INSIDE);
}

static void live(struct life *l, int64_t stop_ms)
{
    bool stopped = false;
    for (int tick = 0;; tick++) {
        assert_true(tick < TICKS_MAX);
        end_some(l);
        if (!stopped && l->now_ms >= stop_ms) {
            stopped = true;
            seen.stopped++;
            note(l, &(struct step_fact){FACT_CUT, 0, .why = CUT_STOPPED});
        }
        look(l);
        if (l->last.over) {
            return;
        }
        if (!do_all(l, &l->last)) {
            l->now_ms += l->pauses ? (int64_t)random_below(&l->kills, 4000) : 0;
        } else {
            move_on(l);
        }
    }
}

static void life_begin(struct life *l, struct arena *a, const char *text, uint64_t seed)
{
    *l = (struct life){.arena = a, .tree = steps_text_tree(a, text), .lines = buf_empty()};
    l->scripts = ARENA_ARRAY(a, l->tree.count, struct script);
    l->ends_ms = ARENA_ARRAY(a, l->tree.count, int64_t);
    for (uint32_t i = 0; i < l->tree.count; i++) {
        l->scripts[i] = draw_script(seed, i);
        l->ends_ms[i] = -1;
    }
    random_seed(&l->kills, (uint64_t[2]){0x6b696c6c, seed});
}

/* However late a rep looks, it sees what its predecessor saw. */
static void stays_so(struct life *l, const char *text, uint64_t seed)
{
    struct steps_orders then = l->last;
    l->now_ms += 3600000;
    look(l);
    if (!l->last.over || l->last.failed != then.failed || l->last.cut != then.cut ||
        strcmp(l->last.text, then.text) != 0) {
        fail_msg("seed %llu, %s: later it is another end", (unsigned long long)seed, text);
    }
}

/* A text is made of the texts of ends and no others. */
static void is_a_text(const char *text)
{
    SCOPED_ARENA(a);
    for (char *at = arena_strdup(&a, text), *one; (one = strsep(&at, ";")) && one[0];) {
        int code = -1;
        one += one[0] == ' ';
        bool exited = sscanf(one, "APP: Exited with status %d", &code) == 1;
        bool timeout = strncmp(one, "exceeded ", 9) == 0 && strstr(one, " timeout");
        if (!exited && !timeout && strcmp(one, "Codependent step exited") != 0 &&
            strcmp(one, STEP_LOST_TEXT) != 0 && strcmp(one, STEP_STUCK_TEXT) != 0) {
            fail_msg("no text of an end: \"%s\" of \"%s\"", one, text);
        }
    }
}

/* Lives it plainly, killed, and killed with pauses. */
static void three_lives(uint64_t seed)
{
    SCOPED_ARENA(a);
    const char *text = draw_tree(&a, seed);
    struct life plain, killed, paused;
    struct random r;
    random_seed(&r, (uint64_t[2]){0x73746f70, seed});
    random_next(&r);
    int64_t stop_ms = random_below(&r, 4) ? INT64_MAX : (int64_t)random_below(&r, 3000);
    life_begin(&plain, &a, text, seed);
    live(&plain, stop_ms);
    is_a_text(plain.last.text);
    life_begin(&killed, &a, text, seed);
    killed.kills_left = KILLS;
    live(&killed, stop_ms);
    if (!bytes_equal(buf_bytes(&plain.lines), buf_bytes(&killed.lines)) ||
        strcmp(plain.last.text, killed.last.text) != 0 ||
        plain.last.failed != killed.last.failed) {
        fail_msg("seed %llu, %s: \"%s\" lived, \"%s\" replayed\n%s\n--\n%s",
                 (unsigned long long)seed, text, plain.last.text, killed.last.text,
                 buf_string(&plain.lines), buf_string(&killed.lines));
    }
    life_begin(&paused, &a, text, seed);
    paused.kills_left = KILLS;
    paused.pauses = true;
    live(&paused, stop_ms);
    is_a_text(paused.last.text);
    seen.wells += !plain.last.failed;
    seen.failures += plain.last.failed;
    seen.setups += plain.tree.steps[0]->setup;
    stays_so(&plain, text, seed);
    stays_so(&paused, text, seed);
    buf_done(&plain.lines);
    buf_done(&killed.lines);
    buf_done(&paused.lines);
}

static void live_and_replayed_are_the_same(void **state)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        three_lives(seed);
    }
    print_message("timeouts %u, beside %u, stuck %u, lost %u, stopped %u, kills %u, well %u, "
                  "failed %u, setups %u\n",
                  seen.timeouts, seen.beside, seen.stuck, seen.lost, seen.stopped, seen.kills,
                  seen.wells, seen.failures, seen.setups);
    assert_true(seen.timeouts > TREES / 10 && seen.beside > TREES / 10);
    assert_true(seen.stuck > TREES / 100 && seen.lost > TREES / 100);
    assert_true(seen.stopped > TREES / 10 && seen.kills > TREES);
    assert_true(seen.wells > TREES / 10 && seen.failures > TREES / 10);
    assert_true(seen.setups > TREES / 10);
}

int main(void)
{
    /* A million small arenas come and go: without this the heap's end goes back to the kernel each
     * time, and 1 second of work takes 20. */
    mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_and_replayed_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
