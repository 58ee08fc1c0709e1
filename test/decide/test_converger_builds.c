/* What the converger asks and plans about builds (converger/builds.h): a build's records before,
 * what was read, and the moves. */
#include "converger/builds.h"
#include "secret_api.pb-c.h"
#include "test/decide/system_rows.h"
#include "test/sim/world/definitions.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define SYSTEM "system state=stable definition_url=U"
#define BUILD "build B1 state=pending version=1.0"

/* A converger's builds, and the one request that is open. */
struct build_rig {
    struct builds builds;
    struct boards boards;
    uint64_t next_call_id, call_id;
    struct system_rows rows;
    struct arena arena;
    struct effects out;
    struct resolve_request request; /* the last one; id 0 = none */
};

static void begin(struct build_rig *t, const char *const *records)
{
    *t = (struct build_rig){.request.id = 0};
    arena_init(&t->arena);
    t->boards =
        (struct boards){.urls = {"https://bbs:1"}, .count = 1, .next_call_id = &t->next_call_id};
    t->next_call_id = 1;
    builds_init(&t->builds, &t->boards);
    system_rows_init(&t->rows, records);
}
#define BEGIN(t, ...) begin(t, (const char *const[]){__VA_ARGS__, NULL})

static void end(struct build_rig *t)
{
    builds_done(&t->builds);
    system_rows_done(&t->rows);
    arena_done(&t->arena);
}

/* The records are these now. */
static void change(struct build_rig *t, const char *const *records)
{
    system_rows_done(&t->rows);
    system_rows_init(&t->rows, records);
}
#define CHANGE(t, ...) change(t, (const char *const[]){__VA_ARGS__, NULL})

/* How many it asks for; whether some wait. */
static size_t asks(struct build_rig *t, bool *ret_waits)
{
    effects_init(&t->out, &t->arena);
    *ret_waits = builds_resolve(&t->builds, &t->rows.view, &t->out);
    for (size_t i = 0; i < t->out.count; i++) {
        if (t->out.list[i].kind == EFFECT_CALL) {
            t->call_id = t->out.list[i].call.id;
            assert_string_equal(t->out.list[i].call.url, "https://bbs:1/v1/board/secret");
            continue;
        }
        assert_int_equal(t->out.list[i].kind, EFFECT_RESOLVE);
        t->request = t->out.list[i].resolve;
    }
    return t->out.count;
}

static void assert_asks(struct build_rig *t, size_t count)
{
    bool waits;
    assert_int_equal(asks(t, &waits), count);
    assert_false(waits);
}

/* It asks for nothing and waits for nobody, but wants to tell why. */
static void assert_will_tell(struct build_rig *t)
{
    bool waits;
    assert_int_equal(asks(t, &waits), 0);
    assert_true(waits);
    assert_int_equal(asks(t, &waits), 0);
    assert_false(waits);
}

static void hear(struct build_rig *t, const char *text, const char *fault)
{
    struct event ev = {.kind = EVENT_RESOLVED, .entropy = {3, 4}};
    if (text) {
        ev.resolved = definition_of(&t->arena, "u", t->request.tree, text, "/");
    }
    ev.resolved.fault = fault;
    ev.resolved.version = "v1.0";
    ev.resolved.id = t->request.id;
    assert_string_equal(builds_hear(&t->builds, &ev), "u");
}

static const char *planned(struct build_rig *t)
{
    struct system_moves *m = ARENA_NEW(&t->arena, struct system_moves);
    m->arena = &t->arena;
    builds_run(&t->builds, &t->rows.view, m);
    return system_rows_print(&t->rows, m);
}

#define assert_plans(t, ...) assert_string_equal(planned(t), arena_printf(&(t)->arena, __VA_ARGS__))

static void read_accepted_written(void **state)
{
    struct build_rig t;
    (void)state;
    BEGIN(&t, SYSTEM, BUILD);
    assert_plans(&t, "%s", ""); /* 2 */
    assert_asks(&t, 1);
    assert_int_equal(t.request.what, RESOLVE_VERSION);
    assert_string_equal(t.request.version, "1.0");
    assert_string_equal(t.request.url, "U");
    assert_asks(&t, 0);
    hear(&t, "/a:1 /b:1", "");
    assert_asks(&t, 0);
    assert_plans(&t, "accept build/u/B1 tree=%s components=3 version=v1.0", t.request.tree); /* 4 */
    const char *accepted = arena_printf(
        &t.arena, "build B1 state=accepted version=1.0 components=3 tree=%s", t.request.tree);
    CHANGE(&t, SYSTEM, accepted);
    assert_plans(&t, "write build/u/B1 tree=%s", t.request.tree); /* 5 */
    CHANGE(&t, SYSTEM, arena_printf(&t.arena, "%s written=2", accepted));
    assert_plans(&t, "write build/u/B1 tree=%s from=2", t.request.tree); /* 5 */
    CHANGE(&t, SYSTEM, arena_printf(&t.arena, "%s written=3", accepted));
    assert_plans(&t, "succeed build/u/B1 tree=%s", t.request.tree); /* 6 */
    CHANGE(&t, SYSTEM, "build B1 state=succeeded");
    assert_asks(&t, 0);
    assert_int_equal(t.builds.by_key.count, 0);
    end(&t);
}

/* The tree of an earlier leader is none of this one's. */
static void read_anew_by_another(void **state)
{
    struct build_rig t;
    (void)state;
    BEGIN(&t, SYSTEM, "build B1 state=running version=1.0 tree=OLD written=1 components=3");
    assert_asks(&t, 1);
    hear(&t, "/a:1", "");
    assert_plans(&t, "accept build/u/B1 tree=%s components=2 version=v1.0", t.request.tree); /* 4 */
    CHANGE(&t, SYSTEM, "build B1 state=running version=1.0 tree=OLD stale=OLDER");
    assert_plans(&t, "%s", "collect build/u/B1 tree=OLDER");
    builds_reset(&t.builds);
    assert_plans(&t, "%s", ""); /* 2 */
    end(&t);
}

static void what_cannot_be_read_fails(void **state)
{
    struct build_rig t;
    (void)state;
    BEGIN(&t, SYSTEM, BUILD);
    assert_asks(&t, 1);
    hear(&t, NULL, "there is no tag 1.0");
    assert_plans(&t, "%s", "fail build/u/B1 message=there is no tag 1.0"); /* 3 */
    CHANGE(&t, "system state=deleting", BUILD);
    assert_plans(&t, "%s", "fail build/u/B1 message=the system is being deleted"); /* 1 */
    end(&t);
    BEGIN(&t, "system state=stable", BUILD);
    assert_will_tell(&t);
    assert_plans(&t, "%s", "fail build/u/B1 message=the system has no repository of versions");
    end(&t);
}

static void a_path_reads_the_same_commit_again(void **state)
{
    struct build_rig t;
    (void)state;
    BEGIN(&t, SYSTEM, "build B1 state=pending path=/a", "head /=T1 /a=T2",
          "index T1 url=W commit=c0ffee");
    assert_asks(&t, 1);
    assert_int_equal(t.request.what, RESOLVE_PATH);
    assert_string_equal(t.request.url, "W");
    assert_string_equal(t.request.commit, "c0ffee");
    assert_string_equal(t.request.path, "/a");
    end(&t);
    BEGIN(&t, SYSTEM, "build B1 state=pending path=/a", "head /=T1");
    assert_asks(&t, 0); /* its index has not come */
    assert_plans(&t, "%s", "");
    CHANGE(&t, SYSTEM, "build B1 state=pending path=/a", "head");
    assert_will_tell(&t);
    assert_plans(&t, "%s",
                 "fail build/u/B1 message=no definition is deployed yet: deploy a "
                 "version first");
    end(&t);
    BEGIN(&t, SYSTEM, "build B1 state=pending path=/a", "head /=T1", "index T1");
    assert_will_tell(&t);
    assert_plans(&t, "%s",
                 "fail build/u/B1 message=the definition was deployed from a file, not "
                 "from a repository: deploy the file again");
    end(&t);
}

static void a_text_is_waited_for(void **state)
{
    struct build_rig t;
    (void)state;
    BEGIN(&t, SYSTEM, "build B1 state=pending definition=1");
    assert_asks(&t, 0);
    CHANGE(&t, SYSTEM, "build B1 state=pending definition=1", "source B1");
    assert_asks(&t, 1);
    assert_int_equal(t.request.what, RESOLVE_SOURCE);
    end(&t);
}

static void hear_secret(struct build_rig *t, int status, const char *value, const char *fault)
{
    SCOPED_BUF(body);
    Models__Error error = MODELS__ERROR__INIT;
    Board__SecretResponse response = BOARD__SECRET_RESPONSE__INIT;
    error.message = (char *)(uintptr_t)fault;
    response.value = (char *)(uintptr_t)value;
    response.error = fault ? &error : NULL;
    buf_message(&body, &response.base);
    struct event ev = {.kind = EVENT_RESPONSE,
                       .entropy = {5, 6},
                       .response = {.id = t->call_id,
                                    .outcome = status ? CALL_ANSWERED : CALL_UNKNOWN,
                                    .status = status,
                                    .content_type = "application/x-protobuf",
                                    .body = buf_bytes(&body),
                                    .text = ""}};
    assert_string_equal(builds_hear(&t->builds, &ev), "u");
}

/* The key of its repository first, then one that a reference needs; a bbs that does not answer is
 * asked again. */
static void secrets_open_repositories(void **state)
{
    struct build_rig t;
    (void)state;
    BEGIN(&t, SYSTEM " ssh_key=/:git", BUILD);
    assert_asks(&t, 1);
    assert_int_equal(t.request.id, 0);
    assert_asks(&t, 0);
    hear_secret(&t, 0, "", NULL);
    assert_asks(&t, 1);
    assert_int_equal(t.request.id, 0);
    hear_secret(&t, 200, "K", NULL);
    assert_asks(&t, 1);
    assert_string_equal(t.request.ssh_key, "K");
    struct event ev = {.kind = EVENT_RESOLVED, .entropy = {3, 4}};
    ev.resolved = (struct resolved){.id = t.request.id, .fault = "", .needs = "/a:git"};
    assert_string_equal(builds_hear(&t.builds, &ev), "u");
    t.request.id = 0;
    assert_asks(&t, 1);
    hear_secret(&t, 200, "L", NULL);
    assert_asks(&t, 1);
    assert_int_equal(t.request.key_count, 2);
    assert_string_equal(t.request.keys[1].name, "/a:git");
    assert_string_equal(t.request.keys[1].value, "L");
    hear(&t, "/a:1", "");
    assert_plans(&t, "accept build/u/B1 tree=%s components=2 version=v1.0", t.request.tree);
    end(&t);
    BEGIN(&t, SYSTEM " ssh_key=/:git", BUILD);
    assert_asks(&t, 1);
    hear_secret(&t, 200, "", "secret /:git is not set");
    assert_plans(&t, "%s", "fail build/u/B1 message=secret /:git is not set");
    end(&t);
}

/* So many at once; the others wait for room. */
static void no_more_than_may_be_open(void **state)
{
    struct build_rig t;
    bool waits;
    (void)state;
    BEGIN(&t, SYSTEM, BUILD, "build B2 state=pending version=1.0",
          "build B3 state=pending version=1.0", "build B4 state=pending version=1.0",
          "build B5 state=pending version=1.0");
    assert_int_equal(asks(&t, &waits), RESOLVES_MAX - 1); /* one is for versions */
    assert_true(waits);
    hear(&t, "/a:1", "");
    assert_int_equal(asks(&t, &waits), 1);
    assert_true(waits);
    hear(&t, "/a:1", "");
    assert_int_equal(asks(&t, &waits), 1);
    assert_false(waits);
    end(&t);
}

/* A portion has no more components than a move may have. */
static void portions_are_bounded(void **state)
{
    struct build_rig t;
    (void)state;
    SCOPED_BUF(text);
    BEGIN(&t, SYSTEM, BUILD);
    assert_asks(&t, 1);
    for (int i = 0; i < BUILD_PORTION_MAX + 10; i++) {
        buf_printf(&text, " /a%d:1", i);
    }
    hear(&t, buf_string(&text), "");
    CHANGE(&t, SYSTEM,
           arena_printf(&t.arena, "build B1 state=accepted version=1.0 tree=%s", t.request.tree));
    struct system_moves *m = ARENA_NEW(&t.arena, struct system_moves);
    builds_run(&t.builds, &t.rows.view, m);
    assert_int_equal(m->count, 1);
    assert_int_equal(m->list[0].move->build->n_written, BUILD_PORTION_MAX);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_accepted_written),
        cmocka_unit_test(read_anew_by_another),
        cmocka_unit_test(what_cannot_be_read_fails),
        cmocka_unit_test(a_path_reads_the_same_commit_again),
        cmocka_unit_test(a_text_is_waited_for),
        cmocka_unit_test(secrets_open_repositories),
        cmocka_unit_test(no_more_than_may_be_open),
        cmocka_unit_test(portions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
