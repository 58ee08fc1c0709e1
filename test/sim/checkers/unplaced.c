/* L2, of a cluster that is left alone: nothing waits for long while some cell, as it stands, would
 * take it. All instances are of one size, and fit every filter of every cell, but for those that no
 * cell can take (definitions.h), and those of node pools, which pools.c looks at. */
#include "rep/http/cell_state.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"
#include "test/sim/world/definitions.h"

#include "bbs/lrp/move.h"
#include "common/model/pool_tag.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <string.h>

/* What is unplaced is tried again so often (design.md 5), and what a back-off, a change of leaders
 * or a claim that comes to nothing may add. The converger asks every 30 s: that alone does not
 * suffice. */
#define TRIED_NS (10 * SECOND_NS)
#define SLACK_NS (10 * SECOND_NS)

/* And takes what is in no node pool. */
static bool is_present(struct checkers *k, struct arena *a, const struct node *cell)
{
    const Board__CellRecord *r =
        (const Board__CellRecord *)history_now(&k->history, key_cell(a, node_name(cell)));
    return r && r->state == BOARD__CELL_RECORD__STATE__PRESENT && !*r->pool;
}

static void note_any(void *context, const struct past *p)
{
    (void)p;
    *(bool *)context = true;
}

/* A hole: while there are slices nothing is demanded, for what is free may be theirs
 * (test/decide/test_schedule_naive.c holds that it is). */
static bool has_slices(const struct checkers *k)
{
    bool any = false;
    history_each(&k->history, "slice/", note_any, &any);
    return any;
}

unsigned checkers_room(struct checkers *k, struct node *cell)
{
    if (!node_up(cell) || node_paused(cell) || has_slices(k)) {
        return 0;
    }
    SCOPED_ARENA(a);
    const struct rep *rep = (const struct rep *)node_role(cell);
    const Cell__CellState *s = cell_state_make(rep, &a);
    const Cell__Resources *left = s->availableresources;
    int64_t room = earlier_ns(left->containers, left->memorymb / CLUSTER_INSTANCE_MEMORY_MB);
    room = earlier_ns(room, left->diskmb / CLUSTER_INSTANCE_DISK_MB);
    bool takes = is_present(k, &a, cell) && cell_state_is_well(rep) && !s->evacuating && room > 0;
    return takes ? (unsigned)room : 0;
}

/* Since when each cell has had room at each look, and the board could be written; NEVER_NS = it has
 * none. */
static void note_room(struct checkers *k)
{
    int64_t now = world_now(k->cluster->world);
    bool writable = !model_etcd_alarmed(store_etcd(k->cluster->store));
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        bool has_room = writable && checkers_room(k, k->cluster->cells[i]);
        k->room_since_ns[i] = has_room ? earlier_ns(k->room_since_ns[i], now) : NEVER_NS;
    }
}

static bool is_held(struct node *cell, const Models__ActualLRPKey *key)
{
    SCOPED_ARENA(a);
    bool held = false;
    const Cell__CellState *s =
        node_up(cell) ? cell_state_make((const struct rep *)node_role(cell), &a) : NULL;
    for (size_t i = 0; s && i < s->n_lrps; i++) {
        const Cell__LRP *lrp = s->lrps[i];
        held = held ||
               (lrp->index == key->index && strcmp(lrp->process_guid, key->process_guid) == 0 &&
                model_containers_busy(node_containers(cell), lrp->instance_guid));
    }
    return held;
}

int64_t checkers_held_ns(struct checkers *k, const Models__ActualLRPKey *key, unsigned cell)
{
    SCOPED_ARENA(a);
    const char *name = arena_printf(&a, "%u/%s/%d", cell, key->process_guid, key->index);
    int64_t *at = map_get(&k->held, name);
    if (is_held(k->cluster->cells[cell], key)) {
        at = at ? at : ARENA_NEW(&k->history.arena, int64_t);
        *at = world_now(k->cluster->world);
        map_put(&k->held, name, at);
    }
    return at ? *at : 0;
}

/* Since when one and the same cell would have taken this instance; NEVER_NS = none would. */
static int64_t room_since(struct checkers *k, const Models__ActualLRPKey *key)
{
    int64_t first = NEVER_NS;
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        int64_t since = k->room_since_ns[i], well = k->well_since_ns[i];
        int64_t held = checkers_held_ns(k, key, i);
        since = since > well ? since : well;
        first = earlier_ns(first, since > held ? since : held);
    }
    return first;
}

static bool in_pool(const Models__DesiredLRP *d)
{
    bool tagged = false;
    for (size_t i = 0; i < d->n_placementtags; i++) {
        tagged = tagged || pool_tag_is(d->placementtags[i]);
    }
    return tagged;
}

bool fits_no_cell(struct checkers *k, const char *process_guid)
{
    SCOPED_ARENA(a);
    const Models__DesiredLRP *d =
        (const Models__DesiredLRP *)history_now(&k->history, key_desired(&a, process_guid));
    return d && (in_pool(d) || strcmp(d->root_fs, NO_ROOT_FS) == 0 ||
                 d->memory_mb >= TOO_MUCH_MEMORY_MB);
}

struct waiting {
    struct checkers *k;
    int64_t since_ns; /* somebody could have placed it, had a cell had room */
};

static void judge(void *context, const struct past *p)
{
    struct waiting *w = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    if (strcmp(r->state, "UNCLAIMED") != 0 || r->stopping ||
        r->presence != MODELS__ACTUAL_LRP__PRESENCE__ORDINARY) {
        return;
    }
    SCOPED_ARENA(a);
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    const struct past *desired = map_get(&w->k->history.now, key_desired(&a, key->process_guid));
    if (desired && !fits_no_cell(w->k, key->process_guid) &&
        index_desired((const Models__DesiredLRP *)desired->message, key->index)) {
        int64_t since = p->at_ns > desired->at_ns ? p->at_ns : desired->at_ns;
        int64_t room = room_since(w->k, key);
        since = since > w->since_ns ? since : w->since_ns;
        since = since > room ? since : room;
        if (world_now(w->k->cluster->world) - since > TRIED_NS + SLACK_NS) {
            checkers_report(w->k, "L2", "%s/%d waits (\"%s\"), and for %lld s a cell has had room",
                            key->process_guid, key->index, r->placement_error,
                            (long long)((world_now(w->k->cluster->world) - since) / SECOND_NS));
        }
    }
}

void check_unplaced(struct checkers *k)
{
    struct arena a;
    struct waiting w = {.k = k};
    note_room(k);
    arena_init(&a);
    const struct past *leader_lock = map_get(&k->history.now, key_lead(&a, "auctioneer"));
    arena_done(&a);
    if (leader_lock && leader_lock->message) {
        /* Who places may have followed a bbs that lacked it. */
        int64_t whole_ns = checkers_whole_ns(k);
        w.since_ns = leader_lock->at_ns > whole_ns ? leader_lock->at_ns : whole_ns;
        history_each(&k->history, "actual/", judge, &w);
    }
}
