/* E5, E7: what is desired in a slice stands only while the slice does, and is among its uses; uses
 * are within its nodes. That its cells hold only their own is seen with node pools (pools.c). */
#include "models/desired_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const Board__SliceUse *use_of(const Board__SliceRecord *slice, const char *guid)
{
    for (size_t i = 0; slice && i < slice->n_uses; i++) {
        if (strcmp(slice->uses[i]->process_guid, guid) == 0) {
            return slice->uses[i];
        }
    }
    return NULL;
}

/* As the record says it is. */
static void check_definition(struct checkers *k, const char *key, const Models__DesiredLRP *d)
{
    SCOPED_ARENA(a);
    const Board__SliceRecord *slice =
        (const Board__SliceRecord *)history_now(&k->history, key_slice(&a, d->slice));
    const Board__SliceUse *use = use_of(slice, d->process_guid);
    if (!use) {
        checkers_report(k, "E5", "%s is in slice %s, %s", key, d->slice,
                        slice ? "which has it not among its uses" : "which is not there");
    } else if (use->instances != d->instances || use->memory_mb != d->memory_mb ||
               use->disk_mb != d->disk_mb) {
        checkers_report(k, "E7", "%s is %d of %d MB, and a use of slice %s as %d of %d", key,
                        d->instances, d->memory_mb, d->slice, use->instances, use->memory_mb);
    }
}

struct in_slice {
    struct checkers *k;
    const char *uid;
};

static void note_in_slice(void *context, const struct past *p)
{
    const struct in_slice *x = context;
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    if (strcmp(d->slice, x->uid) == 0) {
        check_definition(x->k, p->key, d);
    }
}

/* Of an owner the definition with the most counts, for each resource. */
static bool is_within(const Board__SliceRecord *s, bool disk)
{
    int64_t sum = 0, all = (int64_t)s->nodes * (disk ? s->node->disk_mb : s->node->memory_mb);
    for (size_t i = 0; i < s->n_uses; i++) {
        int64_t most = 0;
        bool first = true;
        for (size_t j = 0; j < s->n_uses; j++) {
            const Board__SliceUse *u = s->uses[j];
            if (strcmp(u->owner, s->uses[i]->owner) == 0) {
                int64_t own = (int64_t)u->instances * (disk ? u->disk_mb : u->memory_mb);
                first = first && j >= i;
                most = own > most ? own : most;
            }
        }
        sum += first ? most : 0;
    }
    return sum <= all;
}

static void check_slice(struct checkers *k, const struct past *p)
{
    SCOPED_ARENA(a);
    const Board__SliceRecord *s = (const Board__SliceRecord *)p->message;
    const char *uid = key_component(&a, p->key, 1);
    history_each(&k->history, "desired/", note_in_slice, &(struct in_slice){k, uid});
    for (size_t i = 0; s && i < s->n_uses; i++) {
        const char *guid = s->uses[i]->process_guid;
        const Models__DesiredLRP *d =
            (const Models__DesiredLRP *)history_now(&k->history, key_desired(&a, guid));
        if (!d || strcmp(d->slice, uid) != 0) {
            checkers_report(k, "E7", "slice %s has the use %s, which is not there", uid, guid);
        }
    }
    if (s && !(is_within(s, false) && is_within(s, true))) {
        checkers_report(k, "E7", "the uses of slice %s are not within its %u nodes", uid, s->nodes);
    }
    k->seen[SEEN_SLICES]++;
}

void check_slices(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        if (one->type == RECORD_SLICE) {
            check_slice(k, one);
        } else if (one->type == RECORD_DESIRED && one->message &&
                   *((const Models__DesiredLRP *)one->message)->slice) {
            check_definition(k, one->key, (const Models__DesiredLRP *)one->message);
        }
    }
}
