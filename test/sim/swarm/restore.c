/* etcd goes back to what it was: every write that came later has never been, and revisions repeat.
 * In the order of docs/restore.md: the bbs are stopped, etcd is restored, the board generation is
 * made again, the bbs are started. Reps, auctioneers, convergers and clients go on, and so do all
 * other faults. Or nobody knows of it, and no book is followed until somebody has noticed. */
#include <string.h>

#include "test/sim/model/etcd.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

#define LASTS_NS (6 * SECOND_NS) /* at most, until the board generation is again */

enum { PERCENT = 4, LOSS_PERCENT = 6 /* of the seeds */ };

static bool is_full(const struct swarm *s)
{
    bool full = model_etcd_alarmed(store_etcd(s->cluster->store));
    for (unsigned i = 0; i < s->open_count; i++) {
        full = full || s->open[i].kind == FAULT_NO_SPACE;
    }
    return full;
}

/* Every bbs is stopped; etcd goes back, and the board generation is made again before any bbs
 * starts. What others do goes on. */
static bool begin(struct swarm *s)
{
    if (is_full(s)) {
        return false;
    }
    int64_t last = model_etcd_revision(store_etcd(s->cluster->store));
    int64_t first = model_etcd_compacted(store_etcd(s->cluster->store));
    first = first > s->oldest_revision ? first : s->oldest_revision;
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        if (node_up(s->nodes[i])) {
            world_kill(s->world, s->nodes[i]);
        }
        s->restart_ns[i] = NEVER_NS;
    }
    /* Mostly little is lost. */
    int64_t back = swarm_draw(s, 0, swarm_chance(s, 50) ? (last - first) / 8 : last - first);
    store_restore(s->cluster->store, last - back, swarm_draw(s, 0, 3 * SECOND_NS));
    checkers_restored(&s->checkers, last - back);
    s->restoring = true;
    return true;
}

void restore_end(struct swarm *s, struct open_fault *f)
{
    cluster_new_board_generation(s->cluster, "again");
    checkers_committed(&s->checkers, NULL); /* before a compaction hides what it deleted */
    s->restoring = false;
}

void restore_plan(struct swarm *s, uint64_t seed, int64_t duration_ns)
{
    struct random aside;
    /* The first draw hangs on the second number alone: another one than calm_plan()'s. */
    random_seed(&aside, (uint64_t[2]){seed, seed ^ 0x726573746f7265});
    s->oldest_revision = model_etcd_revision(store_etcd(s->cluster->store));
    if (random_below(&aside, 100) < PERCENT && !s->calm) {
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

/* ---- Behind everybody's back ---- */

#define FOLLOWED_NS                                                                                \
    (15 * SECOND_NS) /* after the heal every role follows a bbs again, and hears of */
#define HEARD_NS (5 * SECOND_NS)     /* what is lost */
#define NOTICED_NS                                                                                 \
    (12 * SECOND_NS) /* from the start of the last bbs: a role tries again after 5 s */

enum { TEXT_BYTES = 512 };

static void note_text(void *text, int status, struct bytes body)
{
    size_t size = status != 503 ? 0 : body.size < TEXT_BYTES - 1 ? body.size : TEXT_BYTES - 1;
    memcpy(text, body.data, size);
    ((char *)text)[size] = '\0';
}

/* Asks every bbs; false if one does not say what happened and what to do. */
static bool all_say_so(struct swarm *s)
{
    char *text[CLUSTER_BBS_MAX];
    bool all = true;
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        text[i] = arena_alloc(&s->arena, TEXT_BYTES);
        world_send(s->world, node_url(s->nodes[i]), "/v1/ping", NULL, SECOND_NS, note_text,
                   text[i]);
    }
    swarm_run_to(s, world_now(s->world) + 2 * SECOND_NS);
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        all = all && strstr(text[i], "lost acknowledged writes") && strstr(text[i], "bbs restore");
    }
    return all;
}

/* What has ended of itself since the heal is started again. */
static void run_on(struct swarm *s, int64_t duration_ns)
{
    int64_t end_ns = world_now(s->world) + duration_ns;
    while (world_now(s->world) < end_ns && checkers_clean(&s->checkers)) {
        swarm_supervise(s);
        swarm_run_to(s, earlier_ns(end_ns, world_now(s->world) + SECOND_NS / 2));
    }
}

static void go_back(struct swarm *s, int64_t image, struct random *aside)
{
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        if (node_up(s->nodes[i])) {
            world_kill(s->world, s->nodes[i]);
        }
    }
    store_restore(s->cluster->store, image, (int64_t)random_below(aside, 3 * SECOND_NS));
    checkers_restored(&s->checkers, image);
    s->went_back = true;
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        run_on(s, (int64_t)random_below(aside, 2 * SECOND_NS));
        if (!node_up(s->nodes[i])) {
            checkers_restarted(&s->checkers, s->nodes[i]);
            world_start(s->world, s->nodes[i]);
        }
    }
}

static void demand_notice(struct swarm *s, const char *when)
{
    if (checkers_clean(&s->checkers) && !all_say_so(s)) {
        checkers_report(&s->checkers, "S5",
                        "etcd lost acknowledged writes and not every bbs says so %s", when);
    }
}

void loss_befalls(struct swarm *s, uint64_t seed)
{
    struct random aside;
    random_seed(&aside, (uint64_t[2]){seed, seed ^ 0x6c6f7373});
    if (s->calm || random_below(&aside, 100) >= LOSS_PERCENT || is_full(s) ||
        !checkers_clean(&s->checkers)) {
        return;
    }
    run_on(s, FOLLOWED_NS);
    int64_t last = model_etcd_revision(store_etcd(s->cluster->store));
    int64_t first = model_etcd_compacted(store_etcd(s->cluster->store));
    first = first > s->oldest_revision ? first : s->oldest_revision;
    first = first > history_board_generation(&s->checkers.history)
                ? first
                : history_board_generation(&s->checkers.history);
    int64_t back = (int64_t)random_below(&aside, 1 + (uint64_t)(last - first) / 4);
    run_on(s, HEARD_NS);
    go_back(s, last - back, &aside);
    s->result->faults[FAULT_LOST_WRITES]++;
    swarm_run_to(s, world_now(s->world) + NOTICED_NS);
    demand_notice(s, "in time");
    swarm_run_to(s, world_now(s->world) + (int64_t)random_below(&aside, 60 * SECOND_NS));
    demand_notice(s, "any more");
    cluster_new_board_generation(s->cluster, "after the loss");
    checkers_committed(&s->checkers, NULL);
    s->went_back = false;
}

void loss_verb(struct swarm *s, struct node *cell, const struct verb_call *call)
{
    int number = checkers_cell(&s->checkers, cell);
    /* Its limit stops what is left, whatever the board says; a stop that was asked before the board
     * went back may have waited for its container to run; and one whose checks fail is ended. */
    bool evacuates = number >= 0 && s->checkers.evacuations[number].on;
    const struct instance *i = call->guid ? map_get(&s->checkers.instances, call->guid) : NULL;
    bool asked = i && i->released_early;
    asked = asked || (call->guid && checks_have_failed(&s->checkers, node_containers(cell),
                                                       call->guid));
    /* Its claim went back while its steps or its monitor were under way: as in check_verb(). */
    asked = asked || (i && !i->ran &&
                      model_containers_has_steps(node_containers(cell), call->guid));
    /* The cut of a run, whose time is over: a hook's, or a command's in its own container. */
    asked = asked || (call->step > 0 && call->guid && unit_known(&s->checkers, call->guid));
    if (s->went_back && !evacuates && !asked && call->verb == VERB_SIGNAL && !call->exec) {
        checkers_report(&s->checkers, "S8", "%s stops %s on a board that went back",
                        node_name(cell), call->guid);
    }
}
