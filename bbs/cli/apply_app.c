#include "bbs/cli/lrps.h"
#include "common/codec/json.h"

#include <string.h>

/* Whether two parts of a definition say the same, compared as the JSON they are shown as: the board
 * keeps routes as JSON texts and maps in any order. */
static bool same_json(const ProtobufCMessage *x, const ProtobufCMessage *y)
{
    struct buf a, b;
    buf_init(&a);
    buf_init(&b);
    bool same = json_encode(x, 0, &a, NULL) == 0 && json_encode(y, 0, &b, NULL) == 0 &&
                bytes_equal(buf_bytes(&a), buf_bytes(&b));
    buf_done(&a);
    buf_done(&b);
    return same;
}

static bool same_routes(const Models__DesiredLRP *x, const Models__DesiredLRP *y)
{
    const Models__ProtoRoutes none = MODELS__PROTO_ROUTES__INIT;
    return same_json(x->routes ? &x->routes->base : &none.base,
                     y->routes ? &y->routes->base : &none.base);
}

static bool same_tags(const Models__DesiredLRP *x, const Models__DesiredLRP *y)
{
    Models__DesiredLRPUpdate a = MODELS__DESIRED_LRPUPDATE__INIT, b = a;
    a.n_metric_tags = x->n_metric_tags;
    a.metric_tags = (Models__DesiredLRPUpdate__MetricTagsEntry **)x->metric_tags;
    b.n_metric_tags = y->n_metric_tags;
    b.metric_tags = (Models__DesiredLRPUpdate__MetricTagsEntry **)y->metric_tags;
    return same_json(&a.base, &b.base);
}

static Models__ProtoRoutes *routes_of(struct arena *a, const Models__DesiredLRP *lrp)
{
    if (lrp->routes) {
        return lrp->routes;
    }
    Models__ProtoRoutes *none = arena_message(a, &models__proto_routes__descriptor);
    return none;
}

/* The entry types of the two messages' maps are twins, but not one. */
static void copy_tags(struct arena *a, const Models__DesiredLRP *from, Models__DesiredLRPUpdate *to)
{
    to->n_metric_tags = from->n_metric_tags;
    to->metric_tags =
        ARENA_ARRAY(a, from->n_metric_tags, Models__DesiredLRPUpdate__MetricTagsEntry *);
    for (size_t i = 0; i < from->n_metric_tags; i++) {
        to->metric_tags[i] = ARENA_NEW(a, Models__DesiredLRPUpdate__MetricTagsEntry);
        models__desired_lrpupdate__metric_tags_entry__init(to->metric_tags[i]);
        to->metric_tags[i]->key = from->metric_tags[i]->key;
        to->metric_tags[i]->value = from->metric_tags[i]->value;
    }
}

static void compare(struct arena *a, const struct app *app, const Models__DesiredLRP *old,
                    struct apply_plan *plan)
{
    const Models__DesiredLRP *new = app->lrp;
    Models__DesiredLRPUpdate *u = arena_message(a, &models__desired_lrpupdate__descriptor);
    const char *text = NULL;
    if (strcmp(old->annotation, new->annotation) != 0) {
        u->optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
        u->annotation = new->annotation;
        text = "updated";
    }
    if (!same_routes(old, new)) {
        u->routes = routes_of(a, new);
        text = "updated";
    }
    if (!same_tags(old, new)) {
        copy_tags(a, new, u);
        text = "updated";
    }
    if (old->on_cell_loss != new->on_cell_loss) {
        u->optional_on_cell_loss_case =
            MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_CELL_LOSS_ON_CELL_LOSS;
        u->on_cell_loss = new->on_cell_loss;
        text = "updated";
    }
    if (old->on_evacuate != new->on_evacuate) {
        u->optional_on_evacuate_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE;
        u->on_evacuate = new->on_evacuate;
        text = "updated";
    }
    if (app->instances_given && old->instances != new->instances) {
        u->optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        u->instances = new->instances;
        text = arena_printf(a, "%sscaled from %d to %d", text ? "updated, " : "",
                            (int)old->instances, (int)new->instances);
    }
    plan->action = text ? APPLY_UPDATE : APPLY_UNCHANGED;
    plan->update = text ? u : NULL;
    plan->text = text ? text : "unchanged";
}

static bool is_of(const Models__DesiredLRP *lrp, const char *name)
{
    const Models__Owner *owner = lrp->owner;
    return owner && strcmp(owner->kind, APP_OWNER_KIND) == 0 && strcmp(owner->uid, name) == 0;
}

/* Sorts the processes of the app's name into the same definition, others, and strangers. */
static const Models__DesiredLRP *sort(struct arena *a, const struct app *app,
                                      Models__DesiredLRP *const *lrps, size_t count,
                                      struct apply_plan *plan, const Models__DesiredLRP **ret_other)
{
    const Models__DesiredLRP *same = NULL;
    plan->old = ARENA_ARRAY(a, count, Models__DesiredLRP *);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lrps[i]->process_guid, app->lrp->process_guid) == 0) {
            same = lrps[i];
        } else if (is_of(lrps[i], app->name)) {
            plan->old[plan->old_count++] = lrps[i];
        } else if (strcmp(lrps[i]->process_guid, app->name) == 0) {
            *ret_other = lrps[i];
        }
    }
    return same;
}

static int32_t most_instances(const struct apply_plan *plan)
{
    int32_t most = 0;
    for (size_t i = 0; i < plan->old_count; i++) {
        most = plan->old[i]->instances > most ? plan->old[i]->instances : most;
    }
    return most;
}

void apply_decide(struct arena *a, const struct app *app, Models__DesiredLRP *const *lrps,
                  size_t count, struct apply_plan *ret_plan)
{
    const Models__DesiredLRP *other = NULL;
    *ret_plan = (struct apply_plan){
        .action = APPLY_CREATE, .text = "created", .instances = app->lrp->instances};
    const Models__DesiredLRP *same = sort(a, app, lrps, count, ret_plan, &other);
    if (other && !same) {
        ret_plan->action = APPLY_REFUSE;
        ret_plan->text = "is the process_guid of a process that another client made; give the app "
                         "another name, or remove that one: bbs rm";
    } else if (same) {
        compare(a, app, same, ret_plan);
        ret_plan->instances = app->instances_given ? app->lrp->instances : same->instances;
    } else if (ret_plan->old_count > 0) {
        ret_plan->instances = app->instances_given ? app->lrp->instances : most_instances(ret_plan);
        ret_plan->text = arena_printf(a, "created with a new definition, beside %s",
                                      ret_plan->old[0]->process_guid);
    }
}

const char *apply_rival(struct arena *a, const struct app *app, Models__DesiredLRP *const *lrps,
                        size_t count)
{
    struct apply_plan now;
    apply_decide(a, app, lrps, count, &now);
    if (now.action == APPLY_CREATE || now.action == APPLY_REFUSE) {
        return "another apply was in between, or a removal: its definition is there no more";
    }
    return now.old_count == 0
               ? NULL
               : arena_printf(a,
                              "another apply is in between: %.120s stands beside it, and "
                              "replaces it when it runs",
                              now.old[0]->process_guid);
}
