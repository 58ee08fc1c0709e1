/* What `bbs events` says of the records of systems. */
#include "bbs/cli/name.h"
#include "bbs/cli/record_text.h"
#include "bbs/cli/system_tables.h"
#include "bbs/cli/system_tree.h"
#include "common/model/pool_record.h"

#include <string.h>

static const char *with(struct arena *a, const char *state, const char *message)
{
    return arena_printf(a, "%s%s%s", state, *message ? ", " : "", message);
}

const char *record_text_build(struct arena *a, const ProtobufCMessage *m)
{
    const Board__BuildRecord *b = (const Board__BuildRecord *)m;
    return arena_printf(a, "of %s, %s", build_target_text(a, b), with(a, b->state, b->message));
}

const char *record_text_deploy(struct arena *a, const ProtobufCMessage *m)
{
    const Board__DeployRecord *d = (const Board__DeployRecord *)m;
    return arena_printf(a, "of %s (%s), %s%s", d->path, deploy_target_text(a, d),
                        with(a, d->state, d->message),
                        d->completed_at ? ""
                        : d->reverting  ? ", goes back"
                        : d->paused     ? ", paused"
                                        : "");
}

const char *record_text_job_run(struct arena *a, const ProtobufCMessage *m)
{
    const Board__JobRunRecord *r = (const Board__JobRunRecord *)m;
    return arena_printf(a, "of %s, %s", r->path, with(a, r->state, r->message));
}

const char *record_text_pool(struct arena *a, const ProtobufCMessage *m)
{
    const Board__PoolRecord *p = (const Board__PoolRecord *)m;
    return with(a, arena_printf(a, "%s, %zu of %d cells", p->state, pool_cells(p), (int)p->wanted),
                p->message);
}

const char *record_text_service(struct arena *a, const ProtobufCMessage *m)
{
    const Board__ServiceRecord *s = (const Board__ServiceRecord *)m;
    return with(a, arena_printf(a, "%s, %s", s->state, counts_text(a, s)), s->message);
}

const char *record_text_system(struct arena *a, const ProtobufCMessage *m)
{
    const Board__SystemRecord *s = (const Board__SystemRecord *)m;
    return with(a, s->state, s->message);
}

const char *record_text_teardown(struct arena *a, const ProtobufCMessage *m)
{
    const Board__TeardownRecord *t = (const Board__TeardownRecord *)m;
    return with(a, t->state, t->message);
}

static const char *by_id(struct arena *a, const char *system, const char *id)
{
    return arena_printf(a, "%s %s", system, short_id(a, id));
}

static const char *service_name(struct arena *a, const Board__ServiceRecord *s)
{
    return *s->system ? name_of_part(a, s->system, s->path)
                      : arena_strdup(a, s->path + (*s->path == '/'));
}

const char *record_name(struct arena *a, enum record_type type, const ProtobufCMessage *m)
{
    switch (m ? type : RECORD_UNKNOWN) {
    case RECORD_BUILD:
        return by_id(a, ((const Board__BuildRecord *)m)->system,
                     ((const Board__BuildRecord *)m)->id);
    case RECORD_DEPLOY:
        return by_id(a, ((const Board__DeployRecord *)m)->system,
                     ((const Board__DeployRecord *)m)->id);
    case RECORD_POOL:
        return name_of_part(a, ((const Board__PoolRecord *)m)->system,
                            ((const Board__PoolRecord *)m)->name);
    case RECORD_JOB_RUN:
        return by_id(a, ((const Board__JobRunRecord *)m)->system,
                     ((const Board__JobRunRecord *)m)->id);
    case RECORD_TEARDOWN:
        return by_id(a, ((const Board__TeardownRecord *)m)->system,
                     ((const Board__TeardownRecord *)m)->id);
    case RECORD_SERVICE:
        return service_name(a, (const Board__ServiceRecord *)m);
    default:
        return "";
    }
}
