/* Clusters that a centre makes for an app, and that are free again, or go. */
#include "test/sim/stories/edge_play.h"

#define MADE "acme/paris/corkboard/reservable0"
#define ONE "acme/paris/dev/autocluster1/dev/shop/1.0"
#define TWO "acme/paris/dev/autocluster2/dev/shop/1.0"

/* The 30 minutes of an idle one. */
#define IDLE_NS (1800 * SECOND_NS)

void story_an_app_in_a_cluster_made_for_it(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app is wanted in an automatic cluster. One is made for it first, and is its alone: "
            "a second app gets another.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_done(&x, federation_app(&x.f, &(struct federation_app){.name = APP, .flavor = "small"}));
    edge_done(&x, edge_create_instance(&x, ONE));
    assert_string_equal(federation_state(&x.f, ONE), "CREATING_DEPENDENCIES");
    edge_done(&x, edge_create_instance(&x, TWO));
    edge_await(&x, ONE, "READY");
    edge_await(&x, TWO, "READY");
    assert_string_equal(federation_object(&x.f, ONE).real_cluster, MADE);
    assert_string_equal(federation_object(&x.f, TWO).real_cluster,
                        "acme/paris/corkboard/reservable1");
    assert_int_equal(federation_held(x.paris, "").slices, 2);

    says(c, "The first goes, and its cluster is free: a third app has it, and nothing is made.");
    edge_done(&x, federation_delete(&x.f, ONE, 0));
    edge_await(&x, ONE, "");
    edge_done(&x, edge_create_instance(&x, "acme/paris/dev/autocluster3/dev/shop/1.0"));
    edge_await(&x, "acme/paris/dev/autocluster3/dev/shop/1.0", "READY");
    assert_string_equal(
        federation_object(&x.f, "acme/paris/dev/autocluster3/dev/shop/1.0").real_cluster, MADE);
    assert_int_equal(federation_held(x.paris, "").slices, 2);

    says(c, "Both go. Half an hour later their clusters do, and their numbers are free.");
    edge_done(&x, federation_delete(&x.f, "acme/paris/dev/autocluster3/dev/shop/1.0", 0));
    edge_done(&x, federation_delete(&x.f, TWO, 0));
    federation_run(&x.f, IDLE_NS - SECOND_NS);
    assert_int_equal(cluster_records(c, "clusterinst/"), 2);
    federation_run(&x.f, 60 * SECOND_NS);
    assert_int_equal(cluster_records(c, "clusterinst/"), 0);
    edge_holds_nothing(&x);
    edge_done(&x, edge_create_instance(&x, ONE));
    edge_await(&x, ONE, "READY");
    assert_string_equal(federation_object(&x.f, ONE).real_cluster, MADE);

    says(c, "The site goes with what it made of its own, and not with what others have there.");
    edge_refused(&x, federation_delete(&x.f, PARIS, 0), "is used by");
    edge_done(&x, federation_delete(&x.f, ONE, 0));
    edge_await(&x, ONE, "");
    edge_done(&x, federation_delete(&x.f, PARIS, 0));
    edge_await(&x, PARIS, "");
    edge_holds_nothing(&x);
    edge_end(&x);
}

void story_an_app_fails_in_a_cluster_made_for_it(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app does not start in the cluster that was made for it. It is undone; the cluster "
            "is free, goes when it was idle for its time, and its number is free again.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_done(&x, federation_app(&x.f, &(struct federation_app){.name = APP, .flavor = "small"}));
    federation_refuse_starts(x.paris, 1000000);
    edge_done(&x, edge_create_instance(&x, ONE));
    const char *uid = federation_object(&x.f, ONE).uid;
    edge_await(&x, ONE, "CREATING");
    assert_string_equal(federation_state(&x.f, MADE), "READY");
    edge_await_within(&x, ONE, "", 28 * 60 * SECOND_NS);
    assert_string_equal(federation_progress_end(&x.f, uid), "failed");
    edge_await_within(&x, MADE, "", IDLE_NS + 60 * SECOND_NS);
    edge_holds_nothing(&x);

    says(c, "The cluster itself fails: no cell has room for its node. Both are gone at once.");
    federation_refuse_starts(x.paris, 0);
    edge_done(&x, federation_flavor(&x.f, "half", 48));
    edge_done(&x, federation_create_cluster(&x.f, &(struct federation_cluster){
                                                      .name = WEB, .flavor = "half", .nodes = 2}));
    edge_await(&x, WEB, "READY");
    edge_done(&x, federation_flavor(&x.f, "quarter", 24));
    edge_done(&x, federation_create_instance(
                      &x.f, &(struct federation_instance){.name = ONE, .flavor = "quarter"}));
    edge_await(&x, ONE, "");
    edge_await_within(&x, MADE, "", IDLE_NS + 60 * SECOND_NS);
    assert_int_equal(federation_held(x.paris, "").slices, 1);

    says(c, "With a flavor that fits the same app is made.");
    edge_done(&x, edge_create_instance(&x, ONE));
    edge_await(&x, ONE, "READY");
    assert_string_equal(federation_object(&x.f, ONE).real_cluster, MADE);
    edge_end(&x);
}

void story_an_idle_cluster_is_reserved_as_it_goes(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c, "A cluster that was made for an app is idle for half an hour. Just then another app "
            "wants one.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_done(&x, federation_app(&x.f, &(struct federation_app){.name = APP, .flavor = "small"}));
    edge_done(&x, edge_create_instance(&x, ONE));
    edge_await(&x, ONE, "READY");
    edge_done(&x, federation_delete(&x.f, ONE, 0));
    edge_await(&x, ONE, "");
    federation_run(&x.f, IDLE_NS - 3 * SECOND_NS);
    world_run(w, (int64_t)random_below(world_random(w), 6000) * MILLISECOND_NS);
    edge_done(&x, edge_create_instance(&x, TWO));

    says(c, "It has that one, or a new one: in the end the app runs in a cluster that is its own, "
            "and no other cluster is left.");
    edge_await(&x, TWO, "READY");
    federation_run(&x.f, EDGE_SETTLE_NS);
    struct federation_object app = federation_object(&x.f, TWO);
    assert_string_equal(app.state, "READY");
    assert_string_equal(federation_state(&x.f, app.real_cluster), "READY");
    assert_int_equal(cluster_records(c, "clusterinst/"), 1);
    assert_int_equal(federation_held(x.paris, "").slices, 1);
    assert_int_equal(federation_running(x.paris, app.uid, app.digest), 1);
    edge_end(&x);
}
