/* Group commit: what may travel together, and what a compare is for etcd. */
#include "bbs/board/batch.h"
#include "test/sim/model/etcd.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

/* "r:a@5 e:b - !c n:p/@7 0:q/" reads and "w:a" writes, in one line. */
static struct commit *commit_of(const char *text)
{
    struct compare *compares = ARENA_ARRAY(&arena, 200, struct compare);
    struct commit_write *writes = ARENA_ARRAY(&arena, 200, struct commit_write);
    struct commit *c = ARENA_NEW(&arena, struct commit);
    c->compares = compares;
    c->writes = writes;
    char *words = arena_strdup(&arena, text), *rest = NULL;
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        char *key = w + 2, *at = strchr(w, '@');
        long revision = at ? strtol(at + 1, NULL, 10) : 0;
        char *end = strchr(w, '-');
        if (end) {
            *end++ = 0;
        }
        if (at) {
            *at = 0;
        }
        if (*w == 'w') {
            writes[c->write_count++] = (struct commit_write){.key = key, .record = bytes_of("x")};
            continue;
        }
        compares[c->compare_count++] = (struct compare){
            .kind = *w == 'r'   ? COMPARE_UNCHANGED
                    : *w == 'e' ? COMPARE_EXISTS
                    : *w == 'a' ? COMPARE_ABSENT
                    : *w == 'n' ? COMPARE_NOTHING_NEWER
                    : *w == 'g' ? COMPARE_GAP_EMPTY
                                : COMPARE_RANGE_EMPTY,
            .key = key,
            .end = end,
            .revision = revision,
        };
    }
    c->bytes = 100;
    return c;
}

static bool travel_together(const char *first, const char *second)
{
    struct batch b;
    batch_init(&b);
    assert_true(batch_join(&b, commit_of(first)));
    bool joined = batch_join(&b, commit_of(second));
    assert_int_equal(b.count, joined ? 2 : 1);
    return joined;
}

static void ops_join_only_if_neither_sees_the_other(void **state)
{
    static const struct {
        const char *why, *first, *second;
        bool together;
    } rows[] = {
        {"apart", "r:a@1 w:a", "r:b@2 w:b", true},
        {"the same read", "r:d@1 r:a@1 w:a", "r:d@1 r:b@2 w:b", true},
        {"both write", "w:a", "w:a", false},
        {"second reads what first writes", "r:a@1 w:a", "r:a@1 r:b@1 w:b", false},
        {"second writes what first reads", "r:a@1 w:b", "r:a@1 w:a", false},
        {"write skew", "r:a@1 r:b@1 w:a", "r:a@1 r:b@1 w:b", false},
        {"second writes in first's range", "n:p/@4 w:x", "a:p/7 w:p/7", false},
        {"second writes in first's empty range", "0:p/ w:x", "w:p/7", false},
        {"second's range covers first's write", "w:p/7", "n:p/@4 w:x", false},
        {"second writes in first's gap", "g:p/3-p/7 w:x", "w:p/5", false},
        {"second writes at the gap's begin", "g:p/3-p/7 w:x", "w:p/3", false},
        {"second writes at the gap's end", "g:p/3-p/7 w:x", "w:p/7", true},
        {"second's gap covers first's write", "w:p/5", "g:p/3-p/7 w:x", false},
        {"second's gap begins behind first's write", "w:p/2", "g:p/3-p/7 w:x", true},
        {"ranges beside", "n:p/@4 w:q/1", "n:r/@4 w:s/1", true},
        {"prefix of a name is no range", "n:p/@4 w:x", "w:p7", true},
        {"own range and own write", "n:p/@4 w:p/1", "r:z@1 w:z", true},
        {"one of them is out of date", "r:d@1 w:a", "r:d@2 w:b", false},
        {"absent and there", "a:d w:a", "e:d w:b", false},
        {"unchanged and there", "r:d@3 w:a", "e:d w:b", true},
        {"deletes count as writes", "r:a@1 w:a", "a:a w:c", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (travel_together(rows[i].first, rows[i].second) != rows[i].together) {
            fail_msg("%s", rows[i].why);
        }
    }
}

static void equal_compares_and_reads_are_merged(void **state)
{
    struct batch b;
    batch_init(&b);
    assert_true(batch_join(&b, commit_of("r:d@1 n:p/@3 r:a@1 w:a")));
    assert_true(batch_join(&b, commit_of("r:d@1 n:p/@3 e:d r:b@1 w:b")));
    assert_int_equal(b.compare_count, 5); /* d unchanged, d there, p/, a, b */
    assert_int_equal(b.read_count, 4);    /* d once */
    assert_int_equal(b.record_count, 2);

    batch_init(&b);
    assert_true(batch_join(&b, commit_of("g:p/3-p/7 w:a")));
    assert_true(batch_join(&b, commit_of("g:p/3-p/7 w:b")));
    assert_true(batch_join(&b, commit_of("g:p/3-p/9 w:c")));
    assert_int_equal(b.compare_count, 2);
    assert_int_equal(b.read_count, 2);
}

static const char *many(const char *kind, unsigned first, unsigned count, const char *tail)
{
    char *text = arena_alloc(&arena, 12 * count + 100), *p = text;
    for (unsigned i = 0; i < count; i++) {
        p += sprintf(p, "%s:k%u ", kind, first + i);
    }
    strcpy(p, tail);
    return text;
}

static void a_batch_is_bounded(void **state)
{
    struct batch b;
    batch_init(&b);
    assert_true(batch_join(&b, commit_of(many("w", 0, 63, ""))));
    assert_false(batch_join(&b, commit_of("w:x w:y")));
    assert_true(batch_join(&b, commit_of("w:x")));
    assert_false(batch_join(&b, commit_of("w:z")));

    batch_init(&b);
    assert_true(batch_join(&b, commit_of(many("r", 0, 117, "w:a"))));
    assert_false(batch_join(&b, commit_of("r:x@1 r:y@1 w:b")));
    assert_true(batch_join(&b, commit_of("r:x@1 w:b")));
    assert_true(batch_join(&b, commit_of("r:k0 w:c"))); /* merged: costs nothing */

    batch_init(&b);
    struct commit *large = commit_of("w:a");
    large->bytes = BATCH_BYTES_MAX;
    assert_true(batch_join(&b, large));
    assert_false(batch_join(&b, commit_of("w:b")));
}

static void what_can_never_travel_is_reported(void **state)
{
    assert_null(commit_too_large(commit_of(many("w", 0, 64, ""))));
    assert_non_null(commit_too_large(commit_of(many("w", 0, 65, ""))));
    assert_null(commit_too_large(commit_of(many("r", 0, 118, "w:a"))));
    assert_non_null(commit_too_large(commit_of(many("r", 0, 119, "w:a"))));
    struct commit *large = commit_of("w:a");
    large->bytes = COMMIT_BYTES_MAX;
    assert_null(commit_too_large(large));
    large->bytes++;
    assert_non_null(commit_too_large(large));
}

/* ---- compares against the model etcd ---- */

static bool txn(struct model_etcd *m, const struct compare *c, Etcd__RequestOp *success,
                const Etcd__TxnResponse **ret)
{
    Etcd__TxnRequest *t = arena_message(&arena, &etcd__txn_request__descriptor);
    if (c) {
        t->n_compare = t->n_failure = 1;
        t->compare = ARENA_ARRAY(&arena, 1, Etcd__Compare *);
        t->compare[0] = compare_compile(&arena, c);
        t->failure = ARENA_ARRAY(&arena, 1, Etcd__RequestOp *);
        t->failure[0] = compare_read(&arena, c);
    }
    if (success) {
        t->n_success = 1;
        t->success = ARENA_ARRAY(&arena, 1, Etcd__RequestOp *);
        t->success[0] = success;
    }
    struct store_answer a = {0};
    model_etcd_apply(m, STORE_TXN, &t->base, &arena, &a);
    assert_int_equal(a.outcome, STORE_DONE);
    *ret = (const Etcd__TxnResponse *)a.message;
    return (*ret)->succeeded;
}

static void each_compare_holds_exactly_when_it_says(void **state)
{
    struct model_etcd *m = model_etcd_new(&(struct model_etcd_config){0});
    const Etcd__TxnResponse *r;
    txn(m, NULL, etcd_op_put(&arena, "p/1", bytes_of("x")), &r); /* revision 2 */
    txn(m, NULL, etcd_op_put(&arena, "p/2", bytes_of("x")), &r); /* 3 */
    txn(m, NULL, etcd_op_put(&arena, "p/1", bytes_of("y")), &r); /* 4 */
    static const struct {
        struct compare compare;
        bool holds;
    } rows[] = {
        {{.kind = COMPARE_UNCHANGED, .key = "p/1", .revision = 4}, true},
        {{.kind = COMPARE_UNCHANGED, .key = "p/1", .revision = 2}, false},
        {{.kind = COMPARE_UNCHANGED, .key = "q", .revision = 4}, false},
        {{.kind = COMPARE_EXISTS, .key = "p/2"}, true},
        {{.kind = COMPARE_EXISTS, .key = "p/"}, false},
        {{.kind = COMPARE_ABSENT, .key = "p/"}, true},
        {{.kind = COMPARE_ABSENT, .key = "p/1"}, false},
        {{.kind = COMPARE_RANGE_EMPTY, .key = "q/"}, true},
        {{.kind = COMPARE_RANGE_EMPTY, .key = "p/"}, false},
        {{.kind = COMPARE_GAP_EMPTY, .key = "p/", .end = "p/1"}, true},
        {{.kind = COMPARE_GAP_EMPTY, .key = "p/1", .end = "p/2"}, false},
        {{.kind = COMPARE_GAP_EMPTY, .key = "p/1\x01", .end = "p/2"}, true},
        {{.kind = COMPARE_GAP_EMPTY, .key = "p/2\x01", .end = "p0"}, true},
        {{.kind = COMPARE_GAP_EMPTY, .key = "p/1\x01", .end = "p0"}, false},
        {{.kind = COMPARE_NOTHING_NEWER, .key = "p/", .revision = 4}, true},
        {{.kind = COMPARE_NOTHING_NEWER, .key = "p/", .revision = 3}, false},
        {{.kind = COMPARE_NOTHING_NEWER, .key = "q/"}, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool held = txn(m, &rows[i].compare, NULL, &r);
        if (held != rows[i].holds) {
            fail_msg("%s %s", compare_kind_name(rows[i].compare.kind), rows[i].compare.key);
        }
        if (!held) {
            assert_true(compare_moved(&rows[i].compare, r->responses[0]->response_range));
        }
        /* Beside one that fails, the same read shows that this one stands. */
        const struct compare never = {.kind = COMPARE_EXISTS, .key = "nowhere"};
        Etcd__TxnRequest t = ETCD__TXN_REQUEST__INIT;
        Etcd__Compare *compare = compare_compile(&arena, &never);
        Etcd__RequestOp *read = compare_read(&arena, &rows[i].compare);
        t.n_compare = t.n_failure = 1;
        t.compare = &compare;
        t.failure = &read;
        struct store_answer a = {0};
        model_etcd_apply(m, STORE_TXN, &t.base, &arena, &a);
        r = (const Etcd__TxnResponse *)a.message;
        assert_int_equal(compare_moved(&rows[i].compare, r->responses[0]->response_range),
                         !rows[i].holds);
    }
    model_etcd_free(m);
}

static int begin(void **state)
{
    arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_join_only_if_neither_sees_the_other),
        cmocka_unit_test(equal_compares_and_reads_are_merged),
        cmocka_unit_test(a_batch_is_bounded),
        cmocka_unit_test(what_can_never_travel_is_reported),
        cmocka_unit_test(each_compare_holds_exactly_when_it_says),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
