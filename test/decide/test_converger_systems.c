/* What the converger plans about a system: rows of its records before, and the moves. The rules are
 * numbered as in converger/deploys.h and system_passes.h. */
#include "common/base/bytes.h"
#include "common/model/head.h"
#include "converger/deploys.h"
#include "converger/system_passes.h"
#include "test/decide/system_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { RECORDS_MAX = 12 };

struct row {
    const char *name;
    const char *records[RECORDS_MAX];
    const char *plan;
};

#define SYSTEM "system state=stable"
#define GOES "system state=deleting"
#define GOES_TEXT "message=the system is being deleted"
#define D1 "deploy D1 state="
#define T1 "index T1 /=system:h0 /a=service:h1 /b=service:h2 /b/c=job:h3"

static const struct row deploys[] = {
    {"nothing", {SYSTEM}, ""},
    /* pending */
    {"1: it goes", {GOES, D1 "pending"}, "refuse deploy/u/D1 " GOES_TEXT},
    {"1: it is gone", {D1 "pending"}, "refuse deploy/u/D1 " GOES_TEXT},
    {"2: held above",
     {SYSTEM, "hold D0=/", "deploy D0 state=accepted build=B0 version=1", "build B0 state=running",
      D1 "pending target=path path=/a", "head /=T1"},
     "refuse deploy/u/D1 message=deploy D0 of / is in progress"},
    {"2: held below",
     {SYSTEM, "hold D0=/a/b", "deploy D0 state=accepted build=B0", "build B0 state=running",
      D1 "pending target=definition"},
     "refuse deploy/u/D1 message=deploy D0 of /a/b is in progress"},
    {"3: no repository",
     {SYSTEM, D1 "pending version=1"},
     "refuse deploy/u/D1 message=system shop has no repository of versions: deploy a file, or "
     "create it with --definition URL"},
    {"3: nothing there",
     {SYSTEM, D1 "pending target=path path=/a", "head"},
     "refuse deploy/u/D1 message=nothing is deployed at /a: bbs systems tree shop shows what is"},
    {"3: an empty root",
     {SYSTEM, D1 "pending target=path path=/a", "head /=-"},
     "refuse deploy/u/D1 message=nothing is deployed at /a: bbs systems tree shop shows what is"},
    {"6: whether the tree has it the build finds out",
     {SYSTEM, D1 "pending target=path path=/x", "head /=T1", T1},
     "accept deploy/u/D1"},
    {"3: a build of its id",
     {SYSTEM " definition_url=x", D1 "pending version=1", "build D1 state=failed"},
     "refuse deploy/u/D1 message=build D1 is another one: deploy again with another id"},
    {"3: no such build",
     {SYSTEM, D1 "pending target=build build=B9"},
     "refuse deploy/u/D1 message=there is no build B9: bbs builds shop lists them"},
    {"3: a failed build",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=failed message=no_such_file"},
     "refuse deploy/u/D1 message=build B1 failed: no such file"},
    {"3: a path build",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=succeeded tree=T1 path=/a"},
     "refuse deploy/u/D1 message=build B1 is of the path /a: only one of a whole definition can be "
     "deployed by its id; deploy the path"},
    {"3: a build whose tree was collected",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=succeeded stale=T1"},
     "refuse deploy/u/D1 message=what build B1 resolved is not kept any more: deploy its version "
     "again"},
    {"3: no such deploy",
     {SYSTEM, D1 "pending target=undo undo=D9"},
     "refuse deploy/u/D1 message=there is no deploy D9 to undo: bbs deploys shop lists them"},
    {"3: one that never began",
     {SYSTEM, D1 "pending target=undo undo=D0", "deploy D0 state=failed"},
     "refuse deploy/u/D1 message=deploy D0 changed nothing: there is nothing to undo"},
    {"4: the second waits",
     {SYSTEM, "deploy D1 state=pending target=definition created_at=2",
      "deploy D2 state=pending target=definition created_at=1"},
     "accept deploy/u/D2"},
    {"4: siblings do not",
     {SYSTEM, "head /=T2", "index T2 /a=service:h /ab=service:h",
      "deploy D1 state=pending target=path path=/a created_at=2",
      "deploy D2 state=pending target=path path=/ab created_at=1"},
     "accept deploy/u/D2\naccept deploy/u/D1"},
    {"6: a file", {SYSTEM, D1 "pending target=definition"}, "accept deploy/u/D1"},
    {"6: a version",
     {"system state=degraded definition_url=x", D1 "pending version=1"},
     "accept deploy/u/D1"},
    {"6: a build that runs still",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=running"},
     "accept deploy/u/D1"},
    {"5: an undo",
     {SYSTEM, D1 "pending target=undo undo=D0", "deploy D0 state=failed generation=2"},
     "begin deploy/u/D1"},
    {"5: what is built already",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=succeeded tree=T1 version=1.2",
      T1},
     "begin deploy/u/D1"},
    {"6: it is, and a secret is not set",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=succeeded tree=T2",
      "index T2 /b=service:h2:/b:key"},
     "accept deploy/u/D1"},
    {"6: its index has not come",
     {SYSTEM, D1 "pending target=build build=B1", "build B1 state=succeeded tree=T1"},
     "accept deploy/u/D1"},
    /* accepted */
    {"1: it goes, accepted",
     {GOES, D1 "accepted build=B1", "hold D1=/"},
     "fail deploy/u/D1 " GOES_TEXT},
    {"2: its build is gone",
     {SYSTEM, D1 "accepted build=B1", "hold D1=/"},
     "fail deploy/u/D1 message=its build is gone witness=build/u/B1"},
    {"2: its build failed",
     {SYSTEM, D1 "accepted build=B1", "hold D1=/", "build B1 state=failed message=bad"},
     "fail deploy/u/D1 message=build B1 failed: bad witness=build/u/B1"},
    {"2: a build of its own id",
     {SYSTEM, D1 "accepted", "hold D1=/", "build D1 state=failed"},
     "fail deploy/u/D1 message=build D1 failed:  witness=build/u/D1"},
    {"3: the version is known",
     {SYSTEM, D1 "accepted build=B1", "hold D1=/", "build B1 state=running version=1.2"},
     "note deploy/u/D1"},
    {"4: the build runs",
     {SYSTEM, D1 "accepted build=B1 version=1.2", "hold D1=/",
      "build B1 state=running version=1.2"},
     ""},
    {"5: a secret is not set",
     {SYSTEM, D1 "accepted build=B1", "hold D1=/", "build B1 state=succeeded tree=T2",
      "index T2 /a=service:h:/a:key"},
     "fail deploy/u/D1 message=/a needs secret /a:key: bbs secrets set shop /a:key "
     "witness=secret/u/%2Fa%3Akey"},
    {"5: one of a sibling",
     {SYSTEM, D1 "accepted build=B1 path=/b", "hold D1=/b", "build B1 state=succeeded tree=T2",
      "index T2 /a=service:h:/a:key /b=service:h"},
     "begin deploy/u/D1"},
    {"6: its index has not come",
     {SYSTEM, D1 "accepted build=B1", "hold D1=/", "build B1 state=succeeded tree=T2"},
     ""},
    {"6: it is set",
     {SYSTEM, D1 "accepted build=B1", "hold D1=/", "build B1 state=succeeded tree=T2",
      "index T2 /a=service:h:/a:key", "secret /a:key"},
     "begin deploy/u/D1"},
    {"2: what it undoes is gone",
     {SYSTEM, D1 "accepted target=undo undo=D0", "hold D1=/"},
     "fail deploy/u/D1 message=the deploy that it undoes is gone witness=deploy/u/D0"},
    {"4: what stood before has not come",
     {SYSTEM, D1 "accepted target=undo undo=D0", "hold D1=/", "deploy D0 state=failed before=/:T0"},
     ""},
    {"5: what stood before needs a secret",
     {SYSTEM, D1 "accepted target=undo undo=D0", "hold D1=/", "deploy D0 state=failed before=/:T0",
      "index T0 /a=service:h:/a:key"},
     "fail deploy/u/D1 message=/a needs secret /a:key: bbs secrets set shop /a:key "
     "witness=secret/u/%2Fa%3Akey"},
    {"6: an undo needs no build",
     {SYSTEM, D1 "accepted target=undo undo=D0", "hold D1=/", "deploy D0 state=failed"},
     "begin deploy/u/D1"},
    /* in progress */
    {"1: it goes, in progress",
     {GOES, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T1", T1},
     "fail deploy/u/D1 " GOES_TEXT},
    {"2: aborted",
     {SYSTEM, D1 "in_progress generation=1 aborted", "hold D1=/", "head generation=1 /=T1", T1},
     "revert deploy/u/D1 message=it was aborted"},
    {"3: a secret is not set any more",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T2",
      "index T2 /a=service:h1 /b=service:h2:/b:key", "service /a deploy=D1 component=h1"},
     "fail deploy/u/D1 message=/b needs secret /b:key: bbs secrets set shop /b:key "
     "witness=secret/u/%2Fb%3Akey"},
    {"3: to be rolled back",
     {SYSTEM, D1 "in_progress generation=1 rollback_on_failure", "hold D1=/",
      "head generation=1 /=T2", "index T2 /b=service:h2:/b:key"},
     "revert deploy/u/D1 message=/b needs secret /b:key: bbs secrets set shop /b:key "
     "witness=secret/u/%2Fb%3Akey"},
    {"3: what stood before needs it",
     {SYSTEM, D1 "in_progress generation=1 rollback_on_failure reverting", "hold D1=/",
      "head generation=1 /=T2", "index T2 /b=service:h2:/b:key",
      "service /b deploy=D1 component=h9 state=stable"},
     "fail deploy/u/D1 message=/b needs secret /b:key: bbs secrets set shop /b:key "
     "witness=secret/u/%2Fb%3Akey"},
    {"3: one that has it already needs it no more, nor does a job",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T2",
      "index T2 /b=service:h2:/b:key /j=job:h3:/j:key",
      "service /b deploy=D1 component=h2 state=stable"},
     "succeed deploy/u/D1"},
    {"3: it is set",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T2",
      "index T2 /b=service:h2:/b:key", "secret /b:key"},
     "target service/u/%2Fb holder=D1 tree=T2"},
    {"4: all are new",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T1", T1},
     "target service/u/%2Fa holder=D1 tree=T1\ntarget service/u/%2Fb holder=D1 tree=T1"},
    {"4: the head has not come",
     {SYSTEM, D1 "in_progress generation=2", "hold D1=/", "head generation=1 /=T1", T1},
     ""},
    {"4: nor the index",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T1",
      "service /x state=stable deploy=D0"},
     ""},
    {"4: told by another, of another, and to go",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T1", T1,
      "service /a state=stable deploy=D0 component=h1",
      "service /b state=stable deploy=D1 component=h9",
      "service /b/c state=stable deploy=D0 component=h3"},
     "target service/u/%2Fa holder=D1 tree=T1\ntarget service/u/%2Fb holder=D1 tree=T1\n"
     "delete service/u/%2Fb%2Fc holder=D1"},
    {"4: one that goes still waits, and nothing is judged",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T1", T1,
      "service /a state=deleting deploy=D1 component=h1",
      "service /b state=failed deploy=D1 component=h2"},
     ""},
    {"4: of a path, its own alone",
     {SYSTEM, D1 "in_progress generation=2 path=/a", "hold D1=/a", "head generation=2 /=T1 /a=T2",
      T1, "index T2 /a=service:h7", "service /a state=stable deploy=D0 component=h1",
      "service /ab state=stable deploy=D0 component=h1",
      "service /a/x state=stable deploy=D0 component=h1"},
     "target service/u/%2Fa holder=D1 tree=T2\ndelete service/u/%2Fa%2Fx holder=D1"},
    {"4: a longer root counts",
     {SYSTEM, D1 "in_progress generation=2 reverting", "hold D1=/",
      "head generation=2 /=T1 /a=T2 /b=-", T1, "index T2 /a=service:h7",
      "service /b state=stable deploy=D1 component=h2"},
     "target service/u/%2Fa holder=D1 tree=T2\ndelete service/u/%2Fb holder=D1"},
#define TOLD(a, b)                                                                                 \
    "hold D1=/", "head generation=1 /=T1", T1, "service /a deploy=D1 component=h1 state=" a,       \
        "service /b deploy=D1 component=h2 state=" b
    {"5: failed",
     {SYSTEM, D1 "in_progress generation=1", TOLD("failed message=why", "updating")},
     "fail deploy/u/D1 message=/a failed: why witness=service/u/%2Fa"},
    {"5: failed, to be rolled back",
     {SYSTEM, D1 "in_progress generation=1 rollback_on_failure", TOLD("failed fault=f", "stable")},
     "revert deploy/u/D1 message=/a failed: f witness=service/u/%2Fa"},
    {"5: the rollback fails",
     {SYSTEM, D1 "in_progress generation=1 rollback_on_failure reverting",
      TOLD("failed", "stable")},
     "fail deploy/u/D1 message=/a failed: it failed witness=service/u/%2Fa"},
    {"6: stable",
     {SYSTEM, D1 "in_progress generation=1", TOLD("stable", "stable")},
     "succeed deploy/u/D1"},
    {"6: rolled back",
     {SYSTEM, D1 "in_progress generation=1 reverting message=/a_crashed", TOLD("stable", "stable")},
     "fail deploy/u/D1 message=/a crashed"},
    {"6: nothing was there",
     {SYSTEM, D1 "in_progress generation=1", "hold D1=/", "head generation=1 /=T3",
      "index T3 /=system:h"},
     "succeed deploy/u/D1"},
    {"7: one scales", {SYSTEM, D1 "in_progress generation=1", TOLD("scaling", "stable")}, ""},
    {"7: one goes",
     {SYSTEM, D1 "in_progress generation=1", TOLD("stable", "stable"),
      "service /x state=deleting deploy=D0"},
     ""},
    {"7: a sibling fails",
     {SYSTEM, D1 "in_progress generation=1 path=/a", "hold D1=/a", "head generation=1 /=T1", T1,
      "service /a deploy=D1 component=h1 state=stable",
      "service /b deploy=D0 component=h2 state=failed"},
     "succeed deploy/u/D1"},
    /* teardowns */
    {"1: teardown, it goes",
     {GOES, "teardown T1 state=pending"},
     "refuse teardown/u/T1 " GOES_TEXT},
    {"2: held",
     {SYSTEM, "teardown T1 state=pending", "hold D1=/a", D1 "accepted build=B1 version=1",
      "build B1 state=running"},
     "refuse teardown/u/T1 message=deploy D1 of /a is in progress"},
    {"3: free", {SYSTEM, "teardown T1 state=pending"}, "begin teardown/u/T1"},
    {"in progress, 1",
     {GOES, "teardown T1 state=in_progress generation=1", "hold T1=/"},
     "fail teardown/u/T1 " GOES_TEXT},
    {"in progress, 2",
     {SYSTEM, "teardown T1 state=in_progress generation=1", "hold T1=/", "head generation=1",
      "service /a state=stable", "service /b state=deleting"},
     "delete service/u/%2Fa holder=T1"},
    {"in progress, still 2",
     {SYSTEM, "teardown T1 state=in_progress generation=1", "hold T1=/", "head generation=1",
      "service /b state=deleting"},
     ""},
    {"in progress, 3",
     {SYSTEM, "teardown T1 state=in_progress generation=1", "hold T1=/", "head generation=1"},
     "succeed teardown/u/T1"},
};

static void run_rows(const struct row *rows, size_t count,
                     void (*passes)(const struct watched_system *v, struct system_moves *out))
{
    for (size_t i = 0; i < count; i++) {
        struct system_rows r;
        system_rows_init(&r, rows[i].records);
        struct system_moves *m = ARENA_NEW(&r.arena, struct system_moves);
        m->arena = &r.arena;
        passes(&r.view, m);
        const char *plan = system_rows_print(&r, m);
        if (strcmp(plan, rows[i].plan) != 0) {
            fail_msg("%s: planned\n%s\ninstead of\n%s", rows[i].name, plan, rows[i].plan);
        }
        system_rows_done(&r);
    }
}
#define RUN_ONE(row, passes) run_rows(&(row), 1, passes)
#define RUN_ROWS(rows, passes) run_rows(rows, sizeof(rows) / sizeof(*(rows)), passes)

static void deploys_and_teardowns(void **state)
{
    (void)state;
    RUN_ROWS(deploys, deploys_run);
}

/* Those that stand elsewhere count, and of the tree its services alone. */
static void a_system_has_room_for_so_many_services(void **state)
{
    static const char begins[] = "begin deploy/u/D1",
                      fails[] = "fail deploy/u/D1 message=the system would have 10001 services, "
                                "and may have 10000: make another system of a part "
                                "witness=build/u/B1";
    (void)state;
    for (int count = SYSTEM_SERVICES_MAX - 1; count <= SYSTEM_SERVICES_MAX; count++) {
        SCOPED_BUF(index);
        buf_append_string(&index, "index T2 /a=system:h /a/job=job:h");
        for (int i = 0; i < count; i++) {
            buf_printf(&index, " /a/%d=service:h", i);
        }
        struct row r = {"5: more than it has room for",
                        {SYSTEM, D1 "accepted build=B1 path=/a", "hold D1=/a",
                         "build B1 state=succeeded tree=T2", "service /b state=stable",
                         "service /a/1 state=stable", buf_string(&index)},
                        count < SYSTEM_SERVICES_MAX ? begins : fails};
        RUN_ONE(r, deploys_run);
    }
}

/* ---- A deploy of many ------------------------------------------------------------------------ */

/* More than two looks have room for. */
enum { MANY = 2 * SYSTEM_MOVES_MAX + 10 };

static const struct system_moves *look_at_deploys(struct system_rows *r)
{
    struct system_moves *m = ARENA_NEW(&r->arena, struct system_moves);
    m->arena = &r->arena;
    system_rows_more(r, "");
    deploys_run(&r->view, m);
    return m;
}

static void is_now(struct system_rows *r, int service, const char *says)
{
    system_rows_more(r, arena_printf(&r->arena, "service /%03d %s", service, says));
}

/* From the first to the last, all were told. */
static void are_told(struct system_rows *r, int first, int last)
{
    for (int i = first; i <= last; i++) {
        is_now(r, i, "state=stable deploy=D1 component=h1");
    }
}

static void assert_targets(struct system_rows *r, const struct system_moves *m, size_t at,
                           int first, int last)
{
    for (int i = first; i <= last; i++, at++) {
        assert_true(at < m->count);
        assert_string_equal(m->list[at].move->move, "target");
        assert_string_equal(key_component(&r->arena, m->list[at].move->subject->key, 1),
                            arena_printf(&r->arena, "/%03d", i));
    }
}

static void many(struct system_rows *r, struct buf *index)
{
    buf_append_string(index, "index T1");
    for (int i = 0; i < MANY; i++) {
        buf_printf(index, " /%03d=service:h1", i);
    }
    const char *const texts[] = {SYSTEM, "head generation=2 spread=1 /=T1", "hold D1=/",
                                 buf_string(index), "service /left state=stable",
                                 D1 "in_progress generation=2", NULL};
    system_rows_init(r, texts);
}

/* A look goes on where the last one ended. One that was refused comes first then; one that waits
 * is waited for; and of one that was told and is not so any more the last comparison knows. */
static void a_deploy_of_many_forgets_nobody(void **state)
{
    enum { REFUSED = 7, WAITS = 9, LOST = 3 };
    SCOPED_BUF(index);
    struct system_rows r;
    (void)state;
    many(&r, &index);
    is_now(&r, WAITS, "state=deleting");
    const struct system_moves *m = look_at_deploys(&r);
    assert_true(m->count == SYSTEM_MOVES_MAX && m->more);
    assert_targets(&r, m, 0, 0, WAITS - 1);
    assert_targets(&r, m, WAITS, WAITS + 1, SYSTEM_MOVES_MAX);
    are_told(&r, 0, REFUSED - 1);
    is_now(&r, REFUSED + 1, "state=stable deploy=D1 component=h1");
    are_told(&r, WAITS + 1, SYSTEM_MOVES_MAX);
    m = look_at_deploys(&r);
    assert_true(m->count == SYSTEM_MOVES_MAX && m->more);
    assert_targets(&r, m, 0, REFUSED, REFUSED);
    assert_targets(&r, m, 1, SYSTEM_MOVES_MAX + 1, 2 * SYSTEM_MOVES_MAX - 1);
    is_now(&r, REFUSED, "state=stable deploy=D1 component=h1");
    are_told(&r, SYSTEM_MOVES_MAX + 1, MANY - 1);
    m = look_at_deploys(&r);
    assert_int_equal(m->count, 1); /* WAITS is waited for */
    assert_string_equal(m->list[0].move->move, "delete");
    system_rows_more(&r, "service /left state=deleting");
    assert_int_equal(look_at_deploys(&r)->count, 0);
    is_now(&r, WAITS, "state=stable deploy=D1 component=h1");
    is_now(&r, LOST, "state=stable deploy=D0 component=h1");
    m = look_at_deploys(&r);
    assert_int_equal(m->count, 1);
    assert_targets(&r, m, 0, LOST, LOST);
    is_now(&r, LOST, "state=stable deploy=D1 component=h1");
    assert_int_equal(look_at_deploys(&r)->count, 0); /* the one that goes is waited for */
    is_now(&r, WAITS, "state=failed deploy=D1 component=h1 message=M");
    assert_string_equal(system_rows_print(&r, look_at_deploys(&r)),
                        "fail deploy/u/D1 message=/009 failed: M witness=service/u/%2F009");
    system_rows_done(&r);
}

/* ---- The system itself ----------------------------------------------------------------------- */

static const struct row told[] = {
    {"3: told by the one that made the head",
     {SYSTEM, "head generation=2 spread=1", D1 "succeeded generation=2"},
     "spread system/shop generation=2"},
    {"3: nobody is known who made it",
     {SYSTEM, "head generation=2 spread=1", D1 "succeeded generation=1"},
     ""},
    {"3: one tells still",
     {SYSTEM, "head generation=2 spread=1", D1 "in_progress generation=1",
      "deploy D2 state=succeeded generation=2"},
     ""},
    {"3: it was said", {SYSTEM, "head generation=2 spread=2", D1 "succeeded generation=2"}, ""},
};

static const struct row told_by_deploys[] = {
    {"3: one that succeeds says so",
     {SYSTEM, "head generation=2 spread=1 /=T1", "hold D1=/", "index T1 /a=service:h1",
      "service /a state=stable deploy=D1 component=h1", D1 "in_progress generation=2"},
     "succeed deploy/u/D1"},
};

static void runs_and_tells(const struct watched_system *v, struct system_moves *out)
{
    deploys_run(v, out);
    system_told(v, out);
}

static void spread_once_all_were_told(void **state)
{
    (void)state;
    RUN_ROWS(told, system_told);
    RUN_ROWS(told_by_deploys, runs_and_tells);
}

static void tells_all(const struct watched_system *v, struct system_moves *out)
{
    system_observed(v, true, out);
}

static void tells_states(const struct watched_system *v, struct system_moves *out)
{
    system_observed(v, false, out);
}

static const struct row observed[] = {
    {"4: it is so", {SYSTEM}, ""},
    {"4: another state",
     {SYSTEM, "service /a state=failed"},
     "observe system/shop state=degraded message=1 of 1 service failed"},
    {"4: not spread",
     {SYSTEM, "head generation=1"},
     "observe system/shop state=updating message=not every service was told of the definition "
     "yet"},
    {"4: other words",
     {"system state=updating", "service /a state=stable", "service /b state=deleting"},
     "observe system/shop state=updating message=1 of 2 services are stable"},
};

static const struct row later[] = {
    {"4: other words can wait",
     {"system state=updating", "service /a state=stable", "service /b state=deleting"},
     ""},
    {"4: another state cannot", {"system state=updating"}, "observe system/shop state=stable"},
};

static void observed_when_it_changes(void **state)
{
    (void)state;
    RUN_ROWS(observed, tells_all);
    RUN_ROWS(later, tells_states);
}

static void opens(const struct watched_system *v, struct system_moves *out)
{
    system_opens(v, false, out);
    system_opens(v, true, out);
}

static const struct row opening[] = {
    {"1: opened; refused it is noted",
     {"system state=pending tries=4"},
     "open system/shop\ncheck system/shop message=the board refuses to open it"},
    {"1: given up",
     {"system state=pending tries=5"},
     "open system/shop\ngive_up system/shop message=the board refuses to open it"},
};

static void opened_or_given_up(void **state)
{
    (void)state;
    RUN_ROWS(opening, opens);
}

static void goes(const struct watched_system *v, struct system_moves *out)
{
    system_goes(v, false, out);
}

static void is_left(const struct watched_system *v, struct system_moves *out)
{
    system_goes(v, true, out);
}

static const struct row left[] = {
    {"what is not seen here is swept", {GOES}, "check system/shop"},
};

static const struct row going[] = {
    {"services first",
     {GOES, "service /a state=stable", "service /b state=deleting", "jobrun R1"},
     "delete service/u/%2Fa"},
    {"they go still", {GOES, "service /b state=deleting"}, ""},
    {"runs go still", {GOES, "jobrun R1"}, ""},
    {"what is over is forgotten meanwhile",
     {GOES, "service /b state=deleting", D1 "failed", "teardown T1 state=succeeded",
      "build B1 state=succeeded tree=T1", "build B2 state=failed"},
     "forget deploy/u/D1\nforget teardown/u/T1\nforget build/u/B2\ncollect build/u/B1 tree=T1"},
    {"one is not over", {GOES, "build B1 state=running"}, ""},
    {"then what it keeps", {GOES, "secret /a:key"}, "check system/shop"},
    {"and this", {GOES, "versions"}, "check system/shop"},
    {"then itself", {GOES}, "remove system/shop"},
};

static void goes_in_order(void **state)
{
    (void)state;
    RUN_ROWS(going, goes);
    RUN_ROWS(left, is_left);
}

/* ---- What is kept ---------------------------------------------------------------------------- */

/* The form with a number in the place of each #. */
static const char *numbered(struct arena *a, const char *form, size_t number)
{
    SCOPED_BUF(out);
    for (; *form; form++) {
        if (*form == '#') {
            buf_printf(&out, "%03zu", number);
        } else {
            buf_append(&out, form, 1);
        }
    }
    return arena_strdup(a, buf_string(&out));
}

/* `count` of this form, one newer than the other, before the given records. */
static const char *forgotten_of(struct system_rows *r, struct arena *a, const char *form,
                                size_t count, const char *const *more)
{
    const char **list = ARENA_ARRAY(a, count + RECORDS_MAX + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        list[i] = numbered(a, form, i);
    }
    for (size_t i = 0; more[i]; i++) {
        list[count++] = more[i];
    }
    system_rows_init(r, list);
    struct system_moves *m = ARENA_NEW(&r->arena, struct system_moves);
    m->arena = &r->arena;
    system_forgets(&r->view, m);
    return system_rows_print(r, m);
}

#define assert_forgets(form, count, plan, ...)                                                     \
    do {                                                                                           \
        SCOPED_ARENA(a);                                                                           \
        struct system_rows r;                                                                      \
        const char *const more[] = {__VA_ARGS__, NULL};                                            \
        assert_string_equal(forgotten_of(&r, &a, form, count, more), plan);                        \
        system_rows_done(&r);                                                                      \
    } while (0)

#define A_BUILD "build B# state=succeeded tree=T# completed_at=#"
#define AN_EMPTY_BUILD "build B# state=succeeded completed_at=#"
#define A_DEPLOY "deploy D# state=failed completed_at=#"

static void as_many_are_kept(void **state)
{
    (void)state;
    assert_forgets(A_BUILD, BUILDS_KEPT, "", SYSTEM);
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "collect build/u/B000 tree=T000", SYSTEM);
    assert_forgets(AN_EMPTY_BUILD, BUILDS_KEPT + 1, "forget build/u/B000", SYSTEM);
    assert_forgets(A_DEPLOY, DEPLOYS_KEPT, "", SYSTEM);
    assert_forgets(A_DEPLOY, DEPLOYS_KEPT + 1, "forget deploy/u/D000", SYSTEM);
    assert_forgets("teardown T# state=succeeded completed_at=#", TEARDOWNS_KEPT + 1,
                   "forget teardown/u/T000", SYSTEM);
}

/* Between full passes: at the bound all the surplus goes, below it none. */
static void a_surplus_goes_at_once(void **state)
{
    static const char *const forms[] = {A_DEPLOY, "teardown T# state=succeeded completed_at=#"};
    (void)state;
    assert_int_equal((int)DEPLOYS_KEPT, (int)TEARDOWNS_KEPT);
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        for (size_t more = SURPLUS_AT_ONCE - 1; more <= SURPLUS_AT_ONCE; more++) {
            SCOPED_ARENA(a);
            struct system_rows r;
            const char *const none[] = {SYSTEM, NULL};
            forgotten_of(&r, &a, forms[f], DEPLOYS_KEPT + more, none);
            struct system_moves *m = ARENA_NEW(&a, struct system_moves);
            m->arena = &a;
            system_forgets_surplus(&r.view, m);
            assert_int_equal(m->count, more < SURPLUS_AT_ONCE ? 0 : SURPLUS_AT_ONCE);
            system_rows_done(&r);
        }
    }
}

static void what_is_named_is_kept(void **state)
{
    (void)state;
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "", SYSTEM, "head /=T000");
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "", SYSTEM, "jobrun R1 state=running tree=T000");
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "collect build/u/B000 tree=T000", SYSTEM,
                   "jobrun R1 state=failed tree=T000");
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "", SYSTEM, "deploy D1 state=failed before=/:T000");
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "", SYSTEM, "deploy D1 state=accepted build=B000");
    assert_forgets(A_BUILD, BUILDS_KEPT + 1, "collect build/u/B000 tree=T000", SYSTEM,
                   "deploy D1 state=failed build=B000");
    assert_forgets(A_DEPLOY, DEPLOYS_KEPT, "", SYSTEM, "head generation=3",
                   "deploy E1 state=succeeded generation=3 completed_at=-1");
    assert_forgets(A_DEPLOY, DEPLOYS_KEPT, "forget deploy/u/E1", SYSTEM, "head generation=4",
                   "deploy E1 state=succeeded generation=3 completed_at=-1");
}

static void nothing_of_a_failed_build_is_kept(void **state)
{
    (void)state;
    assert_forgets(A_BUILD, 0, "collect build/u/B1 tree=T1", SYSTEM,
                   "build B1 state=failed tree=T1");
    assert_forgets(A_BUILD, 0, "collect build/u/B1 tree=T0", SYSTEM,
                   "build B1 state=succeeded tree=T1 stale=T0");
    assert_forgets(A_BUILD, 0, "", SYSTEM, "build B1 state=running tree=T1 stale=T0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deploys_and_teardowns),
        cmocka_unit_test(a_system_has_room_for_so_many_services),
        cmocka_unit_test(a_deploy_of_many_forgets_nobody),
        cmocka_unit_test(spread_once_all_were_told),
        cmocka_unit_test(observed_when_it_changes),
        cmocka_unit_test(opened_or_given_up),
        cmocka_unit_test(goes_in_order),
        cmocka_unit_test(as_many_are_kept),
        cmocka_unit_test(a_surplus_goes_at_once),
        cmocka_unit_test(what_is_named_is_kept),
        cmocka_unit_test(nothing_of_a_failed_build_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
