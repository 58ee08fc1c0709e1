/* A site that is cut off for longer than anything waits, a centre that answers nobody, and clocks
 * that are wrong. */
#include "test/sim/stories/edge_play.h"

#include "test/sim/model/containers.h"

#define HOUR_NS (3600 * SECOND_NS)

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
