#include "test/conformance/store_cases.h"

#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { INVALID_ARGUMENT = 3, NOT_FOUND = 5, FAILED_PRECONDITION = 9 };

static void assert_refused(const struct store_answer *answer, int status, const char *text)
{
    assert_int_equal(answer->outcome, STORE_REFUSED);
    assert_int_equal(answer->grpc_status, status);
    assert_string_equal(answer->text, text);
    assert_null(answer->message);
}

static int64_t revision_now(struct tester *t)
{
    return tester_range(t, range_new(&t->arena, "none", NULL))->header->revision;
}

static bool holds(struct tester *t, Etcd__Compare *c)
{
    struct txn *txn = txn_new(&t->arena);
    txn_if(txn, c);
    return tester_txn(t, txn)->succeeded;
}

/* design.md 2: everywhere the same five kinds. */
static void five_compares(struct tester *t)
{
    struct arena *a = &t->arena;
    int64_t first = tester_put(t, "five/a", "1");
    int64_t second = tester_put(t, "five/b", "2");
    assert_true(holds(t, compare_unchanged(a, "five/a", first)));
    assert_false(holds(t, compare_unchanged(a, "five/a", second)));
    assert_false(holds(t, compare_unchanged(a, "five/none", first)));
    assert_true(holds(t, compare_exists(a, "five/a")));
    assert_false(holds(t, compare_exists(a, "five/none")));
    assert_true(holds(t, compare_absent(a, "five/none")));
    assert_false(holds(t, compare_absent(a, "five/a")));
    assert_true(holds(t, compare_range_empty(a, "fiv/")));
    assert_true(holds(t, compare_range_empty(a, "five/a/")));
    assert_false(holds(t, compare_range_empty(a, "five/")));
    assert_true(holds(t, compare_nothing_newer(a, "five/", second)));
    assert_false(holds(t, compare_nothing_newer(a, "five/", first)));
    assert_true(holds(t, compare_nothing_newer(a, "fiv/", 1)));
    /* A value that is not there equals nothing, not even no bytes. */
    assert_false(holds(t, compare_bytes(a, "five/none", "")));
    assert_true(holds(t, compare_bytes(a, "five/a", "1")));
}

static void failure_branch_reads_back(struct tester *t)
{
    struct arena *a = &t->arena;
    int64_t put = tester_put(t, "back/a", "1");
    struct txn *txn = txn_new(a);
    txn_if(txn, compare_unchanged(a, "back/a", put + 1000));
    txn_then(txn, op_put(a, "back/a", "2", 0));
    txn_else(txn, op_range(a, "back/a", NULL));
    txn_else(txn, op_range(a, "back/none", NULL));
    const Etcd__TxnResponse *r = tester_txn(t, txn);
    assert_false(r->succeeded);
    assert_int_equal(r->n_responses, 2);
    assert_int_equal(r->responses[0]->response_range->n_kvs, 1);
    assert_int_equal(r->responses[0]->response_range->kvs[0]->mod_revision, put);
    assert_int_equal(r->responses[1]->response_range->n_kvs, 0);
    assert_int_equal(r->header->revision, put);
}

static void sizes_and_doubles_are_refused(struct tester *t)
{
    struct arena *a = &t->arena;
    int64_t before = revision_now(t);
    char key[32];
    struct txn *most = txn_new(a), *many = txn_new(a), *twice = txn_new(a), *covered = txn_new(a);
    for (int i = 0; i < 129; i++) {
        snprintf(key, sizeof(key), "size/%03d", i);
        txn_then(many, op_put(a, key, "v", 0));
        if (i < 128) {
            txn_then(most, op_put(a, key, "v", 0));
        }
    }
    assert_refused(tester_ask(t, STORE_TXN, &many->request.base), INVALID_ARGUMENT,
                   "etcdserver: too many operations in txn request");
    txn_then(twice, op_put(a, "size/a", "1", 0));
    txn_then(twice, op_put(a, "size/a", "2", 0));
    assert_refused(tester_ask(t, STORE_TXN, &twice->request.base), INVALID_ARGUMENT,
                   "etcdserver: duplicate key given in txn request");
    txn_then(covered, op_put(a, "size/a", "1", 0));
    txn_then(covered, op_delete(a, "size/", prefix_end(a, "size/")));
    assert_refused(tester_ask(t, STORE_TXN, &covered->request.base), INVALID_ARGUMENT,
                   "etcdserver: duplicate key given in txn request");
    struct txn *large = txn_new(a), *fits = txn_new(a), *keyless = txn_new(a);
    txn_then(large, op_put_bytes(a, "size/large", 3 * 512 * 1024));
    assert_refused(tester_ask(t, STORE_TXN, &large->request.base), INVALID_ARGUMENT,
                   "etcdserver: request is too large");
    txn_then(keyless, op_put(a, "", "v", 0));
    assert_refused(tester_ask(t, STORE_TXN, &keyless->request.base), INVALID_ARGUMENT,
                   "etcdserver: key is not provided");
    assert_int_equal(revision_now(t), before);
    txn_then(fits, op_put_bytes(a, "size/large", 1024 * 1024));
    assert_int_equal(tester_txn(t, fits)->header->revision, before + 1);
    assert_int_equal(tester_txn(t, most)->header->revision, before + 2);
}

static void pages_at_one_revision(struct tester *t)
{
    struct arena *a = &t->arena;
    char key[32];
    enum { KEYS = 25, PAGE = 10 };
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "page/%02d", i);
        tester_put(t, key, "v");
    }
    int64_t at = 0;
    size_t total = 0;
    const char *from = "page/";
    bool more = true;
    while (more) {
        Etcd__RangeRequest *r = range_new(a, from, prefix_end(a, "page/"));
        r->limit = PAGE;
        r->revision = at;
        const Etcd__RangeResponse *page = tester_range(t, r);
        at = at ? at : page->header->revision;
        assert_int_equal(page->count, KEYS - total);
        for (size_t i = 0; i < page->n_kvs; i++, total++) {
            snprintf(key, sizeof(key), "page/%02d", (int)total);
            assert_memory_equal(page->kvs[i]->key.data, key, strlen(key));
        }
        from = arena_printf(a, "page/%02d0", (int)total - 1);
        more = page->more;
        /* Changes between the pages are not seen. */
        tester_put(t, arena_printf(a, "page/%02d5", (int)total), "late");
    }
    assert_int_equal(total, KEYS);
    Etcd__RangeRequest *count = range_new(a, "page/", prefix_end(a, "page/"));
    count->count_only = true;
    count->revision = at;
    const Etcd__RangeResponse *counted = tester_range(t, count);
    assert_int_equal(counted->count, KEYS);
    assert_int_equal(counted->n_kvs, 0);
    count->count_only = false;
    count->keys_only = true;
    const Etcd__RangeResponse *keys = tester_range(t, count);
    assert_int_equal(keys->n_kvs, KEYS);
    assert_int_equal(keys->kvs[0]->value.len, 0);
    assert_int_equal(keys->kvs[0]->version, 1);
}

static void compaction_forgets(struct tester *t)
{
    struct arena *a = &t->arena;
    int64_t first = tester_put(t, "compact/a", "1");
    int64_t second = tester_put(t, "compact/a", "2");
    tester_put(t, "compact/a", "3");
    Etcd__CompactionRequest compact = ETCD__COMPACTION_REQUEST__INIT;
    compact.revision = second;
    assert_int_equal(tester_ask(t, STORE_COMPACT, &compact.base)->outcome, STORE_DONE);
    const char *compacted = "etcdserver: mvcc: required revision has been compacted";
    const char *future = "etcdserver: mvcc: required revision is a future revision";
    assert_refused(tester_ask(t, STORE_COMPACT, &compact.base), GRPC_OUT_OF_RANGE, compacted);
    Etcd__RangeRequest *old = range_new(a, "compact/a", NULL);
    old->revision = first;
    assert_refused(tester_ask(t, STORE_RANGE, &old->base), GRPC_OUT_OF_RANGE, compacted);
    old->revision = second;
    assert_memory_equal(tester_range(t, old)->kvs[0]->value.data, "2", 1);
    old->revision = revision_now(t) + 1;
    assert_refused(tester_ask(t, STORE_RANGE, &old->base), GRPC_OUT_OF_RANGE, future);
    compact.revision = old->revision;
    assert_refused(tester_ask(t, STORE_COMPACT, &compact.base), GRPC_OUT_OF_RANGE, future);
    struct watch_log *w = tester_watch(t, first);
    assert_true(tester_watch_closes(t, w, 60 * SECOND_NS));
    assert_int_equal(w->compact_revision, second);
    assert_int_equal(w->count, 0);
    assert_int_equal(w->wrong, 0);
}

static void assert_value(const Etcd__KeyValue *kv, const char *key, const char *value)
{
    assert_int_equal(kv->key.len, strlen(key));
    assert_memory_equal(kv->key.data, key, strlen(key));
    assert_int_equal(kv->value.len, strlen(value));
    assert_memory_equal(kv->value.data, value, strlen(value));
}

static void watch_tells_whole_revisions(struct tester *t)
{
    struct arena *a = &t->arena;
    int64_t first = tester_put(t, "watch/a", "1");
    tester_put(t, "watch/b", "2");
    struct txn *txn = txn_new(a);
    txn_then(txn, op_put(a, "watch/a", "3", 0));
    txn_then(txn, op_delete(a, "watch/b", NULL));
    txn_then(txn, op_put(a, "watch/c", "4", 0));
    int64_t third = tester_txn(t, txn)->header->revision;
    struct watch_log *past = tester_watch(t, first), *now = tester_watch(t, 0);
    int64_t last = tester_put(t, "watch/c", "5");
    assert_true(tester_watch_until(t, past, last));
    assert_true(tester_watch_until(t, now, last));
    const Etcd__Event *all[5];
    size_t count = 0;
    for (size_t i = 0; i < past->count; i++) {
        for (size_t k = 0; k < past->list[i]->n_events; k++) {
            assert_true(count < 6);
            if (count < 5) {
                all[count] = past->list[i]->events[k];
            }
            count++;
        }
    }
    assert_int_equal(count, 6);
    assert_null(all[0]->prev_kv);
    assert_value(all[0]->kv, "watch/a", "1");
    assert_value(all[2]->kv, "watch/a", "3");
    assert_value(all[2]->prev_kv, "watch/a", "1");
    assert_int_equal(all[2]->kv->version, 2);
    assert_int_equal(all[3]->type, ETCD__EVENT__TYPE__DELETE);
    assert_value(all[3]->kv, "watch/b", "");
    assert_value(all[3]->prev_kv, "watch/b", "2");
    for (int i = 2; i < 5; i++) {
        assert_int_equal(all[i]->kv->mod_revision, third);
    }
    assert_int_equal(now->count, 1);
    assert_value(now->list[0]->events[0]->prev_kv, "watch/c", "4");
    tester_unwatch(t, past);
    int64_t later = tester_put(t, "watch/c", "6");
    assert_true(tester_watch_until(t, now, later));
    assert_int_equal(past->last_revision, last);
    assert_int_equal(past->wrong + now->wrong + t->wrong, 0);
    tester_unwatch(t, now);
}

/* With previous values a revision can exceed what etcd sends in one piece. */
static void large_revisions_arrive_joined(struct tester *t)
{
    struct arena *a = &t->arena;
    enum { KEYS = 60, BYTES = 17000 };
    struct watch_log *w = tester_watch(t, 0);
    int64_t last = 0;
    for (int round = 0; round < 2; round++) {
        struct txn *txn = txn_new(a);
        for (int i = 0; i < KEYS; i++) {
            txn_then(txn, op_put_bytes(a, arena_printf(a, "large/%02d", i), BYTES));
        }
        last = tester_txn(t, txn)->header->revision;
    }
    assert_true(tester_watch_until(t, w, last));
    const Etcd__WatchResponse *r = w->list[w->count - 1];
    assert_true(r->n_events >= KEYS);
    for (size_t i = r->n_events - KEYS; i < r->n_events; i++) {
        assert_int_equal(r->events[i]->kv->mod_revision, last);
        assert_int_equal(r->events[i]->prev_kv->value.len, BYTES);
    }
    assert_int_equal(w->wrong, 0);
    tester_unwatch(t, w);
    const Etcd__RangeResponse *all =
        tester_range(t, range_new(a, "large/", prefix_end(a, "large/")));
    assert_int_equal(all->n_kvs, KEYS);
    struct txn *clean = txn_new(a);
    txn_then(clean, op_delete(a, "large/", prefix_end(a, "large/")));
    assert_int_equal(tester_txn(t, clean)->responses[0]->response_delete_range->deleted, KEYS);
}

static int64_t grant(struct tester *t, int64_t id, int64_t ttl_s)
{
    Etcd__LeaseGrantRequest request = ETCD__LEASE_GRANT_REQUEST__INIT;
    request.id = id;
    request.ttl = ttl_s;
    const struct store_answer *answer = tester_ask(t, STORE_LEASE_GRANT, &request.base);
    assert_int_equal(answer->outcome, STORE_DONE);
    return ((const Etcd__LeaseGrantResponse *)answer->message)->id;
}

static int64_t keep_alive(struct tester *t, int64_t id)
{
    Etcd__LeaseKeepAliveRequest request = ETCD__LEASE_KEEP_ALIVE_REQUEST__INIT;
    request.id = id;
    const struct store_answer *answer = tester_ask(t, STORE_LEASE_KEEP_ALIVE, &request.base);
    assert_int_equal(answer->outcome, STORE_DONE);
    return ((const Etcd__LeaseKeepAliveResponse *)answer->message)->ttl;
}

static void leases_end_with_their_keys(struct tester *t)
{
    struct arena *a = &t->arena;
    int64_t id = grant(t, 0, 60);
    struct txn *put = txn_new(a), *unknown = txn_new(a);
    txn_then(put, op_put(a, "lease/a", "1", id));
    txn_then(put, op_put(a, "lease/b", "1", id));
    int64_t before = tester_txn(t, put)->header->revision;
    assert_int_equal(keep_alive(t, id), 60);
    txn_then(unknown, op_put(a, "lease/c", "1", id + 12345));
    assert_refused(tester_ask(t, STORE_TXN, &unknown->request.base), NOT_FOUND,
                   "etcdserver: requested lease not found");
    Etcd__LeaseGrantRequest again = ETCD__LEASE_GRANT_REQUEST__INIT;
    again.id = id;
    again.ttl = 5;
    assert_refused(tester_ask(t, STORE_LEASE_GRANT, &again.base), FAILED_PRECONDITION,
                   "etcdserver: lease already exists");
    Etcd__LeaseRevokeRequest revoke = ETCD__LEASE_REVOKE_REQUEST__INIT;
    revoke.id = id;
    const struct store_answer *revoked = tester_ask(t, STORE_LEASE_REVOKE, &revoke.base);
    assert_int_equal(revoked->outcome, STORE_DONE);
    assert_int_equal(answer_revision(revoked), before + 1);
    assert_int_equal(tester_range(t, range_new(a, "lease/", "lease0"))->count, 0);
    assert_refused(tester_ask(t, STORE_LEASE_REVOKE, &revoke.base), NOT_FOUND,
                   "etcdserver: requested lease not found");
    assert_int_equal(keep_alive(t, id), 0);
}

static void leases_end_by_themselves(struct tester *t)
{
    enum { TTL_S = 8, PASS_S = 5 }; /* a renewal may be late by the difference, on a slow machine */
    struct arena *a = &t->arena;
    int64_t id = grant(t, 0, TTL_S);
    struct txn *put = txn_new(a);
    txn_then(put, op_put(a, "expire/a", "1", id));
    int64_t at = tester_txn(t, put)->header->revision;
    struct watch_log *w = tester_watch(t, at + 1);
    tester_pass(t, PASS_S * SECOND_NS);
    assert_int_equal(keep_alive(t, id), TTL_S);
    tester_pass(t, PASS_S * SECOND_NS);
    assert_int_equal(w->count, 0);
    assert_true(tester_watch_until(t, w, at + 1));
    assert_int_equal(w->list[0]->events[0]->type, ETCD__EVENT__TYPE__DELETE);
    assert_value(w->list[0]->events[0]->prev_kv, "expire/a", "1");
    assert_int_equal(keep_alive(t, id), 0);
    tester_unwatch(t, w);
}

static void status_says_who_it_is(struct tester *t)
{
    Etcd__StatusRequest request = ETCD__STATUS_REQUEST__INIT;
    const struct store_answer *answer = tester_ask(t, STORE_STATUS, &request.base);
    assert_int_equal(answer->outcome, STORE_DONE);
    const Etcd__StatusResponse *r = (const Etcd__StatusResponse *)answer->message;
    assert_int_equal(r->leader, r->header->member_id);
    assert_true(r->dbsize >= r->dbsizeinuse && r->dbsizeinuse > 0);
    assert_true(strncmp(r->version, "3.", 2) == 0);
    assert_int_equal(r->n_errors, 0);
    assert_int_equal(r->header->raft_term, r->raftterm);
}

const struct store_case store_cases[] = {
    {"five_compares", five_compares},
    {"failure_branch_reads_back", failure_branch_reads_back},
    {"sizes_and_doubles_are_refused", sizes_and_doubles_are_refused},
    {"pages_at_one_revision", pages_at_one_revision},
    {"compaction_forgets", compaction_forgets},
    {"watch_tells_whole_revisions", watch_tells_whole_revisions},
    {"large_revisions_arrive_joined", large_revisions_arrive_joined},
    {"leases_end_with_their_keys", leases_end_with_their_keys},
    {"leases_end_by_themselves", leases_end_by_themselves},
    {"status_says_who_it_is", status_says_who_it_is},
    {NULL, NULL},
};

/* Quota */

static const Etcd__AlarmResponse *alarm(struct tester *t, Etcd__AlarmRequest__AlarmAction action,
                                        uint64_t member)
{
    Etcd__AlarmRequest request = ETCD__ALARM_REQUEST__INIT;
    request.action = action;
    request.memberid = member;
    request.alarm = member ? ETCD__ALARM_TYPE__NOSPACE : ETCD__ALARM_TYPE__NONE;
    const struct store_answer *answer = tester_ask(t, STORE_ALARM, &request.base);
    assert_int_equal(answer->outcome, STORE_DONE);
    return (const Etcd__AlarmResponse *)answer->message;
}

static void assert_no_space(struct tester *t)
{
    struct txn *txn = txn_new(&t->arena);
    txn_then(txn, op_put(&t->arena, "quota/small", "v", 0));
    assert_refused(tester_ask(t, STORE_TXN, &txn->request.base), GRPC_RESOURCE_EXHAUSTED,
                   "etcdserver: mvcc: database space exceeded");
}

/* Fills the store with old versions of one key. */
static void fill_up(struct tester *t)
{
    for (int i = 0; i < 100; i++) {
        struct txn *txn = txn_new(&t->arena);
        txn_then(txn, op_put_bytes(&t->arena, "quota/a", 128 * 1024));
        const struct store_answer *answer = tester_ask(t, STORE_TXN, &txn->request.base);
        if (answer->outcome != STORE_DONE) {
            assert_refused(answer, GRPC_RESOURCE_EXHAUSTED,
                           "etcdserver: mvcc: database space exceeded");
            return;
        }
    }
    fail_msg("the quota was not reached");
}

void store_case_quota(struct tester *t)
{
    struct arena *a = &t->arena;
    fill_up(t);
    assert_no_space(t);
    assert_int_equal(tester_range(t, range_new(a, "quota/a", NULL))->n_kvs, 1);
    struct txn *clean = txn_new(a);
    txn_then(clean, op_delete(a, "quota/b", NULL));
    tester_txn(t, clean); /* what writes nothing new goes on */
    const Etcd__AlarmResponse *alarms = alarm(t, ETCD__ALARM_REQUEST__ALARM_ACTION__GET, 0);
    assert_int_equal(alarms->n_alarms, 1);
    uint64_t member = alarms->alarms[0]->memberid;
    assert_int_equal(alarms->alarms[0]->alarm, ETCD__ALARM_TYPE__NOSPACE);
    Etcd__CompactionRequest compact = ETCD__COMPACTION_REQUEST__INIT;
    compact.revision = revision_now(t);
    compact.physical = true;
    assert_int_equal(tester_ask(t, STORE_COMPACT, &compact.base)->outcome, STORE_DONE);
    Etcd__DefragmentRequest defragment = ETCD__DEFRAGMENT_REQUEST__INIT;
    assert_int_equal(tester_ask(t, STORE_DEFRAGMENT, &defragment.base)->outcome, STORE_DONE);
    assert_no_space(t); /* until the alarm is taken back */
    alarms = alarm(t, ETCD__ALARM_REQUEST__ALARM_ACTION__DEACTIVATE, member);
    assert_int_equal(alarms->n_alarms, 1);
    tester_put(t, "quota/b", "v");
    assert_int_equal(alarm(t, ETCD__ALARM_REQUEST__ALARM_ACTION__GET, 0)->n_alarms, 0);
}
