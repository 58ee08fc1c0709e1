/* A centre of sites at two running bbs, over TLS: what clients ask for by the routes of
 * docs/edge.md and what they are told, with a CRM and a converger that are this test. The tests
 * follow one another on one board, each request at the other bbs than the one before. */
#include "board.pb-c.h"
#include "common/model/moves.h"
#include "test/api/edge_rig.h"
#include "test/tool/cmocka.h"

#include "edge_api.pb-c.h"

#include <stdio.h>
#include <string.h>

#define SITE "acme/paris"
#define CLUSTER "acme/paris/dev/web"
#define INSTANCE "acme/paris/dev/web/dev/shop/1.0"

static struct arena arena; /* of all that is said */
static struct tls_files crm;
static unsigned turn;

static int next_port(void)
{
    return bbs_rig.bbs[turn++ % BBS_RIG_COUNT].port;
}

/* What a client asks by the route; "" = it was done, else the error's text. */
static const char *ask(const char *path, const ProtobufCMessageDescriptor *d, const char *request)
{
    SCOPED_BUF(answer);
    assert_int_equal(bbs_post(next_port(), path, edge_message(&arena, d, request), &answer), 200);
    return edge_error_of(&arena, &answer);
}

static const char *move(const char *noun, const char *verb, const char *name, const char *says)
{
    return ask(arena_printf(&arena, "/v1/edge/%s/%s", noun, verb), &board__edge_request__descriptor,
               arena_printf(&arena, "{'name':'%s','says':%s}", name, says));
}

/* The one record of that name. */
static const void *told(const char *noun, const ProtobufCMessageDescriptor *response,
                        const char *name)
{
    SCOPED_BUF(answer);
    Board__EdgeListRequest r = BOARD__EDGE_LIST_REQUEST__INIT;
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    r.name = arena_strdup(&arena, name);
    assert_int_equal(
        bbs_post(next_port(), arena_printf(&arena, "/v1/edge/%s/list", noun), &r.base, &answer),
        200);
    /* All lists are laid out as this one. */
    Board__EdgeCloudletsResponse *all =
        (Board__EdgeCloudletsResponse *)(void *)protobuf_c_message_unpack(response, &allocator,
                                                                          answer.size, answer.data);
    assert_non_null(all);
    assert_true(all->n_cloudlets <= 1);
    return all->n_cloudlets ? all->cloudlets[0] : NULL;
}

static const Board__CloudletRecord *cloudlet(void)
{
    return told("cloudlet", &board__edge_cloudlets_response__descriptor, SITE);
}

static const Board__ClusterInstRecord *cluster(void)
{
    return told("cluster", &board__edge_clusters_response__descriptor, CLUSTER);
}

static const Board__AppInstRecord *instance(void)
{
    return told("instance", &board__edge_instances_response__descriptor, INSTANCE);
}

static const char *generation(void)
{
    static char *text;
    SCOPED_BUF(answer);
    if (!text) {
        Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
        ProtobufCAllocator allocator = arena_protobuf(&arena);
        bbs_post_as(&bbs_rig.converger, "/v1/board/apply", &r.base, &answer);
        text =
            board__apply_response__unpack(&allocator, answer.size, answer.data)->board_generation;
    }
    return text;
}

/* The CRM's move; "" = it was done or nothing was to do, else the refusal. */
static const char *crm_says(const char *name, enum record_type type, const char *object,
                            const char *uid, uint64_t request, const char *more)
{
    SCOPED_BUF(answer);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    Board__Move *m = move_new(&arena, name, key_edge(&arena, type, object));
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = (Board__EdgeMove *)edge_message(
        &arena, &board__edge_move__descriptor,
        arena_printf(&arena,
                     "{'uid':'%s','request':%llu,'session':1,'identity':'X','version':'1',"
                     "'board_generation':'%s'%s}",
                     uid, (unsigned long long)request, generation(), more));
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    r.moves = &m;
    r.n_moves = 1;
    bbs_post_as(&crm, "/v1/board/apply", &r.base, &answer);
    const Board__ApplyResponse *all =
        board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_int_equal(all->n_results, 1);
    return all->results[0]->error ? all->results[0]->error->message : "";
}

static const char *progress_of(const char *uid)
{
    SCOPED_BUF(answer);
    SCOPED_BUF(lines);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    Board__EdgeProgressRequest r = BOARD__EDGE_PROGRESS_REQUEST__INIT;
    r.uid = (char *)(uintptr_t)uid;
    assert_int_equal(bbs_post(next_port(), "/v1/edge/progress", &r.base, &answer), 200);
    const Board__EdgeProgressResponse *p =
        board__edge_progress_response__unpack(&allocator, answer.size, answer.data);
    if (p->error) {
        return p->error->message;
    }
    for (size_t i = 0; i < p->progress->n_lines; i++) {
        buf_printf(&lines, "%s\n", p->progress->lines[i]->text);
    }
    buf_printf(&lines, "[%s]", p->progress->end);
    return arena_strdup(&arena, buf_string(&lines));
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void what_may_run_is_told(void **state)
{
    crm = certs_make(&bbs_rig.certs, "crm", "crm", SITE, 3600);
    assert_string_equal(ask("/v1/edge/flavor/set", &board__flavor_record__descriptor,
                            "{'name':'small','size':{'memory_mb':512,'disk_mb':512}}"),
                        "");
    assert_string_equal(
        ask("/v1/edge/flavor/set", &board__flavor_record__descriptor, "{'name':'small'}"),
        "memory_mb: at least 1, disk_mb: at least 1");
    assert_string_equal(
        ask("/v1/edge/app/apply", &board__edge_app_revision_record__descriptor,
            "{'name':'dev/shop/1.0','spec':{'flavor':'small','ports':[{'internal':8080}]},"
            "'definition':{'rootfs':'preloaded:x','action':{'run':{'path':'/p','user':'u'}}}}"),
        "");
    const Board__FlavorRecord *f =
        told("flavor", &board__edge_flavors_response__descriptor, "small");
    assert_int_equal(f->size->containers, 16);
    const Board__EdgeAppRecord *app =
        told("app", &board__edge_apps_response__descriptor, "dev/shop/1.0");
    assert_int_equal(app->revision, 1);
    assert_string_equal(
        ask("/v1/edge/app/remove", &board__edge_remove_request__descriptor, "{'name':'dev/shop'}"),
        "name: it must be <app organization>/<app name>/<app version>");
}

static void a_site_comes(void **state)
{
    assert_string_equal(crm_says("init", RECORD_CLOUDLET, SITE, "", 0, ""),
                        "there is no cloudlet acme/paris: make it with `bbs cloudlets create "
                        "acme/paris`");
    assert_string_equal(move("cloudlet", "create", SITE, "{}"),
                        "location: say latitude and longitude");
    assert_string_equal(
        move("cloudlet", "create", SITE, "{'cloudlet':{'latitude':48.8,'longitude':2.3}}"), "");
    assert_string_equal(
        move("cloudlet", "create", SITE, "{'cloudlet':{'latitude':48.8,'longitude':2.3}}"),
        "cloudlet acme/paris exists");
    const char *uid = cloudlet()->uid;
    assert_string_equal(cloudlet()->state, "CREATING");
    assert_string_equal(crm_says("init", RECORD_CLOUDLET, SITE, uid, 0, ""), "");
    assert_string_equal(crm_says("sync", RECORD_CLOUDLETINFO, SITE, uid, 0, ""), "");
    assert_string_equal(
        move("cluster", "create", CLUSTER, "{'cluster':{'flavor':'small','nodes':2}}"),
        "cloudlet acme/paris was never ready: it is CRM_INITOK for 0 s");
    assert_string_equal(crm_says("ready", RECORD_CLOUDLET, SITE, uid, 1,
                                 ",'leads_site':true,'totals':{'memory_mb':2048,'disk_mb':4096,"
                                 "'containers':64},'cells':1"),
                        "");
    assert_string_equal(cloudlet()->state, "READY");
    assert_string_equal(progress_of(uid),
                        "create requested: waits for the CRM of acme/paris\n"
                        "the CRM of version 1 has come\nready: version 1\n[ready]");
}

static void a_cluster_is_made(void **state)
{
    assert_string_equal(
        move("cluster", "create", CLUSTER, "{'cluster':{'flavor':'small','nodes':65}}"),
        "nodes: 65, must be from 1 to 64");
    assert_string_equal(
        move("cluster", "create", CLUSTER, "{'cluster':{'flavor':'small','nodes':5}}"),
        "not enough memory at acme/paris: 2560 MiB wanted, 2048 of 2048 MiB free");
    assert_string_equal(
        move("cluster", "create", CLUSTER, "{'cluster':{'flavor':'small','nodes':2}}"), "");
    const char *uid = cluster()->uid;
    assert_string_equal(crm_says("ready", RECORD_CLUSTERINST, CLUSTER, uid, 2, ""),
                        "request 2 of acme/paris/dev/web is over: the board's is 1");
    assert_string_equal(crm_says("creating", RECORD_CLUSTERINST, CLUSTER, uid, 1,
                                 ",'step':{'step':1,'steps':2,'text':'slice reserved'}"),
                        "");
    assert_string_equal(move("cluster", "update", CLUSTER, "{'cluster':{'nodes':1}}"),
                        "acme/paris/dev/web is busy: CREATING for 0 s");
    assert_string_equal(crm_says("ready", RECORD_CLUSTERINST, CLUSTER, uid, 1, ""), "");
    assert_string_equal(progress_of(uid), "create requested: 2 nodes of small at acme/paris\n"
                                          "acme/paris has begun\nstep 1 of 2: slice reserved\n"
                                          "ready\n[ready]");
    assert_string_equal(
        ask("/v1/edge/flavor/remove", &board__edge_remove_request__descriptor, "{'name':'small'}"),
        "small is used by dev/shop/1.0, acme/paris/dev/web");
}

static void an_instance_is_made_and_goes(void **state)
{
    assert_string_equal(move("instance", "create", INSTANCE, "{}"), "");
    const char *uid = instance()->uid;
    assert_string_equal(instance()->uri, "1-0.shop.dev.web.dev.paris.acme");
    assert_int_equal(instance()->spec->ports[0]->public_, 8080);
    assert_string_equal(crm_says("ready", RECORD_APPINST, INSTANCE, uid, 1,
                                 ",'instance_report':{'health':'OK','running':1}"),
                        "");
    assert_string_equal(move("instance", "refresh", INSTANCE, "{}"), "");
    assert_string_equal(instance()->state, "READY"); /* it has the newest */
    assert_string_equal(move("cluster", "delete", CLUSTER, "{}"),
                        "acme/paris/dev/web is used by acme/paris/dev/web/dev/shop/1.0");
    assert_string_equal(move("cloudlet", "delete", SITE, "{}"),
                        "cloudlet acme/paris is used by acme/paris/dev/web, "
                        "acme/paris/dev/web/dev/shop/1.0");
    assert_string_equal(move("instance", "delete", INSTANCE, "{}"), "");
    assert_string_equal(instance()->state, "DELETE_PREPARE");
    assert_string_equal(
        move("instance", "delete", INSTANCE, "{'override':'IGNORE_CRM_AND_TRANSIENT'}"), "");
    assert_null(instance());
    assert_non_null(strstr(progress_of(uid), "[deleted]"));
    assert_string_equal(ask("/v1/edge/app/remove", &board__edge_remove_request__descriptor,
                            "{'name':'dev/shop/1.0'}"),
                        "");
}

static void maintenance_is_asked_for(void **state)
{
    assert_string_equal(move("maintenance", "start_no_failover", SITE, "{}"), "");
    const Board__MaintenanceRecord *m =
        told("maintenance", &board__edge_maintenance_response__descriptor, SITE);
    assert_string_equal(
        crm_says("under_maintenance", RECORD_MAINTENANCE, SITE, m->uid, m->request, ""), "");
    assert_string_equal(move("cluster", "update", CLUSTER, "{'cluster':{'nodes':1}}"),
                        "cloudlet acme/paris is in maintenance");
    assert_string_equal(move("maintenance", "end", SITE, "{}"), "");
    m = told("maintenance", &board__edge_maintenance_response__descriptor, SITE);
    assert_string_equal(crm_says("normal", RECORD_MAINTENANCE, SITE, m->uid, m->request, ""), "");
    assert_string_equal(move("cluster", "update", CLUSTER, "{'cluster':{'nodes':1}}"), "");
    const Board__RefsRecord *refs = told("refs", &board__edge_refs_response__descriptor, SITE);
    assert_int_equal(refs->used->memory_mb, 1024); /* until the smaller one runs */
    assert_string_equal(crm_says("ready", RECORD_CLUSTERINST, CLUSTER, cluster()->uid, 2, ""), "");
    refs = told("refs", &board__edge_refs_response__descriptor, SITE);
    assert_int_equal(refs->used->memory_mb, 512);
    assert_string_equal(move("cluster", "delete", CLUSTER, "{'override':'IGNORE_CRM'}"), "");
    assert_string_equal(move("cloudlet", "delete", SITE, "{'override':'IGNORE_CRM'}"), "");
    assert_null(cloudlet());
}

static void others_may_not_call(void **state)
{
    SCOPED_BUF(answer);
    static const char *const paths[] = {"/v1/edge/flavor/set",       "/v1/edge/app/apply",
                                        "/v1/edge/cloudlet/create",  "/v1/edge/cluster/delete",
                                        "/v1/edge/instance/refresh", "/v1/edge/maintenance/end"};
    const struct tls_files *others[] = {&bbs_rig.rep, &bbs_rig.converger, &crm};
    for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++) {
        for (size_t o = 0; o < 3; o++) {
            int status = bbs_ask_as(others[o], next_port(), "POST", paths[p], (struct bytes){0},
                                    NULL, &answer);
            assert_int_equal(status, 403);
        }
    }
    /* A CRM lists nothing. */
    assert_int_equal(bbs_ask_as(&crm, next_port(), "POST", "/v1/edge/cloudlet/list",
                                (struct bytes){0}, NULL, &answer),
                     403);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_run_is_told),     cmocka_unit_test(a_site_comes),
        cmocka_unit_test(a_cluster_is_made),        cmocka_unit_test(an_instance_is_made_and_goes),
        cmocka_unit_test(maintenance_is_asked_for), cmocka_unit_test(others_may_not_call),
    };
    int failed = BBS_RIG_RUN("edge_api", tests);
    arena_done(&arena);
    return failed;
}
