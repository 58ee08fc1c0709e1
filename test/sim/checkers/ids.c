/* Ranges of user ids: what two containers of a cell have in common is no isolation. */
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

void check_ids(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    if (call->verb != VERB_PREPARE) {
        return;
    }
    const char *other = model_containers_with_ids(node_containers(cell), call->spec->ids_first);
    if (call->spec->ids_first == 0 && !call->spec->privileged) {
        checkers_report(k, "ids", "container %s has no range of ids", call->guid);
    }
    if (other && strcmp(other, call->guid) != 0) { /* else it is asked again, after no answer */
        checkers_report(k, "ids", "container %s has ids of container %s", call->guid, other);
    }
}
