/* Wall clocks that are hours wrong: what waits goes by what a process has seen (design.md 5). */
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
    says(c,
         "Every bbs and the converger are hours ahead when an instance crashes for the third time; "
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
    says(
        c,
        "An instance crashes for the third time; then every bbs and the converger are hours ahead. "
        "The back-off is 30 s all the same.");
    crash_till_it_waits(c);
    jump_all(c, HOURS_NS);
    world_run(c->world, 26 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    await(c, "web", "RUNNING", 1);
}

static void restart_all(struct cluster *c, int64_t down_ns, int64_t jump_ns)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_kill(c->world, c->bbs[i]);
    }
    world_kill(c->world, c->converger);
    jump_all(c, jump_ns);
    world_run(c->world, down_ns);
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_start(c->world, c->bbs[i]);
    }
    world_start(c->world, c->converger);
}

void story_a_slow_clock_makes_no_domain_fresh(struct cluster *c)
{
    says(c, "Somebody vouched for a domain for a minute. Two minutes later what is desired is lost "
            "from the store, and every bbs and the converger are started again, with clocks that "
            "are hours behind: the minute seems not to be over. Nobody vouches for the domain now, "
            "so nothing is stopped for being absent from it. Then somebody does.");
    assert_int_equal(cluster_upsert_domain(c, 60), 0);
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    cluster_lose(c, "desired/web");
    restart_all(c, 120 * SECOND_NS, -HOURS_NS);
    world_run(c->world, 90 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    assert_int_equal(cluster_upsert_domain(c, 60), 0);
    await_gone(c, "web");
}

void story_a_fast_clock_ends_no_domain(struct cluster *c)
{
    says(c, "Somebody vouches for a domain for five minutes, and the clocks of every bbs and of "
            "the converger "
            "jump hours ahead. The record stays for its five minutes.");
    assert_int_equal(cluster_upsert_domain(c, 300), 0);
    jump_all(c, HOURS_NS);
    world_run(c->world, 295 * SECOND_NS);
    assert_int_equal(cluster_records(c, "domain/"), 1);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_records(c, "domain/"), 0);
}
