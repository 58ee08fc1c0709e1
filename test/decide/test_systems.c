/* Systems: create, delete, confirm, and each move of the converger about them, rule by rule (bbs/
 * system/system.c, system_moves.c); what requests may say; and the bounds. */
#include "bbs/system/system.h"
#include "test/decide/laid_system.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])
#define EMPTY "head\nhold\n"

static void it_is_created(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 made by this request", "system state=stable\n", "id=shop uid=u", "nothing"},
        {"2 another one", "system uid=v state=stable\n", "id=shop uid=u",
         "ResourceExists: system shop exists already"},
        {"2 another one that goes", "system uid=v state=deleting\n", "id=shop uid=u",
         "ResourceExists: system shop is being deleted: create it again when it is gone"},
        {"2 its uid is used", "head\n", "id=shop uid=u",
         "ResourceExists: system shop exists already"},
        {"4", "", "id=shop uid=u definition_url=g ssh_key=/:k",
         "create system/shop id=shop uid=u definition_url=g state=pending message=waits for a "
         "converger to open it board_generation=E created_at=1000s since=1000s ssh_key=/:k\n"
         "create head/u uid=u\ncreate hold/u uid=u\nupsert domain/system.u domain=system.u"},
    };
    try_system_ops(&create_system_row, &board__create_system_request__descriptor, ROWS(rows));
}

static void it_is_deleted(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 none", "", "system=shop",
         "ResourceNotFound: there is no system shop: bbs systems lists those that are"},
        {"2 already", "system state=deleting\n", "system=shop", "nothing"},
        {"3 pending", "system state=pending\n", "system=shop",
         "delete system/shop state=deleting message=what it runs goes, then what it keeps "
         "deleted_at=1000s since=1000s"},
        {"3 failed", "system state=failed\n", "system=shop",
         "delete system/shop state=deleting message=what it runs goes, then what it keeps "
         "deleted_at=1000s since=1000s"},
        {"3 open, held or not", "system state=degraded\nhead\nhold D1=/a\n", "system=shop",
         "delete system/shop state=deleting message=what it runs goes, then what it keeps "
         "deleted_at=1000s since=1000s"},
    };
    try_system_ops(&delete_system_row, &board__system_request__descriptor, ROWS(rows));
}

static void it_is_confirmed(void **state)
{
    static const struct system_op_row rows[] = {
        {"1 none", "", "system=shop",
         "ResourceNotFound: there is no system shop: bbs systems lists those that are"},
        {"3 restored", "system state=stable board_generation=D\n", "system=shop",
         "confirm system/shop board_generation=E\nupsert domain/system.u domain=system.u"},
        {"3 its domain is lacking", "system state=stable\n", "system=shop",
         "confirm system/shop\nupsert domain/system.u domain=system.u"},
        {"3 also while it is deleted", "system state=deleting board_generation=D\n", "system=shop",
         "confirm system/shop board_generation=E\nupsert domain/system.u domain=system.u"},
    };
    try_system_ops(&confirm_system_row, &board__system_request__descriptor, ROWS(rows));
}

static void it_opens(void **state)
{
    static const struct system_move_row rows[] = {
        {"it opens", "system state=pending message=M\n" EMPTY, "open system/shop",
         "open system/shop state=stable message= since=1000s"},
        {"it lacks its hold", "system state=pending\nhead\n", "open system/shop",
         "ResourceConflict: system shop lacks its head or its hold"},
        {"it is open", "system state=degraded\n" EMPTY, "open system/shop", "nothing"},
        {"deleting", "system state=deleting\n" EMPTY, "open system/shop",
         "ResourceConflict: system shop cannot be opened"},
        {"another one of the name", "system uid=v state=pending\n" EMPTY, "open system/shop",
         "ResourceNotFound: the requested resource could not be found"},
        {"a try more", "system state=pending tries=2\n", "check system/shop message=M",
         "check system/shop message=M tries=3"},
        {"enough tries", "system state=pending tries=5\n", "give_up system/shop message=M",
         "give_up system/shop state=failed message=M since=1000s"},
        {"not enough", "system state=pending tries=4\n", "give_up system/shop",
         "ResourceConflict: system shop was not tried often enough"},
        {"given up already", "system state=failed tries=5\n", "give_up system/shop", "nothing"},
        {"open", "system state=stable\n", "check system/shop",
         "ResourceConflict: system shop is stable"},
    };
    try_system_moves(&system_moves, ROWS(rows));
}

/* system, head and hold stand at 13, 14 and 15. */
static void it_is_observed(void **state)
{
    static const struct system_move_row rows[] = {
        {"another state", "system state=updating\n" EMPTY,
         "observe system/shop revision=13 head_revision=14 state=stable message=M",
         "observe system/shop state=stable message=M since=1000s"},
        {"another text", "system state=stable since=7\n" EMPTY,
         "observe system/shop revision=13 head_revision=14 state=stable message=M",
         "observe system/shop message=M"},
        {"so already", "system state=scaling message=M\n" EMPTY,
         "observe system/shop revision=13 head_revision=14 state=scaling message=M", "nothing"},
        {"it changed since", "system state=stable\n" EMPTY,
         "observe system/shop revision=12 head_revision=14 state=degraded",
         "ResourceConflict: system shop is not as it was judged"},
        {"its head changed since", "system state=stable\n" EMPTY,
         "observe system/shop revision=13 head_revision=13 state=degraded",
         "ResourceConflict: system shop is not as it was judged"},
        {"no state of an open system", "system state=stable\n" EMPTY,
         "observe system/shop revision=13 head_revision=14 state=pending",
         "ResourceConflict: system shop is not as it was judged"},
        {"deleting", "system state=deleting\n" EMPTY,
         "observe system/shop revision=13 head_revision=14 state=stable",
         "ResourceConflict: system shop is deleting"},
    };
    try_system_moves(&system_moves, ROWS(rows));
}

static void all_were_told(void **state)
{
    static const struct system_move_row rows[] = {
        {"spread", "system state=updating\nhead generation=4 spread=2\nhold\n",
         "spread system/shop generation=4 head_revision=14", "spread head/u spread=4"},
        {"so already", "system state=updating\nhead generation=4 spread=4\nhold\n",
         "spread system/shop generation=4 head_revision=14", "nothing"},
        {"list", "system state=stable\nhead\nhold\n", "list system/shop fault=gone",
         "list versions/u uid=u fetched_at=1000s fault=gone"},
        {"list of one that is not open", "system state=pending\nhead\nhold\n",
         "list system/shop fault=gone", "ResourceConflict: system shop is pending"},
        {"another generation", "system state=updating\nhead generation=5 spread=2\nhold\n",
         "spread system/shop generation=4 head_revision=14",
         "ResourceConflict: system shop has another head than the one that was spread"},
        {"another head", "system state=updating\nhead generation=4 spread=2\nhold\n",
         "spread system/shop generation=4 head_revision=13",
         "ResourceConflict: system shop has another head than the one that was spread"},
    };
    try_system_moves(&system_moves, ROWS(rows));
}

#define GOES "system state=deleting message=M\n" EMPTY

static void it_goes(void **state)
{
    static const struct system_move_row rows[] = {
        {"nothing is left", GOES "domain\n", "remove system/shop",
         "remove -system/shop\nremove -head/u\nremove -hold/u\nremove -domain/system.u"},
        {"nothing at all", "system state=deleting\n", "remove system/shop",
         "remove -system/shop"},
        {"gone", "", "remove system/shop", "nothing"},
        {"a build", GOES "build B1 state=failed\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind build yet"},
        {"a deploy", GOES "deploy D1 state=failed\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind deploy yet"},
        {"a run", GOES "jobrun R1\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind jobrun yet"},
        {"a pool", GOES "pool P1\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind pool yet"},
        {"a secret", GOES "secret /a:k\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind secret yet"},
        {"a service", GOES "service /a state=deleting\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind service yet"},
        {"a teardown", GOES "teardown T1 state=failed\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind teardown yet"},
        {"versions", GOES "versions\n", "remove system/shop",
         "ResourceConflict: system shop has a record of the kind versions yet"},
        {"it stands", "system state=stable\n" EMPTY, "remove system/shop",
         "ResourceConflict: system shop is stable"},
        {"what nobody else removes", GOES "secret /a:k\nsecret /b:k\nversions\n",
         "check system/shop message=M",
         "check -versions/u\ncheck -secret/u/%2Fa%3Ak\ncheck -secret/u/%2Fb%3Ak"},
        {"what it waits for", GOES, "check system/shop message=N", "check system/shop message=N"},
        {"so already", GOES, "check system/shop message=M", "nothing"},
    };
    try_system_moves(&system_moves, ROWS(rows));
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void assert_wrong(const char *want, struct validation *v)
{
    const char *is = validation_ok(v) ? "" : validation_text(v);
    if (strcmp(is, want) != 0) {
        fail_msg("%s\nnot\n%s", is, want);
    }
    validation_done(v);
}

static char *of_length(struct arena *a, char c, size_t size)
{
    char *s = arena_alloc(a, size + 1);
    memset(s, c, size);
    return s;
}

static void ids_are_checked(void **state)
{
    SCOPED_ARENA(a);
    static const char *const bad[] = {"", "Shop", "a_b", "a/b", "a b", "caf\xc3\xa9"};
    Board__CreateSystemRequest r = BOARD__CREATE_SYSTEM_REQUEST__INIT;
    r.uid = arena_strdup(&a, "u");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct validation v = {0};
        r.id = arena_strdup(&a, bad[i]);
        valid_create_system(&v, &r);
        assert_wrong(arena_printf(&a, "\"%s\" is no id of a system: 1 to 63 of a-z 0-9 -", bad[i]),
                     &v);
    }
    for (size_t size = SYSTEM_ID_BYTES_MAX; size <= SYSTEM_ID_BYTES_MAX + 1; size++) {
        struct validation v = {0};
        r.id = of_length(&a, 'x', size);
        valid_create_system(&v, &r);
        assert_int_equal(validation_ok(&v), size == SYSTEM_ID_BYTES_MAX);
        validation_done(&v);
    }
    r.id = arena_strdup(&a, "shop");
    static const char *const urls[] = {"--upload-pack=x", "a b", "a\nb"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct validation v = {0};
        r.definition_url = arena_strdup(&a, urls[i]);
        valid_create_system(&v, &r);
        assert_wrong("the definition's URL is at most 2048 printable characters, and does not "
                     "begin with -", &v);
    }
    static const struct {
        const char *url;
        bool good;
    } kinds[] = {
        {"", true},
        {"https://git/shop.git", true},
        {"ssh://git@git/shop.git", true},
        {"git@git:shop.git", true},
        {"file:///srv/shop", true},
        {"http://git/shop.git", false},
        {"/srv/shop", false},
        {"git", false},
        {"ext::sh -c x", false},
        {"https://-x/shop", false},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct validation v = {0};
        r.definition_url = arena_strdup(&a, kinds[i].url);
        valid_create_system(&v, &r);
        assert_int_equal(validation_ok(&v), kinds[i].good);
        validation_done(&v);
    }
    r.definition_url = of_length(&a, 'x', SYSTEM_URL_BYTES_MAX + 1);
    struct validation v = {0};
    valid_create_system(&v, &r);
    assert_false(validation_ok(&v));
    validation_done(&v);
}

static void a_deploy_has_one_target(void **state)
{
    SCOPED_ARENA(a);
    static const struct {
        const char *version, *path, *build, *undo, *definition, *wrong;
    } rows[] = {
        {"1.0", "", "", "", "", ""},
        {"", "/a/b", "", "", "", ""},
        {"", "", "B1", "", "", ""},
        {"", "", "", "D1", "", ""},
        {"", "", "", "", "x", ""},
        {"", "", "", "", "",
         "give exactly one of version, path, build, definition and undo, not 0"},
        {"1.0", "/", "", "", "",
         "give exactly one of version, path, build, definition and undo, not 2"},
        {"", "", "B1", "D1", "x",
         "give exactly one of version, path, build, definition and undo, not 3"},
        {"", "a", "", "", "", "path a: a path begins with /"},
        {"", "/a/", "", "", "", "path /a/: it ends with a /: leave that out"},
        {"", "", "a/b", "", "", "\"a/b\" is no id: 1 to 63 of A-Z a-z 0-9 - _"},
        {"1 0", "", "", "", "", "a version has at most 255 characters, and no spaces"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        Board__DeployRequest r = BOARD__DEPLOY_REQUEST__INIT;
        r.system = arena_strdup(&a, "shop");
        r.id = arena_strdup(&a, "D1");
        r.version = arena_strdup(&a, rows[i].version);
        r.path = arena_strdup(&a, rows[i].path);
        r.build = arena_strdup(&a, rows[i].build);
        r.undo = arena_strdup(&a, rows[i].undo);
        r.definition.data = (uint8_t *)arena_strdup(&a, rows[i].definition);
        r.definition.len = strlen(rows[i].definition);
        valid_deploy(&v, &r);
        assert_wrong(rows[i].wrong, &v);
    }
}

static void a_definition_has_a_bound(void **state)
{
    SCOPED_ARENA(a);
    for (size_t more = 0; more <= 1; more++) {
        struct validation v = {0};
        Board__BuildRequest r = BOARD__BUILD_REQUEST__INIT;
        r.system = arena_strdup(&a, "shop");
        r.id = arena_strdup(&a, "B1");
        r.definition.len = BUILD_SOURCE_BYTES_MAX + more;
        r.definition.data = (uint8_t *)of_length(&a, 'x', r.definition.len);
        valid_build(&v, &r);
        assert_wrong(more ? "the definition has 983041 bytes, and may have 983040" : "", &v);
    }
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* What a request comes to beside so many records of the kind. */
static const char *beside(struct arena *a, const struct op_row *op, const ProtobufCMessage *request,
                          enum record_type type, size_t count)
{
    struct laid_system l;
    struct laid_plan p;
    laid_system_init(&l, type == RECORD_SYSTEM ? "" : "system state=stable\n");
    const ProtobufCMessage *m = arena_message(&l.arena, record_descriptor(type));
    for (size_t i = 0; i < count; i++) {
        const char *name = arena_printf(&l.arena, "n%zu", i);
        laid_system_put(&l,
                        type == RECORD_SYSTEM
                            ? key_system(&l.arena, name)
                            : arena_printf(&l.arena, "%s%s",
                                           key_range_of(&l.arena, type, LAID_SYSTEM_UID), name),
                        m);
    }
    struct op_input in = {.actor = ACTOR_CLIENT, .request = request};
    laid_decide(l.board, op, &in, &l.arena, &p);
    const char *text = arena_strdup(a, p.plan.verdict == PLAN_REFUSE ? p.plan.error_message : "");
    assert_true(!*text || p.plan.error_type == MODELS__ERROR__TYPE__ResourceConflict);
    laid_system_done(&l);
    return text;
}

static void a_list_of_versions_has_a_bound(void **state)
{
    struct laid_system l;
    char *versions[1001];
    (void)state;
    laid_system_init(&l, "");
    Board__Move *m = laid_system_move(&l, &system_moves, "list system/shop");
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        versions[i] = arena_printf(&l.arena, "1.0.%zu", i);
    }
    m->system->uid = arena_strdup(&l.arena, "u");
    m->system->versions = versions;
    for (m->system->n_versions = 1000; m->system->n_versions <= 1001; m->system->n_versions++) {
        struct validation v = {0};
        move_row_named(&system_moves, "list")->valid(&v, m);
        assert_wrong(m->system->n_versions == 1000 ? "" : "Invalid field: versions", &v);
    }
    laid_system_done(&l);
}

static void there_are_so_many_of_each(void **state)
{
    SCOPED_ARENA(a);
    Board__CreateSystemRequest create = BOARD__CREATE_SYSTEM_REQUEST__INIT;
    Board__BuildRequest build = BOARD__BUILD_REQUEST__INIT;
    Board__DeployRequest deploy = BOARD__DEPLOY_REQUEST__INIT;
    Board__TeardownRequest teardown = BOARD__TEARDOWN_REQUEST__INIT;
    create.id = build.system = deploy.system = teardown.system = arena_strdup(&a, "shop");
    create.uid = build.id = deploy.id = teardown.id = arena_strdup(&a, "X");
    build.version = deploy.version = arena_strdup(&a, "1.0");
    const struct {
        const struct op_row *op;
        const ProtobufCMessage *request;
        enum record_type type;
        size_t most;
        const char *text;
    } rows[] = {
        {&create_system_row, &create.base, RECORD_SYSTEM, SYSTEMS_MAX,
         "there are 10000 systems, and may be 10000: delete one first"},
        {&build_row, &build.base, RECORD_BUILD, ACTIONS_MAX,
         "system shop has 1000 builds, and may have 1000: ask again when some are over"},
        {&deploy_row, &deploy.base, RECORD_DEPLOY, ACTIONS_MAX,
         "system shop has 1000 deploys, and may have 1000: ask again when some are over"},
        {&teardown_row, &teardown.base, RECORD_TEARDOWN, ACTIONS_MAX,
         "system shop has 1000 teardowns, and may have 1000: ask again when some are over"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(
            beside(&a, rows[i].op, rows[i].request, rows[i].type, rows[i].most - 1), "");
        assert_string_equal(beside(&a, rows[i].op, rows[i].request, rows[i].type, rows[i].most),
                            rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_created),
        cmocka_unit_test(it_is_deleted),
        cmocka_unit_test(it_is_confirmed),
        cmocka_unit_test(it_opens),
        cmocka_unit_test(it_is_observed),
        cmocka_unit_test(all_were_told),
        cmocka_unit_test(it_goes),
        cmocka_unit_test(ids_are_checked),
        cmocka_unit_test(a_deploy_has_one_target),
        cmocka_unit_test(a_definition_has_a_bound),
        cmocka_unit_test(a_list_of_versions_has_a_bound),
        cmocka_unit_test(there_are_so_many_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
