/* The converger's passes over sites and what is there: rows of a record before, and the repair; and
 * that the lifecycles take each move in the state in which a pass plans it. */
#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"
#include "common/lifecycle/progress.h"
#include "common/lifecycle/tracked.h"
#include "common/model/settings.h"
#include "converger/edge_passes.h"
#include "converger/sites.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

#define A_CLUSTER(life) .kind = RECORD_CLUSTERINST, .state = TRACKED_##life
#define AN_INSTANCE(life) .kind = RECORD_APPINST, .state = TRACKED_##life
#define A_SITE(life) .kind = RECORD_CLOUDLET, .state = CLOUDLET_##life
#define A_CRM(life) .kind = RECORD_CLOUDLETINFO, .state = CLOUDLET_INFO_##life
#define CARE(life) .kind = RECORD_MAINTENANCE, .state = MAINTENANCE_##life
#define LATE .overdue = true

/* A site has it, or is asked for it: nothing before the time, `expire` then. */
#define EXPIRES(what, state)                                                                       \
    {#what " " #state, {what(state), .held = true}, ""},                                           \
    {                                                                                              \
#what " " #state ", late", {what(state), .held = true, LATE }, "late:expire"               \
    }

static const struct {
    const char *name;
    struct edge_sight sight;
    const char *repair; /* "pass:move"; "" = none */
} rows[] = {
    {"its cluster is being made", {AN_INSTANCE(CREATING_DEPENDENCIES)}, ""},
    {"its cluster is there",
     {AN_INSTANCE(CREATING_DEPENDENCIES), .ready = true, LATE},
     "cluster_ready:proceed"},
    {"its cluster failed",
     {AN_INSTANCE(CREATING_DEPENDENCIES), .failed = true},
     "cluster_failed:fail"},
    {"its cluster takes too long", {AN_INSTANCE(CREATING_DEPENDENCIES), LATE}, "late:expire"},

    EXPIRES(A_CLUSTER, CREATE_REQUESTED),
    EXPIRES(A_CLUSTER, CREATING),
    EXPIRES(A_CLUSTER, UPDATE_REQUESTED),
    EXPIRES(A_CLUSTER, UPDATING),
    EXPIRES(A_CLUSTER, DELETE_PREPARE),
    EXPIRES(A_CLUSTER, DELETE_REQUESTED),
    EXPIRES(A_CLUSTER, DELETING),
    EXPIRES(AN_INSTANCE, CREATE_REQUESTED),
    EXPIRES(AN_INSTANCE, CREATING),
    EXPIRES(AN_INSTANCE, UPDATE_REQUESTED),
    EXPIRES(AN_INSTANCE, UPDATING),
    EXPIRES(AN_INSTANCE, DELETE_PREPARE),
    EXPIRES(AN_INSTANCE, DELETE_REQUESTED),
    EXPIRES(AN_INSTANCE, DELETING),

    {"a create that failed", {A_CLUSTER(CREATE_ERROR)}, "undo:undo"},
    {"a create that failed, and what it was made for is there",
     {A_CLUSTER(CREATE_ERROR), .held = true},
     ""},
    {"a create of an instance that failed", {AN_INSTANCE(CREATE_ERROR)}, "undo:undo"},
    {"an update that failed", {A_CLUSTER(UPDATE_ERROR), .held = true}, ""},
    {"an update that failed, and the former values run",
     {A_CLUSTER(UPDATE_ERROR), .held = true, .restored = true},
     "undo:undo"},
    {"an update of an instance that failed", {AN_INSTANCE(UPDATE_ERROR)}, ""},
    {"an update of an instance that failed, and the former one runs",
     {AN_INSTANCE(UPDATE_ERROR), .restored = true},
     "undo:undo"},
    {"a delete that failed", {A_CLUSTER(DELETE_ERROR)}, "undo:undo"},
    {"a delete of an instance that failed", {AN_INSTANCE(DELETE_ERROR)}, "undo:undo"},

    {"nothing depends on it", {A_CLUSTER(DELETE_PREPARE), LATE}, "nothing_left:proceed"},
    {"nothing depends on an instance", {AN_INSTANCE(DELETE_PREPARE)}, "nothing_left:proceed"},
    {"an instance of it does not go",
     {A_CLUSTER(DELETE_PREPARE), .held = true, .refused = true, LATE},
     "stays:refuse"},

    {"it was made", {A_CLUSTER(READY), LATE}, ""},
    {"an instance was made", {AN_INSTANCE(READY), LATE}, ""},
    {"it is idle", {A_CLUSTER(READY), .goes = true}, "along:delete"},
    {"it is idle, and somebody has it", {A_CLUSTER(READY), .goes = true, .held = true}, ""},
    {"an instance goes along", {AN_INSTANCE(READY), .goes = true}, "along:delete"},
    {"one of a failed update goes along",
     {AN_INSTANCE(UPDATE_ERROR), .goes = true},
     "along:delete"},

    {"no CRM has come", {A_SITE(CREATING)}, ""},
    {"no CRM has come for too long", {A_SITE(CREATING), LATE}, "late:expire"},
    {"a CRM has come", {A_SITE(CRM_INITOK)}, ""},
    {"a CRM has come, and does not get ready", {A_SITE(CRM_INITOK), LATE}, "late:expire"},
    {"one that was READY, and its CRM does not get ready",
     {A_SITE(CRM_INITOK), .stays = true, LATE},
     ""},
    {"a site", {A_SITE(READY), .held = true, LATE}, ""},
    {"a site in error", {A_SITE(CREATE_ERROR), LATE}, ""},
    {"an upgrade that failed", {A_SITE(UPDATE_ERROR), .restored = true, LATE}, ""},
    EXPIRES(A_SITE, UPDATE_REQUESTED),
    EXPIRES(A_SITE, UPDATING),
    EXPIRES(A_SITE, DELETE_PREPARE),
    EXPIRES(A_SITE, DELETE_REQUESTED),
    EXPIRES(A_SITE, DELETING),
    {"nothing is at the site", {A_SITE(DELETE_PREPARE)}, "nothing_left:proceed"},
    {"a cluster there does not go",
     {A_SITE(DELETE_PREPARE), .held = true, .refused = true},
     "stays:refuse"},
    {"it does not let go", {A_SITE(DELETE_ERROR)}, "undo:undo"},

    {"a CRM that is heard", {A_CRM(READY)}, ""},
    {"silent at its start", {A_CRM(INIT), .silent = true}, "silent:offline"},
    {"silent as it compares", {A_CRM(NEED_SYNC), .silent = true}, "silent:offline"},
    {"silent", {A_CRM(READY), .silent = true}, "silent:offline"},
    {"silent in an upgrade", {A_CRM(UPGRADE), .silent = true}, "silent:offline"},
    {"silent after an error", {A_CRM(ERRORS), .silent = true}, "silent:offline"},
    {"OFFLINE already", {A_CRM(OFFLINE), .silent = true}, ""},

    {"nobody works there", {CARE(NORMAL_OPERATION), LATE}, ""},
    {"somebody asks to", {CARE(FAILOVER_REQUESTED)}, "failover:failed_over"},
    {"the CRM is asked", {CARE(CRM_REQUESTED)}, ""},
    {"the CRM does not answer", {CARE(CRM_REQUESTED), LATE}, "late:expire"},
    {"somebody works there", {CARE(UNDER_MAINTENANCE), LATE}, ""},
    {"it ends", {CARE(NORMAL_OPERATION_INIT)}, ""},
    {"the CRM does not answer to its end", {CARE(NORMAL_OPERATION_INIT), LATE}, "late:expire"},

    {"it is told", {.kind = RECORD_PROGRESS, .state = PROGRESS_UNDER_WAY, LATE}, ""},
    {"it was told", {.kind = RECORD_PROGRESS, .state = PROGRESS_ENDED}, ""},
    {"it was told long ago",
     {.kind = RECORD_PROGRESS, .state = PROGRESS_ENDED, LATE},
     "forget:forget"},

    {"a cluster of a newer version", {.kind = RECORD_CLUSTERINST, .state = -1, LATE}, ""},
    {"an instance of a newer version", {.kind = RECORD_APPINST, .state = -1, LATE}, ""},
    {"a site of a newer version", {.kind = RECORD_CLOUDLET, .state = -1, LATE}, ""},
    {"a CRM of a newer version", {.kind = RECORD_CLOUDLETINFO, .state = -1, .silent = true}, ""},
    {"maintenance of a newer version", {.kind = RECORD_MAINTENANCE, .state = -1, LATE}, ""},
};

static void every_row(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct edge_repair r = edge_passes_run(&rows[i].sight);
        char text[64] = "";
        if (r.pass) {
            snprintf(text, sizeof(text), "%s:%s", r.pass, r.move);
        }
        if (strcmp(text, rows[i].repair) != 0) {
            fail_msg("%s\nexpected: %s\ngot:      %s", rows[i].name, rows[i].repair, text);
        }
    }
    (void)state;
}

static void the_lifecycles_have_each_move(void **state)
{
    static const struct {
        enum record_type kind;
        int state;
        const char *move;
    } moves[] = {
#define EDGE_PASS(name, kind, state, move, due) {RECORD_##kind, state, move},
#include "converger/edge.def"
#undef EDGE_PASS
    };
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        const struct lifecycle *l = edge_lifecycle(moves[i].kind);
        int trigger = lifecycle_trigger(l, moves[i].move);
        if (trigger < 0 ||
            lifecycle_transition(l, moves[i].state, ACTOR_CONVERGER, trigger, UINT32_MAX) < 0) {
            fail_msg("%s takes no %s of the converger", l->states[moves[i].state], moves[i].move);
        }
    }
    (void)state;
}

/* ---- Silences -------------------------------------------------------------------------------- */

#define PARIS "acme/paris"

static Board__CloudletInfoRecord said(const char *state, uint64_t session)
{
    Board__CloudletInfoRecord i = BOARD__CLOUDLET_INFO_RECORD__INIT;
    i.name = (char *)(uintptr_t)PARIS;
    i.state = (char *)(uintptr_t)state;
    i.session = session;
    return i;
}

static void hear_of(struct liveness_report *h, uint64_t session)
{
    Board__SiteHeartbeat site = BOARD__SITE_HEARTBEAT__INIT, *sites[] = {&site};
    Board__HeartbeatRecord beat = BOARD__HEARTBEAT_RECORD__INIT;
    site.cloudlet = (char *)(uintptr_t)PARIS;
    site.session = session;
    beat.sites = sites;
    beat.n_sites = session ? 1 : 0;
    liveness_report_heartbeat(h, "beat/one", &beat);
}

/* A bbs counts on, and hears nobody (session 0) or this session, until that time. */
static void pass_time(struct liveness_report *h, int64_t *now_ns, int64_t until_ns,
                      uint64_t session)
{
    while (*now_ns < until_ns) {
        *now_ns += LIVENESS_REPORT_TICK_NS;
        liveness_report_tick(h, *now_ns, true);
        hear_of(h, session);
    }
}

/* Of a setting: any would do. */
#define SILENCE_NS (SETTINGS_DEFAULT.edge.site_silence_ns)

static void count_one(void *context, const char *cloudlet)
{
    assert_string_equal(cloudlet, PARIS);
    ++*(int *)context;
}

static int count_silent(const struct liveness_report *h)
{
    int count = 0;
    sites_each_silent(h, SILENCE_NS, count_one, &count);
    return count;
}

static void a_site_falls_silent(void **state)
{
    struct liveness_report h;
    int64_t now_ns = SECOND_NS;
    Board__CloudletInfoRecord i = said("READY", 7);
    liveness_report_init(&h);
    liveness_report_tick(&h, now_ns, true);
    assert_false(sites_any(&h));
    sites_note(&h, PARIS, &i);
    assert_true(sites_any(&h));
    pass_time(&h, &now_ns, 100 * SECOND_NS, 7);
    assert_false(sites_silent(&h, PARIS, 7, SILENCE_NS));
    assert_int_equal(count_silent(&h), 0);

    int64_t last_ns = now_ns;
    pass_time(&h, &now_ns, last_ns + SILENCE_NS - LIVENESS_REPORT_TICK_NS, 0);
    assert_false(sites_silent(&h, PARIS, 7, SILENCE_NS));
    assert_int_equal(count_silent(&h), 0);
    pass_time(&h, &now_ns, last_ns + SILENCE_NS, 0);
    assert_true(sites_silent(&h, PARIS, 7, SILENCE_NS));
    assert_int_equal(count_silent(&h), 1);
    /* what is silent is that session */
    assert_false(sites_silent(&h, PARIS, 8, SILENCE_NS));

    /* another session begins anew, and heartbeats of the former one are none of it */
    i.session = 8;
    sites_note(&h, PARIS, &i);
    assert_false(sites_silent(&h, PARIS, 8, SILENCE_NS));
    pass_time(&h, &now_ns, now_ns + SILENCE_NS, 7);
    assert_true(sites_silent(&h, PARIS, 8, SILENCE_NS));

    /* who is OFFLINE is not listened for, nor who is gone */
    i.state = (char *)(uintptr_t) "OFFLINE";
    sites_note(&h, PARIS, &i);
    assert_false(sites_silent(&h, PARIS, 8, SILENCE_NS));
    assert_false(sites_any(&h));
    i.state = (char *)(uintptr_t) "NEED_SYNC";
    sites_note(&h, PARIS, &i);
    assert_true(sites_any(&h));
    sites_note(&h, PARIS, NULL);
    assert_false(sites_any(&h));
    liveness_report_done(&h);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(the_lifecycles_have_each_move),
        cmocka_unit_test(a_site_falls_silent),
    };
    return cmocka_run_group_tests_name("converger: passes over sites", tests, NULL, NULL);
}
