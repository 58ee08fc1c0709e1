#include "rep/container/monitor.h"

#include "common/codec/json_text.h"
#include "rep/container/health.h"
#include "rep/steps/exit_text.h"
#include "rep/steps/machine.h"

#include <assert.h>
#include <string.h>

enum { FACTS_OF_A_STEP = 5, SIGNAL_KILL = 9 }; /* begun, ended, and two cuts of it; one to spare */

void monitor_begin(struct monitor_round *m, size_t step_count, int64_t now_ns)
{
    assert(!m->open && step_count > 1);
    *m = (struct monitor_round){.open = true, .step_count = step_count, .begun_ns = now_ns};
    arena_init(&m->arena);
    m->facts = ARENA_ARRAY(&m->arena, FACTS_OF_A_STEP * step_count, struct step_fact);
    m->execs = ARENA_ARRAY(&m->arena, step_count, uint64_t);
    m->told = ARENA_ARRAY(&m->arena, step_count, bool);
}

void monitor_end(struct monitor_round *m)
{
    if (m->open) {
        arena_done(&m->arena);
    }
    *m = (struct monitor_round){.open = false};
}

/* No two at the same time: what follows a cut was cut. */
static void add(struct monitor_round *m, struct step_fact fact, int64_t now_ns)
{
    assert(m->fact_count < FACTS_OF_A_STEP * m->step_count);
    fact.at_ns = now_ns > m->last_ns ? now_ns : m->last_ns + 1;
    fact.text = fact.text ? arena_strdup(&m->arena, fact.text) : "";
    m->last_ns = fact.at_ns;
    m->facts[m->fact_count++] = fact;
}

static void end_cut_ones(struct arena *a, struct monitor_round *m, const struct steps_orders *o,
                         struct monitor_orders *to)
{
    uint64_t *ends = ARENA_ARRAY(a, o->signal_count, uint64_t);
    for (size_t i = 0; i < o->signal_count; i++) {
        uint32_t step = o->signals[i].step;
        if (m->execs[step] && !m->told[step]) {
            m->told[step] = true;
            ends[to->end_count++] = m->execs[step];
        }
    }
    to->ends = ends;
}

static struct steps_orders next(struct arena *a, const struct monitor_round *m,
                                const struct action_tree *tree, int64_t now_ns)
{
    now_ns = now_ns > m->last_ns ? now_ns : m->last_ns;
    return steps_next(a, tree, m->facts, m->fact_count, now_ns, STEPS_INSIDE);
}

struct monitor_orders monitor_next(struct arena *a, struct monitor_round *m,
                                   const struct action_tree *tree, int64_t now_ns)
{
    assert(m->open && tree->count == m->step_count);
    struct steps_orders o = next(a, m, tree, now_ns);
    while (o.cut_count > 0) { /* each at most twice: what is cut is cut no more */
        for (size_t i = 0; i < o.cut_count; i++) {
            add(m, (struct step_fact){FACT_CUT, o.cuts[i].step, .why = o.cuts[i].why}, now_ns);
        }
        o = next(a, m, tree, now_ns);
    }
    struct monitor_orders to = {
        .begins = o.begins,
        .begin_count = o.begin_count,
        .over = o.over,
        .text = o.over && o.failed ? o.text : "",
        .due_ns = o.due_ns,
    };
    end_cut_ones(a, m, &o, &to);
    assert(!to.over || to.begin_count == 0);
    return to;
}

void monitor_begun(struct monitor_round *m, uint32_t step, uint64_t exec, int64_t now_ns)
{
    assert(m->open && step < m->step_count && exec > 0 && m->execs[step] == 0);
    m->execs[step] = exec;
    add(m, (struct step_fact){FACT_BEGUN, step}, now_ns);
}

/* ---- What a program said --------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* How many bytes from here on are a character that a text may have; 0: this byte is none. */
static size_t character(const char *at, size_t left)
{
    unsigned char first = (unsigned char)*at;
    size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    bool control = (first < ' ' && first != '\n' && first != '\t') || first == 0x7f;
    bool whole = size <= left && utf8_valid((struct bytes){(const uint8_t *)at, size});
    return whole && !control ? size : 0;
}

/* The end of it, without the blanks around it, as a text of UTF-8. */
static const char *said(struct arena *a, const char *output)
{
    size_t size = strlen(output);
    if (size > HEALTH_TEXT_MAX) {
        output += size - HEALTH_TEXT_MAX;
        size = HEALTH_TEXT_MAX;
    }
    while (size > 0 && is_blank(output[size - 1])) {
        size--;
    }
    while (size > 0 && is_blank(output[0])) {
        output++;
        size--;
    }
    char *text = arena_strndup(a, output, size);
    for (size_t i = 0; i < size;) {
        size_t step = character(text + i, size - i);
        if (step == 0) {
            text[i] = '?';
        }
        i += step ? step : 1;
    }
    return text;
}

static struct step_fact fact_of(struct arena *a, const struct verb_answer *answer, bool told)
{
    struct step_fact f = {FACT_ENDED, .text = ""};
    if (answer->outcome == VERB_DONE) {
        f.exit_code = answer->exit_code;
        f.text = f.exit_code == 0 ? "" : said(a, answer->text);
    } else if (told) {
        f.exit_signal = SIGNAL_KILL;
    } else if (answer->outcome == VERB_FAILED) {
        f.exit_code = -1;
        f.text = arena_printf(a, "Failed to invoke process: %s", said(a, answer->text));
    } else {
        f.text = arena_printf(a, "exceeded %s timeout", duration_text(a, MONITOR_RUN_NS));
    }
    return f;
}

bool monitor_answered(struct monitor_round *m, const struct verb_answer *answer, int64_t now_ns)
{
    SCOPED_ARENA(scratch);
    for (uint32_t step = 0; m->open && step < m->step_count; step++) {
        if (m->execs[step] == answer->id) {
            struct step_fact f = fact_of(&scratch, answer, m->told[step]);
            f.step = step;
            m->execs[step] = 0;
            add(m, f, now_ns);
            return true;
        }
    }
    return false;
}

const uint64_t *monitor_running(struct arena *a, const struct monitor_round *m, size_t *ret_count)
{
    size_t count = 0;
    uint64_t *ids = ARENA_ARRAY(a, m->step_count, uint64_t);
    for (size_t step = 0; m->open && step < m->step_count; step++) {
        if (m->execs[step] && !m->told[step]) {
            ids[count++] = m->execs[step];
        }
    }
    assert(count == 0 || m->open);
    *ret_count = count;
    return ids;
}
