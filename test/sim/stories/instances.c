/* An instance from desire to its end: the happy path, crashes, and changes of mind. */
#include "test/sim/stories/story.h"

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
    says(c, "An instance crashes three times: twice it is placed anew at once, then it stays "
            "CRASHED.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
    assert_int_equal(cluster_containers(c), 0);
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
    says(c, "Removed and desired anew while it stops, at a moment that the seed draws: the old "
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
