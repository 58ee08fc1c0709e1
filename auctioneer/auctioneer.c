#include "auctioneer/inside.h"
#include "common/base/memory.h"

#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>

#define RETRY_INTERVAL_NS (10 * SECOND_NS)
#define UNCLAIMED_AFTER_NS (5 * SECOND_NS)
enum { BACKLOG_MAX = 1024 * 1024 };

/* ---- Changes of the feed --------------------------------------------------------------------- */

/* What waits, in the order in which it is read again: tasks first, for they end. */
static const struct waiting_kind *const kinds[] = {&waiting_task, &waiting_unit, &waiting_instance};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct waiting_kind *kind_of(enum record_type type)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i]->record == type) {
            return kinds[i];
        }
    }
    return NULL;
}

/* What is followed for what it says of cells. */
static bool is_of_cells(enum record_type type)
{
    return type == RECORD_CELL || type == RECORD_MACHINE || type == RECORD_MACHINE_CELL;
}

/* Of such a record; NULL = it is gone. */
static void on_cells(struct auctioneer *x, enum record_type type, const char *key,
                     const ProtobufCMessage *m)
{
    SCOPED_ARENA(a);
    const char *name = key_component(&a, key, 1);
    if (type == RECORD_MACHINE) {
        cells_machine(&x->cells, key, (const Board__MachineRecord *)m);
    } else if (type == RECORD_MACHINE_CELL) {
        cells_machine_cell(&x->cells, name, (const Board__MachineCellRecord *)m);
    } else if (m) {
        cells_record(&x->cells, name, (const Board__CellRecord *)m);
    } else {
        cells_gone(&x->cells, name);
    }
}

/* Of a slice; NULL = it is gone. What it reserved before may be given out. */
static void on_slice(struct auctioneer *x, const char *key, const ProtobufCMessage *m)
{
    SCOPED_ARENA(a);
    const char *uid = key_component(&a, key, 1);
    bool less = m ? slices_put(&x->slices, uid, (const Board__SliceRecord *)m)
                  : slices_gone(&x->slices, uid);
    x->cells.grew = x->cells.grew || less;
}

static void on_put(struct auctioneer *x, const char *key, const struct followed *record,
                   struct effects *out)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct err err;
    enum record_type type = key_type(key);
    const struct waiting_kind *kind = kind_of(type);
    if (!kind && type != RECORD_DESIRED && type != RECORD_SLICE && !is_of_cells(type)) {
        return;
    }
    if (record_decode(&a, type, blob_bytes(record->record), &m, &err) < 0) {
        effects_log(out, LOG_WARN_LEVEL, "record left alone", "key=%s why=\"%s\"", key, err.text);
    } else if (kind) {
        struct entry *e =
            backlog_record(&x->backlog, kind, key, m, record->mod_revision, x->life.now.mono_ns);
        if (e && kind->reported_when_seen && x->life.leader.leads) {
            report_refusal(&x->report, e);
        }
    } else if (type == RECORD_DESIRED) {
        backlog_desired(&x->backlog, (const Models__DesiredLRP *)m, x->life.now.mono_ns);
    } else if (type == RECORD_SLICE) {
        on_slice(x, key, m);
    } else {
        on_cells(x, type, key, m);
    }
    if (type == RECORD_MACHINE) {
        barred_units_machine(&x->barred_units, record->mod_revision);
    }
}

static void on_delete(struct auctioneer *x, const char *key, const struct followed *last)
{
    SCOPED_ARENA(a);
    enum record_type type = key_type(key);
    if (kind_of(type)) {
        backlog_gone(&x->backlog, key, last->mod_revision);
    } else if (type == RECORD_DESIRED) {
        backlog_desired_gone(&x->backlog, key_component(&a, key, 1));
    } else if (type == RECORD_SLICE) {
        on_slice(x, key, NULL);
    } else if (is_of_cells(type)) {
        on_cells(x, type, key, NULL);
    }
}

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct auctioneer *x = context;
    switch (change) {
    case FEED_CLIENT_RESET:
        backlog_reset(&x->backlog);
        cells_reset(&x->cells);
        slices_reset(&x->slices);
        x->barred_units = (struct barred_units){0};
        break;
    case FEED_CLIENT_PUT:
        on_put(x, key, record, out);
        break;
    case FEED_CLIENT_DELETE:
        on_delete(x, key, record);
        break;
    case FEED_CLIENT_CURRENT:
        backlog_current(&x->backlog);
        break;
    }
}

static void refill_with(struct auctioneer *x, enum record_type type, struct effects *out)
{
    const char *prefix = arena_printf(out->arena, "%s/", record_type_name(type));
    for (struct map_node *n = map_from(&x->life.feed_client.records, prefix);
         n && key_type(map_key(n)) == type && !x->backlog.overflowed; n = map_next(n)) {
        if (!map_get(&x->backlog.entries, map_key(n))) {
            on_put(x, map_key(n), map_value(n), out);
        }
    }
}

/* The backlog was full when these came, or a hint was believed instead of them: read the copy again
 * when there is room. */
static void refill(struct auctioneer *x, struct effects *out)
{
    if ((x->backlog.overflowed || x->backlog.doubted) &&
        x->backlog.entries.count < x->backlog.max) {
        x->backlog.overflowed = x->backlog.doubted = false;
        for (size_t i = 0; i < KINDS; i++) {
            refill_with(x, kinds[i]->record, out);
        }
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void leader_lock(struct auctioneer *x, const struct event *ev, struct effects *out)
{
    switch (leading_elect(&x->life, ev, out)) {
    case LEADER_ELECTED:
        x->backlog.changed = true;
        break;
    case LEADER_DEPOSED:
        auction_stop(&x->auction, ev, out);
        break;
    case LEADER_SAME:
        break;
    }
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct auctioneer *x = (struct auctioneer *)role;
    if (!leading_begin(&x->life, ev, out)) {
        return;
    }
    refill(x, out);
    leader_lock(x, ev, out);
    if (ev->kind == EVENT_REQUEST) {
        questions_answer(&auctioneer_questions, role, &ev->request, out);
    }
    barred_units_look(&x->barred_units, &x->backlog, &x->cells, x->life.feed_client.revision,
                      ev->now.mono_ns);
    auction_step(&x->auction, ev, out);
    leading_end(&x->life, ev, out);
}

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role;
    return path_body_max(&auctioneer_questions, path, 0);
}

static void free_role(struct role *role)
{
    struct auctioneer *x = (struct auctioneer *)role;
    auction_done(&x->auction);
    report_done(&x->report);
    cells_done(&x->cells);
    slices_done(&x->slices);
    backlog_done(&x->backlog);
    leading_done(&x->life);
    free(x);
}

static const struct role_ops ops = {
    .name = "auctioneer", .step = step, .body_limit = body_limit, .free = free_role};

/* ---- Making it ------------------------------------------------------------------------------- */

/* UNCLAIMED instances, what is desired, Pending tasks, units without a place, cells, machines and
 * slices, its lock, and who sends heartbeats. */
static const struct leading_selector selectors[] = {
    {"actual", "UNCLAIMED", NULL},     {"desired", NULL, NULL}, {"cell", NULL, NULL},
    {"lead", NULL, "lead/auctioneer"}, {"beat", NULL, NULL},    {"task", "Pending", NULL},
    {"unit", "unassigned", NULL},      {"machine", NULL, NULL}, {"machine_cell", NULL, NULL},
    {"slice", NULL, NULL},
};

static void init_parts(struct auctioneer *x, const struct auctioneer_config *c)
{
    backlog_init(&x->backlog, c->backlog_max ? c->backlog_max : BACKLOG_MAX,
                 c->unclaimed_after_ns ? c->unclaimed_after_ns : UNCLAIMED_AFTER_NS);
    cells_init(&x->cells, &x->life.next_call_id);
    slices_init(&x->slices);
    x->cells.starting_counts = x->rules.starting_container_maximum > 0;
    report_init(&x->report, &x->life.boards, &x->life.leader, &x->backlog);
    x->auction = (struct auction){
        .next_call_id = &x->life.next_call_id,
        .feed_client = &x->life.feed_client,
        .leader = &x->life.leader,
        .backlog = &x->backlog,
        .cells = &x->cells,
        .slices = &x->slices,
        .report = &x->report,
        .rules = &x->rules,
        .retry_interval_ns = c->retry_interval_ns ? c->retry_interval_ns : RETRY_INTERVAL_NS,
    };
    auction_init(&x->auction);
}

struct role *auctioneer_new(const struct auctioneer_config *config)
{
    struct auctioneer *x = mem_zeroed(sizeof(*x));
    assert(!path_table_fault(&auctioneer_questions));
    leading_init(&x->life, &(struct leading_config){
                               .ops = &ops,
                               .name = config->name,
                               .boards = config->boards,
                               .url = config->url,
                               .selectors = selectors,
                               .selector_count = sizeof(selectors) / sizeof(selectors[0]),
                               .on_change = on_change,
                           });
    struct err err = {0};
    if (rules_init(&x->life.forever, config, &x->rules, &err) < 0) {
        leading_refuse(&x->life, &err);
    }
    init_parts(x, config);
    return &x->life.role;
}
