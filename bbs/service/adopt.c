/* Adoption: DesiredLRPs that an earlier version's `bbs apply` made become revisions of the app's
 * service. Nothing is started or stopped by it. */
#include "bbs/lrp/desired.h"
#include "bbs/service/app.h"
#include "bbs/service/service.h"
#include "common/base/message.h"
#include "common/lifecycle/service.h"
#include "common/model/rolling.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

/* Owner of what `bbs apply` desired before there were services: kind, and as uid the app's name. */
#define EARLIER_OWNER_KIND "cli"

/* ---- What is read ---------------------------------------------------------------------------- */

static bool is_revision(const Board__ServiceRecord *service, const char *process_guid)
{
    for (size_t i = 0; service && i < service->n_revisions; i++) {
        if (strcmp(service->revisions[i]->process_guid, process_guid) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_earlier(const Models__DesiredLRP *desired, const char *name)
{
    return desired->owner && strcmp(desired->owner->kind, EARLIER_OWNER_KIND) == 0 &&
           strcmp(desired->owner->uid, name) == 0;
}

static const char *key_adopted(struct arena *a, const char *name, const Models__DesiredLRP *d)
{
    return key_revision(a, SERVICE_APPS_UID, service_app_path(a, name),
                        service_hash(d->process_guid));
}

void adopt_gather(struct view *v, const char *name, const Board__ServiceRecord *service,
                  struct app_snapshot *s)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    Models__Owner owner = MODELS__OWNER__INIT;
    owner.kind = arena_strdup(a, EARLIER_OWNER_KIND);
    owner.uid = arena_strdup(a, name);
    selector.type = arena_strdup(a, record_type_name(RECORD_DESIRED));
    selector.owner = &owner;
    struct picked *list;
    size_t count = view_pick(v, &selector, &list);
    s->adopted = ARENA_ARRAY(a, SERVICE_ADOPTED_MAX, struct adopted_lrp);
    for (size_t i = 0; i < count && s->adopted_count < SERVICE_ADOPTED_MAX; i++) {
        const Models__DesiredLRP *d = view_message(v, list[i].key);
        if (d && is_earlier(d, name) && d->modification_tag &&
            !is_revision(service, d->process_guid)) {
            const char *key = key_run(a, d->process_guid, d->modification_tag->epoch);
            (void)view_get(v, key_adopted(a, name, d)); /* it is put */
            s->adopted[s->adopted_count++] =
                (struct adopted_lrp){.desired = d, .run = view_message(v, key)};
        }
    }
}

/* ---- What becomes of it ---------------------------------------------------------------------- */

Board__Rolling *app_rolling(struct arena *a, const Board__Rolling *asked)
{
    Board__Rolling *r = arena_message(a, &board__rolling__descriptor);
    if (asked) {
        *r = *asked;
    }
    r->max_surge = r->max_surge[0] ? r->max_surge : arena_strdup(a, "100%");
    r->max_unavailable = r->max_unavailable[0] ? r->max_unavailable : arena_strdup(a, "0");
    r->ready_s = r->ready_s ? r->ready_s : 1;
    r->deadline_s = r->deadline_s ? r->deadline_s : ROLLING_DEADLINE_S;
    return r;
}

static void aim_adopted(struct arena *a, Board__ServiceRecord *s, const Models__DesiredLRP *d,
                        struct moment now)
{
    Board__Revision *r = service_aim(a, s, service_hash(d->process_guid), d, now);
    r->instances = d->instances;
    s->domain = d->domain;
}

Board__ServiceRecord *adopt_service(struct arena *a, const char *name,
                                    const struct app_snapshot *s, const struct op_input *in)
{
    if (s->service && s->adopted_count == 0) {
        return service_copy(a, s->service);
    }
    if (!s->service && s->adopted_count == 0) {
        return NULL;
    }
    Board__ServiceRecord *after;
    if (s->service) {
        after = service_copy(a, s->service);
    } else {
        char id[GUID_BYTES];
        random_guid(in->random, id);
        after = service_new(a, id, SERVICE_APPS_UID, "", service_app_path(a, name), in->now);
        service_set_state(after, SERVICE_PENDING, in->now);
        after->board_generation = arena_strdup(a, s->board_generation);
        after->rolling = app_rolling(a, NULL);
    }
    const char *target = s->service ? s->service->target : NULL;
    int32_t most = 0;
    for (size_t i = 0; i < s->adopted_count; i++) {
        const Models__DesiredLRP *d = s->adopted[i].desired;
        aim_adopted(a, after, d, in->now);
        most = d->instances > most ? d->instances : most;
    }
    if (target) { /* what was to run is to run still */
        after->target = service_newest(a, after, target)->hash;
        after->routes = s->service->routes;
        after->annotation = s->service->annotation;
        after->n_metric_tags = s->service->n_metric_tags;
        after->metric_tags = s->service->metric_tags;
        after->on_cell_loss = s->service->on_cell_loss;
        after->on_evacuate = s->service->on_evacuate;
        after->domain = s->service->domain;
    } else {
        after->instances = most;
    }
    return after;
}

/* Both parts as one definition, as a client gave it: the parts have no field in common. */
static Models__DesiredLRP *joined(struct arena *a, const struct adopted_lrp *l)
{
    SCOPED_BUF(whole);
    buf_message(&whole, &l->desired->base);
    buf_message(&whole, &l->run->base);
    ProtobufCAllocator allocator = arena_protobuf(a);
    struct bytes bytes = buf_bytes(&whole);
    Models__DesiredLRP *d = models__desired_lrp__unpack(&allocator, bytes.size, bytes.data);
    assert(d);
    d->modification_tag = NULL;
    d->owner = NULL;
    d->instances = 0;
    return d;
}

void adopt_put(const char *name, const struct app_snapshot *s, const struct op_input *in,
               bool targets, struct plan *p)
{
    struct arena *a = p->arena;
    const char *path = s->adopted_count > 0 ? service_app_path(a, name) : "";
    for (size_t i = 0; i < s->adopted_count; i++) {
        const Models__DesiredLRP *before = s->adopted[i].desired;
        Models__DesiredLRP *d = arena_copy(a, before, sizeof(*before));
        d->owner = service_owner_of(a, SERVICE_APPS_UID, path);
        d->modification_tag = arena_copy(a, before->modification_tag,
                                         sizeof(*before->modification_tag));
        d->modification_tag->index++;
        plan_put(p, key_desired(a, d->process_guid), "update", ACTOR_BBS, &d->base);
        bool put_by_target = s->aim && s->wanted && !s->kept &&
                             strcmp(s->aim, service_hash(d->process_guid)) == 0;
        if (s->adopted[i].run && !(targets && put_by_target)) {
            plan_put(p, key_adopted(a, name, d), "target", in->actor,
                     &joined(a, &s->adopted[i])->base);
        }
    }
}
