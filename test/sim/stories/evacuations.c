/* Cells that are emptied: each instance runs on until another one of its index does. */
#include "test/sim/stories/story.h"

#include <stdio.h>

#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"

struct emptying {
    struct cluster *cluster;
    struct node *cell;
    int containers; /* never fewer, on all cells together */
};

static void cell_key(const struct node *cell, char key[64])
{
    snprintf(key, 64, "cell/%s", node_name(cell));
}

/* The rep has ended, and the cell left the board. */
static bool is_empty(void *context)
{
    const struct emptying *e = context;
    char key[64];
    cell_key(e->cell, key);
    if (cluster_containers(e->cluster) < e->containers) {
        fail_msg("%d containers run, not %d", cluster_containers(e->cluster), e->containers);
    }
    return !node_up(e->cell) && cluster_records(e->cluster, key) == 0;
}

/* Waits for the cell's end; meanwhile so many containers run at every moment. */
static void await_empty(struct cluster *c, struct node *cell, int containers, int64_t limit_ns)
{
    struct emptying e = {c, cell, containers};
    if (!world_run_until(c->world, limit_ns, is_empty, &e)) {
        fail_msg("%s is not empty: %d containers, %d records name it", node_name(cell),
                 cluster_containers(c), cluster_on(c, cell));
    }
    assert_int_equal(cluster_on(c, cell), 0);
}

static struct node *desire_and_choose(struct cluster *c, int instances)
{
    assert_int_equal(cluster_desire(c, NULL, "web", instances), 0);
    await_running(c, "web", instances);
    return cell_with_a_container(c);
}

static bool is_evacuating(void *context)
{
    const struct emptying *e = context;
    return cluster_evacuating(e->cluster, "web") == e->containers;
}

/* Waits until so many records are EVACUATING. */
static void await_evacuating(struct cluster *c, int records)
{
    struct emptying e = {c, NULL, records};
    assert_true(world_run_until(c->world, SETTLE_NS, is_evacuating, &e));
}

void story_evacuation(struct cluster *c)
{
    says(c, "A cell is to be emptied. What runs there goes on until another one of its index runs "
            "elsewhere; then it ends, the cell leaves the board, and nobody calls it lost.");
    struct node *cell = desire_and_choose(c, 6);
    world_stop(c->world, cell);
    await_empty(c, cell, 6, SETTLE_NS);
    await_running(c, "web", 6);
    assert_int_equal(cluster_lost_cells(c), 0);
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    says(c, "It is back: a cell like others.");
    world_start(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_scale(c, "web", 12), 0);
    await_running(c, "web", 12);
    assert_true(cluster_on(c, cell) > 0);
}

void story_evacuation_without_room(struct cluster *c)
{
    says(c, "The other cell has no room. What runs stays where it is until the time limit; then it "
            "is stopped, waits without a cell, and the process ends.");
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    world_run(c->world, 50 * SECOND_NS);
    assert_true(node_up(cell));
    assert_int_equal(cluster_containers(c), 4);
    assert_int_equal(cluster_evacuating(c, "web"), 2);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    await_empty(c, cell, 2, 30 * SECOND_NS);
    assert_int_equal(cluster_evacuating(c, "web"), 0);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    says(c, "It is back, and what waits finds its place.");
    world_start(c->world, cell);
    await_running(c, "web", 4);
}

void story_crash_while_evacuating(struct cluster *c)
{
    says(c, "The only other cell is full. An instance of the cell that is emptied ends by itself: "
            "its EVACUATING record goes, no crash is counted, for its place was left already.");
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    await_evacuating(c, 2);
    assert_true(world_end_container(c->world, cell, 0, 3));
    world_run(c->world, 3 * SECOND_NS);
    assert_int_equal(cluster_evacuating(c, "web"), 1);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 0);
    assert_int_equal(cluster_containers(c), 3);
    says(c, "Two are wanted no more: there is room, or no need.");
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    await_empty(c, cell, 1, 30 * SECOND_NS);
    await_running(c, "web", 2);
}

void story_replacement_crashes(struct cluster *c)
{
    says(c, "What is to replace the instance can not start on the other cell, three times: its "
            "record is CRASHED, and that is a word too. The old one ends, the cell leaves.");
    struct node *cell = desire_and_choose(c, 1);
    for (unsigned i = 0; i < c->options.cells; i++) {
        if (c->cells[i] != cell) {
            model_containers_fail_starts(node_containers(c->cells[i]), 3, "no such program");
        }
    }
    world_stop(c->world, cell);
    await(c, "web", "CRASHED", 1);
    await_empty(c, cell, 0, 15 * SECOND_NS);
    says(c, "After its back-off it runs.");
    world_run(c->world, 40 * SECOND_NS);
    await_running(c, "web", 1);
}

void story_removed_while_evacuating(struct cluster *c)
{
    says(c,
         "An app is removed while nothing of it finds another place. Nobody said that its domain "
         "is complete, but its stop was asked: it ends at once, on the cell that is emptied too.");
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    await_evacuating(c, 2);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_empty(c, cell, 0, 15 * SECOND_NS);
    await_gone(c, "web");
    assert_int_equal(cluster_records(c, "actual/"), 0);
}

void story_rep_killed_while_evacuating(struct cluster *c)
{
    says(c,
         "The rep is killed in the middle of its evacuation and started again. The board remembers "
         "what was asked of the cell: it adopts what runs, goes on, and keeps to the limit.");
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    await_evacuating(c, 2);
    world_run(c->world, 50 * MILLISECOND_NS); /* it is on the disk */
    world_kill(c->world, cell);
    world_run(c->world, 2 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 4);
    world_start(c->world, cell);
    world_run(c->world, 40 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 4);
    assert_int_equal(cluster_evacuating(c, "web"), 2);
    await_empty(c, cell, 2, 40 * SECOND_NS);
    says(c, "The next one begins again.");
    world_start(c->world, cell);
    await_running(c, "web", 4);
}

void story_clock_jumps_while_an_evacuating_rep_is_down(struct cluster *c)
{
    says(c, "A rep is killed in the middle of its evacuation, and started again when the wall "
            "clock of its "
            "machine has jumped, hours ahead or back. The machine was not started again, so what "
            "runs has "
            "what is left of the limit, no less and no more.");
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    int64_t limit_ns = world_now(c->world) + 100 * SECOND_NS;
    await_evacuating(c, 2);
    world_run(c->world, 5 * SECOND_NS);
    world_kill(c->world, cell);
    world_jump_clock(c->world, cell,
                     (random_below(world_random(c->world), 2) ? 3 : -3) * 3600 * SECOND_NS);
    world_run(c->world, 2 * SECOND_NS);
    world_start(c->world, cell);
    world_run(c->world, limit_ns - 2 * SECOND_NS - world_now(c->world));
    assert_int_equal(cluster_containers(c), 4);
    await_empty(c, cell, 2, 5 * SECOND_NS);
}

void story_cell_lost_while_evacuating(struct cluster *c)
{
    says(c,
         "The machine falls in the middle of its evacuation: the converger takes off what it has "
         "left, and what waits for a place waits on.");
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    await_evacuating(c, 2);
    world_run(c->world, 5 * MILLISECOND_NS); /* its disk has it, too */
    world_kill(c->world, cell);
    world_reboot(c->world, cell, true);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 1);
    assert_int_equal(cluster_evacuating(c, "web"), 0);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    says(c, "It is back, empty; its evacuation is not over yet, and ends at once.");
    world_start(c->world, cell);
    await_empty(c, cell, 2, SETTLE_NS);
}

void story_bbs_killed_while_evacuating(struct cluster *c)
{
    says(c,
         "A bbs dies while a cell is emptied, and is back later: the others answer, nothing stops "
         "too early, and it ends.");
    struct node *cell = desire_and_choose(c, 6);
    world_stop(c->world, cell);
    world_run(c->world, 30 * MILLISECOND_NS);
    world_kill(c->world, c->bbs[0]);
    await_empty(c, cell, 6, 20 * SECOND_NS);
    world_start(c->world, c->bbs[0]);
    await_running(c, "web", 6);
}

void story_evacuation_of_a_suspect(struct cluster *c)
{
    says(c,
         "A cell is cut off and lost; its instances are SUSPECT, for there is no room elsewhere. "
         "It is told to be emptied, and then it is reached again. Whoever is first, its rep or "
         "the converger: they run until the limit, and are stopped once.");
    struct node *cell = desire_and_choose(c, 4);
    cut_cell(c, cell, true);
    world_run(c->world, 12 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 1);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    world_stop(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 4);
    cut_cell(c, cell, false);
    await_evacuating(c, 2);
    assert_int_equal(cluster_containers(c), 4);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
    await_empty(c, cell, 2, 80 * SECOND_NS);
    assert_int_equal(cluster_evacuating(c, "web"), 0);
}

void story_evacuation_without_a_board(struct cluster *c)
{
    says(c,
         "No bbs is reached. What runs goes on until the limit, and is stopped then; the process "
         "ends although nobody hears of it.");
    struct node *cell = desire_and_choose(c, 4);
    cut_cell(c, cell, true);
    world_stop(c->world, cell);
    world_run(c->world, 55 * SECOND_NS);
    assert_true(node_up(cell));
    assert_int_equal(cluster_containers(c), 4);
    world_run(c->world, 40 * SECOND_NS);
    assert_false(node_up(cell));
    assert_int_equal(cluster_containers(c), 2);
    assert_int_equal(cluster_evacuating(c, "web"), 0);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 2);
}

void story_board_emptied_while_evacuating(struct cluster *c)
{
    says(c, "Amid an evacuation etcd is restored to a time before the app was desired. Nobody said "
            "yet what of its domain is to run: what runs on the cell that is emptied is not "
            "stopped for being absent, no more than elsewhere, and has a record again. Then its "
            "owner says that nothing of it is wanted.");
    int64_t snapshot = model_etcd_revision(store_etcd(c->store));
    struct node *cell = desire_and_choose(c, 4);
    world_stop(c->world, cell);
    await_evacuating(c, 2);
    store_restore(c->store, snapshot, SECOND_NS);
    world_run(c->world, 3 * SECOND_NS);
    cluster_new_board_generation(c, "again");
    world_run(c->world, 30 * SECOND_NS);
    assert_true(node_up(cell));
    assert_int_equal(cluster_containers(c), 4);
    assert_int_equal(cluster_evacuating(c, "web"), 2);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 2);
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    await_empty(c, cell, 0, 15 * SECOND_NS);
    await_gone(c, "web");
    assert_int_equal(cluster_lost_cells(c), 0);
}

/* ---- That no bbs has heard of ---- */

struct asked {
    bool answered;
    int status; /* 0 = nobody answered */
};

static void evacuation_answered(void *context, int status, struct bytes body)
{
    *(struct asked *)context = (struct asked){true, status};
}

static bool is_answered(void *context)
{
    return ((const struct asked *)context)->answered;
}

static void send_evacuate(struct cluster *c, struct node *cell, struct asked *ret)
{
    *ret = (struct asked){false, 0};
    cluster_post_evacuate(c, cell, SECOND_NS, evacuation_answered, ret);
}

static void await_accepted(struct cluster *c, struct asked *asked)
{
    assert_true(world_run_until(c->world, 2 * SECOND_NS, is_answered, asked));
    assert_int_equal(asked->status, 202);
    world_note(c->world, "operator", "it is accepted");
}

static void kill_each_bbs(struct cluster *c)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_kill(c->world, c->bbs[i]);
    }
}

static void start_each_bbs(struct cluster *c)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_start(c->world, c->bbs[i]);
    }
}

void story_evacuation_that_no_bbs_has_heard_of(struct cluster *c)
{
    says(c, "No bbs runs when a cell is to be emptied. Its rep accepts that, and is killed before "
            "any bbs "
            "could hear of it. The next rep knows: it goes on, and keeps to the limit.");
    struct node *cell = desire_and_choose(c, 4);
    struct asked asked;
    kill_each_bbs(c);
    world_run(c->world, SECOND_NS);
    int64_t limit_ns = world_now(c->world) + 60 * SECOND_NS;
    send_evacuate(c, cell, &asked);
    await_accepted(c, &asked);
    world_kill(c->world, cell);
    world_run(c->world, 2 * SECOND_NS);
    world_start(c->world, cell);
    world_run(c->world, 20 * SECOND_NS);
    start_each_bbs(c);
    await_evacuating(c, 2);
    world_run(c->world, limit_ns - SECOND_NS - world_now(c->world));
    assert_int_equal(cluster_containers(c), 4);
    await_empty(c, cell, 2, 5 * SECOND_NS);
    says(c, "It was emptied, and that is over: the next one begins again.");
    world_start(c->world, cell);
    await_running(c, "web", 4);
}

void story_evacuation_handed_on_unheard(struct cluster *c)
{
    says(c,
         "No bbs runs. A cell is to be emptied, and each rep of it is killed, three times. The "
         "limit "
         "counts from the first, though the wall clock jumps by hours each time, and what runs is "
         "stopped then, whoever hears of it.");
    struct node *cell = desire_and_choose(c, 4);
    struct asked asked;
    kill_each_bbs(c);
    send_evacuate(c, cell, &asked);
    await_accepted(c, &asked);
    int64_t limit_ns = world_now(c->world) + 60 * SECOND_NS;
    for (int i = 0; i < 3; i++) {
        world_run(c->world, 5 * SECOND_NS);
        world_kill(c->world, cell);
        world_jump_clock(c->world, cell, (i % 2 ? -7 : 4) * 3600 * SECOND_NS);
        world_run(c->world, 3 * SECOND_NS);
        world_start(c->world, cell);
    }
    world_run(c->world, limit_ns - SECOND_NS - world_now(c->world));
    assert_int_equal(cluster_containers(c), 4);
    world_run(c->world, 35 * SECOND_NS);
    assert_false(node_up(cell));
    assert_int_equal(cluster_containers(c), 2);
    says(c, "The bbs are back, and so is the cell: one like others.");
    start_each_bbs(c);
    world_run(c->world, 5 * SECOND_NS);
    world_start(c->world, cell);
    await_running(c, "web", 4);
}

void story_evacuation_killed_before_it_is_kept(struct cluster *c)
{
    says(c,
         "No bbs runs. A rep that was just asked to empty its cell is killed before its disk has "
         "answered. "
         "Nobody was promised anything: the next rep knows nothing of it, or it does and goes on.");
    struct node *cell = desire_and_choose(c, 4);
    struct asked asked;
    kill_each_bbs(c);
    send_evacuate(c, cell, &asked);
    world_run(c->world, MILLISECOND_NS);
    world_kill(c->world, cell);
    assert_true(world_run_until(c->world, 2 * SECOND_NS, is_answered, &asked));
    assert_int_equal(asked.status, 0);
    world_start(c->world, cell);
    start_each_bbs(c);
    bool goes_on = node_evacuation(cell).on;
    world_run(c->world, 90 * SECOND_NS);
    assert_int_equal(node_up(cell), !goes_on);
    if (goes_on) {
        world_start(c->world, cell);
    }
    await_running(c, "web", 4);
}

/* The swarm's checkers look on at a story. */
static void committed(void *checkers, const struct world_commit *commit)
{
    checkers_committed(checkers, commit);
}

static void answered(void *checkers, const struct world_answer *answer)
{
    checkers_answered(checkers, answer);
}

static void verb(void *checkers, struct node *cell, const struct verb_call *call)
{
    checkers_verb(checkers, cell, call);
}

void story_domain_upserted_before_the_evacuating_rep_is_back(struct cluster *c)
{
    says(c, "Amid an evacuation etcd is restored to a time before the app was desired, and its "
            "owner says that nothing of the domain is wanted before the rep is heard again. What "
            "runs on the cell that is emptied has no record to be stopped by: its rep is told to "
            "end it, and that is no stop for being absent from a domain that nobody speaks for.");
    int64_t snapshot = model_etcd_revision(store_etcd(c->store));
    struct checkers k;
    checkers_init(&k, c, 30 * SECOND_NS);
    world_observe(c->world, &(struct world_observer){.committed = committed,
                                                      .answered = answered,
                                                      .verb = verb,
                                                      .context = &k});
    struct node *cell = desire_and_choose(c, 4);
    checkers_evacuates(&k, cell == c->cells[0] ? 0 : 1);
    world_stop(c->world, cell);
    await_evacuating(c, 2);
    cut_cell(c, cell, true);
    store_restore(c->store, snapshot, SECOND_NS);
    checkers_restored(&k, snapshot);
    world_run(c->world, 3 * SECOND_NS);
    cluster_new_board_generation(c, "again");
    world_run(c->world, 6 * SECOND_NS); /* a bbs looks again within 5 s */
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    assert_true(model_containers_running(node_containers(cell)) == 2);
    cut_cell(c, cell, false);
    await_empty(c, cell, 0, 30 * SECOND_NS);
    await_gone(c, "web");
    if (!checkers_clean(&k)) {
        fail_msg("%s", buf_string(&k.violation));
    }
    world_observe(c->world, &(struct world_observer){0});
    checkers_done(&k);
}

void story_late_report_of_a_cell_that_left(struct cluster *c)
{
    says(c, "A cell is emptied, and all that is said meanwhile comes a second time, half a minute "
            "late. The cell has left the board by then, and nothing of it brings it back.");
    struct node *cell = desire_and_choose(c, 4);
    world_faults(c->world, &(struct world_faults){
                               .doubled = 1000,
                               .doubled_by = {30 * SECOND_NS, 31 * SECOND_NS},
                           });
    world_stop(c->world, cell);
    await_empty(c, cell, 4, SETTLE_NS);
    world_faults(c->world, &(struct world_faults){0});
    world_run(c->world, 40 * SECOND_NS);
    char key[64];
    cell_key(cell, key);
    assert_int_equal(cluster_records(c, key), 0);
    assert_int_equal(cluster_lost_cells(c), 0);
    await_running(c, "web", 4);
    says(c, "It is back: its first word changes nothing, and it is a cell like others.");
    world_start(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_records(c, key), 1);
}
