/* Operations that fail at the site, and what they leave behind: nothing. */
#include "test/sim/stories/edge_play.h"

#include "test/sim/model/containers.h"

enum { ALL_STARTS = 1000000 };

/* What nine tenths of an operation's half hour take, and half an hour again for one that began
 * anew. */
#define GIVES_UP_NS (28 * 60 * SECOND_NS)
#define GIVES_UP_AGAIN_NS (70 * 60 * SECOND_NS)

struct undone {
    struct edge_play *play;
    const char *uid;
    unsigned moment; /* drawn: which of them it dies at */
};

static bool is_half_way(void *context)
{
    struct undone *u = context;
    struct federation_held held = federation_held(u->play->paris, u->uid);
    switch (u->moment) {
    case 0:
        return held.definitions == 2; /* before it fails */
    case 1:
        return held.definitions == 1; /* the new one goes */
    default:
        return federation_is(&u->play->f, SHOP, "UPDATE_ERROR") ||
               federation_is(&u->play->f, SHOP, "READY");
    }
}

void story_an_update_that_fails_is_undone(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c, "An app is updated to something that does not start at its site. The former one runs "
            "on beside it.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object former = federation_object(&x.f, SHOP);
    federation_refuse_starts(x.paris, ALL_STARTS);
    edge_done(&x, edge_refresh_shop(&x, "broken"));
    edge_await(&x, SHOP, "UPDATING");
    federation_run(&x.f, 26 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATING");
    assert_int_equal(federation_running(x.paris, former.uid, former.digest), 2);

    says(c, "The site gives up before the operation's time is over, and removes what it made. In "
            "the middle of that the CRM dies. Whenever that was: the former values are told to run "
            "when they do, and only then.");
    struct undone u = {&x, former.uid, (unsigned)random_below(world_random(w), 3)};
    assert_true(world_run_until(w, GIVES_UP_NS, is_half_way, &u));
    federation_kill_crm(&x.paris->crms[0]);
    world_run(w, (int64_t)random_below(world_random(w), 20) * SECOND_NS);
    federation_start_crm(&x.paris->crms[0]);
    edge_await_within(&x, SHOP, "READY", GIVES_UP_AGAIN_NS);
    struct federation_object shop = federation_object(&x.f, SHOP);
    assert_string_equal(shop.digest, former.digest);
    assert_int_equal(shop.revision, former.revision);
    assert_string_not_equal(shop.error, "");
    edge_shop_runs(&x);
    edge_settled(&x);
    assert_int_equal(federation_progress(&x.f, shop.uid, "undone"), 1);

    says(c, "It starts after all, and the same update is made.");
    federation_refuse_starts(x.paris, 0);
    edge_done(&x, federation_refresh_instance(&x.f, SHOP, false));
    edge_await(&x, SHOP, "READY");
    assert_int_equal(federation_object(&x.f, SHOP).revision, 2);
    edge_shop_runs(&x);
    edge_end(&x);
}

void story_a_create_that_fails_leaves_nothing(struct cluster *c)
{
    struct edge_play x;
    struct cluster_options site = c->options;
    site.cells = 2;
    site.cell_instances = 4;
    says(c, "A site has two cells of four instances each. A cluster takes three of each.");
    edge_begin(&x, c, &(struct federation_options){.site = site});
    edge_done(&x, federation_flavor(&x.f, "middle", 2));
    edge_done(&x, federation_flavor(&x.f, "large", 3));
    edge_done(&x, federation_create_cluster(&x.f, &(struct federation_cluster){
                                                      .name = WEB, .flavor = "large", .nodes = 2}));
    edge_await(&x, WEB, "READY");

    says(c, "A node of two instances has room in the sum, and on no cell: the site refuses it, and "
            "the centre is told why. The record is gone, and its room is free again.");
    static const char fits_nowhere[] = "acme/paris/dev/nowhere";
    edge_done(&x, federation_create_cluster(&x.f, &(struct federation_cluster){.name = fits_nowhere,
                                                                               .flavor = "middle",
                                                                               .nodes = 1}));
    const char *uid = federation_object(&x.f, fits_nowhere).uid;
    edge_await(&x, fits_nowhere, "");
    assert_int_equal(federation_held(x.paris, uid).slices, 0);
    assert_string_equal(federation_progress_end(&x.f, uid), "failed");
    edge_done(&x, edge_create_cluster(&x, "acme/paris/dev/small", 2));
    edge_await(&x, "acme/paris/dev/small", "READY");
    edge_refused(&x, edge_create_cluster(&x, fits_nowhere, 1), "not enough memory at acme/paris");

    says(c, "An app does not start. After nine tenths of its time the site removes what it made, "
            "and says that it failed.");
    edge_apply_shop(&x, "");
    federation_refuse_starts(x.paris, ALL_STARTS);
    edge_done(&x, edge_create_instance(&x, SHOP));
    uid = federation_object(&x.f, SHOP).uid;
    federation_run(&x.f, 26 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "CREATING");
    edge_await_within(&x, SHOP, "", 3 * 60 * SECOND_NS);
    struct federation_held held = federation_held(x.paris, uid);
    assert_int_equal(held.definitions + held.instances, 0);
    assert_string_equal(federation_progress_end(&x.f, uid), "failed");
    assert_int_equal(cluster_records(c, "name/"), 0);

    says(c, "It starts after all: the same app is made under the same name.");
    federation_refuse_starts(x.paris, 0);
    edge_done(&x, edge_create_instance(&x, SHOP));
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);
    edge_end(&x);
}

/* How long a container takes to end when it is told to. */
static void ends_take(struct edge_play *x, int64_t duration_ns)
{
    struct cluster *site = x->paris->cluster;
    for (unsigned i = 0; i < site->options.cells; i++) {
        model_containers_pace(node_containers(site->cells[i]))->signal_ns = duration_ns;
    }
}

void story_a_delete_that_fails_is_taken_back(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app is to go whose containers do not end. The CRM gives up in time, says what it "
            "leaves behind, and the delete is taken back: to READY, as it was found.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object former = federation_object(&x.f, SHOP);
    ends_take(&x, 3600 * SECOND_NS);
    edge_done(&x, federation_delete(&x.f, SHOP, 0));
    edge_await(&x, SHOP, "DELETING");
    federation_run(&x.f, 17 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "DELETING");
    edge_await_within(&x, SHOP, "READY", 4 * 60 * SECOND_NS);
    struct federation_object shop = federation_object(&x.f, SHOP);
    assert_string_equal(shop.uid, former.uid);
    assert_non_null(strstr(shop.error, "left behind"));

    says(c, "It is READY, so it is to run: when they have ended others come in their place.");
    ends_take(&x, MILLISECOND_NS);
    federation_run(&x.f, 3600 * SECOND_NS);
    edge_shop_runs(&x);
    assert_int_equal(cluster_containers(x.paris->cluster), 2);
    edge_done(&x, federation_delete(&x.f, SHOP, 0));
    edge_await(&x, SHOP, "");
    assert_int_equal(federation_held(x.paris, former.uid).definitions, 0);
    edge_end(&x);
}

void story_a_site_that_answers_nobody_is_overdue(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app is deleted at a site whose bbs answer nobody, not even their own CRM. When the "
            "time is over the operation is overdue: neither done nor failed.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object former = federation_object(&x.f, SHOP);
    federation_pause_site(x.paris, true);
    edge_done(&x, federation_delete(&x.f, SHOP, 0));
    edge_await(&x, SHOP, "DELETING");
    federation_run(&x.f, 21 * 60 * SECOND_NS);
    struct federation_object shop = federation_object(&x.f, SHOP);
    assert_string_equal(shop.state, "DELETING");
    assert_true(shop.overdue);
    assert_int_equal(federation_progress(&x.f, shop.uid, "the operation goes on"), 1);

    says(c,
         "They answer again. The site has given up by then, and says what it left: the delete is "
         "taken back, and the next one is done.");
    federation_pause_site(x.paris, false);
    edge_await(&x, SHOP, "READY");
    assert_non_null(strstr(federation_object(&x.f, SHOP).error, "left behind: a-"));
    edge_settled(&x);
    edge_shop_runs(&x);
    edge_done(&x, federation_delete(&x.f, SHOP, 0));
    edge_await(&x, SHOP, "");
    assert_int_equal(federation_held(x.paris, former.uid).definitions, 0);
    assert_string_equal(federation_progress_end(&x.f, former.uid), "deleted");
    edge_end(&x);
}

void story_an_update_error_stays_until_the_site_speaks(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c,
         "A site is cut off, and two apps there are to be updated. Their time is over before the "
         "site has begun: UPDATE_ERROR, with the new values, for nobody knows what runs.");
    static const char late[] = "acme/paris/dev/late", other[] = "acme/paris/dev/late/dev/shop/2.0";
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    edge_done(&x, federation_app(
                      &x.f, &(struct federation_app){.name = "dev/shop/2.0", .flavor = "small"}));
    edge_done(&x, edge_create_cluster(&x, late, 2));
    edge_await(&x, late, "READY");
    edge_done(&x, edge_create_instance(&x, other));
    edge_await(&x, other, "READY");
    struct federation_object former = federation_object(&x.f, SHOP);
    const char *other_uid = federation_object(&x.f, other).uid;
    federation_cut(x.paris, true);
    edge_done(&x, edge_refresh_shop(&x, "another"));
    edge_done(&x, federation_update_instance(
                      &x.f, &(struct federation_instance){.name = other, .colour = "red"}));
    federation_run(&x.f, 31 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATE_ERROR");
    assert_string_not_equal(federation_object(&x.f, SHOP).digest, former.digest);
    assert_string_equal(federation_state(&x.f, other), "UPDATE_ERROR");

    says(c, "The second is deleted without the site. The link is back: of the first the site says "
            "that the former values run, and it is READY with these; the second goes.");
    edge_refused(&x, federation_delete(&x.f, other, 0), "is offline");
    edge_done(&x, federation_delete(&x.f, other, BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM));
    world_run(w, (int64_t)random_below(world_random(w), 10) * SECOND_NS);
    federation_cut(x.paris, false);
    edge_await(&x, SHOP, "READY");
    assert_string_equal(federation_object(&x.f, SHOP).digest, former.digest);
    edge_shop_runs(&x);
    federation_run(&x.f, 30 * SECOND_NS);
    assert_int_equal(federation_held(x.paris, other_uid).definitions, 0);

    says(c, "Cut off again, an update runs out of time, and is tried again as soon as the site is "
            "READY: the retry and the site's word race.");
    federation_cut(x.paris, true);
    edge_done(&x, federation_refresh_instance(&x.f, SHOP, false));
    federation_run(&x.f, 31 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATE_ERROR");
    federation_cut(x.paris, false);
    assert_true(federation_await_info(x.paris, "READY", EDGE_SETTLE_NS));
    federation_send(&x.f, "instance", "refresh", SHOP, federation_says(&x.f, 0), NULL, NULL);
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "READY");
    edge_shop_runs(&x);
    edge_end(&x);
}
