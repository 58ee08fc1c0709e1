/* What a centre refuses, clients who race, several sites, and one where somebody works. */
#include "test/sim/stories/edge_play.h"

#include "models/error.pb-c.h"

void story_what_a_centre_refuses(struct cluster *c)
{
    struct edge_play x;
    static const struct federation_app with_port = {
        .name = "dev/port/1.0", .flavor = "small", .port = 8080};
    static const char port_1[] = "acme/paris/dev/web/dev/port/1.0";
    says(c, "A centre refuses what cannot be, by name, and changes nothing by it.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_refused(&x, edge_create_cluster(&x, "acme/oslo/dev/web", 1), "no cloudlet acme/oslo");
    edge_refused(&x,
                 federation_create_cluster(
                     &x.f, &(struct federation_cluster){.name = WEB, .flavor = "huge", .nodes = 1}),
                 "huge");
    edge_refused(&x, edge_create_cluster(&x, WEB, 65), "64");
    edge_refused(&x, edge_create_cluster(&x, WEB, 0), "nodes");
    edge_refused(&x, edge_create_cluster(&x, "acme/paris/dev/reservable3", 1), "reservable3");
    edge_refused(&x, edge_create_instance(&x, SHOP), "dev/shop/1.0");
    edge_apply_shop(&x, "");
    edge_refused(&x, edge_create_instance(&x, SHOP), "no cluster");
    edge_with_web(&x);
    edge_refused(&x, edge_create_cluster(&x, WEB, 2), "exists");
    edge_done(&x, federation_flavor(&x.f, "middle", 2));
    edge_refused(&x,
                 federation_create_instance(
                     &x.f, &(struct federation_instance){.name = SHOP, .flavor = "middle"}),
                 "node");

    says(c, "What is used stays, and the refusal says by what.");
    edge_done(&x, edge_create_instance(&x, SHOP));
    edge_await(&x, SHOP, "READY");
    edge_refused(&x, federation_remove(&x.f, "flavor", "small"), "is used by");
    edge_refused(&x, federation_remove(&x.f, "app", APP), "is used by " SHOP);
    edge_refused(&x, federation_delete(&x.f, PARIS, 0), "is used by");
    edge_done(&x, federation_app(&x.f, &with_port));
    edge_refused(&x, edge_create_instance(&x, SHOP), "exists");

    says(c, "While an app is made nothing else is done about it, nor about its cluster.");
    edge_done(&x, federation_update_cluster(&x.f, &(struct federation_cluster){
                                                      .name = WEB, .flavor = "small", .nodes = 6}));
    edge_await(&x, WEB, "READY");
    federation_pause_site(x.paris, true);
    edge_done(&x, edge_create_instance(&x, port_1));
    edge_await(&x, port_1, "CREATING");
    edge_refused(&x, edge_create_instance(&x, port_1), "exists");
    edge_refused(&x, federation_delete(&x.f, port_1, 0), "is busy: CREATING");
    edge_refused(
        &x,
        federation_update_cluster(
            &x.f, &(struct federation_cluster){.name = WEB, .flavor = "small", .nodes = 7}),
        "busy");
    edge_refused(&x, federation_delete(&x.f, WEB, 0), "port");
    federation_pause_site(x.paris, false);
    edge_await(&x, port_1, "READY");

    says(c, "A cluster with an app that does not go along is not deleted.");
    edge_refused(&x, federation_delete(&x.f, WEB, 0), port_1);
    assert_string_equal(federation_state(&x.f, WEB), "READY");
    edge_done(&x, federation_delete(&x.f, port_1, 0));
    edge_await(&x, port_1, "");
    edge_done(&x, federation_delete(&x.f, WEB, 0));
    edge_await(&x, WEB, "");
    edge_holds_nothing(&x);
    assert_int_equal(cluster_records(c, "name/"), 0);
    edge_end(&x);
}

struct racing_client {
    unsigned done, refused, pending;
};

static void note_race(void *context, int status, struct bytes body)
{
    struct racing_client *r = context;
    r->pending--;
    if (status == 200) { /* an error has bytes */
        r->done += body.size == 0;
        r->refused += body.size > 0;
    }
}

void story_two_clients_race_for_a_name(struct cluster *c)
{
    struct edge_play x;
    struct racing_client r = {0};
    says(c, "Ten clients want the same cluster, at both bbs of the centre at once. One of them "
            "makes it; then ten want to delete it.");
    edge_begin(&x, c, &(struct federation_options){0});
    for (unsigned round = 0; round < 2; round++) {
        Board__EdgeRequest request = BOARD__EDGE_REQUEST__INIT;
        request.name = (char *)(uintptr_t)WEB;
        request.says = round ? federation_says(&x.f, 0)
                             : federation_says_cluster(&x.f, &(struct federation_cluster){
                                                                 .flavor = "small", .nodes = 2});
        r = (struct racing_client){.pending = 10};
        for (unsigned i = 0; i < 10; i++) {
            world_send(c->world, node_url(c->bbs[i % 2]),
                       round ? "/v1/edge/cluster/delete" : "/v1/edge/cluster/create", &request.base,
                       SETTLE_NS, note_race, &r);
        }
        world_run(c->world, SETTLE_NS);
        assert_int_equal(r.pending, 0);
        assert_int_equal(r.done, 1);
        assert_int_equal(r.refused, 9);
        edge_await(&x, WEB, round ? "" : "READY");
        assert_int_equal(federation_held(x.paris, "").slices, round ? 0 : 1);
    }
    edge_end(&x);
}

void story_a_site_in_maintenance(struct cluster *c)
{
    struct edge_play x;
    says(c, "Somebody is to work at a site. The CRM agrees; nothing is stopped, and nothing there "
            "is changed until it is over.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    edge_done(&x, federation_maintain(x.paris, "start"));
    for (unsigned i = 0; i < 300; i++) {
        if (strcmp(federation_maintenance_state(x.paris), "UNDER_MAINTENANCE") == 0) {
            break;
        }
        world_run(c->world, 100 * MILLISECOND_NS);
    }
    assert_string_equal(federation_maintenance_state(x.paris), "UNDER_MAINTENANCE");
    edge_refused(&x, edge_create_cluster(&x, "acme/paris/dev/late", 1), "is in maintenance");
    edge_refused(&x, federation_delete(&x.f, SHOP, 0), "is in maintenance");
    federation_kill_crm(&x.paris->crms[0]);
    world_run(c->world, SECOND_NS);
    federation_start_crm(&x.paris->crms[0]);
    federation_run(&x.f, EDGE_SETTLE_NS);
    edge_shop_runs(&x);
    assert_string_equal(federation_maintenance_state(x.paris), "UNDER_MAINTENANCE");

    says(c, "It is over.");
    edge_done(&x, federation_maintain(x.paris, "end"));
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_string_equal(federation_maintenance_state(x.paris), "NORMAL_OPERATION");
    edge_done(&x, edge_create_cluster(&x, "acme/paris/dev/late", 1));
    edge_await(&x, "acme/paris/dev/late", "READY");

    says(c, "A CRM that does not answer: the time is over, and that is told.");
    federation_cut(x.paris, true);
    edge_done(&x, federation_maintain(x.paris, "start"));
    federation_run(&x.f, 6 * 60 * SECOND_NS);
    assert_string_not_equal(federation_maintenance_state(x.paris), "UNDER_MAINTENANCE");
    federation_cut(x.paris, false);
    edge_done(&x, federation_maintain(x.paris, "end"));
    federation_run(&x.f, 2 * EDGE_SETTLE_NS);
    assert_string_equal(federation_maintenance_state(x.paris), "NORMAL_OPERATION");
    edge_shop_runs(&x);
    edge_end(&x);
}

void story_four_sites_of_which_one_is_cut_off(struct cluster *c)
{
    struct edge_play x;
    says(c, "One app runs at four sites. One of them is cut off, another one loses its CRM, which "
            "stops by itself and is relieved by the one that stands by.");
    edge_begin(&x, c, &(struct federation_options){.sites = 4, .crms = 2});
    edge_apply_shop(&x, "");
    const char *shops[FEDERATION_SITES_MAX];
    for (unsigned i = 0; i < 4; i++) {
        const char *web = arena_printf(&x.f.arena, "%s/dev/web", x.f.sites[i].cloudlet);
        shops[i] = arena_printf(&x.f.arena, "%s/%s", web, APP);
        edge_done(&x, edge_create_cluster(&x, web, 1));
        edge_await(&x, web, "READY");
        edge_done(&x, edge_create_instance(&x, shops[i]));
    }
    for (unsigned i = 0; i < 4; i++) {
        edge_await(&x, shops[i], "READY");
    }
    struct federation_object cut = federation_object(&x.f, shops[3]);
    federation_cut(&x.f.sites[3], true);
    struct federation_crm *first = federation_leading_crm(&x.f.sites[1]);
    first->wanted = false;
    world_stop(c->world, first->node);
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_string_equal(federation_info_state(&x.f.sites[3]), "OFFLINE");
    assert_string_equal(federation_info_state(&x.f.sites[1]), "READY");
    assert_true(federation_leading_crm(&x.f.sites[1]) != first);

    says(c, "The app changes. Three sites have the new one; the fourth is refused, and keeps what "
            "it has.");
    edge_apply_shop(&x, "another");
    for (unsigned i = 0; i < 4; i++) {
        int result = federation_refresh_instance(&x.f, shops[i], false);
        if (i == 3) {
            edge_refused(&x, result, "cloudlet acme/bern is offline");
        } else {
            edge_done(&x, result);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        edge_await(&x, shops[i], "READY");
        assert_int_equal(federation_object(&x.f, shops[i]).revision, 2);
    }
    assert_int_equal(federation_running(&x.f.sites[3], cut.uid, cut.digest), 1);

    says(c, "It is back, and refreshed.");
    federation_cut(&x.f.sites[3], false);
    assert_true(federation_await_info(&x.f.sites[3], "READY", EDGE_SETTLE_NS));
    edge_done(&x, federation_refresh_instance(&x.f, shops[3], false));
    edge_await(&x, shops[3], "READY");
    for (unsigned i = 0; i < 4; i++) {
        struct federation_object o = federation_object(&x.f, shops[i]);
        assert_int_equal(federation_running(&x.f.sites[i], o.uid, o.digest), 1);
        assert_int_equal(federation_held(&x.f.sites[i], "").definitions, 1);
    }
    edge_end(&x);
}
