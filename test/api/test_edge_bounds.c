/* What a centre refuses of what is wrong, over TLS at a running bbs: names, numbers, sizes and
 * states beyond their bounds, asked in protobuf and in JSON, each in one sentence that has the
 * field and its bound; what a CRM says beyond its own; who may call which path; and records that
 * this version does not know, which are kept and left alone. */
#include "board.pb-c.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "edge_api.pb-c.h"
#include "test/api/edge_rig.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <stdio.h>
#include <string.h>

#define SITE "acme/paris"
#define CLUSTER "acme/paris/dev/web"
#define INSTANCE "acme/paris/dev/web/dev/shop/1.0"
#define N32 "12345678901234567890123456789012"
#define N40 "1234567890123456789012345678901234567890"

static struct arena arena; /* of all that is said */
static struct tls_files crm;
static const char *generation;

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static int port(void)
{
    return bbs_rig.bbs[0].port;
}

/* ---- The board ------------------------------------------------------------------------------- */

static void lay_site(void)
{
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    Board__CloudletSpec spec = BOARD__CLOUDLET_SPEC__INIT;
    Board__CloudletInfoRecord info = BOARD__CLOUDLET_INFO_RECORD__INIT;
    Board__EdgeResources totals = BOARD__EDGE_RESOURCES__INIT;
    Board__MaintenanceRecord m = BOARD__MAINTENANCE_RECORD__INIT;
    Board__RefsRecord refs = BOARD__REFS_RECORD__INIT;
    Board__EdgeResources used = BOARD__EDGE_RESOURCES__INIT;
    totals.memory_mb = totals.disk_mb = 4096;
    totals.containers = 1000;
    spec.latitude = 48.8;
    c.name = info.name = m.name = refs.cloudlet = text(SITE);
    c.uid = info.uid = m.uid = text("uid-of-paris");
    c.state = info.state = text("READY");
    c.version = c.target_version = info.version = text("1.2");
    c.identity = info.identity = text("X");
    c.request = info.session = 1;
    c.spec = &spec;
    info.totals = &totals;
    m.state = text("NORMAL_OPERATION");
    refs.used = &used;
    edge_lay(key_edge(&arena, RECORD_MAINTENANCE, SITE), &m.base);
    edge_lay(key_edge(&arena, RECORD_REFS, SITE), &refs.base);
    edge_lay(key_edge(&arena, RECORD_CLOUDLETINFO, SITE), &info.base);
    edge_lay(key_edge(&arena, RECORD_CLOUDLET, SITE), &c.base);
}

static const char *ask(const char *path, const ProtobufCMessageDescriptor *d, const char *json)
{
    SCOPED_BUF(answer);
    const ProtobufCMessage *m = edge_message(&arena, d, json);
    int status;
    struct patience w = {0};
    do { /* an etcd that is slow for a moment is no end */
        status = bbs_post(port(), path, m, &answer);
    } while (status == 503 && patience(&w));
    assert_int_equal(status, 200);
    return edge_error_of(&arena, &answer);
}

static int ask_in_json(const char *path, const char *json, struct buf *answer)
{
    int status;
    struct patience w = {0};
    do {
        status = edge_post_json(&bbs_rig.client, port(), path, json, answer);
    } while (status == 503 && patience(&w));
    return status;
}

/* What the bbs has not heard of yet is asked again. */
static void ask_until_done(const char *path, const ProtobufCMessageDescriptor *d, const char *json)
{
    const char *why = "?";
    for (struct patience w = {0}; *why && patience(&w);) {
        why = ask(path, d, json);
    }
    assert_string_equal(why, "");
}

static const void *list_one(const char *noun, const char *name)
{
    SCOPED_BUF(answer);
    Board__EdgeListRequest r = BOARD__EDGE_LIST_REQUEST__INIT;
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    r.name = text(name);
    const char *path = arena_printf(&arena, "/v1/edge/%s/list", noun);
    assert_int_equal(bbs_post(port(), path, &r.base, &answer), 200);
    const Board__EdgeInstancesResponse *i =
        board__edge_instances_response__unpack(&allocator, answer.size, answer.data);
    const Board__EdgeClustersResponse *c =
        board__edge_clusters_response__unpack(&allocator, answer.size, answer.data);
    if (strcmp(noun, "instance") == 0) {
        return i && i->n_instances ? i->instances[0] : NULL;
    }
    return c && c->n_clusters ? c->clusters[0] : NULL;
}

static const Board__ClusterInstRecord *cluster(void)
{
    return list_one("cluster", CLUSTER);
}

static const Board__AppInstRecord *instance(void)
{
    return list_one("instance", INSTANCE);
}

#define REQUEST &board__edge_request__descriptor
#define APP_FILE &board__edge_app_revision_record__descriptor
#define RUNS "'definition':{'rootfs':'preloaded:x','action':{'run':{'path':'/p','user':'u'}}}"

static void a_site_is_there(void **state)
{
    SCOPED_BUF(answer);
    Board__ApplyRequest none = BOARD__APPLY_REQUEST__INIT;
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    crm = certs_make(&bbs_rig.certs, "crm", "crm", SITE, 3600);
    bbs_post_as(&crm, "/v1/board/apply", &none.base, &answer);
    generation =
        board__apply_response__unpack(&allocator, answer.size, answer.data)->board_generation;
    lay_site();
    ask_until_done("/v1/edge/flavor/set", &board__flavor_record__descriptor,
                   "{'name':'small','size':{'memory_mb':512,'disk_mb':512}}");
    ask_until_done("/v1/edge/flavor/set", &board__flavor_record__descriptor,
                   "{'name':'big','size':{'memory_mb':1024,'disk_mb':512}}");
    ask_until_done(
        "/v1/edge/app/apply", APP_FILE,
        "{'name':'dev/shop/1.0','spec':{'flavor':'small','ports':[{'internal':8080}]}," RUNS "}");
    ask_until_done("/v1/edge/app/apply", APP_FILE,
                   "{'name':'dev/range/1.0','spec':{'flavor':'small','ports':[{'internal':8000,"
                   "'last':8010}]}," RUNS "}");
    ask_until_done("/v1/edge/app/apply", APP_FILE,
                   "{'name':'dev/plain/1.0','spec':{'flavor':'small'}," RUNS "}");
    ask_until_done("/v1/edge/cluster/create", REQUEST,
                   "{'name':'" CLUSTER
                   "','says':{'override':'IGNORE_CRM','cluster':{'flavor':'small','nodes':2}}}");
    ask_until_done("/v1/edge/instance/create", REQUEST,
                   "{'name':'" INSTANCE "','says':{'override':'IGNORE_CRM'}}");
}

/* ---- What clients say ------------------------------------------------------------------------ */

#define SAYS(name, says) "{'name':'" name "','says':" says "}"
#define MAKES_CLUSTER(name, spec) SAYS(name, "{'cluster':" spec "}")
#define APP(name, ports)                                                                           \
    "{'name':'" name "','spec':{'flavor':'small','ports':[" ports "]}," RUNS "}"
#define SMALL_SIZE "'size':{'memory_mb':1,'disk_mb':1}"
#define PARIS2 "'cloudlet':{'latitude':48.8,'longitude':2.3}"
#define LETTERS " must begin with a letter or digit, and have letters, digits, -, _ and . alone"

/* Status 0: it is no message in JSON at all, so that the codec says so. */
static const struct {
    const char *path;
    const ProtobufCMessageDescriptor *type;
    const char *json;
    int status;
    const char *why;
} wrong[] = {
    /* Names */
    {"flavor/set", &board__flavor_record__descriptor, "{'name':'b g'," SMALL_SIZE "}", 400,
     "flavor name: \"b g\"" LETTERS},
    {"flavor/set", &board__flavor_record__descriptor, "{'name':'b/g'," SMALL_SIZE "}", 400,
     "name: it must be <flavor name>"},
    {"flavor/set", &board__flavor_record__descriptor, "{" SMALL_SIZE "}", 400,
     "flavor name: \"\"" LETTERS},
    {"flavor/set", &board__flavor_record__descriptor, "{'name':'" N40 "x'," SMALL_SIZE "}", 400,
     "flavor name: " N40 "... has 41 characters: at most 40"},
    {"app/apply", APP_FILE, APP("dev/sh op/1.0", ""), 400, "app name: \"sh op\"" LETTERS},
    {"app/apply", APP_FILE, APP("dev/shop/1.0/x", ""), 400,
     "name: it must be <app organization>/<app name>/<app version>"},
    {"app/apply", APP_FILE, APP("dev/shop/" N40 "x", ""), 400,
     "app version: " N40 "... has 41 characters: at most 40"},
    {"cloudlet/create", REQUEST, SAYS("acme/pa ris", "{" PARIS2 "}"), 400,
     "cloudlet name: \"pa ris\"" LETTERS},
    {"cloudlet/create", REQUEST, SAYS("acme/" N32, "{" PARIS2 "}"), 400,
     "cloudlet name: 1234567890123456789012345678901... has 32 characters: at most 31"},
    {"cloudlet/create", REQUEST, SAYS(N32 "/paris", "{" PARIS2 "}"), 400,
     "cloudlet organization: 1234567890123456789012345678901... has 32 characters: at most 31"},
    {"cloudlet/create", REQUEST, SAYS("paris", "{" PARIS2 "}"), 400,
     "name: it must be <cloudlet organization>/<cloudlet name>"},
    {"cluster/create", REQUEST, MAKES_CLUSTER(SITE "/dev/" N40 "x", "{'flavor':'small','nodes':1}"),
     400, "cluster name: " N40 "... has 41 characters: at most 40"},
    {"cluster/create", REQUEST,
     MAKES_CLUSTER(SITE "/dev/reservable0", "{'flavor':'small','nodes':1}"), 400,
     "cluster name: reservable0 is kept for clusters that are made for app instances"},
    {"cluster/create", REQUEST,
     MAKES_CLUSTER(SITE "/dev/autocluster7", "{'flavor':'small','nodes':1}"), 400,
     "cluster name: autocluster7 is kept for clusters that are made for app instances"},
    {"cluster/create", REQUEST,
     MAKES_CLUSTER(SITE "/dev/defaultclust", "{'flavor':'small','nodes':1}"), 400,
     "cluster name: defaultclust is kept for clusters that are made for app instances"},
    {"cluster/create", REQUEST,
     MAKES_CLUSTER(SITE "/corkboard/web", "{'flavor':'small','nodes':1}"), 400,
     "reservable: clusters of organization corkboard are, and no others"},
    {"instance/create", REQUEST, SAYS(CLUSTER, "{}"), 400,
     "name: it must be <cloudlet organization>/<cloudlet name>/<cluster organization>/<cluster "
     "name>/<app organization>/<app name>/<app version>"},
    {"instance/delete", REQUEST, SAYS("", "{}"), 400, "cloudlet organization: \"\"" LETTERS},
    {"maintenance/start", REQUEST, SAYS("acme", "{}"), 400,
     "name: it must be <cloudlet organization>/<cloudlet name>"},
    /* Nodes, flavors, quota */
    {"cluster/create", REQUEST, MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'small'}"), 400,
     "nodes: 0, must be from 1 to 64"},
    {"cluster/create", REQUEST, MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'small','nodes':65}"), 400,
     "nodes: 65, must be from 1 to 64"},
    {"cluster/update", REQUEST, MAKES_CLUSTER(CLUSTER, "{'nodes':65}"), 400,
     "nodes: 65, must be from 1 to 64"},
    {"cluster/create", REQUEST,
     MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'small','nodes':61,'dedicated':true}"), 400,
     "nodes: 61 on cells of its own, at most 60"},
    {"cluster/create", REQUEST, MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'none','nodes':1}"), 404,
     "there is no flavor none"},
    {"cluster/create", REQUEST, MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'big','nodes':4}"), 409,
     "not enough memory at acme/paris: 4096 MiB wanted, 3072 of 4096 MiB free"},
    {"cluster/update", REQUEST, MAKES_CLUSTER(CLUSTER, "{'nodes':9}"), 409,
     "not enough memory at acme/paris: 3584 MiB wanted, 3072 of 4096 MiB free"},
    {"instance/create", REQUEST, SAYS(CLUSTER "/dev/plain/1.0", "{'instance':{'flavor':'big'}}"),
     409,
     "flavor big is larger than a node of cluster acme/paris/dev/web: 1024 of 512 MiB memory, 512 "
     "of 512 MiB disk"},
    {"instance/create", REQUEST, SAYS(CLUSTER "/dev/plain/1.0", "{'instance':{'flavor':'none'}}"),
     404, "there is no flavor none"},
    {"flavor/set", &board__flavor_record__descriptor, "{'name':'x','size':{'disk_mb':-1}}", 400,
     "memory_mb: at least 1, disk_mb: at least 1"},
    {"flavor/set", &board__flavor_record__descriptor,
     "{'name':'x','size':{'memory_mb':1,'disk_mb':1,'containers':-1}}", 400,
     "containers: at least 1, or 0 for 16"},
    /* Where it is */
    {"cloudlet/create", REQUEST, SAYS("acme/rome", "{}"), 400,
     "location: say latitude and longitude"},
    {"cloudlet/create", REQUEST, SAYS("acme/rome", "{'cloudlet':{}}"), 400,
     "location: 0,0 is none: say latitude and longitude"},
    {"cloudlet/create", REQUEST, SAYS("acme/rome", "{'cloudlet':{'latitude':-90.1}}"), 400,
     "latitude: from -90 to 90"},
    {"cloudlet/create", REQUEST, SAYS("acme/rome", "{'cloudlet':{'longitude':181}}"), 400,
     "longitude: from -180 to 180"},
    {"cloudlet/create", REQUEST,
     SAYS("acme/rome", "{'cloudlet':{'latitude':1,'alert_percent':101}}"), 400,
     "alert_percent: from 1 to 100"},
    {"cloudlet/create", REQUEST,
     SAYS("acme/rome", "{'cloudlet':{'latitude':1,'quota':{'memory_mb':-1}}}"), 400,
     "quota: not below 0"},
    /* Ports */
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':22}"), 400, "ports: 22 is not for apps"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':20,'last':30}"), 400,
     "ports: 22 is not for apps"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':0}"), 400,
     "ports: 0, must be from 1 to 65535"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':65536}"), 400,
     "ports: 65536, must be from 1 to 65535"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':65535,'last':65536}"), 400,
     "ports: 65535 to 65536, must rise, and be from 1 to 65535"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':9,'last':8}"), 400,
     "ports: 9 to 8, must rise, and be from 1 to 65535"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':80},{'internal':80}"), 400,
     "ports: 80 is said twice"},
    {"app/apply", APP_FILE, APP("dev/new/1", "{'internal':70,'last':90},{'internal':80}"), 400,
     "ports: 80 is said twice"},
    {"instance/create", REQUEST, SAYS(CLUSTER "/dev/range/1.0", "{}"), 409,
     "ports 8000 to 8010: on the shared address of a cloudlet there are no ranges: a dedicated "
     "cluster has them"},
    /* Apps */
    {"app/apply", APP_FILE, "{'name':'dev/new/1'," RUNS "}", 400, "flavor: which one?"},
    {"app/apply", APP_FILE, "{'name':'dev/new/1','spec':{'flavor':'small'}}", 400,
     "definition: what does it run?"},
    {"app/apply", APP_FILE, "{'name':'dev/new/1','spec':{'flavor':'none'}," RUNS "}", 404,
     "there is no flavor none"},
    {"app/apply", APP_FILE,
     "{'name':'dev/new/1','spec':{'flavor':'small'},'definition':{'rootfs':'preloaded:x',"
     "'memory_mb':5,'action':{'run':{'path':'/p','user':'u'}}}}",
     400,
     "definition: process_guid, domain, owner, instances, memory, disk, routes and slice are the "
     "centre's to say"},
    {"app/apply", APP_FILE,
     "{'name':'dev/new/1','spec':{'flavor':'small'},'definition':{'rootfs':'preloaded:x'}}", 400,
     "invalid action type"},
    {"app/apply", APP_FILE,
     "{'name':'dev/new/1','spec':{'flavor':'small'},'definition':{'rootfs':'preloaded:x',"
     "'max_pids':-1,'action':{'run':{'path':'/p','user':'u'}}}}",
     400, "Invalid field: max_pids"},
    /* Versions, overrides, and nothing at all */
    {"cloudlet/upgrade", REQUEST, SAYS(SITE, "{'version':'1.1'}"), 409,
     "version: 1.1 is not above 1.2, which cloudlet acme/paris runs"},
    {"cloudlet/upgrade", REQUEST, SAYS(SITE, "{}"), 400, "version: which one?"},
    {"instance/delete", REQUEST, SAYS(INSTANCE, "{'override':9}"), 400,
     "override: there is no 9, only 0 to 4"},
    {"cloudlet/update", REQUEST, SAYS(SITE, "{}"), 400,
     "update: nothing is said that could change"},
    {"cluster/update", REQUEST, SAYS(CLUSTER, "{}"), 400, "nodes: how many?"},
    {"instance/update", REQUEST, SAYS(INSTANCE, "{}"), 400,
     "update: nothing is said that could change"},
    {"instance/update", REQUEST, SAYS(INSTANCE, "{'instance':{'env':[{'value':'x'}]}}"), 400,
     "env: a variable has a name, without ="},
    {"instance/update", REQUEST, SAYS(INSTANCE, "{'instance':{'env':[{'name':'A=B'}]}}"), 400,
     "env: a variable has a name, without ="},
    /* What is not there, or is */
    {"instance/delete", REQUEST, SAYS(CLUSTER "/dev/none/1.0", "{}"), 404,
     "there is no app instance acme/paris/dev/web/dev/none/1.0"},
    {"cluster/update", REQUEST, MAKES_CLUSTER(SITE "/dev/none", "{'nodes':1}"), 404,
     "there is no cluster acme/paris/dev/none"},
    {"cluster/create", REQUEST, MAKES_CLUSTER("acme/rome/dev/a", "{'flavor':'small','nodes':1}"),
     404, "there is no cloudlet acme/rome"},
    {"cluster/create", REQUEST, MAKES_CLUSTER(CLUSTER, "{'flavor':'small','nodes':1}"), 409,
     "cluster acme/paris/dev/web exists"},
    {"cloudlet/create", REQUEST, SAYS(SITE, "{" PARIS2 "}"), 409, "cloudlet acme/paris exists"},
};

static void expect_text(const char *is, const char *wanted, const char *json)
{
    if (strcmp(is, wanted) != 0) {
        fail_msg("%s\n  %s\n  is not\n  %s", json, is, wanted);
    }
}

static void what_is_wrong_is_one_sentence(void **state)
{
    SCOPED_BUF(answer);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *path = arena_printf(&arena, "/v1/edge/%s", wrong[i].path);
        expect_text(ask(path, wrong[i].type, wrong[i].json), wrong[i].why, wrong[i].json);
        int status = ask_in_json(path, wrong[i].json, &answer);
        expect_text(edge_error_in_json(&arena, &answer), wrong[i].why, wrong[i].json);
        if (status != wrong[i].status) {
            fail_msg("%d: %s", status, wrong[i].json);
        }
        assert_null(strchr(wrong[i].why, '\n'));
    }
}

static void what_is_no_message_is_told(void **state)
{
    static const struct {
        const char *json, *part;
    } rows[] = {
        {MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'small','nodes':-1}"), "nodes"},
        {MAKES_CLUSTER(SITE "/dev/a", "{'flavor':'small','nodes':'two'}"), "nodes"},
        {MAKES_CLUSTER(SITE "/dev/a", "{'flavour':'small'}"), "flavour"},
        {SAYS(SITE "/dev/a", "{'override':'ALL'}"), "override"},
        {"{'name':", ""},
    };
    SCOPED_BUF(answer);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status = ask_in_json("/v1/edge/cluster/create", rows[i].json, &answer);
        const char *why = edge_error_in_json(&arena, &answer);
        if (status != 400 || strncmp(why, "the body cannot be read: ", 25) != 0 ||
            !strstr(why, rows[i].part)) {
            fail_msg("%d %s: %s", status, rows[i].json, why);
        }
    }
}

/* An app of so many bytes, by the length of a variable. */
static const char *app_of(size_t bytes)
{
    static const char head[] = "{'name':'dev/large/1.0','spec':{'flavor':'small'},'definition':{"
                               "'rootfs':'preloaded:x','action':{'run':{'path':'/p','user':'u'}},"
                               "'env':[{'name':'A','value':'";
    enum { MANY = 64 * 1024 };
    char *filler = arena_alloc(&arena, bytes + 1);
    memset(filler, 'x', bytes);
    filler[bytes] = 0;
    for (size_t size = bytes > MANY ? bytes - MANY : 0;; size++) {
        const char *json = arena_printf(&arena, "%s%.*s'}]}}", head, (int)size, filler);
        size_t is = protobuf_c_message_get_packed_size(edge_message(&arena, APP_FILE, json));
        if (is >= bytes) {
            assert_int_equal(is, bytes);
            return json;
        }
        size += bytes - is - 1;
    }
}

static void an_app_has_a_mebibyte_at_most(void **state)
{
    SCOPED_BUF(answer);
    const char *most = app_of(1024 * 1024 - 64), *more = app_of(1024 * 1024 - 63);
    const char *why = "app dev/large/1.0 has 1048513 bytes: at most 1048512";
    assert_string_equal(ask("/v1/edge/app/apply", APP_FILE, more), why);
    assert_int_equal(ask_in_json("/v1/edge/app/apply", more, &answer), 400);
    assert_string_equal(edge_error_in_json(&arena, &answer), why);
    assert_string_equal(ask("/v1/edge/app/apply", APP_FILE, most), "");
    assert_string_equal(ask("/v1/edge/app/remove", &board__edge_remove_request__descriptor,
                            "{'name':'dev/large/1.0'}"),
                        "");
}

/* At their bounds names are taken. */
static void the_longest_names_are_taken(void **state)
{
    static const char n31[] = "1234567890123456789012345678901";
    const char *site = arena_printf(&arena, "%s/%s", n31, n31);
    assert_string_equal(ask("/v1/edge/flavor/set", &board__flavor_record__descriptor,
                            "{'name':'" N40 "'," SMALL_SIZE "}"),
                        "");
    assert_string_equal(ask("/v1/edge/app/apply", APP_FILE, APP(N40 "/" N40 "/" N40, "")), "");
    assert_string_equal(ask("/v1/edge/cloudlet/create", REQUEST,
                            arena_printf(&arena, "{'name':'%s','says':{" PARIS2 "}}", site)),
                        "");
    assert_string_equal(
        ask("/v1/edge/cloudlet/delete", REQUEST,
            arena_printf(&arena, "{'name':'%s','says':{'override':'IGNORE_CRM'}}", site)),
        "");
}

/* ---- What a CRM says ------------------------------------------------------------------------- */

static Board__Move *crm_move(const char *name, const char *object, enum record_type type,
                             const char *says)
{
    Board__Move *m = move_new(&arena, name, key_edge(&arena, type, object));
    const Board__AppInstRecord *i = instance();
    const Board__ClusterInstRecord *c = cluster();
    bool app = type == RECORD_APPINST;
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = (Board__EdgeMove *)edge_message(&arena, &board__edge_move__descriptor, says);
    m->edge->uid = *m->edge->uid                 ? m->edge->uid
                   : type == RECORD_CLOUDLETINFO ? text("uid-of-paris")
                   : app                         ? i->uid
                                                 : c->uid;
    m->edge->request = app ? i->request : c->request;
    m->edge->session = 1;
    m->edge->board_generation = text(generation);
    return m;
}

static const Board__ApplyResponse *apply(Board__Move **moves, size_t count)
{
    SCOPED_BUF(answer);
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    r.moves = moves;
    r.n_moves = count;
    SCOPED_BUF(body);
    buf_message(&body, &r.base);
    int status;
    struct patience w = {0};
    do {
        status =
            bbs_ask_as(&crm, port(), "POST", "/v1/board/apply", buf_bytes(&body), NULL, &answer);
    } while (status == 503 && patience(&w));
    assert_int_equal(status, 200);
    const Board__ApplyResponse *got =
        board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    return got;
}

static const char *says(const char *object, enum record_type type, const char *json)
{
    Board__Move *m = crm_move("report", object, type, json);
    const Board__ApplyResponse *got = apply(&m, 1);
    assert_int_equal(got->n_results, 1);
    return got->results[0]->error ? got->results[0]->error->message : "";
}

/* The text so often, with commas between. */
static const char *times(const char *what, int count)
{
    const char *all = what;
    for (int i = 1; i < count; i++) {
        all = arena_printf(&arena, "%s,%s", all, what);
    }
    return all;
}

static const char *xs(size_t count)
{
    char *filler = arena_alloc(&arena, count + 1);
    memset(filler, 'x', count);
    filler[count] = 0;
    return filler;
}

/* Each beyond its bound by one is refused whole, and at it taken. */
static void reports_have_bounds(void **state)
{
#define APP_REPORT(field, list)                                                                    \
    arena_printf(&arena, "{'instance_report':{'health':'OK','" field "':[%s]}}", list)
#define CELLS_REPORT(list)                                                                         \
    arena_printf(&arena, "{'cluster_report':{'health':'OK','cells':[%s]}}", list)
    const struct {
        enum record_type type;
        const char *most, *more, *why;
    } rows[] = {
        {RECORD_APPINST, APP_REPORT("endpoints", times("'a:1'", 64)),
         APP_REPORT("endpoints", times("'a:1'", 65)), "endpoints: 65, at most 64"},
        {RECORD_APPINST, APP_REPORT("runtime_ids", times("'a'", 64)),
         APP_REPORT("runtime_ids", times("'a'", 65)), "runtime_ids: 65, at most 64"},
        {RECORD_APPINST, APP_REPORT("endpoints", arena_printf(&arena, "'%s'", xs(256))),
         APP_REPORT("endpoints", arena_printf(&arena, "'%s'", xs(257))),
         "endpoints: 257 bytes, at most 256"},
        {RECORD_APPINST, arena_printf(&arena, "{'instance_report':{'health':'%s'}}", xs(256)),
         arena_printf(&arena, "{'instance_report':{'health':'%s'}}", xs(257)),
         "health: 257 bytes, at most 256"},
        {RECORD_CLUSTERINST, CELLS_REPORT(times("'c'", 60)), CELLS_REPORT(times("'c'", 61)),
         "cells: 61, at most 60"},
        {RECORD_CLUSTERINST, "{'cluster_report':{'used':{}}}",
         "{'cluster_report':{'used':{'disk_mb':-1}}}",
         "used: memory, disk and containers are not below 0"},
        {RECORD_CLOUDLETINFO, arena_printf(&arena, "{'errors':[%s]}", times("'e'", 16)),
         arena_printf(&arena, "{'errors':[%s]}", times("'e'", 17)), "errors: 17, at most 16"},
        {RECORD_CLOUDLETINFO, arena_printf(&arena, "{'errors':['%s']}", xs(512)),
         arena_printf(&arena, "{'errors':['%s']}", xs(513)), "errors: 513 bytes, at most 512"},
        {RECORD_CLOUDLETINFO, "{'totals':{'memory_mb':4096,'disk_mb':4096,'containers':1000}}",
         "{'totals':{'memory_mb':-1}}", "totals: memory, disk and containers are not below 0"},
        {RECORD_APPINST, arena_printf(&arena, "{'step':{'text':'%s'}}", xs(512)),
         arena_printf(&arena, "{'step':{'text':'%s'}}", xs(513)), "step: 513 bytes, at most 512"},
        {RECORD_APPINST, "{'step':{'step':1000,'steps':1000,'text':'x'}}",
         "{'step':{'step':1001,'steps':1001,'text':'x'}}",
         "step: 1001 of 1001, at most 1000 of as many"},
        {RECORD_APPINST, "{'step':{'step':2,'steps':2,'text':'x'}}",
         "{'step':{'step':3,'steps':2,'text':'x'}}", "step: 3 of 2, at most 1000 of as many"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *object = rows[i].type == RECORD_APPINST       ? INSTANCE
                             : rows[i].type == RECORD_CLUSTERINST ? CLUSTER
                                                                  : SITE;
        expect_text(says(object, rows[i].type, rows[i].most), "", rows[i].most);
        expect_text(says(object, rows[i].type, rows[i].more), rows[i].why, rows[i].more);
        assert_true(instance()->reported->n_endpoints <= 64);
        assert_true(!cluster()->reported || cluster()->reported->n_cells <= 60);
    }
    assert_string_equal(
        says(INSTANCE, RECORD_APPINST, arena_printf(&arena, "{'uid':'%s'}", xs(257))),
        "uid: 257 bytes, at most 256");
    assert_string_equal(
        says(INSTANCE, RECORD_APPINST, arena_printf(&arena, "{'error':'%s'}", xs(4097))),
        "error: 4097 bytes, at most 4096");
}

/* One too many, and nothing of the request is done. */
static void a_request_has_256_moves_at_most(void **state)
{
    Board__Move *moves[257];
    for (size_t i = 0; i < 257; i++) {
        moves[i] = i ? moves[1 - (i == 1)] : NULL;
        if (i < 2) {
            moves[i] = crm_move("report", INSTANCE, RECORD_APPINST,
                                "{'instance_report':{'health':'SERVER_FAIL'}}");
        }
    }
    const Board__ApplyResponse *got = apply(moves, 257);
    assert_string_equal(got->error ? got->error->message : "",
                        "257 moves in one request: at most 256");
    assert_int_equal(got->n_results, 0);
    assert_string_not_equal(instance()->reported->health, "SERVER_FAIL");
    got = apply(moves, 256);
    assert_null(got->error);
    assert_int_equal(got->n_results, 256);
    assert_string_equal(instance()->reported->health, "SERVER_FAIL");
}

/* More lines than are kept: the first and the last stand, and one tells what is left out. */
static void progress_has_256_lines_at_most(void **state)
{
    SCOPED_BUF(answer);
    ProtobufCAllocator allocator = arena_protobuf(&arena);
    assert_string_equal(ask("/v1/edge/instance/refresh", REQUEST, SAYS(INSTANCE, "{'force':true}")),
                        "");
    for (int i = 0; i < 300; i++) {
        const char *step = arena_printf(&arena, "{'step':{'text':'line %d'}}", i);
        assert_string_equal(says(INSTANCE, RECORD_APPINST, step), "");
    }
    Board__EdgeProgressRequest r = BOARD__EDGE_PROGRESS_REQUEST__INIT;
    r.uid = instance()->uid;
    assert_int_equal(bbs_post(port(), "/v1/edge/progress", &r.base, &answer), 200);
    const Board__ProgressRecord *p =
        board__edge_progress_response__unpack(&allocator, answer.size, answer.data)->progress;
    assert_int_equal(p->n_lines, 256);
    assert_string_equal(p->lines[255]->text, "line 299");
    size_t told = 0;
    for (size_t i = 0; i < p->n_lines; i++) {
        told += strstr(p->lines[i]->text, "are left out") != NULL;
        assert_true(i == 0 || p->lines[i]->number > p->lines[i - 1]->number);
    }
    assert_int_equal(told, 1);
    Board__Move *m = crm_move("ready", INSTANCE, RECORD_APPINST, "{}");
    assert_int_equal(apply(&m, 1)->results[0]->outcome, BOARD__MOVE_RESULT__OUTCOME__DONE);
}

/* ---- What this version does not know --------------------------------------------------------- */

static void a_state_that_nobody_knows_is_left_alone(void **state)
{
    static const char why[] =
        "acme/paris/dev/odd is in state DREAMING, which this version does not know";
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    node.memory_mb = node.disk_mb = 1;
    spec.node = &node;
    spec.nodes = 1;
    spec.flavor = text("small");
    c.name = text("acme/paris/dev/odd");
    c.uid = text("uid-of-odd");
    c.state = text("DREAMING");
    c.request = 1;
    c.spec = &spec;
    c.digest = text("d");
    edge_lay(key_edge(&arena, RECORD_CLUSTERINST, c.name), &c.base);
    for (int tries = 0; tries < 100 && !list_one("cluster", c.name); tries++) {
    }
    assert_string_equal(
        ask("/v1/edge/cluster/update", REQUEST, MAKES_CLUSTER("acme/paris/dev/odd", "{'nodes':2}")),
        why);
    assert_string_equal(ask("/v1/edge/cluster/delete", REQUEST,
                            SAYS("acme/paris/dev/odd", "{'override':'IGNORE_CRM_AND_TRANSIENT'}")),
                        why);
    assert_string_equal(says("acme/paris/dev/odd", RECORD_CLUSTERINST, "{'uid':'uid-of-odd'}"),
                        why);
    const Board__ClusterInstRecord *is = list_one("cluster", c.name);
    assert_string_equal(is->state, "DREAMING");
}

/* Of a newer format: nobody reads it, nobody writes over it, and what stands beside it goes on. */
static void a_record_of_a_newer_format_is_left_alone(void **state)
{
    SCOPED_BUF(answer);
    struct bytes newer = bytes_of("\x02 as a later version writes it");
    edge_lay_bytes("clusterinst/acme/paris/dev/newer", newer);
    for (int i = 0; i < 20; i++) { /* until the bbs has it, and after */
        const char *why = ask("/v1/edge/cluster/update", REQUEST,
                              MAKES_CLUSTER("acme/paris/dev/newer", "{'nodes':2}"));
        assert_string_not_equal(why, "");
        why = ask("/v1/edge/cluster/delete", REQUEST,
                  SAYS("acme/paris/dev/newer", "{'override':'IGNORE_CRM_AND_TRANSIENT'}"));
        assert_string_not_equal(why, "");
    }
    Board__EdgeRequest *r = (Board__EdgeRequest *)edge_message(
        &arena, REQUEST, MAKES_CLUSTER("acme/paris/dev/newer", "{'flavor':'small','nodes':1}"));
    int status = bbs_post(port(), "/v1/edge/cluster/create", &r->base, &answer);
    assert_true(status != 200 || *edge_error_of(&arena, &answer));
    assert_null(list_one("cluster", "acme/paris/dev/newer"));
    assert_string_equal(
        ask("/v1/edge/cluster/update", REQUEST, MAKES_CLUSTER(CLUSTER, "{'nodes':2}")), "");
}

/* ---- Who may call what ----------------------------------------------------------------------- */

enum { MAY_ALL = 1, MAY_READ = 2, MAY_NOTHING = 3 };

/* A client and an operator change, anybody but a CRM reads, and nobody does without a certificate.
 */
static void each_path_and_certificate(void **state)
{
    static const struct {
        const char *path;
        bool writes;
    } paths[] = {
#define WRITE true
#define READ(path, request, body_max, row) {path, false},
#define ROUTE(method, path, request, callers, body_max, kind, handler) {path, kind},
#include "bbs/route/edge.def"
#undef ROUTE
#undef READ
#undef WRITE
    };
    static const struct {
        const char *unit, *name;
        int may;
    } callers[] = {
        {"client", "somebody", MAY_ALL}, {"operator", "op", MAY_ALL},
        {"reader", "r", MAY_READ},       {"rep", "cell-1", MAY_READ},
        {"auctioneer", "a", MAY_READ},   {"converger", "c", MAY_READ},
        {"bbs", "bbs-1", MAY_READ},      {"site", "crm-1", MAY_READ},
        {"crm", SITE, MAY_NOTHING},      {"crm", "acme/rome", MAY_NOTHING},
        {"crm", "paris", MAY_NOTHING},
    };
    SCOPED_BUF(answer);
    size_t denied = 0;
    for (size_t c = 0; c < sizeof(callers) / sizeof(callers[0]); c++) {
        struct tls_files files = certs_make(&bbs_rig.certs, arena_printf(&arena, "of-%zu", c),
                                            callers[c].unit, callers[c].name, 3600);
        for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++) {
            bool may =
                callers[c].may == MAY_ALL || (callers[c].may == MAY_READ && !paths[p].writes);
            int status = edge_post_json(&files, port(), paths[p].path, "{}", &answer);
            if ((status == 403) == may || status == 0) {
                fail_msg("%s %s: %d", callers[c].unit, paths[p].path, status);
            }
            status =
                bbs_ask_as(&files, port(), "POST", paths[p].path, (struct bytes){0}, NULL, &answer);
            assert_true((status == 403) != may && status != 0);
            denied += !may;
        }
    }
    assert_true(denied > 100);
    struct tls_files old = certs_make(&bbs_rig.certs, "old", "client", "somebody", -10);
    const struct tls_files none = {.ca = bbs_rig.client.ca};
    assert_int_equal(edge_post_json(&old, port(), "/v1/edge/flavor/list", "{}", &answer), 0);
    assert_int_equal(edge_post_json(&none, port(), "/v1/edge/flavor/list", "{}", &answer), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_site_is_there),
        cmocka_unit_test(what_is_wrong_is_one_sentence),
        cmocka_unit_test(what_is_no_message_is_told),
        cmocka_unit_test(an_app_has_a_mebibyte_at_most),
        cmocka_unit_test(the_longest_names_are_taken),
        cmocka_unit_test(reports_have_bounds),
        cmocka_unit_test(a_request_has_256_moves_at_most),
        cmocka_unit_test(progress_has_256_lines_at_most),
        cmocka_unit_test(a_state_that_nobody_knows_is_left_alone),
        cmocka_unit_test(a_record_of_a_newer_format_is_left_alone),
        cmocka_unit_test(each_path_and_certificate),
    };
    int failed = BBS_RIG_RUN("edge_bounds", tests);
    arena_done(&arena);
    return failed;
}
