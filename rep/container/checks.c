#include "rep/container/checks.h"

#include "common/base/memory.h"
#include "rep/container/call.h"
#include "rep/container/operation.h"
#include "rep/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void checks_at_once_init(struct checks_at_once *all)
{
    *all = (struct checks_at_once){.probes = 0};
    TAILQ_INIT(&all->waiting);
    TAILQ_INIT(&all->waiting_to_run);
}

static const struct health_pace *pace(const struct rep *r)
{
    return &r->config.checks;
}

/* ---- Where it is asked ----------------------------------------------------------------------- */

/* The one place that chooses: the container's own address, or with the machine's network the
 * cell's, and the host port that stands for the container's; a port without one is as it is. */
static const char *place_of(const struct rep *r, const struct container *c,
                            const Rep__Check *check, uint32_t *ret_port)
{
    *ret_port = check->port;
    if (c->address) {
        return c->address;
    }
    for (size_t i = 0; i < c->about->n_ports; i++) {
        if (c->about->ports[i]->container_port == check->port && c->about->ports[i]->host_port) {
            *ret_port = c->about->ports[i]->host_port;
            break;
        }
    }
    return r->config.address;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void say(struct rep *r, const struct container *c, const char *source, const char *text,
                bool to_stderr, struct effects *out)
{
    struct verb_call *call = container_call(r, c, VERB_SAY, SIGNAL_TIMEOUT_NS, out);
    call->source = arena_strdup(out->arena, source);
    call->text = arena_strdup(out->arena, text);
    call->to_stderr = to_stderr;
}

static void say_word(struct rep *r, const struct container *c, enum health_word word,
                     struct effects *out)
{
    bool to_stderr;
    const char *text = health_line(out->arena, c->about->health, word, &to_stderr);
    say(r, c, c->about->health->log_source, text, to_stderr, out);
}

/* A program may have written several lines: each of them, but no more than so many. */
static void say_details(struct rep *r, const struct container *c, const char *details,
                        struct effects *out)
{
    enum { LINES_MAX = 16 };
    for (int i = 0; i < LINES_MAX && *details; i++) {
        size_t size = strcspn(details, "\n");
        if (size > 0) {
            say(r, c, c->about->health->check_source,
                arena_strndup(out->arena, details, size), true, out);
        }
        details += size + (details[size] == '\n');
    }
}

/* ---- By what is known ------------------------------------------------------------------------ */

static enum health_phase health_phase(const Rep__Health *h)
{
    return h->failed[0]          ? HEALTH_UNHEALTHY
           : h->healthy_since_ns ? HEALTH_HEALTHY
                                 : HEALTH_STARTING;
}

bool checks_end_it(const struct container *c)
{
    return checks_failed(c) && c->op != OP_NOTE && (!c->note_wanted || c->note_failures > 0);
}

/* The note has it before anybody hears of it. */
static void want_note(struct container *c)
{
    c->note_wanted = true;
    c->note_failures = 0;
    c->note_retry_ns = 0;
    container_touch(c);
}

static void has_failed(struct rep *r, struct container *c, enum health_phase before,
                       enum health_word word, struct effects *out)
{
    Rep__Health *h = c->about->health;
    struct arena *a = out->arena;
    const char *details = health_details(a, h, c->checks.results, before);
    say_details(r, c, details, out);
    say_word(r, c, word, out);
    h->failed = mem_text(health_reason(a, h, details, before)); /* it was "" of protobuf's own */
    c->signals = 0;
    if (container_may_tell(c, out)) {
        effects_log(out, LOG_INFO_LEVEL, "container unhealthy", "%s why=\"%.200s\"",
                    c->kind->words(c, a), h->failed);
    }
}

static void is_healthy(struct rep *r, struct container *c, struct effects *out)
{
    Rep__Health *h = c->about->health;
    h->healthy_since_ns = r->now.mono_ns;
    for (size_t i = 0; i < h->n_checks; i++) {
        if (!h->checks[i]->readiness) {
            c->checks.looks[i].due_ns =
                r->now.mono_ns + health_interval_ns(h->checks[i], pace(r));
        }
    }
    if (health_has(h, false)) {
        say_word(r, c, HEALTH_SAYS_HEALTHY, out);
    }
    container_transition(c, PHASE_TRIGGER_STARTED, "healthy", out);
}

static bool judge_health(struct rep *r, struct container *c, struct effects *out)
{
    Rep__Health *h = c->about->health;
    enum health_phase phase = health_phase(h);
    struct health_next next = health_next(
        phase, health_outcome(h, c->checks.results, phase, r->now.mono_ns));
    if (next.phase == phase) {
        return false;
    }
    if (next.phase == HEALTH_HEALTHY) {
        is_healthy(r, c, out);
    } else {
        has_failed(r, c, phase, next.says, out);
    }
    return true;
}

static bool judge_readiness(struct rep *r, struct container *c, struct effects *out)
{
    Rep__Health *h = c->about->health;
    enum health_phase phase = h->ready ? HEALTH_READY : HEALTH_NOT_READY;
    if (!health_has(h, true)) {
        return false;
    }
    struct health_next next =
        health_next(phase, health_outcome(h, c->checks.results, phase, r->now.mono_ns));
    if (next.phase == phase) {
        return false;
    }
    h->ready = next.phase == HEALTH_READY;
    say_word(r, c, next.says, out);
    return true;
}

static bool is_watched(const struct container *c)
{
    return c->checks.going && !c->deleting && !checks_failed(c) && !container_stop_asked(c) &&
           (c->phase == PHASE_CREATED || c->phase == PHASE_RUNNING);
}

static void judge(struct rep *r, struct container *c, struct effects *out)
{
    bool changed = judge_health(r, c, out);
    changed = judge_readiness(r, c, out) || changed;
    if (changed) {
        want_note(c);
    }
}

/* NEVER_NS is no wish, and takes none back. */
static void due(struct container *c, int64_t at_ns)
{
    if (at_ns != NEVER_NS) {
        container_due(c, at_ns);
    }
}

/* ---- Making them ----------------------------------------------------------------------------- */

static bool is_monitor(const struct container *c, size_t i)
{
    return c->about->health->checks[i]->kind == REP__CHECK__KIND__MONITOR;
}

static void wait(struct rep *r, struct container *c)
{
    if (!c->checks.waits) {
        c->checks.waits = true;
        TAILQ_INSERT_TAIL(&r->checks.waiting, c, checks.wait_link);
    }
}

static void ask(struct rep *r, struct container *c, size_t i, struct effects *out)
{
    const Rep__Check *check = c->about->health->checks[i];
    uint32_t port;
    const char *address = place_of(r, c, check, &port);
    r->checks.probes++;
    c->checks.looks[i].id = r->next_id++;
    effects_add(out, EFFECT_PROBE)->probe = (struct probe){
        .id = c->checks.looks[i].id,
        .guid = arena_strdup(out->arena, container_guid(c)),
        .kind = check->kind == REP__CHECK__KIND__HTTP ? PROBE_HTTP : PROBE_TCP,
        .address = address,
        .port = port,
        .path = arena_strdup(out->arena, check->path),
        .timeout_ms = health_timeout_ms(check, pace(r)),
    };
}

/* ---- A round of the monitor ------------------------------------------------------------------ */

static void wait_to_run(struct rep *r, struct container *c)
{
    if (!c->checks.waits_to_run) {
        c->checks.waits_to_run = true;
        TAILQ_INSERT_TAIL(&r->checks.waiting_to_run, c, checks.run_link);
    }
}

static void run(struct rep *r, struct container *c, uint32_t step, struct effects *out)
{
    struct verb_call *call = container_call(r, c, VERB_EXEC, MONITOR_RUN_NS, out);
    call->step = (uint32_t)c->about->n_steps + step;
    r->checks.monitors++;
    monitor_begun(&c->checks.round, step, call->id, r->now.mono_ns);
}

static void end_programs(struct rep *r, struct container *c, const uint64_t *ids, size_t count,
                         struct effects *out)
{
    for (size_t i = 0; i < count; i++) {
        container_call(r, c, VERB_SIGNAL, SIGNAL_TIMEOUT_NS, out)->exec = ids[i];
    }
}

/* It is watched no more: what runs of the monitor is ended, and its answers are nobody's. */
static void give_up(struct rep *r, struct container *c, struct effects *out)
{
    if (c->checks.round.open) {
        size_t count;
        const uint64_t *ids = monitor_running(out->arena, &c->checks.round, &count);
        end_programs(r, c, ids, count, out);
        monitor_end(&c->checks.round);
    }
}

/* As many of them as have room; true: all, and some. */
static bool run_all(struct rep *r, struct container *c, const struct monitor_orders *o,
                    struct effects *out)
{
    for (size_t i = 0; i < o->begin_count; i++) {
        if (r->checks.monitors >= MONITORS_MAX) {
            wait_to_run(r, c);
            return false;
        }
        run(r, c, o->begins[i], out);
    }
    return o->begin_count > 0;
}

static void learn(struct rep *r, struct container *c, size_t i, const char *text, int64_t took_ms,
                  struct effects *out);

static void go_round(struct rep *r, struct container *c, size_t i, struct effects *out)
{
    struct monitor_round *m = &c->checks.round;
    const struct action_tree tree = {c->about->monitor, c->about->n_monitor};
    struct monitor_orders o;
    do {
        o = monitor_next(out->arena, m, &tree, r->now.mono_ns);
        end_programs(r, c, o.ends, o.end_count, out);
    } while (run_all(r, c, &o, out)); /* a leaf begins once: then its time counts */
    if (o.over) {
        int64_t took_ms = (r->now.mono_ns - m->begun_ns) / MILLISECOND_NS;
        const char *text = arena_strdup(out->arena, o.text); /* it is the round's */
        monitor_end(m);
        learn(r, c, i, text, took_ms, out);
    } else {
        due(c, o.due_ns);
    }
}

static void look_at_monitor(struct rep *r, struct container *c, size_t i, struct effects *out)
{
    struct check_look *look = &c->checks.looks[i];
    if (!look->id && r->now.mono_ns < look->due_ns) {
        due(c, look->due_ns);
        return;
    }
    if (!look->id) {
        look->id = r->next_id++;
        monitor_begin(&c->checks.round, c->about->n_monitor, r->now.mono_ns);
    }
    go_round(r, c, i, out);
}

/* ---- All of them ----------------------------------------------------------------------------- */

void checks_look(struct rep *r, struct container *c, struct effects *out)
{
    if (!is_watched(c)) {
        give_up(r, c, out);
        return;
    }
    judge(r, c, out);
    for (size_t i = 0; i < c->about->health->n_checks && is_watched(c); i++) {
        struct check_look *look = &c->checks.looks[i];
        if (is_monitor(c, i)) {
            look_at_monitor(r, c, i, out);
            continue;
        }
        if (look->id) {
            continue;
        }
        if (r->now.mono_ns < look->due_ns) {
            due(c, look->due_ns);
        } else if (r->checks.probes >= PROBES_MAX) {
            wait(r, c);
        } else {
            ask(r, c, i, out);
        }
    }
    if (!is_watched(c)) {
        give_up(r, c, out);
    } else if (health_phase(c->about->health) == HEALTH_STARTING) {
        due(c, health_start_ends_ns(c->about->health));
    }
}

/* ---- What came of them ----------------------------------------------------------------------- */

static void learn(struct rep *r, struct container *c, size_t i, const char *text, int64_t took_ms,
                  struct effects *out)
{
    struct check_result *result = &c->checks.results[i];
    struct check_look *look = &c->checks.looks[i];
    free(c->checks.texts[i]);
    c->checks.texts[i] = mem_text(text);
    *result = (struct check_result){
        .known = true,
        .passed = !text[0],
        .tried = result->tried + 1,
        .took_ms = took_ms,
        .at_wall_ns = r->now.wall_ns,
        .text = c->checks.texts[i],
    };
    look->id = 0;
    /* A program takes its time: the next run of it is counted from its end. */
    int64_t due_ns = is_monitor(c, i) ? r->now.mono_ns : look->due_ns;
    look->due_ns = health_next_ns(c->about->health->checks[i], health_phase(c->about->health),
                                 result->passed, due_ns, r->now.mono_ns, pace(r));
    if (is_watched(c)) {
        judge(r, c, out);
        due(c, look->due_ns);
    }
}

static void take_turns(struct rep *r)
{
    struct container *next = TAILQ_FIRST(&r->checks.waiting);
    if (next) {
        checks_unqueue(next);
        container_touch(next);
    }
}

/* Which check of it this probe was; -1: none, for it was watched no more, or by an earlier life. */
static int number_of(const struct container *c, uint64_t id)
{
    size_t count = c->checks.going ? c->about->health->n_checks : 0;
    for (size_t i = 0; i < count; i++) {
        if (c->checks.looks[i].id == id) {
            return (int)i;
        }
    }
    return -1;
}

void checks_probed(struct rep *r, const struct probed *probed, struct effects *out)
{
    struct container *c = container_find(&r->containers, probed->guid);
    int i = c ? number_of(c, probed->id) : -1;
    assert(r->checks.probes > 0);
    r->checks.probes--;
    take_turns(r);
    if (i >= 0) {
        const Rep__Check *check = c->about->health->checks[i];
        uint32_t port;
        const char *address = place_of(r, c, check, &port);
        learn(r, c, (size_t)i,
              health_probe_text(out->arena, check, address, port,
                                health_timeout_ms(check, pace(r)), probed),
              probed->took_ms, out);
    }
}

void checks_executed(struct rep *r, const struct verb_answer *answer)
{
    struct container *c = container_find(&r->containers, answer->guid);
    struct container *next = TAILQ_FIRST(&r->checks.waiting_to_run);
    assert(r->checks.monitors > 0);
    r->checks.monitors--;
    if (next) {
        TAILQ_REMOVE(&r->checks.waiting_to_run, next, checks.run_link);
        next->checks.waits_to_run = false;
        container_touch(next);
    }
    if (c && monitor_answered(&c->checks.round, answer, r->now.mono_ns)) {
        container_touch(c);
    }
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static void go(struct container *c)
{
    size_t count = c->about->health->n_checks;
    assert(!c->checks.looks);
    c->checks.looks = mem_array(count, sizeof(*c->checks.looks));
    c->checks.results = mem_array(count, sizeof(*c->checks.results));
    c->checks.texts = mem_array(count, sizeof(*c->checks.texts));
    for (size_t i = 0; i < count; i++) {
        c->checks.looks[i] = (struct check_look){.id = 0};
        c->checks.results[i] = (struct check_result){.known = false};
        c->checks.texts[i] = NULL;
    }
    c->checks.going = true;
}

static int64_t some_of(struct rep *r, int64_t span_ns)
{
    return (int64_t)random_below(&r->random, (uint64_t)span_ns);
}

/* Spread, so that what began together is not looked at together. */
static void begin_soon(struct rep *r, struct container *c)
{
    for (size_t i = 0; i < c->about->health->n_checks; i++) {
        bool monitor = c->about->health->checks[i]->kind == REP__CHECK__KIND__MONITOR;
        int64_t again_ns = pace(r)->again_ns;
        c->checks.looks[i].due_ns =
            r->now.mono_ns + (monitor ? again_ns : some_of(r, again_ns));
    }
}

/* One interval after it was adopted, and spread. */
static void begin_later(struct rep *r, struct container *c)
{
    for (size_t i = 0; i < c->about->health->n_checks; i++) {
        int64_t interval_ns = health_interval_ns(c->about->health->checks[i], pace(r));
        int64_t spread_ns = earlier_ns(interval_ns, SECOND_NS);
        c->checks.looks[i].due_ns = r->now.mono_ns + interval_ns + some_of(r, spread_ns);
    }
}

static void begin(struct rep *r, struct container *c, struct effects *out)
{
    Rep__Health *h = c->about->health;
    go(c);
    begin_soon(r, c);
    container_touch(c);
    if (h->watched_since_ns) {
        return; /* by an earlier rep */
    }
    h->watched_since_ns = r->now.mono_ns > 0 ? r->now.mono_ns : 1;
    want_note(c);
    if (health_has(h, false)) {
        say_word(r, c, HEALTH_SAYS_NOTHING, out);
    }
}

void checks_begun(struct rep *r, struct container *c, const char *why, struct effects *out)
{
    assert(c->phase == PHASE_CREATED);
    if (!c->about->health) {
        container_transition(c, PHASE_TRIGGER_STARTED, why, out);
    } else if (!c->checks.going) {
        begin(r, c, out);
    }
}

bool checks_adopt(struct rep *r, struct container *c, struct effects *out)
{
    const Rep__Health *h = c->about->health;
    if (!h) {
        return true;
    }
    begin(r, c, out);
    if (h->healthy_since_ns) {
        begin_later(r, c);
    }
    return h->healthy_since_ns != 0;
}

/* ---- What the cell tells of it --------------------------------------------------------------- */

static Cell__CheckOutcome *outcome(const struct container *c, struct arena *a, size_t i)
{
    const Rep__Check *check = c->about->health->checks[i];
    const struct check_result *result = &c->checks.results[i];
    const struct check_look *look = &c->checks.looks[i];
    int64_t left_ns = look->due_ns - c->table->rep->now.mono_ns;
    Cell__CheckOutcome *to = arena_message(a, &cell__check_outcome__descriptor);
    to->what = (char *)(uintptr_t)health_check_name(a, check);
    to->readiness = check->readiness;
    to->passed = result->known && result->passed;
    to->at = result->known ? result->at_wall_ns : 0;
    to->took_ms = result->took_ms;
    to->text = (char *)(uintptr_t)(result->known ? result->text : "");
    to->next_in_ms = look->id || look->due_ns == NEVER_NS || left_ns < 0
                         ? 0
                         : left_ns / MILLISECOND_NS;
    return to;
}

void checks_tell(const struct container *c, struct arena *a, Cell__LRP *to)
{
    size_t count = c->checks.going ? c->about->health->n_checks : 0;
    to->checks = ARENA_ARRAY(a, count, Cell__CheckOutcome *);
    for (size_t i = 0; i < count; i++) {
        to->checks[i] = outcome(c, a, i);
    }
    to->n_checks = count;
}
