/* What the converger repairs, and who repairs when it is gone. */
#include "test/sim/stories/story.h"

void story_nothing_stops_in_a_stale_domain(struct cluster *c)
{
    says(c, "What is desired is lost from the store, its containers run. The domain is not "
            "fresh: nothing is stopped for being absent, for minutes. Then somebody upserts the "
            "domain, and all of it stops; nobody upserts it again, and it expires.");
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    cluster_lose(c, "desired/web");
    world_run(c->world, 95 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_upsert_domain(c, 20), 0);
    await_gone(c, "web");
    assert_int_equal(cluster_records(c, "domain/"), 1);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_records(c, "domain/"), 0);
}

void story_a_lost_index_is_made_again(struct cluster *c)
{
    says(c, "An instance that no cell took loses its record: the converger makes it again. The "
            "auctioneer is killed and hears of all that waits when it is back.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await(c, "web", "RUNNING", 1);
    world_kill(c->world, c->auctioneer);
    assert_int_equal(cluster_scale(c, "web", 3), 0);
    await(c, "web", "UNCLAIMED", 2);
    cluster_lose(c, "actual/web/0000000001/0");
    await(c, "web", "", 2);
    await(c, "web", "", 3);
    world_run(c->world, 65 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    world_start(c->world, c->auctioneer);
    await(c, "web", "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 3);
}

void story_converger_killed(struct cluster *c)
{
    says(c, "The leading converger is killed and started again: its successor waits for the "
            "lock to be displaced, then does its work.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
    world_kill(c->world, c->converger);
    world_run(c->world, 20 * SECOND_NS);
    world_start(c->world, c->converger);
    world_run(c->world, 7 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    await(c, "web", "RUNNING", 1);
}

struct shown {
    struct cluster *cluster;
    const char *version;
    int count;
};

static bool shows(void *shown)
{
    const struct shown *s = shown;
    return cluster_tagged(s->cluster, "web", s->version) == s->count;
}

/* A notice that is lost is repeated by the converger's next full pass: 30 s. */
static void await_version(struct cluster *c, const char *version, int count)
{
    struct shown shown = {c, version, count};
    if (!world_run_until(c->world, 30 * SECOND_NS + SETTLE_NS, shows, &shown)) {
        fail_msg("%d instances show version %s after 40 s, not %d",
                 cluster_tagged(c, "web", version), version, count);
    }
}

void story_refresh(struct cluster *c)
{
    says(c, "The metric tags of two instances are changed: a bbs tells their reps, which note the "
            "new ones and start again with them. What a rep is told is lost when they are changed "
            "once more: the converger sees what the instance shows, and it is told again.");
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    await(c, "web", "RUNNING", 2);
    world_trace_calls(c->world, true);
    assert_int_equal(cluster_tag(c, "web", "2"), 0);
    await_version(c, "2", 2);
    world_trace_calls(c->world, false);
    struct node *cell = cell_with_a_container(c);
    int others = 2 - cluster_on(c, cell);
    cut_way(c, NULL, cell, true);
    assert_int_equal(cluster_tag(c, "web", "3"), 0);
    await_version(c, "3", others);
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_tagged(c, "web", "3"), others);
    cut_way(c, NULL, cell, false);
    await_version(c, "3", 2);
    says(c, "The rep is killed and started again, and the instances lose their records: it starts "
            "them with what it has noted.");
    world_kill(c->world, cell);
    world_start(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_tagged(c, "web", "3"), 2);
    cluster_lose(c, "actual/web/0000000000/0");
    cluster_lose(c, "actual/web/0000000001/0");
    await_version(c, "3", 2);
    await_running(c, "web", 2);
}
