/* Sites as the centre has them: each move about a cloudlet, what its CRM says of itself, its
 * maintenance, and what was told (bbs/edge), row by row. What each comes to, with what is compared,
 * stands in test/decide/expected/cloudlets.txt; `test_cloudlets print` prints it. */
#include "bbs/edge/edge.h"
#include "common/base/version.h"
#include "test/decide/edge_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

#define EXPECTED "test/decide/expected/cloudlets.txt"

#define NAME "'name':'acme/paris','uid':'U'"
#define S "000000000"
#define C(state, more)                                                                             \
    "cloudlet/acme/paris {" NAME ",'state':'" state "','since':900" S ",'request':1,"              \
    "'spec':{'latitude':48.8,'longitude':2.3,'alert_percent':80}" more "}\n"
#define I(state, session, more)                                                                    \
    "cloudletinfo/acme/paris {" NAME ",'state':'" state "','since':900" S ",'session':" session    \
    ",'identity':'X'" more "}\n"
#define M(state, more)                                                                             \
    "maintenance/acme/paris {" NAME ",'state':'" state "','since':900" S ",'request':1" more "}\n"
#define REFS "refs/acme/paris {'cloudlet':'acme/paris'}\n"
#define NORMAL M("NORMAL_OPERATION", "") REFS
#define OP(word, more) ",'operation':{'word':'" word "','limit_ns':60" S more "}"
#define V1 ",'version':'1','target_version':'1','identity':'X'"
#define CREATING C("CREATING", OP("create", ",'deadline':2000" S)) NORMAL
#define READY C("READY", V1) I("READY", "3", ",'version':'1'") NORMAL
#define UP ",'version':'1','target_version':'2','upgrading':true,'identity':'X'"
#define REQUESTED                                                                                  \
    C("UPDATE_REQUESTED", UP OP("upgrade", "")) I("READY", "3", ",'version':'1'") NORMAL
#define UPDATING C("UPDATING", UP OP("upgrade", "")) I("UPGRADE", "3", ",'version':'1'") NORMAL
#define V2_IN                                                                                      \
    C("CRM_INITOK", UP OP("upgrade", ""))                                                          \
    I("NEED_SYNC", "4", ",'version':'2','former_session':3,'former_version':'1'") NORMAL
#define FAILED                                                                                     \
    C("UPDATE_ERROR",                                                                              \
      ",'version':'1','target_version':'2','identity':'X'" OP("upgrade", ",'error':'no v2'"))      \
    I("ERRORS", "3", ",'version':'1','former_session':4") NORMAL
#define CLUSTER(state, more)                                                                       \
    "clusterinst/acme/paris/dev/web {'name':'acme/paris/dev/web','uid':'c','state':'" state        \
    "'" more "}\n"
#define OWN_CLUSTER                                                                                \
    "clusterinst/acme/paris/corkboard/reservable0 {'name':'acme/paris/corkboard/reservable0',"     \
    "'state':'READY','automatic':true}\n"
#define INST(n, state)                                                                             \
    "appinst/acme/paris/dev/web/dev/shop/" n " {'name':'acme/paris/dev/web/dev/shop/" n            \
    "','state':'" state "'}\n"

#define ON " cloudlet/acme/paris "
#define CRM "crm acme/paris"
#define SAID(more) "{'uid':'U','board_generation':'E','identity':'X'" more "}"
#define SAY(more) SAID(",'request':1" more)
#define V "converger"
#define JUDGED "{'uid':'U','request':1}"
#define PLACE "'cloudlet':{'latitude':48.8,'longitude':2.3}"

static const struct edge_row cloudlets[] = {
    /* A client's. */
    {"made", "", "client", "create" ON "{" PLACE ",'version':'1'}"},
    {"made, in another time", EDGE_SETTING("cloudlet_create", "60"), "client",
     "create" ON "{" PLACE "}"},
    {"there already", READY, "client", "create" ON "{" PLACE "}"},
    {"without a location", "", "client", "create" ON "{}"},
    {"at 0,0", "", "client", "create" ON "{'cloudlet':{'alert_percent':101}}"},
    {"beyond the poles", "", "client", "create" ON "{'cloudlet':{'latitude':91,'longitude':181}}"},
    {"a name that is none", "", "client", "create cloudlet/acme {" PLACE "}"},
    {"an override that is none", "", "client", "create" ON "{" PLACE ",'override':9}"},
    {"another quota", READY, "client",
     "update" ON "{'cloudlet':{'latitude':1,'longitude':2,'quota':{'memory_mb':64}}}"},
    {"the same", READY, "client", "update" ON "{" PLACE "}"},
    {"nothing", READY, "client", "update" ON "{}"},
    {"another site may come", READY, "client", "update" ON "{'replace_site':true}"},
    {"it may prune", READY, "client", "update" ON "{'force':true}"},
    {"of none", "", "client", "update" ON "{" PLACE "}"},
    {"while it is upgraded", UPDATING, "client", "update" ON "{'replace_site':true}"},
    {"another version", READY, "client", "upgrade" ON "{'version':'2'}"},
    {"another version, in another time", READY EDGE_SETTING("upgrade", "180"), "client",
     "upgrade" ON "{'version':'2'}"},
    {"no version", READY, "client", "upgrade" ON "{}"},
    {"the same version", READY, "client", "upgrade" ON "{'version':'1'}"},
    {"one below the centre's own",
     C("READY", ",'version':'0.0.1','identity':'X'") I("READY", "3", ",'version':'0.0.1'") NORMAL,
     "client", "upgrade" ON "{'version':'0.0.9'}"},
    {"the centre's own",
     C("READY", ",'version':'0.0.1','identity':'X'") I("READY", "3", ",'version':'0.0.1'") NORMAL,
     "client", "upgrade" ON "{'version':'" CORKBOARD_VERSION "'}"},
    {"a lower one", READY, "client", "upgrade" ON "{'version':'0.9'}"},
    {"in maintenance", C("READY", V1) I("READY", "3", "") M("UNDER_MAINTENANCE", "") REFS, "client",
     "upgrade" ON "{'version':'2'}"},
    {"offline", C("READY", V1) I("OFFLINE", "3", "") NORMAL, "client",
     "upgrade" ON "{'version':'2'}"},
    {"beside an operation", READY CLUSTER("UPDATING", ""), "client",
     "upgrade" ON "{'version':'2'}"},
    {"beside one of an instance", READY INST("1", "CREATING"), "client",
     "upgrade" ON "{'version':'2'}"},
    {"twice", UPDATING, "client", "upgrade" ON "{'version':'3'}"},
    {"the failed one again, higher", FAILED, "client", "upgrade" ON "{'version':'3'}"},
    {"the version that runs is kept",
     C("UPDATE_ERROR", ",'version':'1','target_version':'2'") I("READY", "3", ",'version':'1'")
         NORMAL,
     "client", "upgrade" ON "{'version':'1'}"},
    {"a site without a CRM goes at once", CREATING, "client", "delete" ON "{}"},
    {"a site goes", READY, "client", "delete" ON "{'override':'IGNORE_CRM_ERRORS'}"},
    {"a site that is no more goes", READY, "client", "delete" ON "{'override':'IGNORE_CRM'}"},
    {"not with what is there",
     READY CLUSTER("READY", "") INST("1", "READY") INST("2", "READY") INST("3", "READY"), "client",
     "delete" ON "{}"},
    {"not so either", READY CLUSTER("READY", ""), "client",
     "delete" ON "{'override':'IGNORE_CRM'}"},
    {"with clusters of its own", READY OWN_CLUSTER, "client", "delete" ON "{}"},
    {"a delete that hangs", C("DELETING", V1 OP("delete", "")) I("OFFLINE", "3", "") NORMAL,
     "client", "delete" ON "{'override':'IGNORE_CRM'}"},
    {"once more", C("DELETING", V1 OP("delete", "")) I("READY", "3", "") NORMAL, "client",
     "delete" ON "{}"},
    /* A CRM comes. */
    {"nobody said so", "", CRM, "init" ON SAY(",'session':1,'version':'1'")},
    {"the first", CREATING, CRM, "init" ON SAY(",'session':1,'version':'1'")},
    {"of another cloudlet", CREATING, "crm acme/rome", "init" ON SAY(",'session':1")},
    {"of another generation", CREATING, CRM,
     "init" ON "{'uid':'U','board_generation':'D','identity':'X','session':1}"},
    {"of another life", CREATING, CRM,
     "init" ON "{'uid':'T','board_generation':'E','identity':'X','session':1}"},
    {"without an identity", CREATING, CRM,
     "init" ON "{'uid':'U','board_generation':'E','session':1}"},
    {"begun again", READY, CRM, "init" ON SAY(",'session':4,'version':'1'")},
    {"with a session that was", READY, CRM, "init" ON SAY(",'session':3,'version':'1'")},
    {"at another site", READY, CRM,
     "init" ON "{'uid':'U','board_generation':'E','identity':'Y','session':4,'version':'1'}"},
    {"at another site, as said", C("READY", V1 ",'replace_site':true") I("READY", "3", "") NORMAL,
     CRM, "init" ON "{'uid':'U','board_generation':'E','identity':'Y','session':4,'version':'1'}"},
    {"upgraded by hand", READY, CRM, "init" ON SAY(",'session':4,'version':'2'")},
    {"after it never came", C("CREATE_ERROR", OP("create", ",'error':'late'")) NORMAL, CRM,
     "init" ON SAY(",'session':1,'version':'1'")},
    {"v1 again", UPDATING, CRM, "init" ON SAY(",'session':4,'version':'1'")},
    {"v2", UPDATING, CRM, "init" ON SAY(",'session':4,'version':'2'")},
    {"v2 before v1 said so", REQUESTED, CRM, "init" ON SAY(",'session':4,'version':'2'")},
    {"v2 again", V2_IN, CRM, "init" ON SAY(",'session':5,'version':'2'")},
    {"v1 when v2 is there", V2_IN, CRM, "init" ON SAY(",'session':5,'version':'1'")},
    {"v2 repaired by hand", FAILED, CRM, "init" ON SAY(",'session':5,'version':'2'")},
    {"with the session of the v2 that failed", FAILED, CRM,
     "init" ON SAY(",'session':4,'version':'2'")},
    {"in a delete", C("DELETING", V1 OP("delete", "")) I("READY", "3", "") NORMAL, CRM,
     "init" ON SAY(",'session':4,'version':'1'")},
    /* It is ready, or not. */
    {"ready", C("CRM_INITOK", OP("create", "")) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" ON SAY(",'session':3,'version':'1','leads_site':true,'cells':1,"
                    "'totals':{'memory_mb':1024,'disk_mb':4096,'containers':16}")},
    {"before the sync", C("CRM_INITOK", OP("create", "")) I("INIT", "3", "") NORMAL, CRM,
     "ready" ON SAY(",'session':3,'version':'1','leads_site':true")},
    {"beside another CRM", C("CRM_INITOK", OP("create", "")) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" ON SAY(",'session':3,'version':'1'")},
    {"of an older session", C("CRM_INITOK", OP("create", "")) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" ON SAY(",'session':2,'version':'1','leads_site':true")},
    {"of v1's session", V2_IN, CRM, "ready" ON SAY(",'session':3,'version':'1','leads_site':true")},
    {"of another version", C("CRM_INITOK", ",'target_version':'2'") I("NEED_SYNC", "3", "") NORMAL,
     CRM, "ready" ON SAY(",'session':3,'version':'1','leads_site':true")},
    {"v2 ready", V2_IN, CRM, "ready" ON SAY(",'session':4,'version':'2','leads_site':true")},
    {"v1 goes on", FAILED, CRM, "ready" ON SAY(",'session':3,'version':'1','leads_site':true")},
    {"it never was", C("CRM_INITOK", OP("create", "")) I("INIT", "3", "") NORMAL, CRM,
     "fail" ON SAY(",'session':3,'error':'no cell'")},
    {"it was before", C("CRM_INITOK", V1) I("INIT", "3", "") NORMAL, CRM,
     "fail" ON SAY(",'session':3")},
    {"v1 begins", REQUESTED, CRM, "upgrading" ON SAY(",'session':3,'version':'1'")},
    {"v2 begins", REQUESTED, CRM, "upgrading" ON SAY(",'session':3,'version':'2'")},
    {"v1 could not, in an upgrade before", UPDATING, CRM,
     "fail" ON SAID(",'session':3,'request':0,'version':'1','error':'no v2'")},
    {"v1 could not", UPDATING, CRM, "fail" ON SAY(",'session':3,'version':'1','error':'no v2'")},
    {"v1 says that v2 is not up", V2_IN, CRM,
     "fail" ON SAY(",'session':3,'version':'1','error':'v2 is gone'")},
    {"v2 says so", V2_IN, CRM, "fail" ON SAY(",'session':4,'version':'2','error':'no cell'")},
    {"it lets go", C("DELETE_REQUESTED", V1 OP("delete", "")) I("READY", "3", "") NORMAL, CRM,
     "deleting" ON SAY(",'session':3")},
    {"it has let go", C("DELETING", V1 OP("delete", "")) I("READY", "3", "") NORMAL, CRM,
     "deleted" ON SAY(",'session':3")},
    {"it has, in a delete before", C("DELETING", V1 OP("delete", "")) I("READY", "3", "") NORMAL,
     CRM, "deleted" ON SAID(",'session':3,'request':2")},
    {"it has, and is gone", "", CRM, "deleted" ON SAY(",'session':3")},
    {"it could not let go", C("DELETING", V1 OP("delete", "")) I("READY", "3", "") NORMAL, CRM,
     "fail" ON SAY(",'session':3,'error':'left behind: a slice'")},
    /* The converger. */
    {"nothing is there", C("DELETE_PREPARE", V1 OP("delete", "")) NORMAL, V, "proceed" ON JUDGED},
    {"nothing is there, and the site has another time",
     C("DELETE_PREPARE", V1 OP("delete", "")) NORMAL EDGE_SETTING("cloudlet_delete", "30"), V,
     "proceed" ON JUDGED},
    {"something is", C("DELETE_PREPARE", V1 OP("delete", "")) NORMAL CLUSTER("DELETING", ""), V,
     "proceed" ON JUDGED},
    {"another request", C("DELETE_PREPARE", V1 OP("delete", "")) NORMAL, V,
     "proceed" ON "{'uid':'U','request':2}"},
    {"another life", C("DELETE_PREPARE", V1 OP("delete", "")) NORMAL, V,
     "proceed" ON "{'uid':'T','request':1}"},
    {"it does not go", C("DELETE_PREPARE", V1 OP("delete", ",'found':'READY'")) NORMAL, V,
     "refuse" ON "{'uid':'U','request':1,'error':'dev/web is used'}"},
    {"no CRM came", C("CREATING", OP("create", ",'deadline':1000" S)) NORMAL, V,
     "expire" ON JUDGED},
    {"not yet", C("CREATING", OP("create", ",'deadline':1001" S)) NORMAL, V, "expire" ON JUDGED},
    {"no v2 came", C("UPDATING", UP OP("upgrade", ",'deadline':999" S)) NORMAL, V,
     "expire" ON JUDGED},
    {"v2 is late", C("CRM_INITOK", UP OP("upgrade", ",'deadline':999" S)) NORMAL, V,
     "expire" ON JUDGED},
    {"it was ready, and gathers long", C("CRM_INITOK", V1) NORMAL, V, "expire" ON JUDGED},
    {"it lets go for long", C("DELETING", V1 OP("delete", ",'deadline':999" S)) NORMAL, V,
     "expire" ON JUDGED},
    {"what has to go does not",
     C("DELETE_PREPARE", V1 OP("delete", ",'found':'UPDATE_ERROR','deadline':999" S)) NORMAL, V,
     "expire" ON JUDGED},
    {"a delete is taken back",
     C("DELETE_ERROR", V1 OP("delete", ",'found':'CREATE_ERROR','error':'why'")) NORMAL, V,
     "undo" ON JUDGED},
    {"a state that nobody knows", C("SLEEPING", V1) NORMAL, "client", "delete" ON "{}"},
};

#define OF " cloudletinfo/acme/paris "
static const struct edge_row infos[] = {
    {"it has the records", C("CRM_INITOK", "") I("INIT", "3", "") NORMAL, CRM,
     "sync" OF SAY(",'session':3")},
    {"of an older session", C("CRM_INITOK", "") I("INIT", "3", "") NORMAL, CRM,
     "sync" OF SAY(",'session':2")},
    {"of none", C("CRM_INITOK", "") I("INIT", "3", "") NORMAL, CRM, "sync" OF SAY("")},
    {"twice", C("CRM_INITOK", "") I("NEED_SYNC", "3", "") NORMAL, CRM,
     "sync" OF SAY(",'session':3")},
    {"of another cloudlet", C("CRM_INITOK", "") I("INIT", "3", "") NORMAL, "crm acme/rome",
     "sync" OF SAY(",'session':3")},
    {"it has another cell", READY, CRM,
     "report" OF SAY(",'session':3,'cells':2,'totals':{'memory_mb':2048},'errors':['no tag']")},
    {"all is as it was", READY, CRM, "report" OF SAY(",'session':3")},
    {"errors beyond their bound", READY, CRM,
     "report" OF SAY(",'session':3,'errors':['','','','','','','','','','','','','','','','','']")},
    {"what the centre does not know", READY, CRM,
     "report" OF SAY(",'session':3,'foreign_objects':3,'foreign':['cluster a/b/c/d']")},
    {"too many of them by name", READY, CRM,
     "report" OF SAY(",'session':3,'foreign':['','','','','','','','','']")},
    {"the site's bbs is gone", READY, CRM, "fail" OF SAY(",'session':3,'errors':['no bbs']")},
    {"and is back", C("READY", V1) I("ERRORS", "3", ",'errors':['no bbs']") NORMAL, CRM,
     "ready" OF SAY(",'session':3,'leads_site':true")},
    {"gone, of an older session", READY, CRM, "fail" OF SAY(",'session':2,'errors':['no bbs']")},
    {"nobody is there", "", CRM, "report" OF SAY(",'session':3")},
    {"silent", READY, V, "offline" OF "{'session':3}"},
    {"silent in another session", READY, V, "offline" OF "{'session':2}"},
    {"silent, and gone", "", V, "offline" OF "{'session':2}"},
    {"back", C("READY", V1) I("OFFLINE", "3", "") NORMAL, CRM, "back" OF SAY(",'session':3")},
    {"back when it never was away", READY, CRM, "back" OF SAY(",'session':3")},
    {"back, and compared", C("READY", V1) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" OF SAY(",'session':3,'leads_site':true")},
    {"beside another CRM", C("READY", V1) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" OF SAY(",'session':3")},
    {"in an older session", C("READY", V1) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" OF SAY(",'session':2,'leads_site':true")},
    {"a cloudlet's own", C("CRM_INITOK", V1) I("NEED_SYNC", "3", "") NORMAL, CRM,
     "ready" OF SAY(",'session':3,'leads_site':true")},
    {"a client's", READY, "client", "offline" OF "{'session':3}"},
};

#define AT " maintenance/acme/paris "
#define DURING(state, more) C("READY", V1) I("READY", "3", "") M(state, more) REFS
#define USE(inst)                                                                                  \
    "use/app%2Fdev%2Fshop%2F1/appinst%2F" inst                                                     \
    "%2Fdev%2Fweb%2Fdev%2Fshop%2F1 {'referred':'app/dev/shop/1'}\n"
static const struct edge_row maintenance[] = {
    {"begun", READY, "client", "start" AT "{}"},
    {"begun, whatever runs there", READY, "client", "start_no_failover" AT "{}"},
    {"begun, and the CRM has another time", READY EDGE_SETTING("maintenance_answer", "10"),
     "client", "start_no_failover" AT "{}"},
    {"of none", "", "client", "start" AT "{}"},
    {"while it is offline", C("READY", V1) I("OFFLINE", "3", "") NORMAL, "client", "start" AT "{}"},
    {"twice", DURING("CRM_REQUESTED", ""), "client", "start" AT "{}"},
    {"nothing runs there alone", DURING("FAILOVER_REQUESTED", ""), V, "failed_over" AT JUDGED},
    {"something does", DURING("FAILOVER_REQUESTED", "") INST("1", "READY") USE("acme%2Fparis"), V,
     "failed_over" AT JUDGED},
    {"it runs elsewhere too",
     DURING("FAILOVER_REQUESTED", "") INST("1", "READY") USE("acme%2Fparis") USE("acme%2Frome"), V,
     "failed_over" AT JUDGED},
    {"another request", DURING("FAILOVER_REQUESTED", ""), V,
     "failed_over" AT "{'uid':'U','request':2}"},
    {"the CRM agrees", DURING("CRM_REQUESTED", ""), CRM,
     "under_maintenance" AT SAY(",'session':3")},
    {"it does not", DURING("CRM_REQUESTED", ""), CRM,
     "fail" AT SAY(",'session':3,'error':'a backup runs'")},
    {"to an older request", DURING("CRM_REQUESTED", ""), CRM,
     "under_maintenance" AT SAID(",'session':3")},
    {"in an older session", DURING("CRM_REQUESTED", ""), CRM,
     "under_maintenance" AT SAY(",'session':2")},
    {"no answer", DURING("CRM_REQUESTED", ",'deadline':1000" S), V, "expire" AT JUDGED},
    {"none yet", DURING("CRM_REQUESTED", ",'deadline':1001" S), V, "expire" AT JUDGED},
    {"given up", DURING("CRM_REQUESTED", ""), "client", "end" AT "{}"},
    {"ended", DURING("UNDER_MAINTENANCE", ""), "client", "end" AT "{}"},
    {"it never was", READY, "client", "end" AT "{}"},
    {"the CRM knows", DURING("NORMAL_OPERATION_INIT", ""), CRM, "normal" AT SAY(",'session':3")},
};

#define OVER " progress/c "
#define TOLD(more)                                                                                 \
    "progress/c {'kind':'clusterinst','name':'acme/paris/dev/web','uid':'c','request':4,"          \
    "'word':'create'" more "}\n"
#define KNOWN "{'uid':'c','request':4}"
static const struct edge_row told[] = {
    {"over for as long as it is kept", TOLD(",'end':'ready','ended_at':400" S), V,
     "forget" OVER KNOWN},
    {"not yet", TOLD(",'end':'ready','ended_at':401" S), V, "forget" OVER KNOWN},
    {"its object is gone", TOLD(",'end':'deleted','ended_at':399" S), V, "forget" OVER KNOWN},
    {"it is not over", TOLD(""), V, "forget" OVER KNOWN},
    {"of another operation", TOLD(",'end':'failed','ended_at':400" S), V,
     "forget" OVER "{'uid':'c','request':3}"},
    {"of another life", TOLD(",'end':'failed','ended_at':400" S), V,
     "forget" OVER "{'uid':'b','request':4}"},
    {"kept for less", TOLD(",'end':'failed','ended_at':990" S) EDGE_SETTING("progress_keep", "10"),
     V, "forget" OVER KNOWN},
    {"kept for longer", TOLD(",'end':'failed','ended_at':400" S)
         EDGE_SETTING("progress_keep", "601"), V, "forget" OVER KNOWN},
    {"gone already", "", V, "forget" OVER KNOWN},
    {"a client's", TOLD(",'end':'ready','ended_at':400" S), "client", "forget" OVER KNOWN},
    {"a CRM's", TOLD(",'end':'ready','ended_at':400" S), CRM, "forget" OVER KNOWN},
};

#define TRY(family, rows) edge_rows_try(family, rows, sizeof(rows) / sizeof((rows)[0]), out)

static void try_and_print(struct buf *out)
{
    TRY(&cloudlet_moves, cloudlets);
    buf_append_string(out, "\n# What a CRM says of itself\n");
    TRY(&cloudlet_info_moves, infos);
    buf_append_string(out, "\n# Maintenance\n");
    TRY(&maintenance_moves, maintenance);
    buf_append_string(out, "\n# What was told\n");
    TRY(&progress_moves, told);
}

static void each_move_is_decided_by_its_row(void **state)
{
    SCOPED_BUF(out);
    try_and_print(&out);
    page_equals(EXPECTED, buf_string(&out), "test_cloudlets print > " EXPECTED);
    (void)state;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(out);
        try_and_print(&out);
        fputs(buf_string(&out), stdout);
        return 0;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_move_is_decided_by_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
