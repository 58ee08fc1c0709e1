/* What clients of Diego's event streams hear. */
#include "test/sim/stories/story.h"
#include "test/sim/stories/subscriber.h"

#include <string.h>

static void fine(struct node *n, int records)
{
    const char *fault = subscriber_fault(n, records);
    if (fault) {
        fail_msg("%s: %s", node_name(n), fault);
    }
}

void story_heard_at_either_bbs(struct cluster *c)
{
    says(c, "Two clients follow the events of instances, each at another bbs.");
    struct node *one = subscriber_new(c, 1), *other = subscriber_new(c, 2);
    world_run(c->world, SECOND_NS);
    says(c,
         "Two instances are desired; one of them crashes and is started again; one is told to go, "
         "then all.");
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    await_running(c, "web", 2);
    for (unsigned i = 0; i < c->options.cells; i++) {
        if (world_end_container(c->world, c->cells[i], 0, 1)) {
            break;
        }
    }
    world_run(c->world, SECOND_NS);
    await_running(c, "web", 2);
    assert_int_equal(cluster_scale(c, "web", 1), 0);
    await_running(c, "web", 1);
    world_run(c->world, SECOND_NS);
    fine(one, 1);
    fine(other, 1);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
    world_run(c->world, SECOND_NS);
    fine(one, 0);
    fine(other, 0);
    assert_string_equal(subscriber_heard(one), subscriber_heard(other));
    assert_int_equal(subscriber_ends(one) + subscriber_ends(other), 0);
}

void story_a_gap_ends_the_stream(struct cluster *c)
{
    struct node *one = subscriber_new(c, 1), *other = subscriber_new(c, 2);
    world_run(c->world, SECOND_NS);
    says(
        c,
        "etcd's watch leaves out a change at bbs-1. It loads the board again, and its streams end: "
        "whoever followed has missed something, and must list. Those of bbs-2 go on.");
    world_slip_watch(c->world, c->bbs[0], SLIP_REVISION);
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 2), 0);
    await_running(c, "web", 2);
    world_run(c->world, 5 * SECOND_NS);
    assert_true(subscriber_ends(one) > 0);
    assert_int_equal(subscriber_ends(other), 0);
    fine(other, 2);
    says(c, "It subscribed again, and hears what comes.");
    assert_int_equal(cluster_desire(c, c->bbs[1], "more", 1), 0);
    await(c, "more", "RUNNING", 1);
    world_run(c->world, SECOND_NS);
    assert_non_null(strstr(subscriber_heard(one), "more/0"));
}

void story_a_change_left_out_is_told_to_nobody(struct cluster *c)
{
    says(
        c,
        "etcd's watch leaves out one change of a transaction at bbs-1, or tells one twice, and its "
        "cause tells how many there were: the bbs loads the board again, and its streams end "
        "before "
        "anybody heard a part of it. (They used to hear the part first.)");
    struct node *one = subscriber_new(c, 1);
    world_run(c->world, SECOND_NS);
    enum watch_slip slips[] = {SLIP_CHANGE, SLIP_REPEAT};
    for (size_t i = 0; i < 2; i++) {
        unsigned ends = subscriber_ends(one);
        world_slip_watch(c->world, c->bbs[0], slips[i]);
        assert_int_equal(cluster_desire(c, c->bbs[1], "web", 3), 0);
        await_running(c, "web", 3);
        world_run(c->world, 5 * SECOND_NS);
        assert_true(subscriber_ends(one) > ends);
        assert_int_equal(cluster_remove(c, "web"), 0);
        await_gone(c, "web");
    }
    assert_null(strstr(world_trace(c->world), "subscriber-1 hears: created"));
}

void story_a_lost_cell_is_heard(struct cluster *c)
{
    struct node *one = subscriber_new(c, 1);
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await_running(c, "web", 3);
    says(c, "A cell is cut off: what ran there is SUSPECT, then replaced. It comes back.");
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_cut(c->world, c->cells[0], c->bbs[i], true);
        world_cut(c->world, c->bbs[i], c->cells[0], true);
    }
    world_run(c->world, 30 * SECOND_NS);
    fine(one, cluster_records(c, "actual/"));
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_cut(c->world, c->cells[0], c->bbs[i], false);
        world_cut(c->world, c->bbs[i], c->cells[0], false);
    }
    world_run(c->world, 30 * SECOND_NS);
    await_running(c, "web", 3);
    world_run(c->world, SECOND_NS);
    fine(one, 3);
}
