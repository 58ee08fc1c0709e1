/* What `bbs cloudlets why`, `clusters why` and `appinsts why` say: a row each of what can hold
 * them. */
#include "bbs/cli/edge/edge_why.h"
#include "common/codec/json.h"
#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define NOW (1000 * SECOND_NS)
#define SITE "acme/paris"
#define CLUSTER "acme/paris/dev/web"
#define INSTANCE "acme/paris/dev/web/dev/shop/1.0"
#define SINCE "'since':940000000000"

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

/* What stands at the cloudlet beside the one that is asked about. */
struct beside {
    const char *cloudlet, *info, *maintenance, *cluster; /* members of each; NULL = it is READY */
};

static struct edge_board board_of(const struct beside *with)
{
    const char *ready = "'state':'READY'," SINCE;
    return (struct edge_board){
        .now_ns = NOW,
        .cloudlets =
            record(&board__edge_cloudlets_response__descriptor,
                   arena_printf(&arena, "{'cloudlets':[{'name':'" SITE "','version':'1',%s}]}",
                                with->cloudlet ? with->cloudlet : ready)),
        .infos = record(&board__edge_infos_response__descriptor,
                        arena_printf(&arena, "{'infos':[{'name':'" SITE "',%s}]}",
                                     with->info ? with->info : ready)),
        .maintenance = record(
            &board__edge_maintenance_response__descriptor,
            arena_printf(&arena, "{'maintenance':[{'name':'" SITE "',%s}]}",
                         with->maintenance ? with->maintenance : "'state':'NORMAL_OPERATION'")),
        .clusters = record(&board__edge_clusters_response__descriptor,
                           arena_printf(&arena, "{'clusters':[{'name':'" CLUSTER "',%s}]}",
                                        with->cluster ? with->cluster : ready)),
    };
}

static const Board__ProgressRecord *progress(const char *end)
{
    return record(&board__progress_record__descriptor,
                  arena_printf(&arena,
                               "{'lines':[{'number':1,'at':1,'text':'old'},{'number':2,"
                               "'at':988000000000,'text':'step 1 of 3'}],'end':'%s'}",
                               end));
}

static void is_told(struct buf *out, size_t row, const char *expected)
{
    if (strcmp(buf_string(out), expected) != 0) {
        fail_msg("row %zu:\n%s\nnot\n%s", row, buf_string(out), expected);
    }
}

/* ---- Clusters and instances ------------------------------------------------------------------ */

static const struct {
    const char *members, *told; /* behind the first line */
    struct beside with;
} cluster_rows[] = {
    {"'state':'READY'", ""},
    {"'state':'READY','operation':{'word':'update','error':'no room'}",
     "  the last update came to nothing: no room\n"},
    {"'state':'CREATE_REQUESTED','operation':{'deadline':1120000000000,'limit_ns':1800000000000}",
     "  the crm of " SITE " is to begin\n  its time is over in 2m, of 30m\n"},
    {"'state':'UPDATE_REQUESTED','operation':{'deadline':940000000000,'limit_ns':1800000000000}",
     "  the crm of " SITE " is to begin\n"
     "  its time has been over for 60s; the converger is to say so\n"},
    {"'state':'DELETE_REQUESTED'", "  the crm of " SITE " is to begin\n"},
    {"'state':'CREATING'", "  the crm of " SITE " makes it\n"},
    {"'state':'UPDATING','operation':{'overdue':true,'limit_ns':1200000000000}",
     "  the crm of " SITE " changes it\n"
     "  no end within 20m: it is neither done nor failed, and goes on; --override "
     "ignore-transient takes it over\n"},
    {"'state':'DELETING'", "  the crm of " SITE " removes it\n"},
    {"'state':'DELETE_PREPARE'",
     "  what depends on it goes first; the converger goes on when nothing does\n"},
    {"'state':'CREATING_DEPENDENCIES'",
     "  a cluster is made for it first; the converger goes on when that is READY\n"},
    {"'state':'CREATE_ERROR','operation':{'error':'no room'}",
     "  it could not be made: no room\n"
     "  the converger removes what is left of it, and the record\n"},
    {"'state':'CREATE_ERROR'", "  it could not be made: nobody says why\n"
                               "  the converger removes what is left of it, and the record\n"},
    {"'state':'UPDATE_ERROR','operation':{'error':'no room'},'spec':{'nodes':3}",
     "  it could not be changed: no room\n"
     "  the new values stand, and what runs is not known; bbs clusters update " CLUSTER
     " --nodes 3 tries again, bbs clusters rm " CLUSTER " deletes it\n"},
    {"'state':'UPDATE_ERROR','operation':{'error':'no room','restored':true}",
     "  it could not be changed: no room\n"
     "  its site says that what it was before runs; the converger puts that back\n"},
    {"'state':'DELETE_ERROR','operation':{'error':'busy','found':'UPDATE_ERROR'}",
     "  it could not be removed: busy\n"
     "  the converger puts back UPDATE_ERROR; bbs clusters rm " CLUSTER " tries again\n"},
    {"'state':'READY','reserved_by':'" INSTANCE "'", "  it is reserved by " INSTANCE "\n"},
    /* its cloudlet */
    {"'state':'CREATING'",
     "  the crm of " SITE " makes it\n"
     "  " SITE " is OFFLINE for 60s: the site goes on with what it was told, and answers when "
     "it is back\n"
     "  changes there are refused: cloudlet " SITE " is offline for 60 s\n",
     {.info = "'state':'OFFLINE'," SINCE}},
    {"'state':'READY'",
     "  changes there are refused: cloudlet " SITE " is in maintenance\n",
     {.maintenance = "'state':'UNDER_MAINTENANCE'"}},
    {"'state':'READY'",
     "  changes there are refused: cloudlet " SITE " is being upgraded\n",
     {.cloudlet = "'state':'UPDATING'"}},
    {"'state':'READY'",
     "  changes there are refused: cloudlet " SITE " needs repair: v2 did not come\n",
     {.cloudlet = "'state':'UPDATE_ERROR','operation':{'error':'v2 did not come'}"}},
};

static void clusters(void **state)
{
    for (size_t i = 0; i < sizeof(cluster_rows) / sizeof(cluster_rows[0]); i++) {
        const struct edge_board b = board_of(&cluster_rows[i].with);
        const Board__ClusterInstRecord *c = record(
            &board__cluster_inst_record__descriptor,
            arena_printf(&arena, "{'name':'" CLUSTER "'," SINCE ",%s}", cluster_rows[i].members));
        SCOPED_BUF(out);
        edge_why_cluster(&arena, &b, c, NULL, &out);
        is_told(&out, i,
                arena_printf(&arena, "cluster " CLUSTER " is %s for 60s\n%s", c->state,
                             cluster_rows[i].told));
    }
}

static void what_was_told_last(void **state)
{
    const struct edge_board b = board_of(&(struct beside){0});
    const Board__ClusterInstRecord *c = record(&board__cluster_inst_record__descriptor,
                                               "{'name':'" CLUSTER "'," SINCE ",'state':'READY'}");
    SCOPED_BUF(out);
    edge_why_cluster(&arena, &b, c, progress(""), &out);
    is_told(&out, 0,
            "cluster " CLUSTER " is READY for 60s\n  what was told last, 12s ago: step 1 of 3\n");
    buf_clear(&out);
    edge_why_cluster(&arena, &b, c, progress("ready"), &out); /* that is over */
    is_told(&out, 1, "cluster " CLUSTER " is READY for 60s\n");
}

static void instances(void **state)
{
    static const struct {
        const char *members, *told;
        struct beside with;
    } rows[] = {
        {"'state':'READY'", ""},
        {"'state':'READY','reported':{'health':'OK','running':2}", ""},
        {"'state':'READY','spec':{'instances':2},'reported':{'health':'SERVER_FAIL','running':1}",
         "  1 of 2 instances run: its site repairs them, and bbs why there says what holds them\n"},
        {"'state':'UPDATE_ERROR','spec':{'flavor':'small'}",
         "  it could not be changed: nobody says why\n"
         "  the new values stand, and what runs is not known; bbs appinsts update " INSTANCE
         " --flavor small tries again, bbs appinsts rm " INSTANCE " deletes it\n"},
        {"'state':'CREATE_REQUESTED'",
         "  the crm of " SITE " is to begin\n"
         "  its cluster " CLUSTER " is UPDATING for 60s: bbs clusters why " CLUSTER "\n",
         {.cluster = "'state':'UPDATING'," SINCE}},
        {"'state':'READY','real_cluster':'" SITE "/corkboard/reservable0'",
         "",
         {.cluster = "'state':'UPDATING'," SINCE}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct edge_board b = board_of(&rows[i].with);
        const Board__AppInstRecord *one =
            record(&board__app_inst_record__descriptor,
                   arena_printf(&arena, "{'name':'" INSTANCE "'," SINCE ",%s}", rows[i].members));
        SCOPED_BUF(out);
        edge_why_instance(&arena, &b, one, NULL, &out);
        is_told(&out, i,
                arena_printf(&arena, "app instance " INSTANCE " is %s for 60s\n%s", one->state,
                             rows[i].told));
    }
}

/* ---- Cloudlets ------------------------------------------------------------------------------- */

static void cloudlets(void **state)
{
    static const struct {
        const char *members, *told;
        struct beside with;
    } rows[] = {
        {"'state':'READY','version':'1'", ""},
        {"'state':'CREATING'",
         "  no crm of " SITE " has come yet: install it at the site (docs/edge.md, The program "
         "crm)\n"
         "  changes there are refused: cloudlet " SITE " was never ready: it is CREATING for 60 "
         "s\n"},
        {"'state':'CRM_INITOK','version':'1'",
         "  the crm of " SITE " has come, and compares its site with what the centre says\n"
         "  changes there are refused: cloudlet " SITE " is not ready: its CRM is NEED_SYNC\n",
         {.info = "'state':'NEED_SYNC'"}},
        {"'state':'CREATE_ERROR','operation':{'error':'no cells'}",
         "  it never was ready: no cells\n"
         "  a crm that comes and gets ready mends it\n"
         "  changes there are refused: cloudlet " SITE " was never ready: it is CREATE_ERROR for "
         "60 s\n"},
        {"'state':'UPDATE_ERROR','version':'1','target_version':'2','operation':{'error':'hung'}",
         "  its upgrade failed: hung\n"
         "  start its crm of version 2 by hand, or bbs cloudlets upgrade " SITE
         " 1 keeps the one that runs\n"
         "  changes there are refused: cloudlet " SITE " needs repair: hung\n"},
        {"'state':'UPDATING','version':'1'",
         "  the other version of the crm of " SITE " is to come\n"
         "  changes there are refused: cloudlet " SITE " is being upgraded\n"},
        {"'state':'DELETING','version':'1'",
         "  the crm of " SITE " lets go of what its site holds\n"
         "  changes there are refused: cloudlet " SITE " is being deleted\n"},
        {"'state':'READY','version':'1'",
         "  its crm says: the bbs is gone\n"
         "  its site holds 3 objects that the centre does not know: bbs cloudlets confirm " SITE
         " lets it remove them\n",
         {.info = "'state':'READY','errors':['the bbs is gone'],'foreign_objects':3"}},
        {"'state':'READY','version':'1'",
         "  its site holds 3 objects (cluster a/b/c/d, app instance u7 and more) that the centre "
         "does not know: bbs cloudlets confirm " SITE " lets it remove them\n",
         {.info = "'state':'READY','foreign_objects':3,"
                  "'foreign':['cluster a/b/c/d','app instance u7']"}},
        {"'state':'READY','version':'1'",
         "  maintenance: UNDER_MAINTENANCE for 60s; bbs cloudlets maintain " SITE " end ends it\n"
         "  changes there are refused: cloudlet " SITE " is in maintenance\n",
         {.maintenance = "'state':'UNDER_MAINTENANCE'," SINCE}},
        {"'state':'READY','version':'1'",
         "  maintenance: NORMAL_OPERATION_INIT for 60s, no answer; its crm is to say that it is "
         "over\n"
         "  changes there are refused: cloudlet " SITE " is in maintenance\n",
         {.maintenance = "'state':'NORMAL_OPERATION_INIT','error':'no answer'," SINCE}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct edge_board b = board_of(&rows[i].with);
        Board__EdgeCloudletsResponse *all =
            record(&board__edge_cloudlets_response__descriptor,
                   arena_printf(&arena, "{'cloudlets':[{'name':'" SITE "'," SINCE ",%s}]}",
                                rows[i].members));
        b.cloudlets = all;
        SCOPED_BUF(out);
        edge_why_cloudlet(&arena, &b, all->cloudlets[0], NULL, &out);
        is_told(&out, i,
                arena_printf(&arena, "cloudlet " SITE " is %s for 60s\n%s",
                             all->cloudlets[0]->state, rows[i].told));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters),
        cmocka_unit_test(what_was_told_last),
        cmocka_unit_test(instances),
        cmocka_unit_test(cloudlets),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests_name("why, at a centre", tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
