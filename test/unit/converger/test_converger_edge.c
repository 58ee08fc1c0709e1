/* What the converger does at a centre of sites: what it leads on as the records change, what it
 * ends when the time has come, and when it asks again. */
#include "converger/edge.h"
#include "common/model/setting_record.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#include <stdlib.h>
#include <string.h>

#define PARIS "acme/paris"
#define WEB "acme/paris/dev/web"
#define OURS "acme/paris/corkboard/reservable0"
#define SHOP WEB "/dev/shop/1.0"
#define AUTO "acme/paris/dev/autocluster1/dev/shop/1.0"

static char *text(struct converger_rig *f, const char *s)
{
    return arena_strdup(&f->arena, s);
}

static int64_t wall(const struct converger_rig *f)
{
    return f->drive.now.wall_ns;
}

/* An operation that began so many seconds ago, and is to be over in so many (0 = it failed). */
static Board__EdgeOperation *operation(struct converger_rig *f, const char *word, int ago_s,
                                       int left_s)
{
    Board__EdgeOperation *o = arena_message(&f->arena, &board__edge_operation__descriptor);
    o->word = text(f, word);
    o->since = wall(f) - ago_s * SECOND_NS;
    o->deadline = left_s ? wall(f) + left_s * SECOND_NS : 0;
    o->error = text(f, left_s ? "" : "no room");
    return o;
}

#define IDLE_NS (SETTINGS_DEFAULT.edge.cluster_idle_ns)

/* Frames of the feed. */
static void show_cluster(struct converger_rig *f, const char *name, const char *state,
                         Board__EdgeOperation *o)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    bool ours = strcmp(name, OURS) == 0;
    c.name = text(f, name);
    c.uid = text(f, ours ? "u-ours" : "u-web");
    c.state = text(f, state);
    c.request = 2;
    c.operation = o;
    c.automatic = c.reservable = ours;
    c.since = c.free_since = wall(f);
    c.reserved_by = text(f, ours && strcmp(state, "CREATING") == 0 ? AUTO : "");
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLUSTERINST, name), &c.base);
}

static void show_instance(struct converger_rig *f, const char *name, const char *state,
                          Board__EdgeOperation *o)
{
    Board__AppInstRecord i = BOARD__APP_INST_RECORD__INIT;
    bool alias = strcmp(name, AUTO) == 0;
    i.name = text(f, name);
    i.uid = text(f, "u-shop");
    i.state = text(f, state);
    i.request = 3;
    i.operation = o;
    i.real_cluster = text(f, alias ? OURS : "");
    i.cluster_uid = text(f, alias ? "u-ours" : "u-web");
    rig_change(f, PUT, key_edge(&f->arena, RECORD_APPINST, name), &i.base);
}

static void show_site(struct converger_rig *f, const char *state, Board__EdgeOperation *o)
{
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    c.name = text(f, PARIS);
    c.uid = text(f, "u-paris");
    c.state = text(f, state);
    c.operation = o;
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLOUDLET, PARIS), &c.base);
}

static void show_gone(struct converger_rig *f, enum record_type type, const char *name)
{
    Board__CloudletRecord nothing = BOARD__CLOUDLET_RECORD__INIT;
    rig_change(f, DELETE, key_edge(&f->arena, type, name), &nothing.base);
}

static void set_time(struct converger_rig *f, const char *name, int64_t value)
{
    Board__SettingRecord r = BOARD__SETTING_RECORD__INIT;
    r.name = text(f, name);
    r.value = value;
    rig_change(f, PUT, key_setting(&f->arena, name), &r.base);
}

/* The first move of the last step. */
static const Board__Move *sent(struct converger_rig *f)
{
    const struct call *c = drive_call(&f->drive, "/v1/board/apply", 0);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    assert_non_null(c);
    const Board__ApplyRequest *r =
        board__apply_request__unpack(&allocator, c->body.size, c->body.data);
    assert_true(r && r->n_moves > 0 && r->moves[0]->edge);
    return r->moves[0];
}

/* At its deadline, and the bbs is asked again as long as the record stays as it was: clocks differ.
 */
static void what_nobody_ends_ends_in_time(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, WEB, "CREATE_REQUESTED", operation(f, "create", 0, 20));
    rig_send(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 19));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "expire clusterinst/acme/paris/dev/web ", &call);
    rig_answer(f, call, 1, DONE);
    assert_true(rig_moved_within(f, 3));
    assert_moves(f, "expire clusterinst/acme/paris/dev/web ", &call);
    rig_answer(f, call, 1, DONE);
    show_cluster(f, WEB, "CREATE_ERROR", operation(f, "create", 21, 0));
    rig_send(f);
    assert_moves(f, "undo clusterinst/acme/paris/dev/web ", &call);
    rig_answer(f, call, 1, DONE);
    show_gone(f, RECORD_CLUSTERINST, WEB);
    rig_send(f);
    assert_false(rig_moved_within(f, 40));
}

/* An instance whose cluster is made first goes on as soon as that is there. */
static void what_waits_for_a_cluster_goes_on(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, OURS, "CREATING", operation(f, "create", 0, 600));
    show_instance(f, AUTO, "CREATING_DEPENDENCIES", operation(f, "create", 0, 600));
    rig_send(f);
    assert_moves(f, "", &call);
    show_cluster(f, OURS, "READY", NULL);
    rig_send(f);
    assert_moves(f, "proceed appinst/acme/paris/dev/autocluster1/dev/shop/1.0 ", &call);
}

static void what_waits_for_a_cluster_that_goes_fails(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, OURS, "CREATING", operation(f, "create", 0, 600));
    show_instance(f, AUTO, "CREATING_DEPENDENCIES", operation(f, "create", 0, 600));
    rig_send(f);
    show_gone(f, RECORD_CLUSTERINST, OURS);
    rig_send(f);
    assert_moves(f, "fail appinst/acme/paris/dev/autocluster1/dev/shop/1.0 ", &call);
}

/* What is in a cluster goes first; the cluster follows when the last one has gone. */
static void a_cluster_goes_after_its_instances(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, WEB, "READY", NULL);
    show_instance(f, SHOP, "READY", NULL);
    rig_send(f);
    assert_moves(f, "", &call);
    show_cluster(f, WEB, "DELETE_PREPARE", operation(f, "delete", 0, 600));
    rig_send(f);
    assert_moves(f, "delete appinst/acme/paris/dev/web/dev/shop/1.0 ", &call);
    rig_answer(f, call, 1, DONE);
    show_instance(f, SHOP, "DELETE_PREPARE", operation(f, "delete", 0, 600));
    rig_send(f);
    assert_moves(f, "proceed appinst/acme/paris/dev/web/dev/shop/1.0 ", &call);
    rig_answer(f, call, 1, DONE);
    show_instance(f, SHOP, "DELETE_REQUESTED", operation(f, "delete", 0, 600));
    rig_send(f);
    assert_false(rig_moved_within(f, 35));
    show_gone(f, RECORD_APPINST, SHOP);
    rig_send(f);
    assert_moves(f, "proceed clusterinst/acme/paris/dev/web ", &call);
}

/* One that failed to go in this delete refuses it; what failed before is tried once more. */
static void an_instance_that_stays_refuses(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, WEB, "DELETE_PREPARE", operation(f, "delete", 10, 600));
    show_instance(f, SHOP, "READY", operation(f, "delete", 11, 0));
    rig_send(f);
    assert_moves(f, "delete appinst/acme/paris/dev/web/dev/shop/1.0 ", &call);
    rig_answer(f, call, 1, DONE);
    show_instance(f, SHOP, "READY", operation(f, "delete", 10, 0));
    rig_send(f);
    assert_moves(f, "refuse clusterinst/acme/paris/dev/web ", &call);
    assert_string_equal(sent(f)->edge->error, SHOP " does not go: no room");
}

/* A cluster that was made for instances goes when it was idle for half an hour, with its site at
 * once; one that a client made stays. */
static void an_idle_cluster_goes(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, WEB, "READY", NULL);
    show_cluster(f, OURS, "READY", NULL);
    rig_send(f);
    assert_false(rig_moved_within(f, (int)(IDLE_NS / SECOND_NS) - 2));
    assert_true(rig_moved_within(f, 4));
    assert_moves(f, "delete clusterinst/acme/paris/corkboard/reservable0 ", &call);
}

/* As somebody has set it; also what waits already. */
static void an_idle_cluster_goes_in_the_time_that_is_set(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_cluster(f, OURS, "READY", NULL);
    rig_send(f);
    assert_false(rig_moved_within(f, 20));
    set_time(f, "edge.cluster_idle", 60);
    rig_send(f);
    assert_false(rig_moved_within(f, 38));
    assert_true(rig_moved_within(f, 4));
    assert_moves(f, "delete clusterinst/acme/paris/corkboard/reservable0 ", &call);
}

static void an_idle_cluster_goes_with_its_site(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_site(f, "READY", NULL);
    show_cluster(f, OURS, "READY", NULL);
    rig_send(f);
    assert_moves(f, "", &call);
    show_site(f, "DELETE_PREPARE", operation(f, "delete", 0, 600));
    rig_send(f);
    assert_moves(f, "delete clusterinst/acme/paris/corkboard/reservable0 ", &call);
    rig_answer(f, call, 1, DONE);
    show_gone(f, RECORD_CLUSTERINST, OURS);
    rig_send(f);
    assert_moves(f, "proceed cloudlet/acme/paris ", &call);
}

/* The session of which nothing is heard is told OFFLINE after 30 s, and no sooner. */
/* After so many seconds, and told once. */
static void silent_after(struct converger_rig *f, int seconds)
{
    Board__CloudletInfoRecord i = BOARD__CLOUDLET_INFO_RECORD__INIT;
    uint64_t call;
    i.name = text(f, PARIS);
    i.state = text(f, "READY");
    i.session = 7;
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLOUDLETINFO, PARIS), &i.base);
    rig_send(f);
    for (int s = 0; s < seconds - 1; s++) {
        assert_false(rig_second(f, ""));
    }
    bool moved = false;
    for (int s = 0; s < 4 && !moved; s++) {
        moved = rig_second(f, "");
    }
    assert_true(moved);
    assert_moves(f, "offline cloudletinfo/acme/paris ", &call);
    assert_int_equal(sent(f)->edge->session, 7);
    rig_answer(f, call, 1, DONE);
    i.state = text(f, "OFFLINE");
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLOUDLETINFO, PARIS), &i.base);
    rig_send(f);
    for (int s = 0; s < 60; s++) {
        assert_false(rig_second(f, ""));
    }
}

static void a_silent_site_is_offline(void **state)
{
    rig_leader_lock(*state);
    silent_after(*state, 30);
}

static void a_silent_site_is_offline_in_the_time_that_is_set(void **state)
{
    rig_leader_lock(*state);
    set_time(*state, "edge.site_silence", 20);
    silent_after(*state, 20);
}

/* What was told of an operation, and when it ended. */
static void show_told(struct converger_rig *f, const char *uid, int ago_s)
{
    Board__ProgressRecord p = BOARD__PROGRESS_RECORD__INIT;
    p.uid = text(f, uid);
    p.request = 4;
    p.end = text(f, "ready");
    p.ended_at = wall(f) - ago_s * SECOND_NS;
    rig_change(f, PUT, key_progress(&f->arena, uid), &p.base);
}

/* Ten minutes after its end, whether its object is there or not; or as is set. */
static void what_was_told_is_forgotten(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    show_told(f, "u-gone", 580);
    show_told(f, "u-later", 0);
    rig_send(f);
    assert_false(rig_moved_within(f, 19));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "forget progress/u-gone ", &call);
    assert_string_equal(sent(f)->edge->uid, "u-gone");
    assert_int_equal(sent(f)->edge->request, 4);
    rig_answer(f, call, 1, DONE);
    show_gone(f, RECORD_PROGRESS, "u-gone");
    rig_send(f);
    set_time(f, "edge.progress_keep", 60);
    rig_send(f);
    assert_false(rig_moved_within(f, 35));
    assert_true(rig_moved_within(f, 5));
    assert_moves(f, "forget progress/u-later ", &call);
}

/* The lines that begin so, of what is measured now. */
static const char *measured(struct converger_rig *f, const char *name)
{
    SCOPED_BUF(out);
    SCOPED_BUF(lines);
    edge_measure((const struct edge_keeper *)(const void *)f->x->keepers[KEEPER_edge], &f->arena,
                 &out);
    char *rest, *all = arena_strdup(&f->arena, buf_string(&out));
    for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, name, strlen(name)) == 0 && !strstr(line, "} 0")) {
            buf_printf(&lines, "%s\n", line + strlen(name));
        }
    }
    return arena_strdup(&f->arena, buf_string(&lines));
}

static void they_are_measured(void **state)
{
    struct converger_rig *f = *state;
    Board__CloudletInfoRecord i = BOARD__CLOUDLET_INFO_RECORD__INIT;
    rig_leader_lock(f);
    assert_string_equal(measured(f, ""), "");
    i.name = text(f, PARIS);
    i.state = text(f, "READY");
    i.session = 7;
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLOUDLETINFO, PARIS), &i.base);
    i.name = text(f, "acme/rome");
    i.state = text(f, "OFFLINE");
    i.since = wall(f) - 90 * SECOND_NS;
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLOUDLETINFO, "acme/rome"), &i.base);
    Board__EdgeOperation *late = operation(f, "update", 3600, 1);
    late->deadline = 0;
    late->overdue = true;
    show_cluster(f, WEB, "UPDATING", late);
    show_cluster(f, WEB "2", "CREATING", operation(f, "create", 0, 500));
    show_instance(f, SHOP, "CREATE_REQUESTED", operation(f, "create", 0, 300));
    show_instance(f, AUTO, "ASLEEP", NULL);
    show_told(f, "u-gone", 595);
    rig_send(f);
    for (int s = 0; s < 3; s++) {
        assert_false(rig_second(f, ""));
    }
    assert_string_equal(measured(f, "corkboard_edge_sites"),
                        "{state=\"READY\"} 1\n{state=\"OFFLINE\"} 1\n");
    assert_string_equal(measured(f, "corkboard_edge_objects"),
                        "{kind=\"cluster\",state=\"CREATING\"} 1\n"
                        "{kind=\"cluster\",state=\"UPDATING\"} 1\n"
                        "{kind=\"instance\",state=\"CREATE_REQUESTED\"} 1\n"
                        "{kind=\"instance\",state=\"unknown\"} 1\n");
    assert_string_equal(measured(f, "corkboard_edge_overdue_operations"), " 1\n");
    assert_int_equal(atoll(measured(f, "corkboard_edge_oldest_deadline_seconds")),
                     (wall(f) + 297 * SECOND_NS) / SECOND_NS);
    assert_string_equal(measured(f, "corkboard_edge_site_heard_seconds"),
                        "{site=\"acme/paris\"} 2.0\n{site=\"acme/rome\"} 93.0\n");
    /* of a state without anything there is a line too */
    SCOPED_BUF(out);
    edge_measure((const struct edge_keeper *)(const void *)f->x->keepers[KEEPER_edge], &f->arena,
                 &out);
    assert_non_null(strstr(buf_string(&out), "corkboard_edge_sites{state=\"INIT\"} 0\n"));
}

/* Named as people do, with all parts. */
static void the_plan_shows_them(void **state)
{
    struct converger_rig *f = *state;
    Converge__Plan plan;
    rig_leader_lock(f);
    show_site(f, "READY", NULL);
    show_cluster(f, WEB, "CREATE_ERROR", operation(f, "create", 1, 0));
    show_instance(f, WEB "2/dev/shop/1.0", "READY", NULL);
    rig_send(f);
    converger_plan(f->x, &f->arena, &plan);
    assert_int_equal(plan.n_repairs, 1);
    assert_string_equal(plan.repairs[0]->pass, "undo");
    assert_string_equal(plan.repairs[0]->move, "undo");
    assert_string_equal(plan.repairs[0]->subject, "clusterinst " WEB);
}

/* One that could not go is tried again half an hour after that, not at once. */
static void an_idle_cluster_that_stays_is_tried_later(void **state)
{
    struct converger_rig *f = *state;
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    uint64_t call;
    rig_leader_lock(f);
    c.name = text(f, OURS);
    c.uid = text(f, "u-ours");
    c.state = text(f, "READY");
    c.operation = operation(f, "delete", 1, 0);
    c.automatic = c.reservable = true;
    c.since = wall(f);
    c.free_since = wall(f) - 2 * IDLE_NS;
    rig_change(f, PUT, key_edge(&f->arena, RECORD_CLUSTERINST, OURS), &c.base);
    rig_send(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, (int)(IDLE_NS / SECOND_NS) - 2));
    assert_true(rig_moved_within(f, 4));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_nobody_ends_ends_in_time),
        TEST(what_waits_for_a_cluster_goes_on),
        TEST(what_waits_for_a_cluster_that_goes_fails),
        TEST(a_cluster_goes_after_its_instances),
        TEST(an_instance_that_stays_refuses),
        TEST(an_idle_cluster_goes),
        TEST(an_idle_cluster_goes_in_the_time_that_is_set),
        TEST(an_idle_cluster_goes_with_its_site),
        TEST(an_idle_cluster_that_stays_is_tried_later),
        TEST(a_silent_site_is_offline),
        TEST(a_silent_site_is_offline_in_the_time_that_is_set),
        TEST(what_was_told_is_forgotten),
        TEST(they_are_measured),
        TEST(the_plan_shows_them),
    };
    return cmocka_run_group_tests_name("converger: sites", tests, NULL, NULL);
}
