/* Who may call what, of the two certificates of a CRM, over TLS on a running bbs: OU crm at the
 * centre gets its own cloudlet's records and nothing else, OU site at its own site asks for what is
 * in slices, with its term (docs/edge.md, Two certificates). */
#include "board.pb-c.h"
#include "common/model/moves.h"
#include "models/domain.pb-c.h"
#include "test/api/edge_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

#define PARIS "acme/paris"

static struct tls_files files_of(const char *unit, const char *name)
{
    static int count;
    char file[32];
    snprintf(file, sizeof(file), "edge-%d", count++);
    return certs_make(&bbs_rig.certs, file, unit, name, 3600);
}

static int ask_message(const struct tls_files *files, const char *path, const ProtobufCMessage *m,
                       struct buf *answer)
{
    SCOPED_BUF(body);
    if (m) {
        buf_message(&body, m);
    }
    return bbs_ask_as(files, bbs_rig.bbs[0].port, "POST", path, buf_bytes(&body), NULL, answer);
}

static void lay_cloudlet(const char *name, uint64_t session)
{
    SCOPED_ARENA(a);
    Board__CloudletRecord cloudlet = BOARD__CLOUDLET_RECORD__INIT;
    Board__CloudletInfoRecord info = BOARD__CLOUDLET_INFO_RECORD__INIT;
    Board__ClusterInstRecord cluster = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__AppInstRecord instance = BOARD__APP_INST_RECORD__INIT;
    cloudlet.name = info.name = (char *)(uintptr_t)name;
    cloudlet.state = info.state = (char *)(uintptr_t) "READY";
    info.session = session;
    cluster.name = arena_printf(&a, "%s/dev/web", name);
    instance.name = arena_printf(&a, "%s/dev/web/dev/shop/1.0", name);
    cluster.state = instance.state = cloudlet.state;
    edge_lay(key_edge(&a, RECORD_CLOUDLET, name), &cloudlet.base);
    edge_lay(key_edge(&a, RECORD_CLOUDLETINFO, name), &info.base);
    edge_lay(key_edge(&a, RECORD_CLUSTERINST, cluster.name), &cluster.base);
    edge_lay(key_edge(&a, RECORD_APPINST, instance.name), &instance.base);
}

/* ---- The feed ------------------------------------------------------------------------------ */

/* What an answer sent so far, without the marks of its chunks. */
static void join_chunks(const struct buf *input, struct buf *out)
{
    const char *text = (const char *)input->data, *end = text + input->size;
    const char *at = memmem(text, input->size, "\r\n\r\n", 4);
    buf_clear(out);
    for (at = at ? at + 4 : end; at < end;) {
        const char *line = memmem(at, (size_t)(end - at), "\r\n", 2);
        size_t size = line ? strtoul(at, NULL, 16) : 0;
        if (!size || line + 2 + size > end) {
            return;
        }
        buf_append(out, line + 2, size);
        at = line + 2 + size + 2;
    }
}

/* Follows until the third heartbeat: "RESET RECORD:key ... CURRENT HEARTBEAT ". */
static void follow(const struct tls_files *files, const Board__FeedRequest *request,
                   struct buf *told)
{
    struct tls_client c;
    SCOPED_BUF(body);
    SCOPED_BUF(joined);
    static const char *const kinds[] = {"NONE", "RESET",  "RECORD",   "CURRENT",
                                        "PUT",  "DELETE", "HEARTBEAT"};
    buf_message(&body, &request->base);
    assert_true(client_open(&c, bbs_rig.bbs[0].port, files, 0));
    assert_true(client_print(&c,
                             "POST /v1/board/feed HTTP/1.1\r\nHost: x\r\nContent-Type: "
                             "application/x-protobuf\r\nContent-Length: %zu\r\n\r\n",
                             body.size));
    assert_true(!body.size || client_write(&c, body.data, body.size));
    for (int heartbeats = 0; heartbeats < 3;) {
        assert_true(client_read(&c, CLIENT_WAIT_MS));
        join_chunks(&c.input, &joined);
        buf_clear(told);
        heartbeats = 0;
        uint64_t size;
        struct bytes rest = buf_bytes(&joined);
        for (int head;
             (head = bytes_varint(rest, &size)) > 0 && rest.size >= (size_t)head + size;) {
            Board__FeedFrame *f = board__feed_frame__unpack(NULL, size, rest.data + head);
            assert_non_null(f);
            buf_printf(told, *f->key ? "%s:%s " : "%s ", kinds[f->kind], f->key);
            heartbeats += f->kind == BOARD__FEED_FRAME__KIND__HEARTBEAT;
            board__feed_frame__free_unpacked(f, NULL);
            rest.data += (size_t)head + size;
            rest.size -= (size_t)head + size;
        }
    }
    client_close(&c);
}

/* Whatever it selects, it is told of its own cloudlet and of nothing else; and a cloudlet of which
 * nothing is there is told not one key. */
static void a_feed_tells_of_the_own_cloudlet_alone(void **state)
{
    SCOPED_BUF(told);
    SCOPED_BUF(answer);
    struct tls_files paris = files_of("crm", PARIS), nowhere = files_of("crm", "acme/nowhere");
    assert_int_equal(bbs_desire(bbs_rig.bbs[0].port, "secret-of-others", 1, &answer), -1);
    lay_cloudlet(PARIS, 7);
    lay_cloudlet("acme/paris2", 8);
    lay_cloudlet("acme/pari", 9);
    Board__Selector selector = BOARD__SELECTOR__INIT, *selectors[] = {&selector};
    char *topics[] = {(char *)(uintptr_t) "desired/", (char *)(uintptr_t) "cloudlet/acme/paris2"};
    static const struct {
        const char *type, *prefix;
        size_t selectors, topics;
    } rows[] = {
        {"", "", 0, 0},         {"", "", 1, 0}, {"desired", "", 1, 0},
        {"", "appinst/", 1, 2}, {"", "", 0, 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Board__FeedRequest r = BOARD__FEED_REQUEST__INIT;
        selector.type = (char *)(uintptr_t)rows[i].type;
        selector.key_prefix = (char *)(uintptr_t)rows[i].prefix;
        r.selectors = selectors;
        r.n_selectors = rows[i].selectors;
        r.topics = r.new_topics = topics;
        r.n_topics = r.n_new_topics = rows[i].topics;
        follow(&paris, &r, &told);
        assert_string_equal(buf_string(&told),
                            "RESET RECORD:appinst/acme/paris/dev/web/dev/shop/1.0 "
                            "RECORD:cloudlet/acme/paris RECORD:cloudletinfo/acme/paris "
                            "RECORD:clusterinst/acme/paris/dev/web CURRENT "
                            "HEARTBEAT HEARTBEAT HEARTBEAT ");
        follow(&nowhere, &r, &told);
        assert_string_equal(buf_string(&told), "RESET CURRENT HEARTBEAT HEARTBEAT HEARTBEAT ");
    }
}

/* ---- Denials ------------------------------------------------------------------------------- */

static const char *const crm_paths[] = {"/v1/board/feed", "/v1/board/apply", "/v1/board/heartbeat",
                                        "/v1/edge/definition"};

static bool may(const char *path)
{
    for (size_t i = 0; i < sizeof(crm_paths) / sizeof(crm_paths[0]); i++) {
        if (strcmp(path, crm_paths[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* No list, no other record, no event stream, no page of the REST face. */
static void every_other_path_is_denied(void **state)
{
    static const struct {
        const char *method, *path;
    } rows[] = {
#define ROUTE(method, path, ...) {method, path},
#include "bbs/route/routes.def"
#undef ROUTE
        {"GET", "/rest/v0/systems"},
    };
    SCOPED_BUF(answer);
    struct tls_files paris = files_of("crm", PARIS);
    size_t denied = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (may(rows[i].path)) {
            continue;
        }
        int status = bbs_ask_as(&paris, bbs_rig.bbs[0].port, rows[i].method, rows[i].path,
                                (struct bytes){0}, NULL, &answer);
        if (status != 403 && strncmp(rows[i].path, "/rest/", 6) != 0) {
            fail_msg("%s %s: %d", rows[i].method, rows[i].path, status);
        }
        assert_int_not_equal(status, 200);
        denied++;
    }
    assert_true(denied > 60);
}

/* On the paths that it may call: whoever it says that it is. */
static void a_name_that_is_no_cloudlets_is_denied(void **state)
{
    static const char *const names[] = {
        "paris",
        "acme/",
        "/paris",
        "acme/paris/x",
        "acme//paris",
        "acme/pa ris",
        "a234567890123456789012345678901x/paris",
    };
    SCOPED_BUF(answer);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tls_files files = files_of("crm", names[i]);
        for (size_t k = 0; k < sizeof(crm_paths) / sizeof(crm_paths[0]); k++) {
            assert_int_equal(ask_message(&files, crm_paths[k], NULL, &answer), 403);
            assert_non_null(strstr(buf_string(&answer), "has its cloudlet as CN: "));
        }
    }
}

static int heartbeat(const struct tls_files *files, const char *cloudlet, uint64_t session,
                     struct buf *answer)
{
    Board__HeartbeatRequest r = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__SiteHeartbeat site = BOARD__SITE_HEARTBEAT__INIT;
    site.cloudlet = (char *)(uintptr_t)cloudlet;
    site.session = session;
    r.site = &site;
    return ask_message(files, "/v1/board/heartbeat", &r.base, answer);
}

static void heartbeats_are_of_the_own_session(void **state)
{
    SCOPED_BUF(answer);
    struct tls_files paris = files_of("crm", PARIS), nowhere = files_of("crm", "acme/nowhere");
    assert_int_equal(heartbeat(&paris, PARIS, 7, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), -1);
    assert_int_equal(heartbeat(&paris, PARIS, 6, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(heartbeat(&nowhere, "acme/nowhere", 1, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(heartbeat(&paris, "acme/paris2", 8, &answer), 403);
    assert_int_equal(heartbeat(&bbs_rig.rep, PARIS, 7, &answer), 403);
    assert_int_equal(heartbeat(&bbs_rig.converger, PARIS, 7, &answer), 403);
    Board__HeartbeatRequest r = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__CellHeartbeat cell = BOARD__CELL_HEARTBEAT__INIT;
    cell.cell_id = (char *)(uintptr_t)PARIS;
    r.cell = &cell;
    assert_int_equal(ask_message(&paris, "/v1/board/heartbeat", &r.base, &answer), 403);
}

/* A request with one key that is not its own is denied whole; what is no move of a CRM's is
 * refused. */
static void moves_are_about_the_own_cloudlet(void **state)
{
    static const struct {
        const char *move, *key;
        int status;
    } rows[] = {
        {"init", "cloudlet/acme/paris2", 403},
        {"report", "clusterinst/acme/paris2/dev/web", 403},
        {"remove", "desired/secret-of-others", 403},
        {"lose", "cell/cell-1", 403},
        {"make", "slice/u1", 403},
        {"delete", "cloudlet/acme/paris", 200},
        {"upgrade", "cloudlet/acme/paris", 200},
        {"create", "clusterinst/acme/paris/dev/web", 200},
        {"expire", "appinst/acme/paris/dev/web/dev/shop/1.0", 200},
    };
    SCOPED_BUF(answer);
    struct tls_files paris = files_of("crm", PARIS);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
        Board__Move *moves[] = {move_new(&a, "report", "cloudletinfo/acme/paris"),
                                move_new(&a, rows[i].move, rows[i].key)};
        r.moves = moves;
        r.n_moves = 2;
        assert_int_equal(ask_message(&paris, "/v1/board/apply", &r.base, &answer), rows[i].status);
        if (rows[i].status == 403) {
            assert_non_null(strstr(buf_string(&answer), rows[i].key));
            continue;
        }
        Board__ApplyResponse *got = board__apply_response__unpack(NULL, answer.size, answer.data);
        assert_non_null(got);
        assert_int_equal(got->n_results, 2);
        assert_int_equal(got->results[1]->outcome, BOARD__MOVE_RESULT__OUTCOME__REFUSED);
        board__apply_response__free_unpacked(got, NULL);
    }
}

static int ask_definition(const struct tls_files *files, const char *kind, const char *name,
                          struct buf *answer)
{
    Board__Subject subject = BOARD__SUBJECT__INIT;
    subject.kind = (char *)(uintptr_t)kind;
    subject.key = (char *)(uintptr_t)name;
    return ask_message(files, "/v1/edge/definition", &subject.base, answer);
}

/* Definitions may hold secrets: a CRM gets those of its own app instances, the revision that each
 * is to run; nobody else gets any. */
static void definitions_are_of_the_own_instances(void **state)
{
    static const char shop[] = "acme/paris/dev/web/dev/shop/1.0";
    static const struct {
        const char *kind, *name;
    } foreign[] = {
        {"appinst", "acme/paris2/dev/web/dev/shop/1.0"},
        {"appinst", "acme/pari/dev/web/dev/shop/1.0"},
        {"appinst", "acme/paris"},
        {"appinst", "dev/shop/1.0"},
        {"appinst", ""},
        {"appdef", shop},
        {"", shop},
    };
    SCOPED_ARENA(a);
    SCOPED_BUF(answer);
    struct tls_files paris = files_of("crm", PARIS);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        assert_int_equal(ask_definition(&paris, foreign[i].kind, foreign[i].name, &answer), 403);
        assert_non_null(strstr(buf_string(&answer), "is not its own"));
    }
    assert_int_equal(ask_definition(&bbs_rig.client, "appinst", shop, &answer), 403);
    assert_int_equal(ask_definition(&bbs_rig.rep, "appinst", shop, &answer), 403);
    lay_cloudlet(PARIS, 7);
    assert_int_equal(ask_definition(&paris, "appinst", shop, &answer), 200);
    assert_int_equal(answer.size, 0); /* it runs no revision yet */
    Board__AppInstRecord instance = BOARD__APP_INST_RECORD__INIT;
    Board__AppInstSpec spec = BOARD__APP_INST_SPEC__INIT;
    Board__EdgeAppRevisionRecord r = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    spec.revision = 2;
    instance.name = arena_strdup(&a, shop);
    instance.spec = &spec;
    r.name = arena_strdup(&a, "dev/shop/1.0");
    for (r.revision = 1; r.revision <= 3; r.revision++) {
        r.digest = arena_printf(&a, "digest-%u", (unsigned)r.revision);
        edge_lay(key_appdef(&a, "dev/shop/1.0", r.revision), &r.base);
    }
    edge_lay(key_edge(&a, RECORD_APPINST, shop), &instance.base);
    for (int tries = 0; tries < 100 && answer.size == 0; tries++) {
        assert_int_equal(ask_definition(&paris, "appinst", shop, &answer), 200);
    }
    Board__EdgeAppRevisionRecord *got =
        board__edge_app_revision_record__unpack(NULL, answer.size, answer.data);
    assert_non_null(got);
    assert_string_equal(got->digest, "digest-2");
    board__edge_app_revision_record__free_unpacked(got, NULL);
}

/* ---- The other certificate, and other CAs --------------------------------------------------- */

static void at_its_site_it_asks_for_slices_with_its_term(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(answer);
    struct tls_files site = files_of("site", "crm-1");
    static const char *const denied[] = {"/v1/tasks/desire.r2", "/v1/board/cell",
                                         "/v1/board/limiter", "/v1/actual_lrps/retire",
                                         "/v1/board/settings/set"};
    for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
        assert_int_equal(ask_message(&site, denied[i], NULL, &answer), 403);
    }
    /* Without its term nothing of a slice, and nothing outside of one, and no domain. */
    Models__DesireLRPRequest *r = bbs_desire_of(&a, "of-the-centre", 1);
    r->desired_lrp->slice = arena_strdup(&a, "u1");
    assert_int_equal(ask_message(&site, "/v1/desired_lrp/desire.r2", &r->base, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    r->desired_lrp->slice = arena_strdup(&a, "");
    assert_int_equal(ask_message(&site, "/v1/desired_lrp/desire.r2", &r->base, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    Models__UpsertDomainRequest domain = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
    domain.domain = arena_strdup(&a, "edge.u1");
    domain.ttl = 120;
    assert_int_equal(ask_message(&site, "/v1/domains/upsert", &domain.base, &answer), 200);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    Board__ApplyRequest apply = BOARD__APPLY_REQUEST__INIT;
    Board__Move *moves[] = {move_new(&a, "drop", "slice/u1"),
                            move_new(&a, "report", "cloudletinfo/acme/paris")};
    apply.moves = moves;
    apply.n_moves = 2;
    assert_int_equal(ask_message(&site, "/v1/board/apply", &apply.base, &answer), 200);
    Board__ApplyResponse *got = board__apply_response__unpack(NULL, answer.size, answer.data);
    assert_non_null(got);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(got->results[i]->outcome, BOARD__MOVE_RESULT__OUTCOME__REFUSED);
    }
    board__apply_response__free_unpacked(got, NULL);
    /* Neither of the two is the other. */
    assert_int_equal(heartbeat(&site, PARIS, 7, &answer), 403);
}

static void a_certificate_of_another_ca_or_expired_is_none(void **state)
{
    SCOPED_BUF(answer);
    struct certs other;
    certs_init(&other);
    struct tls_files stranger = certs_make(&other, "crm", "crm", PARIS, 3600);
    struct tls_files old = certs_make(&bbs_rig.certs, "old", "crm", PARIS, -10);
    stranger.ca = bbs_rig.client.ca; /* it believes the server, which does not believe it */
    assert_int_equal(heartbeat(&stranger, PARIS, 7, &answer), 0);
    assert_int_equal(heartbeat(&old, PARIS, 7, &answer), 0);
    certs_done(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_feed_tells_of_the_own_cloudlet_alone),
        cmocka_unit_test(every_other_path_is_denied),
        cmocka_unit_test(a_name_that_is_no_cloudlets_is_denied),
        cmocka_unit_test(heartbeats_are_of_the_own_session),
        cmocka_unit_test(moves_are_about_the_own_cloudlet),
        cmocka_unit_test(definitions_are_of_the_own_instances),
        cmocka_unit_test(at_its_site_it_asks_for_slices_with_its_term),
        cmocka_unit_test(a_certificate_of_another_ca_or_expired_is_none),
    };
    return BBS_RIG_RUN("edge_access", tests);
}
