#include "rep/steps/tree.h"

#include "common/model/definition_views.h"
#include "common/model/image_name.h"

#include <assert.h>
#include <string.h>

#define LOG_SOURCE_OF_NOBODY "LOG"

/* The layer that a root filesystem's name tells goes before the others; it is EXCLUSIVE, for what
 * runs may write there. A name that cannot be read has none: spec_check() refuses it. */
static void add_layer_of_name(struct arena *a, const char *root_fs, Models__ImageLayer ***layers,
                              size_t *count)
{
    struct image_name name;
    if (image_name_parse(a, root_fs, &name, NULL) < 0 || name.scheme != IMAGE_PRELOADED_LAYER) {
        return;
    }
    Models__ImageLayer *layer = arena_message(a, &models__image_layer__descriptor);
    layer->url = arena_strdup(a, name.layer_url);
    layer->destination_path = arena_strdup(a, name.layer_path);
    layer->layer_type = MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    layer->digest_algorithm = MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA256;
    layer->digest_value = arena_strdup(a, name.layer_digest + strlen("sha256:"));
    Models__ImageLayer **all = ARENA_ARRAY(a, *count + 1, Models__ImageLayer *);
    all[0] = layer;
    for (size_t i = 0; i < *count; i++) {
        all[1 + i] = (*layers)[i];
    }
    *layers = all;
    *count += 1;
}

struct tree_parts tree_parts_of(struct arena *a, const Models__DesiredLRP *lrp)
{
    Models__DesiredLRP flat = *lrp; /* shallow: only its own members change */
    add_layer_of_name(a, lrp->root_fs, &flat.image_layers, &flat.n_image_layers);
    desired_as_r2(a, &flat);
    bool checked = flat.check_definition && flat.check_definition->n_checks > 0;
    return (struct tree_parts){
        .dependencies = (const Models__CachedDependency *const *)flat.cached_dependencies,
        .dependency_count = flat.n_cached_dependencies,
        .setup = flat.setup,
        .action = flat.action,
        .monitor = checked ? NULL : flat.monitor,
        .monitored = checked || flat.monitor,
        .sidecars = (const Models__Sidecar *const *)flat.sidecars,
        .sidecar_count = flat.n_sidecars,
        .log_source = flat.log_source,
        .log_guid = flat.log_guid,
    };
}

struct tree_parts tree_parts_of_task(struct arena *a, const Models__TaskDefinition *definition)
{
    Models__TaskDefinition flat = *definition; /* likewise */
    add_layer_of_name(a, definition->root_fs, &flat.image_layers, &flat.n_image_layers);
    Models__Task task = MODELS__TASK__INIT;
    task.task_definition = &flat;
    task_as_r2(a, &task);
    return (struct tree_parts){
        .dependencies = (const Models__CachedDependency *const *)flat.cached_dependencies,
        .dependency_count = flat.n_cached_dependencies,
        .action = flat.action,
        .log_source = flat.log_source,
        .log_guid = flat.log_guid,
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
    Rep__Step__Kind kind; /* WHOLE: there is no action */
    struct tree_leaf leaf;
    Models__Action *const *inner; /* NULL members of it are missing actions */
    size_t inner_count;
    const char *source;
};

#define LEAF(which, member, value)                                                                 \
    (struct level)                                                                                 \
    {                                                                                              \
        REP__STEP__KIND__##which, {.member = (value)}, NULL, 0, (value)->log_source                \
    }
#define WRAPPER(which, member)                                                                     \
    (struct level){REP__STEP__KIND__##which, {0}, &(member)->action, 1, (member)->log_source}
#define GROUP(which, member)                                                                       \
    (struct level)                                                                                 \
    {                                                                                              \
        REP__STEP__KIND__##which, {0}, (member)->actions, (member)->n_actions,                     \
            (member)->log_source                                                                   \
    }

static struct level level_of(const Models__Action *action)
{
    if (!action) {
        return (struct level){.source = ""};
    } else if (action->download_action) {
        return LEAF(DOWNLOAD, download, action->download_action);
    } else if (action->upload_action) {
        return LEAF(UPLOAD, upload, action->upload_action);
    } else if (action->run_action) {
        return LEAF(RUN, run, action->run_action);
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
    return (struct level){.source = ""};
}

static bool kind_is_leaf(Rep__Step__Kind kind)
{
    return kind == REP__STEP__KIND__RUN || kind == REP__STEP__KIND__DOWNLOAD ||
           kind == REP__STEP__KIND__UPLOAD;
}

bool tree_is_needed(const struct tree_parts *parts)
{
    return parts->dependency_count > 0 || parts->setup || parts->monitor ||
           parts->sidecar_count > 0 || !level_of(parts->action).leaf.run;
}

/* ---- Making one ------------------------------------------------------------------------------ */

struct planting {
    struct arena *arena;
    const struct tree_parts *parts;
    Rep__Step **steps;
    struct tree_leaf *leaves;
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

static int no_action(struct planting *p)
{
    return err_set(p->err, ERR_INVALID, "the definition has no action");
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
    } else if (step->kind == REP__STEP__KIND__DOWNLOAD) {
        step->artifact = text_of(p, action->download_action->artifact);
    } else if (step->kind == REP__STEP__KIND__UPLOAD) {
        step->artifact = text_of(p, action->upload_action->artifact);
    }
}

/* Nested as deep as a request may be (design.md 3.7). */
static int plant_action(struct planting *p, const Models__Action *action)
{
    struct level level = level_of(action);
    if (level.kind == REP__STEP__KIND__WHOLE) {
        return no_action(p);
    }
    uint32_t number = p->count;
    Rep__Step *step = plant(p, level.kind, level.source);
    if (!step) {
        return -ERR_TOO_LARGE;
    }
    fill_in(p, step, action);
    p->leaves[number] = level.leaf;
    if (!kind_is_leaf(level.kind) && level.inner_count == 0) {
        return no_action(p);
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

/* All at once, as a parallel. */
static int plant_dependencies(struct planting *p)
{
    Rep__Step *all = plant(p, REP__STEP__KIND__PARALLEL, "");
    for (size_t i = 0; all && i < p->parts->dependency_count; i++) {
        const Models__CachedDependency *d = p->parts->dependencies[i];
        uint32_t number = p->count;
        Rep__Step *step = plant(p, REP__STEP__KIND__DOWNLOAD, d->log_source);
        if (!step) {
            return -ERR_TOO_LARGE;
        }
        step->artifact = text_of(p, d->name);
        step->end = p->count;
        p->leaves[number].dependency = d;
    }
    if (all) {
        all->end = p->count;
    }
    return all ? 0 : -ERR_TOO_LARGE;
}

static int plant_parts(struct planting *p, Rep__Step *whole)
{
    const struct tree_parts *parts = p->parts;
    int code = parts->dependency_count > 0 ? plant_dependencies(p) : 0;
    whole->dependencies = parts->dependency_count > 0;
    if (code == 0 && parts->setup) {
        code = plant_action(p, parts->setup);
    }
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
              const struct tree_leaf **ret_leaves, struct err *err)
{
    struct planting p = {
        .arena = a,
        .parts = parts,
        .steps = ARENA_ARRAY(a, STEPS_MAX, Rep__Step *),
        .leaves = ARENA_ARRAY(a, STEPS_MAX, struct tree_leaf),
        .err = err,
    };
    int code = plant_parts(&p, plant(&p, REP__STEP__KIND__WHOLE, ""));
    code = code < 0 ? code : tree_check(p.steps, p.count, err);
    if (code == 0) {
        *ret_tree = (struct action_tree){p.steps, p.count};
        *ret_leaves = p.leaves;
    }
    return code;
}

int tree_make_monitor(struct arena *a, const struct tree_parts *parts,
                      struct action_tree *ret_tree, const struct tree_leaf **ret_leaves,
                      struct err *err)
{
    const struct tree_parts alone = {
        .action = parts->monitor,
        .log_source = parts->log_source,
        .log_guid = parts->log_guid,
    };
    int code = tree_make(a, &alone, ret_tree, ret_leaves, err);
    for (uint32_t i = 0; code == 0 && i < ret_tree->count; i++) {
        if (tree_is_transfer(ret_tree, i)) {
            code = err_set(err, ERR_INVALID,
                           "the monitor of the definition has a download or an upload: it can "
                           "only run programs");
        }
    }
    return code;
}

/* ---- What is one ----------------------------------------------------------------------------- */

bool tree_is_leaf(const struct action_tree *tree, uint32_t step)
{
    assert(step < tree->count);
    return kind_is_leaf(tree->steps[step]->kind);
}

bool tree_is_transfer(const struct action_tree *tree, uint32_t step)
{
    return tree_is_leaf(tree, step) && tree->steps[step]->kind != REP__STEP__KIND__RUN;
}

uint32_t tree_first_inside(const struct action_tree *tree)
{
    return tree->steps[0]->dependencies ? tree->steps[1]->end : 1;
}

uint32_t tree_action(const struct action_tree *tree)
{
    uint32_t first = tree_first_inside(tree);
    return tree->steps[0]->setup ? tree->steps[first]->end : first;
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
    [REP__STEP__KIND__DOWNLOAD] = {0, 0},
    [REP__STEP__KIND__UPLOAD] = {0, 0},
};

enum { KINDS = sizeof(arities) / sizeof(arities[0]) };

static int no_tree(struct err *err, uint32_t step)
{
    return err_set(err, ERR_INVALID, "step %u of the note belongs into no tree", step);
}

/* What is counted of a step's children: most leaves of them at work at once, one after the other or
 * together. */
struct children {
    uint32_t count, most, sum;
};

static void count_child(const Rep__Step *step, bool whole, uint32_t beneath, struct children *c)
{
    uint32_t alone = whole ? step->dependencies + step->setup : 0;
    c->most = beneath > c->most ? beneath : c->most;
    c->sum += c->count < alone || step->kind == REP__STEP__KIND__SERIAL ? 0 : beneath;
    c->count++;
}

static bool step_fits(const struct action_tree *tree, uint32_t n)
{
    const Rep__Step *step = tree->steps[n];
    bool whole = step->kind == REP__STEP__KIND__WHOLE;
    return (unsigned)step->kind < KINDS && whole == (n == 0) && step->end > n &&
           step->end <= tree->count &&
           !(step->kind == REP__STEP__KIND__TIMEOUT && step->timeout_ms < 0);
}

/* Dependencies are a parallel of downloads. */
static bool are_dependencies(const struct action_tree *tree)
{
    bool all = tree->steps[1]->kind == REP__STEP__KIND__PARALLEL;
    for (uint32_t n = 2; all && n < tree->steps[1]->end; n++) {
        all = tree->steps[n]->kind == REP__STEP__KIND__DOWNLOAD;
    }
    return all;
}

/* Most leaves at work at once at and beneath step `n`, in *ret. A step's children fill it exactly,
 * and each has as many as its kind may have. */
static int check_step(const struct action_tree *tree, uint32_t n, uint32_t *ret, struct err *err)
{
    const Rep__Step *step = tree->steps[n];
    struct children c = {0};
    if (!step_fits(tree, n)) {
        return no_tree(err, n);
    }
    for (uint32_t child = n + 1; child < step->end; child = tree->steps[child]->end) {
        uint32_t beneath = 0;
        int code = tree->steps[child]->end > step->end ? no_tree(err, child)
                                                       : check_step(tree, child, &beneath, err);
        if (code < 0) {
            return code;
        }
        count_child(step, n == 0, beneath, &c);
    }
    uint32_t least = arities[step->kind].least + (n == 0 ? step->dependencies + step->setup : 0);
    if (c.count < least || c.count > arities[step->kind].most ||
        (n == 0 && step->dependencies && !are_dependencies(tree))) {
        return no_tree(err, n);
    }
    *ret = c.count == 0 ? 1 : c.sum > c.most ? c.sum : c.most;
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
