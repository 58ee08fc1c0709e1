/* What comes late, or belongs to another operation or another life: it changes nothing. */
#include "test/sim/stories/edge_play.h"

/* The next thing that the CRM asks for comes so much later, and its process is no more. */
static void dies_asking(struct edge_play *x, int64_t late_ns)
{
    struct federation_crm *crm = &x->paris->crms[0];
    crm->wanted = false;
    world_kill_asking(x->f.centre->world, crm->node, late_ns);
}

struct holds_digest {
    struct edge_play *play;
    const char *uid, *other;
};

/* The site has all of a definition that is not the other one, and nothing beside it. */
static bool has_replaced(void *context)
{
    struct holds_digest *h = context;
    struct federation_held held = federation_held(h->play->paris, h->uid);
    return held.definitions == 1 && strcmp(held.digest, h->other) != 0 &&
           held.instances == held.running;
}

void story_a_late_ready_after_an_update(struct cluster *c)
{
    struct edge_play x;
    struct world_faults twice = {.doubled = 1000, .doubled_by = {20 * SECOND_NS, 25 * SECOND_NS}};
    says(c, "An app is made at its site. Whatever is said meanwhile is said once more, twenty "
            "seconds later.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_web(&x);
    edge_apply_shop(&x, "");
    edge_done(&x, edge_create_instance(&x, SHOP));
    world_faults(c->world, &twice);
    edge_await(&x, SHOP, "READY");
    world_faults(c->world, &(struct world_faults){0});

    says(c, "It is READY, and an update begins, for which the bbs of the site are too slow. The "
            "ready of the create comes again, by the same CRM: it is no answer to the update.");
    federation_pause_site(x.paris, true);
    edge_done(&x, edge_refresh_shop(&x, "another"));
    for (unsigned i = 0; i < 30; i++) {
        world_run(c->world, SECOND_NS);
        struct federation_object shop = federation_object(&x.f, SHOP);
        assert_int_equal(shop.request, 2);
        assert_true(strcmp(shop.state, "UPDATE_REQUESTED") == 0 ||
                    strcmp(shop.state, "UPDATING") == 0);
    }
    federation_pause_site(x.paris, false);
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);
    edge_end(&x);
}

void story_a_late_answer_behind_an_override(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    says(c, "An app is updated. The site has all of the new, and the CRM dies as it says so: that "
            "comes ten seconds later.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object first = federation_object(&x.f, SHOP);
    edge_done(&x, edge_refresh_shop(&x, "another"));
    struct holds_digest replaced = {&x, first.uid, first.digest};
    assert_true(world_run_until(w, EDGE_SETTLE_NS, has_replaced, &replaced));
    dies_asking(&x, 10 * SECOND_NS);
    world_run(w, 3 * SECOND_NS);

    says(c, "A client takes the operation over with another one, which nobody has begun when the "
            "answer to the former one comes. It waits for its own.");
    edge_done(&x, federation_update_instance(
                      &x.f, &(struct federation_instance){
                                .name = SHOP,
                                .colour = "red",
                                .override = BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_TRANSIENT}));
    uint64_t request = federation_object(&x.f, SHOP).request;
    world_run(w, 12 * SECOND_NS);
    assert_string_equal(federation_state(&x.f, SHOP), "UPDATE_REQUESTED");
    if (node_up(x.paris->crms[0].node)) { /* it had said all before */
        federation_kill_crm(&x.paris->crms[0]);
    }
    federation_start_crm(&x.paris->crms[0]);
    edge_await(&x, SHOP, "READY");
    assert_int_equal(federation_object(&x.f, SHOP).request, request);
    edge_shop_runs(&x);

    says(c, "Once more, and the client deletes it without waiting for anybody. What comes late "
            "makes nothing come back, and the site lets go of it.");
    first = federation_object(&x.f, SHOP);
    edge_done(&x, edge_refresh_shop(&x, "a third one"));
    replaced = (struct holds_digest){&x, first.uid, first.digest};
    assert_true(world_run_until(w, EDGE_SETTLE_NS, has_replaced, &replaced));
    dies_asking(&x, 5 * SECOND_NS);
    world_run(w, SECOND_NS);
    edge_done(&x, federation_delete(&x.f, SHOP,
                                    BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_AND_TRANSIENT));
    assert_false(federation_object(&x.f, SHOP).exists);
    world_run(w, 8 * SECOND_NS);
    assert_false(federation_object(&x.f, SHOP).exists);
    if (!node_up(x.paris->crms[0].node)) {
        federation_start_crm(&x.paris->crms[0]);
    }
    federation_run(&x.f, EDGE_SETTLE_NS);
    assert_int_equal(federation_held(x.paris, first.uid).definitions, 0);
    assert_int_equal(cluster_containers(x.paris->cluster), 0);
    edge_end(&x);
}

void story_deleted_and_made_again_while_cut_off(struct cluster *c)
{
    struct edge_play x;
    says(c, "A site is cut off. An app there is deleted, and made again under its name, before "
            "anybody knows of the cut.");
    edge_begin(&x, c, &(struct federation_options){0});
    edge_with_shop(&x);
    struct federation_object former = federation_object(&x.f, SHOP);
    federation_cut(x.paris, true);
    if (random_below(world_random(c->world), 2)) {
        edge_done(&x, federation_delete(&x.f, SHOP, BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM));
        edge_done(&x, edge_create_instance(&x, SHOP));
    } else {
        edge_done(&x, federation_delete(&x.f, SHOP, 0));
        world_run(c->world, SECOND_NS);
        edge_done(&x,
                  federation_create_instance(
                      &x.f, &(struct federation_instance){
                                .name = SHOP,
                                .override = BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_TRANSIENT}));
    }
    struct federation_object shop = federation_object(&x.f, SHOP);
    assert_string_not_equal(shop.uid, former.uid);
    assert_string_equal(shop.state, "CREATE_REQUESTED");
    world_run(c->world, (int64_t)random_below(world_random(c->world), 120) * SECOND_NS);
    assert_int_equal(federation_running(x.paris, former.uid, former.digest), 2);

    says(c, "When the link is back the site lets go of the former life, and makes the new one.");
    federation_cut(x.paris, false);
    edge_await(&x, SHOP, "READY");
    assert_string_equal(federation_object(&x.f, SHOP).uid, shop.uid);
    assert_int_equal(federation_held(x.paris, former.uid).definitions, 0);
    assert_int_equal(federation_held(x.paris, former.uid).instances, 0);
    edge_shop_runs(&x);
    assert_int_equal(cluster_containers(x.paris->cluster), 2);
    edge_end(&x);
}

void story_a_delete_comes_during_a_resync(struct cluster *c)
{
    struct edge_play x;
    struct world *w = c->world;
    static const Board__EdgeOperation__Override overrides[] = {
        BOARD__EDGE_OPERATION__OVERRIDE__NONE, BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM};
    says(c, "The CRM begins again, and while it hears what there is an app is deleted: once so "
            "that the site does it, once without a word of it.");
    edge_begin(&x, c, &(struct federation_options){0});
    for (unsigned i = 0; i < 4; i++) {
        if (federation_is(&x.f, WEB, "")) {
            edge_with_web(&x);
            edge_apply_shop(&x, "");
        }
        edge_done(&x, edge_create_instance(&x, SHOP));
        edge_await(&x, SHOP, "READY");
        struct federation_object shop = federation_object(&x.f, SHOP);
        federation_kill_crm(&x.paris->crms[0]);
        federation_start_crm(&x.paris->crms[0]);
        if (i % 2) { /* a delete that asks for the site is refused while it is not READY */
            world_run(w, (int64_t)random_below(world_random(w), 60) * MILLISECOND_NS);
        } else {
            world_run(w, (int64_t)random_below(world_random(w), 3) * MILLISECOND_NS);
        }
        federation_send(&x.f, "instance", "delete", SHOP, federation_says(&x.f, overrides[i % 2]),
                        NULL, NULL);
        federation_run(&x.f, 15 * SECOND_NS);
        if (federation_is(&x.f, SHOP, "READY")) {
            edge_done(&x, federation_delete(&x.f, SHOP, 0));
        }
        edge_await(&x, SHOP, "");
        federation_run(&x.f, 10 * SECOND_NS);
        assert_int_equal(federation_held(x.paris, shop.uid).definitions, 0);
        assert_int_equal(cluster_containers(x.paris->cluster), 0);
        assert_int_equal(federation_held(x.paris, "").slices, 1);
    }
    edge_end(&x);
}

/* ---- Override 4 in each busy state ------------------------------------------------------------
 */

struct taken_case {
    const char *verb, *state;
    bool cluster;
};

static const struct taken_case taken_cases[] = {
    {"create", "CREATE_REQUESTED", false}, {"create", "CREATING", false},
    {"update", "UPDATE_REQUESTED", false}, {"update", "UPDATING", false},
    {"delete", "DELETE_REQUESTED", false}, {"delete", "DELETING", false},
    {"create", "CREATE_REQUESTED", true},  {"create", "CREATING", true},
    {"update", "UPDATE_REQUESTED", true},  {"update", "UPDATING", true},
    {"delete", "DELETE_REQUESTED", true},  {"delete", "DELETING", true},
};

static void begin_taken(struct edge_play *x, const struct taken_case *t)
{
    if (strcmp(t->verb, "create") == 0) {
        edge_done(x, t->cluster ? edge_create_cluster(x, WEB, 2) : edge_create_instance(x, SHOP));
    } else if (strcmp(t->verb, "delete") == 0) {
        edge_done(x, federation_delete(&x->f, t->cluster ? WEB : SHOP, 0));
    } else if (t->cluster) {
        edge_done(x, federation_update_cluster(
                         &x->f,
                         &(struct federation_cluster){.name = WEB, .flavor = "small", .nodes = 3}));
    } else {
        edge_done(x, edge_refresh_shop(x, "another"));
    }
}

static void take_one_over(struct edge_play *x, const struct taken_case *t)
{
    const char *name = t->cluster ? WEB : SHOP;
    bool requested = strstr(t->state, "REQUESTED") != NULL;
    if (!t->cluster || strcmp(t->verb, "create") != 0) {
        edge_with_web(x);
        edge_apply_shop(x, "");
        if (!t->cluster && strcmp(t->verb, "create") != 0) {
            edge_done(x, edge_create_instance(x, SHOP));
            edge_await(x, SHOP, "READY");
        }
    }
    if (requested) {
        federation_cut(x->paris, true);
    } else {
        federation_pause_site(x->paris, true);
    }
    begin_taken(x, t);
    edge_await(x, name, t->state);
    const char *uid = federation_object(&x->f, name).uid;
    edge_refused(x, federation_delete(&x->f, name, 0), "is ");
    edge_done(x, federation_delete(&x->f, name,
                                   BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_AND_TRANSIENT));
    assert_false(federation_object(&x->f, name).exists);
    federation_cut(x->paris, false);
    federation_pause_site(x->paris, false);
    assert_true(federation_await_info(x->paris, "READY", EDGE_SETTLE_NS));
    federation_run(&x->f, 30 * SECOND_NS);
    struct federation_held held = federation_held(x->paris, uid);
    assert_int_equal(held.slices + held.definitions + held.instances, 0);
    assert_false(federation_object(&x->f, name).exists);
    if (!federation_is(&x->f, WEB, "")) {
        edge_done(x, federation_delete(&x->f, WEB, 0));
        edge_await(x, WEB, "");
    }
    edge_holds_nothing(x);
}

void story_each_busy_state_is_taken_over(struct cluster *c)
{
    struct edge_play x;
    says(c,
         "In each busy state of a cluster and of an app a client deletes the object without "
         "waiting for the site, which cannot do anything just then. It is gone at once; what the "
         "site had begun goes when it can.");
    edge_begin(&x, c, &(struct federation_options){0});
    for (size_t i = 0; i < sizeof(taken_cases) / sizeof(taken_cases[0]); i++) {
        take_one_over(&x, &taken_cases[i]);
    }
    edge_end(&x);
}
