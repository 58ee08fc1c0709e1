/* A centre and a site, each with an etcd of its own, and the CRM between them as it ships
 * (docs/edge.md). */
#include "test/sim/stories/edge_play.h"

void story_a_site_is_cut_off_and_goes_on(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app runs at its site, and the CRM vouches for its domain.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    const char *former = federation_object(&x.f, SHOP).digest;
    const char *uid = federation_object(&x.f, SHOP).uid;
    world_run(c->world, 30 * SECOND_NS);
    assert_int_equal(cluster_records(x.paris->cluster, "domain/edge."), 1);

    says(c,
         "The link is cut, for longer than the domain is fresh. A container ends, and comes back "
         "by the site's own hand; nothing is stopped.");
    federation_cut(x.paris, true);
    world_run(c->world, SECOND_NS);
    assert_true(world_end_container(c->world, x.paris->cluster->cells[0], 0, 1) ||
                world_end_container(c->world, x.paris->cluster->cells[1], 0, 1));
    world_run(c->world, 20 * SECOND_NS);

    says(c, "Meanwhile a client wants another definition: until the site is called OFFLINE it "
            "is taken, and waits.");
    edge_done(&x, federation_app(&x.f, &(struct federation_app){.name = APP,
                                                                .flavor = "small",
                                                                .text = "another",
                                                                .scale_with_cluster = true,
                                                                .auto_delete = true}));
    edge_done(&x, federation_refresh_instance(&x.f, SHOP, false));
    world_run(c->world, 180 * SECOND_NS);
    assert_int_equal(cluster_records(x.paris->cluster, "domain/edge."), 0);
    assert_int_equal(federation_running(x.paris, uid, former), 2);
    assert_string_equal(federation_info_state(x.paris), "OFFLINE");
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATE_REQUESTED");

    says(c, "When the link is back the new one comes beside the old, which goes when all of the "
            "new has run.");
    federation_cut(x.paris, false);
    edge_await(&x, SHOP, "READY");
    struct federation_object shop = federation_object(&x.f, SHOP);
    assert_string_not_equal(shop.digest, former);
    assert_int_equal(federation_running(x.paris, uid, shop.digest), 2);
    assert_int_equal(federation_held(x.paris, uid).definitions, 1);
    edge_settled(&x);
    assert_int_equal(cluster_records(x.paris->cluster, "domain/edge."), 1);
    edge_end(&x);
}

void story_an_app_comes_to_its_site_and_goes(struct cluster *c)
{
    struct edge_play x;
    says(c,
         "A cloudlet is made at the centre. Its site has a bbs, cells and an etcd of its own; the "
         "CRM there dials the centre, and the cloudlet is READY.");
    edge_begin(&x, c, &(struct federation_options){0});

    says(c, "A cluster is wanted, and an app instance in it. The slice comes first, then what runs "
            "in it; the instance is READY when both of its instances have run.");
    edge_with_shop(&x);
    struct federation_object shop = federation_object(&x.f, SHOP);
    assert_int_equal(federation_running(x.paris, shop.uid, shop.digest), 2);
    assert_int_equal(federation_held(x.paris, "").slices, 1);

    says(c,
         "The CRM is killed, and begins anew with another session. Nothing changes at the site.");
    uint64_t session = federation_session(x.paris);
    federation_kill_crm(&x.paris->crms[0]);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(federation_running(x.paris, shop.uid, shop.digest), 2);
    federation_start_crm(&x.paris->crms[0]);
    world_run(c->world, 3 * SETTLE_NS);
    assert_true(federation_session(x.paris) > session);
    assert_string_equal(federation_state(&x.f, SHOP), "READY");
    assert_string_equal(federation_info_state(x.paris), "READY");
    assert_int_equal(federation_running(x.paris, shop.uid, shop.digest), 2);
    assert_int_equal(cluster_containers(x.paris->cluster), 2);

    says(c, "The cluster is deleted: its app goes along, before it, for it is one of those that "
            "do. The site holds nothing of them.");
    edge_done(&x, federation_delete(&x.f, WEB, 0));
    edge_await(&x, SHOP, "");
    edge_await(&x, WEB, "");
    edge_holds_nothing(&x);
    edge_end(&x);
}

#define LATE "acme/paris/dev/late"

void story_a_site_is_cut_off_longer_than_a_create(struct cluster *c)
{
    struct edge_play x;
    says(c, "A cluster is at its site. The link is cut, and before anybody knows, another cluster "
            "is wanted there.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_web(&x);
    federation_cut(x.paris, true);
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    assert_string_equal(federation_state(&x.f, LATE), "CREATE_REQUESTED");

    says(c, "The site is silent for 30 s: it is OFFLINE, and that stops nothing.");
    world_run(c->world, 24 * SECOND_NS);
    assert_string_equal(federation_info_state(x.paris), "READY");
    assert_true(federation_await_info(x.paris, "OFFLINE", 21 * SECOND_NS));
    assert_int_equal(federation_held(x.paris, "").slices, 1);

    says(c,
         "The time of the create is over, and the site has not begun: it failed, and is undone.");
    world_run(c->world, 1700 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, LATE), "CREATE_REQUESTED");
    edge_await_within(&x, LATE, "", 100 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, WEB), "READY");

    says(c,
         "The link is back: the site is READY again, and holds what it held. The same cluster is "
         "made now.");
    federation_cut(x.paris, false);
    assert_true(federation_await_info(x.paris, "READY", 45 * SECOND_NS));
    assert_int_equal(federation_held(x.paris, "").slices, 1);
    edge_done(&x, edge_create_cluster(&x, LATE, 2));
    edge_await(&x, LATE, "READY");
    assert_int_equal(federation_held(x.paris, "").slices, 2);

    says(c, "Both are deleted: nothing depends on them, so the site removes them.");
    edge_done(&x, federation_delete(&x.f, LATE, 0));
    edge_done(&x, federation_delete(&x.f, WEB, 0));
    edge_await(&x, LATE, "");
    edge_await(&x, WEB, "");
    edge_holds_nothing(&x);
    edge_end(&x);
}
