#include "auctioneer/pool.h"

#include "common/model/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is wanted -------------------------------------------------------------------------- */

/* Fills one block from its front: pointers first, then the strings behind them. */
struct filling {
    char *at;
};

static const char *fill(struct filling *f, const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = memcpy(f->at, s, size);
    f->at += size;
    return copy;
}

static size_t words_size(char *const *list, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += sizeof(char *) + strlen(list[i]) + 1;
    }
    return size;
}

struct wanted *wanted_new(const Models__DesiredLRP *lrp)
{
    const char *definition = lrp->modification_tag ? lrp->modification_tag->epoch : "";
    size_t size = sizeof(struct wanted) + strlen(lrp->process_guid) + strlen(lrp->domain) +
                  strlen(lrp->root_fs) + strlen(definition) + 4 +
                  words_size(lrp->placementtags, lrp->n_placementtags);
    for (size_t i = 0; i < lrp->n_volume_mounts; i++) {
        size += sizeof(char *) + strlen(lrp->volume_mounts[i]->driver) + 1;
    }
    struct wanted *w = calloc(1, size);
    if (!w) {
        abort();
    }
    *w = (struct wanted){
        .references = 1,
        .instances = lrp->instances,
        .memory_mb = lrp->memory_mb,
        .disk_mb = lrp->disk_mb,
        .max_pids = lrp->max_pids,
        .tags = (char **)(void *)(w + 1),
        .tag_count = lrp->n_placementtags,
        .driver_count = lrp->n_volume_mounts,
    };
    w->drivers = w->tags + w->tag_count;
    struct filling f = {.at = (char *)(w->drivers + w->driver_count)};
    w->process_guid = fill(&f, lrp->process_guid);
    w->domain = fill(&f, lrp->domain);
    w->root_fs = fill(&f, lrp->root_fs);
    w->definition = fill(&f, definition);
    for (size_t i = 0; i < w->tag_count; i++) {
        w->tags[i] = (char *)(uintptr_t)fill(&f, lrp->placementtags[i]);
    }
    for (size_t i = 0; i < w->driver_count; i++) {
        w->drivers[i] = (char *)(uintptr_t)fill(&f, lrp->volume_mounts[i]->driver);
    }
    assert(f.at <= (char *)w + size);
    return w;
}

struct wanted *wanted_ref(struct wanted *w)
{
    w->references++;
    return w;
}

void wanted_unref(struct wanted *w)
{
    if (w && --w->references == 0) {
        free(w);
    }
}

static void wanted_free(void *value)
{
    wanted_unref(value);
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void entry_free(void *value)
{
    struct entry *e = value;
    blob_unref(e->reason);
    blob_unref(e->told);
    free(e);
}

static void set_state(struct pool *p, struct entry *e, enum entry_state state, int64_t now_ns)
{
    TAILQ_REMOVE(&p->lists[e->state], e, link);
    p->counts[e->state]--;
    e->state = state;
    e->since_ns = now_ns;
    TAILQ_INSERT_TAIL(&p->lists[state], e, link);
    p->counts[state]++;
    p->news = p->news || state == ENTRY_FRESH;
}

static void set_text(struct blob **slot, const char *text)
{
    if (strcmp(reason_text(*slot), text) != 0) {
        blob_unref(*slot);
        *slot = *text ? blob_new(text, strlen(text) + 1) : NULL;
    }
}

/* A new entry in the pool; NULL when the pool is full. */
static struct entry *add(struct pool *p, const char *key, const char *process_guid, int32_t index,
                         int64_t now_ns)
{
    if (p->entries.count >= p->max) {
        p->overflowed = true;
        return NULL;
    }
    size_t key_size = strlen(key) + 1, guid_size = strlen(process_guid) + 1;
    struct entry *e = calloc(1, sizeof(*e) + key_size + guid_size);
    if (!e) {
        abort();
    }
    memcpy(e->key, key, key_size);
    e->process_guid = memcpy(e->key + key_size, process_guid, guid_size);
    e->index = index;
    e->since_ns = now_ns;
    map_put(&p->entries, key, e);
    TAILQ_INSERT_TAIL(&p->lists[ENTRY_FRESH], e, link);
    p->counts[ENTRY_FRESH]++;
    p->news = true;
    return e;
}

static void confirm(struct pool *p, struct entry *e)
{
    p->hinted -= e->hinted;
    e->hinted = false;
}

static void drop(struct pool *p, struct entry *e)
{
    confirm(p, e);
    map_remove(&p->entries, e->key);
    if (e->state == ENTRY_TAKEN) {
        e->gone = true; /* freed when the auction gives it back */
        return;
    }
    TAILQ_REMOVE(&p->lists[e->state], e, link);
    p->counts[e->state]--;
    entry_free(e);
}

void pool_init(struct pool *p, size_t max, int64_t unclaimed_after_ns)
{
    *p = (struct pool){.max = max, .unclaimed_after_ns = unclaimed_after_ns};
    map_init(&p->entries);
    map_init(&p->wanted);
    for (int i = 0; i < ENTRY_STATE_COUNT; i++) {
        TAILQ_INIT(&p->lists[i]);
    }
}

void pool_done(struct pool *p)
{
    if (!p) {
        return;
    }
    map_done(&p->entries, NULL);
    map_done(&p->wanted, wanted_free);
    for (int i = 0; i < ENTRY_STATE_COUNT; i++) {
        struct entry *e;
        while ((e = TAILQ_FIRST(&p->lists[i]))) {
            TAILQ_REMOVE(&p->lists[i], e, link);
            entry_free(e);
        }
    }
}

/* ---- News of the board ----------------------------------------------------------------------- */

void pool_actual(struct pool *p, const char *key, const Models__ActualLRP *lrp, int64_t now_ns)
{
    if (!lrp->actual_lrp_key || strcmp(lrp->state, "UNCLAIMED") != 0 || lrp->stopping ||
        lrp->presence != MODELS__ACTUAL_LRP__PRESENCE__ORDINARY) {
        pool_actual_gone(p, key);
        return;
    }
    struct entry *e = map_get(&p->entries, key);
    if (!e) {
        e = add(p, key, lrp->actual_lrp_key->process_guid, lrp->actual_lrp_key->index, now_ns);
    }
    if (e) {
        confirm(p, e);
        e->on_board = true;
        set_text(&e->told, lrp->placement_error);
    }
}

void pool_actual_gone(struct pool *p, const char *key)
{
    struct entry *e = map_get(&p->entries, key);
    if (e) {
        drop(p, e);
    }
}

void pool_desired(struct pool *p, const Models__DesiredLRP *lrp)
{
    wanted_unref(map_put(&p->wanted, lrp->process_guid, wanted_new(lrp)));
    p->news = true;
}

void pool_desired_gone(struct pool *p, const char *process_guid)
{
    wanted_unref(map_remove(&p->wanted, process_guid));
}

void pool_reset(struct pool *p)
{
    MAP_EACH(&p->entries, n)
    {
        ((struct entry *)map_value(n))->on_board = false;
    }
    map_done(&p->wanted, wanted_free);
}

void pool_current(struct pool *p)
{
    MAP_EACH(&p->entries, n)
    {
        struct entry *e = map_value(n);
        if (!e->on_board && !e->hinted) {
            drop(p, e);
        }
    }
    p->news = true;
}

void pool_hint(struct pool *p, const char *process_guid, int32_t index, int64_t now_ns)
{
    struct arena a;
    arena_init(&a);
    const char *key = key_actual(&a, process_guid, index, 0);
    struct entry *e = map_get(&p->entries, key);
    if (!e) {
        e = add(p, key, process_guid, index, now_ns);
        if (e) {
            e->hinted = true;
            p->hinted++;
        }
    } else if (e->state == ENTRY_REFUSED) {
        set_state(p, e, ENTRY_FRESH, now_ns);
    } else if (e->state == ENTRY_TAKEN) {
        e->again = true;
    }
    arena_done(&a);
}

/* ---- Time ------------------------------------------------------------------------------------ */

void pool_expire(struct pool *p, int64_t now_ns)
{
    struct entry *e;
    while ((e = TAILQ_FIRST(&p->lists[ENTRY_PLACED])) &&
           now_ns - e->since_ns >= p->unclaimed_after_ns) {
        if (!e->hinted) {
            set_state(p, e, ENTRY_FRESH, now_ns);
        } else {
            drop(p, e); /* placed by a hint, and no record of it: settled long ago */
        }
    }
    struct entry *next;
    for (e = p->hinted ? TAILQ_FIRST(&p->lists[ENTRY_FRESH]) : NULL; e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (now_ns - e->since_ns < p->unclaimed_after_ns) {
            break; /* younger ones follow */
        }
        if (e->hinted) {
            drop(p, e);
        }
    }
}

int64_t pool_due_ns(const struct pool *p)
{
    const struct entry *e = TAILQ_FIRST(&p->lists[ENTRY_PLACED]);
    int64_t due = e ? e->since_ns + p->unclaimed_after_ns : NEVER_NS;
    if (p->hinted == 0) {
        return due;
    }
    TAILQ_FOREACH(e, &p->lists[ENTRY_FRESH], link)
    {
        if (e->hinted) {
            return earlier_ns(due, e->since_ns + p->unclaimed_after_ns);
        }
    }
    return due;
}

/* ---- Batches --------------------------------------------------------------------------------- */

struct wanted *pool_wanted(const struct pool *p, const struct entry *e)
{
    struct wanted *w = map_get(&p->wanted, e->process_guid);
    return w && e->index >= 0 && e->index < w->instances ? w : NULL;
}

bool pool_has_fresh(struct pool *p)
{
    if (!p->news) {
        return false;
    }
    const struct entry *e;
    TAILQ_FOREACH(e, &p->lists[ENTRY_FRESH], link)
    {
        if (pool_wanted(p, e)) {
            return true;
        }
    }
    p->news = false;
    return false;
}

static size_t take_from(struct pool *p, enum entry_state state, struct entry **list, size_t max)
{
    size_t count = 0;
    struct entry *next;
    for (struct entry *e = TAILQ_FIRST(&p->lists[state]); e && count < max; e = next) {
        next = TAILQ_NEXT(e, link);
        if (pool_wanted(p, e)) {
            e->again = false;
            set_state(p, e, ENTRY_TAKEN, e->since_ns);
            list[count++] = e;
        }
    }
    return count;
}

size_t pool_take(struct pool *p, struct arena *a, size_t max, struct entry ***ret_list,
                 size_t *ret_refused)
{
    size_t most = p->counts[ENTRY_FRESH] + p->counts[ENTRY_REFUSED];
    most = most < max ? most : max;
    struct entry **list = ARENA_ARRAY(a, most, struct entry *);
    size_t fresh = take_from(p, ENTRY_FRESH, list, most);
    *ret_refused = take_from(p, ENTRY_REFUSED, list + fresh, most - fresh);
    *ret_list = list;
    return fresh + *ret_refused;
}

/* Ends the auction's hold on `e`; false when it has left the pool meanwhile. */
static bool give_back(struct pool *p, struct entry *e)
{
    assert(e->state == ENTRY_TAKEN);
    if (!e->gone) {
        return true;
    }
    TAILQ_REMOVE(&p->lists[ENTRY_TAKEN], e, link);
    p->counts[ENTRY_TAKEN]--;
    entry_free(e);
    return false;
}

void pool_placed(struct pool *p, struct entry *e, int64_t now_ns)
{
    if (give_back(p, e)) {
        set_text(&e->reason, "");
        set_state(p, e, ENTRY_PLACED, now_ns);
    }
}

bool pool_refused(struct pool *p, struct entry *e, struct blob *reason, int64_t now_ns)
{
    if (!give_back(p, e)) {
        return false;
    }
    blob_ref(reason);
    blob_unref(e->reason);
    e->reason = reason;
    set_state(p, e, e->again ? ENTRY_FRESH : ENTRY_REFUSED, now_ns);
    return true;
}

void pool_put_back(struct pool *p, struct entry *e, int64_t now_ns)
{
    if (give_back(p, e)) {
        set_state(p, e, ENTRY_FRESH, now_ns);
    }
}

bool pool_untold(const struct entry *e)
{
    return e->on_board && e->reason && strcmp(reason_text(e->reason), reason_text(e->told)) != 0;
}

const char *reason_text(const struct blob *reason)
{
    return reason ? (const char *)reason->data : "";
}
