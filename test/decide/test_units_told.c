/* What clients are told of units, and which relation they mean (bbs/units/told.c, meant.c). */
#include "bbs/units/told.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* Now is second 1,000; a cell c1 of identity I is there. */
#define SERVICE(name, life)                                                                        \
    "unit_service/" name " name=" name " guid=s-" name " charm=d state=" life "\n"
#define UNIT(number, life, rest)                                                                   \
    "unit/web/000000000" number " service=web number=" number " guid=g" number                     \
    " service_guid=s-web state=" life " " rest "\n"
#define WAITS(number) UNIT(number, "alive", "place=unassigned created_at=990s since=990s")
#define ON "place=alive machine=1 assigned=1 cell_id=c1 identity="
#define STATUS(number, rest) "unit_status/web/000000000" number " guid=g" number " state=" rest "\n"
#define WEB                                                                                        \
    SERVICE("web", "alive")                                                                        \
    "charm/web/d "                                                                                 \
    "endpoints=cache:0:kv:0,db:0:kv:0 charm.name=web charm.run.root_fs=x\n"
#define DB                                                                                         \
    SERVICE("db", "alive") "charm/db/d endpoints=kv:1:kv:0 charm.name=db charm.run.root_fs=x\n"
#define RELATION(number, ends, life)                                                               \
    "relation/000000000" number " number=" number " guid=r" number " ends=" ends " state=" life    \
    " since=990s\n"                                                                                \
    "unit_service_relation/web/000000000" number " number=" number "\n"                            \
    "unit_service_relation/db/000000000" number " number=" number "\n"

static const char *told; /* by the last question; lives in the arena of the board */

/* ---- Asking a board -------------------------------------------------------------------------- */

static void nothing(const void *snapshot, const struct op_input *in, struct plan *p)
{
    (void)snapshot;
    (void)in;
    (void)p;
}

static const char *board_itself(struct arena *a, const struct op_input *in)
{
    (void)a;
    (void)in;
    return "";
}

static Board__UnitEnd *end_of(struct arena *a, const char *word)
{
    Board__UnitEnd *end = arena_message(a, &board__unit_end__descriptor);
    const char *colon = strchr(word, ':');
    end->service = arena_strndup(a, word, colon ? (size_t)(colon - word) : strlen(word));
    end->endpoint = arena_strdup(a, colon ? colon + 1 : "");
    return end;
}

static void ends_of(struct arena *a, const char *text, Board__UnitEnd *ends[2])
{
    char *rest, *words = arena_strdup(a, text);
    ends[0] = end_of(a, strtok_r(words, " ", &rest));
    ends[1] = end_of(a, strtok_r(NULL, " ", &rest));
}

static void tell_ends(struct view *v, const struct op_input *in, void *snapshot)
{
    struct arena *a = view_arena(v);
    Board__RelateUnitsRequest asked = BOARD__RELATE_UNITS_REQUEST__INIT, *meant;
    Board__UnitEnd *ends[2];
    struct err err;
    (void)snapshot;
    ends_of(a, in->request, ends);
    asked.n_ends = 2;
    asked.ends = ends;
    told = units_ends_meant(v, &asked, a, &meant, &err) < 0
               ? arena_strdup(a, err.text)
               : arena_printf(a, "%s:%s %s:%s", meant->ends[0]->service, meant->ends[0]->endpoint,
                              meant->ends[1]->service, meant->ends[1]->endpoint);
}

static void tell_relation(struct view *v, const struct op_input *in, void *snapshot)
{
    struct arena *a = view_arena(v);
    Board__UnitRelationRequest asked = BOARD__UNIT_RELATION_REQUEST__INIT;
    Board__UnitEnd *ends[2];
    uint32_t number = 0;
    struct err err;
    (void)snapshot;
    ends_of(a, in->request, ends);
    asked.n_ends = 2;
    asked.ends = ends;
    told = units_relation_meant(v, &asked, &number, &err) < 0
               ? arena_strdup(a, err.text)
               : arena_printf(a, "relation %u", number);
}

static void tell_why(struct view *v, const struct op_input *in, void *snapshot)
{
    struct arena *a = view_arena(v);
    Board__UnitsWhyRequest asked = BOARD__UNITS_WHY_REQUEST__INIT;
    const char *text = in->request;
    (void)snapshot;
    asked.machine = strncmp(text, "machine ", 8) == 0;
    asked.name = arena_strdup(a, asked.machine ? text + 8 : text);
    const Board__UnitsWhy *why = units_why_told(v, &asked);
    told = why->error ? why->error->message
                      : arena_printf(a, "%s%s", why->subject, why->done ? ": done" : "");
    for (size_t i = 0; !why->error && i < why->n_holds; i++) {
        told = arena_printf(a, "%s\n%s", told, why->holds[i]->text);
    }
}

static const char *held_text(const Board__UnitHold *h)
{
    return h ? h->text : "-";
}

/* A line a service, unit, relation and machine: what holds it first. */
static void tell_status(struct view *v, const struct op_input *in, void *snapshot)
{
    struct arena *a = view_arena(v);
    Board__UnitsStatusRequest asked = BOARD__UNITS_STATUS_REQUEST__INIT;
    char *names[] = {arena_strdup(a, in->request)};
    (void)snapshot;
    asked.n_services = *names[0] ? 1 : 0;
    asked.services = names;
    const Board__UnitsStatus *s = units_status_told(v, &asked);
    told = s->error ? s->error->message : "";
    for (size_t i = 0; i < s->n_services; i++) {
        const Board__UnitServiceEntry *e = s->services[i];
        told = arena_printf(a, "%s%s: %s\n", told, e->service->name, held_text(e->held));
        for (size_t k = 0; k < e->n_units; k++) {
            const Board__UnitEntry *u = e->units[k];
            told = arena_printf(a, "%s %u%s: %s\n", told, u->unit->number, u->down ? " down" : "",
                                held_text(u->held));
        }
    }
    for (size_t i = 0; i < s->n_beside; i++) {
        const Board__UnitEntry *u = s->beside[i];
        told = arena_printf(a, "%s beside %s: %s/%u: %s\n", told, u->unit->principal,
                            u->unit->service, u->unit->number, held_text(u->held));
    }
    for (size_t i = 0; i < s->n_relations; i++) {
        const Board__UnitRelationEntry *e = s->relations[i];
        told = arena_printf(a, "%srelation %u, %u in it: %s\n", told, e->relation->number,
                            e->members, held_text(e->held));
    }
    for (size_t i = 0; i < s->n_machines; i++) {
        const Board__MachineEntry *e = s->machines[i];
        told = arena_printf(a, "%smachine %u, %u on it%s: %s\n", told, e->machine->number, e->units,
                            e->down ? ", down" : "", held_text(e->held));
    }
}

struct told_row {
    const char *rule, *board, *asked, *told;
    const char *later; /* a key at which a later version has written; NULL = none has */
};

static void try_told(void (*tell)(struct view *, const struct op_input *, void *),
                     const struct told_row *rows, size_t count)
{
    const struct op_row row = {.name = "told",
                               .target = board_itself,
                               .gather = tell,
                               .decide = nothing,
                               .snapshot_size = 1};
    for (size_t i = 0; i < count; i++) {
        struct laid_system l;
        struct laid_plan p;
        laid_units_init(&l, rows[i].board);
        if (rows[i].later) {
            laid_put_later(l.board, rows[i].later);
        }
        const struct op_input in = {.actor = ACTOR_CLIENT,
                                    .peer_name = "",
                                    .trace_id = "",
                                    .boot_id = "b",
                                    .request = rows[i].asked,
                                    .now = {.wall_ns = 1000 * SECOND_NS}};
        laid_decide(l.board, &row, &in, &l.arena, &p);
        if (strcmp(told, rows[i].told) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", rows[i].rule, told, rows[i].told);
        }
        assert_int_equal(p.reads.count, 0); /* it decides nothing */
        laid_system_done(&l);
    }
}

#define TRY_TOLD(tell, rows) try_told(tell, rows, sizeof(rows) / sizeof((rows)[0]))

/* ---- Rows ------------------------------------------------------------------------------------ */

static void ends_that_are_left_out(void **state)
{
    static const struct told_row rows[] = {
        {"both are said", WEB DB, "web:db db:kv", "web:db db:kv"},
        {"one is said", WEB DB, "db web:db", "db:kv web:db"},
        {"several fit", WEB DB, "web db",
         "web and db fit in 2 ways; name the ends: web:cache db:kv, web:db db:kv"},
        {"no such end", WEB DB, "web:d db", "web has no endpoint \"d\"; did you mean \"db\"?"},
        {"no such service", WEB, "web:db db",
         "there is no unit service db: bbs units lists those that are"},
        {"no name at all", WEB, ":db web:db",
         "which unit service? its name is empty: bbs units lists those that are"},
        {"an app", WEB "service/apps/%2Fdb\n", "web:db db",
         "there is no unit service db: that is an app: bbs ps db"},
        {"its charm is missing", WEB SERVICE("db", "alive"), "web:db db",
         "there is no unit service db: that is a unit service: bbs units status db"},
    };
    TRY_TOLD(tell_ends, rows);
    (void)state;
}

static void relations_that_are_meant(void **state)
{
#define TWO                                                                                        \
    WEB DB RELATION("1", "web:db:0,db:kv:1", "alive") RELATION("2", "web:cache:0,db:kv:1", "dying")
#define PEERS                                                                                      \
    WEB "relation/0000000003 number=3 ends=web:ring:2 state=alive\n"                               \
        "unit_service_relation/web/0000000003 number=3\n"
    static const struct told_row rows[] = {
        {"the only one", WEB DB RELATION("1", "web:db:0,db:kv:1", "alive"), "web db", "relation 1"},
        {"an end is said", TWO, "web:db db", "relation 1"},
        {"whichever is said first", TWO, "db web:cache", "relation 2"},
        {"several", TWO, "db web",
         "db and web have 2 relations; name the ends: web:db db:kv, web:cache db:kv"},
        {"another end", TWO, "web:cash db",
         "web:cash and db are not related: bbs units relations lists what is"},
        {"ends of two relations", TWO, "web:db web:cache",
         "web:db and web:cache are not related: bbs units relations lists what is"},
        {"of peers", PEERS, "web:ring web:ring", "relation 3"},
        {"of peers, by the service", PEERS, "web web", "relation 3"},
        {"no such service", TWO, "web nobody",
         "there is no unit service nobody: bbs units lists those that are"},
    };
    TRY_TOLD(tell_relation, rows);
    (void)state;
}

static void why_is_told(void **state)
{
    static const struct told_row rows[] = {
        {"a unit", WEB WAITS("1"), "web/1", "unit web/1\nit waits for a machine"},
        {"its cell is gone", WEB UNIT("1", "alive", ON "J") STATUS("1", "started"), "web/1",
         "unit web/1\ncell c1 was made anew"},
        {"it is well", WEB UNIT("1", "alive", ON "I") STATUS("1", "started"), "web/1",
         "unit web/1: done"},
        {"the machine that it waits for",
         WEB UNIT(
             "1", "alive",
             "place=unassigned needs.machine=4 needs.on_machine=1") "machine/0000000004 number=4 "
                                                                    "state=alive host_units=1 "
                                                                    "cordoned=1\n",
         "web/1", "unit web/1\nit waits for machine 4, which is cordoned"},
        {"its relation and its subordinate",
         WEB DB UNIT("1", "dying", ON "I") STATUS("1", "started")
             RELATION("1", "web:db:0,db:kv:1",
                      "alive") "unit_scope/web/0000000001/0000000001 member=x\n"
                               "unit_child/web/0000000001/logger unit=logger/0 guid=l0\n",
         "web/1",
         "unit web/1\nit is in relation 1 (web:db db:kv)\nits subordinate logger/0 is there"},
        {"a service that is alive", WEB UNIT("1", "alive", ON "I") STATUS("1", "started"), "web",
         "unit service web: done"},
        {"one with units that are not well",
         WEB WAITS("1") UNIT("2", "alive", ON "J") STATUS("2", "started") UNIT("3", "alive", ON "I")
             STATUS("3", "error hook=start"),
         "web",
         "unit service web\n1 unit is in error: web/3 (its hook start has failed)\n1 unit is down: "
         "web/2 (cell c1 was made anew)\n1 unit is on no machine: web/1 (it waits for a machine)"},
        {"a machine without its cell",
         "machine/0000000002 number=2 cell_id=c9 identity=J state=alive since=1\n"
         "machine_unit/0000000002/web/0000000002 guid=g2\n",
         "machine 2", "machine 2\ncell c9 has left; unit web/2 on it"},
        {"the subordinates of a dying service's units",
         SERVICE("web", "dying") UNIT("1", "dying", ON "I") STATUS(
             "1", "started") "unit_child/web/0000000001/logger unit=logger/0 guid=l0\n"
                             "unit/logger/0000000000 service=logger number=0 guid=l0 state=alive "
                             "principal=web/1 " ON "I\n"
                             "unit_status/logger/0000000000 guid=l0 state=error hook=stop\n",
         "web",
         "unit service web\nunit web/1 is dying: its agent ends it\nunit web/1 is dying: its "
         "subordinate logger/0 is there: its hook stop has failed"},
        {"a dying one, and who is in its relation",
         SERVICE("web", "dying") DB UNIT("1", "dying", ON "I") STATUS("1", "started")
             RELATION("1", "web:db:0,db:kv:1", "dying") "relation_member/0000000001/-/0/web/"
                                                        "0000000001 unit_guid=g1 state=departing\n"
             "unit/db/0000000000 service=db number=0 guid=d0 state=alive " ON "I\n"
             "relation_member/0000000001/-/1/db/0000000000 unit_guid=d0 state=joined\n",
         "web",
         "unit service web\nunit web/1 is dying: its agent ends it\n"
         "relation 1 (web:db db:kv) is dying\n"
         "relation 1 (web:db db:kv): unit db/0 is in it: its agent runs the hooks that it owes"},
        {"a relation", WEB DB RELATION("1", "web:db:0,db:kv:1", "alive"), "1",
         "relation 1 (web:db db:kv): done"},
        {"a machine", "machine/0000000001 number=1 cell_id=c1 identity=I state=dying\n",
         "machine 1", "machine 1\nits agent ends what runs of it"},
        {"a number with a zero before it", WEB, "01",
         "there is no unit service 01: bbs units lists those that are"},
        {"a number that is too large", WEB, "4294967296",
         "there is no unit service 4294967296: bbs units lists those that are"},
        {"no relation", WEB, "4294967295",
         "there is no relation 4294967295: bbs units relations lists those that are"},
        {"no machine", WEB, "machine 1",
         "there is no machine 1: bbs units machines lists those that are"},
        {"no number of a machine", WEB, "machine web",
         "there is no machine web: that is a unit service: bbs units status web"},
        {"no unit", WEB, "web/2", "there is no unit web/2: bbs units lists those that are"},
        {"a unit of a later version", WEB, "web/2",
         "unit web/2 was written by a later version of the software: ask a bbs of that version",
         "unit/web/0000000002"},
        {"a service of a later version", DB, "web",
         "unit service web was written by a later version of the software: ask a bbs of that "
         "version",
         "unit_service/web"},
        {"a relation of a later version", WEB, "7",
         "relation 7 was written by a later version of the software: ask a bbs of that version",
         "relation/0000000007"},
        {"a machine of a later version", WEB, "machine 7",
         "machine 7 was written by a later version of the software: ask a bbs of that version",
         "machine/0000000007"},
        {"another one is", WEB, "web/2", "there is no unit web/2: bbs units lists those that are",
         "unit/web/0000000021"},
        {"a system", "system/shop\n", "shop",
         "there is no unit service shop: that is a system: bbs systems status shop"},
        {"a process", "desired/shop\n", "shop",
         "there is no unit service shop: that is an app: bbs ps shop"},
    };
    TRY_TOLD(tell_why, rows);
    (void)state;
}

static void status_is_told(void **state)
{
#define ALL                                                                                        \
    WEB DB WAITS("1") UNIT("2", "alive", ON "I") STATUS("2", "started") UNIT("3", "alive", ON "J") \
        STATUS("3", "started")                                                                     \
            RELATION("1", "web:db:0,db:kv:1",                                                      \
                     "alive") "relation_member/0000000001/-/0/web/0000000002 unit_guid=g2\n"       \
                              "machine/0000000001 number=1 cell_id=c1 identity=I state=alive\n"    \
                              "machine_unit/0000000001/web/0000000002 guid=g2\n"                   \
                              "machine/0000000002 number=2 cell_id=c9 identity=J state=dying\n"
    static const struct told_row rows[] = {
        {"all", ALL, "",
         "db: -\n"
         "web: 1 unit is down: web/3 (cell c1 was made anew)\n"
         " 1: it waits for a machine\n"
         " 2: -\n"
         " 3 down: cell c1 was made anew\n"
         "relation 1, 1 in it: -\n"
         "machine 1, 1 on it: -\n"
         "machine 2, 0 on it, down: cell c9 has left, and it is not taken for dead yet\n"},
        {"one service, and the subordinates of its units",
         WEB UNIT("1", "alive", ON "I") STATUS("1", "started")
             SERVICE("logger",
                     "alive") "unit_child/web/0000000001/logger unit=logger/0 guid=l0\n"
                              "unit/logger/0000000000 service=logger number=0 guid=l0 state=alive "
                              "principal=web/1 " ON "I\n"
                              "unit_status/logger/0000000000 guid=l0 state=error hook=stop\n",
         "web", "web: -\n 1: -\n beside web/1: logger/0: its hook stop has failed\n"},
        {"a subordinate service is not told twice",
         WEB UNIT("1", "alive", ON "I") STATUS("1", "started")
             SERVICE("logger",
                     "alive") "unit_child/web/0000000001/logger unit=logger/0 guid=l0\n"
                              "unit/logger/0000000000 service=logger number=0 guid=l0 state=alive "
                              "principal=web/1 " ON "I\n"
                              "unit_status/logger/0000000000 guid=l0 state=started\n",
         "logger", "logger: -\n 0: -\n"},
        {"a hook that waits for its turn",
         WEB UNIT("1", "alive", ON "I")
             STATUS("1", "installed cell_id=c1 lack.kind=4 lack.hook=start lack.hooks=1")
                 UNIT("2", "alive", ON "I") STATUS("2", "installed cell_id=c1 running.hook=start"),
         "web",
         "web: 1 unit is held up: web/1 (its hook start waits for its turn: 1 of 1 hooks run on "
         "cell c1: web/2 (start))\n"
         " 1: its hook start waits for its turn: 1 of 1 hooks run on cell c1: web/2 (start)\n"
         " 2: its hook start runs\n"},
        {"a unit that runs a hook, one on a cell that is being emptied",
         "cell/c2 identity=I evacuating=1\n" WEB UNIT("1", "alive", ON "I")
             STATUS("1", "started running.hook=upgrade running.since=990s")
                 UNIT("2", "alive", "place=alive machine=2 assigned=1 cell_id=c2 identity=I")
                     STATUS("2", "started"),
         "web",
         "web: 1 unit is on a cell that is being emptied: web/2 (cell c2)\n 1: -\n"
         " 2: cell c2, on which it is, is being emptied\n"},
        {"a machine that is ended by force",
         "machine/0000000001 number=1 guid=m1 cell_id=c1 identity=I state=alive cordoned=1\n"
         "job/m1/force kind=9 units.since=7\n",
         "", "machine 1, 0 on it: it is ended by force; no unit on it\n"},
        {"one that stays at its charm",
         WEB UNIT("1", "alive", ON "I") STATUS("1", "started upgrade_error=gone"), "web",
         "web: 1 unit is held up: web/1 (it stays at its charm: gone)\n 1: it stays at its charm, "
         "and its service has another one: gone\n"},
        {"a machine whose cell is being emptied",
         "cell/c1 identity=I evacuating=1\n"
         "machine/0000000001 number=1 cell_id=c1 identity=I state=alive\n",
         "", "machine 1, 0 on it: cell c1 is being emptied; no unit on it\n"},
        {"one service, and its relations", ALL, "db", "db: -\nrelation 1, 1 in it: -\n"},
        {"one that is not related", ALL SERVICE("api", "alive"), "api", "api: -\n"},
        {"none", ALL, "nobody", "there is no unit service nobody: bbs units lists those that are"},
        {"nothing is there", "", "", ""},
    };
    TRY_TOLD(tell_status, rows);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_that_are_left_out),
        cmocka_unit_test(relations_that_are_meant),
        cmocka_unit_test(why_is_told),
        cmocka_unit_test(status_is_told),
    };
    return cmocka_run_group_tests_name("units told", tests, NULL, NULL);
}
