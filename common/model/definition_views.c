#include "common/model/definition_views.h"

#include "common/codec/scan.h"

#include <assert.h>

/* Numbers of fields on the wire: of DesiredLRP, of Task, of TaskDefinition. */
enum { DESIRED_IMAGE_LAYERS = 34, TASK_DEFINITION = 1, DEFINITION_IMAGE_LAYERS = 25 };

static Models__Action *action_new(struct arena *a)
{
    Models__Action *action = arena_message(a, &models__action__descriptor);
    return action;
}

/* An action of these in parallel. */
static Models__Action *parallel(struct arena *a, Models__Action **actions, size_t count)
{
    Models__ParallelAction *p = arena_message(a, &models__parallel_action__descriptor);
    p->actions = actions;
    p->n_actions = count;
    Models__Action *action = action_new(a);
    action->parallel_action = p;
    return action;
}

/* An action that does `first` and then `second` (NULL = nothing more). */
static Models__Action *serial(struct arena *a, Models__Action *first, Models__Action *second)
{
    assert(first);
    Models__SerialAction *s = arena_message(a, &models__serial_action__descriptor);
    s->actions = ARENA_ARRAY(a, 2, Models__Action *);
    s->actions[s->n_actions++] = first;
    if (second) {
        s->actions[s->n_actions++] = second;
    }
    Models__Action *action = action_new(a);
    action->serial_action = s;
    return action;
}

/* ---- r2: image layers ------------------------------------------------------------------------ */

static char *algorithm_name(struct arena *a, const Models__ImageLayer *layer)
{
    switch (layer->digest_algorithm) {
    case MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA256:
        return arena_strdup(a, "sha256");
    case MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA512:
        return arena_strdup(a, "sha512");
    default:
        return arena_strdup(a, "");
    }
}

static char *digest_key(struct arena *a, const Models__ImageLayer *layer)
{
    return arena_printf(a, "%s:%s", algorithm_name(a, layer), layer->digest_value);
}

static Models__CachedDependency *layer_dependency(struct arena *a, const Models__ImageLayer *layer)
{
    Models__CachedDependency *c = arena_message(a, &models__cached_dependency__descriptor);
    c->name = layer->name;
    c->from = layer->url;
    c->to = layer->destination_path;
    c->checksum_algorithm = algorithm_name(a, layer);
    c->checksum_value = layer->digest_value;
    c->cache_key = layer->digest_value[0] ? digest_key(a, layer) : layer->url;
    return c;
}

/* The layers' cached dependencies, then those of `*list`. */
static void layers_to_dependencies(struct arena *a, Models__ImageLayer *const *layers,
                                   size_t layer_count, Models__CachedDependency ***list,
                                   size_t *count)
{
    Models__CachedDependency **all =
        ARENA_ARRAY(a, layer_count + *count, Models__CachedDependency *);
    size_t n = 0;
    for (size_t i = 0; i < layer_count; i++) {
        if (layers[i]->layer_type == MODELS__IMAGE_LAYER__TYPE__SHARED) {
            all[n++] = layer_dependency(a, layers[i]);
        }
    }
    for (size_t i = 0; i < *count; i++) {
        all[n++] = (*list)[i];
    }
    assert(n <= layer_count + *count);
    *list = all;
    *count = n;
}

static Models__Action *layer_download(struct arena *a, const Models__ImageLayer *layer, char *user)
{
    Models__DownloadAction *d = arena_message(a, &models__download_action__descriptor);
    d->artifact = layer->name;
    d->from = layer->url;
    d->to = layer->destination_path;
    d->cache_key = digest_key(a, layer);
    d->user = user;
    d->checksum_algorithm = algorithm_name(a, layer);
    d->checksum_value = layer->digest_value;
    Models__Action *action = action_new(a);
    action->download_action = d;
    return action;
}

/* `action` (NULL = none) behind the downloads of the EXCLUSIVE layers, if there are any. */
static Models__Action *layers_to_downloads(struct arena *a, Models__ImageLayer *const *layers,
                                           size_t count, char *user, Models__Action *action)
{
    Models__Action **downloads = ARENA_ARRAY(a, count, Models__Action *);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (layers[i]->layer_type == MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE) {
            downloads[n++] = layer_download(a, layers[i], user);
        }
    }
    if (n == 0) {
        return action;
    }
    Models__Action *together = parallel(a, downloads, n);
    return action ? serial(a, together, action) : together;
}

void desired_as_r2(struct arena *a, Models__DesiredLRP *d)
{
    layers_to_dependencies(a, d->image_layers, d->n_image_layers, &d->cached_dependencies,
                           &d->n_cached_dependencies);
    d->setup = layers_to_downloads(a, d->image_layers, d->n_image_layers, d->legacy_download_user,
                                   d->setup);
    d->n_image_layers = 0;
    d->image_layers = NULL;
}

void task_as_r2(struct arena *a, Models__Task *task)
{
    Models__TaskDefinition *d = task->task_definition;
    if (!d) {
        return;
    }
    layers_to_dependencies(a, d->image_layers, d->n_image_layers, &d->cached_dependencies,
                           &d->n_cached_dependencies);
    d->action = layers_to_downloads(a, d->image_layers, d->n_image_layers, d->legacy_download_user,
                                    d->action);
    d->n_image_layers = 0;
    d->image_layers = NULL;
}

bool desired_has_layers(struct bytes desired)
{
    struct bytes layer;
    return message_field(desired, DESIRED_IMAGE_LAYERS, &layer);
}

bool task_has_layers(struct bytes task)
{
    struct bytes definition, layer;
    return message_field(task, TASK_DEFINITION, &definition) &&
           message_field(definition, DEFINITION_IMAGE_LAYERS, &layer);
}

/* ---- version 0 ------------------------------------------------------------------------------- */

static Models__Action *old_action(Models__Action *action);

/* How many are left: what only reported or tried nothing at all is nothing, and no list has holes.
 */
static size_t old_actions(Models__Action **actions, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        Models__Action *old = old_action(actions[i]);
        if (old) {
            actions[left++] = old;
        }
    }
    assert(left <= count);
    return left;
}

/* The action with its time-outs in nanoseconds too, without Try and EmitProgress. Of several
 * members the first counts, in the order of the fields (behaviour.md 9). */
static Models__Action *old_action(Models__Action *action)
{
    if (!action || action->download_action || action->upload_action || action->run_action) {
        return action;
    }
    if (action->timeout_action) {
        Models__TimeoutAction *t = action->timeout_action;
        t->deprecated_timeout_ns = (int64_t)((uint64_t)t->timeout_ms * 1000000);
        t->action = old_action(t->action);
    } else if (action->emit_progress_action) {
        return old_action(action->emit_progress_action->action);
    } else if (action->try_action) {
        return old_action(action->try_action->action);
    } else if (action->parallel_action) {
        Models__ParallelAction *list = action->parallel_action;
        list->n_actions = old_actions(list->actions, list->n_actions);
    } else if (action->serial_action) {
        Models__SerialAction *list = action->serial_action;
        list->n_actions = old_actions(list->actions, list->n_actions);
    } else if (action->codependent_action) {
        Models__CodependentAction *list = action->codependent_action;
        list->n_actions = old_actions(list->actions, list->n_actions);
    }
    return action;
}

/* Diego leaves the checksum out. */
static Models__Action *dependency_download(struct arena *a, const Models__CachedDependency *c,
                                           char *user)
{
    Models__DownloadAction *d = arena_message(a, &models__download_action__descriptor);
    d->artifact = c->name;
    d->from = c->from;
    d->to = c->to;
    d->cache_key = c->cache_key;
    d->log_source = c->log_source;
    d->user = user;
    Models__Action *action = action_new(a);
    action->download_action = d;
    return action;
}

static void dependencies_to_setup(struct arena *a, Models__DesiredLRP *d)
{
    if (d->n_cached_dependencies == 0) {
        return;
    }
    Models__Action **downloads = ARENA_ARRAY(a, d->n_cached_dependencies, Models__Action *);
    for (size_t i = 0; i < d->n_cached_dependencies; i++) {
        downloads[i] = dependency_download(a, d->cached_dependencies[i], d->legacy_download_user);
    }
    d->setup = serial(a, parallel(a, downloads, d->n_cached_dependencies), d->setup);
    d->n_cached_dependencies = 0;
    d->cached_dependencies = NULL;
}

void desired_as_r0(struct arena *a, Models__DesiredLRP *d)
{
    desired_as_r2(a, d);
    d->setup = old_action(d->setup);
    d->action = old_action(d->action);
    d->monitor = old_action(d->monitor);
    d->deprecated_start_timeout_s = (uint32_t)(d->start_timeout_ms / 1000);
    dependencies_to_setup(a, d);
}
