/* Upgrades of a CRM by two processes, v1 and v2, in every order (docs/edge.md, Cloudlets). Whatever
 * happens the app at the site runs on: each wait looks at that. */
#include "test/sim/stories/crms.h"

#define OTHER PARIS "/dev/other"
#define UPGRADED_NS                                                                                \
    (30 * SECOND_NS) /* one that nothing befalls; the lead of a dead v1 waits 6 s                  \
                      */

/* v2 speaks for the site, and nobody else is left. */
static void expect_v2(struct crms *x)
{
    const Board__CloudletRecord *c = crms_cloudlet(x);
    const Board__CloudletInfoRecord *i = crms_info(x);
    assert_string_equal(c->state, "READY");
    assert_string_equal(c->version, "2.0");
    assert_string_equal(c->target_version, "2.0");
    assert_false(c->upgrading);
    assert_null(c->operation);
    assert_string_equal(i->version, "2.0");
    assert_int_equal(i->former_session, 0);
    assert_true(node_up(crms_node(x, "2.0")));
}

/* The same, and the operation was told to its end. */
static void expect_upgraded(struct crms *x)
{
    expect_v2(x);
    assert_string_equal(crms_end(x), "ready");
    assert_non_null(strstr(crms_progress(x), "ready: version 2.0|"));
}

/* v1 goes on, and takes no change of what runs there. */
static void expect_failed(struct crms *x, const char *why)
{
    const Board__CloudletRecord *c = crms_cloudlet(x);
    const Board__CloudletInfoRecord *i = crms_info(x);
    assert_string_equal(c->state, "UPDATE_ERROR");
    assert_string_equal(c->version, "1.0");
    assert_false(c->upgrading);
    assert_string_equal(c->operation->error, why);
    assert_string_equal(i->version, "1.0");
    assert_string_equal(i->state, "READY");
    assert_string_equal(crms_end(x), "failed");
    assert_string_equal(crms_create_cluster(x, OTHER),
                        arena_printf(&x->play.f.arena, "cloudlet " PARIS " needs repair: %s", why));
}

/* Other versions are not the one that runs. */
static void expect_ended(struct crms *x, const char *version)
{
    if (node_up(crms_node(x, version))) {
        fail_msg("version %s has not ended", version);
    }
}

/* In this order, other lines between them. */
static void expect_lines(struct crms *x, const char *const *lines, size_t count)
{
    const char *at = crms_progress(x);
    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(at, lines[i]);
        if (!found) {
            fail_msg("no line `%s` in `%s`", lines[i], at);
        }
        at = found + 1;
    }
}

static void ends_in_order(struct crms *x, const char *version)
{
    world_stop(x->world, crms_node(x, version));
    crms_pass(x, 3 * SECOND_NS);
    expect_ended(x, version);
}

void story_a_site_is_upgraded(struct cluster *c)
{
    static const char *const lines[] = {"upgrade requested: from 1.0 to 2.0|",
                                        PARIS " has begun to start version 2.0|",
                                        "the CRM of version 2.0 has come|", "ready: version 2.0|"};
    struct crms x;
    says(c, "An app runs at a site, whose CRM has version 1.0. It is to be 2.0 while a cluster is "
            "being made there: that is refused.");
    crms_begin(&x, c, true);
    world_pause(c->world, crms_node(&x, "1.0"));
    assert_string_equal(crms_create_cluster(&x, OTHER), "");
    edge_refused(&x.play, federation_upgrade(x.site, "2.0"), OTHER " is busy: CREATE_REQUESTED");
    world_wake(c->world, crms_node(&x, "1.0"));
    crms_pass(&x, 5 * SECOND_NS);
    assert_string_equal(crms_upgrade(&x, "0.9"),
                        "version: 0.9 is not above 1.0, which cloudlet " PARIS " runs");

    says(c, "v1 starts v2, v2 opens its session, v1 hears of it and ends, v2 leads. Meanwhile the "
            "site takes no change.");
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    assert_string_equal(crms_delete(&x, OTHER), "cloudlet " PARIS " is being upgraded");
    crms_await(&x, "UPDATING", "UPGRADE", SETTLE_NS);
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);
    expect_lines(&x, lines, sizeof(lines) / sizeof(lines[0]));
    assert_int_equal(x.start.runs, 1);
    assert_int_equal(x.stop.runs, 0);
    assert_int_equal(crms_info(&x)->session, 2);
    crms_pass(&x, 3 * SECOND_NS);
    expect_ended(&x, "1.0");

    says(c, "Changes are taken again, and done by v2.");
    assert_string_equal(crms_delete(&x, OTHER), "");
    crms_pass(&x, 5 * SECOND_NS);
    assert_int_equal(cluster_records(x.site->cluster, "slice/"), 1);
    crms_close(&x);
}

/* ---- Messages that come late ----------------------------------------------------------------- */

static bool is_down(void *node)
{
    return !node_up(node);
}

/* It dies with its next move, which arrives so much later. */
static void dies_asking(struct crms *x, const char *version, int64_t late_ns)
{
    struct node *n = crms_node(x, version);
    world_kill_asking(x->world, n, late_ns);
    assert_true(world_run_until(x->world, 60 * SECOND_NS, is_down, n));
}

/* v2 is started by hand, and is READY before what v1 said comes. */
static void v2_comes_before(struct crms *x, uint64_t session, int64_t late_ns)
{
    int64_t from = world_now(x->world);
    crms_start(x, "2.0");
    crms_until(x, "CRM_INITOK", NULL, session);
    crms_await(x, "READY", "READY", UPGRADED_NS);
    expect_v2(x);
    assert_true(world_now(x->world) < from + late_ns);
    crms_pass(x, late_ns);
    expect_v2(x);
    assert_int_equal(crms_info(x)->session, session);
}

void story_a_late_init_of_v1(struct cluster *c)
{
    struct crms x;
    says(c, "v1 begins again, and dies when it opens its session, which comes a minute later. A v2 "
            "that somebody starts opens the same one meanwhile: v1's is not above it.");
    crms_begin(&x, c, true);
    world_kill(c->world, crms_node(&x, "1.0"));
    crms_start(&x, "1.0");
    dies_asking(&x, "1.0", 60 * SECOND_NS);
    v2_comes_before(&x, 2, 60 * SECOND_NS);
    crms_close(&x);
}

void story_a_late_ready_of_v1(struct cluster *c)
{
    struct crms x;
    says(c, "v1 begins again, and dies when it says that it is ready. v2 has a session after "
            "that: what v1 said changes nothing.");
    crms_begin(&x, c, true);
    world_kill(c->world, crms_node(&x, "1.0"));
    crms_start(&x, "1.0");
    crms_until(&x, "CRM_INITOK", "NEED_SYNC", 2);
    dies_asking(&x, "1.0", 60 * SECOND_NS);
    v2_comes_before(&x, 3, 60 * SECOND_NS);
    crms_close(&x);
}

void story_v2_comes_before_v1_has_begun(struct cluster *c)
{
    struct crms x;
    says(c, "The upgrade is asked for while v1 is paused, and somebody starts v2: it opens its "
            "session before v1 has said that it begins.");
    crms_begin(&x, c, true);
    world_pause(c->world, crms_node(&x, "1.0"));
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_start(&x, "2.0");
    crms_until(&x, "CRM_INITOK", NULL, 2);

    says(c, "v1 wakes, and says so: its session is over, and it ends.");
    world_wake(c->world, crms_node(&x, "1.0"));
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);
    assert_int_equal(x.start.runs, 0);
    crms_pass(&x, 3 * SECOND_NS);
    expect_ended(&x, "1.0");
    crms_close(&x);
}

void story_a_late_upgrading_of_v1(struct cluster *c)
{
    struct crms x;
    says(c, "v1 dies when it says that it begins the upgrade. Somebody starts v2, and what v1 said "
            "comes when v2 is ready.");
    crms_begin(&x, c, true);
    world_kill_asking(c->world, crms_node(&x, "1.0"), 60 * SECOND_NS);
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    assert_true(world_run_until(c->world, SETTLE_NS, is_down, crms_node(&x, "1.0")));
    v2_comes_before(&x, 2, 60 * SECOND_NS);
    expect_upgraded(&x);
    assert_int_equal(x.start.runs, 0);
    crms_close(&x);
}

void story_a_late_fail_of_v1(struct cluster *c)
{
    struct crms x;
    says(c, "The program starts v2, and fails. v1 dies when it says so. v2 is ready when that "
            "comes: the upgrade has not failed.");
    crms_begin(&x, c, true);
    x.start.does_ns = 2 * SECOND_NS;
    x.start.ends_ns = SECOND_NS;
    x.start.status = 1;
    x.start.line = "no answer";
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "UPDATING", NULL, 0);
    world_run(c->world, SECOND_NS / 2);
    dies_asking(&x, "1.0", 60 * SECOND_NS);
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);
    crms_pass(&x, 60 * SECOND_NS);
    expect_upgraded(&x);
    crms_close(&x);
}

/* ---- A v2 that does not come ----------------------------------------------------------------- */

static void fails(struct crms *x, const char *why, int64_t from_ns, int64_t limit_ns)
{
    struct world *w = x->world;
    int64_t began = world_now(w);
    assert_string_equal(crms_upgrade(x, "2.0"), "");
    crms_await(x, "UPDATE_ERROR", "READY", limit_ns);
    assert_in_range(world_now(w) - began, from_ns, limit_ns);
    expect_failed(x, why);
    crms_pass(x, 10 * SECOND_NS);
    expect_failed(x, why);
    assert_true(node_up(crms_node(x, "1.0")));
}

void story_an_upgrade_that_fails(struct cluster *c)
{
    struct crms x;
    says(c, "The program cannot start v2: the cloudlet is in UPDATE_ERROR, v1 goes on, and no "
            "change is taken until somebody says that the version that runs is the one to keep.");
    crms_begin(&x, c, true);
    x.start = (struct crms_hook){
        .does_ns = NEVER_NS, .ends_ns = SECOND_NS, .status = 3, .line = "no such image"};
    fails(&x, "version 2.0 was not started: no such image", SECOND_NS, SETTLE_NS);
    assert_string_equal(crms_upgrade(&x, "1.0"), "");
    crms_await(&x, "READY", "READY", 0);
    assert_string_equal(crms_create_cluster(&x, OTHER), "");
    crms_pass(&x, 5 * SECOND_NS);
    assert_string_equal(crms_delete(&x, OTHER), "");
    crms_pass(&x, 5 * SECOND_NS);

    says(c, "The program hangs: it is killed after 60 s.");
    x.start = (struct crms_hook){.does_ns = NEVER_NS, .ends_ns = 3600 * SECOND_NS};
    fails(&x, "version 2.0 was not started: it did not end within 60 s and was killed",
          60 * SECOND_NS, 70 * SECOND_NS);

    says(c, "Asked for once more, it starts something that never opens a session: after 2 min v1 "
            "stops it.");
    x.start = (struct crms_hook){.does_ns = NEVER_NS, .ends_ns = SECOND_NS};
    fails(&x, "version 2.0 did not come within 120 s and was stopped", 120 * SECOND_NS,
          130 * SECOND_NS);
    assert_int_equal(x.stop.runs, 1);

    says(c, "It is repaired by hand: somebody starts v2, which stands by, and ends v1.");
    crms_start(&x, "2.0");
    crms_pass(&x, 10 * SECOND_NS);
    expect_failed(&x, "version 2.0 did not come within 120 s and was stopped");
    ends_in_order(&x, "1.0");
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);
    crms_close(&x);
}

void story_an_upgrade_without_a_program(struct cluster *c)
{
    struct crms x;
    says(c, "The CRM has no program that starts another version: an upgrade fails at once.");
    crms_begin(&x, c, false);
    fails(&x, "this CRM has no program that starts another version (--launch)", 0, SETTLE_NS);

    says(c, "By hand it goes: the newer one is started, the older one ended.");
    crms_start(&x, "2.0");
    crms_pass(&x, 5 * SECOND_NS);
    ends_in_order(&x, "1.0");
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);

    says(c, "So too where nobody asked for an upgrade: the newest is the one that is to run, and "
            "an older one that comes back is told so.");
    crms_start(&x, "3.0");
    crms_pass(&x, 5 * SECOND_NS);
    assert_string_equal(crms_info(&x)->version, "2.0");
    ends_in_order(&x, "2.0");
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    assert_string_equal(crms_cloudlet(&x)->version, "3.0");
    ends_in_order(&x, "3.0");
    crms_start(&x, "1.0");
    crms_pass(&x, 30 * SECOND_NS);
    assert_string_equal(crms_cloudlet(&x)->target_version, "3.0");
    assert_string_equal(crms_cloudlet(&x)->version, "3.0");
    assert_string_not_equal(crms_info(&x)->state, "READY");
    crms_close(&x);
}

/* Whatever came first: v2 is READY and v1 has ended, or v1 goes on and says why. Then v2 takes over
 * when v1 is ended by hand. */
static void one_of_both(struct crms *x, int64_t limit_ns)
{
    struct world *w = x->world;
    int64_t until_ns = world_now(w) + limit_ns;
    for (;;) {
        const Board__CloudletRecord *c = crms_cloudlet(x);
        const Board__CloudletInfoRecord *i = crms_info(x);
        bool ready = strcmp(i->state, "READY") == 0;
        if (ready && strcmp(c->state, "READY") == 0 && !c->upgrading) {
            break;
        }
        if (ready && strcmp(c->state, "UPDATE_ERROR") == 0) {
            expect_failed(x, c->operation->error);
            crms_start(x, "2.0");
            crms_pass(x, 5 * SECOND_NS);
            ends_in_order(x, "1.0");
            crms_await(x, "READY", "READY", UPGRADED_NS);
            break;
        }
        if (world_now(w) >= until_ns) {
            fail_msg("after %lld s the cloudlet is %s, its CRM of version %s %s",
                     (long long)(limit_ns / SECOND_NS), c->state, i->version, i->state);
        }
        crms_pass(x, SECOND_NS / 4);
    }
    expect_upgraded(x);
    crms_pass(x, 15 * SECOND_NS);
    expect_upgraded(x);
}

void story_v2_comes_while_its_program_fails(struct cluster *c)
{
    struct crms x;
    says(c, "The program starts v2, and then fails, some moment before or after v2 has come.");
    crms_begin(&x, c, true);
    x.start.does_ns = SECOND_NS;
    x.start.ends_ns =
        crms_drawn_ns(&x, SECOND_NS - 20 * MILLISECOND_NS, SECOND_NS + 60 * MILLISECOND_NS);
    x.start.status = 1;
    x.start.line = "no answer";
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_pass(&x, 5 * SECOND_NS);
    one_of_both(&x, 60 * SECOND_NS);
    crms_close(&x);
}

void story_v2_comes_while_it_is_stopped(struct cluster *c)
{
    struct crms x;
    says(c, "What the program left behind starts v2 about when v1 has waited long enough, and "
            "stops it. Somebody speaks for the site in the end: v1 stays until it has stopped it.");
    crms_begin(&x, c, true);
    x.start.ends_ns = SECOND_NS;
    x.start.does_ns = crms_drawn_ns(&x, 120 * SECOND_NS, 123 * SECOND_NS);
    x.stop.does_ns = SECOND_NS + SECOND_NS / 2;
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_pass(&x, 130 * SECOND_NS);
    one_of_both(&x, 30 * SECOND_NS);
    crms_close(&x);
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

void story_v1_will_not_end(struct cluster *c)
{
    struct crms x;
    says(c, "v1 is cut off from the centre when it has started v2, and does not hear that it is to "
            "end: it leads on at the site. After 10 s v2 has it stopped.");
    crms_begin(&x, c, true);
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "UPDATING", NULL, 0);
    crms_pass(&x, SECOND_NS / 2);
    crms_cut(&x, "1.0", true);
    crms_until(&x, "CRM_INITOK", NULL, 2);
    int64_t from = world_now(c->world);
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    assert_in_range(world_now(c->world) - from, 10 * SECOND_NS, UPGRADED_NS);
    expect_upgraded(&x);
    expect_ended(&x, "1.0");
    assert_int_equal(x.stop.runs, 1);
    crms_close(&x);
}

void story_v1_is_displaced(struct cluster *c)
{
    struct crms x;
    says(c, "v1 is paused when it has started v2, and nothing can stop it: its lead ends by "
            "silence.");
    crms_begin(&x, c, true);
    x.stop = (struct crms_hook){.does_ns = NEVER_NS, .ends_ns = SECOND_NS, .status = 1};
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "UPDATING", NULL, 0);
    crms_pass(&x, 2 * SECOND_NS - SECOND_NS / 2);
    if (node_up(crms_node(&x, "1.0"))) { /* it has not heard of v2 yet */
        world_pause(c->world, crms_node(&x, "1.0"));
    }
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);

    says(c, "It wakes, and harms neither the site nor the centre.");
    if (node_up(crms_node(&x, "1.0"))) {
        world_wake(c->world, crms_node(&x, "1.0"));
    }
    crms_pass(&x, 20 * SECOND_NS);
    expect_upgraded(&x);
    crms_close(&x);
}

void story_an_upgrade_that_is_overdue(struct cluster *c)
{
    struct crms x;
    says(c, "v1 is cut off, leads on at the site, and nothing can stop it: v2 never leads, and the "
            "upgrade is over after 20 min.");
    crms_begin(&x, c, true);
    x.stop = (struct crms_hook){.does_ns = NEVER_NS, .ends_ns = SECOND_NS, .status = 1};
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "UPDATING", NULL, 0);
    crms_pass(&x, SECOND_NS / 2);
    crms_cut(&x, "1.0", true);
    crms_await(&x, "CRM_INITOK", "NEED_SYNC", UPGRADED_NS);
    crms_pass(&x, 1180 * SECOND_NS);
    assert_string_equal(crms_cloudlet(&x)->state, "CRM_INITOK");
    crms_await(&x, "UPDATE_ERROR", NULL, 30 * SECOND_NS);
    assert_string_equal(crms_cloudlet(&x)->operation->error, "no end within 20 min");

    says(c, "The link is back: v1 hears that another one came, and ends. v2 repairs it.");
    crms_cut(&x, "1.0", false);
    crms_await(&x, "READY", "READY", 90 * SECOND_NS);
    expect_upgraded(&x);
    expect_ended(&x, "1.0");
    crms_close(&x);
}

void story_v2_dies_before_it_is_ready(struct cluster *c)
{
    struct crms x;
    says(c, "v2 dies when it has opened its session. v1 has ended by then, so nobody speaks for "
            "the site: it is OFFLINE, and its app runs.");
    crms_begin(&x, c, true);
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "CRM_INITOK", "INIT", 2);
    world_kill(c->world, crms_node(&x, "2.0"));
    crms_await(&x, "CRM_INITOK", "OFFLINE", 45 * SECOND_NS);
    expect_ended(&x, "1.0");

    says(c, "It is started again, and the upgrade goes on.");
    crms_start(&x, "2.0");
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);
    crms_close(&x);
}

void story_v2_dies_for_good(struct cluster *c)
{
    struct crms x;
    says(c, "v2 dies when it has opened its session, and nobody starts it again: after 20 min the "
            "upgrade has failed. v1, started by hand, goes on.");
    crms_begin(&x, c, true);
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "CRM_INITOK", "INIT", 2);
    world_kill(c->world, crms_node(&x, "2.0"));
    crms_await(&x, "UPDATE_ERROR", "OFFLINE", 1230 * SECOND_NS);
    crms_start(&x, "1.0");
    crms_await(&x, "UPDATE_ERROR", "READY", UPGRADED_NS);
    expect_failed(&x, "no end within 20 min");
    assert_int_equal(crms_info(&x)->session, 3);
    crms_close(&x);
}

void story_v1_dies_when_it_has_started_v2(struct cluster *c)
{
    struct crms x;
    says(c, "v1 dies while the program runs that it has launched: that goes on, and v2 comes.");
    crms_begin(&x, c, true);
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_until(&x, "UPDATING", NULL, 0);
    crms_pass(&x, SECOND_NS / 2);
    world_kill(c->world, crms_node(&x, "1.0"));
    crms_await(&x, "READY", "READY", UPGRADED_NS);
    expect_upgraded(&x);
    crms_close(&x);
}

/* ---- Whatever befalls ------------------------------------------------------------------------ */

enum misfortune { BBS_DIES, CONVERGER_DIES, LINK_CUT, V1_DIES, V2_DIES, MISFORTUNES };

static void strikes(struct crms *x, enum misfortune what, bool ends)
{
    struct world *w = x->world;
    struct node *node = what == BBS_DIES         ? x->play.f.centre->bbs[0]
                        : what == CONVERGER_DIES ? x->play.f.centre->converger
                        : what == V1_DIES        ? crms_node(x, "1.0")
                                                 : crms_node(x, "2.0");
    if (what == LINK_CUT) {
        federation_cut(x->site, !ends);
    } else if (ends && !node_up(node)) {
        world_start(w, node);
    } else if (!ends && node_up(node)) {
        world_kill(w, node);
    }
}

void story_an_upgrade_whatever_befalls(struct cluster *c)
{
    struct crms x;
    says(c, "A bbs, the converger, v1 or v2 dies at some moment of an upgrade, and is started "
            "again; or the link is cut for a while. Once all is well again the site runs v2, or it "
            "runs v1 and the cloudlet says why.");
    crms_begin(&x, c, true);
    enum misfortune what = (enum misfortune)random_below(world_random(c->world), MISFORTUNES);
    int64_t when = crms_drawn_ns(&x, 0, 2 * SECOND_NS);
    when = random_below(world_random(c->world), 2) ? when : SECOND_NS + when / 20;
    assert_string_equal(crms_upgrade(&x, "2.0"), "");
    crms_pass(&x, when);
    strikes(&x, what, false);
    crms_pass(&x, crms_drawn_ns(&x, SECOND_NS, 20 * SECOND_NS));
    strikes(&x, what, true);
    one_of_both(&x, 240 * SECOND_NS);
    crms_close(&x);
}
