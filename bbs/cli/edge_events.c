/* What `bbs events` says of a centre and its sites (docs/edge.md, Commands). Nothing of a
 * definition or a variable is in it. */
#include "bbs/cli/record_text.h"
#include "common/model/keys.h"

#include "board.pb-c.h"

/* "cluster acme/paris/dev/web" */
const char *record_edge_name(struct arena *a, enum record_type type, const char *key)
{
    const char *noun = type == RECORD_CLUSTERINST    ? "cluster"
                       : type == RECORD_APPINST      ? "app instance"
                       : type == RECORD_CLOUDLETINFO ? "crm"
                                                     : record_type_name(type);
    return arena_printf(a, "%s %s", noun, key_edge_name(a, key));
}

/* How the operation goes, or ended: "", ", overdue" or ", no room". */
static const char *operation_text(struct arena *a, const Board__EdgeOperation *o)
{
    return !o            ? ""
           : o->error[0] ? arena_printf(a, ", %s", o->error)
           : o->overdue  ? ", overdue"
                         : "";
}

const char *record_text_app(struct arena *a, const ProtobufCMessage *m)
{
    const Board__EdgeAppRecord *r = (const Board__EdgeAppRecord *)m;
    return arena_printf(a, "revision %llu", (unsigned long long)r->revision);
}

const char *record_text_flavor(struct arena *a, const ProtobufCMessage *m)
{
    const Board__NodeSize *s = ((const Board__FlavorRecord *)m)->size;
    return s ? arena_printf(a, "%d MiB memory, %d MiB disk, %d containers", (int)s->memory_mb,
                            (int)s->disk_mb, (int)s->containers)
             : "";
}

const char *record_text_cloudlet(struct arena *a, const ProtobufCMessage *m)
{
    const Board__CloudletRecord *c = (const Board__CloudletRecord *)m;
    const char *version = *c->version ? arena_printf(a, ", version %s", c->version) : "";
    const char *target = c->upgrading ? arena_printf(a, ", to version %s", c->target_version) : "";
    return arena_printf(a, "%s%s%s%s", c->state, version, target, operation_text(a, c->operation));
}

const char *record_text_cloudlet_info(struct arena *a, const ProtobufCMessage *m)
{
    const Board__CloudletInfoRecord *i = (const Board__CloudletInfoRecord *)m;
    return arena_printf(a, "%s, session %llu%s%s%s%s", i->state, (unsigned long long)i->session,
                        *i->version ? ", version " : "", i->version, i->n_errors ? ", " : "",
                        i->n_errors ? i->errors[0] : "");
}

const char *record_text_maintenance(struct arena *a, const ProtobufCMessage *m)
{
    const Board__MaintenanceRecord *r = (const Board__MaintenanceRecord *)m;
    return arena_printf(a, "%s%s%s%s", r->state, r->overdue ? ", overdue" : "",
                        *r->error ? ", " : "", r->error);
}

const char *record_text_clusterinst(struct arena *a, const ProtobufCMessage *m)
{
    const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)m;
    const Board__ClusterSpec *s = c->spec;
    const char *spec =
        !s ? ""
           : arena_printf(a, ", %u node%s of %s%s", s->nodes, s->nodes == 1 ? "" : "s", s->flavor,
                          s->dedicated ? " on cells of its own" : "");
    return arena_printf(a, "%s%s%s%s%s", c->state, spec, *c->reserved_by ? ", reserved by " : "",
                        c->reserved_by, operation_text(a, c->operation));
}

const char *record_text_appinst(struct arena *a, const ProtobufCMessage *m)
{
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)m;
    const Board__AppInstSpec *s = r->spec;
    const char *spec = !s ? ""
                          : arena_printf(a, ", revision %llu of flavor %s",
                                         (unsigned long long)s->revision, s->flavor);
    const char *runs =
        s && r->reported ? arena_printf(a, ", %u of %u RUNNING", r->reported->running, s->instances)
                         : "";
    return arena_printf(a, "%s%s%s%s", r->state, spec, runs, operation_text(a, r->operation));
}

const char *record_text_slice(struct arena *a, const ProtobufCMessage *m)
{
    const Board__SliceRecord *s = (const Board__SliceRecord *)m;
    return arena_printf(a, "%u node%s for %s, %zu use%s", s->nodes, s->nodes == 1 ? "" : "s",
                        s->owner, s->n_uses, s->n_uses == 1 ? "" : "s");
}
