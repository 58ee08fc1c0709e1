#include "bbs/cli/lrps.h"
#include "common/model/service_owner.h"
#include "common/model/service_record.h"

#include <string.h>

const char *lrp_app(const Models__DesiredLRP *lrp)
{
    const Models__Owner *o = lrp->owner;
    const char *app = service_owner_app(o);
    bool earlier = o && strcmp(o->kind, APP_OWNER_KIND) == 0 && o->uid[0];
    return app ? app : earlier ? o->uid : NULL;
}

void apply_take(struct arena *a, const Board__ServiceResponse *answer, bool again,
                struct application *app)
{
    const Board__ServiceRecord *s = answer->service;
    app->text = answer->text;
    if (again && !answer->changed) {
        app->text = s->generation <= 1 ? "created" : "applied";
    }
    app->instances = s->instances;
    app->old = ARENA_ARRAY(a, s->n_revisions, const char *);
    app->old_count = 0;
    for (size_t i = 0; i < s->n_revisions; i++) {
        const Board__Revision *r = s->revisions[i];
        if (r->instances > 0 && strcmp(r->hash, s->target) != 0) {
            app->old[app->old_count++] = r->process_guid;
        }
    }
}

static const char *target_guid(const Board__ServiceRecord *s)
{
    const Board__Revision *target = service_target(s);
    return target ? target->process_guid : "";
}

static bool goes(const Board__ServiceRecord *s)
{
    return !s || strcmp(s->state, "deleting") == 0;
}

static bool is_target(const Board__ServiceRecord *s, const char *process_guid)
{
    return !goes(s) && strcmp(target_guid(s), process_guid) == 0;
}

const char *apply_rival(struct arena *a, const Board__ServiceRecord *s, const char *process_guid)
{
    if (goes(s)) {
        return arena_printf(a, "somebody else removed it meanwhile (%.120s)", process_guid);
    }
    return is_target(s, process_guid)
               ? NULL
               : arena_printf(a,
                              "another apply is in between: %.120s stands beside it, and "
                              "replaces it when it runs",
                              target_guid(s));
}

const char *apply_other(struct arena *a, const Board__ServiceRecord *s, const char *process_guid,
                        int32_t desired)
{
    const char *rival = desired > 0 ? apply_rival(a, s, process_guid) : NULL;
    if (rival) {
        return rival;
    }
    if (is_target(s, process_guid) && s->instances != desired) {
        return arena_printf(a, "somebody else %s %d meanwhile",
                            desired > 0 ? "scaled it to" : "made it again, or scaled it, to",
                            (int)s->instances);
    }
    return NULL;
}

bool apply_stands(const Board__ServiceRecord *s, const char *process_guid)
{
    for (size_t i = 0; i < s->n_revisions; i++) {
        if (strcmp(s->revisions[i]->process_guid, process_guid) == 0) {
            return s->revisions[i]->instances > 0;
        }
    }
    return false;
}
