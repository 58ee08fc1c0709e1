/* Who dies while an operation of a site is under way, and that it comes to its end all the same. */
#include "test/sim/stories/edge_play.h"

/* One operation, and the states that it goes through. */
struct busy_case {
    const char *verb, *name;
    const char *states[4];
    const char *end;
};

static const struct busy_case busy_cases[] = {
    {"create", WEB, {"CREATE_REQUESTED", "CREATING"}, "READY"},
    {"create", SHOP, {"CREATE_REQUESTED", "CREATING"}, "READY"},
    {"update", WEB, {"UPDATE_REQUESTED", "UPDATING"}, "READY"},
    {"update", SHOP, {"UPDATE_REQUESTED", "UPDATING"}, "READY"},
    {"delete", SHOP, {"DELETE_PREPARE", "DELETE_REQUESTED", "DELETING"}, ""},
    {"delete", WEB, {"DELETE_PREPARE", "DELETE_REQUESTED", "DELETING"}, ""},
};

struct busy_play {
    struct edge_play edge;
    unsigned number; /* of the state, over all */
    void (*die)(struct busy_play *p);
    void (*back)(struct busy_play *p);
    struct node *victim;
};

/* Nobody waits for the answer: the states go by meanwhile. */
static void begin_operation(struct edge_play *x, const struct busy_case *b, unsigned number)
{
    bool cluster = strcmp(b->name, WEB) == 0, update = strcmp(b->verb, "update") == 0;
    const char *noun = cluster ? "cluster" : "instance", *verb = b->verb;
    const Board__EdgeMove *says = federation_says(&x->f, 0);
    if (cluster && strcmp(verb, "delete") != 0) {
        says = federation_says_cluster(
            &x->f, &(struct federation_cluster){
                       .name = WEB, .flavor = "small", .nodes = update ? 3 + number % 2 : 2});
    } else if (update) {
        edge_apply_shop(x, arena_printf(&x->f.arena, "revision %u", number));
        verb = "refresh";
    }
    federation_send(&x->f, noun, verb, b->name, says, NULL, NULL);
}

/* The store holds what the operation said, and the site the same. */
static void check_end(struct edge_play *x, const struct busy_case *b)
{
    struct federation_object o = federation_object(&x->f, b->name);
    struct federation_held held = federation_held(x->paris, o.uid);
    if (!*b->end) {
        assert_false(o.exists);
    } else if (strcmp(b->name, WEB) == 0) {
        assert_int_equal(held.slices, 1);
        assert_string_equal(held.digest, o.digest);
    } else {
        edge_shop_runs(x);
    }
}

/* What is to be there when the case begins. */
static void prepare_case(struct edge_play *x, const struct busy_case *b)
{
    bool wants_shop = strcmp(b->name, SHOP) == 0 && strcmp(b->verb, "create") != 0;
    bool wants_web = strcmp(b->name, SHOP) == 0 || strcmp(b->verb, "create") != 0;
    if (wants_web && federation_is(&x->f, WEB, "")) {
        edge_with_web(x);
    }
    if (wants_shop && federation_is(&x->f, SHOP, "")) {
        edge_done(x, edge_create_instance(x, SHOP));
        edge_await(x, SHOP, "READY");
    }
}

static void clear_case(struct edge_play *x, const struct busy_case *b)
{
    if (strcmp(b->verb, "create") == 0) {
        edge_done(x, federation_delete(&x->f, WEB, 0));
        edge_await(x, WEB, "");
        edge_holds_nothing(x);
    }
}

/* For each state of each operation: it begins, the victim dies as soon as the store has the state,
 * is away for a while, and comes back. */
static void die_in_each_state(struct busy_play *p)
{
    struct edge_play *x = &p->edge;
    struct world *w = x->f.centre->world;
    edge_apply_shop(x, "");
    for (size_t i = 0; i < sizeof(busy_cases) / sizeof(busy_cases[0]); i++) {
        const struct busy_case *b = &busy_cases[i];
        for (unsigned k = 0; b->states[k]; k++) {
            prepare_case(x, b);
            p->number++;
            uint64_t request = federation_object(&x->f, b->name).request;
            begin_operation(x, b, p->number);
            if (edge_catch(x, b->name, b->states[k], request, b->end)) {
                p->die(p);
                federation_run(&x->f,
                               (int64_t)random_below(world_random(w), 8000) * MILLISECOND_NS);
                p->back(p);
            }
            edge_await(x, b->name, b->end);
            check_end(x, b);
            clear_case(x, b);
        }
    }
    if (!federation_is(&x->f, WEB, "")) {
        edge_done(x, federation_delete(&x->f, WEB, 0));
        edge_await(x, WEB, "");
    }
    edge_holds_nothing(x);
    edge_end(x);
}

static void kill_crm(struct busy_play *p)
{
    federation_kill_crm(&p->edge.paris->crms[0]);
}

static void start_crm(struct busy_play *p)
{
    federation_start_crm(&p->edge.paris->crms[0]);
}

void story_a_crm_dies_in_each_busy_state(struct cluster *c)
{
    struct busy_play p = {.die = kill_crm, .back = start_crm};
    says(c, "Of a cluster and of an app in it, each operation is begun; in each of its states the "
            "CRM is killed, and begins again a little later. It goes on where the site stands, and "
            "the operation comes to its end.");
    edge_begin(&p.edge, c, &(struct federation_options){0});
    die_in_each_state(&p);
}

static void kill_victim(struct busy_play *p)
{
    world_kill(p->edge.f.centre->world, p->victim);
}

static void start_victim(struct busy_play *p)
{
    world_start(p->edge.f.centre->world, p->victim);
}

void story_a_converger_dies_in_each_busy_state(struct cluster *c)
{
    struct busy_play p = {.die = kill_victim, .back = start_victim, .victim = c->converger};
    says(c, "The same, and the one that is killed is the centre's converger.");
    edge_begin(&p.edge, c, &(struct federation_options){0});
    die_in_each_state(&p);
}

/* Both, so that whoever answers the CRM dies. */
static void kill_centre(struct busy_play *p)
{
    for (unsigned i = 0; i < p->edge.f.centre->options.bbs; i++) {
        world_kill(p->edge.f.centre->world, p->edge.f.centre->bbs[i]);
    }
}

static void start_centre(struct busy_play *p)
{
    for (unsigned i = 0; i < p->edge.f.centre->options.bbs; i++) {
        world_start(p->edge.f.centre->world, p->edge.f.centre->bbs[i]);
    }
}

void story_the_bbs_of_a_centre_die_in_each_busy_state(struct cluster *c)
{
    struct busy_play p = {.die = kill_centre, .back = start_centre};
    says(c, "The same, and those that are killed are all bbs of the centre.");
    edge_begin(&p.edge, c, &(struct federation_options){0});
    die_in_each_state(&p);
}

/* It dies in the middle of a step, or with its answers under way. */
static void kill_within(struct busy_play *p)
{
    struct world *w = p->edge.f.centre->world;
    struct federation_crm *crm = &p->edge.paris->crms[0];
    crm->wanted = false;
    if (random_below(world_random(w), 2)) {
        world_kill_asking(w, crm->node,
                          (int64_t)random_below(world_random(w), 9000) * MILLISECOND_NS);
    } else {
        world_kill_within(w, crm->node, (unsigned)random_below(world_random(w), 4));
    }
    world_run(w, SECOND_NS);
    if (node_up(crm->node)) {
        world_kill_asking(w, crm->node, 0);
        federation_kill_crm(crm);
    }
}

void story_a_crm_dies_between_a_commit_and_its_answer(struct cluster *c)
{
    struct busy_play p = {.die = kill_within, .back = start_crm};
    says(c, "The same, and the CRM is killed within a step, or with what it asks under way: that "
            "comes when its successor is at work.");
    edge_begin(&p.edge, c, &(struct federation_options){0});
    die_in_each_state(&p);
}

void story_one_of_two_crms_is_paused(struct cluster *c)
{
    struct edge_play x;
    says(c, "Two CRMs are at the site: one leads, the other stands by. The one that leads stands "
            "still in the middle of an operation.");
    edge_begin(&x, c, &(struct federation_options){.crms = 2});
    edge_with_shop(&x);
    struct federation_crm *first = federation_leading_crm(x.paris);
    assert_non_null(first);
    uint64_t session = federation_session(x.paris);
    edge_done(&x, edge_refresh_shop(&x, "another"));
    world_run(c->world, (int64_t)random_below(world_random(c->world), 100) * MILLISECOND_NS);
    world_pause(c->world, first->node);

    says(c, "The other takes over, opens a session above the first one's, and ends it.");
    edge_await(&x, SHOP, "READY");
    edge_shop_runs(&x);
    struct federation_crm *second = federation_leading_crm(x.paris);
    assert_true(second && second != first);
    uint64_t now = federation_session(x.paris);
    assert_true(now > session);
    edge_done(&x, edge_refresh_shop(&x, "a third one"));
    world_run(c->world, (int64_t)random_below(world_random(c->world), 100) * MILLISECOND_NS);

    says(c, "The first wakes up, and harms nobody: neither the site nor the centre takes what it "
            "says. It ends, and stands by when it is started again.");
    world_wake(c->world, first->node);
    edge_await(&x, SHOP, "READY");
    edge_settled(&x);
    edge_shop_runs(&x);
    assert_ptr_equal(federation_leading_crm(x.paris), second);
    assert_int_equal(federation_session(x.paris), now);
    edge_end(&x);
}
