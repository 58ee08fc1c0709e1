/* How apps roll from one definition to the next, and what befalls them on the way. */
#include "test/sim/stories/apps.h"

#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

#define ACTION(name) BOARD__SERVICE_REQUEST__ACTION__##name

/* The version runs so many instances, the others none, and that stays so. */
static void await_only(struct cluster *c, const char *version, int count)
{
    SCOPED_ARENA(a);
    app_await(c, count > 0 ? "stable" : "");
    await_running(c, arena_printf(&a, "web-%s", version), count);
    assert_int_equal(cluster_records(c, "actual/web-"), count);
    assert_int_equal(cluster_records(c, "desired/web-"), count > 0);
}

void story_an_app_rolls(struct cluster *c)
{
    says(c, "An app of four instances gets a new definition: one more is started at a time, and an "
            "old one goes when a new one has run for a second. Never do fewer than four serve. It "
            "is scaled, and rolls back.");
    app_apply(c, "1", 4, 0);
    await_only(c, "1", 4);
    app_apply(c, "2", 4, 0);
    app_await_serving(c, "updating", 4);
    app_await_serving(c, "stable", 4);
    await_only(c, "2", 4);
    app_change(c, ACTION(SCALE), 2);
    await_only(c, "2", 2);
    app_change(c, ACTION(ROLLBACK), 0);
    app_await_serving(c, "stable", 2);
    await_only(c, "1", 2);
}

void story_a_version_without_room_fails(struct cluster *c)
{
    says(c, "A new definition asks for more memory than any cell has: its first instance gets no "
            "place, the old ones serve on, and after 20 s without progress the app has failed. It "
            "is aborted: the old definition is the target again, and the new one goes.");
    app_apply(c, "1", 3, 0);
    await_only(c, "1", 3);
    app_apply(c, "2", 3, APP_TOO_MUCH_MB);
    app_await_serving(c, "failed", 3);
    assert_non_null(strstr(app_says(c), "no progress"));
    world_run(c->world, 30 * SECOND_NS);
    assert_string_equal(app_state(c), "failed");
    assert_int_equal(cluster_count(c, "web-1", "RUNNING"), 3);
    app_change(c, ACTION(ABORT), 0);
    app_await_serving(c, "stable", 3);
    await_only(c, "1", 3);
}

void story_a_paused_roll_stands_still(struct cluster *c)
{
    says(c, "A roll is paused; then a cell is lost. What ran there is made again elsewhere, but "
            "the roll takes no step, and no deadline passes. The cell comes back and the roll is "
            "resumed: it ends.");
    app_apply(c, "1", 3, 0);
    await_only(c, "1", 3);
    app_apply(c, "2", 3, 0);
    app_change(c, ACTION(PAUSE), 0);
    world_run(c->world, SETTLE_NS);
    int old = cluster_desired(c, "web-1"), new = cluster_desired(c, "web-2");
    struct node *cell = cell_with_a_container(c);
    world_kill(c->world, cell);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_desired(c, "web-1"), old);
    assert_int_equal(cluster_desired(c, "web-2"), new);
    assert_string_equal(app_state(c), "updating");
    world_start(c->world, cell);
    app_change(c, ACTION(RESUME), 0);
    await_only(c, "2", 3);
}

void story_a_leader_dies_in_a_roll(struct cluster *c)
{
    says(c, "The converger that leads is killed in the middle of a roll: another one goes on where "
            "the records stand, and never do fewer than four serve.");
    app_apply(c, "1", 4, 0);
    await_only(c, "1", 4);
    app_apply(c, "2", 4, 0);
    await_at_least(c, "web-2", 1);
    world_kill(c->world, c->convergers[cluster_leader(c, "converger")]);
    app_await_serving(c, "stable", 4);
    await_only(c, "2", 4);
}

void story_a_cell_is_emptied_in_a_roll(struct cluster *c)
{
    says(c, "A cell is emptied while an app rolls: each instance there serves until it is replaced "
            "elsewhere, and the roll ends.");
    app_apply(c, "1", 3, 0);
    await_only(c, "1", 3);
    app_apply(c, "2", 3, 0);
    await_at_least(c, "web-2", 1);
    int status = PENDING;
    cluster_post_evacuate(c, cell_with_a_container(c), SETTLE_NS, note_status, &status);
    await_only(c, "2", 3);
    assert_int_equal(status, 202);
}

void story_an_app_is_restarted(struct cluster *c)
{
    says(c, "Each instance of an app is started again, one at a time: two of three serve at each "
            "moment, and all three are others in the end.");
    app_apply(c, "1", 3, 0);
    await_only(c, "1", 3);
    int64_t before_ns = world_now(c->world);
    app_change(c, ACTION(RESTART), 0);
    app_await_serving(c, "scaling", 2);
    app_await_serving(c, "stable", 2);
    assert_true(world_now(c->world) - before_ns > 3 * SECOND_NS);
    await_only(c, "1", 3);
}

void story_an_app_is_removed(struct cluster *c)
{
    says(c, "An app is removed in the middle of a roll: its routes go first, its instances after "
            "five seconds, the record last.");
    app_apply(c, "1", 3, 0);
    await_only(c, "1", 3);
    app_apply(c, "2", 3, 0);
    await_at_least(c, "web-2", 1);
    app_change(c, ACTION(DELETE), 0);
    app_await_serving(c, "deleting", 3);
    await_only(c, "1", 0);
    assert_int_equal(cluster_records(c, "actual/"), 0);
    assert_int_equal(cluster_records(c, "revision/"), 0);
}

/* What `bbs apply` of an earlier version made. */
static void desire_as_before(void *context, const ProtobufCMessage *m)
{
    struct cluster *c = context;
    Models__DesireLRPRequest request = *(const Models__DesireLRPRequest *)m;
    Models__DesiredLRP lrp = *request.desired_lrp;
    Models__Owner owner = MODELS__OWNER__INIT;
    owner.kind = (char *)"cli";
    owner.uid = (char *)"web";
    lrp.owner = &owner;
    request.desired_lrp = &lrp;
    assert_int_equal(world_call(c->world, node_url(c->bbs[0]), "/v1/desired_lrp/desire.r2",
                                &request.base, SETTLE_NS, NULL),
                     200);
}

void story_an_app_of_before_is_adopted(struct cluster *c)
{
    says(c, "An app that an earlier version of `bbs apply` desired is applied again: it becomes a "
            "service, and no instance is started again. Then it rolls like any other.");
    cluster_with_desire("web-1", 2, desire_as_before, c);
    await_running(c, "web-1", 2);
    app_apply(c, "1", 2, 0);
    app_await_serving(c, "stable", 2);
    await_only(c, "1", 2);
    app_apply(c, "2", 2, 0);
    app_await_serving(c, "updating", 2);
    await_only(c, "2", 2);
}
