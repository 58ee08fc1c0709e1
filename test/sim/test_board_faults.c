/* What befalls the board while LRPs come and go, for many seeds: each story ends with what was
 * asked for, whatever the delays. The traces are compared with each other, not kept. */
#include "test/sim/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SETTLE_NS (30 * SECOND_NS)

struct goal {
    struct cluster *cluster;
    const char *state;
    int count;      /* of records of "web" in that state */
    int containers; /* -1 = any */
};

static bool reached(void *context)
{
    const struct goal *g = context;
    return cluster_count(g->cluster, "web", g->state) >= g->count &&
           (g->containers < 0 || cluster_containers(g->cluster) == g->containers);
}

static void await(struct cluster *c, const char *state, int count, int containers)
{
    struct goal goal = {c, state, count, containers};
    if (!world_run_until(c->world, SETTLE_NS, reached, &goal)) {
        fprintf(stderr, "%s", world_trace(c->world));
        fail_msg("%d of %d %s, %d of %d containers", cluster_count(c, "web", state), count, state,
                 cluster_containers(c), containers);
    }
}

/* As many run as are desired, and it stays so. */
static void await_running(struct cluster *c, int count)
{
    await(c, "RUNNING", count, count);
    world_run(c->world, 5 * SECOND_NS);
    if (cluster_count(c, "web", "RUNNING") != count || cluster_count(c, "web", "") != count ||
        cluster_containers(c) != count) {
        fprintf(stderr, "%s", world_trace(c->world));
        fail_msg("%d records, %d RUNNING, %d containers: not %d", cluster_count(c, "web", ""),
                 cluster_count(c, "web", "RUNNING"), cluster_containers(c), count);
    }
}

static void await_gone(struct cluster *c)
{
    await(c, "", 0, 0);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", ""), 0);
}

static void answered(void *context, int status, struct bytes body)
{
    (void)body;
    *(int *)context = status;
}

/* ---- The stories ---- */

/* A bbs desires 300 instances in slices and is killed between two of them: the other takes the job
 * over when its beat is silent for 6 s. */
static void bulk_desire_survives_its_bbs(struct cluster *c)
{
    int status = -1;
    cluster_desire_send(c, c->bbs[0], "web", 300, answered, &status);
    await(c, "", 100, -1);
    world_kill(c->world, c->bbs[0]);
    assert_true(cluster_count(c, "web", "") < 300);
    await_running(c, 300);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c);
}

/* The same for their removal. */
static void bulk_removal_survives_its_bbs(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 300), 0);
    await_running(c, 300);
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_kill(c->world, c->bbs[0]);
    await_gone(c);
}

/* etcd commits and its answers are lost: nothing is guessed at, nothing done twice. */
static void answers_of_etcd_are_lost(struct cluster *c)
{
    int status = -1;
    world_faults(c->world, &(struct world_faults){.store_answer_lost = 1000});
    cluster_desire_send(c, c->bbs[0], "web", 3, answered, &status);
    await(c, "", 3, -1);
    assert_int_equal(status, -1);
    world_faults(c->world, &(struct world_faults){0});
    world_run(c->world, 4 * SECOND_NS);
    assert_int_equal(status, 200);
    await_running(c, 3);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c);
}

/* One bbs sees nothing new; the reps that speak to it claim and start all the same. */
static void a_bbs_lags(struct cluster *c)
{
    world_stall_watch(c->world, c->bbs[0], true);
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 6), 0);
    world_run(c->world, 3 * SECOND_NS);
    world_stall_watch(c->world, c->bbs[0], false);
    await_running(c, 6);
    world_stall_watch(c->world, c->bbs[1], true);
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_run(c->world, 3 * SECOND_NS);
    world_stall_watch(c->world, c->bbs[1], false);
    await_gone(c);
}

static void cut_cell(struct cluster *c, bool cut)
{
    for (unsigned i = 0; i < 2; i++) {
        world_cut(c->world, c->cells[0], c->bbs[i], cut);
        world_cut(c->world, c->bbs[i], c->cells[0], cut);
    }
}

/* A cell reaches no bbs for 20 s: its containers run on, and what was removed meanwhile goes. */
static void a_cell_is_cut_off(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 9), 0);
    await_running(c, 9);
    cut_cell(c, true);
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 9);
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    world_run(c->world, 10 * SECOND_NS);
    cut_cell(c, false);
    await(c, "RUNNING", 2, 2);
    await_running(c, 2);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c);
}

/* Scaled down and up while the instances are being stopped, at a moment that the seed draws. */
static void scaled_up_while_stopping(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 6), 0);
    await_running(c, 6);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cluster_scale(c, "web", i % 2 ? 6 : 1), 0);
        world_run(c->world, (int64_t)random_below(world_random(c->world),
                                                  40 * MILLISECOND_NS));
    }
    await_running(c, 6);
    assert_int_equal(cluster_scale(c, "web", 1), 0);
    await(c, "RUNNING", 1, 1);
    await_running(c, 1);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c);
}

/* Removed and desired anew while it stops, at a moment that the seed draws: the old instances go,
 * also those that were just starting, and new ones run. */
static void desired_again_while_stopping(struct cluster *c)
{
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cluster_desire(c, c->bbs[i % 2], "web", 4), 0);
        world_run(c->world, (int64_t)random_below(world_random(c->world), SECOND_NS));
        assert_int_equal(cluster_remove(c, "web"), 0);
        world_run(c->world, (int64_t)random_below(world_random(c->world),
                                                  50 * MILLISECOND_NS));
    }
    assert_int_equal(cluster_desire(c, NULL, "web", 4), 0);
    await_running(c, 4);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c);
}

/* ---- Telling them ---- */

struct story {
    void (*tell)(struct cluster *c);
    unsigned seeds;
};

static char *trace_of(const struct story *s, uint64_t seed)
{
    struct cluster_options options = {
        .cells = 6, /* of 100 containers each */
        .cell_instances = 100,
        .world = {.seed = seed,
                  .network = {50 * MICROSECOND_NS, 3 * MILLISECOND_NS},
                  .store = {100 * MICROSECOND_NS, 5 * MILLISECOND_NS},
                  .watch_lag = {100 * MICROSECOND_NS, 20 * MILLISECOND_NS}}};
    struct cluster *c = cluster_new(&options);
    printf("seed %llu\n", (unsigned long long)seed);
    assert_true(world_run_until(c->world, SETTLE_NS, cluster_ready, c));
    s->tell(c);
    char *trace = strdup(world_trace(c->world));
    cluster_free(c);
    return trace;
}

static void holds(void **state)
{
    const struct story *s = *state;
    for (uint64_t seed = 1; seed <= s->seeds; seed++) {
        free(trace_of(s, seed));
    }
    char *first = trace_of(s, 7), *again = trace_of(s, 7);
    assert_string_equal(first, again);
    free(first);
    free(again);
}

#define STORY(name, count)                                                                         \
    {                                                                                              \
        #name, holds, NULL, NULL, &(struct story) { name, count }                                  \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(bulk_desire_survives_its_bbs, 1),   STORY(bulk_removal_survives_its_bbs, 1),
        STORY(answers_of_etcd_are_lost, 10),      STORY(a_bbs_lags, 10),
        STORY(a_cell_is_cut_off, 10),             STORY(scaled_up_while_stopping, 30),
        STORY(desired_again_while_stopping, 30),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
