#include "rep/unit/unit_fetch.h"

#include "common/base/memory.h"
#include "rep/container/call.h"
#include "rep/container/operation.h"
#include "rep/container/pull.h"
#include "rep/container/room.h"
#include "rep/inside.h"
#include "rep/unit/cell_unit.h"
#include "rep/unit/unit_shape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void cannot(struct unit_fetch *f, const char *why)
{
    free(f->error);
    f->error = mem_text(why);
    f->here = false;
}

/* For a guid of its own, for that of the unit keeps the image of the container that is there. What
 * is kept for a container to come goes by itself. */
static void ask(struct rep *r, struct cell_unit *u, const Models__DesiredLRP *run,
                const char *image, struct effects *out)
{
    struct image_call *wanted = ARENA_NEW(out->arena, struct image_call);
    char *guid = ARENA_ARRAY(out->arena, GUID_BYTES, char);
    random_guid(&r->random, guid);
    *wanted = (struct image_call){
        arena_strdup(out->arena, image), arena_strdup(out->arena, run->image_username),
        arena_strdup(out->arena, run->image_password), strcmp(image, run->root_fs) != 0};
    struct verb_call *call =
        container_call(r, cell_unit_container(u), VERB_PULL, PULL_TIMEOUT_NS, out);
    call->guid = guid;
    call->image = wanted;
    u->fetch.call_id = call->id;
    effects_log(out, LOG_INFO_LEVEL, "image fetched for an upgrade", "unit=%s/%u image=%s",
                u->name.service, u->name.number, image);
}

/* 1. The cell has no such root filesystem, and will not: it stays as it is.
 * 2. It is a directory of the cell.
 * 3. An image: it is pulled, and again after a while. */
static void find(struct rep *r, struct cell_unit *u, const Models__DesiredLRP *run,
                 struct effects *out)
{
    struct unit_fetch *f = &u->fetch;
    const char *image = pull_image(r, run->root_fs);
    assert(f->shape && !f->call_id);
    if (!room_has_rootfs(r, run->root_fs)) { /* 1 */
        cannot(f, arena_printf(out->arena, "its cell has no root filesystem %.200s", run->root_fs));
    } else if (!image) { /* 2 */
        f->here = true;
        f->until_ns = NEVER_NS;
    } else if (r->now.mono_ns >= (f->here ? f->until_ns : f->again_ns)) { /* 3 */
        ask(r, u, run, image, out);
    } else if (!f->here) {
        cell_unit_due(u, f->again_ns);
    }
}

void unit_fetch_look(struct rep *r, struct cell_unit *u, struct effects *out)
{
    SCOPED_ARENA(a);
    const Models__DesiredLRP *run = cell_unit_other_run(u, &a);
    const char *shape = run ? unit_shape(&a, run) : NULL;
    if (u->fetch.shape && (!shape || strcmp(shape, u->fetch.shape) != 0)) {
        unit_fetch_clear(&u->fetch);
    }
    if (run && !u->fetch.shape) {
        u->fetch.shape = mem_text(shape);
    }
    if (run && !u->fetch.call_id) {
        find(r, u, run, out);
    }
}

static struct cell_unit *who_asked(const struct cell_units *t, uint64_t call_id)
{
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *u = map_value(n);
        if (u->fetch.call_id == call_id) {
            return u;
        }
    }
    return NULL;
}

bool unit_fetch_answer(struct rep *r, const struct verb_answer *answer)
{
    struct cell_unit *u = answer->verb == VERB_PULL ? who_asked(&r->units, answer->id) : NULL;
    if (!u) {
        return false;
    }
    struct unit_fetch *f = &u->fetch;
    f->call_id = 0;
    if (answer->outcome == VERB_DONE) {
        free(f->error);
        f->error = NULL;
        f->here = true;
        f->until_ns = r->now.mono_ns + UNIT_FETCHED_NS;
    } else {
        cannot(f, answer->text[0] ? answer->text : "nobody can tell whether its image was pulled");
        f->again_ns = r->now.mono_ns + UNIT_FETCH_AGAIN_NS;
    }
    cell_unit_queue(u);
    return true;
}
