/* Secrets of systems: set, unset, wrapped anew by a newer key; and what a reader is told
 * (docs/systems.md, Secrets). */
#include "bbs/secret/secret.h"
#include "common/lifecycle/system.h"
#include "common/model/keys.h"
#include "test/decide/laid_board.h"
#include "test/decide/lrp_rows.h"
#include "test/sim/model/sealer.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define SHOP_UID "u-shop"
#define NAME "/api:key"
#define PLAIN "geheim"

static const uint32_t KEY_1[] = {1}, KEYS_1_2[] = {1, 2}, KEY_2[] = {2};

struct fixture {
    struct arena arena;
    struct laid_board *board;
    const struct seal *seal; /* NULL = the bbs has no keys */
};

static const struct moment now = {.mono_ns = 500 * SECOND_NS, .wall_ns = ROWS_NOW_S * SECOND_NS};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    f->board = laid_new(now, ROWS_BOARD_GENERATION);
    f->seal = model_sealer(&f->arena, KEY_1, 1);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    laid_free(f->board);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* ---- What stands ----------------------------------------------------------------------------- */

/* `key` 0: it has no data key. */
static void put_system(struct fixture *f, const char *word, uint32_t key)
{
    Board__SystemRecord *s = arena_message(&f->arena, &board__system_record__descriptor);
    s->id = arena_strdup(&f->arena, "shop");
    s->uid = arena_strdup(&f->arena, SHOP_UID);
    s->state = arena_strdup(&f->arena, word);
    s->version = arena_strdup(&f->arena, "1.0.0");
    s->message = arena_strdup(&f->arena, "no way");
    if (key) {
        const struct seal *seal = model_sealer(&f->arena, &key, 1);
        s->data_key = arena_message(&f->arena, &board__wrapped_key__descriptor);
        seal_draw(seal, &f->arena, SHOP_UID, "first", s->data_key);
    }
    laid_put(f->board, key_system(&f->arena, "shop"), &s->base, 10, 10, 0);
}

static Board__SecretRecord *record_of(struct fixture *f, const char *name, const char *text,
                                      int64_t at_s)
{
    Board__SecretRecord *r = arena_message(&f->arena, &board__secret_record__descriptor);
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT;
    const struct seal *seal = model_sealer(&f->arena, KEY_1, 1);
    r->sealed = arena_message(&f->arena, &models__sealed__descriptor);
    r->sealed->name = arena_strdup(&f->arena, name);
    r->sealed->uid = arena_strdup(&f->arena, SHOP_UID);
    r->sealed->system = arena_strdup(&f->arena, "shop");
    r->sealed->version = arena_strdup(&f->arena, "v0");
    r->set_by = arena_strdup(&f->arena, "before");
    r->set_at = at_s * SECOND_NS;
    seal_draw(seal, &f->arena, SHOP_UID, "first", &key);
    assert_true(seal_close(seal, &f->arena, &key, bytes_of(text), r->sealed));
    return r;
}

static void put_secret(struct fixture *f, const char *name, const char *text, int64_t at_s)
{
    laid_put(f->board, key_secret(&f->arena, SHOP_UID, name), &record_of(f, name, text, at_s)->base,
             20, 20, 0);
}

/* ---- What is asked --------------------------------------------------------------------------- */

static struct plan *decide(struct fixture *f, const struct op_row *row,
                           const ProtobufCMessage *request)
{
    struct random random;
    struct laid_plan *laid = ARENA_NEW(&f->arena, struct laid_plan);
    struct op_input in = row_input(ACTOR_CLIENT, &random, request);
    in.peer_name = "olga";
    in.seal = f->seal;
    laid_decide(f->board, row, &in, &f->arena, laid);
    return &laid->plan;
}

static struct plan *set(struct fixture *f, const char *system, const char *name, const char *text)
{
    Board__SetSecretRequest *q = arena_message(&f->arena, &board__set_secret_request__descriptor);
    q->system = arena_strdup(&f->arena, system);
    q->name = arena_strdup(&f->arena, name);
    q->value = (ProtobufCBinaryData){strlen(text), (uint8_t *)arena_strdup(&f->arena, text)};
    return decide(f, &set_secret_row, &q->base);
}

static struct plan *unset(struct fixture *f, const char *system, const char *name)
{
    Board__SecretRequest *q = arena_message(&f->arena, &board__secret_request__descriptor);
    q->system = arena_strdup(&f->arena, system);
    q->name = arena_strdup(&f->arena, name);
    return decide(f, &unset_secret_row, &q->base);
}

static struct plan *rewrap(struct fixture *f, const char *system)
{
    Board__RewrapRequest *q = arena_message(&f->arena, &board__rewrap_request__descriptor);
    q->system = arena_strdup(&f->arena, system);
    return decide(f, &rewrap_key_row, &q->base);
}

static void expect(const struct plan *p, const char *text)
{
    SCOPED_BUF(printed);
    plan_print(p, &printed);
    assert_string_equal(buf_string(&printed), text);
}

/* A plan has the plaintext nowhere: not in what it writes, tells or answers. */
static void expect_sealed(const struct plan *p)
{
    SCOPED_BUF(printed);
    for (const struct change *c = p->changes; c; c = c->next) {
        if (c->message) {
            record_encode(&printed, c->message);
        }
        assert_null(strstr(c->key, PLAIN));
    }
    laid_print(p, &printed);
    assert_null(memmem(printed.data, printed.size, PLAIN, strlen(PLAIN)));
}

static const char *opened(struct fixture *f, const struct plan *p)
{
    const Board__SecretRecord *r = (const Board__SecretRecord *)p->record;
    Board__WrappedKey key = BOARD__WRAPPED_KEY__INIT, *own = NULL;
    const struct change *first = p->changes;
    struct bytes text;
    if (first->next) { /* the system's comes before the secret's */
        own = ((const Board__SystemRecord *)first->message)->data_key;
    } else {
        seal_draw(model_sealer(&f->arena, KEY_1, 1), &f->arena, SHOP_UID, "first", &key);
    }
    assert_true(seal_open(f->seal, &f->arena, own ? own : &key, r->sealed, &text));
    return (const char *)text.data;
}

/* ---- Set ------------------------------------------------------------------------------------- */

static void the_first_secret_brings_the_data_key(void **state)
{
    struct fixture *f = *state;
    put_system(f, "stable", 0);
    const struct plan *p = set(f, "shop", NAME, PLAIN); /* 5 */
    expect(p, "put system/shop rewrap by client\nput secret/u-shop/%2Fapi%3Akey set by client\n");
    expect_sealed(p);
    assert_string_equal(opened(f, p), PLAIN);
    const Board__SystemRecord *s = (const Board__SystemRecord *)p->changes->message;
    assert_int_equal(s->data_key->key, 1);
    assert_string_equal(s->version, "1.0.0"); /* the rest stays */
    assert_string_equal(s->state, "stable");
    const Board__SecretRecord *r = (const Board__SecretRecord *)p->record;
    assert_string_equal(r->set_by, "olga");
    assert_int_equal(r->set_at, now.wall_ns);
    assert_string_equal(r->sealed->system, "shop");
    assert_string_equal(r->sealed->uid, SHOP_UID);
    assert_int_equal(r->sealed->key, 1);
}

static void another_value_has_another_version(void **state)
{
    struct fixture *f = *state;
    put_system(f, "updating", 1);
    put_secret(f, NAME, "before", ROWS_NOW_S + 5);
    const struct plan *p = set(f, "shop", NAME, PLAIN); /* 5 */
    expect(p, "put secret/u-shop/%2Fapi%3Akey set by client\n");
    expect_sealed(p);
    assert_string_equal(opened(f, p), PLAIN);
    const Board__SecretRecord *r = (const Board__SecretRecord *)p->record;
    assert_string_not_equal(r->sealed->version, "v0");
    assert_int_equal(r->set_at, (ROWS_NOW_S + 5) * SECOND_NS); /* its time never falls */
}

static void the_same_value_changes_nothing(void **state)
{
    struct fixture *f = *state;
    put_system(f, "degraded", 1);
    put_secret(f, NAME, PLAIN, 900);
    const struct plan *p = set(f, "shop", NAME, PLAIN); /* 3 */
    expect(p, "nothing\n");
    assert_string_equal(((const Board__SecretRecord *)p->record)->sealed->version, "v0");
}

static void an_empty_value_is_one(void **state)
{
    struct fixture *f = *state;
    put_system(f, "stable", 1);
    assert_string_equal(opened(f, set(f, "shop", NAME, "")), "");
}

/* Rules 1 and 2. */
static void who_sets_what_cannot_be_is_told_why(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *word; /* NULL = no such system */
        uint32_t key;
        bool none; /* the bbs has no keys */
        const char *plan;
    } rows[] = {
        {NULL, 0, false,
         "refuse ResourceNotFound: there is no system shop: bbs systems lists those that are\n"},
        {"pending", 0, false,
         "refuse ResourceConflict: system shop is pending: ask again when a converger has opened "
         "it\n"},
        {"failed", 0, false,
         "refuse ResourceConflict: system shop has failed (no way): delete it, and create it "
         "again\n"},
        {"deleting", 0, false, "refuse ResourceConflict: system shop is being deleted\n"},
        {"sleeping", 0, false,
         "refuse ResourceConflict: system shop is in a state of a newer version\n"},
        {"stable", 0, true,
         "refuse ResourceConflict: this bbs has no keys: start it with --keys FILE\n"},
        {"stable", 2, false,
         "refuse ResourceConflict: this bbs does not have key 2, by which the secrets of system "
         "shop are sealed: put it into its key file\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        laid_free(f->board);
        f->board = laid_new(now, ROWS_BOARD_GENERATION);
        f->seal = rows[i].none ? NULL : model_sealer(&f->arena, KEY_1, 1);
        if (rows[i].word) {
            put_system(f, rows[i].word, rows[i].key);
        }
        expect(set(f, "shop", NAME, PLAIN), rows[i].plan);
    }
}

static void put_many(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        put_secret(f, arena_printf(&f->arena, "/api:s%u", i), "x", 900);
    }
}

static void a_system_has_at_most_1000_secrets(void **state)
{
    struct fixture *f = *state;
    put_system(f, "stable", 1);
    put_many(f, SECRETS_MAX - 1);
    assert_int_equal(set(f, "shop", NAME, PLAIN)->verdict, PLAN_COMMIT);
    put_secret(f, "/api:last", "x", 900);
    expect(set(f, "shop", NAME, PLAIN), /* 4 */
           "refuse ResourceConflict: system shop has 1000 secrets, and may have 1000: unset one "
           "first\n");
    assert_int_equal(set(f, "shop", "/api:last", PLAIN)->verdict, PLAN_COMMIT);
}

static void what_may_be_asked(void **state)
{
    struct fixture *f = *state;
    char *large = arena_alloc(&f->arena, SECRET_VALUE_BYTES_MAX + 1);
    memset(large, 'x', SECRET_VALUE_BYTES_MAX + 1);
    const struct {
        const char *system, *name;
        struct bytes value;
        const char *wrong;
    } rows[] = {
        {"shop", NAME, bytes_of(PLAIN), ""},
        {"shop", "/:key", bytes_of(""), ""},
        {"shop", NAME, {(uint8_t *)large, SECRET_VALUE_BYTES_MAX}, ""},
        {"shop", NAME, {(uint8_t *)large, SECRET_VALUE_BYTES_MAX + 1},
         "the value of a secret has at most 16 KiB"},
        {"shop", NAME, {(const uint8_t *)"a\0b", 3},
         "the value of a secret cannot have a NUL in it"},
        {"shop", NAME, bytes_of("\377\376"),
         "the value of a secret must be UTF-8: encode it, as base64 for example"},
        {"", NAME, bytes_of("x"), "Invalid field: system"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        Board__SetSecretRequest q = BOARD__SET_SECRET_REQUEST__INIT;
        q.system = (char *)(uintptr_t)rows[i].system;
        q.name = (char *)(uintptr_t)rows[i].name;
        q.value = (ProtobufCBinaryData){rows[i].value.size,
                                        (uint8_t *)(uintptr_t)rows[i].value.data};
        valid_set_secret(&v, &q);
        assert_string_equal(validation_ok(&v) ? "" : validation_text(&v), rows[i].wrong);
        validation_done(&v);
    }
    static const char *const names[] = {"", "key", "/api", "/api:", ":key", "/api:a:b", "api:key",
                                        "//:key", "/api:k y", "/a/../b:k"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct validation v = {0};
        Board__SecretRequest q = BOARD__SECRET_REQUEST__INIT;
        q.system = (char *)(uintptr_t)"shop";
        q.name = (char *)(uintptr_t)names[i];
        valid_secret(&v, &q);
        if (validation_ok(&v)) {
            fail_msg("\"%s\" is taken for a name", names[i]);
        }
        validation_done(&v);
    }
}

/* ---- Unset ----------------------------------------------------------------------------------- */

static void unset_takes_the_record_away(void **state)
{
    struct fixture *f = *state;
    expect(unset(f, "shop", NAME), /* 1 */
           "refuse ResourceNotFound: there is no system shop: bbs systems lists those that are\n");
    put_system(f, "stable", 1);
    expect(unset(f, "shop", NAME), "nothing\n"); /* 2 */
    put_secret(f, NAME, PLAIN, 900);
    f->seal = NULL; /* no key is needed */
    expect(unset(f, "shop", NAME), "delete secret/u-shop/%2Fapi%3Akey unset by client\n"); /* 3 */
    put_system(f, "deleting", 1);
    expect(unset(f, "shop", NAME), "refuse ResourceConflict: system shop is being deleted\n");
}

/* ---- Wrapped anew ---------------------------------------------------------------------------- */

static void a_data_key_goes_to_the_newest_key_and_never_back(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *word;
        uint32_t key; /* that wraps its data key */
        const uint32_t *keys; /* of the bbs */
        size_t count;
        const char *plan;
    } rows[] = {
        {"stable", 0, KEYS_1_2, 2, "nothing\n"}, /* 1 */
        {"stable", 2, KEYS_1_2, 2, "nothing\n"}, /* 2 */
        {"stable", 2, KEY_1, 1, "nothing\n"},
        {"stable", 1, KEY_2, 1, /* 3 */
         "refuse ResourceConflict: this bbs does not have key 1, by which the secrets of system "
         "shop are sealed: put it into its key file\n"},
        {"stable", 1, NULL, 0,
         "refuse ResourceConflict: this bbs has no keys: start it with --keys FILE\n"},
        {"stable", 1, KEYS_1_2, 2, "put system/shop rewrap by client\n"}, /* 4 */
        {"failed", 1, KEYS_1_2, 2, "put system/shop rewrap by client\n"},
        {"deleting", 1, KEYS_1_2, 2, "put system/shop rewrap by client\n"},
        {"sleeping", 1, KEYS_1_2, 2, "nothing\n"},
        {"pending", 1, KEYS_1_2, 2, "put system/shop rewrap by client\n"},
    };
    expect(rewrap(f, "shop"), /* 1 */
           "refuse ResourceNotFound: there is no system shop: bbs systems lists those that are\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        f->seal = rows[i].keys ? model_sealer(&f->arena, rows[i].keys, rows[i].count) : NULL;
        put_system(f, rows[i].word, rows[i].key);
        const struct plan *p = rewrap(f, "shop");
        expect(p, rows[i].plan);
        if (p->verdict == PLAN_COMMIT) {
            const Board__SystemRecord *s = (const Board__SystemRecord *)p->changes->message;
            const Board__SecretRecord *r = record_of(f, NAME, PLAIN, 1);
            struct bytes text;
            assert_int_equal(s->data_key->key, 2);
            assert_true(seal_open(f->seal, &f->arena, s->data_key, r->sealed, &text));
            assert_string_equal((const char *)text.data, PLAIN);
        }
    }
}

/* ---- By what they land ----------------------------------------------------------------------- */

/* Whatever changes meanwhile that would make another decision: the transaction does not pass. */
static void each_decision_compares_what_it_rests_on(void **state)
{
    struct fixture *f = *state;
    Board__SetSecretRequest set_q = BOARD__SET_SECRET_REQUEST__INIT;
    Board__SecretRequest unset_q = BOARD__SECRET_REQUEST__INIT;
    Board__RewrapRequest rewrap_q = BOARD__REWRAP_REQUEST__INIT;
    set_q.system = unset_q.system = rewrap_q.system = (char *)(uintptr_t)"shop";
    set_q.name = unset_q.name = (char *)(uintptr_t)NAME;
    const struct {
        const struct op_row *row;
        const ProtobufCMessage *request;
        const uint32_t *keys;
        size_t count;
    } rows[] = {{&set_secret_row, &set_q.base, KEY_1, 1},
                {&unset_secret_row, &unset_q.base, KEY_1, 1},
                {&rewrap_key_row, &rewrap_q.base, KEYS_1_2, 2}};
    const struct laid_stranger stranger = {key_secret(&f->arena, SHOP_UID, "/api:other"),
                                           &record_of(f, "/api:other", "x", 1)->base};
    put_system(f, "stable", 1);
    put_secret(f, NAME, "before", 900);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_BUF(fault);
        struct random unused, random;
        random_seed(&random, (uint64_t[2]){7, i});
        struct op_input in = row_input(ACTOR_CLIENT, &unused, rows[i].request);
        in.peer_name = "olga";
        in.seal = model_sealer(&f->arena, rows[i].keys, rows[i].count);
        assert_int_equal(laid_hold(f->board, rows[i].row, &in, &stranger, 1, &random, 20, NULL,
                                   &fault),
                         PLAN_COMMIT);
        if (fault.size) {
            fail_msg("%s: %s", rows[i].row->name, buf_string(&fault));
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_secret_brings_the_data_key),
        TEST(another_value_has_another_version),
        TEST(the_same_value_changes_nothing),
        TEST(an_empty_value_is_one),
        TEST(who_sets_what_cannot_be_is_told_why),
        TEST(a_system_has_at_most_1000_secrets),
        TEST(what_may_be_asked),
        TEST(unset_takes_the_record_away),
        TEST(a_data_key_goes_to_the_newest_key_and_never_back),
        TEST(each_decision_compares_what_it_rests_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
