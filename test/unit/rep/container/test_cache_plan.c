/* What goes from a cell's cache, what stays, and when a server is asked. */
#include "rep/container/cache_plan.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

#define DIGEST(letter)                                                                             \
    "sha256-" letter letter letter letter letter letter letter letter letter letter letter letter  \
        letter letter letter letter letter letter letter letter letter letter letter letter letter \
            letter letter letter letter letter letter letter letter letter letter letter letter    \
                letter letter letter letter letter letter letter letter letter letter letter       \
                    letter letter letter letter letter letter letter letter letter letter letter   \
                        letter letter letter letter letter

#define A DIGEST("a")
#define B DIGEST("b")
#define C DIGEST("c")

enum { PLENTY = 1000000 };

/* ---- what goes ---- */

static const struct cache_item items[] = {
    {CACHE_OBJECT, A, 100, 30, false}, {CACHE_OBJECT, B, 100, 10, false},
    {CACHE_TREE, B, 100, 10, false},   {CACHE_OBJECT, C, 100, 20, false},
    {CACHE_TREE, A, 100, 5, true},
};
static const struct cache_key keys[] = {
    {"k1", A, 30}, {"k2", B, 10}, {"k3", "", 40}, {"k4", B, 11}, {"k5", C, 20}};

/* Items as "object:a", in the order in which they go. */
static void goes(const struct cache_facts *f, const struct cache_plan *plan, char ret[256])
{
    size_t n = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < plan->item_count; i++) {
        const struct cache_item *item = &f->items[plan->items[i]];
        n += (size_t)snprintf(ret + n, 256 - n, "%s:%c ",
                              item->kind == CACHE_TREE ? "tree" : "object", item->digest[7]);
    }
    for (size_t i = 0; i < plan->key_count; i++) {
        n += (size_t)snprintf(ret + n, 256 - n, "%s ", f->keys[plan->keys[i]].name);
    }
}

static const struct plan_row {
    const char *what;
    int64_t bytes_max, more, disk_bytes, disk_free;
    const char *goes; /* NULL: it fails, saying `text` */
    const char *text;
} plan_rows[] = {
    {"room enough: only a key that stands for nothing", 600, 100, PLENTY, PLENTY, "k3 ", NULL},
    {"just enough", 501, 1, PLENTY, PLENTY, "k3 ", NULL},
    {"a byte over: the least used, of the same time the tree first", 500, 1, PLENTY, PLENTY,
     "tree:b k3 ", NULL},
    {"with its object go its keys", 300, 1, PLENTY, PLENTY, "tree:b object:b object:c k2 k3 k4 k5 ",
     NULL},
    {"all but what is in use", 101, 1, PLENTY, PLENTY,
     "tree:b object:b object:c object:a k1 k2 k3 k4 k5 ", NULL},
    {"what is in use takes the room", 150, 100, PLENTY, PLENTY, NULL, "too much of it is in use"},
    {"more than all may have", 99, 100, PLENTY, PLENTY, NULL,
     "100 bytes are more than the whole cache may have (99 bytes)"},
    {"a tenth of the disk stays free: it does", PLENTY, 100, 10000, 1100, "k3 ", NULL},
    {"a byte is lacking", PLENTY, 100, 10000, 1099, "tree:b k3 ", NULL},
    {"and goes for it", PLENTY, 100, 10000, 850, "tree:b object:b object:c k2 k3 k4 k5 ", NULL},
    {"others fill the disk", PLENTY, 100, 10000, 600, NULL, "10 % of its disk must stay free"},
    {"nothing is to come: what can go goes, and it never fails", 0, 0, PLENTY, PLENTY,
     "tree:b object:b object:c object:a k1 k2 k3 k4 k5 ", NULL},
    {"also of a full disk", PLENTY, 0, 10000, 0,
     "tree:b object:b object:c object:a k1 k2 k3 k4 k5 ", NULL},
};

static void plans_by_rows(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(plan_rows) / sizeof(plan_rows[0]); i++) {
        const struct plan_row *row = &plan_rows[i];
        struct cache_facts facts = {items, 5, keys, 5, row->disk_bytes, row->disk_free};
        struct cache_plan plan = {0};
        char text[256];
        f->err = (struct err){0};
        int rc = cache_plan(&f->arena, &facts, row->bytes_max, row->more, &plan, &f->err);
        goes(&facts, &plan, text);
        if (row->goes
                ? rc != 0 || strcmp(text, row->goes) != 0
                : rc != -ERR_TOO_LARGE || plan.item_count || !strstr(f->err.text, row->text)) {
            fail_msg("%s: %d, \"%s\", %s", row->what, rc, text, f->err.text);
        }
    }
}

static void nothing_needs_no_plan(void **state)
{
    struct fixture *f = *state;
    struct cache_facts facts = {.disk_bytes = PLENTY, .disk_free = PLENTY};
    struct cache_plan plan;
    assert_int_equal(cache_plan(&f->arena, &facts, 10, 10, &plan, &f->err), 0);
    assert_int_equal(plan.item_count + plan.key_count, 0);
}

static void keys_are_bounded(void **state)
{
    struct fixture *f = *state;
    size_t count = CACHE_KEYS_MAX + 2;
    struct cache_key *many = ARENA_ARRAY(&f->arena, count, struct cache_key);
    for (size_t i = 0; i < count; i++) {
        many[i] = (struct cache_key){arena_printf(&f->arena, "%05zu", i), A, (int64_t)(count - i)};
    }
    struct cache_facts facts = {items, 1, many, count, PLENTY, PLENTY};
    struct cache_plan plan;
    assert_int_equal(cache_plan(&f->arena, &facts, PLENTY, 0, &plan, &f->err), 0);
    assert_int_equal(plan.item_count, 0);
    assert_int_equal(plan.key_count, 2);
    assert_int_equal(plan.keys[0], count - 1);
    assert_int_equal(plan.keys[1], count - 2);
}

/* ---- what is in use ---- */

static void uses_are_read(void **state)
{
    struct fixture *f = *state;
    struct cache_uses uses = {0};
    assert_int_equal(cache_uses_parse(&f->arena, bytes_of(C "\n\n" A "\n" B), &uses, &f->err), 0);
    assert_int_equal(uses.count, 3);
    assert_true(cache_uses_has(&uses, A) && cache_uses_has(&uses, B) && cache_uses_has(&uses, C));
    assert_false(cache_uses_has(&uses, DIGEST("d")));
    assert_int_equal(cache_uses_parse(&f->arena, bytes_of(""), &uses, &f->err), 0);
    assert_false(cache_uses_has(&uses, A));
    static const char *const bad[] = {"x", A " ", "sha256-", A "\nsha256-zz", "\r\n", DIGEST("A")};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(cache_uses_parse(&f->arena, bytes_of(bad[i]), &uses, &f->err),
                         -ERR_INVALID);
    }
}

/* ---- keys ---- */

static void records_come_back(void **state)
{
    struct fixture *f = *state;
    struct cache_record r = {.digest = A,
                             .size = 999999999999999999,
                             .etag = "W/\"x y\"",
                             .modified = "Mon, 01 Jan 2024 00:00:00 GMT",
                             .checksum = "md5:00"};
    struct cache_record all[4] = {r, r, r, r}, back;
    all[1].etag[0] = all[2].modified[0] = all[3].checksum[0] = '\0';
    all[1].size = 0;
    for (size_t i = 0; i < 4; i++) {
        buf_clear(&f->out);
        cache_record_print(&all[i], &f->out);
        assert_int_equal(cache_record_parse(buf_bytes(&f->out), &back, &f->err), 0);
        assert_string_equal(back.digest, all[i].digest);
        assert_int_equal(back.size, all[i].size);
        assert_string_equal(back.etag, all[i].etag);
        assert_string_equal(back.modified, all[i].modified);
        assert_string_equal(back.checksum, all[i].checksum);
        for (size_t n = 0; n < f->out.size; n++) { /* and not when it is cut */
            struct bytes cut = {f->out.data, n};
            bool whole_lines = n > 0 && f->out.data[n - 1] == '\n' && n > strlen("digest " A "\n");
            assert_int_equal(cache_record_parse(cut, &back, &f->err),
                             whole_lines ? 0 : -ERR_INVALID);
        }
    }
}

static void other_records_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "",
        "\n",
        "digest " A "\n",
        "size 1\ndigest " A "\n",
        "digest " A "\nsize 01\n",
        "digest " A "\nsize -1\n",
        "digest " A "\nsize 1000000000000000000\n",
        "digest " A "\nsize \n",
        "digest " A "\nsize 1\nsize 1\n",
        "digest " A "\nsize 1\netag \n",
        "digest " A "\nsize 1\netag \x01\n",
        "digest " A "\nsize 1\nmodified x\netag x\n",
        "digest " A "\nsize 1\nwhat x\n",
        "digest " A "\nsize 1\n\n",
        "digest sha256-x\nsize 1\n",
        "digest " A "a\nsize 1\n",
    };
    struct cache_record back = {.size = 7};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        f->err.text[0] = '\0';
        assert_int_equal(cache_record_parse(bytes_of(bad[i]), &back, &f->err), -ERR_INVALID);
        assert_true(f->err.text[0]);
        assert_int_equal(back.size, 7);
    }
    char *value = arena_alloc(&f->arena, CACHE_VALIDATOR_BYTES + 2);
    memset(value, 'x', CACHE_VALIDATOR_BYTES);
    assert_true(cache_validator_valid(bytes_of(value)));
    value[CACHE_VALIDATOR_BYTES] = 'x';
    assert_false(cache_validator_valid(bytes_of(value)));
    assert_false(cache_validator_valid(bytes_of("")));
    assert_false(cache_validator_valid(bytes_of("a\nb")));
}

static void the_way_to_content(void **state)
{
    struct cache_record none = {.digest = A}, etag = none, modified = none, sum = none;
    strcpy(etag.etag, "\"x\"");
    strcpy(modified.modified, "yesterday");
    strcpy(sum.etag, "\"x\"");
    strcpy(sum.checksum, "md5:00");
    const struct {
        const struct cache_record *known;
        bool present;
        const char *checksum;
        enum cache_way way;
    } rows[] = {
        {NULL, false, NULL, CACHE_FETCH},     {NULL, false, "md5:00", CACHE_FETCH},
        {&etag, false, NULL, CACHE_FETCH},    {&sum, false, "md5:00", CACHE_FETCH},
        {&none, true, NULL, CACHE_FETCH},     {&etag, true, NULL, CACHE_ASK},
        {&modified, true, NULL, CACHE_ASK},   {&sum, true, "md5:00", CACHE_USE},
        {&sum, true, "md5:01", CACHE_FETCH},  {&sum, true, "sha1:00", CACHE_FETCH},
        {&etag, true, "md5:00", CACHE_FETCH}, {&sum, true, NULL, CACHE_ASK},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(cache_way(rows[i].known, rows[i].present, rows[i].checksum), rows[i].way);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(plans_by_rows),      CASE(nothing_needs_no_plan), CASE(keys_are_bounded),
        CASE(uses_are_read),      CASE(records_come_back),     CASE(other_records_are_refused),
        CASE(the_way_to_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
