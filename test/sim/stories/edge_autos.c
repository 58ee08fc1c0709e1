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
