/* Reads but those of DesiredLRPs: ping, domains, actual LRPs, cells (behaviour.md 6, 7, 10.3, 15).
 * All behind the read barrier, so that every bbs gives the same answer (design.md 2). */
#include "bbs/brake/brake.h"
#include "bbs/lock/resource.h"
#include "bbs/domain/domain.h"
#include "bbs/route/answer.h"
#include "bbs/route/records.h"
#include "bbs/route/route.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/ping.pb-c.h"

void route_ping(struct ask *ask, struct effects *out)
{
    Models__PingResponse response = MODELS__PING_RESPONSE__INIT;
    response.available = true;
    effects_reply_message(out, ask->request_id, &response.base);
    ask_end(ask);
}

/* All records of a type, decoded, not noted. */
static size_t all_records(struct view *v, const char *type, enum record_type record_type,
                          ProtobufCMessage ***ret_list)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(a, type);
    struct blob **blobs;
    size_t count = view_select(v, &selector, &blobs), decoded = 0;
    ProtobufCMessage **list = ARENA_ARRAY(a, count, ProtobufCMessage *);
    for (size_t i = 0; i < count; i++) {
        if (record_decode(a, record_type, blob_bytes(blobs[i]), &list[decoded], NULL) == 0) {
            decoded++;
        }
    }
    *ret_list = list;
    return decoded;
}

static void domains_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct arena *a = view_arena(v);
    ProtobufCMessage **list;
    size_t count = all_records(v, "domain", RECORD_DOMAIN, &list);
    Models__DomainsResponse response = MODELS__DOMAINS_RESPONSE__INIT;
    response.domains = ARENA_ARRAY(a, count, char *);
    for (size_t i = 0; i < count; i++) {
        const Board__DomainRecord *d = (const Board__DomainRecord *)list[i];
        struct domain_seen seen = view_domain_seen(v, key_domain(a, d->domain));
        if (domain_listed(d, seen, board_now(ask->router->board))) {
            response.domains[response.n_domains++] = d->domain;
        }
    }
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_list_domains(struct ask *ask, struct effects *out)
{
    ask_read(ask, domains_read, out);
}

/* Ours, and those that others claim to be by Locket (behaviour.md 15). */
static void cells_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    ProtobufCMessage **list;
    size_t count = all_records(v, "cell", RECORD_CELL, &list);
    Models__CellsResponse response = MODELS__CELLS_RESPONSE__INIT;
    Models__CellPresence **others;
    size_t other_count = outside_cells(v, board_now(ask->router->board), &others);
    response.cells = ARENA_ARRAY(view_arena(v), count + other_count, Models__CellPresence *);
    for (size_t i = 0; i < count; i++) {
        const Board__CellRecord *cell = (const Board__CellRecord *)list[i];
        if (cell->state == BOARD__CELL_RECORD__STATE__PRESENT && cell->presence) {
            response.cells[response.n_cells++] = cell->presence;
        }
    }
    for (size_t i = 0; i < other_count; i++) {
        response.cells[response.n_cells++] = others[i];
    }
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_list_cells(struct ask *ask, struct effects *out)
{
    ask_read(ask, cells_read, out);
}

static void cells_status_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    ProtobufCMessage **list;
    struct arena *a = view_arena(v);
    size_t count = all_records(v, "cell", RECORD_CELL, &list);
    const struct seen *brake = view_peek(v, key_brake(a));
    Board__CellsStatus response = BOARD__CELLS_STATUS__INIT;
    response.brake = brake ? (Board__BrakeRecord *)(uintptr_t)brake->message : NULL;
    response.cells = ARENA_ARRAY(a, count, Board__CellStatus *);
    for (size_t i = 0; i < count; i++) {
        const Board__CellRecord *cell = (const Board__CellRecord *)list[i];
        if (cell->presence) {
            Board__CellStatus *status = ARENA_NEW(a, Board__CellStatus);
            cell_status(cell, response.brake, status);
            response.cells[response.n_cells++] = status;
        }
    }
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_cells_status(struct ask *ask, struct effects *out)
{
    ask_read(ask, cells_status_read, out);
}

/* ---- actual LRPs ----------------------------------------------------------------------------- */

static bool has_index(const Models__ActualLRPsRequest *r)
{
    return r->optional_index_case == MODELS__ACTUAL_LRPS_REQUEST__OPTIONAL_INDEX_INDEX;
}

/* Whether a record is of that index; for the rare list of one index over all processes. */
static bool of_index(struct blob *record, int32_t index)
{
    struct arena a;
    arena_init(&a);
    ProtobufCMessage *m;
    bool same = false;
    if (record_decode(&a, RECORD_ACTUAL, blob_bytes(record), &m, NULL) == 0) {
        const Models__ActualLRPKey *key = ((const Models__ActualLRP *)m)->actual_lrp_key;
        same = key && key->index == index;
    }
    arena_done(&a);
    return same;
}

static void select_actual(struct arena *a, const Models__ActualLRPsRequest *r,
                          Board__Selector *selector)
{
    board__selector__init(selector);
    selector->type = arena_strdup(a, "actual");
    selector->domain = r->domain;
    selector->cell_id = r->cell_id;
    if (r->process_guid[0]) {
        const char *prefix = has_index(r) && r->index >= 0
                                 ? key_actual_index(a, r->process_guid, r->index)
                                 : key_actual_process(a, r->process_guid);
        selector->key_prefix = arena_strdup(a, prefix);
    }
}

static void actual_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const Models__ActualLRPsRequest *r = (const Models__ActualLRPsRequest *)ask->in.request;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    Board__Selector selector;
    select_actual(view_arena(v), r, &selector);
    struct blob **blobs;
    size_t count = has_index(r) && r->index < 0 ? 0 : view_select(v, &selector, &blobs);
    bool filter = has_index(r) && !r->process_guid[0];
    struct records *records = records_new(count);
    for (size_t i = 0; i < count; i++) {
        if (!filter || of_index(blobs[i], r->index)) {
            records_add(records, (struct blob *const[RECORD_PARTS]){blobs[i]});
        }
    }
    records_answer(records, ask->request_id, out);
}

void route_list_actual(struct ask *ask, struct effects *out)
{
    ask_read(ask, actual_read, out);
}
