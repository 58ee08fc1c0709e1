#include "rep/container/pull.h"

#include "common/model/image_name.h"
#include "rep/container/operation.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

/* ---- The pull ---- */

bool pull_first(struct rep *r, struct container *c, const char *name, const char *username,
                const char *password, struct effects *out)
{
    if (!image_name_is_pulled(name) || c->image) {
        return false;
    }
    struct image_call *image = ARENA_NEW(out->arena, struct image_call);
    *image = (struct image_call){
        arena_strdup(out->arena, name),
        arena_strdup(out->arena, username),
        arena_strdup(out->arena, password),
    };
    operation_verb(r, c, OP_PULL, out)->image = image;
    c->made = true; /* what it has of the image goes with its REMOVE */
    return true;
}

void pull_answered(struct rep *r, struct container *c, const struct verb_answer *answer,
                   struct effects *out)
{
    assert(answer->verb == VERB_PULL);
    if (c->phase != PHASE_INITIALIZING || c->image) {
        return; /* it ended meanwhile */
    }
    if (answer->outcome == VERB_UNCERTAIN) {
        c->attempts++;
        operation_retry_later(r, c);
        return;
    }
    if (answer->outcome == VERB_DONE) {
        c->image = rep__image__unpack(NULL, answer->data.size, answer->data.data);
    }
    if (!c->image) {
        const char *why = answer->outcome == VERB_DONE ? "its image cannot be read" : answer->text;
        container_never_ran(c, arena_printf(out->arena, "failed to create container: %s", why),
                            out);
    } else if (answer->text[0]) {
        effects_log(out, LOG_WARN_LEVEL, "registry silent, the image that is here is taken",
                    "%s why=\"%s\"", c->kind->words(c, out->arena), answer->text);
    }
}

void pull_abandon(struct container *c)
{
    assert(c->op == OP_PULL);
    c->op = OP_NONE; /* its answer is then nobody's */
}

/* ---- The spec ---- */

static bool has_variable(const struct name_value *env, size_t count, const char *name, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(env[i].name, name, size) == 0 && env[i].name[size] == '\0') {
            return true;
        }
    }
    return false;
}

/* The image's come first. */
static void add_variables(struct arena *a, const Rep__Image *image, const struct name_value **env,
                          size_t *count)
{
    struct name_value *all = ARENA_ARRAY(a, image->n_env + *count, struct name_value);
    size_t n = 0;
    for (size_t i = 0; i < image->n_env; i++) {
        size_t size = strcspn(image->env[i], "=");
        if (image->env[i][size] == '=' && !has_variable(*env, *count, image->env[i], size)) {
            all[n++] = (struct name_value){
                arena_strndup(a, image->env[i], size),
                arena_strdup(a, image->env[i] + size + 1),
            };
        }
    }
    for (size_t i = 0; i < *count; i++) {
        all[n++] = (*env)[i];
    }
    *env = all;
    *count = n;
}

static void add_layers(struct arena *a, const Rep__Image *image, struct container_spec *spec)
{
    const char **layers = ARENA_ARRAY(a, image->n_layers, const char *);
    for (size_t i = 0; i < image->n_layers; i++) {
        layers[i] = arena_strdup(a, image->layers[i]->id);
    }
    spec->layers = layers;
    spec->layer_count = image->n_layers;
}

static void add_steps(struct arena *a, const Rep__Image *image, struct container_spec *spec)
{
    struct step_process *steps = ARENA_ARRAY(a, spec->step_count, struct step_process);
    for (size_t i = 0; i < spec->step_count; i++) {
        steps[i] = spec->steps[i];
        add_variables(a, image, &steps[i].env, &steps[i].env_count);
    }
    spec->steps = steps;
}

static int64_t image_mb(const Rep__Image *image)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < image->n_layers; i++) {
        bytes += image->layers[i]->size;
    }
    return (bytes + (1 << 20) - 1) >> 20;
}

bool pull_spec(struct container *c, struct container_spec *spec, struct effects *out)
{
    if (!c->image) {
        return true;
    }
    int64_t size_mb = image_mb(c->image);
    if (spec->disk_mb > 0 && size_mb >= spec->disk_mb) {
        container_never_ran(c,
                            arena_printf(out->arena,
                                         "failed to create container: the image has %lld MB, and "
                                         "the disk limit is %d MB",
                                         (long long)size_mb, (int)spec->disk_mb),
                            out);
        return false;
    }
    spec->disk_mb -= spec->disk_mb > 0 ? (int32_t)size_mb : 0;
    add_layers(out->arena, c->image, spec);
    add_steps(out->arena, c->image, spec);
    if (spec->path) {
        add_variables(out->arena, c->image, &spec->env, &spec->env_count);
    }
    return true;
}
