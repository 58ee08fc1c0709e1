/* etcd is restored from a snapshot, and units were assigned, destroyed and brought since; and
 * records of a later version, which nobody here touches. */
#include "test/sim/stories/unit_play.h"

/* `snapshot` is what there was when it was taken, `since` what came after it; it comes to
 * `restored` by itself, and when an operator has recalled what is unknown to `recalled`. */
struct unit_restore {
    const char *says, *snapshot, *since, *restored, *then, *recalled;
};

static const struct unit_restore restores[] = {
    {"A unit was assigned since. It waits on the board, and its cell, which runs it, has it again.",
     "deploy web 1; watch unit=1", "await started=1; rest",
     "unit=1 started=1 machine_unit=1 made=1", "", "made=1"},
    {"A unit was added since. It is unknown, and runs on until an operator recalls it.",
     "deploy web 1; await started=1; rest", "add web 1; await started=2; rest",
     "unit=1 started=1 made=2", "recall", "unit=1 started=1 made=1"},
    {"A unit was destroyed since. It is on the board again: its container is made anew.",
     "deploy web 2; await started=2; rest", "rmunit web/1; await unit=1 made=1; rest",
     "unit=2 started=2 made=2", "", "made=2"},
    {"A service was destroyed since. It is there again, with its unit.",
     "deploy web 1; await started=1; rest", "rmservice web; await unit=0 made=0; rest",
     "unit_service=1 unit=1 started=1 made=1", "", "made=1"},
    {"A unit was destroyed since, and its stop takes too long. It is alive again, and says so.",
     "deploy web 1; await started=1; rest", "hooks off; rmunit web/0; await dying=1 hooks=1",
     "unit=1 dying=0 error=1 made=1", "hooks on; resolve web/0", "unit=1 error=0 made=1"},
    {"Two services were related since. They are not, and are told so.",
     "deploy db 1; deploy web 1; await started=2; rest", "relate 0; await relation_member=3; rest",
     "relation=1 relation_member=1 started=2 made=2", "", "made=2"},
    {"A relation was destroyed since. It is there again, and both are in it.",
     "deploy db 1; deploy web 1; await started=2; relate 0; await relation_member=3; rest",
     "unrelate 0; await relation=1; rest", "relation=2 relation_member=3 started=2 made=2", "",
     "made=2"},
    {"A logger was brought since, and its principal is destroyed: both go, without an operator.",
     "deploy web 1; deploy logger 0; await started=1; rest", "relate 3; await started=2; rest",
     "unit=1 started=1 made=2", "rmunit web/0; await unit=0", "unit=0 made=0"},
    {"A logger was brought since, and its principal's container ends: that is made anew.",
     "deploy web 1; deploy logger 0; await started=1; rest", "relate 3; await started=2; rest",
     "unit=1 started=1 made=2", "fall web; await made=1; await started=1; rest", "unit=1 made=1"},
    {"A logger was brought since, and they are related once more: another one comes beside it.",
     "deploy web 1; deploy logger 0; await started=1; rest", "relate 3; await started=2; rest",
     "unit=1 started=1 made=2", "relate 3; await unit=2 started=2 made=3; recall",
     "unit=2 started=2 made=2"},
    {"A logger was taken away since. It is there again: another container is made of it.",
     "deploy web 1; deploy logger 0; await started=1; relate 3; await started=2; rest",
     "unrelate 3; await unit=1 made=1; rest", "unit=2 started=2 relation_member=2 made=2", "",
     "made=2"},
};
enum { RESTORES = sizeof(restores) / sizeof(restores[0]) };

/* Which row, the seed says. */
void story_units_after_a_restore(struct cluster *c)
{
    _Static_assert(RESTORES == 11, "stories.def has so many seeds, twice");
    const struct unit_restore *row = &restores[c->options.world.seed % RESTORES];
    struct racing r;
    race_begins(&r, c);
    says(c, row->says);
    race_acts(&r, row->snapshot, 1);
    race_acts(&r, "snapshot", 1);
    race_acts(&r, row->since, 1);
    race_acts(&r, "restore", 1);
    race_await(&r, row->restored, 30 * MILLISECOND_NS);
    race_acts(&r, "rest; rest", 1);
    race_await(&r, row->restored, 30 * MILLISECOND_NS);
    race_acts(&r, row->then, 1);
    race_await(&r, row->recalled, 30 * MILLISECOND_NS);
    race_acts(&r, "recall; rest", 1);
    race_is_over(&r);
}

/* ---- A later version ------------------------------------------------------------------------- */

#define THREE                                                                                      \
    "deploy db 1; deploy web 1; deploy logger 0; await started=2; relate 0; "                      \
    "await relation_member=3; relate 3; await started=3 relation_member=5; rest"

/* What the units of THREE are decided by; and what somebody asks while nobody can read it. */
/* `hooks`: of web, that run when the rep is back. */
static const struct unit_later {
    const char *key, *asks, *hooks;
} laters[] = {
    {"unit/web/0000000000", "rmunit web/0", ""},
    {"unit/logger/0000000000", "", "config-changed "},
    {"unit_child/web/0000000000/logger", "", ""},
    {"unit_scope/web/0000000000/0000000001", "", ""},
    {"unit_service/web", "add web 1", ""},
    {"unit_service_relation/web/0000000001", "", ""},
    {"relation/0000000001", "unrelate 0", ""},
    {"relation_member/0000000001/-/0/web/0000000000", "", ""},
    {"relation_settings/0000000001/-/0/web/0000000000", "", ""},
    {"machine/0000000000", "rmmachine 0", "config-changed "},
    {"machine_unit/0000000000/web/0000000000", "rmmachine 0", "config-changed "},
};
enum { LATERS = sizeof(laters) / sizeof(laters[0]) };

/* Which record, the seed says. */
void story_units_of_a_later_version(struct cluster *c)
{
    _Static_assert(LATERS == 11, "stories.def has so many seeds, twice");
    const struct unit_later *row = &laters[c->options.world.seed % LATERS];
    struct racing r;
    race_begins(&r, c);
    says(c,
         "A later version of the software has written one of the records of units, beside which "
         "all others are a release behind. Nobody touches it, and what it is about runs on, also "
         "when the rep is started again. When this version can read it again, all goes on.");
    race_acts(&r, THREE, 1);
    r.order[0] = '\0';
    r.commands = 0;
    race_acts(&r, arena_printf(&r.arena, "later %s", row->key), 1);
    race_acts(&r, row->asks, 1);
    race_acts(&r, "rest; kill cell-1; rest; start cell-1; rest; rest", 1);
    assert_int_equal(race_counted(&r, "made"), 3);
    assert_string_equal(r.order, row->hooks);
    assert_int_equal(r.commands, 0);
    race_acts(&r, arena_printf(&r.arena, "present %s", row->key), 1);
    race_acts(&r, "rest; await made=3", 1);
    race_is_over(&r);
}
