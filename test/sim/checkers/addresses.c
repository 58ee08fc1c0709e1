/* Net info against the containers that it is about. */
#include "models/actual_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

/* What its container says, if it is there and runs. */
static void check_record(struct checkers *k, const Models__ActualLRP *r)
{
    SCOPED_ARENA(a);
    struct container_status s;
    const char *guid = r->actual_lrp_instance_key->instance_guid;
    int cell = checkers_cell_named(k, r->actual_lrp_instance_key->cell_id);
    if (cell < 0 ||
        !model_containers_status(node_containers(k->cluster->cells[cell]), guid, &a, &s) ||
        s.state != CONTAINER_RUNNING) {
        return;
    }
    const Models__ActualLRPNetInfo *net = r->actual_lrp_net_info;
    const char *told = net ? net->instance_address : "";
    const char *is = s.address ? s.address : net ? net->address : "";
    k->seen[SEEN_ADDRESSED] += s.address != NULL;
    if (strcmp(told, is) != 0) {
        checkers_report(k, "addresses", "%s/%d is told to be at %s, and is at %s",
                        r->actual_lrp_key->process_guid, r->actual_lrp_key->index, told, is);
    }
}

/* What was CLAIMED when its cell was evacuated is EVACUATING as it was stored: without an address
 * (behaviour.md 11). */
static bool was_claimed(const Models__ActualLRP *r)
{
    const Models__ActualLRPNetInfo *net = r->actual_lrp_net_info;
    return r->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING && (!net || !net->address[0]);
}

/* Holes: an outside client that starts an instance may say any address; and whatever lost the
 * address of an EVACUATING instance would pass. */
void check_address(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count && !k->strays; i++) {
        const struct past *now = p->list[i];
        const Models__ActualLRP *r =
            now->type == RECORD_ACTUAL ? (const Models__ActualLRP *)now->message : NULL;
        if (r && r->actual_lrp_instance_key && strcmp(r->state, "RUNNING") == 0 &&
            !was_claimed(r)) {
            check_record(k, r);
        }
    }
}
