#include "test/sim/model/steps.h"

#include "common/base/memory.h"
#include "common/contract/moment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNAL_TERM = 15 };

struct model_step {
    uint32_t number;
    bool begun, ended, transfer, bound;
    unsigned losses;
    int64_t ends_at_ns; /* after SIGTERM; NEVER_NS otherwise */
    const struct step_process *run; /* of a run; NULL: a step */
    const char *output;             /* likewise: the last that it wrote */
};

struct model_steps {
    struct arena arena; /* of texts */
    struct model_step *list;
    size_t count;
    struct step_fact *facts;
    size_t fact_count;
    bool untold;
};

struct model_steps *model_steps_new(const struct container_spec *spec)
{
    if (!spec || spec->step_count == 0) {
        return NULL;
    }
    struct model_steps *s = mem_zeroed(sizeof(*s));
    arena_init(&s->arena);
    s->count = spec->step_count;
    s->list = mem_array(s->count, sizeof(*s->list));
    for (size_t i = 0; i < s->count; i++) {
        const struct file_transfer *t = spec->steps[i].transfer;
        s->list[i] = (struct model_step){.number = spec->steps[i].step,
                                         .transfer = t != NULL,
                                         .bound = t && t->bound,
                                         .ends_at_ns = NEVER_NS};
    }
    return s;
}

static const char *copy_text(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

const struct step_process *model_run_copy(struct arena *a, const struct step_process *run)
{
    struct step_process *own = ARENA_NEW(a, struct step_process);
    struct name_value *env = ARENA_ARRAY(a, run->env_count, struct name_value);
    size_t count = 0;
    *own = *run;
    while (run->args && run->args[count]) {
        count++;
    }
    const char **args = ARENA_ARRAY(a, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        args[i] = arena_strdup(a, run->args[i]);
    }
    for (size_t i = 0; i < run->env_count; i++) {
        env[i] = (struct name_value){arena_strdup(a, run->env[i].name),
                                     arena_strdup(a, run->env[i].value)};
    }
    own->path = arena_strdup(a, run->path);
    own->args = args;
    own->env = env;
    own->dir = copy_text(a, run->dir);
    own->user = copy_text(a, run->user);
    own->source = copy_text(a, run->source);
    return own;
}

void model_steps_free(struct model_steps *s)
{
    if (s) {
        arena_done(&s->arena);
        free(s->list);
        free(s->facts);
        free(s);
    }
}

static struct model_step *find(struct model_steps *s, uint32_t step)
{
    for (size_t i = 0; s && i < s->count; i++) {
        if (s->list[i].number == step) {
            return &s->list[i];
        }
    }
    return NULL;
}

static bool runs(const struct model_step *one)
{
    return one && one->begun && !one->ended;
}

static void add(struct model_steps *s, const struct step_fact *fact)
{
    s->facts = mem_resized(s->facts, s->fact_count + 1, sizeof(*s->facts));
    s->facts[s->fact_count] = *fact;
    s->facts[s->fact_count++].text = arena_strdup(&s->arena, fact->text ? fact->text : "");
    s->untold = true;
}

bool model_steps_begin(struct model_steps *s, uint32_t step, int64_t at_ns)
{
    struct model_step *one = find(s, step);
    if (!one || one->begun) {
        return false;
    }
    one->begun = true;
    add(s, &(struct step_fact){FACT_BEGUN, step, at_ns});
    return true;
}

static size_t runs_of(const struct model_steps *s)
{
    size_t count = 0;
    for (size_t i = 0; s && i < s->count; i++) {
        count += s->list[i].run != NULL;
    }
    return count;
}

bool model_steps_run(struct model_steps **steps, const struct step_process *run, int64_t at_ns)
{
    if (run->step < RUN_FIRST || run->step > RUN_LAST || find(*steps, run->step) ||
        runs_of(*steps) >= RUNS_MAX) {
        return false;
    }
    if (!*steps) {
        *steps = mem_zeroed(sizeof(**steps));
        arena_init(&(*steps)->arena);
    }
    struct model_steps *s = *steps;
    s->list = mem_resized(s->list, s->count + 1, sizeof(*s->list));
    s->list[s->count++] = (struct model_step){.number = run->step,
                                              .ends_at_ns = NEVER_NS,
                                              .run = model_run_copy(&s->arena, run),
                                              .output = ""};
    return model_steps_begin(s, run->step, at_ns);
}

static void drop_facts(struct model_steps *s, uint32_t step)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->fact_count; i++) {
        if (s->facts[i].step != step) {
            s->facts[kept++] = s->facts[i];
        }
    }
    s->fact_count = kept;
}

bool model_steps_forget(struct model_steps *s, uint32_t run)
{
    struct model_step *one = find(s, run);
    if (!one || !one->run) {
        return true;
    }
    if (runs(one)) {
        return false;
    }
    drop_facts(s, run);
    size_t at = (size_t)(one - s->list);
    memmove(one, one + 1, (s->count - at - 1) * sizeof(*one));
    s->count--;
    return true;
}

bool model_steps_write(struct model_steps *s, uint32_t run, const char *output)
{
    struct model_step *one = find(s, run);
    if (one && one->run) {
        one->output = arena_strdup(&s->arena, output);
    }
    return one && one->run;
}

bool model_steps_cut(struct model_steps *s, uint32_t step, enum cut_why why, int64_t at_ns)
{
    if (!s) {
        return false;
    }
    for (size_t i = 0; i < s->fact_count; i++) {
        const struct step_fact *f = &s->facts[i];
        if (f->kind == FACT_CUT && f->step == step &&
            (f->why == CUT_STUCK) == (why == CUT_STUCK)) {
            return true;
        }
    }
    add(s, &(struct step_fact){FACT_CUT, step, at_ns, why});
    return true;
}

bool model_steps_end(struct model_steps *s, uint32_t step, const struct step_fact *how)
{
    struct model_step *one = find(s, step);
    struct step_fact fact = *how;
    if (!runs(one)) {
        return false;
    }
    one->losses += fact.kind == FACT_LOST;
    one->begun = !(fact.kind == FACT_LOST && one->transfer && one->losses < TRANSFER_BEGINS_MAX);
    one->ended = one->begun;
    one->ends_at_ns = NEVER_NS;
    fact.step = step;
    add(s, &fact);
    return true;
}

static const struct model_step *look_for(const struct model_steps *s, uint32_t step)
{
    for (size_t i = 0; s && i < s->count; i++) {
        if (s->list[i].number == step) {
            return &s->list[i];
        }
    }
    return NULL;
}

const struct step_process *model_steps_run_of(const struct model_steps *s, uint32_t run)
{
    const struct model_step *one = look_for(s, run);
    return one ? one->run : NULL;
}

const char *model_steps_output(const struct model_steps *s, uint32_t run)
{
    const struct model_step *one = look_for(s, run);
    return one && one->run ? one->output : NULL;
}

bool model_steps_declared(const struct model_steps *s)
{
    return s && s->count > runs_of(s);
}

bool model_steps_has(const struct model_steps *s, uint32_t step)
{
    return look_for(s, step) != NULL;
}

bool model_steps_is_transfer(const struct model_steps *s, uint32_t step)
{
    const struct model_step *one = look_for(s, step);
    return one && one->transfer;
}

bool model_steps_is_bound(const struct model_steps *s, uint32_t step)
{
    const struct model_step *one = look_for(s, step);
    return one && one->bound;
}

bool model_steps_term(struct model_steps *s, uint32_t step, int64_t ends_at_ns)
{
    struct model_step *one = find(s, step);
    if (!runs(one)) {
        return false;
    }
    one->ends_at_ns = earlier_ns(one->ends_at_ns, ends_at_ns);
    return true;
}

void model_steps_end_all(struct model_steps *s, const struct step_fact *how)
{
    for (size_t i = 0; s && i < s->count; i++) {
        model_steps_end(s, s->list[i].number, how);
    }
}

void model_steps_cease(struct model_steps *s)
{
    for (size_t i = 0; s && i < s->count; i++) {
        s->list[i].ended = s->list[i].ended || s->list[i].begun;
        s->list[i].ends_at_ns = NEVER_NS;
    }
}

int64_t model_steps_due(const struct model_steps *s)
{
    int64_t first = NEVER_NS;
    for (size_t i = 0; s && i < s->count; i++) {
        first = earlier_ns(first, s->list[i].ends_at_ns);
    }
    return first;
}

void model_steps_end_due(struct model_steps *s, int64_t now_ns)
{
    for (size_t i = 0; s && i < s->count; i++) {
        struct step_fact how = {FACT_ENDED, 0, s->list[i].ends_at_ns, .exit_signal = SIGNAL_TERM};
        if (how.at_ns <= now_ns) {
            model_steps_end(s, s->list[i].number, &how);
        }
    }
}

bool model_steps_untold(const struct model_steps *s)
{
    return s && s->untold;
}

void model_steps_told(struct model_steps *s)
{
    if (s) {
        s->untold = false;
    }
}

int64_t model_steps_running(const struct model_steps *s, int n)
{
    for (size_t i = 0; s && i < s->count; i++) {
        if (runs(&s->list[i]) && n-- == 0) {
            return s->list[i].number;
        }
    }
    return -1;
}

void model_steps_facts(const struct model_steps *s, struct arena *arena,
                       struct container_status *ret)
{
    if (!s || s->fact_count == 0) {
        return;
    }
    struct step_fact *facts = ARENA_ARRAY(arena, s->fact_count, struct step_fact);
    for (size_t i = 0; i < s->fact_count; i++) {
        facts[i] = s->facts[i];
        facts[i].text = arena_strdup(arena, facts[i].text);
    }
    ret->facts = facts;
    ret->fact_count = s->fact_count;
}
