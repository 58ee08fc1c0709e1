#include "auctioneer/backlog.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void wanted_free(void *value)
{
    wanted_unref(value);
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void entry_free(void *value)
{
    struct entry *e = value;
    blob_unref(e->reason);
    blob_unref(e->reported);
    blob_unref(e->placed_on);
    wanted_unref(e->placed_as);
    wanted_unref(e->own);
    free(e);
}

static void set_state(struct backlog *p, struct entry *e, enum entry_state state, int64_t now_ns)
{
    TAILQ_REMOVE(&p->lists[e->state], e, link);
    assert(p->counts[e->state] > 0);
    p->counts[e->state]--;
    e->state = state;
    e->since_ns = now_ns;
    TAILQ_INSERT_TAIL(&p->lists[state], e, link);
    p->counts[state]++;
    p->changed = p->changed || state == ENTRY_FRESH;
}

/* A new entry in the backlog; NULL when the backlog is full. */
static struct entry *add(struct backlog *p, const struct waiting_kind *kind, const char *key,
                         const char *guid, int32_t index, int64_t now_ns)
{
    if (p->entries.count >= p->max) {
        p->overflowed = true;
        return NULL;
    }
    assert(!map_get(&p->entries, key));
    size_t key_size = strlen(key) + 1, guid_size = strlen(guid) + 1;
    struct entry *e = mem_zeroed(sizeof(*e) + key_size + guid_size);
    memcpy(e->key, key, key_size);
    e->guid = memcpy(e->key + key_size, guid, guid_size);
    e->kind = kind;
    e->index = index;
    e->source = SOURCE_BOARD;
    e->since_ns = now_ns;
    map_put(&p->entries, key, e);
    TAILQ_INSERT_TAIL(&p->lists[ENTRY_FRESH], e, link);
    p->counts[ENTRY_FRESH]++;
    p->of_kind[kind->job]++;
    p->changed = true;
    return e;
}

static bool is_held(const struct entry *e)
{
    return e->state == ENTRY_TAKEN || e->state == ENTRY_TAKEN_AGAIN || e->state == ENTRY_LEFT;
}

static void set_source(struct backlog *p, struct entry *e, enum entry_source source)
{
    p->hinted -= e->source == SOURCE_HINT;
    p->hinted += source == SOURCE_HINT;
    assert(p->hinted <= p->entries.count);
    e->source = source;
}

static void drop(struct backlog *p, struct entry *e)
{
    set_source(p, e, SOURCE_BOARD);
    assert(p->of_kind[e->kind->job] > 0);
    p->of_kind[e->kind->job]--;
    map_remove(&p->entries, e->key);
    if (is_held(e)) {
        set_state(p, e, ENTRY_LEFT, e->since_ns); /* freed when the auction gives it back */
        return;
    }
    TAILQ_REMOVE(&p->lists[e->state], e, link);
    p->counts[e->state]--;
    entry_free(e);
}

void backlog_init(struct backlog *p, size_t max, int64_t unclaimed_after_ns)
{
    *p = (struct backlog){.max = max, .unclaimed_after_ns = unclaimed_after_ns};
    map_init(&p->entries);
    map_init(&p->wanted);
    bounces_init(&p->bounces, BOUNCE_PAUSE_NS);
    bounces_init(&p->late, LATE_PAUSE_NS);
    for (int i = 0; i < ENTRY_STATE_COUNT; i++) {
        TAILQ_INIT(&p->lists[i]);
    }
}

void backlog_done(struct backlog *p)
{
    if (!p) {
        return;
    }
    map_done(&p->entries, NULL);
    map_done(&p->wanted, wanted_free);
    bounces_done(&p->bounces);
    bounces_done(&p->late);
    for (int i = 0; i < ENTRY_STATE_COUNT; i++) {
        struct entry *e;
        while ((e = TAILQ_FIRST(&p->lists[i]))) {
            TAILQ_REMOVE(&p->lists[i], e, link);
            entry_free(e);
        }
    }
}

/* ---- Changes of the board -------------------------------------------------------------------- */

/* A hint ran ahead of the feed, which now tells of what was before. */
static bool is_outdated(struct entry *e, int64_t mod_revision)
{
    if (!e->kind->hint_runs_ahead || e->source != SOURCE_HINT || mod_revision >= e->revision) {
        return false;
    }
    e->passed_over = true;
    return true;
}

void backlog_await_again(struct backlog *p, struct entry *e, int64_t now_ns)
{
    e->awaits_again = is_held(e);
    if (e->state == ENTRY_PLACED) {
        set_state(p, e, ENTRY_FRESH, now_ns);
    }
}

struct entry *backlog_record(struct backlog *p, const struct waiting_kind *kind, const char *key,
                             const ProtobufCMessage *record, int64_t mod_revision, int64_t now_ns)
{
    const char *guid;
    int32_t index;
    if (!kind->waits(record, &guid, &index)) {
        backlog_gone(p, key, mod_revision);
        return NULL;
    }
    struct entry *e = map_get(&p->entries, key);
    e = e ? e : add(p, kind, key, guid, index, now_ns);
    if (!e || is_outdated(e, mod_revision)) {
        return NULL;
    }
    kind->seen(p, e, record, mod_revision, now_ns);
    set_source(p, e, SOURCE_BOARD);
    e->revision = mod_revision;
    return e;
}

void backlog_gone(struct backlog *p, const char *key, int64_t mod_revision)
{
    struct entry *e = map_get(&p->entries, key);
    if (e && !is_outdated(e, mod_revision)) {
        drop(p, e);
    }
}

/* The cell that took it will find a definition that is not the one it was told of, and leave it. */
static bool is_of_another_definition(const struct wanted *as, const struct wanted *now)
{
    return now && strcmp(as->definition_id, now->definition_id) != 0;
}

void backlog_desired(struct backlog *p, const Models__DesiredLRP *lrp, int64_t now_ns)
{
    struct wanted *w = wanted_of_lrp(lrp);
    wanted_unref(map_put(&p->wanted, lrp->process_guid, w));
    p->changed = true;
    for (int32_t i = 0; i < w->instances && p->counts[ENTRY_PLACED] > 0; i++) {
        SCOPED_ARENA(a);
        struct entry *e = map_get(
            &p->entries, key_actual(&a, w->guid, i, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY));
        if (e && e->state == ENTRY_PLACED && is_of_another_definition(e->placed_as, w)) {
            set_state(p, e, ENTRY_FRESH, now_ns);
        }
    }
}

void backlog_desired_gone(struct backlog *p, const char *process_guid)
{
    wanted_unref(map_remove(&p->wanted, process_guid));
}

void backlog_reset(struct backlog *p)
{
    MAP_EACH(&p->entries, n)
    {
        struct entry *e = map_value(n);
        set_source(p, e, e->source == SOURCE_HINT ? SOURCE_HINT : SOURCE_RESET);
        e->reported_revision = 0; /* the board may have gone back to it */
    }
    map_done(&p->wanted, wanted_free);
}

void backlog_current(struct backlog *p)
{
    MAP_EACH(&p->entries, n)
    {
        struct entry *e = map_value(n);
        if (e->source == SOURCE_RESET) {
            drop(p, e);
        }
    }
    p->changed = true;
}

static void ask_again(struct backlog *p, struct entry *e, int64_t now_ns)
{
    if (e && e->state == ENTRY_REFUSED) {
        set_state(p, e, ENTRY_FRESH, now_ns);
    } else if (e && e->state == ENTRY_TAKEN) {
        set_state(p, e, ENTRY_TAKEN_AGAIN, e->since_ns);
    }
}

static struct entry *add_hinted(struct backlog *p, const struct hint *h, int64_t now_ns)
{
    assert(h->kind && h->key);
    struct entry *e = add(p, h->kind, h->key, h->guid, h->index, now_ns);
    if (e) {
        set_source(p, e, SOURCE_HINT);
        e->hinted_ns = now_ns;
        e->revision = h->revision;
    }
    return e;
}

/* What the feed will tell: the hint stands in for it, and is dropped if it does not. */
static void run_ahead(struct backlog *p, struct entry *e, int64_t revision, int64_t now_ns)
{
    e->passed_over = e->passed_over || e->source != SOURCE_HINT;
    set_source(p, e, SOURCE_HINT);
    e->hinted_ns = now_ns;
    e->revision = revision;
    backlog_await_again(p, e, now_ns);
}

/* A change of what is in the backlog, or nothing new. */
static void hint_again(struct backlog *p, struct entry *e, int64_t revision, int64_t now_ns)
{
    bool known = e->kind->hint_runs_ahead && revision != 0 && e->revision != 0;
    if (known && revision > e->revision) {
        run_ahead(p, e, revision, now_ns);
    }
    if (!known || revision >= e->revision) {
        ask_again(p, e, now_ns);
    }
}

void backlog_hint(struct backlog *p, const struct hint *h, int64_t position, int64_t now_ns)
{
    struct entry *e = map_get(&p->entries, h->key);
    if (e) {
        hint_again(p, e, h->revision, now_ns);
    } else if (h->revision == 0 || h->revision > position) {
        e = add_hinted(p, h, now_ns);
    } /* else the feed has reported it, and then that it awaits no cell any more */
    if (e && h->kind->hinted) {
        h->kind->hinted(p, e, h->message, h->revision, now_ns);
    }
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Nothing confirmed it. What the feed reported against it counts again. */
static void drop_hint(struct backlog *p, struct entry *e)
{
    p->doubted = p->doubted || e->passed_over;
    drop(p, e);
}

/* Those that have been in this state for too long; the list is in order of time. */
static void expire_hints(struct backlog *p, enum entry_state state, int64_t now_ns)
{
    struct entry *next;
    for (struct entry *e = p->hinted ? TAILQ_FIRST(&p->lists[state]) : NULL; e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (now_ns - e->since_ns < p->unclaimed_after_ns) {
            break; /* younger ones follow */
        }
        if (e->source == SOURCE_HINT) {
            drop_hint(p, e);
        }
    }
}

/* What was refused may have been so only because they were kept apart. */
static void expire_bounces(struct backlog *p, int64_t now_ns)
{
    struct bounce *over;
    while ((over = bounces_expire(&p->bounces, now_ns))) {
        over->name[over->key_size] = '\0';
        ask_again(p, map_get(&p->entries, over->name), now_ns);
        free(over);
    }
}

/* Nothing waits for these: what no other cell takes is offered to them all the same. */
static void expire_late(struct backlog *p, int64_t now_ns)
{
    struct bounce *over;
    while ((over = bounces_expire(&p->late, now_ns))) {
        free(over);
    }
}

void backlog_bounced(struct backlog *p, const struct entry *e, const char *cell_id, int64_t now_ns)
{
    assert(is_held(e));
    bounces_add(&p->bounces, e->key, cell_id, now_ns);
}

void backlog_cell_grew(struct backlog *p, const char *cell_id)
{
    bounces_forget_cell(&p->bounces, cell_id);
}

void backlog_expire(struct backlog *p, int64_t now_ns)
{
    struct entry *e;
    expire_bounces(p, now_ns);
    expire_late(p, now_ns);
    while ((e = TAILQ_FIRST(&p->lists[ENTRY_PLACED])) &&
           now_ns - e->since_ns >= p->unclaimed_after_ns) {
        if (e->source != SOURCE_HINT) {
            p->overdue++;
            bounces_add(&p->late, e->key, (const char *)e->placed_on->data, now_ns);
            set_state(p, e, ENTRY_FRESH, now_ns);
        } else {
            drop_hint(p, e); /* placed by a hint, and no record of it: settled long ago */
        }
    }
    expire_hints(p, ENTRY_FRESH, now_ns);
    expire_hints(p, ENTRY_REFUSED, now_ns);
}

/* When the next hint of this state is due. */
static int64_t hints_due_ns(const struct backlog *p, enum entry_state state)
{
    const struct entry *e;
    TAILQ_FOREACH(e, &p->lists[state], link)
    {
        if (p->hinted == 0) {
            break;
        }
        if (e->source == SOURCE_HINT) {
            return e->since_ns + p->unclaimed_after_ns;
        }
    }
    return NEVER_NS;
}

int64_t backlog_due_ns(const struct backlog *p)
{
    const struct entry *e = TAILQ_FIRST(&p->lists[ENTRY_PLACED]);
    int64_t due = e ? e->since_ns + p->unclaimed_after_ns : NEVER_NS;
    due = earlier_ns(due, bounces_due_ns(&p->bounces));
    due = earlier_ns(due, hints_due_ns(p, ENTRY_FRESH));
    return earlier_ns(due, hints_due_ns(p, ENTRY_REFUSED));
}

/* ---- Batches --------------------------------------------------------------------------------- */

struct wanted *backlog_wanted(const struct backlog *p, const struct entry *e)
{
    assert(e->kind);
    if (e->own) {
        return e->own;
    }
    struct wanted *w = map_get(&p->wanted, e->guid);
    return w && e->index >= 0 && e->index < w->instances ? w : NULL;
}

bool backlog_has_fresh(struct backlog *p)
{
    if (!p->changed) {
        return false;
    }
    const struct entry *e;
    TAILQ_FOREACH(e, &p->lists[ENTRY_FRESH], link)
    {
        if (backlog_wanted(p, e)) {
            return true;
        }
    }
    p->changed = false;
    return false;
}

static size_t take_from(struct backlog *p, enum entry_state state, struct entry **list, size_t max)
{
    size_t count = 0;
    struct entry *next;
    for (struct entry *e = TAILQ_FIRST(&p->lists[state]); e && count < max; e = next) {
        next = TAILQ_NEXT(e, link);
        if (backlog_wanted(p, e)) {
            set_state(p, e, ENTRY_TAKEN, e->since_ns);
            e->awaits_again = false;
            list[count++] = e;
        }
    }
    assert(count <= max);
    return count;
}

size_t backlog_take(struct backlog *p, struct arena *a, size_t max, struct entry ***ret_list,
                    size_t *ret_refused)
{
    size_t most = p->counts[ENTRY_FRESH] + p->counts[ENTRY_REFUSED];
    most = most < max ? most : max;
    struct entry **list = ARENA_ARRAY(a, most, struct entry *);
    size_t fresh = take_from(p, ENTRY_FRESH, list, most);
    *ret_refused = take_from(p, ENTRY_REFUSED, list + fresh, most - fresh);
    assert(fresh + *ret_refused <= max);
    *ret_list = list;
    return fresh + *ret_refused;
}

/* Ends the auction's hold on `e`; false when it has left the backlog meanwhile. */
static bool give_back(struct backlog *p, struct entry *e)
{
    assert(is_held(e));
    if (e->state != ENTRY_LEFT) {
        return true;
    }
    TAILQ_REMOVE(&p->lists[ENTRY_LEFT], e, link);
    p->counts[ENTRY_LEFT]--;
    entry_free(e);
    return false;
}

void backlog_placed(struct backlog *p, struct entry *e, struct wanted *as, struct blob *cell_id,
                    int64_t now_ns)
{
    if (!give_back(p, e)) {
        return;
    }
    bool current = e->kind->stands(e, as) && !is_of_another_definition(as, backlog_wanted(p, e));
    if (current) {
        reason_set(&e->reason, "");
        e->requested = false;
        blob_ref(cell_id);
        blob_unref(e->placed_on);
        e->placed_on = cell_id;
        wanted_ref(as);
        wanted_unref(e->placed_as);
        e->placed_as = as;
        p->unit_placed = p->unit_placed || e->kind->job == JOB_UNIT;
    }
    set_state(p, e, current ? ENTRY_PLACED : ENTRY_FRESH, now_ns);
}

bool backlog_refused(struct backlog *p, struct entry *e, struct blob *reason, int64_t now_ns)
{
    if (!give_back(p, e)) {
        return false;
    }
    if (e->source == SOURCE_HINT && now_ns - e->hinted_ns >= p->unclaimed_after_ns) {
        set_state(p, e, ENTRY_REFUSED, now_ns);
        drop_hint(p, e); /* tried with each batch, it would never be old for backlog_expire() */
        return false;
    }
    blob_ref(reason);
    blob_unref(e->reason);
    e->reason = reason;
    set_state(p, e, e->state == ENTRY_TAKEN_AGAIN ? ENTRY_FRESH : ENTRY_REFUSED, now_ns);
    return true;
}

void backlog_put_back(struct backlog *p, struct entry *e, int64_t now_ns)
{
    if (give_back(p, e)) {
        set_state(p, e, ENTRY_FRESH, now_ns);
    }
}

const char *reason_text(const struct blob *reason)
{
    return reason ? (const char *)reason->data : "";
}

void reason_set(struct blob **slot, const char *text)
{
    if (strcmp(reason_text(*slot), text) != 0) {
        blob_unref(*slot);
        *slot = *text ? blob_new(text, strlen(text) + 1) : NULL;
    }
}
