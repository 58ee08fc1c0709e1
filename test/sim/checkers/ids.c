/* Ranges of user ids: what two containers of a cell have in common is no isolation. */
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

void check_ids(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    if (call->verb != VERB_PREPARE) {
        return;
    }
    struct model_containers *m = node_containers(cell);
    const char *other = model_containers_with_ids(m, call->spec->ids_first);
    if (call->spec->ids_first == 0 && !call->spec->privileged) {
        checkers_report(k, "ids", "container %s has no range of ids", call->guid);
    }
    /* Who joins shares them; and one may be asked for again, after no answer. */
    bool shares = other && model_containers_share(m, other, call->spec->join);
    if (other && strcmp(other, call->guid) != 0 && !shares) {
        checkers_report(k, "ids", "container %s has ids of container %s", call->guid, other);
    }
}
