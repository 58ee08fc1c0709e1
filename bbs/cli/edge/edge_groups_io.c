/* bbs flavors, edge-apps, cloudlets, clusters, appinsts: their verbs and what their help says. */
#include "bbs/cli/edge/edge_io.h"

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const change[] = BBS_ASKS_WITH(bbs_edge_wait_options);
static const struct cli_option *const follow[] = BBS_ASKS_WITH(bbs_edge_follow_options);
static const struct cli_option *const flavor_set[] =
    BBS_ASKS_WITH(bbs_flavor_options, bbs_timeout_options);
static const struct cli_option *const cloudlet_create[] =
    BBS_ASKS_WITH(bbs_cloudlet_create_options, bbs_edge_wait_options);
static const struct cli_option *const cloudlet_update[] =
    BBS_ASKS_WITH(bbs_cloudlet_update_options, bbs_timeout_options);
static const struct cli_option *const cluster_create[] =
    BBS_ASKS_WITH(bbs_cluster_create_options, bbs_edge_wait_options);
static const struct cli_option *const cluster_update[] =
    BBS_ASKS_WITH(bbs_cluster_update_options, bbs_edge_wait_options);
static const struct cli_option *const appinst[] =
    BBS_ASKS_WITH(bbs_appinst_options, bbs_edge_wait_options);
static const struct cli_option *const appinst_refresh[] =
    BBS_ASKS_WITH(bbs_appinst_refresh_options, bbs_edge_wait_options);

#define FOLLOWS                                                                                    \
    "With --wait and --follow, exit status 1: it failed; 4: somebody else changed it meanwhile;\n" \
    "6: its time is over, or --timeout is, and it goes on.\n"

#define LISTS                                                                                      \
    "NAME is one of these, or what they are below: acme/paris, of all that is at that cloudlet.\n" \
    "Exit status 3: there is none.\n"

#define REFUSES "Exit status 2: a name or an option is wrong; 3: there is no such thing; 4: "

static const char flavor_details[] =
    "What was made with a flavor keeps its size when that changes.\n" REFUSES "it is in use.\n";

static const char edge_apps_details[] =
    "An app's NAME is ORGANIZATION/APP/VERSION; or what they are below: dev, dev/shop.\n"
    "Exit status 3: there is none.\n";

static const char edge_apps_apply_details[] =
    "FILE (\"-\" is standard input) is one of bbs apply with organization, version, flavor,\n"
    "public_ports, scale_with_cluster and auto_delete, without what the flavor and the centre "
    "say\n"
    "(docs/edge.md). What is changed is a revision more; bbs appinsts refresh brings instances "
    "to it.\n"
    "Exit status 2: a file is wrong, and nothing was applied; 3: there is no such flavor; 4: too\n"
    "many revisions are in use.\n";

static const char edge_apps_rm_details[] = REFUSES "it is in use.\n";

static const char cloudlets_details[] =
    "A cloudlet is a site: a whole cluster of its own, whose program crm has come or is to come.\n"
    "STATE is that of the operation at the centre, SITE what its crm says, MEMORY what is given\n"
    "out of all that it has. A cloudlet's NAME is ORGANIZATION/CLOUDLET.\n" LISTS;

static const char cloudlet_create_details[] =
    "It waits for its crm up to 7 days: docs/edge.md, The program crm.\n" REFUSES
    "it exists.\n" FOLLOWS;

static const char cloudlet_update_details[] =
    "What is not given stays.\n" REFUSES "it is being deleted.\n";

static const char upgrade_details[] =
    "VERSION is above the one that runs; the one that runs, where an upgrade failed, keeps "
    "that.\n" REFUSES "it is busy, or not ready.\n" FOLLOWS;

static const char maintain_details[] =
    "The second word is start, start-no-failover or end. Nothing is stopped or moved; until the\n"
    "end no change of what is there is taken.\n" REFUSES "it is in another state.\n";

static const char confirm_details[] =
    "After a restore of the centre a site keeps what the centre does not know of, until this is\n"
    "said: bbs cloudlets NAME shows how much that is.\n" REFUSES "it is being deleted.\n";

static const char rm_details[] =
    REFUSES "it is busy or used,\nor its site takes no changes.\n" FOLLOWS;

static const char clusters_details[] =
    "A cluster is a part of a cloudlet that one owner has for himself: so many nodes of a flavor,\n"
    "or with --dedicated whole cells. Its NAME is CLOUDLET/ORGANIZATION/CLUSTER.\n" LISTS;

static const char change_details[] = REFUSES
    "it exists, is busy\nor used, there is no room, or its site takes no changes.\n" FOLLOWS
    "--override: ignore-errors takes a site's error for an end; ignore-crm does not wait for the\n"
    "site; ignore-transient takes over what is under way.\n";

static const char why_details[] =
    "Whose turn it is and since when, until when, what was told last, what refuses changes at its\n"
    "cloudlet, and what to do. Exit status 3: there is no such thing.\n";

static const char appinsts_details[] =
    "An app instance is an app that runs in a cluster. Its NAME is that of the cluster, and of "
    "the\n"
    "app: acme/paris/dev/web/dev/shop/1.0. RUNNING is what its site said last.\n" LISTS;

static const char follow_details[] =
    "From the first line of its progress on, at whichever bbs, until what is under way has an "
    "end.\n"
    "Of one that is gone NAME is its uid: what is known of it stays for a while.\n"
    "Exit status 3: there is no such thing; 1: it failed; 4: somebody else changed it meanwhile;\n"
    "6: its time is over, or --timeout is, and it goes on.\n";

static const char refresh_details[] =
    "With --app APP all instances of it, one after the other: a line each ten tells how many are\n"
    "updated (with --wait; else asked for), have the newest revision, and failed.\n" REFUSES
    "it is busy,\nor its site takes no changes.\n" FOLLOWS;

static const struct cli_command flavors[] = {
    {"", "[NAME]", "lists flavors, or shows one", NULL, question, 0, 1, bbs_flavors_show_run},
    {"set", "NAME", "makes a flavor, or changes it", flavor_details, flavor_set, 1, 1,
     bbs_flavors_set_run},
    {"rm", "NAME", "removes a flavor", flavor_details, question, 1, 1, bbs_flavors_rm_run},
    {0},
};

static const struct cli_command edge_apps[] = {
    {"", "[NAME]", "lists apps, or shows one", edge_apps_details, question, 0, 1,
     bbs_edge_apps_show_run},
    {"apply", "FILE...", "makes apps as files say, or a revision more of them",
     edge_apps_apply_details, question, 1, CLI_ARGUMENTS_MAX, bbs_edge_apps_apply_run},
    {"rm", "NAME", "removes an app", edge_apps_rm_details, question, 1, 1, bbs_edge_apps_rm_run},
    {0},
};

static const struct cli_command cloudlets[] = {
    {"", "[NAME]", "lists cloudlets, or shows one", cloudlets_details, question, 0, 1,
     bbs_cloudlets_show_run},
    {"follow", "NAME", "follows what is under way of a cloudlet", follow_details, follow, 1, 1,
     bbs_cloudlets_follow_run},
    {"why", "NAME", "tells why a cloudlet is as it is", why_details, question, 1, 1,
     bbs_cloudlets_why_run},
    {"tree", "[NAME]", "shows cloudlets, their clusters and what runs there", cloudlets_details,
     question, 0, 1, bbs_cloudlets_tree_run},
    {"create", "NAME", "makes a cloudlet, whose site comes then", cloudlet_create_details,
     cloudlet_create, 1, 1, bbs_cloudlets_create_run},
    {"update", "NAME", "changes its quota, its alert or where it is", cloudlet_update_details,
     cloudlet_update, 1, 1, bbs_cloudlets_update_run},
    {"upgrade", "NAME VERSION", "brings its crm to another version", upgrade_details, change, 2, 2,
     bbs_cloudlets_upgrade_run},
    {"maintain", "NAME start|start-no-failover|end", "begins or ends its maintenance",
     maintain_details, question, 2, 2, bbs_cloudlets_maintain_run},
    {"confirm", "NAME", "lets its site remove what a restored centre does not know",
     confirm_details, question, 1, 1, bbs_cloudlets_confirm_run},
    {"rm", "NAME", "deletes a cloudlet", rm_details, change, 1, 1, bbs_cloudlets_rm_run},
    {0},
};

static const struct cli_command clusters[] = {
    {"", "[NAME]", "lists clusters, or shows one", clusters_details, question, 0, 1,
     bbs_clusters_show_run},
    {"follow", "NAME", "follows what is under way of a cluster", follow_details, follow, 1, 1,
     bbs_clusters_follow_run},
    {"why", "NAME", "tells why a cluster is as it is", why_details, question, 1, 1,
     bbs_clusters_why_run},
    {"create", "NAME", "makes a cluster at a cloudlet", change_details, cluster_create, 1, 1,
     bbs_clusters_create_run},
    {"update", "NAME", "changes how many nodes it has", change_details, cluster_update, 1, 1,
     bbs_clusters_update_run},
    {"rm", "NAME", "deletes a cluster", rm_details, change, 1, 1, bbs_clusters_rm_run},
    {0},
};

static const struct cli_command appinsts[] = {
    {"", "[NAME]", "lists app instances, or shows one", appinsts_details, question, 0, 1,
     bbs_appinsts_show_run},
    {"follow", "NAME", "follows what is under way of an app instance", follow_details, follow, 1, 1,
     bbs_appinsts_follow_run},
    {"why", "NAME", "tells why an app instance is as it is", why_details, question, 1, 1,
     bbs_appinsts_why_run},
    {"create", "NAME", "runs an app in a cluster", change_details, appinst, 1, 1,
     bbs_appinsts_create_run},
    {"update", "NAME", "changes its flavor or environment", change_details, appinst, 1, 1,
     bbs_appinsts_update_run},
    {"refresh", "[NAME]", "brings it to the newest revision of its app", refresh_details,
     appinst_refresh, 0, 1, bbs_appinsts_refresh_run},
    {"rm", "NAME", "deletes an app instance", rm_details, change, 1, 1, bbs_appinsts_rm_run},
    {0},
};

const struct cli_group bbs_flavors_group = {"flavors", "Flavors of edge sites:", flavors};
const struct cli_group bbs_edge_apps_group = {"edge-apps", "Apps of edge sites:", edge_apps};
const struct cli_group bbs_cloudlets_group = {"cloudlets", "Edge sites:", cloudlets};
const struct cli_group bbs_clusters_group = {"clusters", "Clusters at edge sites:", clusters};
const struct cli_group bbs_appinsts_group = {"appinsts", "App instances at edge sites:", appinsts};
