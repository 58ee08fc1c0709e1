/* Two who want what does not go together, about units, relations, services and machines: each pair
 * in both orders, a moment apart, by real reps and hooks. All checkers look on, and in the end of
 * each all services are destroyed and nothing of them is left. */
#include "test/sim/stories/unit_play.h"

#include "rep/unit/hook.h"

#define APART_NS (60 * MILLISECOND_NS)

/* Rows of words, as unit_play.h has them. */
struct race {
    const char *says, *before, *one, *other, *comes_to;
};

static const struct race races[] = {
    {"1. A machine is destroyed, and a unit comes to it.", "addmachine cell-1; deploy db 0",
     "rmmachine 0", "add db 1", "unit=1 started=1 machine_unit=1"},
    {"2, 4. A unit is destroyed while it is placed.", "deploy db 0", "add db 1", "rmunit db/0",
     "unit=0 machine_unit=0|unit=1 started=1 machine_unit=1"},
    {"3. Two units want the one machine that never had a unit.", "deploy db 0", "unused db",
     "unused db", "unit=2 machine_unit=1 started=1"},
    {"5. A unit is added to a service that is destroyed.", "deploy db 0", "add db 1",
     "rmservice db", "unit=0 unit_service=0"},
    {"6. A service is dying, and is deployed, related and given units.",
     "deploy db 1; deploy web 1; await started=2; hooks off; rmservice db; add db 1; relate 0; "
     "await unit=2",
     "deploy db 1", "add db 1", "unit=2 relation=1"},
    {"7. A relation is destroyed while units enter it.",
     "deploy db 1; deploy web 1; await started=2", "relate 0", "unrelate 0",
     "relation=1 relation_member=1|relation=2 relation_member=3"},
    {"8, 9. Two units leave a dying relation at once.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "unrelate 0", "unrelate 0",
     "relation=1 relation_member=1 started=2"},
    {"10. A service is destroyed while it is related.",
     "deploy db 0; deploy web 1; await started=1", "rmservice db", "relate 0",
     "unit_service=1 relation=0 unit=1 started=1"},
    {"10. A service is destroyed while its last unit goes.", "deploy db 1; await started=1",
     "rmservice db", "rmunit db/0", "unit_service=0 unit=0"},
    {"21. A service is destroyed, and so is its unit: the relation waits for the other side.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "rmservice web",
     "rmunit web/0", "unit_service=1 relation=1 relation_member=1 started=1"},
    {"11. The last who holds a dying service is a unit of the other side.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3; rmunit web/0; await unit=1; "
     "hooks off",
     "rmservice web", "rmunit db/0; hooks on", "unit_service=1 relation=1 unit=0"},
    {"12. The same, and that unit is forced.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3; rmunit web/0; await unit=1; "
     "hooks off",
     "rmservice web", "force db/0", "unit_service=1 relation=1 relation_member=0 unit=0"},
    {"13. A relation is destroyed and made again.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "unrelate 0", "relate 0",
     "relation=2 relation_member=3 started=2|relation=1 relation_member=1 started=2"},
    {"19. A unit is destroyed while it says that it has started.",
     "deploy db 0; add db 1; await machine_unit=1", "rmunit db/0", "add db 1",
     "unit=1 started=1 made=1"},
    {"20. A unit in error is destroyed: it stays, until it is resolved.",
     "hooks fail; deploy db 1; await error=1", "rmunit db/0", "resolve db/0", "unit=0|error=1"},
    {"22. A unit goes, and its relation stays.",
     "deploy db 1; deploy web 2; relate 0; await relation_member=4", "rmunit web/0", "rmunit web/1",
     "relation=2 relation_member=2 unit=1"},
    {"25. An agent comes back to what is dying.",
     "deploy db 2; await started=2; kill cell-1; rmunit db/0", "rmunit db/1", "start cell-1",
     "unit=0 made=0"},
    {"26. A machine is forced twice.", "deploy db 2; await started=2; hooks off", "forcemachine 0",
     "forcemachine 0", "unit=0 machine_unit=0 made=0"},
    {"27. A unit comes while its machine is forced.", "deploy db 1; await started=1",
     "forcemachine 0", "add db 1", "unit=1 started=1 machine_unit=1"},
    {"28. A bbs dies in the middle of a job.", "deploy db 3; await started=3", "rmservice db",
     "killbbs", "unit=0 unit_service=0"},
    {"29. What members told goes when nobody reads it.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "unrelate 0", "rmunit web/0",
     "relation=1 relation_settings=1 unit=1"},
    {"30. Units are destroyed of which one is dying, and one is unknown.",
     "deploy db 2; await started=2; rmunit db/1", "rmunit db/0", "rmunit db/2", "unit=0"},
    {"An agent is paralysed, and its unit is forced; it comes back to nothing of its own.",
     "deploy db 1; await started=1; kill cell-1", "force db/0", "rmunit db/0",
     "unit=0 machine_unit=0"},
    {"Nobody provides machines while a unit and its machine go.",
     "deploy db 1; await started=1; killconverger", "rmunit db/0", "rmmachine 0",
     "unit=0 machine_unit=0 made=0"},
    {"A cell is made anew: its unit is down until it is forced, others come to a new machine.",
     "deploy db 1; await started=1; kill cell-1; await lost=1; anew; start cell-1; await lost=0",
     "add db 1", "force db/0", "unit=1 started=1 machine=2 made=1"},
    {"A rep dies between a hook and what it notes of it.", "deploy db 1; await made=1",
     "kill cell-1", "start cell-1", "unit=1 started=1|unit=1 made=1"},
    {"A rep dies while its unit does.", "deploy db 1; await started=1", "rmunit db/0",
     "kill cell-1; start cell-1", "unit=0 made=0"},
    {"A rep dies while its unit leaves.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3", "rmunit web/0",
     "kill cell-1; start cell-1", "unit=1 relation_member=2 made=1"},
};

/* In its order, or in the other one; a moment apart. */
static void run_race(struct cluster *c, const struct race *race, bool reversed)
{
    struct racing r;
    race_begins(&r, c);
    says(c, race->says);
    race_acts(&r, race->before, 50 * MILLISECOND_NS);
    race_acts(&r, reversed ? race->other : race->one,
              (int64_t)random_below(world_random(c->world), APART_NS));
    race_acts(&r, reversed ? race->one : race->other, 1);
    race_await(&r, race->comes_to, 30 * MILLISECOND_NS);
    race_is_over(&r);
}

/* Which of them, and in which order, the seed says: so many seeds as stories.def has tell each in
 * both. */
void story_a_race_about_units(struct cluster *c)
{
    enum { RACES = sizeof(races) / sizeof(races[0]) };
    _Static_assert(2 * RACES == 56, "stories.def has so many seeds");
    uint64_t drawn = c->options.world.seed % (2 * RACES);
    run_race(c, &races[drawn / 2], drawn % 2);
}

/* ---- Beside a principal ---------------------------------------------------------------------- */

/* A web with its logger, where nothing else is said. Who has been destroyed is never alive again
 * (the checkers hold that), so that two units of which none is dying are a new one beside the old.
 */
#define WITH_LOGGER                                                                                \
    "deploy web 1; deploy logger 0; relate 3; await started=2 relation_member=2; rest; "

static const struct race races_beside[] = {
    {"14. A logger is dying, and its principal enters a second relation: a new one comes.",
     WITH_LOGGER "hooks off; unrelate 3; await dying=1 relation_member=1; relate 5; "
                 "await relation=2; await dying=1 relation_member=1",
     "hooks on", "kill cell-1; start cell-1",
     "unit=2 dying=0 started=2 relation=1 relation_member=2"},
    {"14. The relation of a logger goes, and a second one comes.", WITH_LOGGER, "unrelate 3",
     "relate 5", "unit=2 dying=0 started=2 relation=1 relation_member=2"},
    {"15. A principal has entered, and its rep does not know that: it dies. Then the relation "
     "does.",
     "deploy web 1; deploy logger 0; await started=1; relate 3; watch relation_member=1; "
     "kill cell-1",
     "start cell-1", "unrelate 3", "unit=1 relation=0 relation_member=0 dying=0"},
    {"15. The same; nothing dies, and one logger is enough.",
     "deploy web 1; deploy logger 0; await started=1; relate 3; watch relation_member=1",
     "kill cell-1; start cell-1", "relate 3",
     "unit=2 started=2 relation=1 relation_member=2 oldest=0"},
    {"16. A principal enters two relations to one service at once: one logger.",
     "deploy web 1; deploy logger 0; await started=1", "relate 3", "relate 5",
     "unit=2 started=2 unit_child=1 relation=2 relation_member=4 oldest=0"},
    {"17. A principal is not dead before its logger has gone: dead is not enough.",
     WITH_LOGGER
     "rmunit web/0; watch dead=1; kill cell-1; await unit=2 dead=1 dying=1 unit_child=1",
     "start cell-1", "unrelate 3", "unit=0 made=0"},
    {"17. A principal has stopped, and its logger does not stop.",
     WITH_LOGGER "rmunit web/0; watch stopped=1; hooks off; await dying=2", "hooks on",
     "unrelate 3", "unit=0 made=0"},
    {"18. A principal is destroyed while it enters.",
     "deploy web 1; deploy logger 0; await started=1", "relate 3", "rmunit web/0",
     "unit=0 unit_child=0 relation_member=0"},
    {"23. A relation is destroyed: who has left it goes on, and it waits for the other.",
     "deploy db 1; deploy web 1; relate 0; await relation_member=3; rest; hooks off; unrelate 0",
     "hooks web; await relation=2 relation_member=2 started=2|relation=1 relation_member=1 "
     "started=2",
     "hooks db; await relation=2 relation_member=2 started=2|relation=1 relation_member=1 "
     "started=2",
     "unit=2 started=2 relation=1 relation_member=1"},
    {"24. One of two relations goes, and the logger lives.",
     WITH_LOGGER "relate 5; "
                 "await relation_member=4; rest",
     "unrelate 3", "add web 1", "unit=4 started=4 relation=1 relation_member=4 oldest=0"},
    {"24. Both of two relations go, and the logger does.",
     WITH_LOGGER "relate 5; "
                 "await relation_member=4; rest",
     "unrelate 3", "unrelate 5", "unit=1 started=1 relation=0 unit_child=0"},
};

void story_a_race_beside_a_principal(struct cluster *c)
{
    enum { RACES = sizeof(races_beside) / sizeof(races_beside[0]) };
    _Static_assert(2 * RACES == 22, "stories.def has so many seeds");
    uint64_t drawn = c->options.world.seed % (2 * RACES);
    run_race(c, &races_beside[drawn / 2], drawn % 2);
}

/* ---- The steps of a unit's death ------------------------------------------------------------- */

/* Of web/0, which is related to db/0, and by what each is known; who has subordinates has one more.
 */
static const char *const death_steps[] = {
    "dying=1", "departing=1", "relation_member=2", "stopped=1", "dead=1", "made=1", "unit=1"};

enum death_victim { THE_REP, ITS_CONTAINER, A_BBS, THE_CONVERGER, DEATH_VICTIMS };

static void death_strikes(struct racing *r, enum death_victim victim)
{
    struct cluster *c = r->cluster;
    struct node *n = victim == THE_REP ? c->cells[0]
                     : victim == A_BBS ? c->bbs[random_below(world_random(c->world), 2)]
                                       : c->converger;
    if (victim == ITS_CONTAINER) {
        while (world_end_container(c->world, c->cells[0], 0, 1)) {
        }
        return;
    }
    world_kill(c->world, n);
    race_step(r, 1 + (int64_t)random_below(world_random(c->world), 2 * SECOND_NS));
    race_process(r, n, true);
}

/* A unit goes, and something else dies at one of its steps; which and who, the seed says. */
void story_a_death_at_each_step_of_a_units_end(struct cluster *c)
{
    enum { STEPS = sizeof(death_steps) / sizeof(death_steps[0]) };
    _Static_assert(STEPS * DEATH_VICTIMS == 28, "stories.def has so many seeds");
    struct racing r;
    uint64_t drawn = c->options.world.seed % (STEPS * DEATH_VICTIMS);
    race_begins(&r, c);
    says(c,
         "Two units are related, and one is destroyed. At one of its steps the rep, its container, "
         "a bbs or the converger dies, and is back after a while. It goes all the same, and the "
         "other one stays.");
    race_acts(&r, "deploy db 1; deploy web 1; relate 0; await relation_member=3",
              50 * MILLISECOND_NS);
    race_acts(&r, "rmunit web/0", 1);
    race_await(&r, death_steps[drawn / DEATH_VICTIMS], MILLISECOND_NS / 2);
    death_strikes(&r, (enum death_victim)(drawn % DEATH_VICTIMS));
    race_await(&r,
               "unit=1 unit_status=1 started=1 made=1 relation=2 relation_member=2 machine_unit=1",
               30 * MILLISECOND_NS);
    race_is_over(&r);
}

/* Of web/0, which has a logger beside it and is related to db/0: destroyed, its logger with it, it
 * departs, leaves, stops, has stopped, waits for its logger, and so on. */
static const char *const family_steps[] = {"dying=1",
                                           "dying=2",
                                           "departing=1 dying=2|departing=2|departing=3",
                                           "stops=1",
                                           "stopped=1",
                                           "stops=2",
                                           "stopped=2|unit=2",
                                           "dead=1",
                                           "unit_child=0",
                                           "dead=1 unit_child=0|unit=1",
                                           "unit=1"};

void story_a_death_while_a_unit_takes_its_logger(struct cluster *c)
{
    enum { STEPS = sizeof(family_steps) / sizeof(family_steps[0]) };
    _Static_assert(STEPS * DEATH_VICTIMS == 44, "stories.def has so many seeds");
    struct racing r;
    uint64_t drawn = c->options.world.seed % (STEPS * DEATH_VICTIMS);
    race_begins(&r, c);
    says(c, "A unit with a logger beside it is related to another one, and destroyed. At one of "
            "its steps, or of its logger's, the rep, a container, a bbs or the converger dies, and "
            "is back after a while. Both go all the same, and the other one stays.");
    race_acts(&r,
              "deploy db 1; deploy web 1; deploy logger 0; relate 0; relate 3; "
              "await relation_member=5 started=3; rest",
              50 * MILLISECOND_NS);
    race_acts(&r, "rmunit web/0", 1);
    race_await(&r, family_steps[drawn / DEATH_VICTIMS], MILLISECOND_NS / 2);
    death_strikes(&r, (enum death_victim)(drawn % DEATH_VICTIMS));
    race_await(&r,
               "unit=1 unit_status=1 started=1 made=1 relation=3 relation_member=2 unit_child=0",
               30 * MILLISECOND_NS);
    race_is_over(&r);
}

/* ---- Sixty-four relations -------------------------------------------------------------------- */

void story_a_forced_unit_takes_sixty_four_services_away(struct cluster *c)
{
    enum { SERVICES = HOOK_RELATIONS_MAX - 1 }; /* one is that of its peers */
    struct racing r;
    race_begins(&r, c);
    says(
        c,
        "A unit is related to as many services as it may be, none of which has a unit. They are "
        "destroyed, and its hooks do not end: so all of them wait for it. It is forced, and leaves "
        "one relation after the other; each takes its service away.");
    race_acts(&r, "deploy db 1; await started=1", 50 * MILLISECOND_NS);
    for (unsigned i = 0; i < SERVICES; i++) {
        race_deploy_named(&r, arena_printf(&r.arena, "w-a%u", i));
    }
    race_await(&r, arena_printf(&r.arena, "relation_member=%u", SERVICES + 1), 30 * MILLISECOND_NS);
    race_acts(&r, "hooks off", 1);
    for (unsigned i = 0; i < SERVICES; i++) {
        race_remove_service(&r, arena_printf(&r.arena, "w-a%u", i));
    }
    race_step(&r, SECOND_NS);
    assert_int_equal(race_counted(&r, "unit_service"), SERVICES + 1);
    race_acts(&r, "force db/0", 1);
    race_await(&r, "unit=0 relation=1 relation_member=0 unit_service=1", 30 * MILLISECOND_NS);
    race_is_over(&r);
}
