/* Systems: who may change what, and what becomes of a deploy (docs/systems.md). The locks are tried
 * as clients meet them: a deploy of a version holds "/", one of a path its path. */
#include "test/sim/model/etcd.h"
#include "test/sim/stories/shop.h"

#include <string.h>

/* Ten services beside each other, and a service that no cell can run: its deploy lasts until its
 * deadline. */
#define TEN "/a:1 /b:1 /c:1 /d:1 /e:1 /f:1 /g:1 /h:1 /i:1 /j:1"
#define HANGS "/a:9! /b:1"

enum { RACERS = 10 };

/* Ten at once, through both bbs: "D0" to "D9". Each is answered 201. */
static void race(struct shop *s, const char *prefix, const char *const *targets)
{
    int statuses[RACERS];
    for (int i = 0; i < RACERS; i++) {
        shop_send(s, "POST", "/shop/deploys",
                  arena_printf(&s->arena, "{\"id\":\"%s%d\",%s}", prefix, i, targets[i]),
                  &statuses[i]);
    }
    for (int i = 0; i < RACERS; i++) {
        while (statuses[i] < 0) {
            world_step(s->c->world, world_now(s->c->world) + SECOND_NS);
        }
        assert_int_equal(statuses[i], 201);
    }
}

static int count_in(struct shop *s, const char *prefix, const char *state)
{
    int count = 0;
    for (int i = 0; i < RACERS; i++) {
        const char *id = arena_printf(&s->arena, "%s%d", prefix, i);
        count += strcmp(shop_state(s, "deploy", id), state) == 0;
    }
    return count;
}

static void await_refused(struct shop *s, const char *prefix, int count)
{
    for (int i = 0; i < 600 && count_in(s, prefix, "failed") < count; i++) {
        world_run(s->c->world, 100 * MILLISECOND_NS);
    }
    assert_int_equal(count_in(s, prefix, "failed"), count);
}

/* It failed, for this one holds the path: who, and since when. */
static void refused_by(struct shop *s, const char *kind, const char *id, const char *holder)
{
    const char *begin = arena_printf(&s->arena, "%s is in progress since 20", holder);
    const char *text = shop_says(s, kind, id);
    if (strncmp(text, begin, strlen(begin)) != 0) {
        fail_msg("%s %s: \"%s\" does not begin as \"%s\"", kind, id, text, begin);
    }
}

static const char *const whole[RACERS] = {"\"version\":\"1.0.0\"", "\"version\":\"1.0.0\"",
                                          "\"version\":\"1.0.0\"", "\"version\":\"1.0.0\"",
                                          "\"version\":\"1.0.0\"", "\"version\":\"1.0.0\"",
                                          "\"version\":\"1.0.0\"", "\"version\":\"1.0.0\"",
                                          "\"version\":\"1.0.0\"", "\"version\":\"1.0.0\""};
static const char *const parts[RACERS] = {
    "\"path\":\"/a\"", "\"path\":\"/b\"", "\"path\":\"/c\"", "\"path\":\"/d\"", "\"path\":\"/e\"",
    "\"path\":\"/f\"", "\"path\":\"/g\"", "\"path\":\"/h\"", "\"path\":\"/i\"", "\"path\":\"/j\""};

void story_a_version_is_deployed(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/store/api:1");
    says(c, "A deploy of version 1.0.0, which has one service.");
    shop_asks(&s, "D", "version 1.0.0");
    shop_ends(&s, "deploy", "D", "succeeded");
    assert_string_equal(shop_services(&s), "/store/api:1");
    shop_close(&s);
}

void story_the_whole_is_held_alone(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", TEN);
    definitions_put(&s.definitions, "1.1.0", HANGS);
    says(c, "shop runs 1.0.0. D, of 1.1.0, holds all of it: a service of it never comes to run.");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    shop_asks(&s, "D", "version 1.1.0");
    shop_await(&s, "deploy", "D", "in progress");
    says(c, "Ten deploys of the whole fail, and so do ten of parts of it.");
    race(&s, "X", whole);
    await_refused(&s, "X", RACERS);
    race(&s, "Y", parts);
    await_refused(&s, "Y", RACERS);
    refused_by(&s, "deploy", "X3", "deploy D of /");
    assert_string_equal(shop_held(&s), "D=/");
    says(c, "When D is over the whole can be had again.");
    shop_ends(&s, "deploy", "D", "failed");
    shop_asks(&s, "E", "version 1.0.0");
    shop_ends(&s, "deploy", "E", "succeeded");
    assert_string_equal(shop_held(&s), "");
    shop_close(&s);
}

void story_parts_are_held_together(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", TEN);
    says(c, "shop runs 1.0.0. Ten deploys of ten parts that never come to run hold them together.");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    definitions_move(&s.definitions, "/a:9! /b:9! /c:9! /d:9! /e:9! /f:9! /g:9! /h:9! /i:9! /j:9!");
    race(&s, "Y", parts);
    for (int i = 0; i < 600 && count_in(&s, "Y", "in progress") < RACERS; i++) {
        world_run(c->world, 100 * MILLISECOND_NS);
    }
    assert_int_equal(count_in(&s, "Y", "in progress"), RACERS);
    says(c, "Ten deploys of the whole fail.");
    race(&s, "X", whole);
    await_refused(&s, "X", RACERS);
    says(c, "One part is given up, and the whole cannot be had yet.");
    shop_change(&s, "Y0", "abort");
    shop_ends(&s, "deploy", "Y0", "failed");
    shop_asks(&s, "Z", "version 1.0.0");
    shop_ends(&s, "deploy", "Z", "failed");
    says(c, "When all have failed it can.");
    await_refused(&s, "Y", RACERS);
    shop_asks(&s, "E", "version 1.0.0");
    shop_ends(&s, "deploy", "E", "succeeded");
    shop_close(&s);
}

void story_who_holds_the_root(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", HANGS);
    says(c, "A deploy of the root holds it: neither another one nor a teardown gets it.");
    shop_asks(&s, "A", "version 1.0.0");
    shop_await(&s, "deploy", "A", "in progress");
    says(c, "The same request again is the same deploy.");
    shop_asks(&s, "A", "version 1.0.0");
    shop_asks(&s, "B", "version 1.0.0");
    shop_ends(&s, "deploy", "B", "failed");
    shop_asks_teardown(&s, "T");
    shop_ends(&s, "teardown", "T", "failed");
    refused_by(&s, "teardown", "T", "deploy A of /");
    shop_ends(&s, "deploy", "A", "failed");
    shop_asks(&s, "C", "version 1.0.0");
    shop_await_held(&s, "C=/");
    shop_close(&s);
}

void story_who_tears_down(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a:1*3 /b:1");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    says(c,
         "A teardown holds all of shop while its services go: no deploy and no second teardown.");
    shop_asks_teardown(&s, "C");
    shop_await(&s, "teardown", "C", "in progress");
    assert_string_equal(shop_held(&s), "C=/");
    shop_asks(&s, "B", "version 1.0.0");
    shop_ends(&s, "deploy", "B", "failed");
    shop_asks_teardown(&s, "T");
    shop_asks_teardown(&s, "C");
    shop_ends(&s, "teardown", "T", "failed");
    refused_by(&s, "teardown", "T", "teardown C");
    shop_ends(&s, "teardown", "C", "succeeded");
    assert_string_equal(shop_services(&s), "");
    says(c, "Nothing is left, and it can be torn down, and deployed, again.");
    shop_asks_teardown(&s, "E");
    shop_ends(&s, "teardown", "E", "succeeded");
    shop_asks(&s, "F", "version 1.0.0");
    shop_ends(&s, "deploy", "F", "succeeded");
    assert_string_equal(shop_services(&s), "/a:1*3 /b:1");
    shop_close(&s);
}

void story_who_holds_a_path(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a/b/c:1 /a/c:1 /b/c:1 /ab:1");
    shop_asks(&s, "A", "version 1.0.0");
    shop_await(&s, "deploy", "A", "in progress");
    says(c, "Who holds the root holds all below it.");
    shop_asks(&s, "B", "path /b");
    shop_asks(&s, "B2", "path /b/c");
    shop_ends(&s, "deploy", "B", "failed");
    shop_ends(&s, "deploy", "B2", "failed");
    shop_ends(&s, "deploy", "A", "succeeded");
    says(c, "Two paths beside each other are held together, and /ab beside /a; what is above or "
            "below one of them is not to be had.");
    definitions_move(&s.definitions, "/a/b/c:2! /a/c:2! /b/c:2! /ab:2!");
    shop_asks(&s, "C", "path /a/b");
    shop_await_held(&s, "C=/a/b");
    shop_asks(&s, "D", "path /a/c");
    shop_await_held(&s, "C=/a/b D=/a/c");
    shop_asks(&s, "G", "path /ab");
    shop_await_held(&s, "C=/a/b D=/a/c G=/ab");
    shop_asks(&s, "E", "path /a/b/c");
    shop_asks(&s, "F", "path /a");
    shop_ends(&s, "deploy", "E", "failed");
    shop_ends(&s, "deploy", "F", "failed");
    assert_string_equal(shop_says(&s, "deploy", "F"),
                        "deploys C of /a/b and D of /a/c are in progress");
    assert_string_equal(shop_held(&s), "C=/a/b D=/a/c G=/ab");
    shop_close(&s);
}

/* ---- What becomes of a deploy ---------------------------------------------------------------- */

void story_a_look_alike_stays(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a/x:1 /a/y:1 /ab:1");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    says(c, "/a is deployed anew, with other services: /ab is not touched.");
    definitions_move(&s.definitions, "/a/x:2 /a/z:1 /ab:7");
    shop_asks(&s, "B", "path /a");
    shop_ends(&s, "deploy", "B", "succeeded");
    assert_string_equal(shop_services(&s), "/a/x:2 /a/z:1 /ab:1");
    says(c, "What B did is undone.");
    shop_asks(&s, "U", "undo B");
    shop_ends(&s, "deploy", "U", "succeeded");
    assert_string_equal(shop_services(&s), "/a/x:1 /a/y:1 /ab:1");
    shop_close(&s);
}

void story_a_sibling_fails(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a:1 /b:1!");
    says(c, "Of 1.0.0 /b never comes to run: the deploy fails, and shop is degraded.");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "failed");
    shop_await(&s, "system", "", "degraded");
    says(c, "A deploy of /a succeeds whatever /b does.");
    definitions_move(&s.definitions, "/a:2 /b:1!");
    shop_asks(&s, "B", "path /a");
    shop_ends(&s, "deploy", "B", "succeeded");
    assert_string_equal(shop_state(&s, "system", ""), "degraded");
    shop_close(&s);
}

void story_a_bad_version_is_rolled_back(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a:1 /b:1");
    definitions_put(&s.definitions, "1.1.0", "/a:2! /c:1");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    says(c, "1.1.0 cannot run. Its deploy puts 1.0.0 back by itself.");
    shop_asks(&s, "B", "version 1.1.0 back");
    shop_ends(&s, "deploy", "B", "failed");
    assert_string_equal(shop_services(&s), "/a:1 /b:1");
    shop_await(&s, "system", "", "stable");
    shop_close(&s);
}

void story_a_deploy_is_aborted(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a:1*2");
    definitions_put(&s.definitions, "1.1.0", "/a:2!*2");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    says(c, "B is paused, and then aborted: it goes on, and what stood before is put back.");
    shop_asks(&s, "B", "version 1.1.0");
    shop_await(&s, "deploy", "B", "in progress");
    shop_change(&s, "B", "pause");
    shop_change(&s, "B", "abort");
    shop_ends(&s, "deploy", "B", "failed");
    assert_string_equal(shop_services(&s), "/a:1*2");
    assert_string_equal(shop_held(&s), "");
    shop_close(&s);
}

void story_a_converger_dies_with_a_deploy(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a:1 /b:1 /s/c:1");
    says(c, "The leader of the convergers dies at some moment of a deploy; the other one goes on.");
    shop_asks(&s, "A", "version 1.0.0");
    world_run(c->world, (int64_t)random_below(world_random(c->world), 3 * SECOND_NS));
    world_kill(c->world, c->convergers[0]);
    shop_ends(&s, "deploy", "A", "succeeded");
    assert_string_equal(shop_services(&s), "/a:1 /b:1 /s/c:1");
    assert_string_equal(shop_held(&s), "");
    shop_close(&s);
}

void story_a_system_is_deleted(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    definitions_put(&s.definitions, "1.0.0", "/a:1*2 /b:1 /s/c:1");
    definitions_put(&s.definitions, "1.1.0", "/a:2*2 /b:1! /s/d:1");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    says(c, "shop is deleted at some moment of a deploy: nothing of it is left.");
    shop_asks(&s, "B", "version 1.1.0");
    world_run(c->world, (int64_t)random_below(world_random(c->world), 3 * SECOND_NS));
    assert_int_equal(shop_ask(&s, "DELETE", "/shop", ""), 200);
    shop_await(&s, "system", "", "");
    static const char *const kinds[] = {"build",   "deploy",   "head",     "hold",
                                        "index",   "jobrun",   "revision", "secret",
                                        "service", "teardown", "tree",     "versions"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        assert_int_equal(cluster_records(c, arena_printf(&s.arena, "%s/", kinds[i])), 0);
    }
    says(c, "Its name is free, and the new one has nothing of it.");
    assert_int_equal(shop_ask(&s, "GET", "/shop/deploys", ""), 404);
    assert_int_equal(shop_ask(&s, "POST", "", "{\"id\":\"shop\"}"), 201);
    shop_await(&s, "system", "", "stable");
    assert_string_equal(shop_services(&s), "");
    shop_close(&s);
}

void story_a_large_tree_goes_at_once(struct cluster *c)
{
    enum { JOBS = 240, PORTIONS_WOULD_WAIT_S = 30 }; /* five portions; between full passes */
    struct shop s;
    SCOPED_BUF(text);
    shop_open(&s, c);
    for (int i = 0; i < JOBS; i++) {
        buf_printf(&text, "/j%d:1= ", i);
    }
    buf_append(&text, "", 1);
    definitions_put(&s.definitions, "1.0.0", (const char *)text.data);
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    assert_true(cluster_records(c, "tree/") > JOBS);
    says(
        c,
        "The tree of a deleted system goes portion after portion, and none waits for a full pass.");
    int64_t began = world_now(c->world);
    assert_int_equal(shop_ask(&s, "DELETE", "/shop", ""), 200);
    shop_await(&s, "system", "", "");
    assert_true(world_now(c->world) - began < PORTIONS_WOULD_WAIT_S * SECOND_NS);
    assert_int_equal(cluster_records(c, "tree/"), 0);
    shop_close(&s);
}

void story_a_roll_waits_for_a_confirmation(struct cluster *c)
{
    struct shop s;
    shop_open(&s, c);
    says(c, "etcd is restored to the middle of a roll. The service says that it is held, and stays "
            "so, until somebody confirms its system: then it rolls on at once, and the deploy "
            "ends.");
    definitions_put(&s.definitions, "1.0.0", "/a:1*4");
    definitions_put(&s.definitions, "1.1.0", "/a:2*4");
    shop_asks(&s, "A", "version 1.0.0");
    shop_ends(&s, "deploy", "A", "succeeded");
    shop_asks(&s, "B", "version 1.1.0");
    shop_await(&s, "service", "/a", "updating");
    int64_t snapshot = model_etcd_revision(store_etcd(c->store));
    shop_ends(&s, "deploy", "B", "succeeded");
    store_restore(c->store, snapshot, SECOND_NS);
    world_run(c->world, 5 * SECOND_NS);
    cluster_new_board_generation(c, "again");
    world_run(c->world, 120 * SECOND_NS);
    assert_string_equal(shop_state(&s, "deploy", "B"), "in progress");
    assert_non_null(strstr(shop_says(&s, "service", "/a"), "restored"));
    assert_int_equal(shop_ask(&s, "POST", "/shop/confirm", ""), 200);
    world_run(c->world, 3 * SECOND_NS);
    assert_null(strstr(shop_says(&s, "service", "/a"), "restored"));
    shop_ends(&s, "deploy", "B", "succeeded");
    assert_string_equal(shop_services(&s), "/a:2*4");
    shop_close(&s);
}
