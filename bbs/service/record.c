#include "bbs/service/record.h"

#include "bbs/service/service.h"
#include "common/base/message.h"
#include "common/lifecycle/service.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

int service_state(const Board__ServiceRecord *s)
{
    return s ? lifecycle_state(&service_lifecycle, s->state) : SERVICE_NONE;
}

bool service_is_app(const Board__ServiceRecord *s)
{
    return strcmp(s->uid, SERVICE_APPS_UID) == 0;
}

const char *service_hash(const char *process_guid)
{
    assert(process_guid[0]);
    const char *dash = strrchr(process_guid, '-');
    return dash && dash[1] ? dash + 1 : process_guid;
}

Board__ServiceRecord *service_new(struct arena *a, const char *id, const char *uid,
                                  const char *system, const char *path, struct moment now)
{
    assert(id[0] && uid[0] && path[0] == '/');
    Board__ServiceRecord *s = arena_message(a, &board__service_record__descriptor);
    s->id = arena_strdup(a, id);
    s->uid = arena_strdup(a, uid);
    s->system = arena_strdup(a, system);
    s->path = arena_strdup(a, path);
    s->created_at = now.wall_ns;
    return s;
}

/* With room for more. */
static void copy_revisions(struct arena *a, Board__ServiceRecord *s, size_t more)
{
    Board__Revision **list = ARENA_ARRAY(a, s->n_revisions + more, Board__Revision *);
    for (size_t i = 0; i < s->n_revisions; i++) {
        list[i] = arena_copy(a, s->revisions[i], sizeof(*s->revisions[i]));
    }
    s->revisions = list;
}

Board__ServiceRecord *service_copy(struct arena *a, const Board__ServiceRecord *before)
{
    Board__ServiceRecord *s = arena_copy(a, before, sizeof(*before));
    copy_revisions(a, s, 0);
    return s;
}

void service_set_state(Board__ServiceRecord *s, int state, struct moment now)
{
    assert(state > SERVICE_NONE && state < SERVICE_STATE_COUNT);
    if (service_state(s) != state) {
        s->state = (char *)(uintptr_t)service_lifecycle.states[state];
        s->since = now.wall_ns > s->since ? now.wall_ns : s->since;
    }
}

Board__Revision *service_other(const Board__ServiceRecord *s, const char *hash)
{
    for (size_t i = s->n_revisions; i > 0; i--) {
        Board__Revision *r = s->revisions[i - 1];
        if (r->instances > 0 && strcmp(r->hash, hash) != 0) {
            return r;
        }
    }
    return NULL;
}

/* At the end of the list, with room for it. */
Board__Revision *service_newest(struct arena *a, Board__ServiceRecord *s, const char *hash)
{
    Board__Revision *r = service_revision(s, hash);
    if (!r) {
        r = arena_message(a, &board__revision__descriptor);
        copy_revisions(a, s, 1);
        s->revisions[s->n_revisions++] = r;
        return r;
    }
    size_t at = 0;
    while (s->revisions[at] != r) {
        at++;
    }
    memmove(&s->revisions[at], &s->revisions[at + 1],
            (s->n_revisions - at - 1) * sizeof(*s->revisions));
    s->revisions[s->n_revisions - 1] = r;
    return r;
}

static void set_metric_tags(struct arena *a, Board__ServiceRecord *s,
                            const Models__DesiredLRP *lrp)
{
    typedef Board__ServiceRecord__MetricTagsEntry entry_type;
    s->n_metric_tags = lrp->n_metric_tags;
    s->metric_tags = ARENA_ARRAY(a, lrp->n_metric_tags, entry_type *);
    for (size_t i = 0; i < lrp->n_metric_tags; i++) {
        s->metric_tags[i] =
            arena_message(a, &board__service_record__metric_tags_entry__descriptor);
        s->metric_tags[i]->key = lrp->metric_tags[i]->key;
        s->metric_tags[i]->value = lrp->metric_tags[i]->value;
    }
}

Board__Revision *service_aim(struct arena *a, Board__ServiceRecord *s, const char *hash,
                             const Models__DesiredLRP *lrp, struct moment now)
{
    Board__Revision *r = service_newest(a, s, hash);
    if (!r->hash[0]) {
        r->hash = arena_strdup(a, hash);
        r->process_guid = lrp->process_guid;
        r->created_at = now.wall_ns;
    }
    s->target = r->hash;
    s->routes = lrp->routes;
    s->annotation = lrp->annotation;
    set_metric_tags(a, s, lrp);
    s->on_cell_loss = lrp->on_cell_loss;
    s->on_evacuate = lrp->on_evacuate;
    s->generation++;
    s->progress_at = now.wall_ns;
    assert(s->n_revisions > 0 && service_target(s) == r);
    return r;
}

static bool is_idle(const Board__ServiceRecord *s, const Board__Revision *r)
{
    return r->instances == 0 && strcmp(r->hash, s->target) != 0;
}

const char *service_superfluous(const Board__ServiceRecord *s)
{
    size_t idle = 0;
    const char *oldest = NULL;
    for (size_t i = s->n_revisions; i > 0; i--) {
        if (is_idle(s, s->revisions[i - 1])) {
            idle++;
            oldest = s->revisions[i - 1]->hash;
        }
    }
    return idle > SERVICE_REVISIONS_KEPT ? oldest : NULL;
}

void service_drop(Board__ServiceRecord *s, const char *hash)
{
    size_t kept = 0;
    assert(strcmp(hash, s->target) != 0); /* what is to run is never dropped */
    for (size_t i = 0; i < s->n_revisions; i++) {
        if (strcmp(s->revisions[i]->hash, hash) != 0) {
            s->revisions[kept++] = s->revisions[i];
        }
    }
    s->n_revisions = kept;
}

/* ---- What changes in place ------------------------------------------------------------------- */

static const Models__ProtoRoutes *routes_of(const Models__DesiredLRP *lrp)
{
    static const Models__ProtoRoutes none = MODELS__PROTO_ROUTES__INIT;
    return lrp->routes ? lrp->routes : &none;
}

static const Models__ProtoRoutes__RoutesEntry *route_named(const Models__ProtoRoutes *routes,
                                                           const char *key)
{
    for (size_t i = 0; i < routes->n_routes; i++) {
        if (strcmp(routes->routes[i]->key, key) == 0) {
            return routes->routes[i];
        }
    }
    return NULL;
}

/* Maps come in any order. */
static bool same_routes(const Models__ProtoRoutes *x, const Models__ProtoRoutes *y)
{
    bool same = x->n_routes == y->n_routes;
    for (size_t i = 0; i < x->n_routes && same; i++) {
        const Models__ProtoRoutes__RoutesEntry *other = route_named(y, x->routes[i]->key);
        const ProtobufCBinaryData *value = &x->routes[i]->value;
        same = other && other->value.len == value->len &&
               (value->len == 0 || memcmp(other->value.data, value->data, value->len) == 0);
    }
    return same;
}

static bool same_tag(const Models__DesiredLRP *lrp, const char *key,
                     const Models__MetricTagValue *value)
{
    for (size_t i = 0; i < lrp->n_metric_tags; i++) {
        if (strcmp(lrp->metric_tags[i]->key, key) == 0) {
            const Models__MetricTagValue *is = lrp->metric_tags[i]->value;
            return is && value ? message_equal(&is->base, &value->base) : is == value;
        }
    }
    return false;
}

/* Tags can be replaced, never emptied (behaviour.md 8.3): none wanted fits any. */
static bool same_tags(const Models__DesiredLRP *is, const Models__DesiredLRP *wanted)
{
    bool same = wanted->n_metric_tags == 0 || is->n_metric_tags == wanted->n_metric_tags;
    for (size_t i = 0; i < wanted->n_metric_tags && same; i++) {
        same = same_tag(is, wanted->metric_tags[i]->key, wanted->metric_tags[i]->value);
    }
    return same;
}

/* The entry types of the two messages' maps are twins, but not one. */
static void take_tags(struct arena *a, const Models__DesiredLRP *from, Models__DesiredLRPUpdate *to)
{
    typedef Models__DesiredLRPUpdate__MetricTagsEntry entry_type;
    to->n_metric_tags = from->n_metric_tags;
    to->metric_tags = ARENA_ARRAY(a, from->n_metric_tags, entry_type *);
    for (size_t i = 0; i < from->n_metric_tags; i++) {
        to->metric_tags[i] =
            arena_message(a, &models__desired_lrpupdate__metric_tags_entry__descriptor);
        to->metric_tags[i]->key = from->metric_tags[i]->key;
        to->metric_tags[i]->value = from->metric_tags[i]->value;
    }
}

bool service_fits(struct arena *a, const Models__DesiredLRP *desired,
                  const Models__DesiredLRP *wanted)
{
    return !service_update(a, desired, wanted);
}

Models__DesiredLRPUpdate *service_update(struct arena *a, const Models__DesiredLRP *desired,
                                         const Models__DesiredLRP *wanted)
{
    Models__DesiredLRPUpdate *u = arena_message(a, &models__desired_lrpupdate__descriptor);
    bool differs = false;
    if (!same_routes(routes_of(desired), routes_of(wanted))) {
        u->routes = (Models__ProtoRoutes *)(uintptr_t)routes_of(wanted);
        differs = true;
    }
    if (strcmp(desired->annotation, wanted->annotation) != 0) {
        u->optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
        u->annotation = wanted->annotation;
        differs = true;
    }
    if (!same_tags(desired, wanted)) {
        take_tags(a, wanted, u);
        differs = true;
    }
    if (desired->on_cell_loss != wanted->on_cell_loss) {
        u->optional_on_cell_loss_case =
            MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_CELL_LOSS_ON_CELL_LOSS;
        u->on_cell_loss = wanted->on_cell_loss;
        differs = true;
    }
    if (desired->on_evacuate != wanted->on_evacuate) {
        u->optional_on_evacuate_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE;
        u->on_evacuate = wanted->on_evacuate;
        differs = true;
    }
    return differs ? u : NULL;
}
