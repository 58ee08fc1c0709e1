#include "bbs/service/desired_ops.h"

#include "bbs/lrp/desired.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

static char *text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

struct nested_op service_desire_op(struct arena *a, const Models__DesiredLRP *run,
                                   int32_t instances, const char *uid, const char *path)
{
    assert(run->process_guid[0] && instances >= 0);
    Models__DesireLRPRequest *q = arena_message(a, &models__desire_lrprequest__descriptor);
    Models__DesiredLRP *lrp = arena_copy(a, run, sizeof(*run));
    lrp->instances = instances;
    lrp->owner = service_owner_of(a, uid, path);
    q->desired_lrp = lrp;
    return (struct nested_op){.row = &desire_row, .request = &q->base};
}

struct nested_op service_update_op(struct arena *a, const char *process_guid,
                                   Models__DesiredLRPUpdate *update)
{
    assert(process_guid[0] && update);
    Models__UpdateDesiredLRPRequest *q =
        arena_message(a, &models__update_desired_lrprequest__descriptor);
    q->process_guid = text(process_guid);
    q->update = update;
    return (struct nested_op){.row = &update_row, .request = &q->base};
}

struct nested_op service_remove_op(struct arena *a, const char *process_guid)
{
    assert(process_guid[0]);
    Models__RemoveDesiredLRPRequest *q =
        arena_message(a, &models__remove_desired_lrprequest__descriptor);
    q->process_guid = text(process_guid);
    return (struct nested_op){.row = &remove_row, .request = &q->base};
}

bool service_owns(struct arena *a, const char *uid, const char *path,
                  const Models__DesiredLRP *desired)
{
    return service_owner_is(desired->owner) &&
           strcmp(desired->owner->uid, service_owner_of(a, uid, path)->uid) == 0;
}
