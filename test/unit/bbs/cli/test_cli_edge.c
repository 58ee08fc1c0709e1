/* What `bbs flavors`, `cloudlets`, `clusters` and `appinsts` read, show and wait for. */
#include "bbs/cli/edge/edge_follow.h"
#include "bbs/cli/edge/edge_tables.h"
#include "bbs/cli/edge/edge_tree.h"
#include "bbs/cli/edge/edge_words.h"
#include "common/codec/json.h"
#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

#include "models/environment_variables.pb-c.h"

#include <string.h>

#define NOW (1000 * SECOND_NS)
#define SITE "acme/paris"
#define CLUSTER "acme/paris/dev/web"
#define INSTANCE "acme/paris/dev/web/dev/shop/1.0"

static struct arena arena;

/* With ' for ". */
static void *record(const ProtobufCMessageDescriptor *d, const char *text)
{
    struct err err;
    ProtobufCMessage *m;
    char *json = arena_strdup(&arena, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    if (json_decode(&arena, d, bytes_of(json), CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE, &m,
                    &err) < 0) {
        fail_msg("%s\n%s", err.text, text);
    }
    return m;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void sizes(void **state)
{
    static const struct {
        const char *text;
        int32_t mb; /* 0 = it is none */
    } rows[] = {
        {"512M", 512},   {"1G", 1024}, {"1.5g", 1536},
        {"1T", 1048576}, {"1025K", 2}, {"2047T", 2146435072},
        {"2048T", 0},    {"1K", 1},    {"64MiB", 64},
        {"64MB", 64},    {"64", 0},    {"0M", 0},
        {"-1M", 0},      {"M", 0},     {"", 0},
        {"1e3M", 0},     {"1.M", 1},   {"64Mx", 0},
        {"inf", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err;
        int32_t mb = 0;
        int r = edge_size_read("memory", rows[i].text, &mb, &err);
        if (r != (rows[i].mb ? 0 : -ERR_INVALID) || mb != rows[i].mb) {
            fail_msg("%s: %d, %d MB", rows[i].text, r, (int)mb);
        }
    }
}

static void locations(void **state)
{
    double latitude = 0, longitude = 0;
    struct err err;
    assert_int_equal(edge_location_read("48.85,-2.35", &latitude, &longitude, &err), 0);
    assert_true(latitude == 48.85 && longitude == -2.35);
    static const char *const wrong[] = {"", "48", "48,", ",2", "48;2", "48,2,3", "x,y", "1e9,0"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(edge_location_read(wrong[i], &latitude, &longitude, &err), -ERR_INVALID);
        assert_non_null(strstr(err.text, "--location"));
    }
    assert_true(latitude == 48.85 && longitude == -2.35);
}

static void environments(void **state)
{
    Models__EnvironmentVariable **list = NULL;
    size_t count = 0;
    struct err err;
    assert_int_equal(
        edge_env_read(&arena, (const char *[]){"A=1", "B=x=y", "C=", NULL}, &list, &count, &err),
        0);
    assert_int_equal(count, 3);
    assert_string_equal(list[1]->name, "B");
    assert_string_equal(list[1]->value, "x=y");
    assert_string_equal(list[2]->value, "");
    assert_int_equal(edge_env_read(&arena, (const char *[]){"A", NULL}, &list, &count, &err),
                     -ERR_INVALID);
    assert_int_equal(edge_env_read(&arena, (const char *[]){"=1", NULL}, &list, &count, &err),
                     -ERR_INVALID);
}

static void overrides(void **state)
{
    assert_int_equal(edge_override_read(NULL), BOARD__EDGE_OPERATION__OVERRIDE__NONE);
    assert_int_equal(edge_override_read("ignore-errors"),
                     BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_ERRORS);
    assert_int_equal(edge_override_read("ignore-crm"), BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM);
    assert_int_equal(edge_override_read("ignore-transient"),
                     BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_TRANSIENT);
    assert_int_equal(edge_override_read("ignore-crm-and-transient"),
                     BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_AND_TRANSIENT);
}

/* ---- What is waited for ---------------------------------------------------------------------- */

static Board__ClusterInstRecord *cluster(const char *uid, const char *cluster_state,
                                         uint64_t request, const char *error)
{
    return record(&board__cluster_inst_record__descriptor,
                  arena_printf(&arena,
                               "{'name':'" CLUSTER "','uid':'%s','state':'%s','request':%llu,"
                               "'operation':{'word':'update','error':'%s'}}",
                               uid, cluster_state, (unsigned long long)request, error));
}

static void how_a_look_ends(void **state)
{
    static const struct {
        struct edge_wanted w;
        const char *uid, *state; /* uid NULL = it is not there */
        uint64_t request;
        const char *error, *progress;
        enum edge_end end;
        const char *why;
    } rows[] = {
        /* made */
        {{.uid = NULL},
         NULL,
         "",
         0,
         "",
         NULL,
         EDGE_UNSEEN,
         "it is not there any more: it failed, "
         "or somebody removed it"},
        {{.uid = NULL}, "u", "CREATE_REQUESTED", 1, "", NULL, EDGE_GOES_ON, ""},
        {{.uid = NULL}, "u", "READY", 1, "", NULL, EDGE_READY, ""},
        {{.uid = NULL}, "u", "CREATE_ERROR", 1, "no room", NULL, EDGE_FAILED, "no room"},
        {{.uid = "u", .request = 1},
         NULL,
         "",
         0,
         "",
         "{'end':'failed','error':'no room'}",
         EDGE_FAILED,
         "no room"},
        {{.uid = "u", .request = 1},
         NULL,
         "",
         0,
         "",
         "{'end':'deleted'}",
         EDGE_OTHER,
         "somebody else removed it"},
        {{.uid = "u", .request = 1},
         "v",
         "READY",
         1,
         "",
         NULL,
         EDGE_OTHER,
         "somebody else removed it"},
        /* made over one that a delete has left: the old one is not it */
        {{.former = "u"}, "u", "DELETE_ERROR", 4, "stuck", NULL, EDGE_GOES_ON, ""},
        {{.former = "u"}, "v", "READY", 5, "", NULL, EDGE_READY, ""},
        /* updated */
        {{.uid = "u", .before = 3}, "u", "READY", 3, "", NULL, EDGE_UNCHANGED, ""},
        {{.uid = "u", .before = 3}, "u", "UPDATE_ERROR", 3, "old", NULL, EDGE_GOES_ON, ""},
        {{.uid = "u", .before = 3}, "u", "READY", 4, "", NULL, EDGE_READY, ""},
        {{.uid = "u", .before = 3}, "u", "UPDATE_ERROR", 4, "bad", NULL, EDGE_FAILED, "bad"},
        {{.uid = "u", .before = 3, .request = 4},
         "u",
         "READY",
         5,
         "undone",
         NULL,
         EDGE_FAILED,
         "undone"},
        {{.uid = "u", .before = 3, .request = 4},
         "u",
         "UPDATING",
         5,
         "",
         NULL,
         EDGE_OTHER,
         "somebody else asked for another change: it is UPDATING"},
        /* deleted */
        {{.uid = "u", .before = 3, .goes = true}, NULL, "", 0, "", NULL, EDGE_GONE, ""},
        {{.uid = "u", .before = 3, .goes = true}, "v", "CREATING", 1, "", NULL, EDGE_GONE, ""},
        {{.uid = "u", .before = 3, .goes = true}, "u", "DELETING", 4, "", NULL, EDGE_GOES_ON, ""},
        {{.uid = "u", .before = 3, .goes = true},
         "u",
         "READY",
         5,
         "in use",
         NULL,
         EDGE_FAILED,
         "in use"},
        {{.uid = "u", .before = 3, .request = 4, .goes = true},
         "u",
         "READY",
         4,
         "",
         NULL,
         EDGE_FAILED,
         "it is READY as before"},
        /* an error is no end */
        {{.uid = "u", .request = 4, .takes_errors = true},
         "u",
         "CREATE_ERROR",
         4,
         "bad",
         NULL,
         EDGE_GOES_ON,
         ""},
        {{.uid = "u", .request = 4, .takes_errors = true},
         "u",
         "READY",
         5,
         "",
         NULL,
         EDGE_READY,
         ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct edge_wanted w = rows[i].w;
        struct edge_thing thing;
        const char *why;
        if (rows[i].uid) {
            thing = edge_thing_of_cluster(
                cluster(rows[i].uid, rows[i].state, rows[i].request, rows[i].error));
        }
        const Board__ProgressRecord *p =
            rows[i].progress ? record(&board__progress_record__descriptor, rows[i].progress) : NULL;
        enum edge_end end = edge_look(&arena, &w, rows[i].uid ? &thing : NULL, p, &why);
        if (end != rows[i].end || strcmp(why, rows[i].why) != 0) {
            fail_msg("row %zu: %d, \"%s\"", i, (int)end, why);
        }
    }
}

static void one_that_is_overdue_goes_on(void **state)
{
    struct edge_wanted w = {.noun = "cluster", .name = CLUSTER, .uid = "u", .before = 1};
    Board__ClusterInstRecord *c = cluster("u", "UPDATING", 2, "");
    const char *why;
    c->operation->overdue = true;
    const struct edge_thing thing = edge_thing_of_cluster(c);
    assert_int_equal(edge_look(&arena, &w, &thing, NULL, &why), EDGE_OVERDUE);
    assert_string_equal(edge_end_text(&arena, &w, EDGE_OVERDUE, why),
                        "cluster " CLUSTER ": its time is over, and the site goes on");
    assert_int_equal(w.request, 2);
}

static void ends_have_a_status_and_a_sentence(void **state)
{
    static const struct {
        enum edge_end end;
        int status;
        const char *why, *text;
    } rows[] = {
        {EDGE_READY, 0, "", "a/b is ready"},
        {EDGE_GONE, 0, "", "a/b is gone"},
        {EDGE_UNCHANGED, 0, "", "a/b is as it was: nothing was to do"},
        {EDGE_FAILED, 1, "no room", "cloudlet a/b failed: no room"},
        {EDGE_FAILED, 1, "", "cloudlet a/b failed"},
        {EDGE_UNSEEN, 1, "it went", "cloudlet a/b: it went"},
        {EDGE_OTHER, 4, "it is UPDATING", "cloudlet a/b: it is UPDATING"},
        {EDGE_OVERDUE, 6, "late", "cloudlet a/b: late"},
        {EDGE_GOES_ON, 6, "", "cloudlet a/b is under way: it goes on"},
    };
    const struct edge_wanted w = {.noun = "cloudlet", .name = "a/b"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(edge_end_status(rows[i].end), rows[i].status);
        assert_string_equal(edge_end_text(&arena, &w, rows[i].end, rows[i].why), rows[i].text);
    }
}

static void what_the_progress_alone_tells(void **state)
{
    static const struct {
        const char *end;
        enum edge_end is;
    } rows[] = {
        {"", EDGE_GOES_ON}, {"ready", EDGE_READY}, {"deleted", EDGE_GONE}, {"failed", EDGE_FAILED}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__ProgressRecord p = BOARD__PROGRESS_RECORD__INIT;
        p.end = arena_strdup(&arena, rows[i].end);
        assert_int_equal(edge_end_of(&p), rows[i].is);
    }
}

static void lines_are_shown_once(void **state)
{
    struct edge_wanted w = {.shown = 1};
    const Board__ProgressRecord *p =
        record(&board__progress_record__descriptor,
               "{'lines':[{'number':1,'text':'old'},{'number':2,'text':'begun'},"
               "{'number':7,'text':'a\\u001bb'}]}");
    SCOPED_BUF(out);
    edge_lines(&w, p, false, &out);
    assert_string_equal(buf_string(&out), "2 begun\n7 a?b\n");
    edge_lines(&w, p, false, &out);
    edge_lines(&w, NULL, false, &out);
    assert_string_equal(buf_string(&out), "2 begun\n7 a?b\n");
    w.shown = 6;
    buf_clear(&out);
    edge_lines(&w, p, true, &out);
    assert_string_equal(buf_string(&out), "{\"number\":7,\"text\":\"a\\u001bb\"}\n");
}

static void refreshes_of_all(void **state)
{
    static const struct {
        const char *members;
        bool force, none;
    } rows[] = {
        {"'state':'READY','spec':{'revision':3}", false, true},
        {"'state':'UPDATING','spec':{'revision':3}", false, true},
        {"'state':'READY','spec':{'revision':3}", true, false},
        {"'state':'READY','spec':{'revision':2}", false, false},
        {"'state':'UPDATE_ERROR','spec':{'revision':3}", false, false},
        {"'state':'READY'", false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const Board__AppInstRecord *one = record(&board__app_inst_record__descriptor,
                                                 arena_printf(&arena, "{%s}", rows[i].members));
        assert_int_equal(edge_needs_no_refresh(one, 3, rows[i].force), rows[i].none);
    }
    assert_string_equal(edge_refreshed_text(&arena, &(struct edge_refreshed){42, 17, 2, 1}),
                        "20 of 42: 17 updated, 2 skipped, 1 failed");
    assert_string_equal(edge_refreshed_text(&arena, &(struct edge_refreshed){3, 1, 0, 0, 2}),
                        "3 of 3: 1 updated, 0 skipped, 0 failed, 2 under way");
}

/* ---- What is shown --------------------------------------------------------------------------- */

static struct edge_board board_of(const char *info_state, const char *health)
{
    return (struct edge_board){
        .now_ns = NOW,
        .cloudlets = record(
            &board__edge_cloudlets_response__descriptor,
            "{'cloudlets':[{'name':'" SITE "','uid':'c','state':'READY','since':940000000000,"
            "'version':'1.0','spec':{'latitude':48.5,'longitude':2}},"
            "{'name':'acme/rome','uid':'r','state':'CREATING','since':940000000000}]}"),
        .infos = record(&board__edge_infos_response__descriptor,
                        arena_printf(&arena,
                                     "{'infos':[{'name':'" SITE "','state':'%s','cells':2,"
                                     "'since':940000000000,'totals':{'memory_mb':2048},"
                                     "'foreign_objects':3}]}",
                                     info_state)),
        .refs = record(&board__edge_refs_response__descriptor,
                       "{'refs':[{'cloudlet':'" SITE "','used':{'memory_mb':512},'clusters':1,"
                       "'instances':1}]}"),
        .maintenance = record(&board__edge_maintenance_response__descriptor,
                              "{'maintenance':[{'name':'acme/rome','state':'UNDER_MAINTENANCE'}]}"),
        .clusters = record(
            &board__edge_clusters_response__descriptor,
            "{'clusters':[{'name':'" CLUSTER "','uid':'k','state':'UPDATE_ERROR',"
            "'since':940000000000,'spec':{'flavor':'small','nodes':2},"
            "'operation':{'word':'update','since':940000000000,'error':'no room for 2 nodes'},"
            "'reported':{'health':'OK'}}]}"),
        .instances = record(
            &board__edge_instances_response__descriptor,
            arena_printf(&arena,
                         "{'instances':[{'name':'" INSTANCE "','uid':'i','state':'READY',"
                         "'since':940000000000,'uri':'shop.example','spec':{'flavor':'small',"
                         "'revision':3,'instances':2,'ports':[{'internal':80,'public':8080}]},"
                         "'reported':{'health':'%s','running':1,'endpoints':['10.0.0.1:80']}}]}",
                         health)),
    };
}

typedef void table_of(struct arena *a, const struct edge_board *b, struct buf *out);

static void shown(table_of *table, const struct edge_board *b, const char *expected)
{
    SCOPED_BUF(out);
    table(&arena, b, &out);
    assert_string_equal(buf_string(&out), expected);
}

static void tables_of_what_is_there(void **state)
{
    struct edge_board b = board_of("READY", "SERVER_FAIL");
    shown(edge_cloudlets_table, &b,
          "CLOUDLET    STATE                        SITE   VERSION  CLUSTERS  "
          "APPS  MEMORY          HEALTH           SINCE\n"
          "acme/paris  READY                        READY  1.0      1         1  "
          "   512 of 2048 MB  DEGRADED 1 of 1  60s\n"
          "    foreign objects: 3; bbs cloudlets confirm acme/paris lets the site "
          "remove them\n"
          "acme/rome   CREATING, UNDER_MAINTENANCE  -      -        0         0  "
          "   -               -                60s\n");
    shown(edge_clusters_table, &b,
          "CLUSTER             STATE         KIND   FLAVOR  NODES  APPS  HEALTH  "
          "     SINCE\n"
          "acme/paris/dev/web  UPDATE_ERROR  quota  small   2      1     "
          "SERVER_FAIL  60s\n"
          "    no room for 2 nodes\n");
    shown(edge_instances_table, &b,
          "APPINST                          STATE  FLAVOR  REVISION  RUNNING  "
          "HEALTH       SINCE\n"
          "acme/paris/dev/web/dev/shop/1.0  READY  small   3         1 of 2   "
          "SERVER_FAIL  60s\n");
}

static void nobody_hears_the_site(void **state)
{
    struct edge_board b = board_of("OFFLINE", "OK");
    assert_string_equal(edge_instance_health(&b, b.instances->instances[0]), "CLOUDLET_OFFLINE");
    assert_string_equal(edge_cluster_health(&b, b.clusters->clusters[0]), "CLOUDLET_OFFLINE");
    assert_string_equal(edge_cloudlet_health(&arena, &b, b.cloudlets->cloudlets[0]), "OFFLINE");
}

static void health_of_what_is_below(void **state)
{
    struct edge_board b = board_of("READY", "OK");
    assert_string_equal(edge_instance_health(&b, b.instances->instances[0]), "OK");
    assert_string_equal(edge_cluster_health(&b, b.clusters->clusters[0]), "OK");
    assert_string_equal(edge_cloudlet_health(&arena, &b, b.cloudlets->cloudlets[0]), "OK");
    assert_string_equal(edge_cloudlet_health(&arena, &b, b.cloudlets->cloudlets[1]), "-");
    b.instances->instances[0]->reported->health = arena_strdup(&arena, "");
    assert_string_equal(edge_instance_health(&b, b.instances->instances[0]), "UNKNOWN");
    assert_string_equal(edge_cluster_health(&b, b.clusters->clusters[0]), "UNKNOWN");
    assert_string_equal(edge_cloudlet_health(&arena, &b, b.cloudlets->cloudlets[0]), "OK");
    b.instances->instances[0]->real_cluster = arena_strdup(&arena, "acme/paris/corkboard/r0");
    assert_string_equal(edge_cluster_health(&b, b.clusters->clusters[0]), "OK");
    b.cloudlets->cloudlets[0]->state = arena_strdup(&arena, "UPDATE_ERROR");
    assert_string_equal(edge_cloudlet_health(&arena, &b, b.cloudlets->cloudlets[0]),
                        "NEEDS REPAIR");
}

static void one_at_length(void **state)
{
    struct edge_board b = board_of("READY", "OK");
    SCOPED_BUF(out);
    edge_cloudlet_show(&arena, &b, b.cloudlets->cloudlets[0], &out);
    assert_string_equal(buf_string(&out),
                        "cloudlet     acme/paris\n"
                        "state        READY for 60s\n"
                        "uid          c\n"
                        "health       OK\n"
                        "version      1.0\n"
                        "location     48.5,2\n"
                        "alert        80%\n"
                        "site         READY for 60s, 2 cells\n"
                        "totals       2048 MB memory, 0 MB disk, 0 containers\n"
                        "given out    512 MB memory, 0 MB disk, 0 containers\n"
                        "foreign      3 objects: bbs cloudlets confirm acme/paris lets the "
                        "site remove them\n");
    buf_clear(&out);
    /* a quota of memory alone; more than its alert is given out of that */
    Board__EdgeResources quota = BOARD__EDGE_RESOURCES__INIT;
    quota.memory_mb = 600;
    b.cloudlets->cloudlets[0]->spec->quota = &quota;
    edge_cloudlet_show(&arena, &b, b.cloudlets->cloudlets[0], &out);
    assert_non_null(strstr(buf_string(&out), "\nquota        600 MB memory\n"));
    assert_non_null(strstr(buf_string(&out), "\nwarning      acme/paris has given out 512 of "
                                             "600 MiB memory, more than 80 %\n"));
    buf_clear(&out);
    edge_cluster_show(&arena, &b, b.clusters->clusters[0], &out);
    assert_string_equal(buf_string(&out),
                        "cluster      acme/paris/dev/web\n"
                        "state        UPDATE_ERROR for 60s\n"
                        "operation    update for 60s\n"
                        "error        no room for 2 nodes\n"
                        "uid          k\n"
                        "health       OK\n"
                        "kind         quota\n"
                        "nodes        2 of flavor small\n"
                        "app          acme/paris/dev/web/dev/shop/1.0, READY, OK\n");
    buf_clear(&out);
    edge_instance_show(&arena, &b, b.instances->instances[0], &out);
    assert_string_equal(buf_string(&out), "app instance acme/paris/dev/web/dev/shop/1.0\n"
                                          "state        READY for 60s\n"
                                          "uid          i\n"
                                          "health       OK\n"
                                          "running      1 of 2\n"
                                          "cluster      acme/paris/dev/web\n"
                                          "flavor       small\n"
                                          "revision     3\n"
                                          "uri          shop.example\n"
                                          "port         tcp 80, public 8080\n"
                                          "endpoint     10.0.0.1:80\n");
}

static void a_tree_of_sites(void **state)
{
    struct edge_board b = board_of("READY", "OK");
    Board__AppInstRecord *more[] = {
        b.instances->instances[0],
        record(&board__app_inst_record__descriptor,
               "{'name':'acme/paris/dev/autocluster1/dev/shop/"
               "1.0','state':'READY','real_cluster':'" CLUSTER
               "','spec':{'instances':1,'revision':4},'reported':{'health':'OK',"
               "'running':1,'runtime_ids':['g-1'],'endpoints':['10.0.0.2:80']}}"),
        record(&board__app_inst_record__descriptor,
               "{'name':'acme/paris/dev/autocluster2/dev/shop/1.0',"
               "'state':'CREATING_DEPENDENCIES','real_cluster':'acme/paris/corkboard/reservable0',"
               "'spec':{'instances':1,'revision':4}}"),
    };
    Board__EdgeInstancesResponse all = BOARD__EDGE_INSTANCES_RESPONSE__INIT;
    all.n_instances = 3;
    all.instances = more;
    b.instances = &all;
    SCOPED_BUF(out);
    edge_tree(&arena, &b, &out);
    assert_string_equal(buf_string(&out),
                        "NAME                                          STATE               "
                        "   HEALTH   WHAT\n"
                        "acme/paris                                    READY               "
                        "   OK       READY, version 1.0\n"
                        "  dev/web                                     UPDATE_ERROR        "
                        "   OK       2 of flavor small\n"
                        "    error: no room for 2 nodes\n"
                        "    dev/shop/1.0                              READY               "
                        "   OK       1 of 2 of revision 3\n"
                        "    acme/paris/dev/autocluster1/dev/shop/1.0  READY               "
                        "   OK       1 of 1 of revision 4\n"
                        "      g-1                                     -                   "
                        "   -        10.0.0.2:80\n"
                        "  dev/autocluster2/dev/shop/1.0               "
                        "CREATING_DEPENDENCIES  UNKNOWN  0 of 1 of revision 4\n"
                        "acme/rome                                     CREATING            "
                        "   -        no crm has come\n");
}

static void tables_of_what_may_run(void **state)
{
    SCOPED_BUF(out);
    edge_flavors_table(
        &arena,
        record(&board__edge_flavors_response__descriptor,
               "{'flavors':[{'name':'small','size':{'memory_mb':512,'disk_mb':1024,"
               "'containers':16,'placement_tags':['gpu','ssd']},'since':940000000000}]}"),
        NOW, 0, &out);
    assert_string_equal(buf_string(&out), "FLAVOR  MEMORY  DISK     CONTAINERS  TAGS      SINCE\n"
                                          "small   512 MB  1024 MB  16          gpu, ssd  60s\n");
    buf_clear(&out);
    edge_apps_table(&arena,
                    record(&board__edge_apps_response__descriptor,
                           "{'apps':[{'name':'dev/shop/1.0','revision':3,"
                           "'since':940000000000}]}"),
                    NOW, 0, &out);
    assert_string_equal(buf_string(&out), "APP           REVISION  SINCE\n"
                                          "dev/shop/1.0  3         60s\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(locations),
        cmocka_unit_test(environments),
        cmocka_unit_test(overrides),
        cmocka_unit_test(how_a_look_ends),
        cmocka_unit_test(one_that_is_overdue_goes_on),
        cmocka_unit_test(ends_have_a_status_and_a_sentence),
        cmocka_unit_test(what_the_progress_alone_tells),
        cmocka_unit_test(lines_are_shown_once),
        cmocka_unit_test(refreshes_of_all),
        cmocka_unit_test(tables_of_what_is_there),
        cmocka_unit_test(nobody_hears_the_site),
        cmocka_unit_test(health_of_what_is_below),
        cmocka_unit_test(one_at_length),
        cmocka_unit_test(a_tree_of_sites),
        cmocka_unit_test(tables_of_what_may_run),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests_name("the command line of a centre", tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
