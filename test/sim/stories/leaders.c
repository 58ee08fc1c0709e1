/* Leaders that die or sleep, their standbys, and what feed clients of the feed miss meanwhile. */
#include "test/sim/stories/story.h"

/* design.md 6: a leader of anything lost. */
#define LEADER_LOST_NS (8 * SECOND_NS)

struct wanted {
    struct cluster *cluster;
    const char *state;
    int count;
};

static bool has_come(void *context)
{
    const struct wanted *w = context;
    return cluster_count(w->cluster, "web", w->state) == w->count;
}

/* Within the bound of a leader's loss, and the second or two that the work itself takes. */
static void await_by_standby(struct cluster *c, const char *state, int count)
{
    struct wanted wanted = {c, state, count};
    assert_true(world_run_until(c->world, LEADER_LOST_NS + 2 * SECOND_NS, has_come, &wanted));
}

void story_auctioneer_leads_in_turn(struct cluster *c)
{
    says(c, "Of two auctioneers one leads. It is killed; what is desired now waits for the other "
            "one, which takes the lock when nobody has heard the first for 6 s.");
    int leader = cluster_leader(c, "auctioneer");
    world_kill(c->world, c->auctioneers[leader]);
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    await_by_standby(c, "RUNNING", 2);
    says(c, "The first one is back and stands by, until the second one is killed.");
    world_start(c->world, c->auctioneers[leader]);
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(cluster_leader(c, "auctioneer"), 1 - leader);
    world_kill(c->world, c->auctioneers[1 - leader]);
    assert_int_equal(cluster_scale(c, "web", 3), 0);
    await_by_standby(c, "RUNNING", 3);
}

void story_converger_leads_in_turn(struct cluster *c)
{
    says(c, "Of two convergers one leads. It is killed just as an instance loses its record: the "
            "other one makes it again.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await_running(c, "web", 1);
    for (unsigned auctioneers = 0; auctioneers < c->options.auctioneers; auctioneers++) {
        world_kill(c->world, c->auctioneers[auctioneers]);
    }
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    int leader = cluster_leader(c, "converger");
    world_kill(c->world, c->convergers[leader]);
    cluster_lose(c, "actual/web/0000000001/0");
    await_by_standby(c, "UNCLAIMED", 1);
    assert_int_equal(cluster_leader(c, "converger"), 1 - leader);
}

void story_deposed_leader_wakes(struct cluster *c)
{
    says(c, "Six instances fill the cluster. Three more are desired, and the leading auctioneer "
            "falls asleep in the middle of their auction. The other one leads and finds no room "
            "for them.");
    int status = PENDING, leader = cluster_leader(c, "auctioneer");
    assert_int_equal(cluster_desire(c, NULL, "web", 6), 0);
    await_running(c, "web", 6);
    cluster_scale_send(c, NULL, "web", 9, note_status, &status);
    await(c, "web", "UNCLAIMED", 3);
    world_run(c->world, 800 * MICROSECOND_NS);
    world_pause(c->world, c->auctioneers[leader]);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_leader(c, "auctioneer"), 1 - leader);
    says(c, "The first one wakes with all that has come meanwhile. It does not lead any more, and "
            "nothing that it had in hand is written.");
    world_wake(c->world, c->auctioneers[leader]);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_leader(c, "auctioneer"), 1 - leader);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 6);
    assert_int_equal(cluster_containers(c), 6);
    assert_int_equal(cluster_scale(c, "web", 6), 0);
    await_running(c, "web", 6);
}

void story_feed_reset(struct cluster *c)
{
    says(c, "The auctioneer sleeps. Meanwhile every bbs is started again, so none remembers what "
            "the auctioneer has seen. The instance that waited for room goes, another app comes.");
    assert_int_equal(cluster_desire(c, NULL, "web", 7), 0);
    await(c, "web", "RUNNING", 6);
    world_run(c->world, SECOND_NS);
    world_pause(c->world, c->auctioneer);
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_kill(c->world, c->bbs[i]);
        world_run(c->world, SECOND_NS);
        world_start(c->world, c->bbs[i]);
        world_run(c->world, 4 * SECOND_NS);
    }
    assert_int_equal(cluster_scale(c, "web", 5), 0);
    await(c, "web", "", 5);
    assert_int_equal(cluster_desire(c, NULL, "late", 1), 0);
    says(c, "It wakes, is told to begin again, and takes a snapshot: it places what is there, and "
            "nothing that is gone.");
    world_wake(c->world, c->auctioneer);
    await(c, "late", "RUNNING", 1);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", ""), 5);
    assert_int_equal(cluster_containers(c), 6);
}
