/* L1 to L3 once faults have stopped: what is not as it should be, in words. What only time brings
 * about (the back-off of a crash) and what nobody may decide (a stale domain) is not asked for. */
#include "bbs/lrp/move.h"
#include "models/actual_lrp.pb-c.h"
#include "common/lifecycle/task.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <string.h>

/* What the auctioneer tries every 10 s is explained soon after; what the converger finds by a full
 * pass (every 30 s) is repaired soon after. */
#define UNEXPLAINED_NS (15 * SECOND_NS)
#define OVERDUE_NS (40 * SECOND_NS)

/* All cells live and take what is asked for, so this is why something waits. */
static const char no_room[] = "insufficient resources";

struct convergence {
    struct checkers *k;
    struct buf *why;
    unsigned unplaced;
};

static int container_of(struct checkers *k, const Models__ActualLRPInstanceKey *key)
{
    int cell = checkers_cell_named(k, key->cell_id);
    return cell < 0 ? -1
                    : model_containers_state(node_containers(k->cluster->cells[cell]),
                                             key->instance_guid);
}

static void tell(struct convergence *c, const Models__ActualLRP *r, const char *what)
{
    buf_printf(c->why, "%s/%d %s%s%s: %s; ", r->actual_lrp_key->process_guid,
               r->actual_lrp_key->index, r->state, r->stopping ? " stopping " : " ",
               r->actual_lrp_instance_key ? r->actual_lrp_instance_key->cell_id : "", what);
}

static const Models__DesiredLRP *desired_of(struct checkers *k, const char *process_guid)
{
    SCOPED_ARENA(a);
    return (const Models__DesiredLRP *)history_now(&k->history, key_desired(&a, process_guid));
}

static bool wanted(const struct convergence *c, const Models__ActualLRP *r)
{
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    return index_desired(desired_of(c->k, key->process_guid), key->index);
}

/* Absence from its domain means something, for whoever has seen it since before the heal. */
static bool domain_is_fresh(const struct convergence *c, const char *domain)
{
    SCOPED_ARENA(a);
    const Board__DomainRecord *d = domain_of_board_generation(c->k, &a, domain);
    return d && d->ttl_s == 0;
}

static void note_shared(void *context, const struct past *p)
{
    bool *shared = context;
    *shared = *shared || !*((const Board__CellRecord *)p->message)->pool;
}

/* Each cell is in a node pool, so what is in none has no compatible cell. */
static bool all_in_pools(struct checkers *k)
{
    bool shared = false;
    history_each(&k->history, "cell/", note_shared, &shared);
    return !shared;
}

static void judge_unclaimed(struct convergence *c, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    int64_t waits_ns = world_now(c->k->cluster->world) - p->at_ns;
    /* Room that slices have for themselves is nobody else's; also not for the new one of an update,
     * which runs beside the old one (docs/edge.md, Slices). */
    bool kept = strstr(r->placement_error, "kept for slices") != NULL;
    bool never = kept || fits_no_cell(c->k, r->actual_lrp_key->process_guid) || all_in_pools(c->k);
    c->unplaced += !never;
    if (!*r->placement_error && waits_ns > UNEXPLAINED_NS) {
        tell(c, r, "waits, and nothing says why (L2)");
    } else if (!never && *r->placement_error &&
               strncmp(r->placement_error, no_room, strlen(no_room)) != 0) {
        tell(c, r, "waits, and what is said is not why (L2)");
    }
}

/* A restart that is due must happen, whatever `since` says: counted from the crash, or from the
 * start of who must find it out. */
static void judge_crashed(struct convergence *c, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    const struct cluster *cluster = c->k->cluster;
    int64_t wait_ns = crash_wait_ns(&c->k->settings.crash, r->crash_count), from_ns = p->at_ns;
    for (unsigned i = 0; i < cluster->options.bbs; i++) {
        int64_t started_ns = node_started_ns(cluster->bbs[i]);
        from_ns = started_ns > from_ns ? started_ns : from_ns;
    }
    if (wait_ns != NEVER_NS && from_ns + wait_ns + OVERDUE_NS < world_now(cluster->world)) {
        tell(c, r, "its back-off is over (L1)");
    }
}

static bool cell_known(struct checkers *k, struct arena *a, const Models__ActualLRP *r)
{
    return history_now(&k->history, key_cell(a, r->actual_lrp_instance_key->cell_id)) != NULL;
}

/* It waits for a cell that may never come. */
static bool holds(const struct convergence *c, const Models__ActualLRP *r)
{
    SCOPED_ARENA(a);
    const Models__DesiredLRP *d = desired_of(c->k, r->actual_lrp_key->process_guid);
    bool gone = !cell_known(c->k, &a, r);
    return gone && d && d->on_cell_loss == MODELS__ON_CELL_LOSS__HOLD;
}

/* The SUSPECT record of a cell that never was stands until its replacement runs, and that one is
 * judged by itself: there may be no room for it, or it crashes. */
static void judge_suspect(struct convergence *c, const Models__ActualLRP *r)
{
    SCOPED_ARENA(a);
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    const Models__ActualLRP *ordinary = (const Models__ActualLRP *)history_now(
        &c->k->history, key_actual(&a, key->process_guid, key->index, 0));
    bool waits = ordinary && strcmp(ordinary->state, "RUNNING") != 0;
    if (cell_known(c->k, &a, r) || !waits) {
        tell(c, r, "is SUSPECT, and its cell is there or its replacement runs (L1)");
    }
}

/* What the last update said, of an instance of this definition: its rep was told, by who updated or
 * by the converger. */
static bool shows_version(const struct convergence *c, const Models__ActualLRP *r)
{
    const Models__DesiredLRP *d = desired_of(c->k, r->actual_lrp_key->process_guid);
    const char *desired = "", *shown = "";
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        desired = strcmp(d->metric_tags[i]->key, "version") == 0 ? d->metric_tags[i]->value->static_
                                                                 : desired;
    }
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        shown = strcmp(r->metric_tags[i]->key, "version") == 0 ? r->metric_tags[i]->value : shown;
    }
    return strcmp(desired, shown) == 0 || strcmp(d->modification_tag->epoch, r->definition_id) != 0;
}

static void judge_wanted(struct convergence *c, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    if (r->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT) {
        judge_suspect(c, r);
    } else if (r->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
        tell(c, r, "is EVACUATING, and no cell evacuates (L3)");
    } else if (strcmp(r->state, "UNCLAIMED") == 0) {
        judge_unclaimed(c, p);
    } else if (strcmp(r->state, "CRASHED") == 0) {
        judge_crashed(c, p);
    } else if (holds(c, r)) {
        return;
    } else if (strcmp(r->state, "CLAIMED") == 0) {
        tell(c, r, "claimed and not started (L1)");
    } else if (container_of(c->k, r->actual_lrp_instance_key) != CONTAINER_RUNNING) {
        tell(c, r, "its container does not run (L1)");
    } else if (!shows_version(c, r)) {
        tell(c, r, "it shows another metric tag than is desired (L1)");
    }
}

/* A client that speaks for a cell started it: so it is wanted again (behaviour.md 10.2). */
static bool started_by_client(const struct past *p)
{
    while (p->before && p->before->message) {
        p = p->before;
    }
    return p->cause && strcmp(p->cause->actor, actor_name(ACTOR_CLIENT)) == 0 &&
           strcmp(p->cause->move, "start") == 0;
}

/* An explicit request of this board generation was to let it run no more, and its record was made
 * after that: a container of its definition came back and was taken for wanted. */
static bool came_back(struct checkers *k, const struct past *p)
{
    if (started_by_client(p)) {
        return false;
    }
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    SCOPED_ARENA(a);
    const struct past *was =
        map_get(&k->history.now, key_removal(&a, key->process_guid, r->definition_id));
    bool found = false;
    for (; was && was->revision > history_board_generation(&k->history); was = was->before) {
        const Board__RemovalRecord *removal = (const Board__RemovalRecord *)was->message;
        found = found || (removal && key->index >= removal->from_index &&
                          was->revision < p->create_revision);
    }
    return found;
}

static void judge(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    if (r->stopping) {
        tell(c, r, "was asked to stop and still stands (L3)");
    } else if (wanted(c, r)) {
        judge_wanted(c, p);
    } else if (*r->definition_id && came_back(c->k, p)) {
        tell(c, r, "its removal was asked, and it has come back (L3)");
    } else if (domain_is_fresh(c, r->actual_lrp_key->domain)) {
        tell(c, r, "is not desired, and its domain is fresh (L1)");
    }
}

static void judge_missing(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    SCOPED_ARENA(a);
    for (int32_t i = 0; i < d->instances; i++) {
        const struct past *last =
            map_get(&c->k->history.now, key_actual(&a, d->process_guid, i, 0));
        if (!last || !last->message) {
            buf_printf(c->why, "%s/%d has no record, since its %s (L1); ", d->process_guid, i,
                       last && last->cause ? last->cause->move : "desire");
        }
    }
}

static void judge_cell(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Board__CellRecord *r = (const Board__CellRecord *)p->message;
    if (r->state == BOARD__CELL_RECORD__STATE__LOST) {
        buf_printf(c->why, "%s is LOST, and it lives (L1); ", r->presence->cell_id);
    }
    if (r->evacuating) {
        buf_printf(c->why, "%s still evacuates (L3); ", r->presence->cell_id);
    }
}

/* What has a callback URL is delivered or given up, and what a cell could take was taken. What
 * nobody resolves is kept, for as long as was asked: some seconds, or a day. */
static void judge_task(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Models__Task *t = (const Models__Task *)p->message;
    bool told = t->task_definition && *t->task_definition->completion_callback_url;
    if (t->state != MODELS__TASK__STATE__Completed || told) {
        buf_printf(c->why, "%s is %s%s and does not end, since its %s (L1); ", t->task_guid,
                   task_lifecycle.states[t->state], told ? " with a callback" : "",
                   p->cause ? p->cause->move : "?");
    } else if (t->optional_keep_s_case) {
        buf_printf(c->why, "%s was to be kept for %u s, and is kept on (L1); ", t->task_guid,
                   t->keep_s);
    }
}

static void judge_limiter(void *context, const struct past *p)
{
    struct convergence *c = context;
    buf_printf(c->why, "%s still stands, and no cell is silent (L1); ", p->key);
}

static void judge_job(void *context, const struct past *p)
{
    struct convergence *c = context;
    buf_printf(c->why, "%s is not done (L3); ", p->key);
}

/* Free places on all cells but those of node pools, for what waits here is of none (fits_no_cell).
 * Every instance is as large as any other. */
static unsigned places(struct checkers *k)
{
    struct cluster *c = k->cluster;
    unsigned free = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        SCOPED_ARENA(a);
        const Board__CellRecord *r = (const Board__CellRecord *)history_now(
            &k->history, key_cell(&a, node_name(c->cells[i])));
        unsigned used = r && *r->pool ? cluster_cell_instances(c)
                                      : (unsigned)model_containers_running(
                                            node_containers(c->cells[i]));
        free += used < cluster_cell_instances(c) ? cluster_cell_instances(c) - used : 0;
    }
    return free;
}

static void judge_containers(struct convergence *c)
{
    struct cluster *cluster = c->k->cluster;
    for (unsigned i = 0; i < cluster->options.cells; i++) {
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(node_containers(cluster->cells[i]), n));
             n++) {
            if (task_known(c->k, guid)) {
                buf_printf(c->why, "cell-%u still runs task %s (L3); ", i + 1, guid);
                continue;
            }
            if (unit_known(c->k, guid)) {
                continue; /* units.c */
            }
            const struct instance *known = map_get(&c->k->instances, guid);
            if (!known || !instance_stands(c->k, known)) {
                buf_printf(c->why, "cell-%u runs %s/%d without a record (L1); ", i + 1,
                           known ? known->process_guid : "?", known ? known->index : 0);
            }
        }
    }
}

void check_converged(struct checkers *k, struct buf *ret_why)
{
    struct convergence c = {.k = k, .why = ret_why};
    history_each(&k->history, "actual/", judge, &c);
    history_each(&k->history, "desired/", judge_missing, &c);
    history_each(&k->history, "job/", judge_job, &c);
    history_each(&k->history, "cell/", judge_cell, &c);
    history_each(&k->history, "brake/", judge_limiter, &c);
    history_each(&k->history, "task/", judge_task, &c);
    judge_containers(&c);
    if (c.unplaced && places(k)) {
        buf_printf(ret_why, "%u instances wait, and there are %u places (L2); ", c.unplaced,
                   places(k));
    }
}
