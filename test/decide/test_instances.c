/* Clusters and app instances of sites: each move about them (bbs/edge), row by row. What each comes
 * to, with what is compared, stands in test/decide/expected/instances.txt; `test_instances print`
 * prints it. And what is told of each state under each override. */
#include "bbs/edge/edge.h"
#include "common/lifecycle/tracked.h"
#include "test/decide/edge_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

#define EXPECTED "test/decide/expected/instances.txt"

#define S "000000000"
#define SITE(cloudlet, info, more)                                                                 \
    "cloudlet/acme/paris {'name':'acme/paris','uid':'U','state':'" cloudlet                        \
    "','since':900" S ",'version':'1','spec':{}" more "}\n"                                        \
    "cloudletinfo/acme/paris {'name':'acme/paris','uid':'U','state':'" info                        \
    "','since':820" S ",'session':3,'totals':{'memory_mb':4096,'disk_mb':8192,'containers':64}}\n"
#define NORMAL "maintenance/acme/paris {'name':'acme/paris','state':'NORMAL_OPERATION'}\n"
#define NO_REFS "refs/acme/paris {'cloudlet':'acme/paris','used':{}}\n"
#define READY SITE("READY", "READY", "") NORMAL
#define SMALL                                                                                      \
    "flavor/small {'name':'small','size':{'memory_mb':512,'disk_mb':1024,'containers':16}}\n"
#define LARGE                                                                                      \
    "flavor/large {'name':'large','size':{'memory_mb':2048,'disk_mb':1024,'containers':16}}\n"
#define NODE "'flavor':'small','node':{'memory_mb':512,'disk_mb':1024,'containers':16}"
#define REFS_OF(memory, disk, containers, more)                                                    \
    "refs/acme/paris {'cloudlet':'acme/paris','used':{'memory_mb':" memory ",'disk_mb':" disk      \
    ",'containers':" containers "}" more "}\n"
#define CLUSTER_NAMED(name, state, nodes, more)                                                    \
    "clusterinst/" name " {'name':'" name "','uid':'c','state':'" state "','since':988" S          \
    ",'request':1,'digest':'D','spec':{" NODE ",'nodes':" nodes "}" more "}\n"
#define WEB "acme/paris/dev/web"
#define CLUSTER(state, more)                                                                       \
    CLUSTER_NAMED(WEB, state, "2", more)                                                           \
    "use/flavor%2Fsmall/clusterinst%2Facme%2Fparis%2Fdev%2Fweb {'referred':'flavor/small'}\n"
#define HAS_TWO REFS_OF("1024", "2048", "32", ",'clusters':1")
#define OP(word, more) ",'operation':{'word':'" word "','limit_ns':60" S more "}"

#define ON " clusterinst/" WEB " "
#define CRM "crm acme/paris"
#define V "converger"
#define SAY(uid, more) "{'uid':'" uid "','request':1,'session':3,'board_generation':'E'" more "}"
#define JUDGED(uid) "{'uid':'" uid "','request':1}"
#define NODES(n) "'cluster':{'flavor':'small','nodes':" n "}"

#define CLUSTER_ROW(rule, state, more, by, move)                                                   \
    {                                                                                              \
        rule, READY SMALL HAS_TWO CLUSTER(state, more), by, move                                   \
    }

static const struct edge_row clusters[] = {
    {"made", READY SMALL NO_REFS, "client", "create" ON "{" NODES("2") "}"},
    {"in another time", READY SMALL NO_REFS EDGE_SETTING("cluster_create", "10"), "client",
     "create" ON "{" NODES("2") "}"},
    {"in a time that is none", READY SMALL NO_REFS EDGE_SETTING("cluster_create", "9"), "client",
     "create" ON "{" NODES("2") "}"},
    {"without a flavor", READY NO_REFS, "client", "create" ON "{" NODES("2") "}"},
    {"no nodes", READY SMALL NO_REFS, "client", "create" ON "{" NODES("0") "}"},
    {"65 nodes", READY SMALL NO_REFS, "client", "create" ON "{" NODES("65") "}"},
    {"61 cells", READY SMALL NO_REFS, "client",
     "create" ON "{'cluster':{'flavor':'small','nodes':61,'dedicated':true}}"},
    {"nothing is said", READY SMALL NO_REFS, "client", "create" ON "{}"},
    {"a name that is kept", READY SMALL NO_REFS, "client",
     "create clusterinst/acme/paris/dev/reservable1 {" NODES("1") "}"},
    {"reservable, of a developer", READY SMALL NO_REFS, "client",
     "create" ON "{'reservable':true," NODES("1") "}"},
    {"reservable, of our own", READY SMALL NO_REFS, "client",
     "create clusterinst/acme/paris/corkboard/big {'reservable':true," NODES("1") "}"},
    {"all of the site", READY SMALL NO_REFS, "client", "create" ON "{" NODES("4") "}"},
    {"more memory than it has", READY LARGE NO_REFS, "client",
     "create" ON "{'cluster':{'flavor':'large','nodes':3}}"},
    {"more containers", READY SMALL NO_REFS, "client", "create" ON "{" NODES("5") "}"},
    {"beyond the alert",
     SITE("READY", "READY", ",'spec':{'alert_percent':40}") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("4") "}"},
    {"beyond its quota",
     SITE("READY", "READY", ",'spec':{'quota':{'memory_mb':1000}}") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("2") "}"},
    {"the 257th", READY SMALL REFS_OF("0", "0", "0", ",'clusters':256"), "client",
     "create" ON "{" NODES("1") "}"},
    {"the 256th", READY SMALL REFS_OF("0", "0", "0", ",'clusters':255"), "client",
     "create" ON "{" NODES("1") "}"},
    {"without a site", SMALL, "client", "create" ON "{" NODES("1") "}"},
    {"without a site, whatever its CRM does", SMALL, "client",
     "create" ON "{'override':'IGNORE_CRM'," NODES("1") "}"},
    {"its site goes", SITE("DELETE_PREPARE", "READY", "") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("1") "}"},
    {"it is upgraded", SITE("UPDATING", "UPGRADE", "") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("1") "}"},
    {"v2 comes", SITE("CRM_INITOK", "INIT", ",'upgrading':true") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("1") "}"},
    {"in maintenance",
     SITE("READY", "READY", "") "maintenance/acme/paris {'state':'UNDER_MAINTENANCE'}\n"
     SMALL NO_REFS, "client", "create" ON "{" NODES("1") "}"},
    {"its upgrade failed", SITE("UPDATE_ERROR", "READY", ",'operation':{'error':'no v2'}") NORMAL
     SMALL NO_REFS, "client", "create" ON "{" NODES("1") "}"},
    {"it never was ready", SITE("CREATING", "INIT", ",'version':''") NORMAL SMALL NO_REFS,
     "client", "create" ON "{" NODES("1") "}"},
    {"it is offline", SITE("READY", "OFFLINE", "") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("1") "}"},
    {"its CRM begins again", SITE("CRM_INITOK", "INIT", "") NORMAL SMALL NO_REFS, "client",
     "create" ON "{" NODES("1") "}"},
    {"whatever its CRM does", SITE("READY", "OFFLINE", "") NORMAL SMALL NO_REFS, "client",
     "create" ON "{'override':'IGNORE_CRM'," NODES("1") "}"},
    CLUSTER_ROW("it is there", "READY", "", "client", "create" ON "{" NODES("2") "}"),
    CLUSTER_ROW("it failed before", "CREATE_ERROR", "", "client", "create" ON "{" NODES("2") "}"),
    CLUSTER_ROW("over one that could not go", "DELETE_ERROR", OP("delete", ""), "client",
                "create" ON "{" NODES("1") "}"),
    CLUSTER_ROW("over an operation", "UPDATING", OP("update", ""), "client",
                "create" ON "{'override':'IGNORE_TRANSIENT'," NODES("3") "}"),
    {"over an operation that is told", READY SMALL HAS_TWO CLUSTER("UPDATING", OP("update", ""))
         "progress/c {'kind':'clusterinst','name':'" WEB "','uid':'c','request':1,'word':'update',"
         "'next':2,'lines':[{'number':1,'text':'update requested'}]}\n", "client",
     "create" ON "{'override':'IGNORE_TRANSIENT'," NODES("3") "}"},
    /* Changed. */
    CLUSTER_ROW("more nodes", "READY", "", "client", "update" ON "{" NODES("3") "}"),
    {"in another time", READY SMALL HAS_TWO CLUSTER("READY", "")
         EDGE_SETTING("cluster_update", "86400"), "client", "update" ON "{" NODES("1") "}"},
    CLUSTER_ROW("fewer nodes", "READY", "", "client", "update" ON "{" NODES("1") "}"),
    CLUSTER_ROW("another flavor", "READY", "", "client",
                "update" ON "{'cluster':{'flavor':'large','nodes':3}}"),
    CLUSTER_ROW("too many", "READY", "", "client", "update" ON "{" NODES("9") "}"),
    CLUSTER_ROW("while it is busy", "UPDATING", "", "client", "update" ON "{" NODES("3") "}"),
    CLUSTER_ROW("while it goes", "DELETING", "", "client", "update" ON "{" NODES("3") "}"),
    CLUSTER_ROW("it was never made", "CREATE_ERROR", "", "client", "update" ON "{" NODES("3") "}"),
    CLUSTER_ROW("again, after an error", "UPDATE_ERROR",
                OP("update", ",'error':'no room'") ",'former':{" NODE ",'nodes':1}", "client",
                "update" ON "{" NODES("2") "}"),
    CLUSTER_ROW("whatever its CRM does", "READY", "", "client",
                "update" ON "{'override':'IGNORE_CRM'," NODES("3") "}"),
    CLUSTER_ROW("over an operation", "UPDATING", OP("update", "") ",'former':{" NODE ",'nodes':1}",
                "client", "update" ON "{'override':'IGNORE_TRANSIENT'," NODES("3") "}"),
    {"of none", READY SMALL NO_REFS, "client", "update" ON "{" NODES("3") "}"},
    CLUSTER_ROW("refreshed", "READY", "", "client", "refresh" ON "{}"),
    /* Deleted. */
    CLUSTER_ROW("goes", "READY", "", "client", "delete" ON "{}"),
    {"goes, and what depends on it has another time", READY SMALL HAS_TWO CLUSTER("READY", "")
         EDGE_SETTING("delete_prepare", "11"), "client", "delete" ON "{}"},
    CLUSTER_ROW("goes at once", "READY", "", "client", "delete" ON "{'override':'IGNORE_CRM'}"),
    CLUSTER_ROW("goes already", "DELETING", "", "client", "delete" ON "{}"),
    CLUSTER_ROW("an error goes", "CREATE_ERROR", OP("create", ",'error':'e'"), "client",
                "delete" ON "{}"),
    CLUSTER_ROW("a delete that hangs goes at once", "DELETING", OP("delete", ""), "client",
                "delete" ON "{'override':'IGNORE_CRM_AND_TRANSIENT'}"),
    CLUSTER_ROW("a delete is begun anew", "DELETING", OP("delete", ",'found':'READY'"), "client",
                "delete" ON "{'override':'IGNORE_TRANSIENT'}"),
    CLUSTER_ROW("it is not idle for long", "READY",
                ",'automatic':true,'reservable':true,'free_since':500" S, V,
                "delete" ON JUDGED("c")),
    CLUSTER_ROW("it is idle for long", "READY",
                ",'automatic':true,'reservable':true,'free_since':-800" S, V,
                "delete" ON JUDGED("c")),
    {"it is idle for long, as somebody has set it", READY SMALL HAS_TWO EDGE_SETTING(
         "cluster_idle", "100") CLUSTER("READY",
         ",'automatic':true,'reservable':true,'free_since':900" S), V, "delete" ON JUDGED("c")},
    {"not yet, as somebody has set it", READY SMALL HAS_TWO EDGE_SETTING(
         "cluster_idle", "101") CLUSTER("READY",
         ",'automatic':true,'reservable':true,'free_since':900" S), V, "delete" ON JUDGED("c")},
    {"a client's is never idle", READY SMALL HAS_TWO CLUSTER("READY", ""), V,
     "delete" ON JUDGED("c")},
    {"one of our own goes with its site",
     SITE("DELETE_PREPARE", "READY", "") NORMAL SMALL HAS_TWO CLUSTER(
         "READY", ",'automatic':true,'reservable':true,'free_since':500" S), V,
     "delete" ON JUDGED("c")},
    {"not while it is reserved",
     SITE("DELETE_PREPARE", "READY", "") NORMAL SMALL HAS_TWO CLUSTER(
         "READY", ",'automatic':true,'reservable':true,'reserved_by':'" WEB "/dev/shop/1'"), V,
     "delete" ON JUDGED("c")},
    /* Its CRM. */
    CLUSTER_ROW("begun", "CREATE_REQUESTED", OP("create", ""), CRM,
                "creating" ON SAY("c", ",'step':{'step':1,'steps':3,'text':'slice reserved'}")),
    CLUSTER_ROW("another cloudlet", "CREATE_REQUESTED", OP("create", ""), "crm acme/rome",
                "creating" ON SAY("c", "")),
    CLUSTER_ROW("another session", "CREATE_REQUESTED", OP("create", ""), CRM,
                "creating" ON "{'uid':'c','request':1,'session':2,'board_generation':'E'}"),
    CLUSTER_ROW("another request", "CREATE_REQUESTED", OP("create", ""), CRM,
                "creating" ON "{'uid':'c','request':2,'session':3,'board_generation':'E'}"),
    CLUSTER_ROW("another life", "CREATE_REQUESTED", OP("create", ""), CRM,
                "creating" ON SAY("d", "")),
    {"of none", READY SMALL NO_REFS, CRM, "ready" ON SAY("c", "")},
    CLUSTER_ROW("ready, the beginning lost", "CREATE_REQUESTED", OP("create", ""), CRM,
                "ready" ON SAY("c", ",'cluster_report':{'health':'OK','cells':['c1']}")),
    CLUSTER_ROW("ready", "CREATING", OP("create", ""), CRM, "ready" ON SAY("c", "")),
    CLUSTER_ROW("late", "READY", "", CRM, "ready" ON SAY("c", "")),
    CLUSTER_ROW("could not", "CREATING", OP("create", ""), CRM,
                "fail" ON SAY("c", ",'error':'no cell'")),
    CLUSTER_ROW("could not, which is an end", "CREATING",
                OP("create", ",'override':'IGNORE_CRM_ERRORS'"), CRM,
                "fail" ON SAY("c", ",'error':'no cell'")),
    CLUSTER_ROW("it goes on", "CREATING", OP("create", ",'overdue':true"), CRM,
                "report" ON SAY("c", ",'step':{'step':2,'steps':3,'text':'cells'}")),
    CLUSTER_ROW("updating", "UPDATE_REQUESTED", OP("update", ""), CRM,
                "updating" ON SAY("c", "")),
    {"changed", READY SMALL REFS_OF("1536", "3072", "48", ",'clusters':1") CLUSTER(
         "UPDATING", OP("update", "") ",'former_digest':'O','former':{" NODE ",'nodes':3}"), CRM,
     "ready" ON SAY("c", "")},
    CLUSTER_ROW("could not change", "UPDATING", OP("update", ""), CRM,
                "fail" ON SAY("c", ",'error':'no room'")),
    CLUSTER_ROW("the former values run", "UPDATE_ERROR",
                OP("update", ",'error':'no room'") ",'former':{" NODE ",'nodes':1}", CRM,
                "report" ON SAY("c", ",'restored':true")),
    CLUSTER_ROW("nothing new", "READY", ",'reported':{'health':'OK'}", CRM,
                "report" ON SAY("c", ",'cluster_report':{'health':'OK'}")),
    CLUSTER_ROW("deleting", "DELETE_REQUESTED", OP("delete", ""), CRM,
                "deleting" ON SAY("c", "")),
    CLUSTER_ROW("deleted", "DELETING", OP("delete", ""), CRM, "deleted" ON SAY("c", "")),
    CLUSTER_ROW("could not delete", "DELETING", OP("delete", ""), CRM,
                "fail" ON SAY("c", ",'error':'left behind: slice c'")),
    CLUSTER_ROW("a delete that nobody asked for", "READY", "", CRM, "deleted" ON SAY("c", "")),
    /* The converger. */
    CLUSTER_ROW("nothing is there", "DELETE_PREPARE", OP("delete", ""), V,
                "proceed" ON JUDGED("c")),
    {"nothing is there, and the site has another time", READY SMALL HAS_TWO
         EDGE_SETTING("cluster_delete", "12") CLUSTER("DELETE_PREPARE", OP("delete", "")), V,
     "proceed" ON JUDGED("c")},
    CLUSTER_ROW("another request", "DELETE_PREPARE", OP("delete", ""), V,
                "proceed" ON "{'uid':'c','request':2}"),
    CLUSTER_ROW("something does not go", "DELETE_PREPARE", OP("delete", ",'found':'READY'"), V,
                "refuse" ON "{'uid':'c','request':1,'error':'shop is in DELETE_ERROR'}"),
    CLUSTER_ROW("it has not begun", "CREATE_REQUESTED", OP("create", ",'deadline':1000" S), V,
                "expire" ON JUDGED("c")),
    CLUSTER_ROW("it has", "CREATING", OP("create", ",'deadline':1000" S), V,
                "expire" ON JUDGED("c")),
    {"it has, and is offline", SITE("READY", "OFFLINE", "") NORMAL SMALL HAS_TWO CLUSTER(
         "UPDATING", OP("update", ",'deadline':1000" S)), V, "expire" ON JUDGED("c")},
    CLUSTER_ROW("not yet", "CREATING", OP("create", ",'deadline':1001" S), V,
                "expire" ON JUDGED("c")),
    CLUSTER_ROW("a failed create is undone", "CREATE_ERROR", OP("create", ",'error':'no cell'"), V,
                "undo" ON JUDGED("c")),
    CLUSTER_ROW("the error is an end", "CREATE_ERROR",
                OP("create", ",'error':'no cell','override':'IGNORE_CRM_ERRORS'"), V,
                "undo" ON JUDGED("c")),
    CLUSTER_ROW("an update is not undone", "UPDATE_ERROR",
                OP("update", ",'error':'no room'") ",'former':{" NODE ",'nodes':1}", V,
                "undo" ON JUDGED("c")),
    CLUSTER_ROW("unless the former values run", "UPDATE_ERROR",
                OP("update", ",'error':'no room','restored':true")
                    ",'former_digest':'O','former':{" NODE ",'nodes':1}", V,
                "undo" ON JUDGED("c")),
    CLUSTER_ROW("a failed delete is undone", "DELETE_ERROR",
                OP("delete", ",'error':'e','found':'UPDATE_ERROR'"), V, "undo" ON JUDGED("c")),
    CLUSTER_ROW("the error of a delete is an end", "DELETE_ERROR",
                OP("delete", ",'error':'e','override':'IGNORE_CRM_ERRORS'"), V,
                "undo" ON JUDGED("c")),
    CLUSTER_ROW("a state that nobody knows", "ASLEEP", "", "client", "delete" ON "{}"),
};

/* ---- Instances ------------------------------------------------------------------------------- */

#define APP(revision)                                                                              \
    "app/dev/shop/1 {'name':'dev/shop/1','revision':" revision "}\n"
#define DEF(revision, more)                                                                        \
    "appdef/dev/shop/1/000000000" revision " {'name':'dev/shop/1','revision':" revision            \
    ",'digest':'d" revision "','spec':{'flavor':'small'" more "}}\n"
#define PORT(n) "{'internal':" n "}"
#define SHOP APP("1") DEF("1", ",'ports':[" PORT("8080") "]")
#define NAME WEB "/dev/shop/1"
#define AT " appinst/" NAME " "
#define SPEC(revision)                                                                             \
    "'spec':{'flavor':'small','size':{'memory_mb':512,'disk_mb':1024,'containers':16},'revision':" \
    revision ",'instances':1,'definition_digest':'d" revision                                      \
    "','ports':[{'internal':8080,'public':8080}]}"
#define INST(state, more)                                                                          \
    "appinst/" NAME " {'name':'" NAME "','uid':'i','state':'" state "','since':988" S              \
    ",'request':1,'digest':'D','cluster_uid':'c'," SPEC("1") more "}\n"                            \
    "use/app%2Fdev%2Fshop%2F1/appinst%2Facme%2Fparis%2Fdev%2Fweb%2Fdev%2Fshop%2F1 {}\n"            \
    "name/1.shop.dev.web.dev.paris.acme {'taken_by':'" NAME "','uid':'i'}\n"
#define HAS_PORT                                                                                   \
    REFS_OF("1024", "2048", "32",                                                                  \
            ",'clusters':1,'instances':1,'ports':[{'port':8080,'taken_by':'" NAME "'}]")
#define PLACE READY SMALL LARGE CLUSTER("READY", "")
#define TAKEN                                                                                      \
    REFS_OF("1024", "2048", "32", ",'clusters':1,'ports':[{'port':8080,'taken_by':'other'}]")
#define AUTO "acme/paris/dev/autocluster1"
#define AUTO_AT " appinst/" AUTO "/dev/shop/1 "
#define RESERVABLE(n, state, more)                                                                 \
    CLUSTER_NAMED("acme/paris/corkboard/reservable" n, state, "1",                                 \
                  ",'reservable':true,'automatic':true,'reservable_id':" n more)
#define AUTO_INST(state, more)                                                                     \
    "appinst/" AUTO "/dev/shop/1 {'name':'" AUTO "/dev/shop/1','uid':'i','state':'" state          \
    "','request':1,'cluster_uid':'c','real_cluster':'acme/paris/corkboard/reservable0',"           \
    "'reserves':true," SPEC("1") more "}\n"
#define ROW(rule, state, more, by, move)                                                           \
    {                                                                                              \
        rule, PLACE SHOP HAS_PORT INST(state, more), by, move                                      \
    }

static const struct edge_row instances[] = {
    {"made", PLACE SHOP HAS_TWO, "client", "create" AT "{}"},
    {"in another time", PLACE SHOP HAS_TWO EDGE_SETTING("instance_create", "13"), "client",
     "create" AT "{}"},
    {"its port is taken", PLACE SHOP TAKEN, "client", "create" AT "{}"},
    {"of another protocol it is free", PLACE APP("1")
         DEF("1", ",'ports':[{'internal':8080,'protocol':'UDP'}]") TAKEN, "client",
     "create" AT "{}"},
    {"ssh has its own", PLACE APP("1") DEF("1", ",'ports':[" PORT("22") "]") HAS_TWO, "client",
     "create" AT "{}"},
    {"a range on the shared address", PLACE APP("1")
         DEF("1", ",'ports':[{'internal':5000,'last':5009}]") HAS_TWO, "client",
     "create" AT "{}"},
    {"a range on its own", READY SMALL HAS_TWO APP("1")
         DEF("1", ",'ports':[{'internal':5000,'last':5009}]")
         CLUSTER_NAMED(WEB, "READY", "2", ",'spec':{" NODE ",'nodes':2,'dedicated':true}"),
     "client", "create" AT "{}"},
    {"no app", PLACE HAS_TWO, "client", "create" AT "{}"},
    {"no flavor", PLACE SHOP HAS_TWO, "client", "create" AT "{'instance':{'flavor':'none'}}"},
    {"larger than a node", PLACE SHOP HAS_TWO, "client",
     "create" AT "{'instance':{'flavor':'large'}}"},
    {"no cluster", READY SMALL SHOP HAS_TWO, "client", "create" AT "{}"},
    {"its cluster is busy", READY SMALL SHOP HAS_TWO CLUSTER("UPDATING", ""), "client",
     "create" AT "{}"},
    {"of another organization", PLACE HAS_TWO "app/own/shop/1 {'revision':1}\n"
     "appdef/own/shop/1/0000000001 {'revision':1,'spec':{'flavor':'small'}}\n", "client",
     "create appinst/" WEB "/own/shop/1 {}"},
    {"an instance a node", PLACE APP("1") DEF("1", ",'scale_with_cluster':true") HAS_TWO, "client",
     "create" AT "{}"},
    {"the site is offline", SITE("READY", "OFFLINE", "") NORMAL SMALL CLUSTER("READY", "")
         SHOP HAS_TWO, "client", "create" AT "{}"},
    {"the name in the DNS is another's", PLACE SHOP HAS_TWO
     "name/1.shop.dev.web.dev.paris.acme {'taken_by':'acme/paris/dev/WEB/dev/shop/1'}\n", "client",
     "create" AT "{}"},
    {"the 4097th", PLACE SHOP REFS_OF("0", "0", "0", ",'instances':4096"), "client",
     "create" AT "{}"},
    {"whatever its CRM does", PLACE SHOP HAS_TWO, "client",
     "create" AT "{'override':'IGNORE_CRM'}"},
    {"a name that is none", PLACE SHOP HAS_TWO, "client", "create appinst/" WEB "/dev/shop {}"},
    ROW("it is there", "READY", "", "client", "create" AT "{}"),
    ROW("over one that could not go", "DELETE_ERROR", "", "client", "create" AT "{}"),
    /* A cluster for it. */
    {"a free one is reserved", READY SMALL SHOP HAS_TWO RESERVABLE("0", "READY", "")
         RESERVABLE("1", "READY", ""), "client", "create" AUTO_AT "{}"},
    {"not a reserved one, of another flavor, or busy", READY SMALL SHOP
         REFS_OF("1024", "2048", "32", ",'clusters':3,'reservable_ids':7")
         RESERVABLE("0", "READY", ",'reserved_by':'x'") RESERVABLE("1", "CREATING", "")
         RESERVABLE("2", "READY", ",'spec':{'flavor':'large'}"), "client",
     "create" AUTO_AT "{}"},
    {"by its own name, which another one has reserved", READY SMALL SHOP HAS_TWO RESERVABLE(
         "0", "READY", ",'reserved_by':'x'"), "client",
     "create appinst/acme/paris/corkboard/reservable0/dev/shop/1 {}"},
    {"one is made", READY SMALL SHOP NO_REFS, "client", "create" AUTO_AT "{}"},
    {"one is made, in another time", READY SMALL SHOP NO_REFS EDGE_SETTING("cluster_create", "14"),
     "client", "create" AUTO_AT "{}"},
    {"the 64th", READY SMALL SHOP
         REFS_OF("0", "0", "0", ",'reservable_ids':9223372036854775807"),
     "client", "create" AUTO_AT "{}"},
    {"the 65th", READY SMALL SHOP
         REFS_OF("0", "0", "0", "," EDGE_ALL_IDS),
     "client", "create" AUTO_AT "{}"},
    {"no room for it", READY SMALL SHOP REFS_OF("4000", "0", "0", ""), "client",
     "create" AUTO_AT "{}"},
    {"it is there", READY SMALL SHOP NO_REFS RESERVABLE("0", "READY", "")
         AUTO_INST("CREATING_DEPENDENCIES", OP("create", "")), V, "proceed" AUTO_AT JUDGED("i")},
    {"it is not there yet", READY SMALL SHOP NO_REFS RESERVABLE("0", "CREATING", "")
         AUTO_INST("CREATING_DEPENDENCIES", OP("create", "")), V, "proceed" AUTO_AT JUDGED("i")},
    {"it failed", READY SMALL SHOP NO_REFS RESERVABLE("0", "CREATE_ERROR", "")
         AUTO_INST("CREATING_DEPENDENCIES", OP("create", "")), V, "fail" AUTO_AT JUDGED("i")},
    {"it did not fail", READY SMALL SHOP NO_REFS RESERVABLE("0", "CREATING", "")
         AUTO_INST("CREATING_DEPENDENCIES", OP("create", "")), V, "fail" AUTO_AT JUDGED("i")},
    {"it is given back", READY SMALL SHOP REFS_OF("512", "1024", "16", ",'instances':1")
         RESERVABLE("0", "READY", ",'reserved_by':'" AUTO "/dev/shop/1'")
         AUTO_INST("DELETING", OP("delete", "")), CRM, "deleted" AUTO_AT SAY("i", "")},
    {"by the undo too", READY SMALL SHOP REFS_OF("512", "1024", "16", ",'instances':1")
         RESERVABLE("0", "READY", ",'reserved_by':'" AUTO "/dev/shop/1'")
         AUTO_INST("CREATE_ERROR", OP("create", ",'error':'e'")), V, "undo" AUTO_AT JUDGED("i")},
    /* Changed. */
    ROW("the same", "READY", ",'digest':'7a7f33175996db9e'", "client",
        "update" AT "{'instance':{}}"),
    ROW("other variables", "READY", "", "client",
        "update" AT "{'instance':{'env':[{'name':'A','value':'1'}]}}"),
    ROW("a flavor that does not fit", "READY", "", "client",
        "update" AT "{'instance':{'flavor':'large'}}"),
    ROW("nothing is said", "READY", "", "client", "update" AT "{}"),
    {"the newest revision", PLACE APP("2") DEF("1", "")
         DEF("2", ",'ports':[" PORT("8080") "," PORT("9090") "]") HAS_PORT INST("READY", ""),
     "client", "refresh" AT "{}"},
    ROW("by force", "READY", "", "client", "refresh" AT "{'force':true}"),
    ROW("by force, whatever its CRM does", "READY", "", "client",
        "refresh" AT "{'force':true,'override':'IGNORE_CRM'}"),
    {"in another time",
     PLACE SHOP HAS_PORT INST("READY", "") EDGE_SETTING("instance_update", "15"), "client",
     "refresh" AT "{'force':true}"},
    {"while its cluster changes", READY SMALL CLUSTER("UPDATE_REQUESTED", "") SHOP HAS_PORT INST(
         "READY", ""), "client", "update" AT "{'instance':{'env':[{'name':'A'}]}}"},
    {"the new one runs", PLACE APP("2") DEF("1", "") DEF("2", "")
         REFS_OF("0", "0", "0", ",'instances':1,'ports':[{'port':7070,'taken_by':'" NAME
                 "'},{'port':8080,'taken_by':'" NAME "'}]")
         INST("UPDATING", ",'former':{'flavor':'large','revision':2,'ports':"
              "[{'internal':7070,'public':7070}]}"), CRM,
     "ready" AT SAY("i", ",'instance_report':{'health':'OK','running':1}")},
    {"the former one runs again", PLACE APP("2") DEF("1", "") DEF("2", "")
         REFS_OF("0", "0", "0", ",'instances':1,'ports':[{'port':7070,'taken_by':'" NAME
                 "'},{'port':8080,'taken_by':'" NAME "'}]")
         INST("UPDATE_ERROR", OP("update", ",'error':'e','restored':true")
              ",'former_digest':'O','former':{'flavor':'large','revision':2,'ports':"
              "[{'internal':7070,'public':7070}]}"), V, "undo" AT JUDGED("i")},
    /* Deleted. */
    ROW("goes", "READY", "", "client", "delete" AT "{}"),
    ROW("goes at once", "READY", "", "client", "delete" AT "{'override':'IGNORE_CRM'}"),
    ROW("has gone", "DELETING", OP("delete", ""), CRM, "deleted" AT SAY("i", "")),
    ROW("does not go without a word", "READY", "", V, "delete" AT JUDGED("i")),
    {"goes with its cluster", READY SMALL CLUSTER("DELETE_PREPARE", "") APP("1")
         DEF("1", ",'auto_delete':true") HAS_PORT INST("READY", ""), V, "delete" AT JUDGED("i")},
    {"does not go with it", READY SMALL CLUSTER("DELETE_PREPARE", "") SHOP HAS_PORT INST(
         "READY", ""), V, "delete" AT JUDGED("i")},
};

static const struct edge_row dependents[] = {
    {"a cluster with an instance", PLACE SHOP HAS_PORT INST("READY", ""), "client",
     "delete" ON "{}"},
    {"whatever its CRM does", PLACE SHOP HAS_PORT INST("READY", ""), "client",
     "delete" ON "{'override':'IGNORE_CRM'}"},
    {"whose app goes along", PLACE APP("1") DEF("1", ",'auto_delete':true") HAS_PORT INST(
         "READY", ""), "client", "delete" ON "{}"},
    {"that is busy", PLACE APP("1") DEF("1", ",'auto_delete':true") HAS_PORT INST("CREATING", ""),
     "client", "delete" ON "{}"},
    {"beside an operation of an instance", PLACE SHOP HAS_PORT INST("UPDATING", ""), "client",
     "update" ON "{" NODES("3") "}"},
    {"over an operation, with an instance",
     READY SMALL CLUSTER("UPDATING", OP("update", "")) SHOP HAS_PORT INST("READY", ""), "client",
     "create" ON "{'override':'IGNORE_TRANSIENT'," NODES("3") "}"},
    {"made for one that is there yet, it failed", READY SMALL CLUSTER(
         "CREATE_ERROR", OP("create", ",'error':'no cell'")) SHOP HAS_PORT INST(
         "CREATE_ERROR", ""), V, "undo" ON JUDGED("c")},
    {"it is there yet", READY SMALL CLUSTER("DELETE_PREPARE", OP("delete", "")) SHOP HAS_PORT INST(
         "DELETING", ""), V, "proceed" ON JUDGED("c")},
};

#define TRY(family, rows) edge_rows_try(family, rows, sizeof(rows) / sizeof((rows)[0]), out)

static void try_and_print(struct buf *out)
{
    TRY(&clusterinst_moves, clusters);
    buf_append_string(out, "\n# App instances\n");
    TRY(&appinst_moves, instances);
    buf_append_string(out, "\n# Clusters with instances\n");
    TRY(&clusterinst_moves, dependents);
}

/* Each state under each override: what a client's delete, update and create come to. */
static void print_overrides(struct buf *out)
{
    static const char *const overrides[] = {"NONE", "IGNORE_CRM_ERRORS", "IGNORE_CRM",
                                            "IGNORE_TRANSIENT", "IGNORE_CRM_AND_TRANSIENT"};
    static const char *const moves[] = {"create", "update", "delete"};
    SCOPED_ARENA(a);
    for (size_t state = 1; state < tracked_lifecycle.state_count; state++) {
        for (size_t o = 0; o < 5; o++) {
            const char *name = tracked_lifecycle.states[state];
            const char *board = arena_printf(
                &a, "%s%s%sclusterinst/" WEB " {'name':'" WEB "','uid':'c','state':'%s',"
                    "'request':1,'digest':'D','spec':{" NODE ",'nodes':2}}\n",
                READY, SMALL, HAS_TWO, name);
            buf_printf(out, "%s %s:", name, overrides[o]);
            for (size_t m = 0; m < 3; m++) {
                const struct edge_row row = {
                    "", board, "client",
                    arena_printf(&a, "%s" ON "{'override':'%s'," NODES("3") "}", moves[m],
                                 overrides[o])};
                buf_printf(out, " %s %s", moves[m], edge_row_state(&clusterinst_moves, &row, &a));
            }
            buf_append_string(out, "\n");
        }
    }
}

static void print_all(struct buf *out)
{
    try_and_print(out);
    buf_append_string(out, "\n# Each state, under each override\n");
    print_overrides(out);
}

static void each_move_is_decided_by_its_row(void **state)
{
    SCOPED_BUF(out);
    print_all(&out);
    page_equals(EXPECTED, buf_string(&out), "test_instances print > " EXPECTED);
    (void)state;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(out);
        print_all(&out);
        fputs(buf_string(&out), stdout);
        return 0;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_move_is_decided_by_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
