/* A site that is cut off for longer than anything waits, a centre that answers nobody, and clocks
 * that are wrong. */
#include "test/sim/stories/edge_play.h"

#include "test/sim/model/containers.h"

#define LATE "acme/paris/dev/late"
#define HOUR_NS (3600 * SECOND_NS)

void story_a_cut_longer_than_each_time_out(struct cluster *c)
{
    struct edge_play x;
    static const char next[] = "acme/paris/dev/next", old[] = "acme/paris/dev/old";
    says(c, "A site is cut off, and before anybody knows a cluster is wanted there, another one is "
            "changed, and an app is deleted. The site has begun none of them.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    edge_done(&x, edge_create_cluster(&x, old, 2));
    edge_await(&x, old, "READY");
    struct federation_object former = federation_object(&x.f, old);
    const char *shop = federation_object(&x.f, SHOP).uid;
    federation_cut(x.paris, true);
    edge_done(&x, edge_create_cluster(&x, next, 2));
    edge_done(&x, federation_update_cluster(&x.f, &(struct federation_cluster){
                                                      .name = old, .flavor = "small", .nodes = 3}));
    edge_done(&x, federation_delete(&x.f, SHOP, 0));

    says(c, "Each has its time, and nothing is said before: the create is undone, the delete is "
            "taken back, and of the update nobody knows.");
    federation_run(&x.f, 19 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, old), "UPDATE_REQUESTED");
    assert_string_equal(federation_state(&x.f, SHOP), "DELETE_REQUESTED");
    federation_run(&x.f, 2 * 60 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, old), "UPDATE_ERROR");
    assert_string_equal(federation_state(&x.f, SHOP), "READY");
    assert_string_equal(federation_state(&x.f, next), "CREATE_REQUESTED");
    federation_run(&x.f, 10 * 60 * SECOND_NS);
    assert_false(federation_object(&x.f, next).exists);
    federation_run(&x.f, HOUR_NS);
    assert_int_equal(federation_held(x.paris, shop).running, 2);

    says(c, "The link is back: what the site holds is what the centre says, and the former values "
            "run.");
    federation_cut(x.paris, false);
    assert_true(federation_await_info(x.paris, "READY", 45 * SECOND_NS));
    edge_await(&x, old, "READY");
    assert_string_equal(federation_object(&x.f, old).digest, former.digest);
    assert_string_equal(federation_held(x.paris, former.uid).digest, former.digest);
    edge_settled(&x);
    edge_shop_runs(&x);
    assert_int_equal(federation_held(x.paris, "").slices, 2);
    edge_end(&x);
}

/* How long a container takes to be made. */
static void prepares_take(struct edge_play *x, int64_t duration_ns)
{
    struct cluster *site = x->paris->cluster;
    for (unsigned i = 0; i < site->options.cells; i++) {
        model_containers_pace(node_containers(site->cells[i]))->start_ns = duration_ns;
        model_containers_pace(node_containers(site->cells[i]))->signal_ns = duration_ns;
    }
}

void story_a_cut_in_the_middle_of_each_operation(struct cluster *c)
{
    struct edge_play x;
    static const struct {
        const char *verb, *busy, *end;
    } cases[] = {{"create", "CREATING", "READY"},
                 {"refresh", "UPDATING", "READY"},
                 {"delete", "DELETING", ""}};
    says(c, "An app is made, changed and deleted at a site that is slow, and is cut off as soon as "
            "it has begun. It comes to the end of each; the centre says that it is overdue, and "
            "that is neither done nor failed.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_web(&x);
    edge_apply_shop(&x, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        prepares_take(&x, 5 * SECOND_NS);
        edge_apply_shop(&x, i ? "another" : "");
        edge_done(&x,
                  federation_ask(&x.f, "instance", cases[i].verb, SHOP, federation_says(&x.f, 0)));
        edge_await(&x, SHOP, cases[i].busy);
        const char *uid = federation_object(&x.f, SHOP).uid;
        federation_run(&x.f, SECOND_NS / 2); /* it has the definition, without which it gives up */
        federation_cut(x.paris, true);
        federation_run(&x.f, 29 * 60 * SECOND_NS);
        assert_string_equal(federation_state(&x.f, SHOP), cases[i].busy);
        assert_int_equal(federation_held(x.paris, uid).running, i == 2 ? 0 : 2);
        federation_run(&x.f, 2 * 60 * SECOND_NS);
        assert_string_equal(federation_state(&x.f, SHOP), cases[i].busy);
        assert_true(federation_object(&x.f, SHOP).overdue);
        assert_string_equal(federation_progress_end(&x.f, uid), "");
        prepares_take(&x, MILLISECOND_NS);
        federation_cut(x.paris, false);
        edge_await(&x, SHOP, cases[i].end);
        assert_string_equal(federation_progress_end(&x.f, uid), i == 2 ? "deleted" : "ready");
        if (i < 2) {
            edge_shop_runs(&x);
        }
    }
    edge_end(&x);
}

/* What drivers are asked for at the site. */
struct day {
    const struct cluster *site;
    unsigned starts, stops;
};

static void count_verb(void *context, struct node *n, const struct verb_call *call)
{
    struct day *d = context;
    if (node_cluster(n) == d->site) {
        d->starts += call->verb == VERB_START;
        d->stops += call->verb == VERB_SIGNAL;
    }
}

void story_a_cut_of_a_day(struct cluster *c)
{
    struct edge_play x;
    unsigned crashes = 0;
    says(c, "A site is cut off for a day. Every three hours a container ends by itself. What is "
            "asked of the centre before it knows of the cut ends as it must; what is asked after "
            "that is refused.");
    edge_begin(&x, c, &(struct federation_options){.site = c->options}); /* of one cell */
    edge_with_shop(&x);
    struct day day = {.site = x.paris->cluster};
    world_observe(c->world, &(struct world_observer){.verb = count_verb, .context = &day});
    const char *shop = federation_object(&x.f, SHOP).uid;
    federation_cut(x.paris, true);
    edge_done(&x, edge_create_cluster(&x, LATE, 1));
    edge_done(&x, edge_refresh_shop(&x, "another"));
    for (unsigned hour = 0; hour < 24; hour++) {
        if (hour % 3 == 0) {
            crashes += world_end_container(c->world, x.paris->cluster->cells[0], 0, 1);
        }
        federation_run(&x.f, HOUR_NS);
        assert_int_equal(federation_held(x.paris, shop).running, 2);
        assert_int_equal(cluster_containers(x.paris->cluster), 2);
    }
    edge_refused(&x, edge_create_cluster(&x, "acme/paris/dev/more", 1), "is offline for 23 h");
    assert_false(federation_object(&x.f, LATE).exists);
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATE_ERROR");
    assert_int_equal(crashes, 8);
    assert_int_equal(day.starts, crashes);
    assert_int_equal(day.stops, 0);
    world_note(c->world, "a day",
               "%u instances restarted, %u containers stopped for the cut; of 3 "
               "operations 1 create undone, 1 update failed, 1 create refused",
               day.starts, day.stops);

    says(c, "The link is back, and nothing happened: the former values run, and the update is made "
            "when it is asked for again.");
    federation_cut(x.paris, false);
    assert_true(federation_await_info(x.paris, "READY", 45 * SECOND_NS));
    edge_await(&x, SHOP, "READY");
    assert_int_equal(day.stops, 0);
    world_observe(c->world, &(struct world_observer){0});
    edge_done(&x, federation_refresh_instance(&x.f, SHOP, false));
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);
    edge_end(&x);
}

static void cut_centre_from_etcd(struct cluster *c, bool cut)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_cut(c->world, c->bbs[i], NULL, cut);
    }
    world_note(c->world, "centre", cut ? "its etcd is not reached" : "its etcd is reached again");
}

void story_a_centre_answers_503_for_an_hour(struct cluster *c)
{
    struct edge_play x;
    says(c, "The centre's etcd is not reached for an hour, and its bbs answer 503 to whatever is "
            "asked. At the site all goes on, and a container that ends is started again.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    const char *shop = federation_object(&x.f, SHOP).uid;
    edge_apply_shop(&x, "another");
    federation_send(&x.f, "instance", "refresh", SHOP, federation_says(&x.f, 0), NULL, NULL);
    world_run(c->world, (int64_t)random_below(world_random(c->world), 300) * MILLISECOND_NS);
    cut_centre_from_etcd(c, true);
    federation_run(&x.f, HOUR_NS / 2);
    assert_true(world_end_container(c->world, x.paris->cluster->cells[0], 0, 1) ||
                world_end_container(c->world, x.paris->cluster->cells[1], 0, 1));
    federation_run(&x.f, HOUR_NS / 2);
    assert_true(federation_held(x.paris, shop).running >= 2);

    says(c, "It is reached again: the site is READY within half a minute, the operation that was "
            "under way has its end, and the next one is made.");
    cut_centre_from_etcd(c, false);
    federation_run(&x.f, 30 * SECOND_NS);
    assert_string_equal(federation_info_state(x.paris), "READY");
    edge_await(&x, SHOP, "READY");
    edge_done(&x, edge_refresh_shop(&x, "a third one"));
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);
    edge_end(&x);
}

void story_clocks_an_hour_apart(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c, "The clocks of a site are an hour ahead of the centre's, those of its CRM an hour "
            "behind: its operations go as ever.");
    edge_begin(&x, c, &(struct federation_options){0});
    for (unsigned i = 0; i < 2; i++) {
        world_jump_clock(w, x.paris->cluster->bbs[i], HOUR_NS);
        world_jump_clock(w, x.paris->cluster->cells[i], HOUR_NS);
    }
    world_jump_clock(w, x.paris->crms[0].node, -HOUR_NS);
    edge_with_shop(&x);
    edge_done(&x, edge_refresh_shop(&x, "another"));
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);
    assert_string_equal(federation_info_state(x.paris), "READY");

    says(c, "The centre's clocks jump an hour ahead while an operation is under way at a site that "
            "is slow: it is overdue, and comes to its end all the same.");
    federation_pause_cells(x.paris, true);
    edge_done(&x, edge_refresh_shop(&x, "a third one"));
    edge_await(&x, SHOP, "UPDATING");
    for (unsigned i = 0; i < 2; i++) {
        world_jump_clock(w, c->bbs[i], HOUR_NS);
    }
    world_jump_clock(w, c->converger, HOUR_NS);
    federation_run(&x.f, 2 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATING");
    assert_string_equal(federation_info_state(x.paris), "READY");
    federation_pause_cells(x.paris, false);
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);

    says(c, "Back again, and the clocks of the site are right, too.");
    for (unsigned i = 0; i < 2; i++) {
        world_set_clock(w, c->bbs[i]);
        world_set_clock(w, x.paris->cluster->bbs[i]);
    }
    world_set_clock(w, c->converger);
    edge_done(&x, federation_delete(&x.f, WEB, 0));
    edge_await(&x, WEB, "");
    edge_holds_nothing(&x);
    edge_end(&x);
}
