/* Who writes what another has just changed, and what a death in the middle of it leaves behind. */
#include "test/sim/stories/story.h"

void story_bbs_killed_mid_write(struct cluster *c)
{
    says(c, "A bbs is killed while it writes: it has sent its transaction, or was about to, and "
            "nobody can tell. The client asks again at the other bbs: either the write is lost as "
            "a whole and done now, or it is there as a whole, and the client is told so.");
    int status = -1;
    cluster_desire_send(c, c->bbs[0], "web", 3, note_status, &status);
    world_run(c->world, (int64_t)random_below(world_random(c->world), 4 * MILLISECOND_NS));
    world_kill(c->world, c->bbs[0]);
    world_run(c->world, SECOND_NS);
    int records = cluster_count(c, "web", "");
    assert_true(status == 0 || status == 200);
    assert_true(records == 3 || (records == 0 && status == 0));
    int again = cluster_desire(c, c->bbs[1], "web", 3);
    assert_int_equal(again, records ? MODELS__ERROR__TYPE__ResourceExists : 0);
    await_running(c, "web", 3);
}

void story_claim_through_a_lagging_bbs(struct cluster *c)
{
    says(c, "web/0 waits for a cell. bbs-1 is told nothing new by etcd; meanwhile one instance "
            "claims web/0 at bbs-2. Another one claims it at bbs-1, whose copy still says "
            "UNCLAIMED.");
    world_kill(c->world, c->auctioneer);
    assert_int_equal(cluster_desire(c, c->bbs[0], "web", 1), 0);
    world_run(c->world, SECOND_NS);
    world_stall_watch(c->world, c->bbs[0], true);
    assert_int_equal(elsewhere(c, c->bbs[1], "claim", 0, "first"), 0);
    assert_int_not_equal(elsewhere(c, c->bbs[0], "claim", 0, "second"), 0);
    says(c, "What it compared has changed, so nothing landed; and since it cannot tell what is so "
            "now, it says that it is unavailable. When its watch flows, it refuses.");
    world_stall_watch(c->world, c->bbs[0], false);
    world_run(c->world, 3 * SECOND_NS);
    assert_int_equal(elsewhere(c, c->bbs[0], "claim", 0, "second"),
                     MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed);
    assert_int_equal(elsewhere(c, c->bbs[0], "claim", 0, "first"), 0);
}

void story_desired_anew_before_the_auctioneer_hears_of_it(struct cluster *c)
{
    says(c,
         "web/0 runs elsewhere. The auctioneer follows bbs-1, which is told nothing new by etcd. "
         "web is removed and desired anew at bbs-2, which tells the auctioneer of the instance "
         "but not of its new definition.");
    world_kill(c->world, c->auctioneer);
    assert_int_equal(cluster_desire(c, c->bbs[0], "web", 1), 0);
    assert_int_equal(elsewhere(c, c->bbs[0], "start", 0, "first"), 0);
    world_kill(c->world, c->bbs[1]);
    world_start(c->world, c->auctioneer);
    world_run(c->world, SETTLE_NS);
    world_start(c->world, c->bbs[1]);
    world_run(c->world, SECOND_NS);
    world_stall_watch(c->world, c->bbs[0], true);
    assert_int_equal(cluster_remove(c, "web"), 0);
    assert_int_equal(elsewhere(c, c->bbs[1], "remove", 0, "first"), 0);
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 1), 0);
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 1);
    says(c, "A cell took it as of the old definition and left it. The new one is heard: it is "
            "offered again at once.");
    world_stall_watch(c->world, c->bbs[0], false);
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 1);
    await_running(c, "web", 1);
}

struct both {
    int scaled, removed;
};

static bool both_answered(void *context)
{
    const struct both *b = context;
    return b->scaled != PENDING && b->removed != PENDING;
}

void story_write_skew_inside_a_batch(struct cluster *c)
{
    says(c, "Two instances run elsewhere; the second one is scaled away, so its record is marked "
            "stopping.");
    int filler = PENDING;
    struct both both = {PENDING, PENDING};
    world_kill(c->world, c->auctioneer);
    assert_int_equal(cluster_desire(c, c->bbs[0], "web", 2), 0);
    assert_int_equal(elsewhere(c, c->bbs[0], "start", 0, "first"), 0);
    assert_int_equal(elsewhere(c, c->bbs[0], "start", 1, "second"), 0);
    assert_int_equal(cluster_scale(c, "web", 1), 0);
    world_run(c->world, SECOND_NS);
    says(c, "In the same moment two ask for what must not go together. The end of the second is "
            "reported: "
            "whether a new record must take its place depends on how many are desired. And two "
            "are desired again: whether a new record must be made depends on the old one. Each "
            "reads what the other writes; other work keeps the bbs busy, so that it gathers a "
            "batch.");
    cluster_desire_send(c, c->bbs[0], "a", 1, note_status, &filler);
    cluster_desire_send(c, c->bbs[0], "b", 1, note_status, &filler);
    cluster_scale_send(c, c->bbs[0], "web", 2, note_status, &both.scaled);
    elsewhere_send(c, c->bbs[0], "remove", 1, "second", &both.removed);
    assert_true(world_run_until(c->world, SETTLE_NS, both_answered, &both));
    assert_int_equal(both.scaled, 200);
    assert_int_equal(both.removed, 0);
    world_run(c->world, SECOND_NS);
    says(c, "One went first, the other was decided again: web/1 is not missing.");
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 1);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 1);
}
