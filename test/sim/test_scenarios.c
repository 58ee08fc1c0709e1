/* Named stories on virtual time, compared by their trace with test/sim/expected/<name>.trace. The
 * run never writes there; when a story changed on purpose, `test_scenarios --print NAME` prints the
 * new trace, to be read before it is kept. */
#include "models/desired_lrp_requests.pb-c.h"
#include "test/sim/cluster.h"
#include "test/sim/model_containers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SETTLE_NS (10 * SECOND_NS)

struct goal {
    struct cluster *cluster;
    const char *process_guid;
    const char *state;
    int count;
};

static bool reached(void *context)
{
    struct goal *g = context;
    return cluster_count(g->cluster, g->process_guid, g->state) == g->count;
}

static void await(struct cluster *c, const char *process_guid, const char *state, int count)
{
    struct goal goal = {c, process_guid, state, count};
    if (!world_run_until(c->world, SETTLE_NS, reached, &goal)) {
        fprintf(stderr, "%s", world_trace(c->world));
        fail_msg("%s: %d of %d %s after 10 s", process_guid,
                 cluster_count(c, process_guid, state), count, state);
    }
}

static bool no_containers(void *context)
{
    return cluster_containers(context) == 0;
}

static struct cluster *begin(uint64_t seed, struct span store, unsigned convergers)
{
    struct cluster_options options = {.world = {.seed = seed, .store = store},
                                      .convergers = convergers};
    struct cluster *c = cluster_new(&options);
    if (!world_run_until(c->world, SETTLE_NS, cluster_ready, c)) {
        fprintf(stderr, "%s", world_trace(c->world));
        fail_msg("the cluster is not ready after 10 s");
    }
    return c;
}

/* ---- The stories ---- */

/* Three instances are desired, placed, run; scaled to five and to two; removed. */
static void happy_path(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_scale(c, "web", 5), 0);
    await(c, "web", "RUNNING", 5);
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    await(c, "web", "", 2);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await(c, "web", "", 0);
    assert_true(world_run_until(c->world, SETTLE_NS, no_containers, c));
}

/* A rep is killed, its containers run on; the next rep of the cell adopts them and restarts none. */
static void rep_killed_and_adopted(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    struct node *cell = c->cells[0];
    for (unsigned i = 1; !model_containers_guid(node_containers(cell), 0); i++) {
        cell = c->cells[i]; /* one that was late when the auction asked may have got none */
    }
    const char *guid = model_containers_guid(node_containers(cell), 0);
    assert_non_null(guid);
    char before[80];
    snprintf(before, sizeof(before), "%s", guid);
    world_kill(c->world, cell);
    world_run(c->world, 2 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    world_start(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    const char *after = model_containers_guid(node_containers(cell), 0);
    if (!after) {
        fprintf(stderr, "%s", world_trace(c->world));
        fail_msg("the container of cell-1 is gone");
    }
    assert_string_equal(after, before);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await(c, "web", "", 0);
    assert_true(world_run_until(c->world, SETTLE_NS, no_containers, c));
}

struct committed {
    struct cluster *cluster;
    const char *process_guid;
};

static bool desire_committed(void *context)
{
    struct committed *p = context;
    return cluster_count(p->cluster, p->process_guid, "") > 0;
}

static void desire_answered(void *context, int status, struct bytes body)
{
    (void)body;
    *(int *)context = status;
}

/* A bbs commits a desire and is killed before it answers. The client, as Diego's do, asks again at
 * the other bbs and is told that the LRP exists; nothing is lost, nothing doubled. */
static void bbs_killed_between_commit_and_answer(struct cluster *c)
{
    int status = -1;
    struct committed committed = {c, "web"};
    cluster_desire_send(c, c->bbs[0], "web", 3, desire_answered, &status);
    assert_true(world_run_until(c->world, SETTLE_NS, desire_committed, &committed));
    assert_int_equal(status, -1);
    world_kill(c->world, c->bbs[0]);
    world_run(c->world, SECOND_NS);
    assert_int_equal(status, 0);
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 3), MODELS__ERROR__TYPE__ResourceExists);
    await(c, "web", "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 3);
    world_start(c->world, c->bbs[0]);
    world_run(c->world, 3 * SECOND_NS);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await(c, "web", "", 0);
    assert_true(world_run_until(c->world, SETTLE_NS, no_containers, c));
}

/* The running container of the only instance ends by itself. */
static void crash(struct cluster *c)
{
    bool ended = false;
    await(c, "web", "RUNNING", 1);
    for (unsigned i = 0; i < c->options.cells; i++) {
        ended = ended || world_end_container(c->world, c->cells[i], 0, 3);
    }
    assert_true(ended);
    await(c, "web", "RUNNING", 0);
}

/* An instance crashes three times: twice it is placed anew at once, then it stays CRASHED. */
static void crash_loop(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
    assert_true(world_run_until(c->world, SETTLE_NS, no_containers, c));
}

/* What a list of desired LRPs showed: one letter each. */
struct listed {
    bool answered;
    char apps[8];
};

static void list_answered(void *context, int status, struct bytes body)
{
    struct listed *l = context;
    assert_int_equal(status, 200);
    Models__DesiredLRPsResponse *r =
        models__desired_lrps_response__unpack(NULL, body.size, body.data);
    assert_non_null(r);
    assert_true(r->n_desired_lrps < sizeof(l->apps));
    for (size_t i = 0; i < r->n_desired_lrps; i++) {
        l->apps[i] = r->desired_lrps[i]->process_guid[0];
    }
    l->answered = true;
    models__desired_lrps_response__free_unpacked(r, NULL);
}

static bool is_listed(void *context)
{
    return ((struct listed *)context)->answered;
}

/* a and b are desired. While a list is on its way, c is desired and then a is removed: the list may
 * show the board before, between or after, and nothing that never was. (A list used to leave out
 * what went between its two reads: b alone.) */
static void list_while_others_come_and_go(struct cluster *c)
{
    struct listed listed = {0};
    int status;
    assert_int_equal(cluster_desire(c, NULL, "a", 1), 0);
    assert_int_equal(cluster_desire(c, NULL, "b", 1), 0);
    await(c, "a", "RUNNING", 1);
    await(c, "b", "RUNNING", 1);
    Models__DesiredLRPsRequest all = MODELS__DESIRED_LRPS_REQUEST__INIT;
    Models__RemoveDesiredLRPRequest remove = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    remove.process_guid = (char *)"a";
    world_send(c->world, "https://bbs-1:8889", "/v1/desired_lrps/list.r3", &all.base, SETTLE_NS,
               list_answered, &listed);
    world_run(c->world, 23 * MILLISECOND_NS);
    cluster_desire_send(c, c->bbs[1], "c", 1, desire_answered, &status);
    world_run(c->world, 5 * MILLISECOND_NS);
    world_send(c->world, "https://bbs-2:8889", "/v1/desired_lrp/remove", &remove.base, SETTLE_NS,
               desire_answered, &status);
    assert_true(world_run_until(c->world, SETTLE_NS, is_listed, &listed));
    world_note(c->world, "client", "lists: %s", listed.apps);
    bool was_so = strcmp(listed.apps, "ab") == 0 || strcmp(listed.apps, "abc") == 0 ||
                  strcmp(listed.apps, "bc") == 0;
    assert_true(was_so);
    await(c, "c", "RUNNING", 1);
    await(c, "a", "", 0);
}

/* It stays so for this long, and 2 s later it runs. */
static void runs_again_after(struct cluster *c, int64_t wait_ns)
{
    await(c, "web", "CRASHED", 1);
    world_run(c->world, wait_ns - SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    world_run(c->world, 3 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 1);
}

/* The converger brings a CRASHED instance back after 30 s, the next time after 60 s; and at once
 * when it was retired, for then its index has no record. */
static void crashed_runs_again(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    runs_again_after(c, 30 * SECOND_NS);
    crash(c);
    runs_again_after(c, 60 * SECOND_NS);
    crash(c);
    await(c, "web", "CRASHED", 1);
    assert_int_equal(cluster_retire(c, "web", 0), 0);
    await(c, "web", "RUNNING", 1);
}

/* What is desired is lost from the store, its containers run. The domain is not fresh: nothing is
 * stopped for being absent, for minutes. Then somebody upserts the domain, and all of it stops;
 * nobody upserts it again, and it expires. */
static void nothing_stops_in_a_stale_domain(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    cluster_lose(c, "desired/web");
    world_run(c->world, 95 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_upsert_domain(c, 20), 0);
    await(c, "web", "", 0);
    assert_true(world_run_until(c->world, SETTLE_NS, no_containers, c));
    assert_int_equal(cluster_records(c, "domain/"), 1);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_records(c, "domain/"), 0);
}

/* An instance that no cell took loses its record: the converger makes it again. The auctioneer is
 * killed and hears of all that waits when it is back. */
static void a_lost_index_is_made_again(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await(c, "web", "RUNNING", 1);
    world_kill(c->world, c->auctioneer);
    assert_int_equal(cluster_scale(c, "web", 3), 0);
    await(c, "web", "UNCLAIMED", 2);
    cluster_lose(c, "actual/web/0000000001/0");
    await(c, "web", "", 2);
    await(c, "web", "", 3);
    world_run(c->world, 65 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    world_start(c->world, c->auctioneer);
    await(c, "web", "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 3);
}

/* The leading converger is killed and started again: its successor waits for the lock to be
 * displaced, then does its work. */
static void converger_killed(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
    world_kill(c->world, c->converger);
    world_run(c->world, 20 * SECOND_NS);
    world_start(c->world, c->converger);
    world_run(c->world, 7 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    await(c, "web", "RUNNING", 1);
}

static bool is_removed(void *context)
{
    return cluster_desired(context, "a") < 0;
}

/* bbs-1's watch is held up just before a DesiredLRP is removed, and etcd is compacted to exactly
 * that revision: the watch goes on behind it and is not told of the deletion. The cause of the
 * transaction names it, so bbs-1 loads its copy anew and does not refuse a new desire for what is
 * gone. */
static void deletion_at_the_compacted_revision(struct cluster *c)
{
    int status;
    assert_int_equal(cluster_desire(c, NULL, "a", 1), 0);
    await(c, "a", "RUNNING", 1);
    world_run(c->world, SECOND_NS);
    Models__RemoveDesiredLRPRequest remove = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    remove.process_guid = (char *)"a";
    world_stall_watch(c->world, c->bbs[0], true);
    world_send(c->world, "https://bbs-2:8889", "/v1/desired_lrp/remove", &remove.base, SETTLE_NS,
               desire_answered, &status);
    assert_true(world_run_until(c->world, SETTLE_NS, is_removed, c));
    world_compact(c->world);
    world_stall_watch(c->world, c->bbs[0], false);
    int answer = cluster_desire(c, c->bbs[0], "a", 1);
    for (int attempt = 2; answer == -1 && attempt <= 3; attempt++) {
        world_run(c->world, SECOND_NS); /* 503 while it loads, with Retry-After: 1 */
        answer = cluster_desire(c, c->bbs[0], "a", 1);
    }
    assert_int_equal(answer, 0);
    world_run(c->world, SECOND_NS);
    await(c, "a", "RUNNING", 1);
}

static const struct story {
    const char *name;
    uint64_t seed;
    void (*tell)(struct cluster *c);
    struct span store; /* zero = the world's default */
    unsigned convergers;
} stories[] = {
    {"happy_path", 1, happy_path},
    {"rep_killed_and_adopted", 2, rep_killed_and_adopted},
    {"bbs_killed_between_commit_and_answer", 3, bbs_killed_between_commit_and_answer},
    {"crash_loop", 4, crash_loop},
    {"list_while_others_come_and_go", 5, list_while_others_come_and_go,
     {20 * MILLISECOND_NS, 20 * MILLISECOND_NS}},
    {"crashed_runs_again", 5, crashed_runs_again, .convergers = 1},
    {"nothing_stops_in_a_stale_domain", 6, nothing_stops_in_a_stale_domain, .convergers = 1},
    {"a_lost_index_is_made_again", 7, a_lost_index_is_made_again, .convergers = 1},
    {"converger_killed", 8, converger_killed, .convergers = 1},
    {"deletion_at_the_compacted_revision", 6, deletion_at_the_compacted_revision},
};

enum { STORY_COUNT = sizeof(stories) / sizeof(stories[0]) };

/* ---- Telling them ---- */

static char *trace_of(const struct story *s)
{
    struct cluster *c = begin(s->seed, s->store, s->convergers);
    s->tell(c);
    char *trace = strdup(world_trace(c->world));
    cluster_free(c);
    return trace;
}

static char *expected_trace(const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "test/sim/expected/%s.trace", name);
    FILE *f = fopen(path, "r");
    if (!f) {
        fail_msg("%s is missing; the tests run from the top of the tree", path);
    }
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void tells_the_expected_trace_twice(void **state)
{
    const struct story *s = *state;
    char *first = trace_of(s), *again = trace_of(s), *expected = expected_trace(s->name);
    assert_string_equal(first, again);
    if (strcmp(first, expected) != 0) {
        fprintf(stderr, "%s", first);
    }
    assert_string_equal(first, expected);
    free(first);
    free(again);
    free(expected);
}

/* The stories' own assertions hold whatever the seed and the delays. */
static uint64_t first_seed = 1000, last_seed = 1099;

static void holds_for_many_seeds(void **state)
{
    const struct story *s = *state;
    for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
        struct cluster_options options = {
            .convergers = s->convergers,
            .world = {.seed = seed,
                      .network = {50 * MICROSECOND_NS, 3 * MILLISECOND_NS},
                      .store = {100 * MICROSECOND_NS, 5 * MILLISECOND_NS},
                      .watch_lag = {100 * MICROSECOND_NS, 20 * MILLISECOND_NS}}};
        struct cluster *c = cluster_new(&options);
        printf("%s: seed %llu\n", s->name, (unsigned long long)seed);
        if (!world_run_until(c->world, SETTLE_NS, cluster_ready, c)) {
            fail_msg("not ready");
        }
        s->tell(c);
        cluster_free(c);
    }
}

static int print_story(const char *name)
{
    for (size_t i = 0; i < STORY_COUNT; i++) {
        if (strcmp(stories[i].name, name) == 0) {
            char *trace = trace_of(&stories[i]);
            fputs(trace, stdout);
            free(trace);
            return 0;
        }
    }
    fprintf(stderr, "no story %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--print") == 0) {
        return print_story(argv[2]);
    }
    unsigned long long from, to;
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0 &&
        sscanf(argv[2], "%llu-%llu", &from, &to) == 2 && from <= to) {
        first_seed = from;
        last_seed = to;
    } else if (argc != 1) {
        fprintf(stderr, "usage: test_scenarios [--print STORY | --seeds A-B]\n");
        return 2;
    }
    struct CMUnitTest tests[2 * STORY_COUNT];
    char names[2 * STORY_COUNT][80];
    for (size_t i = 0; i < STORY_COUNT; i++) {
        snprintf(names[2 * i], sizeof(names[0]), "%s", stories[i].name);
        snprintf(names[2 * i + 1], sizeof(names[0]), "%s_for_many_seeds", stories[i].name);
        tests[2 * i] = (struct CMUnitTest){.name = names[2 * i],
                                           .test_func = tells_the_expected_trace_twice,
                                           .initial_state = (void *)&stories[i]};
        tests[2 * i + 1] = (struct CMUnitTest){.name = names[2 * i + 1],
                                               .test_func = holds_for_many_seeds,
                                               .initial_state = (void *)&stories[i]};
    }
    return _cmocka_run_group_tests("scenarios", tests, 2 * STORY_COUNT, NULL, NULL);
}
