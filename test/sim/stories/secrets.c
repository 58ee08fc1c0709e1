/* Secrets of systems: they count from the next deploy on, and are opened for who runs what needs
 * them (docs/systems.md, Secrets). */
#include "test/sim/checkers/checkers.h"
#include "test/sim/stories/shop.h"

#include <string.h>

/* What the containers were given. */
struct given {
    struct shop shop;
    unsigned made;       /* containers so far */
    char last[64];       /* the secret of the last one that had it */
};

static void note_given(void *context, struct node *cell, const struct verb_call *call)
{
    struct given *g = context;
    (void)cell;
    if (call->verb != VERB_PREPARE) {
        return;
    }
    g->made++;
    for (size_t i = 0; i < call->spec->env_count; i++) {
        if (strcmp(call->spec->env[i].name, SECRET_VARIABLE) == 0) {
            strncpy(g->last, call->spec->env[i].value, sizeof(g->last) - 1);
        }
    }
}

static void set(struct given *g, const char *value)
{
    const char *body = arena_printf(&g->shop.arena, "{\"value\":\"%s\"}", value);
    assert_int_equal(shop_ask(&g->shop, "PATCH", "/shop/secrets/%2Fa%3Akey", body), 200);
}

void story_a_secret_counts_from_the_next_deploy(struct cluster *c)
{
    struct given g = {0};
    shop_open(&g.shop, c);
    world_observe(c->world, &(struct world_observer){.verb = note_given, .context = &g});
    definitions_put(&g.shop.definitions, "1.0.0", "/a:1?key /b:1");
    says(c, "What /a needs is not set: the deploy fails at its beginning, and says how it is set.");
    shop_asks(&g.shop, "d1", "version 1.0.0");
    shop_ends(&g.shop, "deploy", "d1", "failed");
    assert_string_equal(shop_says(&g.shop, "deploy", "d1"),
                        "/a needs secret /a:key: bbs secrets set shop /a:key");
    assert_int_equal(g.made, 0);
    says(c, "It is set. The next deploy gives it to /a.");
    set(&g, SECRET_MARK "1");
    shop_asks(&g.shop, "d2", "version 1.0.0");
    shop_ends(&g.shop, "deploy", "d2", "succeeded");
    assert_int_equal(g.made, 2);
    assert_string_equal(g.last, SECRET_MARK "1");
    says(c, "It is set anew. What runs keeps the value that it was deployed with.");
    set(&g, SECRET_MARK "2");
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(g.made, 2);
    says(c, "The next deploy replaces /a, and nothing else.");
    shop_asks(&g.shop, "d3", "version 1.0.0");
    shop_ends(&g.shop, "deploy", "d3", "succeeded");
    assert_int_equal(g.made, 3);
    assert_string_equal(g.last, SECRET_MARK "2");
    says(c, "It is unset: what runs runs on, and what needs it cannot be deployed again.");
    assert_int_equal(shop_ask(&g.shop, "DELETE", "/shop/secrets/%2Fa%3Akey", ""), 200);
    shop_asks(&g.shop, "d4", "version 1.0.0");
    shop_ends(&g.shop, "deploy", "d4", "failed");
    assert_string_equal(shop_services(&g.shop), "/a:1?key /b:1");
    assert_int_equal(g.made, 3);
    world_observe(c->world, &(struct world_observer){0});
    shop_close(&g.shop);
}

void story_a_secret_is_unset_under_a_deploy(struct cluster *c)
{
    struct given g = {0};
    shop_open(&g.shop, c);
    definitions_put(&g.shop.definitions, "1.0.0", "/a:1?key");
    definitions_put(&g.shop.definitions, "1.1.0", "/a:2!");
    says(c, "shop runs 1.0.0, which needs a secret. 1.1.0 comes, and cannot run; meanwhile the "
            "secret is unset.");
    set(&g, SECRET_MARK "1");
    shop_asks(&g.shop, "d1", "version 1.0.0");
    shop_ends(&g.shop, "deploy", "d1", "succeeded");
    shop_asks(&g.shop, "d2", "version 1.1.0 back");
    shop_await(&g.shop, "deploy", "d2", "in progress");
    assert_int_equal(shop_ask(&g.shop, "DELETE", "/shop/secrets/%2Fa%3Akey", ""), 200);
    says(c, "What stood before cannot be put back: the deploy fails, says why, and holds nothing.");
    shop_ends(&g.shop, "deploy", "d2", "failed");
    assert_string_equal(shop_says(&g.shop, "deploy", "d2"),
                        "/a needs secret /a:key: bbs secrets set shop /a:key");
    assert_string_equal(shop_held(&g.shop), "");
    says(c, "With the secret set the next deploy does it.");
    set(&g, SECRET_MARK "2");
    shop_asks(&g.shop, "d3", "version 1.0.0");
    shop_ends(&g.shop, "deploy", "d3", "succeeded");
    shop_close(&g.shop);
}
