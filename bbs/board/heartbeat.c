/* Heartbeats: one key a bbs, put every 2 s: a count, the cells, leaders and sites heard since, and
 * etcd's raft term (design.md 6). */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_INTERVAL_DEFAULT_NS (2 * SECOND_NS)
#define HEARTBEAT_UNCONFIRMED_MAX_NS (2 * SECOND_NS)
#define HEARTBEAT_RETRY_NS (200 * MILLISECOND_NS)
/* What a leader said is put so soon, for the standbys count from the put: with 2 s from heartbeat
 * to heartbeat and 6 s of silence nothing else would be left of the bound of 8 s (design.md 6).
 * There are few leaders, and what is put now need not be put at the interval. */
#define HEARTBEAT_LEADER_PUT_NS (200 * MILLISECOND_NS)

/* Heard from a cell, a leader or a site. */
struct heard {
    uint64_t incarnation; /* or the leader's term, the session of a site's CRM */
    uint64_t number;  /* of the first put that tells of it */
};

static int64_t interval_ns(const struct board *b)
{
    return b->config.heartbeat_interval_ns ? b->config.heartbeat_interval_ns
                                           : HEARTBEAT_INTERVAL_DEFAULT_NS;
}

int64_t heartbeat_since_ns(const struct board *b, const char *boot_id)
{
    SCOPED_ARENA(a);
    const struct copied *p = b->copy ? copy_find(b->copy, key_beat(&a, boot_id)) : NULL;
    return p ? copied_seen(p).since_ns : INT64_MIN;
}

int64_t heartbeat_revision(const struct board *b)
{
    SCOPED_ARENA(a);
    const struct copied *p = copy_find(b->copy, key_beat(&a, b->boot_id));
    return p ? copied_version(p)->mod_revision : 0;
}

/* What a name costs in a put, with two numbers and the heads of the fields. */
static size_t weight(const char *name)
{
    return strlen(name) + 32;
}

static bool hear(struct board *b, struct map *m, size_t max, const char *name, uint64_t incarnation)
{
    struct heard *h = map_get(m, name);
    if (!h) {
        if (m->count >= max || b->heartbeats.bytes + weight(name) > HEARTBEAT_BYTES_MAX) {
            return false;
        }
        b->heartbeats.bytes += weight(name);
        h = mem_zeroed(sizeof(*h));
        map_put(m, name, h);
    }
    h->incarnation = incarnation;
    h->number = b->heartbeats.number + 1;
    return true;
}

bool board_heartbeat(struct board *b, const Board__HeartbeatRequest *heartbeat)
{
    const struct heartbeats *s = &b->heartbeats;
    bool late = s->unconfirmed_ns != NEVER_NS &&
                b->now.mono_ns - s->unconfirmed_ns >= HEARTBEAT_UNCONFIRMED_MAX_NS;
    if (!s->confirmed || late || b->stop_ns) {
        return false;
    }
    if (heartbeat->cell && !hear(b, &b->heartbeats.cells, HEARTBEAT_CELLS_MAX,
                                 heartbeat->cell->cell_id, heartbeat->cell->incarnation)) {
        return false;
    }
    if (heartbeat->site && !hear(b, &b->heartbeats.sites, HEARTBEAT_SITES_MAX,
                                 heartbeat->site->cloudlet, heartbeat->site->session)) {
        return false;
    }
    for (size_t i = 0; i < heartbeat->n_leaders; i++) {
        const Board__LeaderHeartbeat *l = heartbeat->leaders[i];
        if (!hear(b, &b->heartbeats.leaders, HEARTBEAT_LEADERS_MAX, l->role, (uint64_t)l->term)) {
            return false;
        }
        b->heartbeats.next_ns =
            earlier_ns(b->heartbeats.next_ns, b->now.mono_ns + HEARTBEAT_LEADER_PUT_NS);
    }
    return true;
}

static void fill_record(struct board *b, Board__HeartbeatRecord *r, struct arena *a)
{
    struct heartbeats *s = &b->heartbeats;
    r->boot_id = b->boot_id;
    r->url = b->url;
    r->count = s->number;
    r->raft_term = b->raft_term;
    r->cells = ARENA_ARRAY(a, s->cells.count, Board__CellHeartbeat *);
    MAP_EACH(&s->cells, n)
    {
        Board__CellHeartbeat *c = r->cells[r->n_cells++] = ARENA_NEW(a, Board__CellHeartbeat);
        board__cell_heartbeat__init(c);
        c->cell_id = (char *)(size_t)map_key(n);
        c->incarnation = ((const struct heard *)map_value(n))->incarnation;
    }
    r->leaders = ARENA_ARRAY(a, s->leaders.count, Board__LeaderHeartbeat *);
    MAP_EACH(&s->leaders, n)
    {
        Board__LeaderHeartbeat *l = r->leaders[r->n_leaders++] =
            ARENA_NEW(a, Board__LeaderHeartbeat);
        board__leader_heartbeat__init(l);
        l->role = (char *)(size_t)map_key(n);
        l->term = (int64_t)((const struct heard *)map_value(n))->incarnation;
    }
    r->sites = ARENA_ARRAY(a, s->sites.count, Board__SiteHeartbeat *);
    MAP_EACH(&s->sites, n)
    {
        Board__SiteHeartbeat *site = r->sites[r->n_sites++] = ARENA_NEW(a, Board__SiteHeartbeat);
        board__site_heartbeat__init(site);
        site->cloudlet = (char *)(size_t)map_key(n);
        site->session = ((const struct heard *)map_value(n))->incarnation;
    }
}

/* What this put reported need not be reported again. */
static void forget_reported(struct heartbeats *s, struct map *m)
{
    MAP_EACH(m, n)
    {
        struct heard *h = map_value(n);
        if (h->number <= s->number) {
            s->bytes -= weight(map_key(n));
            map_remove(m, map_key(n));
            free(h);
        }
    }
}

static void on_put(struct board *b, void *context, const struct store_answer *answer,
                   struct effects *out)
{
    (void)context;
    struct heartbeats *s = &b->heartbeats;
    s->call_id = 0;
    const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
    if (answer->outcome == STORE_DONE && r && r->succeeded) {
        forget_reported(s, &s->cells);
        forget_reported(s, &s->leaders);
        forget_reported(s, &s->sites);
        s->unconfirmed_ns = NEVER_NS;
        s->confirmed = true;
        health_wrote(b, s->sent_ns, out);
        return;
    }
    if (answer->outcome == STORE_UNKNOWN) {
        board_trouble(b, store_text(answer), out); /* an idle bbs learns of it here first */
    }
    /* The copy may be behind our own key, or the outcome is unknown: a new put tells it all. */
    s->next_ns = earlier_ns(s->next_ns, b->now.mono_ns + HEARTBEAT_RETRY_NS);
    if (answer->outcome == STORE_REFUSED && answer->grpc_status == GRPC_RESOURCE_EXHAUSTED &&
        strstr(store_text(answer), "space")) {
        health_out_of_space(b, out);
    }
}

static Etcd__Compare *own_key_unchanged(struct board *b, const char *key, struct arena *a)
{
    const struct copied *p = copy_find(b->copy, key);
    struct compare c = {.kind = COMPARE_ABSENT, .key = key};
    if (p) {
        c.kind = COMPARE_UNCHANGED;
        c.revision = copied_version(p)->mod_revision;
    }
    return compare_compile(a, &c);
}

static void put(struct board *b, struct effects *out)
{
    struct arena *a = out->arena;
    struct heartbeats *s = &b->heartbeats;
    s->number++;
    s->next_ns = b->now.mono_ns + interval_ns(b);
    if (s->unconfirmed_ns == NEVER_NS) {
        s->unconfirmed_ns = b->now.mono_ns;
    }
    Board__HeartbeatRecord record = BOARD__HEARTBEAT_RECORD__INIT;
    fill_record(b, &record, a);
    struct bytes bytes = record_encoded(a, &record.base);

    const char *key = key_beat(a, b->boot_id);
    Etcd__TxnRequest *t = arena_message(a, &etcd__txn_request__descriptor);
    t->n_compare = 2;
    t->compare = ARENA_ARRAY(a, 2, Etcd__Compare *);
    t->compare[0] = board_generation_compare(b, a);
    t->compare[1] = own_key_unchanged(b, key, a);
    t->n_success = 1;
    t->success = ARENA_ARRAY(a, 1, Etcd__RequestOp *);
    t->success[0] = etcd_op_put(a, key, bytes);
    s->sent_ns = b->now.mono_ns;
    s->call_id = store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_put, NULL, out);
}

void heartbeats_timer(struct board *b, struct effects *out)
{
    struct heartbeats *s = &b->heartbeats;
    if (!b->loaded || b->stop_ns) {
        return;
    }
    if (!s->call_id && s->next_ns <= b->now.mono_ns) {
        put(b, out);
    }
}

int64_t heartbeats_due_ns(const struct board *b)
{
    const struct heartbeats *s = &b->heartbeats;
    if (!b->loaded || b->stop_ns) {
        return NEVER_NS;
    }
    return s->call_id ? NEVER_NS : s->next_ns;
}

static void on_left(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)context, (void)answer, (void)out;
    b->left = true; /* or not: then others sweep it after 10 minutes */
}

void heartbeats_leave(struct board *b, struct effects *out)
{
    store_forget(b, b->heartbeats.call_id);
    b->heartbeats.call_id = 0;
    sweep_bbs(b, b->boot_id, NULL, on_left, out);
}

void heartbeats_free(struct board *b)
{
    map_done(&b->heartbeats.cells, free);
    map_done(&b->heartbeats.leaders, free);
    map_done(&b->heartbeats.sites, free);
}
