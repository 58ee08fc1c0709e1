/* The witness: one other record below a prefix, drawn at random (view_witness()). */
#include "common/base/map.h"
#include "test/decide/laid_board.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWS = 3000 };

/* What an op asks, and what it is given. */
struct wanted {
    const char *prefix;
    const char *const *except;
    size_t count;
    struct random *random;
    const char *witness;
    struct read_set reads;
};

static void put(struct laid_board *l, const char *key)
{
    Board__DomainRecord record = BOARD__DOMAIN_RECORD__INIT;
    laid_put(l, key, &record.base, 5, 5, 0);
}

static struct laid_board *board_of(const char *const *keys, size_t count)
{
    struct laid_board *l = laid_new((struct moment){0}, "E");
    for (size_t i = 0; i < count; i++) {
        put(l, keys[i]);
    }
    return l;
}

static void witness_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct wanted *w = (struct wanted *)(uintptr_t)in->request;
    w->witness = view_witness(v, w->prefix, w->except, w->count, w->random);
    (void)snapshot;
}

static void nothing_decided(const void *snapshot, const struct op_input *in, struct plan *plan)
{
    (void)snapshot, (void)in, (void)plan;
}

/* The answer lives in the arena. */
static const char *ask(struct laid_board *l, struct arena *a, struct wanted *w)
{
    static const struct op_row row = {
        .name = "witness", .gather = witness_gather, .decide = nothing_decided, .snapshot_size = 1};
    const struct op_input in = {.request = w};
    struct laid_plan p;
    laid_decide(l, &row, &in, a, &p);
    w->reads = p.reads;
    return w->witness;
}

#define ASK(l, a, wanted_prefix, wanted_except, wanted_count)                                      \
    ({                                                                                             \
        struct random random_;                                                                     \
        random_seed(&random_, (uint64_t[2]){1, 2});                                                \
        struct wanted w_ = {wanted_prefix, wanted_except, wanted_count, &random_, NULL, {0}};      \
        ask(l, a, &w_);                                                                            \
    })

static void there_is_none_in_an_empty_range_or_when_all_are_excepted(void **state)
{
    static const char *const keys[] = {"domain/a", "domain/b/1", "domain/b/2", "domain/c"};
    SCOPED_ARENA(a);
    struct laid_board *l = board_of(keys, 4);
    assert_null(ASK(l, &a, "domain/d/", NULL, 0));
    assert_null(ASK(l, &a, "domain/b/", &keys[1], 2));
    assert_null(ASK(l, &a, "domain/a", &keys[0], 1));
    assert_null(ASK(l, &a, "domain/", keys, 4));
    assert_string_equal(ASK(l, &a, "domain/b/", &keys[1], 1), "domain/b/2");
    assert_string_equal(ASK(l, &a, "domain/b/", &keys[2], 1), "domain/b/1");
    assert_string_equal(ASK(l, &a, "domain/b/", &keys[2], 2), "domain/b/1");
    laid_free(l);
    (void)state;
}

static void that_it_exists_is_compared_and_nothing_else(void **state)
{
    static const char *const keys[] = {"domain/b/1", "domain/b/2"};
    SCOPED_ARENA(a);
    struct random random;
    random_seed(&random, (uint64_t[2]){1, 2});
    struct laid_board *l = board_of(keys, 2);
    struct wanted w = {"domain/b/", keys, 1, &random, NULL, {0}};
    ask(l, &a, &w);
    assert_int_equal(w.reads.count, 1);
    assert_int_equal(w.reads.list[0].kind, COMPARE_EXISTS);
    assert_string_equal(w.reads.list[0].key, "domain/b/2");
    w.count = 2;
    w.except = keys;
    assert_null(ask(l, &a, &w));
    assert_int_equal(w.reads.count, 0);
    laid_free(l);
    (void)state;
}

/* Of a key that is the beginning of others too, and of numbers whose first digits are the same. */
static void each_of_them_is_drawn(void **state)
{
    SCOPED_ARENA(a);
    enum { KEYS = 130 };
    const char *keys[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        const char *text = i == 0   ? "domain/u"
                           : i == 1 ? "domain/u/-/1/web"
                                    : arena_printf(&a, "domain/u/-/1/web/%010zu", i + 40);
        keys[i] = text;
    }
    struct laid_board *l = board_of(keys, KEYS);
    put(l, "domain/t");
    put(l, "domain/v");
    struct random random;
    random_seed(&random, (uint64_t[2]){3, 4});
    struct map drawn;
    map_init(&drawn);
    for (int i = 0; i < DRAWS; i++) {
        SCOPED_ARENA(scratch);
        struct wanted w = {"domain/u", keys, 1, &random, NULL, {0}};
        const char *witness = ask(l, &scratch, &w);
        assert_non_null(witness);
        assert_string_not_equal(witness, keys[0]);
        map_put(&drawn, witness, l);
    }
    for (size_t i = 1; i < KEYS; i++) {
        assert_non_null(map_get(&drawn, keys[i]));
    }
    map_done(&drawn, NULL);
    laid_free(l);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_none_in_an_empty_range_or_when_all_are_excepted),
        cmocka_unit_test(that_it_exists_is_compared_and_nothing_else),
        cmocka_unit_test(each_of_them_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
