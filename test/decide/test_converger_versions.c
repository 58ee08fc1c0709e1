/* When the converger has the repository of a system listed, and what it tells the board
 * (converger/versions.h). */
#include "converger/versions.h"
#include "secret_api.pb-c.h"
#include "test/decide/system_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define SYSTEM "system state=stable definition_url=U"

#define LOCKED SYSTEM " ssh_key=/:git"

struct versions_rig {
    struct versions versions;
    struct boards boards;
    uint64_t next_call_id, call_id; /* of the last question for a secret; 0 = none */
    struct system_rows rows;
    struct arena arena;
    struct resolve_request request; /* the last one; id 0 = none */
};

static void begin(struct versions_rig *t, const char *const *records)
{
    *t = (struct versions_rig){.request.id = 0};
    arena_init(&t->arena);
    t->boards =
        (struct boards){.urls = {"https://bbs:1"}, .count = 1, .next_call_id = &t->next_call_id};
    t->next_call_id = 1;
    versions_init(&t->versions, &t->boards);
    system_rows_init(&t->rows, records);
    t->rows.view.now.mono_ns = SECOND_NS;
}
#define BEGIN(t, ...) begin(t, (const char *const[]){__VA_ARGS__, NULL})

static void end(struct versions_rig *t)
{
    versions_done(&t->versions);
    system_rows_done(&t->rows);
    arena_done(&t->arena);
}

/* Whether it asks; gives when it wants to look again. */
static bool asks(struct versions_rig *t, int64_t *ret_due_ns)
{
    struct effects out;
    effects_init(&out, &t->arena);
    *ret_due_ns = versions_resolve(&t->versions, &t->rows.view, &out);
    assert_in_range(out.count, 0, 1);
    if (out.count > 0 && out.list[0].kind == EFFECT_CALL) {
        assert_string_equal(out.list[0].call.url, "https://bbs:1/v1/board/secret");
        t->call_id = out.list[0].call.id;
    } else if (out.count > 0) {
        assert_int_equal(out.list[0].kind, EFFECT_RESOLVE);
        assert_int_equal(out.list[0].resolve.what, RESOLVE_TAGS);
        t->request = out.list[0].resolve;
    }
    return out.count > 0;
}

static void assert_silent(struct versions_rig *t, int64_t due_ns)
{
    int64_t ns;
    assert_false(asks(t, &ns));
    assert_int_equal(ns, due_ns);
}

static void assert_asked(struct versions_rig *t)
{
    int64_t ns;
    assert_true(asks(t, &ns));
    assert_int_equal(ns, NEVER_NS);
}

static void hear(struct versions_rig *t, const char *fault)
{
    static const char *versions[] = {"1.0.0", "v1.1.0"};
    struct event ev = {.kind = EVENT_RESOLVED,
                       .resolved = {.id = t->request.id,
                                    .done = !*fault,
                                    .fault = fault,
                                    .versions = versions,
                                    .version_count = 2}};
    assert_string_equal(versions_hear(&t->versions, &ev), "u");
    assert_null(versions_hear(&t->versions, &ev)); /* once */
}

/* What a bbs says of the secret; status 0: nothing. */
static void hear_secret(struct versions_rig *t, int status, const char *value, const char *fault)
{
    Board__SecretResponse r = BOARD__SECRET_RESPONSE__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    SCOPED_BUF(body);
    error.message = (char *)(fault ? fault : "");
    r.error = fault ? &error : NULL;
    r.value = (char *)value;
    buf_message(&body, &r.base);
    struct event ev = {
        .kind = EVENT_RESPONSE,
        .response = {.id = t->call_id, .status = status, .body = buf_bytes(&body)}};
    assert_string_equal(versions_hear(&t->versions, &ev), "u");
    assert_null(versions_hear(&t->versions, &ev));
    t->call_id = 0;
}

/* The move, or NULL. */
static const Board__SystemMove *planned(struct versions_rig *t)
{
    struct system_moves *m = ARENA_NEW(&t->arena, struct system_moves);
    m->arena = &t->arena;
    versions_run(&t->versions, &t->rows.view, m);
    if (m->count == 0) {
        return NULL;
    }
    assert_int_equal(m->count, 1);
    assert_string_equal(m->list[0].move->move, "list");
    return m->list[0].move->system;
}

static void a_repository_is_listed_each_five_minutes(void **state)
{
    struct versions_rig t;
    (void)state;
    BEGIN(&t, SYSTEM);
    assert_null(planned(&t));
    assert_asked(&t); /* 5 */
    assert_string_equal(t.request.url, "U");
    assert_silent(&t, NEVER_NS); /* 2 */
    hear(&t, "");
    const Board__SystemMove *m = planned(&t);
    assert_int_equal(m->n_versions, 2);
    assert_string_equal(m->versions[1], "v1.1.0");
    assert_string_equal(m->fault, "");
    assert_silent(&t, SECOND_NS + VERSIONS_EACH_NS); /* 3 */
    t.rows.view.now.mono_ns += VERSIONS_EACH_NS;
    assert_asked(&t);
    hear(&t, "no such repository");
    m = planned(&t);
    assert_int_equal(m->n_versions, 0);
    assert_string_equal(m->fault, "no such repository");
    end(&t);
}

static void one_at_a_time(void **state)
{
    struct versions_rig t;
    (void)state;
    BEGIN(&t, SYSTEM);
    assert_asked(&t);
    t.rows.view.uid = "other";
    assert_silent(&t, SECOND_NS + VERSIONS_AGAIN_NS); /* 4 */
    versions_forget(&t.versions, "u");
    assert_asked(&t);
    versions_reset(&t.versions);
    t.rows.view.uid = "u";
    assert_asked(&t);
    end(&t);
}

/* It is asked for each time: what is set anew counts. Nobody is kept waiting by one that lacks. */
static void a_secret_opens_the_repository(void **state)
{
    struct versions_rig t;
    (void)state;
    BEGIN(&t, LOCKED);
    assert_asked(&t); /* 5 */
    assert_int_equal(t.request.id, 0);
    assert_true(t.call_id > 0);
    assert_silent(&t, NEVER_NS); /* 2 */
    hear_secret(&t, 0, "", NULL);
    assert_silent(&t, SECOND_NS + VERSIONS_AGAIN_NS); /* 3 */
    t.rows.view.uid = "other";
    assert_asked(&t); /* the place is free */
    versions_forget(&t.versions, "other");
    t.rows.view.uid = "u";
    t.rows.view.now.mono_ns += VERSIONS_AGAIN_NS;
    assert_asked(&t);
    hear_secret(&t, 200, "K", NULL);
    t.rows.view.uid = "other";
    assert_silent(&t, t.rows.view.now.mono_ns + VERSIONS_AGAIN_NS); /* 4 */
    t.rows.view.uid = "u";
    assert_asked(&t); /* 6 */
    assert_string_equal(t.request.ssh_key, "K");
    hear(&t, "");
    assert_int_equal(planned(&t)->n_versions, 2);
    assert_silent(&t, t.rows.view.now.mono_ns + VERSIONS_EACH_NS);
    t.rows.view.now.mono_ns += VERSIONS_EACH_NS;
    assert_asked(&t);
    assert_true(t.call_id > 0);
    hear_secret(&t, 200, "", "secret /:git of shop is not set");
    assert_string_equal(planned(&t)->fault, "secret /:git of shop is not set");
    assert_silent(&t, t.rows.view.now.mono_ns + VERSIONS_LOCKED_NS); /* 3 */
    t.rows.view.now.mono_ns += VERSIONS_LOCKED_NS;
    assert_asked(&t);
    end(&t);
}

/* One that goes as its secret has come leaves the place to another. */
static void who_goes_keeps_no_place(void **state)
{
    struct versions_rig t;
    (void)state;
    BEGIN(&t, LOCKED);
    assert_asked(&t);
    hear_secret(&t, 200, "K", NULL);
    system_rows_done(&t.rows);
    system_rows_init(&t.rows, (const char *const[]){"system state=deleting definition_url=U "
                                                    "ssh_key=/:git", NULL});
    t.rows.view.now.mono_ns = SECOND_NS;
    assert_silent(&t, NEVER_NS); /* 1 */
    assert_null(t.versions.open);
    end(&t);
}

/* Without a repository, or not open. */
static void some_are_never_listed(void **state)
{
    static const char *const records[] = {"system state=stable",
                                          "system state=pending definition_url=U",
                                          "system state=deleting definition_url=U"};
    (void)state;
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        struct versions_rig t;
        BEGIN(&t, records[i]);
        assert_silent(&t, NEVER_NS); /* 1 */
        end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repository_is_listed_each_five_minutes),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(a_secret_opens_the_repository),
        cmocka_unit_test(who_goes_keeps_no_place),
        cmocka_unit_test(some_are_never_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
