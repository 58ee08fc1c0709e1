/* What befalls a bbs, and what its clients see of it. */
#include "common/client/feed_client.h"
#include "test/sim/stories/story.h"

#include <string.h>

#include "models/desired_lrp_requests.pb-c.h"

struct committed {
    struct cluster *cluster;
    const char *process_guid;
};

static bool desire_committed(void *context)
{
    struct committed *p = context;
    return cluster_count(p->cluster, p->process_guid, "") > 0;
}

void story_bbs_killed_between_commit_and_answer(struct cluster *c)
{
    says(c, "A bbs commits a desire and is killed before it answers. The client, as Diego's do, "
            "asks again at the other bbs and is told that the LRP exists; nothing is lost, "
            "nothing doubled.");
    int status = -1;
    struct committed committed = {c, "web"};
    cluster_desire_send(c, c->bbs[0], "web", 3, note_status, &status);
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
    await_gone(c, "web");
}

void story_bulk_desire_survives_its_bbs(struct cluster *c)
{
    says(c, "A bbs desires 300 instances in portions and is killed between two of them: the other "
            "takes the job over when its heartbeat is silent for 6 s.");
    int status = -1;
    cluster_desire_send(c, c->bbs[0], "web", 300, note_status, &status);
    await_at_least(c, "web", 100);
    world_kill(c->world, c->bbs[0]);
    assert_true(cluster_count(c, "web", "") < 300);
    await_running(c, "web", 300);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}

void story_bulk_removal_survives_its_bbs(struct cluster *c)
{
    says(c, "The same for their removal.");
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 300), 0);
    await_running(c, "web", 300);
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_kill(c->world, c->bbs[0]);
    await_gone(c, "web");
}

void story_a_bbs_lags(struct cluster *c)
{
    says(c, "One bbs sees nothing new; the reps that speak to it claim and start all the same.");
    world_stall_watch(c->world, c->bbs[0], true);
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 6), 0);
    world_run(c->world, 3 * SECOND_NS);
    world_stall_watch(c->world, c->bbs[0], false);
    await_running(c, "web", 6);
    world_stall_watch(c->world, c->bbs[1], true);
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_run(c->world, 3 * SECOND_NS);
    world_stall_watch(c->world, c->bbs[1], false);
    await_gone(c, "web");
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

void story_list_while_others_come_and_go(struct cluster *c)
{
    says(c, "a and b are desired. While a list is on its way, c is desired and then a is "
            "removed: the list may show the board before, between or after, and nothing that "
            "never was. (A list used to leave out what went between its two reads: b alone.)");
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
    cluster_desire_send(c, c->bbs[1], "c", 1, note_status, &status);
    world_run(c->world, 5 * MILLISECOND_NS);
    world_send(c->world, "https://bbs-2:8889", "/v1/desired_lrp/remove", &remove.base, SETTLE_NS,
               note_status, &status);
    assert_true(world_run_until(c->world, SETTLE_NS, is_listed, &listed));
    world_note(c->world, "client", "lists: %s", listed.apps);
    bool was_so = strcmp(listed.apps, "ab") == 0 || strcmp(listed.apps, "abc") == 0 ||
                  strcmp(listed.apps, "bc") == 0;
    assert_true(was_so);
    await(c, "c", "RUNNING", 1);
    await(c, "a", "", 0);
}

static bool runs_all(void *cluster)
{
    struct cluster *c = cluster;
    return cluster_count(c, "web", "RUNNING") == 3;
}

void story_a_hole_goes_along_to_another_bbs(struct cluster *c)
{
    says(c, "All follow bbs-1. Its watch leaves out a change and the cause, and nothing tells it. "
            "The app is "
            "desired at bbs-2, whose word to the auctioneer is lost.");
    world_kill(c->world, c->bbs[1]);
    world_run(c->world, 10 * SECOND_NS);
    world_start(c->world, c->bbs[1]);
    world_run(c->world, 5 * SECOND_NS);
    world_slip_watch(c->world, c->bbs[0], SLIP_SILENT);
    world_cut(c->world, c->bbs[1], c->auctioneers[0], true);
    assert_int_equal(cluster_desire(c, c->bbs[1], "web", 3), 0);
    world_run(c->world, SECOND_NS);
    says(c, "bbs-1 dies before its list finds that. Who followed it goes on at bbs-2, where it "
            "was, and is told "
            "nothing that is older. (It never was told; now it asks for a snapshot from time to "
            "time.)");
    world_kill(c->world, c->bbs[0]);
    world_cut(c->world, c->bbs[1], c->auctioneers[0], false);
    world_run_until(c->world, FEED_CLIENT_REFRESH_NS + 30 * SECOND_NS, runs_all, c);
    await_running(c, "web", 3);
}
