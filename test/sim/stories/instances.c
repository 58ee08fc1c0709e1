/* An instance from desire to its end: the happy path, crashes, and changes of mind. */
#include "test/sim/stories/story.h"

#include "test/sim/model/containers.h"

#include <string.h>

void story_happy_path(struct cluster *c)
{
    says(c, "Three instances are desired, placed, run; scaled to five and to two; removed.");
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_scale(c, "web", 5), 0);
    await(c, "web", "RUNNING", 5);
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    await(c, "web", "", 2);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}

void story_desire_to_running(struct cluster *c)
{
    says(c, "One instance, from desire to RUNNING, with every call (docs/tour.md).");
    world_trace_calls(c->world, true);
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await(c, "web", "RUNNING", 1);
}

void story_crash_loop(struct cluster *c)
{
    says(c, "An instance crashes three times: twice it is placed again at once, then it stays "
            "CRASHED.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
    assert_int_equal(cluster_containers(c), 0);
}

static bool is_claimed_again(void *cluster)
{
    return cluster_crashed(cluster, "web") == 1 && cluster_count(cluster, "web", "CLAIMED") == 1;
}

void story_crashed_during_a_pull(struct cluster *c)
{
    says(c, "A client says that an instance crashed whose image is being pulled. The auctioneer "
            "gives it to the same cell, which claims it again at once and goes on with the pull.");
    struct model_containers *m = node_containers(c->cells[0]);
    model_containers_pace(m)->pull_ns = 8 * SECOND_NS;
    assert_int_equal(cluster_desire_image(c, "web", "docker:///web#1"), 0);
    await(c, "web", "CLAIMED", 1);
    world_run(c->world, SECOND_NS);
    const char *guid = cluster_instance_guid(c, "web");
    assert_true(model_containers_busy(m, guid)); /* with the pull */
    assert_int_equal(client_move(c, "crash", 0, guid, node_name(c->cells[0])), 0);
    assert_true(world_run_until(c->world, 2 * SECOND_NS, is_claimed_again, c));
    assert_true(model_containers_busy(m, guid));
    await_running(c, "web", 1);
    assert_string_equal(model_containers_guid(m, 0), guid);
}

static bool one_on_each(void *cluster)
{
    struct cluster *c = cluster;
    bool each = cluster_count(c, "web", "RUNNING") == (int)c->options.cells;
    for (unsigned i = 0; i < c->options.cells; i++) {
        each = each && model_containers_running(node_containers(c->cells[i])) == 1;
    }
    return each;
}

/* When all cells are known; removals take long. */
static void one_a_cell(struct cluster *c)
{
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_desire(c, NULL, "web", (int)c->options.cells), 0);
    for (unsigned i = 0; i < c->options.cells; i++) {
        model_containers_pace(node_containers(c->cells[i]))->remove_ns = 5 * SECOND_NS;
    }
}

/* One of them crashes, and one runs on each cell again within this time. */
static void crash_and_return(struct cluster *c, struct node *cell, int64_t limit_ns)
{
    await_running(c, "web", (int)c->options.cells);
    assert_true(one_on_each(c));
    assert_true(world_end_container(c->world, cell, 0, 3));
    assert_int_equal(model_containers_running(node_containers(cell)), 0);
    assert_true(world_run_until(c->world, limit_ns, one_on_each, c));
}

void story_crash_beside_siblings(struct cluster *c)
{
    says(c, "An instance crashes. What is left of it is being removed still when the auction asks: "
            "that holds nobody off, so it comes back to its own cell, not beside a sibling.");
    one_a_cell(c);
    crash_and_return(c, c->cells[0], SECOND_NS);
    crash_and_return(c, c->cells[1], SECOND_NS);
    await_running(c, "web", 3);
}

void story_crash_on_a_full_cell(struct cluster *c)
{
    says(c,
         "Each instance has all the memory of its cell. One crashes: its memory is free when its "
         "process is gone, though its removal hangs for five seconds, so it runs again at once.");
    one_a_cell(c);
    crash_and_return(c, c->cells[2], SECOND_NS);
    await_running(c, "web", 3);
}

void story_crash_on_a_cell_full_of_disk(struct cluster *c)
{
    says(c, "Each instance has all the disk of its cell. One crashes: its disk is free when "
            "nothing of it is "
            "left, 10 ms later. The cell tells that it is about to be, so it is asked again soon.");
    one_a_cell(c);
    model_containers_pace(node_containers(c->cells[2]))->remove_ns = 10 * MILLISECOND_NS;
    crash_and_return(c, c->cells[2], SECOND_NS / 2);
    await_running(c, "web", 3);
}

/* How often the cell was asked for its state, as the trace tells. */
static int state_asks(struct cluster *c, const struct node *cell)
{
    const char *line = arena_printf(&c->arena, "asks %s: /state", node_name(cell));
    int count = 0;
    for (const char *at = world_trace(c->world); (at = strstr(at, line)); at++) {
        count++;
    }
    return count;
}

void story_a_removal_that_hangs_on_a_full_cell(struct cluster *c)
{
    says(c, "The same, and the removal takes twenty seconds: within the first three the cell is "
            "asked seven "
            "times, ever later, beside the usual looks of each 2 s, then by these alone.");
    enum { SOON = 7, AT_ONCE = 3 };
    one_a_cell(c);
    await_running(c, "web", 3);
    model_containers_pace(node_containers(c->cells[2]))->remove_ns = 20 * SECOND_NS;
    world_trace_calls(c->world, true);
    assert_true(world_end_container(c->world, c->cells[2], 0, 3));
    world_run(c->world, 4 * SECOND_NS);
    int asks = state_asks(c, c->cells[2]), others = state_asks(c, c->cells[0]);
    assert_in_range(asks, SOON, SOON + 2 + AT_ONCE);
    assert_in_range(others, 2, 2 + AT_ONCE);
    world_run(c->world, 14 * SECOND_NS);
    /* The sweep each 10 s among them. */
    assert_in_range(state_asks(c, c->cells[2]) - asks, 7, 7 + 2);
    world_trace_calls(c->world, false);
    assert_true(world_run_until(c->world, 5 * SECOND_NS, one_on_each, c));
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

/* The ports of the only cell that the n-th from its first on are. */
static void hold(struct cluster *c, uint32_t port)
{
    enum { FIRST_PORT = 20000 };
    world_note(c->world, "narrator", "another program takes the port %u", FIRST_PORT + port);
    model_containers_hold_port(node_containers(c->cells[0]), FIRST_PORT + port, true);
}

void story_port_taken_by_another(struct cluster *c)
{
    says(
        c,
        "Another program of the machine has the cell's first port: the instance is made with the "
        "next one. That is taken just before its process would listen: it ends, which is no crash, "
        "and it runs again with a third.");
    hold(c, 0);
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await(c, "web", "RUNNING", 1);
    hold(c, 1);
    assert_true(world_end_container(c->world, c->cells[0], 0, 1));
    await(c, "web", "RUNNING", 0);
    await_running(c, "web", 1);
    assert_int_equal(cluster_crashed(c, "web"), 0);
}

static const char *instance_address(struct cluster *c)
{
    SCOPED_ARENA(a);
    struct container_status s;
    struct model_containers *m = node_containers(c->cells[0]);
    assert_true(model_containers_status(m, model_containers_guid(m, 0), &a, &s));
    return arena_strdup(&c->arena, s.address);
}

void story_a_network_of_its_own(struct cluster *c)
{
    says(c,
         "The only cell has one address. The instance that gets it tells it to the board, also "
         "through a rep that was killed; the other one finds none until the first is removed. Then "
         "the network fails to attach it once.");
    model_containers_addresses(node_containers(c->cells[0]), 1);
    assert_int_equal(cluster_desire(c, NULL, "first", 1), 0);
    await_running(c, "first", 1);
    const char *address = instance_address(c);
    world_kill(c->world, c->cells[0]);
    world_start(c->world, c->cells[0]);
    assert_int_equal(cluster_tag(c, "first", "2"), 0); /* which the rep tells the board again */
    world_run(c->world, 2 * SECOND_NS);
    assert_int_equal(cluster_addressed(c, "first", address), 1);
    assert_int_equal(cluster_desire(c, NULL, "second", 1), 0);
    await(c, "second", "CRASHED", 1);
    assert_string_equal(instance_address(c), address);
    assert_int_equal(cluster_remove(c, "first"), 0);
    await(c, "first", "RUNNING", 0);
    model_containers_fail_starts(node_containers(c->cells[0]), 1,
                                 "network plugin ptp failed: no such device");
    world_run(c->world, 120 * SECOND_NS); /* 30 s and 60 s until it is tried again */
    assert_int_equal(cluster_count(c, "second", "RUNNING"), 1);
    assert_string_equal(instance_address(c), address);
}

void story_a_network_that_is_shared(struct cluster *c)
{
    says(c,
         "The only cell has one address. An instance joins the network of the one that has it, "
         "tells the board the same address, and keeps it when the first one is removed, also "
         "through a rep that was killed. Another one finds no address, and who would join the "
         "first one crashes, until the last one has gone.");
    struct model_containers *m = node_containers(c->cells[0]);
    model_containers_addresses(m, 1);
    assert_int_equal(cluster_desire(c, NULL, "first", 1), 0);
    await_running(c, "first", 1);
    const char *address = instance_address(c);
    const char *guid = arena_strdup(&c->arena, model_containers_guid(m, 0));
    assert_int_equal(cluster_desire_joined(c, "second", guid), 0);
    await(c, "second", "RUNNING", 1);
    assert_int_equal(cluster_addressed(c, "second", address), 1);
    assert_int_equal(cluster_remove(c, "first"), 0);
    await(c, "first", "RUNNING", 0);
    world_kill(c->world, c->cells[0]);
    world_start(c->world, c->cells[0]);
    world_run(c->world, 2 * SECOND_NS);
    assert_string_equal(instance_address(c), address);
    assert_int_equal(cluster_desire(c, NULL, "other", 1), 0);
    await(c, "other", "CRASHED", 1);
    assert_int_equal(cluster_desire_joined(c, "late", guid), 0);
    await(c, "late", "CRASHED", 1);
    assert_int_equal(cluster_remove(c, "second"), 0);
    world_run(c->world, 120 * SECOND_NS); /* 30 s and 60 s until they are tried again */
    assert_int_equal(cluster_count(c, "other", "RUNNING"), 1);
    assert_int_equal(cluster_count(c, "late", "RUNNING"), 0);
    assert_string_equal(instance_address(c), address);
}

void story_crashed_runs_again(struct cluster *c)
{
    says(c, "The converger brings a CRASHED instance back after 30 s, the next time after 60 s; "
            "and 2 s after it was retired: for so long its index has no record.");
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

void story_scaled_up_while_stopping(struct cluster *c)
{
    says(c, "Scaled down and up while the instances are being stopped, at a moment that the "
            "seed draws.");
    assert_int_equal(cluster_desire(c, NULL, "web", 6), 0);
    await_running(c, "web", 6);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cluster_scale(c, "web", i % 2 ? 6 : 1), 0);
        world_run(c->world, (int64_t)random_below(world_random(c->world), 40 * MILLISECOND_NS));
    }
    await_running(c, "web", 6);
    assert_int_equal(cluster_scale(c, "web", 1), 0);
    await_running(c, "web", 1);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}

void story_desired_again_while_stopping(struct cluster *c)
{
    says(c, "Removed and desired again while it stops, at a moment that the seed draws: the old "
            "instances go, also those that were just starting, and new ones run.");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cluster_desire(c, c->bbs[i % 2], "web", 4), 0);
        world_run(c->world, (int64_t)random_below(world_random(c->world), SECOND_NS));
        assert_int_equal(cluster_remove(c, "web"), 0);
        world_run(c->world, (int64_t)random_below(world_random(c->world), 50 * MILLISECOND_NS));
    }
    assert_int_equal(cluster_desire(c, NULL, "web", 4), 0);
    await_running(c, "web", 4);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}
