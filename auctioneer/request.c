/* What the auctioneer is asked: POST /v1/lrps and /v1/tasks by a bbs or an ordinary client, GET
 * /state and /why by anybody (rep-auctioneer.md 3; proto/auction.proto). */
#include "auctioneer/inside.h"
#include "auction.pb-c.h"
#include "auctioneer/why.h"
#include "common/base/query.h"
#include "common/codec/json.h"
#include "common/codec/scan.h"
#include "common/lifecycle/actor.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "common/model/unit_name.h"

#include <stdlib.h>
#include <string.h>

#define PROTOBUF_TYPE "application/x-protobuf"

enum {
    STARTS_BODY_MAX = 16 * 1024 * 1024,
    STARTS_DECODED_MAX = 256 * 1024 * 1024,
    STATE_UNPLACED_MAX = 1000,
};

/* What a body asks for. */
struct hints {
    ProtobufCMessage **list;
    size_t count;
};

/* ---- POST /v1/lrps, /v1/tasks: hints that come sooner than the feed -------------------------- */

static void bad_body(const struct request *q, const char *text, struct effects *out)
{
    SCOPED_BUF(body);
    buf_append_string(&body, "{\"error\":");
    json_string_text(bytes_of(text), &body);
    buf_append_string(&body, "}");
    question_reply(q, 400, QUESTION_JSON, buf_string(&body), out);
}

/* The only field of LRPStarts or TaskStarts. */
static size_t starts_of(const ProtobufCMessage *m, ProtobufCMessage ***ret_starts)
{
    const ProtobufCFieldDescriptor *field = m->descriptor->fields;
    *ret_starts = *(ProtobufCMessage ***)(uintptr_t)((const char *)m + field->offset);
    return *(const size_t *)(const void *)((const char *)m + field->quantifier_offset);
}

/* Decodes either form: `form` (LRPStarts, TaskStarts) in protobuf, an array of what it repeats in
 * JSON. False after it has answered: 400, or 503 when another one leads. */
static bool read_starts(struct auctioneer *x, const struct request *q,
                        const ProtobufCMessageDescriptor *form, struct hints *ret,
                        struct effects *out)
{
    ProtobufCMessage *m;
    struct err err;
    int r;
    if (q->too_large) {
        bad_body(q, "the body is too large", out);
        return false;
    }
    if (strcmp(q->content_type, PROTOBUF_TYPE) == 0) {
        r = scan_and_unpack(out->arena, form, q->body, STARTS_DECODED_MAX, &m, &err);
        ret->count = r < 0 ? 0 : starts_of(m, &ret->list);
    } else {
        r = json_decode_list(out->arena, form->fields[0].descriptor, q->body, CODEC_OWN, &ret->list,
                             &ret->count, &err);
    }
    if (r < 0) {
        bad_body(q, err.text, out);
        return false;
    }
    if (!x->life.leader.leads) {
        question_reply(q, 503, "", "", out)->retry_after_s =
            1; /* the feed tells the leader as well */
        return false;
    }
    return true;
}

/* Invalid elements are dropped silently (3). */
static bool valid_lrp(const Cell__LRPStart *s)
{
    return *s->process_guid && *s->domain && s->n_indices > 0 && s->memorymb >= 0 &&
           s->diskmb >= 0 && *s->rootfs;
}

/* One that is larger than a record is no task of the board: no cell takes work of any size. */
static bool valid_task(const Cell__Task *t)
{
    return *t->taskguid && t->memorymb >= 0 && t->diskmb >= 0 && *t->rootfs &&
           cell__task__get_packed_size(t) <= RECORD_MAX_BYTES;
}

/* All up to this revision the feed has reported; 0 = it is not known. */
static int64_t feed_position(const struct auctioneer *x)
{
    const struct feed_client *f = &x->life.feed_client;
    return f->snapshot ? 0 : f->revision;
}

static void hint(struct auctioneer *x, const struct hint *h)
{
    backlog_hint(&x->backlog, h, feed_position(x), x->life.now.mono_ns);
}

static void lrps(struct role *role, const struct request *q, struct effects *out)
{
    struct auctioneer *x = (struct auctioneer *)role;
    struct hints hints;
    if (!read_starts(x, q, &cell__lrpstarts__descriptor, &hints, out)) {
        return;
    }
    for (size_t i = 0; i < hints.count; i++) {
        const Cell__LRPStart *start = (const Cell__LRPStart *)hints.list[i];
        const char *guid = start->process_guid;
        for (size_t k = 0; valid_lrp(start) && k < start->n_indices; k++) {
            int32_t index = start->indices[k];
            int64_t revision = k < start->n_revisions ? start->revisions[k] : 0;
            if (index >= 0) {
                hint(x, &(struct hint){.kind = &waiting_instance,
                                       .key = key_actual(out->arena, guid, index, 0),
                                       .guid = guid,
                                       .index = index,
                                       .revision = revision});
            }
        }
    }
    question_reply(q, 202, QUESTION_JSON, "{}", out);
}

static void tasks(struct role *role, const struct request *q, struct effects *out)
{
    struct auctioneer *x = (struct auctioneer *)role;
    struct hints hints;
    if (!read_starts(x, q, &cell__task_starts__descriptor, &hints, out)) {
        return;
    }
    for (size_t i = 0; i < hints.count; i++) {
        const Cell__Task *task = (const Cell__Task *)hints.list[i];
        if (valid_task(task)) {
            hint(x, &(struct hint){.kind = &waiting_task,
                                   .key = key_task(out->arena, task->taskguid),
                                   .guid = task->taskguid,
                                   .revision = task->revision,
                                   .message = &task->base});
        }
    }
    question_reply(q, 202, QUESTION_JSON, "{}", out);
}

/* ---- GET /state ------------------------------------------------------------------------------ */

static void add_unplaced(const struct auctioneer *x, Auction__AuctioneerState *s, struct arena *a)
{
    static const enum entry_state states[] = {ENTRY_REFUSED, ENTRY_FRESH, ENTRY_TAKEN,
                                              ENTRY_TAKEN_AGAIN};
    s->unplaced = ARENA_ARRAY(a, STATE_UNPLACED_MAX, Auction__Unplaced *);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        const struct entry *e;
        TAILQ_FOREACH(e, &x->backlog.lists[states[i]], link)
        {
            if (s->n_unplaced == STATE_UNPLACED_MAX) {
                return;
            }
            Auction__Unplaced *u = arena_message(a, &auction__unplaced__descriptor);
            e->kind->name(
                a, e, &(struct waiting_name){&u->process_guid, &u->task_guid, &u->unit, &u->index});
            u->reason = arena_strdup(a, reason_text(e->reason));
            s->unplaced[s->n_unplaced++] = u;
        }
    }
}

static void add_cells(const struct auctioneer *x, Auction__AuctioneerState *s, struct arena *a)
{
    s->cells = ARENA_ARRAY(a, x->cells.by_id.count, Auction__CellView *);
    MAP_EACH(&x->cells.by_id, n)
    {
        const struct cell *cell = map_value(n);
        Auction__CellView *v = arena_message(a, &auction__cell_view__descriptor);
        v->cell_id = arena_strdup(a, cell->id);
        v->rep_url = arena_strdup(a, cell->url);
        v->usable = cell->usable;
        v->why = arena_strdup(a, cell->why);
        v->pool = arena_strdup(a, cell->pool);
        if (cell->state) {
            v->zone = arena_strdup(a, cell->state->zone);
            v->failed_starts = cell->state->failedstarts;
        }
        if (cell->state && cell->state->availableresources) {
            v->memory_mb = cell->state->availableresources->memorymb;
            v->disk_mb = cell->state->availableresources->diskmb;
            v->containers = cell->state->availableresources->containers;
        }
        s->cells[s->n_cells++] = v;
    }
}

static void add_round(const struct auctioneer *x, Auction__AuctioneerState *s, struct arena *a)
{
    const struct round_counts *r = &x->auction.last;
    if (r->number == 0) {
        return;
    }
    s->last_round = arena_message(a, &auction__round__descriptor);
    s->last_round->number = r->number;
    s->last_round->jobs = r->jobs;
    s->last_round->placed = r->placed;
    s->last_round->refused = r->refused;
    s->last_round->returned = r->returned;
    s->last_round->cells = r->cells;
    s->last_round->duration_ms = (double)r->duration_ns / (double)MILLISECOND_NS;
}

static void state(struct role *role, const struct request *q, struct effects *out)
{
    struct auctioneer *x = (struct auctioneer *)role;
    Auction__AuctioneerState s = AUCTION__AUCTIONEER_STATE__INIT;
    const Board__LeaderLockRecord *holder = leader_holder(&x->life.leader, out->arena);
    s.name = (char *)(uintptr_t)x->life.name;
    s.leads = x->life.leader.leads;
    s.leader_url = holder ? holder->url : s.leader_url;
    s.term = x->life.leader.term;
    s.board_generation = x->life.feed_client.board_generation;
    s.current = x->life.feed_client.current;
    s.revision = x->life.feed_client.revision;
    s.backlog = x->backlog.entries.count;
    s.placed = x->backlog.counts[ENTRY_PLACED];
    s.waiting = s.backlog - s.placed;
    s.tasks = x->backlog.of_kind[JOB_TASK];
    s.units = x->backlog.of_kind[JOB_UNIT];
    s.overflowed = x->backlog.overflowed;
    add_unplaced(x, &s, out->arena);
    add_cells(x, &s, out->arena);
    add_round(x, &s, out->arena);
    question_reply_json(q, &s.base, out);
}

/* ---- GET /why -------------------------------------------------------------------------------- */

/* What is asked about. */
struct asked {
    const char *task_guid, *process_guid, *unit; /* one of them */
    int32_t index;
};

static bool read_asked(const struct request *q, struct arena *a, struct asked *ret)
{
    char *end = NULL;
    const char *index = query_value(a, q->query, "index");
    ret->task_guid = query_value(a, q->query, "task_guid");
    ret->process_guid = query_value(a, q->query, "process_guid");
    long number = index && *index ? strtol(index, &end, 10) : -1;
    ret->unit = query_value(a, q->query, "unit");
    ret->index = (int32_t)number;
    bool instance = ret->process_guid && end && !*end && number >= 0 && number <= INT32_MAX;
    bool alone = !ret->process_guid && !index;
    if (ret->unit) {
        struct unit_name ignored;
        return alone && !ret->task_guid && unit_name_parse(a, ret->unit, &ignored);
    }
    return ret->task_guid ? alone : instance;
}

static const char *asked_key(struct arena *a, const struct asked *q)
{
    struct unit_name unit;
    if (q->unit && unit_name_parse(a, q->unit, &unit)) {
        return key_unit(a, unit);
    }
    return q->task_guid ? key_task(a, q->task_guid) : key_actual(a, q->process_guid, q->index, 0);
}

static const char *state_word(const struct auctioneer *x, const struct entry *e)
{
    static const char *const words[] = {[ENTRY_FRESH] = "not tried yet",
                                        [ENTRY_TAKEN] = "being placed",
                                        [ENTRY_TAKEN_AGAIN] = "being placed",
                                        [ENTRY_PLACED] = "placed",
                                        [ENTRY_REFUSED] = "unplaced"};
    return backlog_wanted(&x->backlog, e) ? words[e->state] : "not desired";
}

static const char *why_unusable(const struct auctioneer *x, const struct entry *e,
                                const struct cell *cell)
{
    bool apart = bounces_apart(&x->backlog.bounces, e->key, cell->id);
    return !cell->usable ? cell->why : apart ? "gave it back" : "";
}

/* As it would be asked of the cells, as they were last seen. */
static void explain(struct auctioneer *x, const struct wanted *w, const struct entry *e,
                    struct arena *a, Auction__Why *ret)
{
    struct job job = wanted_job(w, e->index);
    struct why_cell *cells = ARENA_ARRAY(a, x->cells.by_id.count, struct why_cell);
    size_t count = 0;
    MAP_EACH(&x->cells.by_id, n)
    {
        const struct cell *cell = map_value(n);
        cells[count++] = (struct why_cell){.id = cell->id,
                                           .state = cell->state,
                                           .machine = cells_machine_of(&x->cells, cell),
                                           .unusable = why_unusable(x, e, cell)};
    }
    ret->memory_mb = w->memory_mb;
    ret->disk_mb = w->disk_mb;
    ret->root_fs = arena_strdup(a, w->root_fs);
    ret->placement_tags = w->tags;
    ret->n_placement_tags = w->tag_count;
    ret->volume_drivers = w->drivers;
    ret->n_volume_drivers = w->driver_count;
    struct why_input in = {.rules = &x->rules, .cells = cells, .cell_count = count};
    in.slices = slices_list(&x->slices, a, &in.slice_count);
    why_explain(a, &in, &job, ret);
}

static void why(struct role *role, const struct request *q, struct effects *out)
{
    struct auctioneer *x = (struct auctioneer *)role;
    struct asked asked;
    if (!read_asked(q, out->arena, &asked)) {
        bad_body(q, "ask with process_guid and index, with task_guid, or with unit", out);
        return;
    }
    if (!x->life.leader.leads) {
        question_refer(&x->life, q, "stands by", out); /* it asks no cell, so it knows nothing */
        return;
    }
    const struct entry *e = map_get(&x->backlog.entries, asked_key(out->arena, &asked));
    if (!e) {
        question_reply(q, 404, QUESTION_TEXT, "it awaits no placement\n", out);
        return;
    }
    Auction__Why answer_why = AUCTION__WHY__INIT;
    const struct wanted *w = backlog_wanted(&x->backlog, e);
    e->kind->name(out->arena, e,
                  &(struct waiting_name){&answer_why.process_guid, &answer_why.task_guid,
                                         &answer_why.unit, &answer_why.index});
    answer_why.state = arena_strdup(out->arena, state_word(x, e));
    answer_why.reason = arena_strdup(out->arena, reason_text(e->reason));
    if (w) {
        explain(x, w, e, out->arena, &answer_why);
    }
    question_reply_json(q, &answer_why.base, out);
}

/* ---- The routes ------------------------------------------------------------------------------ */

static const struct question_route routes[] = {
    {{"POST", "/v1/lrps", STARTS_BODY_MAX}, ACTOR_BBS | ACTOR_CLIENT, lrps},
    {{"POST", "/v1/tasks", STARTS_BODY_MAX}, ACTOR_BBS | ACTOR_CLIENT, tasks},
    {{"GET", "/state", 0}, ACTORS_ANYBODY, state},
    {{"GET", "/why", 0}, ACTORS_ANYBODY, why},
};

const struct path_table auctioneer_questions = PATH_TABLE(routes);
