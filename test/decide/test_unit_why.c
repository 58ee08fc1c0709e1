/* Why something of units is not done: a row for each kind of hold (bbs/units/why.c). */
#include "bbs/units/why.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define U "web/0000000003"
#define UNIT(life)                                                                                 \
    "unit/" U " service=web number=3 guid=g3 service_guid=s-web cell_id=c1 identity=I machine=1 "  \
    "since=5 created_at=4 state=" life "\n"
#define STATUS "unit_status/" U " guid=g3 since=6 state="
#define CELL "cell/c1 identity=I since=2\n"
#define LOST "cell/c1 identity=I since=9 state=1\n"
#define EMPTIED "cell/c1 identity=I since=9 evacuating=1\n"
#define ANEW "cell/c1 identity=J since=8\n"
#define REL(life)                                                                                  \
    "relation/0000000007 number=7 guid=r7 since=3 ends=web:db:0,db:kv:1 state=" life "\n"
#define MEMBER "relation_member/0000000007/-/0/" U
#define OTHER "relation_member/0000000007/-/1/db/0000000000"
#define DB0                                                                                        \
    "unit/db/0000000000 service=db number=0 guid=d0 cell_id=c1 identity=I since=5 state=alive\n"
#define SCOPE "unit_scope/" U "/0000000007"
#define CHILD "unit_child/" U "/logger"
#define AGENT " | the agent of web/3\n"
#define FORCE " | the cell is back, or bbs units destroy-unit web/3 --force\n"
#define RESOLVE " | bbs units resolved web/3, with --retry or --skip\n"

#define COMMAND                                                                                    \
    " | it runs for the time of the setting crash_reset; bbs units logs web/3 shows what it " \
    "writes\n"
#define ENDED " | the end of the hook, or of the time that its charm gives it\n"

struct why_row {
    const char *rule, *board, *key, *want; /* "done", or a line a hold: key | since | text | end */
};

static void lay_out(struct arena *a, const char *texts, struct map *records)
{
    char *rest = arena_strdup(a, texts), *line;
    while ((line = strsep(&rest, "\n"))) {
        const char *key;
        if (*line) {
            ProtobufCMessage *m = unit_row(a, line, &key);
            map_put(records, key, m);
        }
    }
}

static void try_whys(const struct why_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        SCOPED_ARENA(a);
        SCOPED_BUF(is);
        struct map records;
        map_init(&records);
        lay_out(&a, rows[i].board, &records);
        struct unit_why *w = ARENA_NEW(&a, struct unit_why);
        assert_true(units_why(&a, &records, rows[i].key, w));
        buf_printf(&is, "%s", w->done ? "done" : "");
        for (size_t n = 0; n < w->count; n++) {
            const struct unit_hold *h = &w->holds[n];
            buf_printf(&is, "%s | %lld | %s | %s\n", h->by, (long long)h->since_ns, h->text,
                       h->ends);
        }
        if (strcmp(buf_string(&is), rows[i].want) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", rows[i].rule, buf_string(&is), rows[i].want);
        }
        if (strcmp(rows[i].want, "") == 0) {
            fail_msg("%s: held by nothing", rows[i].rule);
        }
        assert_true(*w->subject && w->more == 0);
        map_done(&records, NULL);
    }
}
#define TRY(rows) try_whys(rows, sizeof(rows) / sizeof((rows)[0]))

#define WAITS(needs)                                                                               \
    "unit/" U " service=web number=3 guid=g3 created_at=4 state=alive place=unassigned" needs "\n" \
    STATUS "pending\n"
#define FOR1 WAITS(" needs.on_machine=1 needs.machine=1")
#define M(rest) "machine/0000000001 number=1 cell_id=c1 identity=I since=3 " rest "\n"
#define WAITING(text, end) "unit/" U " | 4 | " text " | " end "\n"
#define OR_GO ", or bbs units destroy-unit web/3"
#define NEVER "bbs units destroy-unit web/3, for it takes no other machine"
#define POOLED "cell/c1 identity=I since=2 pool=pool:s:main\n"
#define ON_EMPTIED                                                                                 \
    "cell/c1 | 0 | cell c1, on which it is, is being emptied | bbs units destroy-unit web/3, or " \
    "the limit of that time: then it is down until the cell is back\n"
#define FORCE_JOB "job/g3/force kind=8 units.since=7 units.max_wait_ms="
#define FORCED(when) " | the cell is back, or its force, " when "\n"

#define LOGGER(life)                                                                               \
    "unit/logger/0000000000 service=logger number=0 guid=l0 cell_id=c1 identity=I since=7 "        \
    "principal=web/3 state=" life "\n"
#define LOGGER_STATUS "unit_status/logger/0000000000 guid=l0 since=7 state="
#define LACK(kind) "lack.since=8 lack.kind=" kind "\n"
#define TURN(hooks)                                                                                \
    "lack.since=8 lack.hook=db-relation-changed lack.relation=db:7 lack.remote_unit=db/0 "         \
    "lack.hooks=" hooks " lack.kind=4\n"
#define RUNS(n, cell)                                                                              \
    "unit/web/000000000" n " service=web number=" n " guid=g" n " state=alive cell_id=c" cell "\n" \
    "unit_status/web/000000000" n " guid=g" n " state=installed running.hook=start cell_id=c" cell \
    "\n"

static void why_a_unit_is_not_started(void **state)
{
    static const struct why_row rows[] = {
        {"it is", UNIT("alive") STATUS "started\n" CELL, "unit/" U, "done"},
        {"unplaced", WAITS(""), "unit/" U,
         WAITING("it waits for a machine", "a cell that fits has room")},
        {"unplaced, for an unused one", WAITS(" needs.unused=1"), "unit/" U,
         WAITING("it waits for a machine that never had a unit", "a cell that fits has room")},
        {"for one that is gone", FOR1, "unit/" U,
         WAITING("it waits for machine 1, which is gone", NEVER)},
        {"for one that goes", FOR1 M("state=dying host_units=1"), "unit/" U,
         WAITING("it waits for machine 1, which goes", NEVER)},
        {"for one that is cordoned", FOR1 M("state=alive host_units=1 cordoned=1") CELL, "unit/" U,
         WAITING("it waits for machine 1, which is cordoned", "bbs units uncordon 1")},
        {"for one that runs the cluster", FOR1 M("state=alive manage=1"), "unit/" U,
         WAITING("it waits for machine 1, which is not for units", NEVER)},
        {"for one that a node pool has", FOR1 M("state=alive host_units=1") POOLED, "unit/" U,
         WAITING("it waits for machine 1, which a node pool has, for its own services", NEVER)},
        {"for one whose cell is lost", FOR1 M("state=alive host_units=1") LOST, "unit/" U,
         WAITING("it waits for machine 1, which is down", "cell c1 is back" OR_GO)},
        {"for one whose cell has left", FOR1 M("state=alive host_units=1"), "unit/" U,
         WAITING("it waits for machine 1, which is down", "cell c1 is back" OR_GO)},
        {"for one that is being emptied", FOR1 M("state=alive host_units=1") EMPTIED, "unit/" U,
         WAITING("it waits for machine 1, which is being emptied", "cell c1 is back when its rep "
                 "has ended and is started again" OR_GO)},
        {"for one without room", FOR1 M("state=alive host_units=1") CELL, "unit/" U,
         WAITING("it waits for machine 1, which has to have room", "room on it" OR_GO)},
        {"it begins", UNIT("alive") STATUS "installed\n" CELL, "unit/" U,
         "unit/" U " | 6 | it is being installed and started" AGENT},
        {"it says why not", UNIT("alive") STATUS "pending text=no-room\n" CELL, "unit/" U,
         "unit/" U " | 6 | no-room" AGENT},
        {"a hook has failed", UNIT("alive") STATUS "error hook=install\n" CELL, "unit/" U,
         "unit/" U " | 6 | its hook install has failed" RESOLVE},
        {"it wrote something", UNIT("alive") STATUS "error hook=install output=no-luck\n" CELL,
         "unit/" U, "unit/" U " | 6 | its hook install has failed: no-luck" RESOLVE},
        {"of a relation", UNIT("alive")
         STATUS "error hook=db-relation-joined relation=7 remote_unit=db/0\n" CELL, "unit/" U,
         "unit/" U " | 6 | its hook db-relation-joined of relation 7 with db/0 has failed" RESOLVE},
        {"it runs again", UNIT("alive") STATUS "error hook=install resolved=1\n" CELL, "unit/" U,
         "unit/" U " | 0 | its hook install runs again" AGENT},
        {"it is skipped", UNIT("alive") STATUS "error hook=install resolved=2\n" CELL, "unit/" U,
         "unit/" U " | 0 | its hook install is skipped" AGENT},
        {"a hook runs", UNIT("alive") STATUS "installed running.hook=start running.attempt=1 "
         "running.since=8\n" CELL, "unit/" U, "unit/" U " | 8 | its hook start runs" ENDED},
        {"it says something", UNIT("alive") STATUS "pending text=loading running.hook=install "
         "running.since=8\n" CELL, "unit/" U,
         "unit/" U " | 8 | its hook install runs: loading" ENDED},
        {"its cell is lost meanwhile", UNIT("alive") STATUS "installed running.hook=start\n" LOST,
         "unit/" U, "unit/" U " | 9 | cell c1 is lost" FORCE},
        {"one that is started runs a hook", UNIT("alive") STATUS "started running.hook=upgrade\n"
         CELL, "unit/" U, "unit/" U " | 0 | its hook upgrade runs" ENDED},
        {"its command has ended once", UNIT("alive") STATUS "started crash_count=1\n" CELL,
         "unit/" U,
         "unit/" U " | 0 | its command has ended once, and is begun again each time" COMMAND},
        {"and again", UNIT("alive") STATUS "started crash_count=2 crash_reason=no-luck\n" CELL,
         "unit/" U,
         "unit/" U " | 0 | its command has ended 2 times, and is begun again each time: no-luck"
         COMMAND},
        {"its image cannot be had", UNIT("alive") STATUS
         "started crash_count=1 upgrade_error=no-manifest upgrade_since=8\n" CELL, "unit/" U,
         "unit/" U " | 8 | it stays at its charm, and its service has another one: no-manifest | "
         "an image that its cell can have: bbs units upgrade web FILE\n"},
        {"its cell is being emptied", UNIT("alive") STATUS "started\n" EMPTIED, "unit/" U,
         ON_EMPTIED},
        {"and a hook is in error", UNIT("alive") STATUS "error hook=install\n" EMPTIED, "unit/" U,
         "unit/" U " | 6 | its hook install has failed" RESOLVE ON_EMPTIED},
        {"its cell was emptied, and is lost", UNIT("alive") STATUS "started\n"
         "cell/c1 identity=I since=9 state=1 evacuating=1\n", "unit/" U,
         "unit/" U " | 9 | cell c1 is lost" FORCE},
        {"down, though started", UNIT("alive") STATUS "started\n" LOST, "unit/" U,
         "unit/" U " | 9 | cell c1 is lost" FORCE},
        {"its cell was made anew", UNIT("alive") STATUS "started\n" ANEW, "unit/" U,
         "unit/" U " | 8 | cell c1 was made anew" FORCE},
        {"there is no room", UNIT("alive") STATUS "pending text=x " LACK("1") CELL, "unit/" U,
         "unit/" U " | 8 | there is no room for its container on cell c1 | room comes, which bbs "
         "cells shows, or bbs units destroy-unit web/3\n"},
        {"its container is not there, though it was started", UNIT("alive")
         STATUS "started text=could-not-be-made " LACK("2") CELL, "unit/" U,
         "unit/" U " | 8 | could-not-be-made | the agent of web/3, which tries again, or another "
         "charm: bbs units upgrade web FILE\n"},
        {"its principal's is not there", LOGGER("alive") LOGGER_STATUS "pending " LACK("3") CELL,
         "unit/logger/0000000000", "unit/logger/0000000000 | 8 | the container of its principal "
         "web/3 is not there | that is there: bbs units why web/3\n"},
        {"its cell is lost meanwhile: nobody knows", UNIT("alive") STATUS "pending " LACK("1") LOST,
         "unit/" U, "unit/" U " | 9 | cell c1 is lost" FORCE},
        {"its hook waits for those of others", UNIT("alive") STATUS "started " TURN("2") CELL
         RUNS("1", "1") RUNS("2", "1") RUNS("4", "1") RUNS("5", "1") RUNS("6", "2"), "unit/" U,
         "unit/" U " | 8 | its hook db-relation-changed of relation db:7 with db/0 waits for its "
         "turn: 2 of 2 hooks run on cell c1: web/1 (start), web/2 (start), web/4 (start) and 1 "
         "more | the end of one of them, or of the time that its charm gives it, or bbs units "
         "destroy-unit web/1 --force\n"},
        {"those that have just begun are not known", UNIT("alive") STATUS "started " TURN("2")
         CELL, "unit/" U, "unit/" U " | 8 | its hook db-relation-changed of relation db:7 with "
         "db/0 waits for its turn: 2 of 2 hooks run on cell c1 | the end of one of them, or of the "
         "time that its charm gives it\n"},
        {"it waits for its principal's", LOGGER("alive") LOGGER_STATUS "pending " TURN("0") CELL
         UNIT("alive") STATUS "started cell_id=c1 running.hook=upgrade\n" RUNS("1", "1"),
         "unit/logger/0000000000", "unit/logger/0000000000 | 8 | its hook db-relation-changed of "
         "relation db:7 with db/0 waits for its turn: a hook of web/3, or of a subordinate of "
         "that, runs: web/3 (upgrade) | the end of one of them, or of the time that its charm "
         "gives it, or bbs units destroy-unit web/3 --force\n"},
        {"in error, and its cell has left", UNIT("alive") STATUS "error hook=install\n", "unit/" U,
         "unit/" U " | 0 | cell c1 has left" FORCE
         "unit/" U " | 6 | its hook install has failed" RESOLVE},
    };
    TRY(rows);
    (void)state;
}

static void why_a_unit_is_not_gone(void **state)
{
    static const struct why_row rows[] = {
        {"relations and subordinates, all of them", UNIT("dying") STATUS "started\n" CELL
         REL("dying") SCOPE "\nunit_scope/" U "/0000000009\n" CHILD " unit=logger/0\n", "unit/" U,
         SCOPE " | 5 | it is in relation 7 (web:db db:kv) | the agent of web/3, which leaves it\n"
         "unit_scope/" U "/0000000009 | 5 | it is in relation 9 | the agent of web/3, which leaves "
         "it\n" CHILD " | 5 | its subordinate logger/0 is there | logger/0 goes: bbs units why "
         "logger/0\n"},
        {"and its agent is absent, and it is in error", UNIT("dying") STATUS "error hook=stop\n"
         LOST SCOPE "\n", "unit/" U, "unit/" U " | 9 | cell c1 is lost" FORCE
         "unit/" U " | 6 | its hook stop has failed" RESOLVE
         SCOPE " | 5 | it is in relation 7 | the agent of web/3, which leaves it\n"},
        {"the hook that it runs, and then the rest", UNIT("dying") STATUS
         "started running.hook=db-relation-broken running.relation=db:7 running.since=8 "
         "running.attempt=2\n" CELL SCOPE "\n", "unit/" U,
         "unit/" U " | 8 | its hook db-relation-broken of relation db:7 runs, attempt 2" ENDED
         SCOPE " | 5 | it is in relation 7 | the agent of web/3, which leaves it\n"},
        {"a subordinate in error", UNIT("dying") STATUS "started\n" CELL CHILD " unit=logger/0\n"
         LOGGER("alive") LOGGER_STATUS "error hook=start\n", "unit/" U,
         CHILD " | 7 | its subordinate logger/0 is there: its hook start has failed | bbs units "
         "resolved logger/0, with --retry or --skip\n"},
        {"a subordinate that is down: its principal is forced", UNIT("dying") STATUS "started\n"
         LOST CHILD " unit=logger/0\n" LOGGER("dying") LOGGER_STATUS "started\n", "unit/" U,
         "unit/" U " | 9 | cell c1 is lost" FORCE
         CHILD " | 9 | its subordinate logger/0 is there: cell c1 is lost" FORCE},
        {"a hook waits for its turn, and a relation holds it", UNIT("dying") STATUS "started "
         TURN("1") CELL SCOPE "\n", "unit/" U, "unit/" U " | 8 | its hook db-relation-changed of "
         "relation db:7 with db/0 waits for its turn: 1 of 1 hooks run on cell c1 | the end of one "
         "of them, or of the time that its charm gives it\n"
         SCOPE " | 5 | it is in relation 7 | the agent of web/3, which leaves it\n"},
        {"its agent is absent, and it was forced", UNIT("dying") STATUS "started\n" LOST
         FORCE_JOB "0\n", "unit/" U,
         "unit/" U " | 9 | cell c1 is lost" FORCED("60 s after it was asked for")},
        {"forced, with a time", UNIT("dying") STATUS "started\n" LOST FORCE_JOB "1500\n",
         "unit/" U, "unit/" U " | 9 | cell c1 is lost" FORCED("2 s after it was asked for")},
        {"forced at once", UNIT("dying") STATUS "started\n" LOST FORCE_JOB "-1\n", "unit/" U,
         "unit/" U " | 9 | cell c1 is lost" FORCED("at once")},
        {"its last hooks", UNIT("dying") STATUS "started\n" CELL, "unit/" U,
         "unit/" U " | 5 | it runs the hooks that it owes, stop is the last" AGENT},
        {"its last step", UNIT("dying") STATUS "stopped stopped=1\n" CELL, "unit/" U,
         "unit/" U " | 5 | it is stopped, and not dead yet" AGENT},
        {"dead", UNIT("dead") CELL, "unit/" U,
         "unit/" U " | 5 | it is dead, and its container goes" AGENT},
        {"dead, and its agent is absent", UNIT("dead") ANEW, "unit/" U,
         "unit/" U " | 5 | it is dead, and its record goes | the converger\n"},
    };
    TRY(rows);
    (void)state;
}

#define IN_IT MEMBER " | 3 | unit web/3 is in it: its agent runs the hooks that it owes" AGENT

static void why_a_relation_is_not_gone(void **state)
{
    static const struct why_row rows[] = {
        {"it is alive", REL("alive"), "relation/0000000007", "done"},
        {"its members, each with what stops it", REL("dying") MEMBER "\n" OTHER "\n" UNIT("dying")
         STATUS "error hook=db-relation-broken\n" CELL DB0, "relation/0000000007",
         MEMBER " | 6 | unit web/3 is in it: its hook db-relation-broken has failed" RESOLVE
         OTHER " | 3 | unit db/0 is in it: its agent runs the hooks that it owes | the agent of "
         "db/0\n"},
        {"a member at work", REL("dying") MEMBER "\n" UNIT("alive") CELL, "relation/0000000007",
         IN_IT},
        {"a member that runs a hook", REL("dying") MEMBER "\n" UNIT("alive") STATUS
         "started running.hook=db-relation-changed running.relation=db:7 running.remote_unit=db/0 "
         "running.since=8\n" CELL, "relation/0000000007",
         MEMBER " | 8 | unit web/3 is in it: its hook db-relation-changed of relation db:7 with "
         "db/0 runs" ENDED},
        {"a member whose agent says more", REL("dying") MEMBER "\n" UNIT("alive")
         STATUS "started text=no-room\n" CELL, "relation/0000000007",
         MEMBER " | 3 | unit web/3 is in it: its agent runs the hooks that it owes: no-room" AGENT},
        {"a member that is down", REL("dying") MEMBER "\n" UNIT("alive") LOST,
         "relation/0000000007", MEMBER " | 9 | unit web/3 is in it: cell c1 is lost" FORCE},
        {"a member without a unit", REL("dying") MEMBER "\n", "relation/0000000007",
         MEMBER " | 3 | unit web/3 is in it, and gone | nobody: this is a fault of the cluster, "
         "please report it\n"},
    };
    TRY(rows);
    (void)state;
}

#define WEB(life) "unit_service/web name=web guid=s-web since=3 state=" life "\n"
#define REL_OF "unit_service_relation/web/0000000007"

static void why_a_service_is_not_gone(void **state)
{
    static const struct why_row rows[] = {
        {"it is alive", WEB("alive"), "unit_service/web", "done"},
        {"the subordinates of its units", WEB("dying") UNIT("dying") STATUS "started\n" CELL
         CHILD " unit=logger/0\n" LOGGER("alive") LOGGER_STATUS "error hook=stop\n",
         "unit_service/web", "unit/" U " | 5 | unit web/3 is dying: its agent ends it" AGENT
         CHILD " | 7 | unit web/3 is dying: its subordinate logger/0 is there: its hook stop has "
         "failed | bbs units resolved logger/0, with --retry or --skip\n"},
        {"its units, and no namesakes'", WEB("dying") UNIT("dying") STATUS "started\n" CELL
         "unit/web/0000000004 service=web number=4 since=7 state=alive place=unassigned\n"
         "unit/web-2a/0000000004 service=web-2a number=4 state=alive\n",
         "unit_service/web", "unit/" U " | 5 | unit web/3 is dying: its agent ends it" AGENT
         "unit/web/0000000004 | 7 | unit web/4 is alive: it is on no machine | the job that ends "
         "its units\n"},
        {"a relation, held by its own unit, which is told once", WEB("dying") REL("dying")
         REL_OF " number=7\n" MEMBER "\n" UNIT("dying") STATUS "error hook=stop\n" CELL,
         "unit_service/web",
         "unit/" U " | 6 | unit web/3 is dying: its hook stop has failed" RESOLVE
         REL_OF " | 3 | relation 7 (web:db db:kv) is dying | the last of its units leaves it: bbs "
         "units why 7\n"},
        {"a relation, held by a unit of the other side", WEB("dying") REL("dying")
         REL_OF " number=7\n" OTHER "\n" DB0 CELL, "unit_service/web",
         REL_OF " | 3 | relation 7 (web:db db:kv) is dying | the last of its units leaves it: bbs "
         "units why 7\n" OTHER " | 3 | relation 7 (web:db db:kv): unit db/0 is in it: its agent "
         "runs the hooks that it owes | the agent of db/0\n"},
    };
    TRY(rows);
    (void)state;
}

#define NUMBERED(n, life, rest)                                                                    \
    "unit/web/000000000" n " service=web number=" n " guid=g" n " since=5 created_at=4 state="     \
    life " " rest "\n"
#define HERE "cell_id=c1 identity=I"
#define FAILED(n, since)                                                                           \
    "unit_status/web/000000000" n " guid=g" n " since=" since " state=error hook=install\n"
#define WELL(n) "unit_status/web/000000000" n " guid=g" n " since=6 state=started\n"

static void why_a_service_is_not_well(void **state)
{
    static const struct why_row rows[] = {
        {"it has no unit", WEB("alive"), "unit_service/web", "done"},
        {"all are well", WEB("alive") NUMBERED("1", "alive", HERE) WELL("1") CELL,
         "unit_service/web", "done"},
        {"one begins", WEB("alive") NUMBERED("1", "alive", HERE) CELL, "unit_service/web",
         "done"},
        {"one is in error", WEB("alive") NUMBERED("1", "alive", HERE) FAILED("1", "6") CELL,
         "unit_service/web", "unit/web/0000000001 | 6 | 1 unit is in error: web/1 (its hook "
         "install has failed) | bbs units resolved web/1, with --retry or --skip\n"},
        {"somebody has resolved it", WEB("alive") NUMBERED("1", "alive", HERE)
         "unit_status/web/0000000001 guid=g1 since=6 state=error hook=install resolved=1\n" CELL,
         "unit_service/web", "done"},
        {"four of five, since the first", WEB("alive") NUMBERED("1", "alive", HERE)
         FAILED("1", "9") NUMBERED("2", "dying", HERE) FAILED("2", "8") NUMBERED("3", "alive", HERE)
         FAILED("3", "7") NUMBERED("4", "alive", HERE) FAILED("4", "6") NUMBERED("5", "alive", HERE)
         WELL("5") CELL, "unit_service/web",
         "unit/web/0000000001 | 6 | 4 units are in error: web/1 (its hook install has "
         "failed), web/2 (its hook install has failed), web/3 (its hook "
         "install has failed) and 1 more | bbs units resolved web/1, with --retry or --skip, and "
         "so of each\n"},
        {"down, and on no machine", WEB("alive") NUMBERED("1", "alive", HERE) WELL("1")
         NUMBERED("2", "alive", "place=unassigned") NUMBERED("3", "alive", HERE) LOST,
         "unit_service/web", "unit/web/0000000001 | 9 | 2 units are down: web/1 (cell c1 is lost), "
         "web/3 (cell c1 is lost) | the cell is back, or bbs units destroy-unit web/1 --force, and "
         "so of each\nunit/web/0000000002 | 4 | 1 unit is on no machine: web/2 (it waits for a "
         "machine) | a cell that fits has room: bbs units why web/2\n"},
        {"in error counts before down", WEB("alive") NUMBERED("1", "alive", HERE) FAILED("1", "6"),
         "unit_service/web", "unit/web/0000000001 | 6 | 1 unit is in error: web/1 (its hook "
         "install has failed) | bbs units resolved web/1, with --retry or --skip\n"},
        {"one lacks something there", WEB("alive") NUMBERED("1", "alive", HERE)
         "unit_status/web/0000000001 guid=g1 since=6 state=started " LACK("1") CELL,
         "unit_service/web", "unit/web/0000000001 | 8 | 1 unit is held up: web/1 (there is no room "
         "for its container on cell c1) | what bbs units why web/1 says\n"},
        {"one stays at its charm", WEB("alive") NUMBERED("1", "alive", HERE)
         "unit_status/web/0000000001 guid=g1 since=6 state=started upgrade_error=gone "
         "upgrade_since=9\n" CELL, "unit_service/web", "unit/web/0000000001 | 9 | 1 unit is "
         "held up: web/1 (it stays at its charm: gone) | what bbs units why web/1 says\n"},
        {"two are on a cell that is being emptied", WEB("alive") NUMBERED("1", "alive", HERE)
         WELL("1") NUMBERED("2", "dying", HERE) NUMBERED("3", "alive", HERE) WELL("3") EMPTIED,
         "unit_service/web", "unit/web/0000000001 | 0 | 2 units are on a cell that is being "
         "emptied: web/1 (cell c1), web/3 (cell c1) | bbs units destroy-unit web/1, and so of "
         "each, or the limit of that time: then they are down until the cell is back\n"},
        {"one has run a hook for a while", WEB("alive") NUMBERED("1", "alive", HERE)
         "unit_status/web/0000000001 guid=g1 since=6 state=started running.hook=upgrade "
         "running.since=8\n" CELL, "unit_service/web", "unit/web/0000000001 | 8 | 1 unit is in a "
         "hook: web/1 (its hook upgrade runs)" ENDED},
        {"one that was forced is down", WEB("alive") NUMBERED("3", "dying", HERE) FORCE_JOB "0\n"
         LOST, "unit_service/web", "unit/web/0000000003 | 9 | 1 unit is down: web/3 (cell c1 is "
         "lost)" FORCED("60 s after it was asked for")},
        {"who is dead is nobody's matter", WEB("alive") NUMBERED("1", "dead", HERE),
         "unit_service/web", "done"},
        {"of subordinates their principal is forced",
         "unit_service/logger name=logger since=3 state=alive\n" LOGGER("alive") LOST,
         "unit_service/logger", "unit/logger/0000000000 | 9 | 1 unit is down: logger/0 (cell c1 is "
         "lost) | the cell is back, or bbs units destroy-unit web/3 --force\n"},
    };
    TRY(rows);
    (void)state;
}

#define M1 "machine/0000000001"
#define ON1(u) "machine_unit/0000000001/" u "\n"

static void why_a_machine_is_not_gone(void **state)
{
    static const struct why_row rows[] = {
        {"it is alive", M("state=alive") CELL, M1, "done"},
        {"it is down", M("state=alive") LOST ON1("web/0000000003"), M1,
         M1 " | 9 | cell c1 is lost; unit web/3 on it | the cell is back, or bbs units "
         "destroy-machine 1 --force\n"},
        {"another state directory, four units", M("state=alive") ANEW ON1("db/0000000000")
         ON1("db/0000000001") ON1("web/0000000003") ON1("web/0000000004"), M1,
         M1 " | 8 | cell c1 was made anew; 4 units: db/0, db/1, web/3 and 1 more on it | the cell "
         "is back, or bbs units destroy-machine 1 --force\n"},
        {"it has left; one that runs the cluster", M("state=alive manage=1"), M1,
         M1 " | 0 | cell c1 has left; no unit on it | the cell is back\n"},
        {"it is ended by force", M("state=alive guid=m1 cordoned=1") LOST ON1("web/0000000003")
         "job/m1/force kind=9 units.since=7 units.max_wait_ms=0\n", M1,
         "job/m1/force | 7 | it is ended by force; unit web/3 on it | its units, which go when "
         "their agents end them, or 60 s after it was asked for; then the machine goes\n"
         M1 " | 9 | cell c1 is lost; unit web/3 on it | the force, or the cell is back\n"},
        {"its cell is being emptied", M("state=alive") EMPTIED ON1("web/0000000003"), M1,
         "cell/c1 | 0 | cell c1 is being emptied; unit web/3 on it | bbs units destroy-unit of "
         "each, or the limit of that time, when its rep ends and they are down\n"},
        {"its agent", M("state=dying") CELL, M1,
         M1 " | 3 | its agent ends what runs of it | the rep of cell c1\n"},
        {"its agent is absent", M("state=dying") LOST, M1,
         M1 " | 3 | cell c1 is lost, and it is not taken for dead yet | the converger\n"},
        {"a principal, which should not be", M("state=dying") CELL "machine_unit/0000000001/" U
         "\n", M1, "machine_unit/0000000001/" U " | 3 | unit web/3 is on it | bbs units "
         "destroy-unit web/3\n" M1 " | 3 | its agent ends what runs of it | the rep of cell c1\n"},
        {"its record", M("state=dead") CELL, M1,
         M1 " | 3 | it is dead, and its record goes | the converger\n"},
        {"its cell has to leave", M("state=dead leave=1") LOST, M1, "cell/c1 | 9 | cell c1 has to "
         "leave first, as was asked | cell c1 is drained and leaves\n"},
        {"its cell has left", M("state=dead leave=1"), M1,
         M1 " | 3 | it is dead, and its record goes | the converger\n"},
    };
    TRY(rows);
    (void)state;
}

/* As many holds as are told, and one more. */
static void of_more_holds_it_is_told_how_many(void **state)
{
    for (size_t count = UNIT_HOLDS_MAX; count <= UNIT_HOLDS_MAX + 1; count++) {
        SCOPED_ARENA(a);
        struct map records;
        map_init(&records);
        lay_out(&a, WEB("dying"), &records);
        for (unsigned i = 0; i < count; i++) {
            lay_out(&a, arena_printf(&a, "unit/web/%010u service=web number=%u state=alive", i, i),
                    &records);
        }
        struct unit_why *w = ARENA_NEW(&a, struct unit_why);
        assert_true(units_why(&a, &records, "unit_service/web", w));
        assert_int_equal(w->count, UNIT_HOLDS_MAX);
        assert_int_equal(w->more, count - UNIT_HOLDS_MAX);
        map_done(&records, NULL);
    }
    (void)state;
}

static void only_some_things_are_explained(void **state)
{
    SCOPED_ARENA(a);
    struct map records;
    map_init(&records);
    lay_out(&a, CELL WEB("dying"), &records);
    struct unit_why *w = ARENA_NEW(&a, struct unit_why);
    assert_false(units_why(&a, &records, "cell/c1", w));
    assert_false(units_why(&a, &records, "unit/" U, w));
    assert_true(units_why(&a, &records, "unit_service/web", w));
    assert_true(!w->done && w->count == 0); /* leaked: held by nothing, and not gone */
    map_done(&records, NULL);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_a_unit_is_not_started),
        cmocka_unit_test(why_a_unit_is_not_gone),
        cmocka_unit_test(why_a_relation_is_not_gone),
        cmocka_unit_test(why_a_service_is_not_gone),
        cmocka_unit_test(why_a_service_is_not_well),
        cmocka_unit_test(why_a_machine_is_not_gone),
        cmocka_unit_test(of_more_holds_it_is_told_how_many),
        cmocka_unit_test(only_some_things_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
