/* Wall clocks that are hours wrong: what waits goes by what a process has seen (DESIGN 5). */
#include "test/sim/stories/story.h"

#define HOURS_NS (3 * 3600 * SECOND_NS)

static void jump_all(struct cluster *c, int64_t by_ns)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_jump_clock(c->world, c->bbs[i], by_ns);
    }
    world_jump_clock(c->world, c->converger, by_ns);
}

static void set_all(struct cluster *c)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_set_clock(c->world, c->bbs[i]);
    }
    world_set_clock(c->world, c->converger);
}

static void crash_till_it_waits(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
}

void story_a_crash_told_by_a_fast_clock(struct cluster *c)
{
    says(c, "Every bbs and the converger are hours ahead when an instance crashes for the third time; "
            "then all clocks are right. It runs again after its back-off of 30 s, not hours later.");
    jump_all(c, HOURS_NS);
    crash_till_it_waits(c);
    set_all(c);
    world_run(c->world, 27 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    await(c, "web", "RUNNING", 1);
}

void story_a_fast_clock_shortens_no_wait(struct cluster *c)
{
    says(c, "An instance crashes for the third time; then every bbs and the converger are hours ahead. "
            "The back-off is 30 s all the same.");
    crash_till_it_waits(c);
    jump_all(c, HOURS_NS);
    world_run(c->world, 26 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    await(c, "web", "RUNNING", 1);
}
