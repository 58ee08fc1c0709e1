/* What befalls etcd and the ways to it. */
#include "test/sim/stories/story.h"

#include "models/desired_lrp_requests.pb-c.h"
#include "test/sim/model/etcd.h"

#include <string.h>

enum { STORY_TEXT_BYTES = 512 };

void story_answers_of_etcd_are_lost(struct cluster *c)
{
    says(c, "etcd commits and its answers are lost: nothing is guessed at, nothing done twice.");
    int status = -1;
    world_faults(c->world, &(struct world_faults){.store_answer_lost = 1000});
    cluster_desire_send(c, c->bbs[0], "web", 3, note_status, &status);
    await(c, "web", "", 3);
    assert_int_equal(status, -1);
    world_faults(c->world, &(struct world_faults){0});
    world_run(c->world, 4 * SECOND_NS);
    assert_int_equal(status, 200);
    await_running(c, "web", 3);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}

static bool is_removed(void *context)
{
    return cluster_desired(context, "a") < 0;
}

void story_deletion_at_the_compacted_revision(struct cluster *c)
{
    says(c, "bbs-1's watch is held up just before a DesiredLRP is removed, and etcd is "
            "compacted to exactly that revision: the watch goes on behind it and is not told of "
            "the deletion. The cause of the transaction names it, so bbs-1 loads its copy again "
            "and does not refuse a new desire for what is gone.");
    int status;
    assert_int_equal(cluster_desire(c, NULL, "a", 1), 0);
    await(c, "a", "RUNNING", 1);
    world_run(c->world, SECOND_NS);
    Models__RemoveDesiredLRPRequest remove = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    remove.process_guid = (char *)"a";
    world_stall_watch(c->world, c->bbs[0], true);
    world_send(c->world, "https://bbs-2:8889", "/v1/desired_lrp/remove", &remove.base, SETTLE_NS,
               note_status, &status);
    assert_true(world_run_until(c->world, SETTLE_NS, is_removed, c));
    store_compact(c->store);
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

void story_restore_to_an_older_board_generation(struct cluster *c)
{
    says(c, "A snapshot is taken; later one instance more is desired, and a whole new app. Then "
            "etcd is restored from the snapshot: both are desired no more, their containers run "
            "on. Every bbs notices and waits. `bbs restore` makes the board generation again, and "
            "reps make the records of their containers again. The domain had no end when the "
            "snapshot was taken, but nothing stops for being absent until somebody upserts it "
            "again.");
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    await_running(c, "web", 2);
    world_note(c->world, "operator", "takes a snapshot");
    int64_t snapshot = model_etcd_revision(store_etcd(c->store));
    assert_int_equal(cluster_scale(c, "web", 3), 0);
    assert_int_equal(cluster_desire(c, NULL, "api", 2), 0);
    await(c, "web", "RUNNING", 3);
    await(c, "api", "RUNNING", 2);
    world_run(c->world, 3 * SECOND_NS);
    store_restore(c->store, snapshot, SECOND_NS);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_desire(c, NULL, "early", 1), -1); /* 503 until `bbs restore` */
    assert_int_equal(model_etcd_revision(store_etcd(c->store)), snapshot + 1); /* the mark */
    cluster_new_board_generation(c, "again");
    world_run(c->world, 6 * SECOND_NS); /* a bbs looks again within 5 s */
    assert_int_equal(cluster_desire(c, NULL, "after", 1), 0);
    world_run(c->world, 65 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 6);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    assert_int_equal(cluster_count(c, "api", "RUNNING"), 2);
    assert_int_equal(cluster_desired(c, "web"), 2);
    assert_int_equal(cluster_desired(c, "api"), -1);
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    await(c, "web", "RUNNING", 2);
    await(c, "api", "", 0);
    await(c, "after", "RUNNING", 1);
    world_run(c->world, SETTLE_NS);
    assert_int_equal(cluster_containers(c), 3);
}

static void note_text(void *text, int status, struct bytes body)
{
    size_t size = body.size < STORY_TEXT_BYTES - 1 ? body.size : STORY_TEXT_BYTES - 1;
    memcpy(text, body.data, size);
    ((char *)text)[status == 503 ? size : 0] = '\0';
}

/* Every bbs answers 503, and says why and what to do. */
static bool all_say_it(void *context)
{
    struct cluster *c = context;
    for (unsigned i = 0; i < c->options.bbs; i++) {
        char text[STORY_TEXT_BYTES] = "";
        world_send(c->world, node_url(c->bbs[i]), "/v1/ping", NULL, SECOND_NS, note_text, text);
        world_run(c->world, SECOND_NS);
        if (!strstr(text, "not done: etcd lost acknowledged writes") ||
            !strstr(text, "bbs restore")) {
            return false;
        }
    }
    return true;
}

void story_acknowledged_writes_are_lost(struct cluster *c)
{
    says(c,
         "One instance more is desired, and a whole new app. Then the machine of etcd and of every "
         "bbs is rolled back to an image of before, and nobody is told. No bbs knows better, but "
         "the roles that follow them have seen later revisions of this board generation, which "
         "proves it: every bbs answers 503 with what happened and what to do. Nothing is "
         "written or stopped. A bbs that is started again knows it from the board. `bbs restore` "
         "ends it.");
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    assert_int_equal(cluster_desire(c, NULL, "web", 2), 0);
    await_running(c, "web", 2);
    int64_t image = model_etcd_revision(store_etcd(c->store));
    assert_int_equal(cluster_scale(c, "web", 3), 0);
    assert_int_equal(cluster_desire(c, NULL, "api", 2), 0);
    await(c, "web", "RUNNING", 3);
    await(c, "api", "RUNNING", 2);
    world_run(c->world, 3 * SECOND_NS);
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_kill(c->world, c->bbs[i]);
    }
    store_restore(c->store, image, SECOND_NS);
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_start(c->world, c->bbs[i]);
    }
    world_run(c->world, SETTLE_NS);
    assert_true(all_say_it(c));
    int64_t revision = model_etcd_revision(store_etcd(c->store));
    world_kill(c->world, c->bbs[0]);
    world_start(c->world, c->bbs[0]);
    world_run(c->world, 60 * SECOND_NS);
    assert_true(all_say_it(c));
    assert_int_equal(model_etcd_revision(store_etcd(c->store)), revision);
    assert_int_equal(cluster_containers(c), 5);
    cluster_new_board_generation(c, "again");
    world_run(c->world, 6 * SECOND_NS); /* a bbs looks again within 5 s */
    assert_int_equal(cluster_desire(c, NULL, "after", 1), 0);
    world_run(c->world, 65 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 6);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    assert_int_equal(cluster_count(c, "api", "RUNNING"), 2);
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    await(c, "web", "RUNNING", 2);
    await(c, "api", "", 0);
    await(c, "after", "RUNNING", 1);
    world_run(c->world, SETTLE_NS);
    assert_int_equal(cluster_containers(c), 3);
}
