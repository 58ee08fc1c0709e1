#include "bbs/lrp/group.h"

#include "bbs/lrp/actual.h"
#include "common/lifecycle/actual_lrp.h"

#include <string.h>

bool group_shows_suspect(const char *ordinary, const char *suspect)
{
    return suspect[0] && strcmp(ordinary, "RUNNING") != 0;
}

const Models__ActualLRP *group_resolve(const Models__ActualLRPGroup *group)
{
    int state = actual_state(group->instance);
    bool by_instance = !group->evacuating || state == ACTUAL_LRP_RUNNING ||
                       state == ACTUAL_LRP_CRASHED;
    return by_instance ? group->instance : group->evacuating;
}
