/* Several clusters in one world, each with a store of its own. */
#include "test/sim/stories/story.h"

#define DOWN_NS (20 * SECOND_NS)

/* Nobody of one cluster asks anybody of another. */
static void note_stranger(void *strangers, const struct world_answer *answer)
{
    const struct cluster *from = node_cluster(answer->from), *by = node_cluster(answer->by);
    *(unsigned *)strangers += from != by;
}

/* Its store holds its own cells, leaders and instances, and no more. */
static void holds_its_own(struct cluster *c, const struct cluster *other, int instances)
{
    assert_int_equal(cluster_records(c, "cell/"), (int)c->options.cells);
    assert_int_equal(cluster_records(c, "actual/"), instances);
    assert_true(cluster_leader(c, "auctioneer") >= 0 && cluster_leader(c, "converger") >= 0);
    for (unsigned i = 0; i < other->options.cells; i++) {
        assert_int_equal(cluster_on(c, other->cells[i]), 0);
    }
}

void story_two_clusters_go_on_alone(struct cluster *c)
{
    unsigned strangers = 0;
    says(c, "Beside the centre there is a site: bbs, cells, leaders and an etcd of its own. Both "
            "have an app of the same name.");
    world_observe(c->world,
                  &(struct world_observer){.answered = note_stranger, .context = &strangers});
    struct cluster_options options = c->options;
    options.name = "site";
    options.cells = 2;
    struct cluster *site = cluster_beside(c, &options);
    assert_true(world_run_until(c->world, SETTLE_NS, cluster_ready, site));
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    assert_int_equal(cluster_desire(site, NULL, "web", 3), 0);
    await_running(c, "web", 2);
    await_running(site, "web", 3);

    says(c, "The etcd of the site is down. The centre goes on, and what runs at the site runs on.");
    store_down(site->store, DOWN_NS);
    assert_int_not_equal(cluster_upsert_domain(site, 0), 0);
    assert_int_equal(cluster_scale(c, "web", 4), 0);
    await_running(c, "web", 4);
    assert_int_equal(cluster_count(site, "web", "RUNNING"), 3);
    assert_int_equal(cluster_containers(site), 3);
    world_run(c->world, DOWN_NS);

    says(c, "It is back, and that of the centre is down: now the site goes on.");
    store_down(c->store, DOWN_NS);
    assert_int_not_equal(cluster_upsert_domain(c, 0), 0);
    assert_int_equal(cluster_scale(site, "web", 5), 0);
    await_running(site, "web", 5);
    assert_int_equal(cluster_containers(c), 4);
    world_run(c->world, DOWN_NS);

    says(c, "Both are up, and neither has ever heard of the other.");
    assert_int_equal(cluster_scale(c, "web", 1), 0);
    await_running(c, "web", 1);
    holds_its_own(c, site, 1);
    holds_its_own(site, c, 5);
    assert_int_equal(strangers, 0);
    world_observe(c->world, &(struct world_observer){0});
}
