/* Cells that fall silent: lost, back, cut off, and many at once. */
#include "test/sim/stories/story.h"

#include <stdio.h>

#include "board.pb-c.h"
#include "test/sim/model/containers.h"

/* design.md 6: a lost cell's work runs elsewhere. */
#define CELL_LOST_NS (12 * SECOND_NS)

struct replaced {
    struct cluster *cluster;
    struct node *cell;
    const char *state;
    int count;
};

static bool is_replaced(void *context)
{
    const struct replaced *r = context;
    return cluster_lost_cells(r->cluster) > 0 && cluster_on(r->cluster, r->cell) == 0 &&
           cluster_count(r->cluster, "web", r->state) == r->count;
}

/* The cell is lost, no ORDINARY record names it, and so many are in this state. */
static void await_replaced(struct cluster *c, struct node *cell, const char *state, int count)
{
    struct replaced replaced = {c, cell, state, count};
    if (!world_run_until(c->world, CELL_LOST_NS, is_replaced, &replaced)) {
        fail_msg("%d cells lost, %d records name %s, %d are %s", cluster_lost_cells(c),
                 cluster_on(c, cell), node_name(cell), cluster_count(c, "web", state), state);
    }
}

static struct node *desire_and_choose(struct cluster *c, int instances)
{
    assert_int_equal(cluster_desire(c, NULL, "web", instances), 0);
    await_running(c, "web", instances);
    return cell_with_a_container(c);
}

/* A machine falls, with all that runs on it. */
static void fall(struct cluster *c, struct node *cell)
{
    world_kill(c->world, cell);
    world_reboot(c->world, cell, true);
}

void story_cell_lost(struct cluster *c)
{
    says(c, "A machine falls, and with it its rep and all that it ran. Nobody hears of it for 6 s: "
            "it is lost, its instance is SUSPECT, another one is placed and runs; then the old "
            "record goes.");
    struct node *cell = desire_and_choose(c, 3);
    fall(c, cell);
    await_replaced(c, cell, "RUNNING", 3);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
    says(c, "It is back, empty: a cell like others.");
    world_start(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    assert_int_equal(cluster_scale(c, "web", 12), 0);
    await_running(c, "web", 12);
    assert_true(model_containers_running(node_containers(cell)) > 0);
}

void story_cell_paused_and_woken(struct cluster *c)
{
    says(c, "A rep sleeps; its containers run on. Its cell is lost and what it ran is replaced.");
    struct node *cell = desire_and_choose(c, 3);
    world_pause(c->world, cell);
    await_replaced(c, cell, "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 4);
    world_run(c->world, 8 * SECOND_NS);
    says(c,
         "It wakes and speaks with its old incarnation, which the board refuses: it raises it and "
         "learns that another instance runs. The old container stops.");
    world_wake(c->world, cell);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
    assert_int_equal(cluster_lost_cells(c), 0);
}

void story_cell_back_after_its_replacement(struct cluster *c)
{
    says(c, "A rep is killed for so long that its cell is lost and its instance replaced, while "
            "the old container runs on.");
    struct node *cell = desire_and_choose(c, 3);
    world_kill(c->world, cell);
    await_replaced(c, cell, "RUNNING", 3);
    assert_int_equal(cluster_containers(c), 4);
    says(c, "The next rep finds the container, and another instance in its place: it stops it. "
            "No more than three are left, and nobody touches the replacement.");
    world_start(c->world, cell);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
}

void story_cell_back_before_its_replacement(struct cluster *c)
{
    says(c, "A cell is lost, but no auctioneer is there to place the replacement: the old record "
            "is SUSPECT beside a new one that waits.");
    struct node *cell = desire_and_choose(c, 3);
    world_kill(c->world, c->auctioneer);
    world_kill(c->world, cell);
    await_replaced(c, cell, "UNCLAIMED", 1);
    assert_int_equal(cluster_records(c, "actual/web/"), 4);
    says(c, "The cell is back with its container: the instance is what it was, and what waited "
            "goes.");
    world_start(c->world, cell);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
    world_start(c->world, c->auctioneer);
    await_running(c, "web", 3);
}

void story_failure_detector_woken_from_a_pause(struct cluster *c)
{
    says(c, "The failure detector sleeps for a minute. While it sleeps all cells send heartbeats; "
            "but it has "
            "not heard them. It wakes, and starts its windows again: nobody is lost.");
    desire_and_choose(c, 3);
    world_pause(c->world, c->converger);
    world_run(c->world, 60 * SECOND_NS);
    world_wake(c->world, c->converger);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    await_running(c, "web", 3);
    says(c, "It sleeps again, and this time a machine falls meanwhile. Once awake it needs a whole "
            "window for that.");
    struct node *cell = cell_with_a_container(c);
    world_pause(c->world, c->converger);
    world_run(c->world, SECOND_NS);
    fall(c, cell);
    world_run(c->world, 60 * SECOND_NS);
    world_wake(c->world, c->converger);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 1);
    await_running(c, "web", 3);
}

void story_short_partition_of_a_cell(struct cluster *c)
{
    says(c, "A cell reaches nobody, and nobody reaches it, for 4 s: less than the window, and "
            "nothing happens.");
    struct node *cell = desire_and_choose(c, 3);
    cut_cell(c, cell, true);
    world_run(c->world, 4 * SECOND_NS);
    cut_cell(c, cell, false);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
}

void story_one_way_partition_of_a_cell(struct cluster *c)
{
    says(c, "What a cell says arrives, but no answer comes back to it. It is heard, so it is not "
            "lost, for as long as it lasts.");
    struct node *cell = desire_and_choose(c, 3);
    cut_way(c, NULL, cell, true);
    world_run(c->world, 30 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    cut_way(c, NULL, cell, false);
    await_running(c, "web", 3);
    says(c, "The other way round: it hears all, and nobody hears it. It is lost, and what it runs "
            "is replaced.");
    cut_way(c, cell, NULL, true);
    await_replaced(c, cell, "RUNNING", 3);
    says(c, "It is heard again.");
    cut_way(c, cell, NULL, false);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
    assert_int_equal(cluster_lost_cells(c), 0);
}

void story_long_partition_of_a_cell(struct cluster *c)
{
    says(c, "A cell is cut off for two minutes. Its container runs on, for running work keeps "
            "running; its replacement runs elsewhere.");
    struct node *cell = desire_and_choose(c, 3);
    cut_cell(c, cell, true);
    await_replaced(c, cell, "RUNNING", 3);
    world_run(c->world, 120 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 4);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    says(c, "The way is free again: of two that run, the one without a record stops.");
    cut_cell(c, cell, false);
    await_running(c, "web", 3);
    assert_int_equal(cluster_records(c, "actual/web/"), 3);
}

/* ---- Mass loss ---- */

enum { SILENT = 4, INSTANCES = 18 };

/* Four cells of nine fall silent at once; 12 s later the mass-loss limiter holds them. */
static void silence(struct cluster *c)
{
    says(c,
         "Eighteen instances run on nine cells. Four cells are cut off at once: that is more "
         "than a third, so it is probably not they who are ill. The mass-loss limiter holds them.");
    assert_int_equal(cluster_desire(c, NULL, "web", INSTANCES), 0);
    await_running(c, "web", INSTANCES);
    for (unsigned i = 0; i < SILENT; i++) {
        cut_cell(c, c->cells[i], true);
    }
    world_run(c->world, 12 * SECOND_NS);
    assert_int_equal(cluster_records(c, "brake/"), 1);
    assert_int_equal(cluster_lost_cells(c), 0);
    assert_int_equal(cluster_records(c, "actual/web/"), INSTANCES);
}

static void back(struct cluster *c)
{
    for (unsigned i = 0; i < SILENT; i++) {
        cut_cell(c, c->cells[i], false);
    }
    await_running(c, "web", INSTANCES);
    assert_int_equal(cluster_records(c, "actual/web/"), INSTANCES);
    assert_int_equal(cluster_lost_cells(c), 0);
    assert_int_equal(cluster_records(c, "brake/"), 0);
}

static void operator_says(struct cluster *c, bool confirm)
{
    Board__LimiterRequest request = BOARD__LIMITER_REQUEST__INIT;
    request.confirm = confirm;
    request.keep = !confirm;
    world_note(c->world, "operator", "bbs cells %s", confirm ? "confirm" : "keep");
    assert_int_equal(world_call(c->world, "https://bbs-1:8889", "/v1/board/limiter", &request.base,
                                SETTLE_NS, NULL),
                     200);
}

void story_mass_loss_waits_for_the_limiter(struct cluster *c)
{
    silence(c);
    world_run(c->world, 40 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    says(c, "Nobody says anything for a minute: the mass-loss limiter is released, and they are "
            "lost, a few at "
            "a time.");
    world_run(c->world, 40 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), SILENT);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), INSTANCES);
    says(c, "They are back, with all that still runs there.");
    back(c);
}

void story_mass_loss_confirmed(struct cluster *c)
{
    silence(c);
    says(c, "An operator knows that they are gone.");
    operator_says(c, true);
    world_run(c->world, 15 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), SILENT);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), INSTANCES);
    says(c, "They are back after all.");
    back(c);
}

void story_mass_loss_kept(struct cluster *c)
{
    silence(c);
    says(c, "An operator knows that a cable is out: they are to be kept, and nothing is replaced, "
            "however long it takes.");
    operator_says(c, false);
    world_run(c->world, 300 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 0);
    assert_int_equal(cluster_records(c, "actual/web/"), INSTANCES);
    says(c, "The cable is in again: all of it ran all the time.");
    back(c);
}

void story_retired_while_its_cell_is_lost(struct cluster *c)
{
    says(c, "An instance is retired while its cell is lost and nothing else has room. As in Diego "
            "(behaviour.md "
            "10.3, 12) that takes away what waits in its place, which is made again, and not the "
            "SUSPECT: "
            "when the cell is back before another instance runs, the old one has its place again.");
    struct node *cell = desire_and_choose(c, 1);
    char guid[64];
    snprintf(guid, sizeof(guid), "%s", model_containers_guid(node_containers(cell), 0));
    cut_cell(c, cell, true);
    await_replaced(c, cell, "UNCLAIMED", 1);
    assert_int_equal(cluster_retire(c, "web", 0), 0);
    assert_int_equal(cluster_count(c, "web", ""), 0);
    await(c, "web", "UNCLAIMED", 1);
    cut_cell(c, cell, false);
    await_running(c, "web", 1);
    assert_int_equal(cluster_records(c, "actual/web/"), 1);
    assert_string_equal(model_containers_guid(node_containers(cell), 0), guid);
    says(c, "Retired again it ends, and another one runs.");
    assert_int_equal(cluster_retire(c, "web", 0), 0);
    await(c, "web", "RUNNING", 0);
    await_running(c, "web", 1);
    assert_string_not_equal(model_containers_guid(node_containers(cell), 0), guid);
}
