/* The bounds of the simulated world (test/sim/world/world.h): so many processes, and no more;
 * stores of which each has its own; and programs that processes launch. */
#include <stdio.h>
#include <stdlib.h>
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

/* ---- Programs ------------------------------------------------------------------------------- */

/* The script that echo launches says which row it is. */
static const struct program_row {
    const char *script;
    struct world_program program;
    const char *answer; /* "status|text" */
    int64_t after_ns;
    bool does;
} program_rows[] = {
    {"0", {.ends_ns = SECOND_NS}, "0|", SECOND_NS, true},
    {"1", {.ends_ns = SECOND_NS, .line = "well"}, "0|", SECOND_NS, true},
    {"2", {.ends_ns = 0, .status = 3, .line = "no port"}, "3|no port", 0, true},
    {"3",
     {.ends_ns = SECOND_NS, .status = 7},
     "7|it ended with status 7, and said nothing",
     SECOND_NS,
     true},
    {"4", {.ends_ns = LAUNCH_TIME_S * SECOND_NS - 1}, "0|", LAUNCH_TIME_S *SECOND_NS - 1, true},
    {"5",
     {.ends_ns = LAUNCH_TIME_S * SECOND_NS, .line = "waits"},
     "137|it did not end within 60 s and was killed, it said last: waits",
     LAUNCH_TIME_S *SECOND_NS,
     true},
    {"6",
     {.does_ns = LAUNCH_TIME_S * SECOND_NS - 1, .ends_ns = 3600 * SECOND_NS},
     "137|it did not end within 60 s and was killed",
     LAUNCH_TIME_S *SECOND_NS,
     true},
    {"7",
     {.does_ns = LAUNCH_TIME_S * SECOND_NS, .ends_ns = 3600 * SECOND_NS},
     "137|it did not end within 60 s and was killed",
     LAUNCH_TIME_S *SECOND_NS,
     false},
};
enum { PROGRAM_ROWS = sizeof(program_rows) / sizeof(program_rows[0]) };

struct programs_play {
    struct world *world;
    struct node *node;
    struct names names;
    unsigned answers, done;
    char answer[128];
};

static void program_does(void *context, struct node *from, const struct launch *launch)
{
    struct programs_play *x = context;
    assert_ptr_equal(from, x->node);
    assert_string_equal(launch->words[1], "-c");
    x->done++;
}

static struct world_program played(void *context, struct node *from, const struct launch *launch)
{
    struct programs_play *x = context;
    assert_ptr_equal(from, x->node);
    assert_int_equal(launch->count, 3);
    assert_string_equal(launch->words[0], "/bin/sh");
    struct world_program p = program_rows[atoi(launch->words[2])].program;
    p.does = program_does;
    p.context = x;
    return p;
}

static void program_answered(void *context, int status, struct bytes body)
{
    struct programs_play *x = context;
    x->answers += status == 200;
    snprintf(x->answer, sizeof(x->answer), "%.*s", (int)body.size, (const char *)body.data);
}

static void launches(struct programs_play *x, const char *script)
{
    const struct world_request q = {.method = "POST",
                                    .path = "/launch",
                                    .peer = {.unit = "client", .name = "client"},
                                    .content_type = "",
                                    .accept = "",
                                    .trace_id = "",
                                    .body = bytes_of(script)};
    world_send_request(x->world, x->names.url, &q, 1000 * SECOND_NS, program_answered, x);
    world_run(x->world, MILLISECOND_NS); /* it is there, and not yet answered */
}

static void begin_programs(struct programs_play *x)
{
    *x = (struct programs_play){.world = world_new(&(struct world_options){.seed = 1})};
    x->node = add(x->world, &x->names, 1);
    world_start(x->world, x->node);
    world_serve_programs(x->world, played, x);
}

static void each_end_of_a_program_is_told_once(void **state)
{
    for (size_t i = 0; i < PROGRAM_ROWS; i++) {
        const struct program_row *r = &program_rows[i];
        struct programs_play x;
        begin_programs(&x);
        launches(&x, r->script);
        world_run(x.world, r->after_ns > 2 * MILLISECOND_NS ? r->after_ns - 2 * MILLISECOND_NS : 0);
        assert_int_equal(x.answers, r->after_ns == 0 ? x.answers : 0);
        world_run(x.world, 4 * MILLISECOND_NS);
        assert_int_equal(x.answers, 1);
        assert_string_equal(x.answer, r->answer);
        world_run(x.world, 7200 * SECOND_NS);
        assert_int_equal(x.answers, 1);
        assert_int_equal(x.done, r->does);
        world_free(x.world);
    }
}

static void so_many_programs_run_at_once(void **state)
{
    struct programs_play x;
    begin_programs(&x);
    for (int i = 0; i < LAUNCHES_MAX; i++) {
        launches(&x, "4");
    }
    assert_int_equal(x.answers, 0);
    launches(&x, "4");
    assert_int_equal(x.answers, 1);
    assert_string_equal(x.answer, "-1|too many programs run already");
    world_run(x.world, LAUNCH_TIME_S * SECOND_NS);
    assert_int_equal(x.answers, LAUNCHES_MAX + 1);
    assert_int_equal(x.done, LAUNCHES_MAX);
    launches(&x, "2"); /* there is room again */
    world_run(x.world, MILLISECOND_NS);
    assert_string_equal(x.answer, "3|no port");

    world_serve_programs(x.world, NULL, NULL);
    launches(&x, "0");
    world_run(x.world, MILLISECOND_NS);
    assert_string_equal(x.answer, "-1|/bin/sh cannot be run: No such file or directory");
    world_free(x.world);
}

/* Its parent is killed, paused, or ends in order: the program goes on, and goes on, and is gone.
 * Who is started again hears nothing of it, and has room for as many as before. */
static void a_program_and_its_parent(void **state)
{
    struct programs_play x;
    begin_programs(&x);
    for (int i = 0; i < LAUNCHES_MAX; i++) {
        launches(&x, "6");
    }
    world_run(x.world, SECOND_NS);
    world_kill(x.world, x.node);
    world_start(x.world, x.node);
    launches(&x, "0");
    world_run(x.world, 2 * SECOND_NS);
    assert_string_equal(x.answer, "0|");
    assert_int_equal(x.done, 1);
    world_run(x.world, 2 * LAUNCH_TIME_S * SECOND_NS);
    assert_int_equal(x.done, 1 + LAUNCHES_MAX);
    assert_int_equal(x.answers, 1);

    launches(&x, "6");
    world_pause(x.world, x.node);
    world_run(x.world, 2 * LAUNCH_TIME_S * SECOND_NS);
    assert_int_equal(x.done, 2 + LAUNCHES_MAX);
    assert_int_equal(x.answers, 1);
    world_wake(x.world, x.node);
    world_run(x.world, SECOND_NS);
    assert_int_equal(x.answers, 2);

    launches(&x, "6");
    world_stop(x.world, x.node);
    assert_false(node_up(x.node));
    world_run(x.world, 2 * LAUNCH_TIME_S * SECOND_NS);
    assert_int_equal(x.done, 2 + LAUNCHES_MAX);
    world_free(x.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_processes_as_there_may_be),
        cmocka_unit_test(a_store_is_known_by_its_name),
        cmocka_unit_test(each_end_of_a_program_is_told_once),
        cmocka_unit_test(so_many_programs_run_at_once),
        cmocka_unit_test(a_program_and_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
