/* A centre or a site that is as it was before, or another one.
 */
#include "test/sim/stories/edge_play.h"

#include "test/sim/model/etcd.h"

#define LATE "acme/paris/dev/late"

/* As an operator does it. */
static void restore(struct cluster *c, int64_t revision)
{
    store_restore(c->store, revision, SECOND_NS);
    world_run(c->world, 2 * SECOND_NS);
    cluster_new_board_generation(c, "again");
}

void story_a_site_is_restored(struct cluster *c)
{
    struct edge_play x;
    says(c, "A site is saved before an app comes there. With it, another cluster is deleted.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    const char *late = federation_object(&x.f, LATE).uid;
    int64_t revision = model_etcd_revision(store_etcd(x.paris->cluster->store));
    edge_with_shop(&x);
    edge_done(&x, federation_delete(&x.f, LATE, 0));
    edge_await(&x, LATE, "");
    struct federation_object shop = federation_object(&x.f, SHOP);

    says(c, "The site is restored: it makes again what it should have, and lets go of what it "
            "should not. At the centre no operation begins, and nothing is lost.");
    restore(x.paris->cluster, revision);
    federation_run(&x.f, 2 * EDGE_SETTLE_NS);
    assert_string_equal(federation_info_state(x.paris), "READY");
    assert_int_equal(federation_held(x.paris, late).slices, 0);
    assert_int_equal(federation_held(x.paris, "").slices, 1);
    struct federation_object after = federation_object(&x.f, SHOP);
    assert_string_equal(after.uid, shop.uid);
    assert_int_equal(after.request, shop.request);
    assert_string_equal(after.state, "READY");
    edge_shop_runs(&x);
    assert_int_equal(cluster_containers(x.paris->cluster), 2);
    edge_end(&x);
}

void story_a_site_is_built_again(struct cluster *c)
{
    struct edge_play x;
    says(c, "The machines of a site are lost, and its cluster is built again: another site, by its "
            "identity, with the same certificate.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    federation_kill_crm(&x.paris->crms[0]);
    store_restore(x.paris->cluster->store, x.empty_revision, SECOND_NS);
    world_run(c->world, 2 * SECOND_NS);
    cluster_new_board_generation(x.paris->cluster, "another");
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_int_equal(federation_held(x.paris, "").slices, 0);
    federation_start_crm(&x.paris->crms[0]);
    federation_run(&x.f, 2 * EDGE_SETTLE_NS);

    says(c, "The centre does not take it: it is not the site that had this name.");
    assert_string_equal(federation_info_state(x.paris), "OFFLINE");
    assert_int_equal(federation_held(x.paris, "").slices, 0);
    edge_refused(&x, edge_create_cluster(&x, LATE, 2), "is offline");

    says(c, "A client gives it the name. It is READY, and makes all that the centre wants there.");
    Board__EdgeMove *says_replace = federation_says(&x.f, 0);
    says_replace->replace_site = true;
    edge_done(&x, federation_ask(&x.f, "cloudlet", "update", PARIS, says_replace));
    assert_true(federation_await_info(x.paris, "READY", 2 * EDGE_SETTLE_NS));
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "READY");
    edge_shop_runs(&x);
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    edge_end(&x);
}

void story_a_full_disk_at_a_site(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c, "The disk of a site's etcd is full, again and again, while clusters and apps are "
            "made, changed and deleted there. Each operation waits for room, and is done.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_web(&x);
    edge_apply_shop(&x, "");
    static const char *const acts[] = {"create", "refresh", "delete"};
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        world_run(w, (int64_t)random_below(world_random(w), 1000) * MILLISECOND_NS);
        store_fill(x.paris->cluster->store, true);
        if (i == 1) {
            edge_apply_shop(&x, "another");
        }
        edge_done(&x, federation_ask(&x.f, "instance", acts[i], SHOP, federation_says(&x.f, 0)));
        for (unsigned k = 0; k < 20; k++) {
            federation_run(&x.f, SECOND_NS / 4);
            store_fill(x.paris->cluster->store, true);
        }
        store_fill(x.paris->cluster->store, false);
        edge_await(&x, SHOP, i == 2 ? "" : "READY");
        if (i < 2) {
            edge_shop_runs(&x);
        }
    }
    edge_done(&x, federation_delete(&x.f, WEB, 0));
    edge_await(&x, WEB, "");
    edge_holds_nothing(&x);
    edge_end(&x);
}
