#include "rep/container/pull.h"

#include "common/model/image_name.h"
#include "rep/container/call.h"
#include "rep/container/image_plan.h"
#include "rep/container/operation.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

/* ---- The pull -------------------------------------------------------------------------------- */

const char *pull_image(const struct rep *r, const char *rootfs)
{
    size_t size;
    const char *name = image_name_preloaded(rootfs, &size);
    for (size_t i = 0; name && i < r->config.rootfs_image_count; i++) {
        const struct name_value *have = &r->config.rootfs_images[i];
        if (strlen(have->name) == size && memcmp(have->name, name, size) == 0) {
            return have->value;
        }
    }
    return image_name_is_pulled(rootfs) ? rootfs : NULL;
}

bool pull_first(struct rep *r, struct container *c, const char *name, const char *username,
                const char *password, struct effects *out)
{
    if (c->image_name && strcmp(c->image_name, name) != 0) {
        container_image(c, NULL, NULL);
    }
    const char *wanted = pull_image(r, name);
    if (!wanted || c->image) {
        return false;
    }
    container_image(c, name, NULL);
    struct image_call *image = ARENA_NEW(out->arena, struct image_call);
    *image = (struct image_call){
        arena_strdup(out->arena, wanted),
        arena_strdup(out->arena, username),
        arena_strdup(out->arena, password),
        wanted != name,
    };
    assert(c->phase == PHASE_INITIALIZING && c->pull_id == 0);
    struct verb_call *call = container_call(r, c, VERB_PULL, PULL_TIMEOUT_NS, out);
    call->image = image;
    c->pull_id = call->id;
    c->made = true; /* what it has of the image goes with its REMOVE */
    return true;
}

/* What is stopped or removed waits for it no more; its REMOVE ends the pull. */
static bool is_wanted(const struct container *c)
{
    return c->phase == PHASE_INITIALIZING && !c->deleting && !container_stop_asked(c);
}

static void answered(struct rep *r, struct container *c, const struct verb_answer *answer,
                     struct effects *out)
{
    if (answer->outcome == VERB_UNCERTAIN) {
        c->attempts++;
        operation_retry_later(r, c);
        return;
    }
    if (answer->outcome == VERB_DONE) {
        container_image(c, c->image_name,
                        rep__image__unpack(NULL, answer->data.size, answer->data.data));
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

bool pull_answer(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out)
{
    if (answer->verb != VERB_PULL) {
        return false;
    }
    if (answer->id == c->pull_id) {
        c->pull_id = 0;
        c->touched = r->next_id;
        container_touch(c);
        if (is_wanted(c)) {
            answered(r, c, answer, out);
        }
    }
    return true;
}

/* ---- The spec -------------------------------------------------------------------------------- */

/* What it takes is a part of what the container may take, but for one that is preloaded. NULL, or
 * why it cannot. */
static const char *take_disk(struct arena *a, const Rep__Image *image, struct container_spec *spec)
{
    if (!image || spec->disk_mb <= 0 || !image_name_is_pulled(spec->rootfs)) {
        return NULL;
    }
    int64_t size_mb = (image_bytes(image) + (1 << 20) - 1) >> 20;
    if (size_mb >= spec->disk_mb) {
        return arena_printf(a, "the image has %lld MB, and the disk limit is %d MB",
                            (long long)size_mb, (int)spec->disk_mb);
    }
    spec->disk_mb -= (int32_t)size_mb;
    assert(spec->disk_mb > 0); /* 0 would be no limit */
    return NULL;
}

/* Whether it is known of each program what it is. */
static bool programs_known(const struct container_spec *spec)
{
    bool known = !spec->path || spec->path[0];
    for (size_t i = 0; i < spec->step_count; i++) {
        const struct step_process *p = &spec->steps[i];
        known = known && (p->transfer || p->path[0]);
    }
    return known;
}

bool pull_suits(struct container *c, struct container_spec *spec, struct effects *out)
{
    const char *why = take_disk(out->arena, c->image, spec);
    if (!why && !programs_known(spec)) {
        why = c->image ? "the image does not say what should run"
                       : "the root filesystem is no image that could say what should run";
    }
    if (why) {
        container_never_ran(c, arena_printf(out->arena, "failed to create container: %s", why),
                            out);
    }
    return !why;
}
