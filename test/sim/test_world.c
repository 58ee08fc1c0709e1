/* The bounds of the simulated world (test/sim/world/world.h): so many processes, and no more; and
 * stores of which each has its own. */
#include <stdio.h>
#include <string.h>

#include "test/sim/world/world.h"
#include "test/tool/cmocka.h"
#include "test/tool/echo_role.h"

static struct role *make_echo(void *context, unsigned incarnation)
{
    (void)context, (void)incarnation;
    return echo_new();
}

struct names {
    char name[16], url[32];
};

static struct node *add(struct world *w, struct names *n, int number)
{
    snprintf(n->name, sizeof(n->name), "node-%d", number);
    snprintf(n->url, sizeof(n->url), "https://%s:1", n->name);
    return world_add(w, &(struct node_config){.name = n->name,
                                              .unit = "client",
                                              .certificate_name = n->name,
                                              .url = n->url,
                                              .make = make_echo});
}

/* What this one is answered when it calls another one, "outcome|status|..." (echo_role.h). */
static void calls(struct world *w, const struct names *from, const struct names *to, char *ret,
                  size_t size)
{
    char path[80];
    SCOPED_BUF(body);
    snprintf(path, sizeof(path), "/call?%s/status?204", to->url);
    assert_int_equal(world_call(w, from->url, path, NULL, 60 * SECOND_NS, &body), 200);
    snprintf(ret, size, "%s", buf_string(&body));
}

static void as_many_processes_as_there_may_be(void **state)
{
    static struct names names[WORLD_NODES_MAX + 1];
    struct node *nodes[WORLD_NODES_MAX];
    struct world *w = world_new(&(struct world_options){.seed = 1});
    for (int i = 0; i < WORLD_NODES_MAX; i++) {
        nodes[i] = add(w, &names[i], i);
        assert_non_null(nodes[i]);
        world_start(w, nodes[i]);
    }
    assert_null(add(w, &names[WORLD_NODES_MAX], WORLD_NODES_MAX));

    char before[80], cut[80], after[80];
    int last = WORLD_NODES_MAX - 1;
    calls(w, &names[0], &names[last], before, sizeof(before));
    assert_string_equal(before, "answered|204||||");
    world_cut(w, nodes[last], nodes[0], true);
    calls(w, &names[0], &names[last], cut, sizeof(cut));
    assert_non_null(strstr(cut, "unknown|0|"));
    calls(w, &names[last - 1], &names[last], after, sizeof(after));
    assert_string_equal(after, before);
    world_free(w);
}

static void a_store_is_known_by_its_name(void **state)
{
    struct world *w = world_new(&(struct world_options){.seed = 1});
    struct store *stores[WORLD_STORES_MAX];
    char names[WORLD_STORES_MAX][32];
    for (int i = 0; i < WORLD_STORES_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "etcd-%d", i);
        stores[i] = world_store(w, names[i]);
        for (int before = 0; before < i; before++) {
            assert_ptr_not_equal(stores[i], stores[before]);
            assert_ptr_not_equal(store_etcd(stores[i]), store_etcd(stores[before]));
        }
    }
    assert_ptr_equal(world_store(w, "etcd-0"), stores[0]);
    assert_ptr_equal(world_store(w, names[WORLD_STORES_MAX - 1]), stores[WORLD_STORES_MAX - 1]);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_processes_as_there_may_be),
        cmocka_unit_test(a_store_is_known_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
