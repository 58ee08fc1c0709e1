/* etcd goes back to what it was: every write that came later has never been, and revisions repeat.
 * In the order of docs/restore.md: the bbs are stopped, etcd is restored, the epoch is made anew,
 * the bbs are started. Reps, auctioneers, convergers and clients go on, and so do all other faults.
 */
#include "test/sim/model_etcd.h"
#include "test/sim/swarm_parts.h"

#define LASTS_NS (6 * SECOND_NS) /* at most, until the epoch is anew */

enum { PERCENT = 4 /* of the seeds */ };

static bool is_full(const struct swarm *s)
{
    bool full = model_etcd_alarmed(world_etcd(s->world));
    for (unsigned i = 0; i < s->open_count; i++) {
        full = full || s->open[i].kind == FAULT_NO_SPACE;
    }
    return full;
}

/* Every bbs is stopped; etcd goes back, and the epoch is made anew before any bbs starts. What
 * others do goes on. */
static bool begin(struct swarm *s)
{
    if (is_full(s)) {
        return false;
    }
    int64_t last = model_etcd_revision(world_etcd(s->world));
    int64_t first = model_etcd_compacted(world_etcd(s->world));
    first = first > s->oldest_revision ? first : s->oldest_revision;
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        if (node_up(s->nodes[i])) {
            world_kill(s->world, s->nodes[i]);
        }
        s->restart_ns[i] = NEVER_NS;
    }
    /* Mostly little is lost. */
    int64_t back = swarm_draw(s, 0, swarm_chance(s, 50) ? (last - first) / 8 : last - first);
    world_restore(s->world, last - back, swarm_draw(s, 0, 3 * SECOND_NS));
    checkers_restored(&s->checkers, last - back);
    s->restoring = true;
    return true;
}

void restore_end(struct swarm *s, struct open_fault *f)
{
    (void)f;
    cluster_new_epoch(s->cluster, "anew");
    s->restoring = false;
}

void restore_plan(struct swarm *s, uint64_t seed, int64_t duration_ns)
{
    struct random aside;
    random_seed(&aside, (uint64_t[2]){0x726573746f7265, seed});
    s->oldest_revision = model_etcd_revision(world_etcd(s->world));
    if (random_below(&aside, 100) < PERCENT) {
        int64_t percent = 10 + (int64_t)random_below(&aside, 85);
        s->restore_ns = world_now(s->world) + duration_ns / 100 * percent;
    }
}

void restore_begin(struct swarm *s)
{
    struct open_fault f = {.kind = FAULT_RESTORE};
    if (s->restore_ns > world_now(s->world)) {
        return;
    }
    if (s->open_count == OPEN_FAULTS_MAX || !begin(s)) {
        s->restore_ns = world_now(s->world) + SECOND_NS;
        return;
    }
    s->restore_ns = NEVER_NS;
    s->result->faults[FAULT_RESTORE]++;
    f.until_ns = world_now(s->world) + swarm_draw(s, 50 * MILLISECOND_NS, LASTS_NS);
    s->open[s->open_count++] = f;
}
