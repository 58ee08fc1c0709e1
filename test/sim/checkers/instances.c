/* What the board ever said of each instance: whose it is, and whether it was released since. */
#include "models/actual_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const Models__ActualLRP *bearer(const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)(p ? p->message : NULL);
    const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
    return key && *key->instance_guid ? r : NULL;
}

static const char *guid_of(const Models__ActualLRP *r)
{
    return r ? r->actual_lrp_instance_key->instance_guid : "";
}

static struct instance *named(struct checkers *k, const Models__ActualLRP *r)
{
    struct instance *i = map_get(&k->instances, guid_of(r));
    if (!i) {
        i = ARENA_NEW(&k->history.arena, struct instance);
        *i = (struct instance){
            .guid = guid_of(r),
            .process_guid = r->actual_lrp_key->process_guid,
            .index = r->actual_lrp_key->index,
            .cell_id = r->actual_lrp_instance_key->cell_id,
            .alone_ns = NEVER_NS,
            .phantom_ns = NEVER_NS,
        };
        map_put(&k->instances, i->guid, i);
    }
    return i;
}

void note_instances(struct checkers *k, const struct passage *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i]->type != RECORD_ACTUAL) {
            continue;
        }
        const Models__ActualLRP *was = bearer(p->list[i]->before), *is = bearer(p->list[i]);
        if (is && is->stopping) {
            named(k, is)->released = true;
        } else if (is) {
            named(k, is);
        }
        if (was && strcmp(guid_of(was), guid_of(is)) != 0) {
            struct instance *left = named(k, was);
            left->released = left->released || !instance_stands(k, left); /* or under another key */
        }
    }
}
