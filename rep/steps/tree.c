#include "rep/steps/tree.h"

#include <assert.h>
#include <string.h>

#define LOG_SOURCE_OF_NOBODY "LOG"

struct tree_parts tree_parts_of(const Models__DesiredLRP *lrp)
{
    bool checked = lrp->check_definition && lrp->check_definition->n_checks > 0;
    return (struct tree_parts){
        .setup = lrp->setup,
        .action = lrp->action,
        .monitor = checked ? NULL : lrp->monitor,
        .monitored = checked || lrp->monitor,
        .sidecars = (const Models__Sidecar *const *)lrp->sidecars,
        .sidecar_count = lrp->n_sidecars,
        .log_source = lrp->log_source,
        .log_guid = lrp->log_guid,
    };
}

struct tree_parts tree_parts_of_task(const Models__TaskDefinition *definition)
{
    return (struct tree_parts){
        .action = definition->action,
        .log_source = definition->log_source,
        .log_guid = definition->log_guid,
    };
}

const char *tree_source(const char *of_step, const struct tree_parts *parts)
{
    if (parts->log_guid[0] == '\0') {
        return LOG_SOURCE_OF_NOBODY;
    }
    return of_step[0] ? of_step : parts->log_source[0] ? parts->log_source : LOG_SOURCE_OF_NOBODY;
}

/* ---- What an action is ----------------------------------------------------------------------- */

/* One level of an action, whatever it is: of several members the first one counts (behaviour.md 9).
 */
struct level {
    Rep__Step__Kind kind;
    const char *refused; /* its name, if no cell can do it */
    const Models__RunAction *run;
    Models__Action *const *inner; /* NULL members of it are missing actions */
    size_t inner_count;
    const char *source;
};

#define REFUSED(name) (struct level){.refused = (name)}
#define WRAPPER(which, member)                                                                     \
    (struct level){REP__STEP__KIND__##which, NULL, NULL, &(member)->action, 1, (member)->log_source}
#define GROUP(which, member)                                                                       \
    (struct level)                                                                                 \
    {                                                                                              \
        REP__STEP__KIND__##which, NULL, NULL, (member)->actions, (member)->n_actions,              \
            (member)->log_source                                                                   \
    }

static struct level level_of(const Models__Action *action)
{
    if (!action) {
        return REFUSED("");
    } else if (action->download_action) {
        return REFUSED("download");
    } else if (action->upload_action) {
        return REFUSED("upload");
    } else if (action->run_action) {
        return (struct level){REP__STEP__KIND__RUN, NULL, action->run_action, NULL, 0,
                              action->run_action->log_source};
    } else if (action->timeout_action) {
        return WRAPPER(TIMEOUT, action->timeout_action);
    } else if (action->emit_progress_action) {
        return WRAPPER(EMIT_PROGRESS, action->emit_progress_action);
    } else if (action->try_action) {
        return WRAPPER(TRY, action->try_action);
    } else if (action->parallel_action) {
        return GROUP(PARALLEL, action->parallel_action);
    } else if (action->serial_action) {
        return GROUP(SERIAL, action->serial_action);
    } else if (action->codependent_action) {
        return GROUP(CODEPENDENT, action->codependent_action);
    }
    return REFUSED("");
}

bool tree_is_needed(const struct tree_parts *parts)
{
    return parts->setup || parts->monitor || parts->sidecar_count > 0 ||
           !level_of(parts->action).run;
}

/* ---- Making one ------------------------------------------------------------------------------ */

struct planting {
    struct arena *arena;
    const struct tree_parts *parts;
    Rep__Step **steps;
    const Models__RunAction **runs;
    uint32_t count;
    size_t text_size;
    struct err *err;
};

static char *text_of(struct planting *p, const char *text)
{
    p->text_size += strlen(text);
    return (char *)(uintptr_t)text;
}

/* The next step; NULL with err when there are too many. */
static Rep__Step *plant(struct planting *p, Rep__Step__Kind kind, const char *source)
{
    if (p->count >= STEPS_MAX || p->text_size > STEPS_TEXT_MAX) {
        err_set(p->err, ERR_TOO_LARGE,
                p->count >= STEPS_MAX ? "the definition has more than %d steps"
                                      : "the messages of its steps have more than %d bytes",
                p->count >= STEPS_MAX ? STEPS_MAX : STEPS_TEXT_MAX);
        return NULL;
    }
    Rep__Step *step = ARENA_NEW(p->arena, Rep__Step);
    rep__step__init(step);
    step->kind = kind;
    step->source = text_of(p, tree_source(source, p->parts));
    p->steps[p->count++] = step;
    return step;
}

static int refuse(struct planting *p, const char *name)
{
    return name[0] ? err_set(p->err, ERR_INVALID, "this cell cannot do the action \"%s\"", name)
                   : err_set(p->err, ERR_INVALID, "the definition has no action");
}

static void fill_in(struct planting *p, Rep__Step *step, const Models__Action *action)
{
    if (step->kind == REP__STEP__KIND__TIMEOUT) {
        step->timeout_ms = action->timeout_action->timeout_ms;
    } else if (step->kind == REP__STEP__KIND__EMIT_PROGRESS) {
        const Models__EmitProgressAction *say = action->emit_progress_action;
        step->start_message = text_of(p, say->start_message);
        step->success_message = text_of(p, say->success_message);
        step->failure_message_prefix = text_of(p, say->failure_message_prefix);
    }
}

/* Nested as deep as a request may be (design.md 3.7). */
static int plant_action(struct planting *p, const Models__Action *action)
{
    struct level level = level_of(action);
    if (level.refused) {
        return refuse(p, level.refused);
    }
    uint32_t number = p->count;
    Rep__Step *step = plant(p, level.kind, level.source);
    if (!step) {
        return -ERR_TOO_LARGE;
    }
    fill_in(p, step, action);
    p->runs[number] = level.run;
    if (!level.run && level.inner_count == 0) {
        return refuse(p, "");
    }
    for (size_t i = 0; i < level.inner_count; i++) {
        int code = plant_action(p, level.inner[i]);
        if (code < 0) {
            return code;
        }
    }
    step->end = p->count;
    assert(step->end > number);
    return 0;
}

static int plant_parts(struct planting *p, Rep__Step *whole)
{
    const struct tree_parts *parts = p->parts;
    int code = parts->setup ? plant_action(p, parts->setup) : 0;
    whole->setup = parts->setup != NULL;
    whole->monitored = parts->monitored && parts->sidecar_count == 0;
    code = code < 0 ? code : plant_action(p, parts->action);
    for (size_t i = 0; i < parts->sidecar_count && code == 0; i++) {
        code = plant_action(p, parts->sidecars[i]->action);
    }
    whole->end = p->count;
    return code;
}

int tree_make(struct arena *a, const struct tree_parts *parts, struct action_tree *ret_tree,
              const Models__RunAction *const **ret_runs, struct err *err)
{
    struct planting p = {
        .arena = a,
        .parts = parts,
        .steps = ARENA_ARRAY(a, STEPS_MAX, Rep__Step *),
        .runs = ARENA_ARRAY(a, STEPS_MAX, const Models__RunAction *),
        .err = err,
    };
    int code = plant_parts(&p, plant(&p, REP__STEP__KIND__WHOLE, ""));
    code = code < 0 ? code : tree_check(p.steps, p.count, err);
    if (code == 0) {
        *ret_tree = (struct action_tree){p.steps, p.count};
        *ret_runs = p.runs;
    }
    return code;
}

/* ---- What is one ----------------------------------------------------------------------------- */

bool tree_is_leaf(const struct action_tree *tree, uint32_t step)
{
    assert(step < tree->count);
    return tree->steps[step]->kind == REP__STEP__KIND__RUN;
}

/* How many children a step of this kind has: at least, and at most. */
static const struct arity {
    uint32_t least, most;
} arities[] = {
    [REP__STEP__KIND__WHOLE] = {1, STEPS_MAX},
    [REP__STEP__KIND__RUN] = {0, 0},
    [REP__STEP__KIND__TIMEOUT] = {1, 1},
    [REP__STEP__KIND__TRY] = {1, 1},
    [REP__STEP__KIND__EMIT_PROGRESS] = {1, 1},
    [REP__STEP__KIND__PARALLEL] = {1, STEPS_MAX},
    [REP__STEP__KIND__SERIAL] = {1, STEPS_MAX},
    [REP__STEP__KIND__CODEPENDENT] = {1, STEPS_MAX},
};

enum { KINDS = sizeof(arities) / sizeof(arities[0]) };

static int no_tree(struct err *err, uint32_t step)
{
    return err_set(err, ERR_INVALID, "step %u of the note belongs into no tree", step);
}

/* Most leaves at work at once at and beneath step `n`, in *ret. A step's children fill it exactly,
 * and each has as many as its kind may have. */
static int check_step(const struct action_tree *tree, uint32_t n, uint32_t *ret, struct err *err)
{
    const Rep__Step *step = tree->steps[n];
    uint32_t children = 0, most = 0, sum = 0, setup = 0;
    if ((unsigned)step->kind >= KINDS || (step->kind == REP__STEP__KIND__WHOLE) != (n == 0) ||
        step->end <= n || step->end > tree->count ||
        (step->kind == REP__STEP__KIND__TIMEOUT && step->timeout_ms < 0)) {
        return no_tree(err, n);
    }
    for (uint32_t child = n + 1; child < step->end; child = tree->steps[child]->end) {
        uint32_t beneath = 0;
        int code = tree->steps[child]->end > step->end ? no_tree(err, child)
                                                       : check_step(tree, child, &beneath, err);
        if (code < 0) {
            return code;
        }
        setup = n == 0 && step->setup && children == 0 ? beneath : setup;
        most = beneath > most ? beneath : most;
        sum += beneath;
        children++;
    }
    uint32_t least = arities[step->kind].least + (step->setup && n == 0);
    if (children < least || children > arities[step->kind].most) {
        return no_tree(err, n);
    }
    *ret = children == 0 ? 1 : step->kind == REP__STEP__KIND__SERIAL ? most : sum - setup;
    *ret = *ret < setup ? setup : *ret;
    return 0;
}

int tree_check(Rep__Step *const *steps, size_t count, struct err *err)
{
    struct action_tree tree = {steps, count};
    uint32_t at_once = 0;
    if (count > STEPS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "the definition has more than %d steps", STEPS_MAX);
    }
    int code = count == 0 ? 0 : check_step(&tree, 0, &at_once, err);
    if (code == 0 && count > 0 && steps[0]->end != count) {
        code = no_tree(err, steps[0]->end);
    }
    if (code == 0 && at_once > STEPS_AT_ONCE_MAX) {
        code = err_set(err, ERR_TOO_LARGE, "the definition has more than %d steps at work at once",
                       STEPS_AT_ONCE_MAX);
    }
    return code;
}
