/* What befalls a cell: its rep, and the ways to it. */
#include "test/sim/stories/story.h"

#include <stdio.h>

#include "test/sim/model_containers.h"

void story_rep_killed_and_adopted(struct cluster *c)
{
    says(c, "A rep is killed, its containers run on; the next rep of the cell adopts them and "
            "restarts none.");
    assert_int_equal(cluster_desire(c, NULL, "web", 3), 0);
    await(c, "web", "RUNNING", 3);
    struct node *cell = c->cells[0];
    for (unsigned i = 1; !model_containers_guid(node_containers(cell), 0); i++) {
        cell = c->cells[i]; /* one that was late when the auction asked may have got none */
    }
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
