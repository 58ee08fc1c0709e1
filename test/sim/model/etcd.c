#include "test/sim/model/etcd.h"

#include "common/base/memory.h"
#include "common/contract/moment.h"
#include "test/sim/model/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_BYTES_AT_START = 20 * 1024,
    LEASE_COST_BYTES = 64,
    FIRST_TERM = 2,
    NOT_FOUND = 5,
    FAILED_PRECONDITION = 9,
};

static const int64_t default_quota_bytes = INT64_C(2) * 1024 * 1024 * 1024;
static const int64_t largest_ttl_s = INT64_C(9000000000);
static const struct model_refusal fine;

struct model_etcd *model_etcd_new(const struct model_etcd_config *config)
{
    struct model_etcd *m = mem_zeroed(sizeof(*m));
    m->config = *config;
    m->config.cluster_id += config->cluster_id == 0;
    m->config.member_id += config->member_id == 0;
    if (m->config.quota_bytes == 0) {
        m->config.quota_bytes = default_quota_bytes;
    }
    m->raft_term = FIRST_TERM;
    m->file_bytes = FILE_BYTES_AT_START;
    model_mvcc_init(&m->store);
    return m;
}

void model_etcd_free(struct model_etcd *m)
{
    if (m) {
        model_mvcc_done(&m->store);
        free(m->leases);
        free(m);
    }
}

Etcd__ResponseHeader *model_header(struct model_etcd *m, struct arena *a, int64_t revision)
{
    Etcd__ResponseHeader *h = MODEL_NEW(a, Etcd__ResponseHeader, ETCD__RESPONSE_HEADER);
    h->cluster_id = m->config.cluster_id;
    h->member_id = m->config.member_id;
    h->raft_term = m->raft_term;
    h->revision = revision;
    return h;
}

static Etcd__ResponseHeader *header_now(struct model_etcd *m, struct arena *a)
{
    return model_header(m, a, m->store.revision);
}

/* Quota */

void model_etcd_set_quota(struct model_etcd *m, int64_t bytes)
{
    m->config.quota_bytes = bytes ? bytes : default_quota_bytes;
}

int64_t model_etcd_file_bytes(const struct model_etcd *m)
{
    return m->file_bytes;
}

bool model_etcd_alarmed(const struct model_etcd *m)
{
    return m->no_space;
}

struct model_refusal model_check_quota(struct model_etcd *m, int64_t cost)
{
    if (cost == 0) {
        return fine;
    }
    if (m->file_bytes + cost > m->config.quota_bytes) {
        m->no_space = true;
    }
    if (m->no_space) {
        return (struct model_refusal){GRPC_RESOURCE_EXHAUSTED,
                                      "etcdserver: mvcc: database space exceeded"};
    }
    return fine;
}

/* The file holds what is in use and never shrinks by itself. */
static void grow_file(struct model_etcd *m)
{
    int64_t need = FILE_BYTES_AT_START + m->store.in_use;
    m->file_bytes = m->file_bytes > need ? m->file_bytes : need;
}

static struct model_refusal compact(struct model_etcd *m, const Etcd__CompactionRequest *request,
                                    struct arena *a, const ProtobufCMessage **ret)
{
    if (request->revision <= m->store.compacted) {
        return (struct model_refusal){GRPC_OUT_OF_RANGE,
                                      "etcdserver: mvcc: required revision has been compacted"};
    }
    if (request->revision > m->store.revision) {
        return (struct model_refusal){GRPC_OUT_OF_RANGE,
                                      "etcdserver: mvcc: required revision is a future revision"};
    }
    model_mvcc_compact(&m->store, request->revision);
    Etcd__CompactionResponse *r = MODEL_NEW(a, Etcd__CompactionResponse, ETCD__COMPACTION_RESPONSE);
    r->header = header_now(m, a);
    *ret = &r->base;
    return fine;
}

/* Leases */

static size_t lease_place(const struct model_etcd *m, int64_t id)
{
    size_t i = 0;
    while (i < m->lease_count && m->leases[i].id < id) {
        i++;
    }
    return i;
}

static struct model_lease *lease_find(const struct model_etcd *m, int64_t id)
{
    size_t i = lease_place(m, id);
    return i < m->lease_count && m->leases[i].id == id ? &m->leases[i] : NULL;
}

bool model_lease_exists(const struct model_etcd *m, int64_t id)
{
    return lease_find(m, id);
}

static void lease_start(const struct model_etcd *m, struct model_lease *l)
{
    l->ends_ns = m->now_ns + l->ttl_s * SECOND_NS;
}

static void lease_insert(struct model_etcd *m, struct model_lease lease)
{
    if (m->lease_count == m->lease_capacity) {
        m->lease_capacity = m->lease_capacity ? m->lease_capacity * 2 : 8;
        m->leases = mem_resized(m->leases, m->lease_capacity, sizeof(*m->leases));
    }
    size_t i = lease_place(m, lease.id);
    memmove(&m->leases[i + 1], &m->leases[i], (m->lease_count - i) * sizeof(lease));
    m->leases[i] = lease;
    m->lease_count++;
}

static struct model_refusal grant(struct model_etcd *m, const Etcd__LeaseGrantRequest *request,
                                  struct arena *a, const ProtobufCMessage **ret)
{
    struct model_refusal refusal = model_check_quota(m, LEASE_COST_BYTES);
    if (refusal.status) {
        return refusal;
    }
    struct model_lease lease = {.id = request->id, .ttl_s = request->ttl};
    if (lease.ttl_s > largest_ttl_s) {
        return (struct model_refusal){GRPC_OUT_OF_RANGE, "etcdserver: too large lease TTL"};
    }
    if (lease.ttl_s < MODEL_ETCD_LEASE_MIN_S) {
        lease.ttl_s = MODEL_ETCD_LEASE_MIN_S;
    }
    while (lease.id == 0) {
        int64_t id = ++m->last_lease_id;
        lease.id = lease_find(m, id) ? 0 : id;
    }
    if (lease_find(m, lease.id)) {
        return (struct model_refusal){FAILED_PRECONDITION, "etcdserver: lease already exists"};
    }
    lease_start(m, &lease);
    lease_insert(m, lease);
    Etcd__LeaseGrantResponse *r =
        MODEL_NEW(a, Etcd__LeaseGrantResponse, ETCD__LEASE_GRANT_RESPONSE);
    r->header = header_now(m, a);
    r->id = lease.id;
    r->ttl = lease.ttl_s;
    *ret = &r->base;
    return fine;
}

/* All its keys go in one revision. */
static void lease_end(struct model_etcd *m, int64_t id, struct arena *a)
{
    struct model_found *list;
    struct model_range all = {.low = "", .high = ""};
    size_t count = model_mvcc_find(&m->store, &all, 0, a, &list);
    for (size_t i = 0; i < count; i++) {
        if (list[i].version->lease == id) {
            struct model_range one = {.low = arena_strdup(a, list[i].key)};
            model_mvcc_delete(&m->store, &one, a);
        }
    }
    model_mvcc_commit(&m->store);
    size_t i = lease_place(m, id);
    m->lease_count--;
    memmove(&m->leases[i], &m->leases[i + 1], (m->lease_count - i) * sizeof(*m->leases));
}

static struct model_refusal revoke(struct model_etcd *m, const Etcd__LeaseRevokeRequest *request,
                                   struct arena *a, const ProtobufCMessage **ret)
{
    if (!lease_find(m, request->id)) {
        return (struct model_refusal){NOT_FOUND, "etcdserver: requested lease not found"};
    }
    lease_end(m, request->id, a);
    Etcd__LeaseRevokeResponse *r =
        MODEL_NEW(a, Etcd__LeaseRevokeResponse, ETCD__LEASE_REVOKE_RESPONSE);
    r->header = header_now(m, a);
    *ret = &r->base;
    return fine;
}

static struct model_refusal keep_alive(struct model_etcd *m,
                                       const Etcd__LeaseKeepAliveRequest *request, struct arena *a,
                                       const ProtobufCMessage **ret)
{
    Etcd__LeaseKeepAliveResponse *r =
        MODEL_NEW(a, Etcd__LeaseKeepAliveResponse, ETCD__LEASE_KEEP_ALIVE_RESPONSE);
    struct model_lease *lease = lease_find(m, request->id);
    r->header = header_now(m, a);
    r->id = request->id;
    if (lease) {
        lease_start(m, lease);
        r->ttl = lease->ttl_s;
    }
    *ret = &r->base;
    return fine;
}

static struct model_lease *lease_next(const struct model_etcd *m)
{
    struct model_lease *next = NULL;
    for (size_t i = 0; i < m->lease_count; i++) {
        if (!next || m->leases[i].ends_ns < next->ends_ns) {
            next = &m->leases[i];
        }
    }
    return next;
}

void model_etcd_advance(struct model_etcd *m, int64_t mono_ns)
{
    assert(mono_ns >= m->now_ns);
    m->now_ns = mono_ns;
    SCOPED_ARENA(a);
    for (struct model_lease *l = lease_next(m); l && l->ends_ns <= mono_ns; l = lease_next(m)) {
        lease_end(m, l->id, &a);
    }
}

int64_t model_etcd_due(const struct model_etcd *m)
{
    const struct model_lease *next = lease_next(m);
    return next ? next->ends_ns : NEVER_NS;
}

void model_etcd_elect(struct model_etcd *m)
{
    m->raft_term++;
    for (size_t i = 0; i < m->lease_count; i++) {
        lease_start(m, &m->leases[i]);
    }
}

void model_etcd_restore(struct model_etcd *m, int64_t revision)
{
    model_mvcc_restore(&m->store, revision);
    model_etcd_elect(m);
    m->raft_term = FIRST_TERM;
}

/* Maintenance */

static struct model_refusal status(struct model_etcd *m, struct arena *a,
                                   const ProtobufCMessage **ret)
{
    Etcd__StatusResponse *r = MODEL_NEW(a, Etcd__StatusResponse, ETCD__STATUS_RESPONSE);
    r->header = header_now(m, a);
    r->version = arena_strdup(a, "3.4.23");
    r->dbsize = m->file_bytes;
    r->dbsizeinuse = FILE_BYTES_AT_START + m->store.in_use;
    r->leader = m->config.member_id;
    r->raftindex = r->raftappliedindex = m->raft_index;
    r->raftterm = m->raft_term;
    if (m->no_space) {
        r->n_errors = 1;
        r->errors = ARENA_ARRAY(a, 1, char *);
        r->errors[0] = arena_printf(a, "memberID:%llu alarm:NOSPACE ",
                                    (unsigned long long)m->config.member_id);
    }
    *ret = &r->base;
    return fine;
}

/* Knows one alarm, NOSPACE of its one member. */
static struct model_refusal alarm(struct model_etcd *m, const Etcd__AlarmRequest *request,
                                  struct arena *a, const ProtobufCMessage **ret)
{
    bool get = request->action == ETCD__ALARM_REQUEST__ALARM_ACTION__GET;
    bool about_it = get ? request->alarm != ETCD__ALARM_TYPE__CORRUPT
                        : request->alarm == ETCD__ALARM_TYPE__NOSPACE &&
                              request->memberid == m->config.member_id;
    bool told = about_it && m->no_space;
    if (about_it && !get) {
        told = m->no_space || request->action == ETCD__ALARM_REQUEST__ALARM_ACTION__ACTIVATE;
        m->no_space = request->action == ETCD__ALARM_REQUEST__ALARM_ACTION__ACTIVATE;
    }
    Etcd__AlarmResponse *r = MODEL_NEW(a, Etcd__AlarmResponse, ETCD__ALARM_RESPONSE);
    r->header = header_now(m, a);
    if (told) {
        Etcd__AlarmMember *member = MODEL_NEW(a, Etcd__AlarmMember, ETCD__ALARM_MEMBER);
        member->memberid = m->config.member_id;
        member->alarm = ETCD__ALARM_TYPE__NOSPACE;
        r->n_alarms = 1;
        r->alarms = ARENA_ARRAY(a, 1, Etcd__AlarmMember *);
        r->alarms[0] = member;
    }
    *ret = &r->base;
    return fine;
}

static struct model_refusal defragment(struct model_etcd *m, struct arena *a,
                                       const ProtobufCMessage **ret)
{
    m->file_bytes = FILE_BYTES_AT_START + m->store.in_use;
    Etcd__DefragmentResponse *r =
        MODEL_NEW(a, Etcd__DefragmentResponse, ETCD__DEFRAGMENT_RESPONSE); /* etcd: no header */
    *ret = &r->base;
    return fine;
}

/* Calls */

static struct model_refusal dispatch(struct model_etcd *m, enum store_call call,
                                     const ProtobufCMessage *message, struct arena *a,
                                     const ProtobufCMessage **ret)
{
    const void *request = message;
    struct model_refusal refusal;
    Etcd__RangeResponse *range = NULL;
    Etcd__TxnResponse *txn = NULL;
    switch (call) {
    case STORE_RANGE:
        refusal = model_range(m, request, false, a, &range);
        *ret = range ? &range->base : NULL;
        return refusal;
    case STORE_TXN:
        refusal = model_txn(m, request, a, &txn);
        *ret = txn ? &txn->base : NULL;
        return refusal;
    case STORE_COMPACT:
        return compact(m, request, a, ret);
    case STORE_LEASE_GRANT:
        return grant(m, request, a, ret);
    case STORE_LEASE_REVOKE:
        return revoke(m, request, a, ret);
    case STORE_LEASE_KEEP_ALIVE:
        return keep_alive(m, request, a, ret);
    case STORE_STATUS:
        return status(m, a, ret);
    case STORE_ALARM:
        return alarm(m, request, a, ret);
    case STORE_DEFRAGMENT:
        return defragment(m, a, ret);
    default:
        assert(!"a call of the store");
        return fine;
    }
}

void model_etcd_apply(struct model_etcd *m, enum store_call call, const ProtobufCMessage *message,
                      struct arena *arena, struct store_answer *ret)
{
    const ProtobufCMessage *response = NULL;
    struct model_refusal refusal = dispatch(m, call, message, arena, &response);
    m->raft_index++;
    grow_file(m);
    ret->call = call;
    ret->outcome = refusal.status ? STORE_REFUSED : STORE_DONE;
    ret->grpc_status = refusal.status;
    ret->text = refusal.status ? refusal.text : "";
    ret->message = refusal.status ? NULL : response;
}

int64_t model_etcd_revision(const struct model_etcd *m)
{
    return m->store.revision;
}

int64_t model_etcd_compacted(const struct model_etcd *m)
{
    return m->store.compacted > 0 ? m->store.compacted : 0;
}

/* Watches */

const Etcd__WatchResponse *model_etcd_watch_created(struct model_etcd *m, struct arena *arena)
{
    Etcd__WatchResponse *r = MODEL_NEW(arena, Etcd__WatchResponse, ETCD__WATCH_RESPONSE);
    r->header = header_now(m, arena);
    r->created = true;
    return r;
}

static Etcd__WatchResponse *watch_canceled(struct model_etcd *m, struct arena *a)
{
    Etcd__WatchResponse *r = MODEL_NEW(a, Etcd__WatchResponse, ETCD__WATCH_RESPONSE);
    r->header = header_now(m, a);
    r->canceled = true;
    r->compact_revision = m->store.compacted;
    return r;
}

static Etcd__Event *event_of(struct model_etcd *m, const struct model_change *c, struct arena *a)
{
    Etcd__Event *e = MODEL_NEW(a, Etcd__Event, ETCD__EVENT);
    e->type = c->now->create_revision ? ETCD__EVENT__TYPE__PUT : ETCD__EVENT__TYPE__DELETE;
    e->kv = ARENA_NEW(a, Etcd__KeyValue);
    model_kv_fill(a, c->key, c->now, false, e->kv);
    bool creation = c->now->create_revision == c->now->mod_revision;
    if (c->before && !creation && c->now->mod_revision - 1 >= m->store.compacted) {
        e->prev_kv = ARENA_NEW(a, Etcd__KeyValue);
        model_kv_fill(a, c->key, c->before, false, e->prev_kv);
    }
    return e;
}

/* All changes of the revision of log[first]; gives the index after them. */
static size_t one_revision(struct model_etcd *m, size_t first, struct arena *a,
                           Etcd__WatchResponse **ret)
{
    const struct model_change *log = m->store.log;
    size_t end = first;
    while (end < m->store.log_count && log[end].now->mod_revision == log[first].now->mod_revision) {
        end++;
    }
    Etcd__WatchResponse *r = MODEL_NEW(a, Etcd__WatchResponse, ETCD__WATCH_RESPONSE);
    r->header = header_now(m, a);
    r->n_events = end - first;
    r->events = ARENA_ARRAY(a, r->n_events, Etcd__Event *);
    for (size_t i = first; i < end; i++) {
        r->events[i - first] = event_of(m, &log[i], a);
    }
    *ret = r;
    return end;
}

size_t model_etcd_events_since(struct model_etcd *m, int64_t from, size_t max, struct arena *arena,
                               Etcd__WatchResponse ***ret_list)
{
    Etcd__WatchResponse **list = ARENA_ARRAY(arena, max + 1, Etcd__WatchResponse *);
    *ret_list = list;
    if (from < m->store.compacted) {
        list[0] = watch_canceled(m, arena);
        return 1;
    }
    size_t count = 0;
    size_t next = model_mvcc_log_from(&m->store, from);
    while (next < m->store.log_count && count < max) {
        next = one_revision(m, next, arena, &list[count++]);
    }
    return count;
}
