#include "bbs/service/app_gather.h"

#include "bbs/domain/domain.h"
#include "bbs/lrp/validate.h"
#include "bbs/service/desired_ops.h"
#include "bbs/service/service.h"
#include "common/lifecycle/service.h"
#include "common/model/component_path.h"
#include "common/model/rolling.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

typedef Board__ServiceRequest__Action action_type;
#define ACTION(name) BOARD__SERVICE_REQUEST__ACTION__##name

/* ---- What a request may say ------------------------------------------------------------------ */

/* Letters, digits, - and _, not - first: as the command line takes them. */
static bool good_name(const char *name)
{
    size_t size = strlen(name);
    return good_guid(name) && name[0] != '-' && size <= 200;
}

/* The process is the app's by its name. */
static bool is_named(const char *process_guid, const char *name)
{
    size_t size = strlen(name);
    return strncmp(process_guid, name, size) == 0 &&
           (!process_guid[size] || (process_guid[size] == '-' && process_guid[size + 1]));
}

static void valid_target(struct validation *v, const Board__ServiceRequest *q)
{
    valid_desire(v, q->desired_lrp);
    valid_of_client(v, q->desired_lrp);
    if (q->desired_lrp && !is_named(q->desired_lrp->process_guid, q->name)) {
        say_field(v, "process_guid");
    }
    if (q->instances < -1) {
        say_field(v, "instances");
    }
    SCOPED_ARENA(a);
    const char *fault = q->rolling ? rolling_fault(&a, q->rolling) : NULL;
    if (fault) {
        say(v, fault);
    }
}

/* Of a service in a system. */
static void valid_of_system(struct validation *v, const Board__ServiceRequest *q)
{
    SCOPED_ARENA(a);
    if (q->action != ACTION(RESTART) && q->action != ACTION(NONE)) {
        say_field(v, "action");
    }
    const char *fault = component_path_fault(&a, q->path);
    if (fault) {
        say(v, fault);
    }
}

void valid_service(struct validation *v, const Board__ServiceRequest *q)
{
    if (q->action < ACTION(NONE) || q->action > ACTION(ABORT)) {
        say_field(v, "action");
    } else if (q->system[0]) {
        valid_of_system(v, q);
    } else if (!good_name(q->name)) {
        say_field(v, "name");
    } else if (q->action == ACTION(TARGET)) {
        valid_target(v, q);
    } else if (q->action == ACTION(SCALE) && (q->instances < 0 || q->instances > INSTANCES_MAX)) {
        say_field(v, "instances");
    }
}

/* ---- Which service --------------------------------------------------------------------------- */

/* One of a system is found by the system's uid: such requests take turns by its id. */
const char *app_target(struct arena *a, const struct op_input *in)
{
    const Board__ServiceRequest *q = in->request;
    return q->system[0] ? key_system(a, q->system)
                        : key_service(a, SERVICE_APPS_UID, service_app_path(a, q->name));
}

Board__ServiceRecord *app_new(struct arena *a, const char *name, const struct op_input *in)
{
    char id[GUID_BYTES];
    random_guid(in->random, id);
    return service_new(a, id, SERVICE_APPS_UID, "", service_app_path(a, name), in->now);
}

static void gather_service(struct view *v, const Board__ServiceRequest *q, struct app_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__SystemRecord *system =
        q->system[0] ? view_message(v, key_system(a, q->system)) : NULL;
    if (system) {
        s->service = view_message(v, key_service(a, system->uid, q->path));
    } else if (!q->system[0]) {
        s->service =
            view_message(v, key_service(a, SERVICE_APPS_UID, service_app_path(a, q->name)));
        adopt_gather(v, q->name, s->service, s);
    }
}

/* ---- What it is to run ----------------------------------------------------------------------- */

static const Board__Revision *revision_like(const Board__ServiceRecord *service, const char *text)
{
    for (size_t i = 0; i < service->n_revisions; i++) {
        const Board__Revision *r = service->revisions[i];
        if (strcmp(r->hash, text) == 0 || strcmp(r->process_guid, text) == 0) {
            return r;
        }
    }
    return NULL;
}

/* The newest but the target. */
static const Board__Revision *earlier(const Board__ServiceRecord *service)
{
    for (size_t i = service->n_revisions; i > 0; i--) {
        if (strcmp(service->revisions[i - 1]->hash, service->target) != 0) {
            return service->revisions[i - 1];
        }
    }
    return NULL;
}

/* Of an app that is there. */
static const Board__Revision *aim_of(const Board__ServiceRequest *q,
                                     const Board__ServiceRecord *service)
{
    switch (q->action) {
    case ACTION(SCALE):
        return service_target(service);
    case ACTION(ROLLBACK):
        return q->revision[0] ? revision_like(service, q->revision) : earlier(service);
    case ACTION(ABORT):
        return service_other(service, service->target);
    case ACTION(DELETE): {
        const Board__Revision *runs = service_other(service, "");
        return runs ? runs : service_target(service);
    }
    default:
        return NULL;
    }
}

/* As it is kept: what belongs to no one DesiredLRP of it. */
static const Models__DesiredLRP *definition(struct arena *a, const Models__DesiredLRP *asked)
{
    Models__DesiredLRP *d = arena_copy(a, asked, sizeof(*asked));
    d->owner = NULL;
    d->modification_tag = NULL;
    d->instances = 0;
    return d;
}

static void gather_kept(struct view *v, const Board__ServiceRequest *q, const char *path,
                        struct app_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Models__DesiredLRP *kept =
        view_message(v, key_revision(a, SERVICE_APPS_UID, path, s->aim));
    if (q->action != ACTION(TARGET)) {
        s->wanted = kept;
        s->kept = kept;
        return;
    }
    s->wanted = definition(a, q->desired_lrp);
    s->kept = kept && service_fits(a, kept, s->wanted);
}

/* The aim, what it runs, and what stands under its process_guid and under the app's name. */
static void gather_aim(struct view *v, const Board__ServiceRequest *q,
                       const Board__ServiceRecord *before, struct app_snapshot *s)
{
    struct arena *a = view_arena(v);
    const char *path = service_app_path(a, q->name), *guid = NULL;
    if (q->action == ACTION(TARGET)) {
        guid = q->desired_lrp->process_guid;
        s->aim = service_hash(guid);
    } else if (before) {
        const Board__Revision *r = aim_of(q, before);
        s->aim = r ? r->hash : NULL;
        guid = r ? r->process_guid : NULL;
    }
    if (!guid) {
        return;
    }
    gather_kept(v, q, path, s);
    s->desired = view_message(v, key_desired(a, guid));
    bool adopted = false;
    for (size_t i = 0; i < s->adopted_count; i++) {
        adopted = adopted || strcmp(s->adopted[i].desired->process_guid, guid) == 0;
    }
    s->stranger = s->desired && !adopted && !service_owns(a, SERVICE_APPS_UID, path, s->desired);
    if (q->action == ACTION(TARGET) && !before && strcmp(guid, q->name) != 0) {
        s->rival = view_message(v, key_desired(a, q->name));
    }
}

/* ---- What is done at once -------------------------------------------------------------------- */

static bool is_alone(const Board__ServiceRecord *before, const char *hash)
{
    return !before || !service_other(before, hash);
}

/* As many of the aim as are wanted then, with the routes, tags and policies of its definition. */
static void reach(struct arena *a, const Board__ServiceRequest *q,
                  const Board__ServiceRecord *before, struct app_snapshot *s)
{
    bool keeps = q->action == ACTION(TARGET) && q->instances < 0;
    int32_t instances = keeps && before               ? before->instances
                        : q->action == ACTION(TARGET) ? q->desired_lrp->instances
                                                      : q->instances;
    if (!s->desired && !s->wanted) {
        return;
    }
    s->at_once = true;
    if (!s->desired) {
        s->op = service_desire_op(a, s->wanted, instances, SERVICE_APPS_UID,
                                  service_app_path(a, q->name));
        return;
    }
    Models__DesiredLRPUpdate *u = s->wanted ? service_update(a, s->desired, s->wanted) : NULL;
    if (s->desired->instances != instances) {
        u = u ? u : arena_message(a, &models__desired_lrpupdate__descriptor);
        u->optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        u->instances = instances;
    }
    if (u) {
        s->op = service_update_op(a, s->desired->process_guid, u);
    }
}

/* Its routes go; without any it goes itself. */
static void leave(struct arena *a, struct app_snapshot *s)
{
    s->at_once = true;
    if (s->desired && s->desired->routes && s->desired->routes->n_routes > 0) {
        Models__DesiredLRPUpdate *u = arena_message(a, &models__desired_lrpupdate__descriptor);
        u->routes = arena_message(a, &models__proto_routes__descriptor);
        s->op = service_update_op(a, s->desired->process_guid, u);
    } else if (s->desired) {
        s->op = service_remove_op(a, s->desired->process_guid);
    }
}

/* Only of an app with one definition, which is not paused and was confirmed since the board was
 * restored: all else is the converger's. */
static bool may_be_at_once(const Board__ServiceRequest *q, const Board__ServiceRecord *before,
                           const struct app_snapshot *s)
{
    bool confirms = q->action == ACTION(TARGET) || q->action == ACTION(DELETE);
    bool confirmed =
        !before || confirms || strcmp(before->board_generation, s->board_generation) == 0;
    bool paused = before && before->paused && q->action != ACTION(DELETE);
    return s->aim && !s->stranger && !s->rival && s->adopted_count == 0 && !paused && confirmed &&
           is_alone(before, s->aim) && service_state(before) != SERVICE_DELETING;
}

/* An earlier revision may have a DesiredLRP without instances, and routes there. */
static bool another_stands(struct view *v, const Board__ServiceRecord *before, const char *aim)
{
    bool stands = false;
    for (size_t i = 0; i < before->n_revisions && !stands; i++) {
        const Board__Revision *r = before->revisions[i];
        stands = strcmp(r->hash, aim) != 0 &&
                 view_exists(v, key_desired(view_arena(v), r->process_guid));
    }
    return stands;
}

static void gather_op(struct view *v, const struct op_input *in, const Board__ServiceRecord *before,
                      struct app_snapshot *s)
{
    const Board__ServiceRequest *q = in->request;
    if (!may_be_at_once(q, before, s)) {
        return;
    }
    if (q->action == ACTION(TARGET) || (before && q->action == ACTION(SCALE))) {
        reach(view_arena(v), q, before, s);
    } else if (before && q->action == ACTION(DELETE) && !another_stands(v, before, s->aim)) {
        leave(view_arena(v), s);
    }
    if (s->op.row) {
        nested_gather(v, in, &s->op, 1);
    }
}

/* Its domain is vouched for, for ever: by `bbs apply`. */
static void gather_domain(struct view *v, const struct op_input *in, struct app_snapshot *s)
{
    const Board__ServiceRequest *q = in->request;
    Models__UpsertDomainRequest *upsert =
        arena_message(view_arena(v), &models__upsert_domain_request__descriptor);
    upsert->domain = q->desired_lrp->domain;
    s->domain = (struct nested_op){.row = &upsert_domain_row, .request = &upsert->base};
    nested_gather(v, in, &s->domain, 1);
}

/* What the next revision would push out of the list. */
static void gather_oldest(struct view *v, const Board__ServiceRecord *before,
                          struct app_snapshot *s)
{
    struct arena *a = view_arena(v);
    Board__ServiceRecord *after = service_copy(a, before);
    if (s->aim && s->wanted) {
        service_aim(a, after, s->aim, s->wanted, (struct moment){0});
    }
    s->oldest = service_superfluous(after);
    s->oldest_kept =
        s->oldest && view_message(v, key_revision(a, before->uid, before->path, s->oldest));
}

void app_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct app_snapshot *s = snapshot;
    const Board__ServiceRequest *q = in->request;
    s->board_generation = view_board_generation(v);
    gather_service(v, q, s);
    if (q->action == ACTION(NONE)) {
        s->unled = !view_exists(v, key_lead(view_arena(v), actor_name(ACTOR_CONVERGER)));
    }
    if (q->system[0] || q->action == ACTION(NONE)) {
        return;
    }
    const Board__ServiceRecord *before = adopt_service(view_arena(v), q->name, s, in);
    gather_aim(v, q, before, s);
    gather_op(v, in, before, s);
    if (q->action == ACTION(TARGET)) {
        gather_domain(v, in, s);
    }
    if (before) {
        gather_oldest(v, before, s);
    }
}
