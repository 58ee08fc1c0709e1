/* A rep dies, and the next one takes over what it finds: a unit in each row of the agent's table
 * (rep/unit/agent.c), with what happened to it meanwhile. */
#include "test/sim/stories/unit_play.h"

#include <string.h>

#include "rep/unit/hook.h"

/* `before` leads to the row, and then the rep is killed; `meanwhile` happens without it; `then`
 * when it is back. `hooks`: those of web that are noted after the kill; `commands`: how many of its
 * commands are begun then. */
struct adoption {
    const char *says, *before, *meanwhile, *then, *hooks;
    int commands;
    const char *comes_to;
};

#define A_WEB "deploy web 1; await started=1; rest"
#define RELATED                                                                                    \
    "deploy db 1; deploy web 1; await started=2; relate 0; await relation_member=3; rest"

static const struct adoption adoptions[] = {
    {"1. Its unit was forced.", A_WEB, "force web/0; await unit=0", "", "", 0, "unit=0 made=0"},
    {"2. It is dead.", A_WEB "; rmunit web/0; watch dead=1", "", "", "", 0, "unit=0 made=0"},
    {"2. It is dead, and is being recalled.", A_WEB "; rmunit web/0; watch removes=1", "", "", "",
     0, "unit=0 made=0"},
    {"3. It was assigned, and is destroyed: no container is made.",
     "deploy web 1; watch machine_unit=1", "rmservice web; await unit=0", "", "", 0,
     "unit=0 made=0"},
    {"4. Its service is destroyed.", A_WEB, "rmservice web", "", "stop ", 0,
     "unit=0 unit_service=0 made=0"},
    {"5. It is destroyed, and has a logger.",
     "deploy web 1; deploy logger 0; await started=1; relate 3; await started=2 relation_member=2; "
     "rest",
     "rmunit web/0", "", "stop ", 0, "unit=0 unit_child=0 made=0"},
    {"6. It was assigned, and nothing is made.", "deploy web 1; watch machine_unit=1", "", "",
     "install config-changed start ", 1, "started=1 made=1"},
    {"7. Its container is made, and no hook was noted.", "deploy web 1; watch made=1", "", "",
     "install config-changed start ", 1, "started=1 made=1"},
    {"7. Its container has ended.", A_WEB, "fall", "", "install config-changed start ", 1,
     "started=1 made=1"},
    {"7, 3. Its container has ended, and it is destroyed: what was installed is gone, nothing is "
     "owed.",
     A_WEB, "fall; rmunit web/0", "", "", 0, "unit=0 made=0"},
    {"8. A hook runs, and goes on.", "hooks off; deploy web 1; await hooks=1", "", "hooks on",
     "config-changed start ", 1, "started=1 made=1"},
    {"8. A hook has ended well.", "hooks off; deploy web 1; await hooks=1", "hooks on", "",
     "config-changed start ", 1, "started=1 made=1"},
    {"8. A hook has failed.", "hooks off; deploy web 1; await hooks=1", "hooks fail",
     "await error=1; rest", "", 0, "error=1 made=1"},
    {"8. Nobody can tell how a hook ended: it runs again.",
     "hooks off; deploy web 1; await hooks=1", "fall", "hooks on", "install config-changed start ",
     1, "started=1 made=1"},
    {"8. Two hooks of two units run, and go on.",
     "deploy db 1; deploy web 1; await started=2; rest; hooks off; relate 0; await hooks=2", "",
     "hooks on", "changed config-changed ", 0, "started=2 relation_member=3 made=2"},
    {"9. It is in error, and is destroyed: it does nothing, not even die.",
     "hooks fail; deploy web 1; await error=1; hooks on", "rmunit web/0", "rest", "", 0,
     "unit=1 dying=1 error=1 made=1"},
    {"10. It was in error, and somebody has resolved that.",
     "hooks fail; deploy web 1; await error=1; hooks on", "resolve web/0", "",
     "config-changed start ", 1, "started=1 made=1"},
    {"11. Nothing was owed: it hears once of its configuration.", A_WEB, "", "", "config-changed ",
     0, "started=1 made=1"},
    {"11. Its relation is destroyed.", RELATED, "unrelate 0", "", "departed broken config-changed ",
     0, "relation=1 relation_member=1 started=2 made=2"},
    {"11. It has told that its relation is broken, and has not left.",
     RELATED "; unrelate 0; watch brokens=1", "", "", "config-changed ", 0,
     "relation=1 relation_member=1 started=2 made=2"},
    {"11. The other one is gone.", RELATED, "force db/0; await unit=1", "",
     "departed config-changed ", 0, "relation=2 relation_member=1 started=1 made=1"},
    {"11. It stops.", A_WEB "; hooks off; rmunit web/0; await stops=1 hooks=1", "", "hooks on", "",
     0, "unit=0 made=0"},
    {"12. It has stopped.", A_WEB "; rmunit web/0; watch stopped=1", "", "", "", 0,
     "unit=0 made=0"},
    {"12. It has stopped, and waits for its logger.",
     "deploy web 1; deploy logger 0; await started=1; relate 3; await started=2 relation_member=2; "
     "rest; "
     "rmunit web/0; watch stopped=1; hooks off; await dying=2",
     "", "hooks on", "", 0, "unit=0 made=0"},
    {"13. It is related.", "deploy db 1; deploy web 1; await started=2; rest", "relate 0", "",
     "config-changed joined changed ", 0, "relation_member=3 started=2 made=2"},
    {"13. It is entering.", "deploy db 1; deploy web 1; await started=2; rest; relate 0", "", "",
     "config-changed joined changed ", 0, "relation_member=3 started=2 made=2"},
};

static void adopt(struct cluster *c, const struct adoption *row)
{
    struct racing r;
    race_begins(&r, c);
    says(c, row->says);
    race_acts(&r, row->before, 1);
    race_process(&r, c->cells[0], false);
    r.order[0] = '\0';
    r.commands = 0;
    race_acts(&r, row->meanwhile, 100 * MILLISECOND_NS);
    race_step(&r, 1 + (int64_t)random_below(world_random(c->world), 2 * SECOND_NS));
    race_process(&r, c->cells[0], true);
    race_acts(&r, row->then, 1);
    race_await(&r, row->comes_to, 30 * MILLISECOND_NS);
    race_acts(&r, "rest; rest", 1);
    race_await(&r, row->comes_to, 30 * MILLISECOND_NS);
    assert_string_equal(r.order, row->hooks);
    assert_int_equal(r.commands, row->commands);
    if (strstr(row->comes_to, "error=1")) {
        race_acts(&r, "resolve web/0", 1);
    }
    race_is_over(&r);
}

/* Which row, the seed says. */
void story_a_rep_takes_units_over(struct cluster *c)
{
    enum { ROWS = sizeof(adoptions) / sizeof(adoptions[0]) };
    _Static_assert(ROWS == 26, "stories.def has so many seeds, twice");
    adopt(c, &adoptions[c->options.world.seed % ROWS]);
}

/* ---- A cell that is emptied ------------------------------------------------------------------ */

void story_no_unit_comes_to_a_cell_that_is_emptied(struct cluster *c)
{
    struct racing r;
    race_begins(&r, c);
    says(c, "A cell with a unit is emptied, and a unit is added: it may be on its way to the cell "
            "when that begins, else it waits until the cell is back. No machine was cordoned, and "
            "none has to be opened again.");
    race_acts(&r, "deploy web 1; await started=1; rest", 1);
    bool late = random_below(world_random(c->world), 2);
    if (late) {
        race_acts(&r, "empty; add web 1", (int64_t)random_below(world_random(c->world), SECOND_NS));
        race_acts(&r, "rest; rest", 1);
        assert_int_equal(race_counted(&r, "machine_unit"), 1);
    } else {
        race_acts(&r, "add web 1", 1);
        race_step(&r, (int64_t)random_below(world_random(c->world), 4 * MILLISECOND_NS));
        race_acts(&r, "empty; rest", 1);
    }
    assert_int_equal(race_counted(&r, "unit"), 2);
    while (node_up(c->cells[0])) {
        race_step(&r, 100 * MILLISECOND_NS);
    }
    if (late) {
        assert_int_equal(race_counted(&r, "machine_unit"), 1);
    }
    race_acts(&r, "start cell-1; await started=2 machine_unit=2 machine=1", 1);
    race_is_over(&r);
}

/* ---- Many peers ------------------------------------------------------------------------------ */

void story_who_comes_to_many_peers_has_his_turn(struct cluster *c)
{
    struct racing r;
    race_begins(&r, c);
    says(c,
         "Sixteen peers on one cell are told of each other, which are hundreds of hooks, of which "
         "four run at once. A unit of another service is added in the middle of that, and has "
         "started long before they are through.");
    race_acts(&r, "deploy db 16; await started=16", 1);
    race_acts(&r, "deploy web 1", 1);
    int64_t asked_ns = world_now(c->world);
    race_await(&r, "started=17", 30 * MILLISECOND_NS);
    int64_t waited_ns = world_now(c->world) - asked_ns;
    race_await(&r, "hooks=4", 30 * MILLISECOND_NS); /* peers are not through */
    assert_string_equal(r.order, "install config-changed start ");
    if (waited_ns > SECOND_NS) {
        fail_msg("it waited for %lld ms", (long long)(waited_ns / MILLISECOND_NS));
    }
    race_is_over(&r);
}
