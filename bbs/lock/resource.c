#include "bbs/lock/resource.h"

#include "bbs/lock/lock.h"
#include "common/base/map.h"
#include "common/client/liveness_report.h"
#include "common/codec/json.h"

#include <string.h>

static Models__Resource *resource(struct arena *a, Models__TypeCode type, const char *key,
                                  const char *owner, const char *value)
{
    Models__Resource *r = arena_message(a, &models__resource__descriptor);
    r->key = arena_strdup(a, key);
    r->owner = arena_strdup(a, owner);
    r->value = arena_strdup(a, value);
    r->type = arena_strdup(a, type == MODELS__TYPE_CODE__LOCK ? "lock" : "presence");
    r->type_code = type;
    return r;
}

/* owner = its identity and incarnation, value = its presence as JSON. */
static Models__Resource *resource_of_cell(struct arena *a, const Board__CellRecord *cell)
{
    SCOPED_BUF(value);
    /* Fails only for what nests deeper than a presence can. */
    json_encode(&cell->presence->base, 0, &value, NULL);
    const char *owner =
        arena_printf(a, "%s-%llu", cell->identity, (unsigned long long)cell->incarnation);
    Models__Resource *r = resource(a, MODELS__TYPE_CODE__PRESENCE, cell->presence->cell_id, owner,
                                   buf_string(&value));
    return r;
}

/* owner = the holder, value = where it listens. */
static Models__Resource *resource_of_leader_lock(struct arena *a,
                                          const Board__LeaderLockRecord *leader_lock)
{
    return resource(a, MODELS__TYPE_CODE__LOCK, leader_lock->role, leader_lock->holder,
                    leader_lock->url);
}

static Models__Resource *resource_of_lock(struct arena *a, const Board__LockRecord *lock)
{
    return resource(a, lock->type_code, lock->key, lock->owner, lock->value);
}

/* ---- The lock of the bbs --------------------------------------------------------------------- */

enum { HEARTBEATS_LOOKED_AT = 256 };

/* All bbs are active, and none holds a lock against the others. For whoever looks, as with Diego,
 * whether a bbs is at work: the one that counts and began to send heartbeats first. */
static Models__Resource *of_bbs(struct view *v, struct moment now)
{
    const struct seen *list, *first = NULL;
    int count = view_peek_range(v, "beat/", HEARTBEATS_LOOKED_AT, &list);
    for (int i = 0; i < count; i++) {
        bool counts =
            now.mono_ns - view_seen(v, list[i].key).since_ns < LIVENESS_REPORT_BBS_COUNTS_NS;
        if (counts && (!first || list[i].create_revision < first->create_revision)) {
            first = &list[i];
        }
    }
    if (!first) {
        return NULL;
    }
    const Board__HeartbeatRecord *heartbeat = (const Board__HeartbeatRecord *)first->message;
    return resource(view_arena(v), MODELS__TYPE_CODE__LOCK, "bbs", heartbeat->boot_id,
                    heartbeat->url);
}

static Models__Resource *of_role(struct view *v, const char *role, struct moment now)
{
    if (strcmp(role, "bbs") == 0) {
        return of_bbs(v, now);
    }
    const Board__LeaderLockRecord *leader_lock =
        view_peek_message(v, key_lead(view_arena(v), role));
    return leader_lock ? resource_of_leader_lock(view_arena(v), leader_lock) : NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_present(const Board__CellRecord *cell)
{
    return cell->state == BOARD__CELL_RECORD__STATE__PRESENT && cell->presence;
}

Models__Resource *resource_named(struct view *v, const char *name, struct moment now)
{
    struct arena *a = view_arena(v);
    if (lock_name_of_role(name)) {
        return of_role(v, name, now);
    }
    const Board__CellRecord *cell = view_peek_message(v, key_cell(a, name));
    if (cell) {
        return is_present(cell) ? resource_of_cell(a, cell) : NULL;
    }
    const char *key = key_lock(a, name);
    const Board__LockRecord *record = view_peek_message(v, key);
    return record && !lock_over(record, view_seen(v, key).since_ns, now)
               ? resource_of_lock(a, record)
               : NULL;
}

struct list {
    Models__Resource **items;
    size_t count;
};

static void add(struct list *l, Models__Resource *r)
{
    if (r) {
        l->items[l->count++] = r;
    }
}

static void add_cells(struct view *v, struct blob *const *blobs, size_t count, struct list *l)
{
    struct arena *a = view_arena(v);
    ProtobufCMessage *m;
    for (size_t i = 0; i < count; i++) {
        if (record_decode(a, RECORD_CELL, blob_bytes(blobs[i]), &m, NULL) == 0 &&
            is_present((const Board__CellRecord *)m)) {
            add(l, resource_of_cell(a, (const Board__CellRecord *)m));
        }
    }
}

static void add_roles(struct view *v, struct moment now, struct list *l)
{
    static const char *const roles[] = {"auctioneer", "bbs", "converger"};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        add(l, of_role(v, roles[i], now));
    }
}

/* Those whose name a cell has taken since are not shown. */
static void add_locks(struct view *v, Models__TypeCode type, struct blob *const *blobs,
                      size_t count, struct moment now, struct list *l)
{
    struct arena *a = view_arena(v);
    ProtobufCMessage *m;
    for (size_t i = 0; i < count; i++) {
        if (record_decode(a, RECORD_LOCK, blob_bytes(blobs[i]), &m, NULL) < 0) {
            continue;
        }
        const Board__LockRecord *lock = (const Board__LockRecord *)m;
        if (lock->type_code == type && !view_peek(v, key_cell(a, lock->key)) &&
            !lock_over(lock, view_seen(v, key_lock(a, lock->key)).since_ns, now)) {
            add(l, resource_of_lock(a, lock));
        }
    }
}

static size_t select_all(struct view *v, enum record_type type, struct blob ***ret_blobs)
{
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(view_arena(v), record_type_name(type));
    return view_select(v, &selector, ret_blobs);
}

size_t resources_of(struct view *v, Models__TypeCode type, struct moment now,
                    Models__Resource ***ret_list)
{
    enum { ROLES = 3 };
    struct blob **cells = NULL, **locks;
    bool presences = type == MODELS__TYPE_CODE__PRESENCE;
    size_t cell_count = presences ? select_all(v, RECORD_CELL, &cells) : 0;
    size_t lock_count = select_all(v, RECORD_LOCK, &locks);
    struct list l = {
        .items = ARENA_ARRAY(view_arena(v), cell_count + lock_count + ROLES, Models__Resource *)};
    if (presences) {
        add_cells(v, cells, cell_count, &l);
    } else {
        add_roles(v, now, &l);
    }
    add_locks(v, type, locks, lock_count, now, &l);
    *ret_list = l.items;
    return l.count;
}

size_t outside_cells(struct view *v, struct moment now, Models__CellPresence ***ret_list)
{
    struct arena *a = view_arena(v);
    struct blob **locks;
    size_t lock_count = select_all(v, RECORD_LOCK, &locks), count = 0;
    struct list l = {.items = ARENA_ARRAY(a, lock_count, Models__Resource *)};
    add_locks(v, MODELS__TYPE_CODE__PRESENCE, locks, lock_count, now, &l);
    *ret_list = ARENA_ARRAY(a, l.count, Models__CellPresence *);
    struct map named; /* one name, one cell: ours, or the first of theirs */
    map_init(&named);
    for (size_t i = 0; i < l.count; i++) {
        ProtobufCMessage *m;
        if (json_decode(a, &models__cell_presence__descriptor, bytes_of(l.items[i]->value), 0, &m,
                        NULL) < 0) {
            continue;
        }
        const char *cell_id = ((const Models__CellPresence *)m)->cell_id;
        if (!view_peek(v, key_cell(a, cell_id)) && !map_put(&named, cell_id, m)) {
            (*ret_list)[count++] = (Models__CellPresence *)m;
        }
    }
    map_done(&named, NULL);
    return count;
}
