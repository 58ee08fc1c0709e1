#include "bbs/edge/catalogue.h"
#include "bbs/edge/uses.h"
#include "common/base/message.h"
#include "common/model/edge_name.h"

#include "edge_api.pb-c.h"

#include <string.h>

enum { FLAVOR_CONTAINERS = 16, FLAVOR_TAGS_MAX = 16, FLAVOR_TAG_BYTES_MAX = 256 };

struct flavor_snapshot {
    const Board__FlavorRecord *flavor; /* NULL = none */
    struct uses uses;
};

/* ---- Set ------------------------------------------------------------------------------------- */

static const char *flavor_target(struct arena *a, const struct op_input *in)
{
    return key_flavor(a, ((const Board__FlavorRecord *)in->request)->name);
}

void valid_flavor(struct validation *v, const Board__FlavorRecord *request)
{
    SCOPED_ARENA(a);
    const Board__NodeSize *size = request->size;
    const char *fault = edge_name_fault(&a, RECORD_FLAVOR, request->name);
    if (fault) {
        say(v, fault);
    }
    if (!size || size->memory_mb <= 0) {
        say(v, "memory_mb: at least 1");
    }
    if (!size || size->disk_mb <= 0) {
        say(v, "disk_mb: at least 1");
    }
    if (size && size->containers < 0) {
        say(v, "containers: at least 1, or 0 for 16");
    }
    bool long_tag = size && size->n_placement_tags > FLAVOR_TAGS_MAX;
    for (size_t i = 0; size && i < size->n_placement_tags && !long_tag; i++) {
        long_tag = strlen(size->placement_tags[i]) > FLAVOR_TAG_BYTES_MAX;
    }
    if (long_tag) {
        say(v, "placement_tags: at most 16 of 256 bytes");
    }
}

static void set_flavor_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct flavor_snapshot *s = snapshot;
    s->flavor = view_message(v, flavor_target(view_arena(v), in));
}

/* What was made with it keeps its size: the numbers stand in its own record. */
static void set_flavor_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct flavor_snapshot *s = snapshot;
    struct arena *a = p->arena;
    Board__FlavorRecord *f = arena_copy(a, in->request, sizeof(*f));
    f->size = arena_copy(a, f->size, sizeof(*f->size));
    f->size->containers = f->size->containers ? f->size->containers : FLAVOR_CONTAINERS;
    f->since = s->flavor ? s->flavor->since : in->now.wall_ns;
    if (!s->flavor || !message_equal(&f->base, &s->flavor->base)) {
        f->since = in->now.wall_ns;
        plan_put(p, flavor_target(a, in), "set", in->actor, &f->base);
    }
}

const struct op_row set_flavor_row = {
    .name = "set a flavor",
    .target = flavor_target,
    .gather = set_flavor_gather,
    .decide = set_flavor_decide,
    .snapshot_size = sizeof(struct flavor_snapshot),
};

/* ---- Remove ---------------------------------------------------------------------------------- */

static const char *removed_key(struct arena *a, const struct op_input *in)
{
    return key_flavor(a, ((const Board__EdgeRemoveRequest *)in->request)->name);
}

static void remove_flavor_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct flavor_snapshot *s = snapshot;
    const char *key = removed_key(view_arena(v), in);
    s->flavor = view_message(v, key);
    uses_gather(v, key, &s->uses);
}

static void remove_flavor_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct flavor_snapshot *s = snapshot;
    const Board__EdgeRemoveRequest *r = in->request;
    if (!s->flavor) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound, "there is no flavor %s", r->name);
    } else if (!uses_refuse(&s->uses, r->name, p)) {
        plan_delete(p, removed_key(p->arena, in), "remove", in->actor);
    }
}

const struct op_row remove_flavor_row = {
    .name = "remove a flavor",
    .target = removed_key,
    .gather = remove_flavor_gather,
    .decide = remove_flavor_decide,
    .snapshot_size = sizeof(struct flavor_snapshot),
};
