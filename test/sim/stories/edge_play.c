#include "test/sim/stories/edge_play.h"

#include "test/sim/model/etcd.h"

void edge_begin(struct edge_play *x, struct cluster *c, const struct federation_options *options)
{
    *x = (struct edge_play){0};
    federation_init(&x->f, c, options);
    x->paris = &x->f.sites[0];
    x->empty_revision = model_etcd_revision(store_etcd(x->paris->cluster->store));
    for (unsigned i = 0; i < x->f.site_count; i++) {
        struct federation_site *s = &x->f.sites[i];
        edge_done(x, federation_create_cloudlet(s));
        for (unsigned k = 0; k < s->crm_count; k++) {
            federation_start_crm(&s->crms[k]);
        }
    }
    for (unsigned i = 0; i < x->f.site_count; i++) {
        edge_await(x, x->f.sites[i].cloudlet, "READY");
    }
    edge_done(x, federation_flavor(&x->f, "small", 1));
}

void edge_end(struct edge_play *x)
{
    federation_done(&x->f);
}

void edge_done(struct edge_play *x, int result)
{
    if (result != 0) {
        fail_msg("refused: %s", x->f.refusal);
    }
}

void edge_refused(struct edge_play *x, int result, const char *text)
{
    if (result <= 0 || !strstr(x->f.refusal, text)) {
        fail_msg("not refused with \"%s\": %d %s", text, result, x->f.refusal);
    }
}

int edge_create_cluster(struct edge_play *x, const char *name, unsigned nodes)
{
    return federation_create_cluster(
        &x->f, &(struct federation_cluster){.name = name, .flavor = "small", .nodes = nodes});
}

int edge_create_instance(struct edge_play *x, const char *name)
{
    return federation_create_instance(&x->f, &(struct federation_instance){.name = name});
}

void edge_with_web(struct edge_play *x)
{
    edge_done(x, edge_create_cluster(x, WEB, 2));
    edge_await(x, WEB, "READY");
}

void edge_with_shop(struct edge_play *x)
{
    edge_with_web(x);
    edge_apply_shop(x, "");
    edge_done(x, edge_create_instance(x, SHOP));
    edge_await(x, SHOP, "READY");
}

void edge_await_within(struct edge_play *x, const char *name, const char *state, int64_t limit_ns)
{
    if (!federation_await(&x->f, name, state, limit_ns)) {
        struct federation_object o = federation_object(&x->f, name);
        fail_msg("%s: not %s but %s: %s", name, *state ? state : "gone",
                 o.exists ? o.state : "gone", o.error);
    }
}

void edge_await(struct edge_play *x, const char *name, const char *state)
{
    edge_await_within(x, name, state, EDGE_SETTLE_NS);
}

void edge_holds_nothing(struct edge_play *x)
{
    struct federation_held held = federation_held(x->paris, "");
    assert_int_equal(held.slices, 0);
    assert_int_equal(held.definitions, 0);
    for (unsigned i = 0; i < 100 && cluster_records(x->paris->cluster, "actual/"); i++) {
        world_run(x->f.centre->world, SECOND_NS / 10);
    }
    assert_int_equal(cluster_records(x->paris->cluster, "actual/"), 0);
    assert_int_equal(cluster_containers(x->paris->cluster), 0);
}

void edge_settled(struct edge_play *x)
{
    struct federation_held before = federation_held(x->paris, "");
    federation_run(&x->f, 10 * SECOND_NS);
    struct federation_held after = federation_held(x->paris, "");
    assert_int_equal(before.slices, after.slices);
    assert_int_equal(before.definitions, after.definitions);
    assert_int_equal(before.running, after.running);
}

void edge_apply_shop(struct edge_play *x, const char *text)
{
    edge_done(x, federation_app(&x->f, &(struct federation_app){.name = APP,
                                                                .flavor = "small",
                                                                .text = text,
                                                                .scale_with_cluster = true,
                                                                .auto_delete = true}));
}

int edge_refresh_shop(struct edge_play *x, const char *text)
{
    edge_apply_shop(x, text);
    return federation_refresh_instance(&x->f, SHOP, false);
}

struct edge_caught {
    struct edge_play *play;
    const char *name, *state, *end;
    uint64_t request;
};

static bool is_caught_or_over(void *context)
{
    struct edge_caught *k = context;
    return federation_is(&k->play->f, k->name, k->state) ||
           (federation_is(&k->play->f, k->name, k->end) &&
            (!*k->end || federation_object(&k->play->f, k->name).request > k->request));
}

bool edge_catch(struct edge_play *x, const char *name, const char *state, uint64_t request,
                const char *end)
{
    if (!world_run_until(x->f.centre->world, EDGE_SETTLE_NS, is_caught_or_over,
                         &(struct edge_caught){x, name, state, end, request})) {
        fail_msg("%s: never %s, but %s", name, state, federation_state(&x->f, name));
    }
    return federation_is(&x->f, name, state);
}

void edge_shop_runs(struct edge_play *x)
{
    struct federation_object shop = federation_object(&x->f, SHOP);
    struct federation_held held = federation_held(x->paris, shop.uid);
    assert_int_equal(held.definitions, 1);
    assert_string_equal(held.digest, shop.digest);
    assert_int_equal(federation_running(x->paris, shop.uid, shop.digest), shop.instances);
}
