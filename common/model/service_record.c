#include "common/model/service_record.h"

#include "common/lifecycle/service.h"

#include <assert.h>
#include <string.h>

Board__Revision *service_revision(const Board__ServiceRecord *s, const char *hash)
{
    for (size_t i = 0; i < s->n_revisions; i++) {
        if (strcmp(s->revisions[i]->hash, hash) == 0) {
            return s->revisions[i];
        }
    }
    return NULL;
}

Board__Revision *service_target(const Board__ServiceRecord *s)
{
    assert(s);
    return service_revision(s, s->target);
}

bool service_revision_stands(const Board__ServiceRecord *s, const Board__Revision *r)
{
    bool goes = lifecycle_state(&service_lifecycle, s->state) == SERVICE_DELETING;
    return r->instances > 0 || (!goes && strcmp(r->hash, s->target) == 0);
}
