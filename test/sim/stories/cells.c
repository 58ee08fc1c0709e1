/* What befalls a cell: its rep, and the ways to it. */
#include "test/sim/stories/story.h"

#include <stdio.h>

#include "models/desired_lrp_requests.pb-c.h"
#include "test/sim/model/containers.h"

void story_rep_killed_and_adopted(struct cluster *c)
{
    says(c, "A rep is killed, its containers run on; the next rep of the cell adopts them and "
            "restarts none.");
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    struct node *cell = cell_with_a_container(c);
    const char *guid = model_containers_guid(node_containers(cell), 0);
    assert_non_null(guid);
    char before[80];
    snprintf(before, sizeof(before), "%s", guid);
    world_kill(c->world, cell);
    world_run(c->world, 2 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    world_start(c->world, cell);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    const char *after = model_containers_guid(node_containers(cell), 0);
    assert_non_null(after);
    assert_string_equal(after, before);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}

void story_a_cell_is_cut_off(struct cluster *c)
{
    says(c, "A cell reaches no bbs for 20 s: its containers run on, and what was removed "
            "meanwhile goes.");
    assert_int_equal(cluster_desire(c, NULL, "web", 9), 0);
    await_running(c, "web", 9);
    cut_cell(c, c->cells[0], true);
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 9);
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    world_run(c->world, 10 * SECOND_NS);
    cut_cell(c, c->cells[0], false);
    await_running(c, "web", 2);
    assert_int_equal(cluster_remove(c, "web"), 0);
    await_gone(c, "web");
}

void story_rep_restarted_before_adoption(struct cluster *c)
{
    says(c, "A rep is killed and started again, but its runtime hangs and does not list what runs. "
            "Not knowing what it has, it takes nothing for lost. It is killed once more before it "
            "has adopted anything.");
    assert_int_equal(cluster_desire(c, NULL, "web", 6), 0);
    await_running(c, "web", 6);
    struct node *cell = c->cells[0];
    world_kill(c->world, cell);
    model_containers_hang(node_containers(cell), true);
    world_run(c->world, 2 * SECOND_NS);
    world_start(c->world, cell);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 6);
    assert_int_equal(cluster_containers(c), 6);
    world_kill(c->world, cell);
    says(c, "The runtime answers again; the next rep adopts, and none was restarted.");
    model_containers_hang(node_containers(cell), false);
    world_run(c->world, SECOND_NS);
    world_start(c->world, cell);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 6);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 6);
}

static void hang_all(struct cluster *c, bool hung)
{
    for (unsigned i = 0; i < c->options.cells; i++) {
        model_containers_hang(node_containers(c->cells[i]), hung);
    }
}

static bool both_run(void *cluster)
{
    return cluster_count(cluster, "web", "RUNNING") == 2;
}

void story_a_cell_takes_what_it_cannot_claim(struct cluster *c)
{
    says(c, "The runtime hangs as it makes the first instance; the second runs on the other cell. "
            "Another "
            "rep starts the first one, too, and it crashes there: it is to be placed again.");
    hang_all(c, true);
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await(c, "web", "CLAIMED", 1);
    world_run(c->world, SECOND_NS);
    hang_all(c, false);
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    await(c, "web", "RUNNING", 1);
    assert_int_equal(elsewhere(c, c->bbs[0], "start", 0, "another"), 0);
    assert_int_equal(elsewhere(c, c->bbs[0], "crash", 0, "another"), 0);
    says(c, "Its cell takes it, for it has it, and cannot claim it before the runtime has "
            "answered, or not "
            "within a minute. After 5 s the other cell is asked, and it runs there.");
    assert_true(world_run_until(c->world, 6 * SECOND_NS, both_run, c));
    says(c, "When the runtime's time is over the old container goes.");
    world_run(c->world, 65 * SECOND_NS);
    await_running(c, "web", 2);
}

static bool one_runs(void *cluster)
{
    return cluster_count(cluster, "web", "RUNNING") == 1;
}

void story_a_claim_that_comes_late(struct cluster *c)
{
    says(c, "A cell takes an instance, and what it says to every bbs is lost, its claim as well. "
            "After 5 s "
            "another cell is asked, and it runs there.");
    cut_way(c, c->cells[0], NULL, true);
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    assert_true(world_run_until(c->world, 6 * SECOND_NS, one_runs, c));
    says(c, "The claim arrives, too late: the first cell gives up what it kept for it, and is as "
            "good as any "
            "for the next.");
    cut_way(c, c->cells[0], NULL, false);
    world_run(c->world, 5 * SECOND_NS);
    await_running(c, "web", 1);
    assert_int_equal(cluster_scale(c, "web", 2), 0);
    assert_true(world_run_until(c->world, SECOND_NS, both_run, c));
    await_running(c, "web", 2);
}

void story_old_container_new_definition(struct cluster *c)
{
    says(c, "While a rep is dead, the app that its container runs is removed and desired again, "
            "with another definition. The record of the old instance is lost, and no auctioneer "
            "is there to place the new one.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await_running(c, "web", 1);
    struct node *cell = cell_with_a_container(c);
    world_kill(c->world, cell);
    world_kill(c->world, c->auctioneer);
    assert_int_equal(cluster_remove(c, "web"), 0);
    cluster_lose(c, "actual/web/0000000000/0");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    await(c, "web", "UNCLAIMED", 1);
    says(c, "The rep is back with a container of the old definition. It is not taken for the new "
            "one: it stops, and the new one is placed when the auctioneer is there.");
    world_start(c->world, cell);
    world_run(c->world, 40 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "UNCLAIMED"), 1);
    assert_int_equal(cluster_containers(c), 0);
    world_start(c->world, c->auctioneer);
    await_running(c, "web", 1);
}

/* An app whose domain nobody vouched for, one instance of which runs on a cell that is lost, and
 * replaced, while its container runs on. */
static struct node *lost_and_running(struct cluster *c)
{
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await_running(c, "web", 3);
    struct node *cell = cell_with_a_container(c);
    cut_cell(c, cell, true);
    world_run(c->world, 20 * SECOND_NS);
    assert_int_equal(cluster_lost_cells(c), 1);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 3);
    assert_int_equal(cluster_records(c, "domain/"), 0);
    return cell;
}

/* No container is left, within the bound of a stop; what was kept of the request goes once nobody
 * can ask for it. */
static void await_forgotten(struct cluster *c)
{
    world_run(c->world, 400 * SECOND_NS);
    assert_int_equal(cluster_records(c, "removal/"), 0);
}

void story_removed_while_its_cell_is_away(struct cluster *c)
{
    says(c, "A cell is lost and what it ran is replaced, while the old container runs on. Then the "
            "app is removed: no record is left, and its domain is not fresh, so that absence means "
            "nothing. But that it was removed is kept.");
    struct node *cell = lost_and_running(c);
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_run(c->world, 600 * SECOND_NS);
    assert_int_equal(cluster_records(c, "actual/web/"), 0);
    assert_int_equal(cluster_containers(c), 1);
    assert_int_equal(cluster_records(c, "removal/"), 1);
    says(c, "The cell is back with its container: it was asked to go, so it stops.");
    cut_cell(c, cell, false);
    world_run(c->world, 15 * SECOND_NS);
    await_gone(c, "web");
    await_forgotten(c);
}

void story_lost_while_it_stops(struct cluster *c)
{
    says(c,
         "An app is removed while nothing reaches one of its cells: its records are marked. Then "
         "the cell is lost, and with it goes the marked record.");
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await_running(c, "web", 3);
    struct node *cell = cell_with_a_container(c);
    cut_cell(c, cell, true);
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_records(c, "actual/web/"), 0);
    assert_int_equal(cluster_containers(c), 1);
    says(c, "The cell is back with its container: it stops.");
    cut_cell(c, cell, false);
    world_run(c->world, 15 * SECOND_NS);
    await_gone(c, "web");
    await_forgotten(c);
}

void story_scaled_down_while_its_cell_is_away(struct cluster *c)
{
    says(c, "A cell is lost and what it ran is replaced, while the old container runs on. Then the "
            "app is scaled to nothing, and its domain is not fresh.");
    struct node *cell = lost_and_running(c);
    assert_int_equal(cluster_scale(c, "web", 0), 0);
    world_run(c->world, 60 * SECOND_NS);
    assert_int_equal(cluster_records(c, "actual/web/"), 0);
    says(c, "The cell is back with its container: it stops.");
    cut_cell(c, cell, false);
    world_run(c->world, 15 * SECOND_NS);
    await_running(c, "web", 0);
    await_forgotten(c);
    says(c, "One is wanted again, of the same definition: it runs.");
    assert_int_equal(cluster_scale(c, "web", 1), 0);
    await_running(c, "web", 1);
}

void story_stop_lost_in_a_stale_domain(struct cluster *c)
{
    says(c, "An app is removed while nothing reaches its cells. Their stops are lost, and its "
            "domain is not fresh: nobody ever vouched for it. But it was asked for: the records "
            "are marked, and the mark is enough.");
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await_running(c, "web", 3);
    for (unsigned i = 0; i < c->options.cells; i++) {
        cut_cell(c, c->cells[i], true);
    }
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_run(c->world, 4 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 3);
    assert_int_equal(cluster_records(c, "domain/"), 0);
    says(c, "The way is free again.");
    for (unsigned i = 0; i < c->options.cells; i++) {
        cut_cell(c, c->cells[i], false);
    }
    world_run(c->world, 15 * SECOND_NS);
    await_gone(c, "web");
}

static void desire_beside_a_sidecar(void *cluster, const ProtobufCMessage *m)
{
    struct cluster *c = cluster;
    const Models__DesireLRPRequest *request = (const Models__DesireLRPRequest *)m;
    Models__Sidecar sidecar = MODELS__SIDECAR__INIT, *sidecars[] = {&sidecar};
    sidecar.action = request->desired_lrp->action;
    request->desired_lrp->sidecars = sidecars;
    request->desired_lrp->n_sidecars = 1;
    assert_int_equal(world_call(c->world, node_url(c->bbs[0]), "/v1/desired_lrp/desire.r2", m,
                                SETTLE_NS, NULL), 200);
}

void story_stopped_after_its_machine_fell(struct cluster *c)
{
    says(c, "A machine falls and is up again: its monotonic clock begins anew. Then it runs an app "
            "and its sidecar, which both ignore SIGTERM. The app is removed: after the grace, by "
            "the machine's clock, they are killed, and not as much later as the machine was up "
            "before.");
    struct node *cell = c->cells[0];
    world_run(c->world, 60 * SECOND_NS);
    world_kill(c->world, cell);
    world_reboot(c->world, cell, true);
    world_start(c->world, cell);
    cluster_with_desire("web", 1, desire_beside_a_sidecar, c);
    await_running(c, "web", 1);
    struct model_containers *m = node_containers(cell);
    assert_true(model_containers_deafen(m, model_containers_guid(m, 0)));
    assert_int_equal(cluster_remove(c, "web"), 0);
    world_run(c->world, 9 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 1);
    world_run(c->world, 2 * SECOND_NS);
    assert_int_equal(cluster_containers(c), 0);
    await_gone(c, "web");
}
