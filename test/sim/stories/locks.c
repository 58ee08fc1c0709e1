/* Locks of owners outside the cluster (rep-auctioneer.md 6). */
#include "test/sim/stories/story.h"

#include "models/locket.pb-c.h"

enum { TTL_S = 5, COLLISION = -6 };

/* 200 = it is the owner's, or minus the grpc-status. */
static int lock(struct cluster *c, const char *url, const char *owner)
{
    Models__Resource resource = MODELS__RESOURCE__INIT;
    Models__LockRequest request = MODELS__LOCK_REQUEST__INIT;
    resource.key = (char *)(uintptr_t) "first";
    resource.owner = (char *)(uintptr_t)owner;
    resource.type_code = MODELS__TYPE_CODE__LOCK;
    request.resource = &resource;
    request.ttl_in_seconds = TTL_S;
    int status = world_call(c->world, url, "/models.Locket/Lock", &request.base, SETTLE_NS, NULL);
    world_note(c->world, owner, status == 200 ? "has it" : "is refused");
    return status;
}

void story_two_owners_of_a_lock(struct cluster *c)
{
    static const char bbs_1[] = "https://bbs-1:8889", bbs_2[] = "https://bbs-2:8889";
    says(c,
         "ada holds a lock for 5 s and renews it at bbs-1; bob wants it at bbs-2, whose wall clock "
         "is an hour ahead. He is refused for as long as ada renews.");
    world_jump_clock(c->world, c->bbs[1], 3600 * SECOND_NS);
    assert_int_equal(lock(c, bbs_1, "ada"), 200);
    for (int i = 0; i < 7; i++) {
        world_run(c->world, SECOND_NS);
        assert_int_equal(lock(c, bbs_1, "ada"), 200);
        assert_int_equal(lock(c, bbs_2, "bob"), COLLISION);
    }
    says(c,
         "bbs-1 is killed. Its locks stand on the board: ada goes on at bbs-2, which has seen each "
         "renewal; and the converger's clock, an hour behind, keeps nothing alive.");
    world_kill(c->world, c->bbs[0]);
    world_jump_clock(c->world, c->converger, -3600 * SECOND_NS);
    world_run(c->world, 3 * SECOND_NS);
    assert_int_equal(lock(c, bbs_2, "bob"), COLLISION);
    assert_int_equal(lock(c, bbs_2, "ada"), 200);
    says(c, "ada falls silent. Nobody gets the lock before its 5 s are over, and then the "
            "converger takes "
            "it away; bob has it.");
    int64_t renewed_ns = world_now(c->world);
    while (cluster_records(c, "lock/")) {
        assert_true(world_now(c->world) - renewed_ns < (TTL_S + 12) * SECOND_NS);
        world_run(c->world, 100 * MILLISECOND_NS);
    }
    assert_true(world_now(c->world) - renewed_ns > TTL_S * SECOND_NS - SECOND_NS / 2);
    assert_int_equal(lock(c, bbs_2, "bob"), 200);
    says(c, "bbs-1 is back, and knows from the board whose it is. Without a converger the next one "
            "still "
            "gets what nobody renewed, once this bbs has seen it for its time.");
    world_kill(c->world, c->converger);
    world_start(c->world, c->bbs[0]);
    world_run(c->world, 2 * SECOND_NS);
    assert_int_equal(lock(c, bbs_1, "ada"), COLLISION);
    world_run(c->world, TTL_S * SECOND_NS);
    assert_int_equal(lock(c, bbs_1, "ada"), 200);
    assert_int_equal(lock(c, bbs_2, "bob"), COLLISION);
}
