#include "bbs/rest/logs.h"

#include "bbs/board/board.h"
#include "bbs/rest/answer.h"
#include "bbs/rest/log_query.h"
#include "bbs/rest/service_named.h"
#include "bbs/route/read.h"
#include "bbs/service/record.h"
#include "common/base/query.h"
#include "common/codec/json.h"
#include "common/model/component_path.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_TYPE "text/plain; charset=utf-8"

/* A cell that is asked, and for how much of the list it is looked at. */
enum { KEPT_SHOWN_MAX = 10, KEPT_BYTES_MAX = 4 * 1024 * 1024 };

struct log_cell {
    struct log_request *request;
    const char *id, *url;
    bool silent;
};

/* One request, which lives in its own arena. */
struct log_request {
    LIST_ENTRY(log_request) link;
    struct log_requests *all;
    struct arena *arena;
    uint64_t request_id;
    const char *trace_id;
    const char *whom;  /* "service /api of system shop" */
    const char *words; /* of the query to the rep */
    int64_t deadline_ns;
    /* Who has it; of none that is known all are asked. */
    const struct log_cell *cell;
    const char *guid;
    struct log_cell *cells;
    size_t cell_count, next, open, silent;
    /* What is looked for: a task by `guid`, or what is kept of these processes. */
    char *const *processes;
    size_t process_count;
    const char *prefix;   /* that their guids begin with */
    const char *instance; /* that one; NULL = the newest of the index */
    int32_t index;        /* -1 = of any */
    int64_t removed_at;   /* of `guid`, the newest so far */
};

void log_requests_init(struct log_requests *s, struct board *board, struct askers *askers)
{
    *s = (struct log_requests){.board = board, .askers = askers};
    LIST_INIT(&s->all);
}

static void end(struct log_request *r)
{
    struct arena *arena = r->arena; /* the request lives in it */
    LIST_REMOVE(r, link);
    arena_done(arena);
    free(arena);
}

void log_requests_done(struct log_requests *s)
{
    while (!LIST_EMPTY(&s->all)) {
        end(LIST_FIRST(&s->all));
    }
}

static void refuse(struct log_request *r, struct effects *out, int status, const char *code,
                   const char *text)
{
    rest_refuse(out, r->request_id, status, code, "%s", text);
    end(r);
}

/* ---- The relay ------------------------------------------------------------------------------- */

static const char *said_by(struct arena *a, const struct response *response)
{
    size_t size = 0;
    while (size < response->body.size && response->body.data[size] >= ' ') {
        size++;
    }
    return arena_strndup(a, (const char *)response->body.data, size);
}

static void on_relay(void *request, const struct response *response, struct effects *out)
{
    struct log_request *r = request;
    struct arena *a = out->arena;
    bool answered = response->outcome == CALL_ANSWERED;
    if (answered && response->status == 200) {
        end(r); /* it goes past the step */
    } else if (response->outcome == CALL_REFUSED) {
        refuse(r, out, 503, "UNAVAILABLE",
               arena_printf(a,
                            "this bbs passes %d logs on, which is the most: ask another bbs, or "
                            "again when one is over",
                            RELAYS_MAX));
    } else if (answered && response->status == 404) {
        refuse(r, out, 404, "INVALID_INSTANCE",
               arena_printf(a, "cell %s keeps no output of %s", r->cell->id, r->whom));
    } else if (answered && response->status == 400) {
        refuse(r, out, 400, "INVALID_REQUEST", said_by(a, response));
    } else {
        refuse(r, out, 503, "UNAVAILABLE",
               arena_printf(a, "cell %s does not give the output of %s: %s; ask again", r->cell->id,
                            r->whom,
                            answered ? arena_printf(a, "status %d %s", response->status,
                                                    said_by(a, response))
                                     : response->text));
    }
}

static struct call get(const struct log_request *r, uint64_t id, const char *url)
{
    return (struct call){.id = id,
                         .method = "GET",
                         .url = url,
                         .content_type = "",
                         .accept = "",
                         .if_none_match = "",
                         .trace_id = r->trace_id,
                         .deadline_ns = r->deadline_ns};
}

static void relay(struct log_request *r, struct effects *out)
{
    uint64_t id = board_next_id(r->all->board);
    assert(r->cell && r->guid);
    const char *url = arena_printf(r->arena, "%s/v1/logs/%s?%s", r->cell->url,
                                   percent_encoded(r->arena, r->guid), r->words);
    askers_add(r->all->askers, id, on_relay, r);
    effects_add(out, EFFECT_RELAY)->relay = (struct relay){
        .request_id = r->request_id,
        .call = get(r, id, url),
        .content_type = TEXT_TYPE,
        .broken = arena_printf(r->arena,
                               "-- corkboard: cell %s broke off here: lines may be missing, ask "
                               "again --",
                               r->cell->id),
    };
}

/* ---- The cell that has it -------------------------------------------------------------------- */

static bool is_wanted(const struct log_request *r, const Board__RestKeptOutput *one)
{
    bool process = false;
    for (size_t i = 0; i < r->process_count; i++) {
        process = process || strcmp(r->processes[i], one->process_guid) == 0;
    }
    return process && (r->instance ? strcmp(r->instance, one->instance_guid) == 0
                                   : r->index < 0 || r->index == one->index);
}

/* Of what this cell keeps, the newest that is wanted. False: it cannot be read. */
static bool look_through(struct log_request *r, const struct log_cell *cell, struct bytes list)
{
    ProtobufCMessage **kept;
    size_t count;
    if (list.size > KEPT_BYTES_MAX ||
        json_decode_list(r->arena, &board__rest_kept_output__descriptor, list, CODEC_SNAKE_CASE,
                         &kept, &count, NULL) < 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const Board__RestKeptOutput *one = (const Board__RestKeptOutput *)kept[i];
        if (is_wanted(r, one) && (!r->cell || one->removed_at > r->removed_at)) {
            r->cell = cell;
            r->guid = one->instance_guid;
            r->removed_at = one->removed_at;
        }
    }
    return true;
}

static const char *silent_cells(struct arena *a, const struct log_request *r)
{
    const char *text = "";
    size_t shown = 0;
    for (size_t i = 0; i < r->cell_count && shown < KEPT_SHOWN_MAX; i++) {
        if (r->cells[i].silent) {
            text = arena_printf(a, "%s%s%s", text, shown++ ? ", " : "", r->cells[i].id);
        }
    }
    return r->silent > shown ? arena_printf(a, "%s and %zu more", text, r->silent - shown) : text;
}

static void found_or_not(struct log_request *r, struct effects *out)
{
    struct arena *a = out->arena;
    if (r->cell) {
        relay(r, out);
    } else if (r->silent > 0) {
        refuse(r, out, 503, "UNAVAILABLE",
               arena_printf(a, "no cell that answered keeps output of %s; no answer came from %s",
                            r->whom, silent_cells(a, r)));
    } else {
        refuse(r, out, 404, "INVALID_INSTANCE",
               arena_printf(a,
                            "no cell keeps output of %s: that of what has ended is kept for an "
                            "hour",
                            r->whom));
    }
}

static void ask_on(struct log_request *r, struct effects *out);

static void on_cell(void *cell, const struct response *response, struct effects *out)
{
    struct log_cell *c = cell;
    struct log_request *r = c->request;
    bool ok = response->outcome == CALL_ANSWERED && response->status == 200;
    assert(r->open > 0);
    r->open--;
    if (ok && r->process_count > 0) {
        ok = look_through(r, c, response->body);
    } else if (ok) {
        r->cell = c;
    } else {
        ok = response->outcome == CALL_ANSWERED && response->status == 404;
    }
    c->silent = !ok;
    r->silent += c->silent;
    ask_on(r, out);
}

/* A task is on one cell; of a service the newest of all is wanted. */
static void ask_on(struct log_request *r, struct effects *out)
{
    bool enough = r->process_count == 0 && r->cell;
    while (!enough && r->next < r->cell_count && r->open < LOGS_CELLS_ASKED_MAX) {
        struct log_cell *c = &r->cells[r->next++];
        uint64_t id = board_next_id(r->all->board);
        const char *url = r->process_count > 0
                              ? arena_printf(r->arena, "%s/v1/logs?process_guid_prefix=%s", c->url,
                                             percent_encoded(r->arena, r->prefix))
                              : arena_printf(r->arena, "%s/v1/logs/%s?lines=0", c->url,
                                             percent_encoded(r->arena, r->guid));
        r->open++;
        askers_add(r->all->askers, id, on_cell, c);
        effects_add(out, EFFECT_CALL)->call = get(r, id, url);
    }
    if (r->open == 0) {
        found_or_not(r, out);
    }
}

/* Those that are PRESENT. */
static void add_cells(struct log_request *r, struct view *v)
{
    ProtobufCMessage **list;
    size_t count = read_all(v, RECORD_CELL, &list);
    r->cells = ARENA_ARRAY(r->arena, count, struct log_cell);
    for (size_t i = 0; i < count; i++) {
        const Board__CellRecord *cell = (const Board__CellRecord *)list[i];
        if (cell->state == BOARD__CELL_RECORD__STATE__PRESENT && cell->presence &&
            *cell->presence->rep_url) {
            r->cells[r->cell_count++] = (struct log_cell){
                .request = r,
                .id = arena_strdup(r->arena, cell->presence->cell_id),
                .url = arena_strdup(r->arena, cell->presence->rep_url),
            };
        }
    }
}

static struct log_request *begin(const struct rest *q, struct view *v, const struct log_query *p,
                                 const char *whom)
{
    struct log_requests *s = q->ask->router->logs;
    struct arena *a = board_arena();
    struct log_request *r = ARENA_NEW(a, struct log_request);
    assert(s);
    *r = (struct log_request){
        .all = s,
        .arena = a,
        .request_id = q->ask->request_id,
        .trace_id = arena_strdup(a, q->ask->in.trace_id),
        .whom = arena_printf(a, "%s of system %s", whom, q->system),
        .words = arena_strdup(a, p->words),
        .deadline_ns = board_now(s->board).mono_ns + LOGS_FIND_S * SECOND_NS,
        .index = -1,
    };
    LIST_INSERT_HEAD(&s->all, r, link);
    add_cells(r, v);
    return r;
}

/* Of one whose cell is known. */
static void read_of(struct log_request *r, const char *guid, const char *cell_id,
                    struct effects *out)
{
    r->guid = arena_strdup(r->arena, guid);
    for (size_t i = 0; i < r->cell_count; i++) {
        r->cell = strcmp(r->cells[i].id, cell_id) == 0 ? &r->cells[i] : r->cell;
    }
    if (r->cell) {
        relay(r, out);
    } else {
        refuse(
            r, out, 503, "UNAVAILABLE",
            arena_printf(out->arena, "%s is on cell %s, which is not present", r->whom, cell_id));
    }
}

/* ---- Services -------------------------------------------------------------------------------- */

/* The instances with a container; NULL in `ret_one` unless one alone is meant. Gives how many are.
 */
static size_t find_instances(struct view *v, const Board__ServiceRecord *s,
                             const struct log_query *p, const Models__ActualLRP **ret_one,
                             const char **ret_names)
{
    struct arena *a = view_arena(v);
    Models__ActualLRP **all;
    size_t count = service_instances(v, s, &all), meant = 0;
    const char *names = "";
    *ret_one = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *guid = all[i]->actual_lrp_instance_key->instance_guid;
        int32_t index = all[i]->actual_lrp_key->index;
        if (p->instance && strcmp(p->instance, guid) != 0 && p->index != index) {
            continue;
        }
        if (meant++ < KEPT_SHOWN_MAX) {
            names = arena_printf(a, "%s%s%s (%d)", names, *names ? ", " : "", guid, (int)index);
        }
        *ret_one = all[i];
    }
    *ret_one = meant == 1 ? *ret_one : NULL;
    *ret_names = meant > KEPT_SHOWN_MAX
                     ? arena_printf(a, "%s and %zu more", names, meant - KEPT_SHOWN_MAX)
                     : names;
    return meant;
}

/* Adds what asks for the lines of the sidecar alone, if one is wanted: its name is their source.
 * False: the definition has none of the name. */
static bool add_sidecar(struct view *v, const char *process_guid, const struct log_query *p,
                        const char **words)
{
    struct arena *a = view_arena(v);
    const Models__DesiredLRP *d = view_peek_message(v, key_desired(a, process_guid));
    d = d && d->modification_tag
            ? view_peek_message(v, key_run(a, process_guid, d->modification_tag->epoch))
            : NULL;
    bool found = !p->sidecar;
    for (size_t i = 0; d && !found && i < d->n_sidecars; i++) {
        const Models__Action *action = d->sidecars[i]->action;
        found =
            action && action->run_action && strcmp(action->run_action->log_source, p->sidecar) == 0;
    }
    if (found && p->sidecar) {
        *words = arena_printf(a, "%s&source=%s", *words, percent_encoded(a, p->sidecar));
    }
    return found;
}

static void no_sidecar(const struct rest *q, const char *whom, const char *sidecar,
                       struct effects *out)
{
    rest_refuse(out, q->ask->request_id, 404, "INVALID_SIDECAR",
                "%s of system %s has no sidecar %s", whom, q->system, sidecar);
}

static const char *target_guid(const Board__ServiceRecord *s)
{
    const Board__Revision *target = service_target(s);
    return target ? target->process_guid : s->n_revisions ? s->revisions[0]->process_guid : "";
}

/* What is kept of its revisions. An instance that still is has the index of the one before it. */
static void read_previous(struct rest *q, struct view *v, const Board__ServiceRecord *s,
                          const struct log_query *p, const char *whom, struct effects *out)
{
    const Models__ActualLRP *one;
    const char *names;
    size_t meant = find_instances(v, s, p, &one, &names);
    if (!p->instance && s->instances > 1) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_REQUEST",
                    "%s of system %s has %d instances: say which, instance=0 to %d", whom,
                    q->system, (int)s->instances, (int)s->instances - 1);
        return;
    }
    struct log_request *r = begin(q, v, p, whom);
    r->processes = ARENA_ARRAY(r->arena, s->n_revisions, char *);
    for (size_t i = 0; i < s->n_revisions; i++) {
        ((char **)r->processes)[i] = arena_strdup(r->arena, s->revisions[i]->process_guid);
    }
    r->process_count = s->n_revisions;
    const char *guid = target_guid(s);
    r->prefix = arena_strndup(r->arena, guid, (size_t)(service_hash(guid) - guid));
    r->index = p->index >= 0               ? p->index
               : meant == 1 && p->instance ? one->actual_lrp_key->index
                                           : -1;
    r->instance = p->instance && r->index < 0 ? arena_strdup(r->arena, p->instance) : NULL;
    ask_on(r, out);
}

static void read_present(struct rest *q, struct view *v, const Board__ServiceRecord *s,
                         struct log_query *p, const char *whom, struct effects *out)
{
    const Models__ActualLRP *one;
    const char *names;
    size_t meant = find_instances(v, s, p, &one, &names);
    if (meant == 0) {
        rest_refuse(out, q->ask->request_id, 404, "INVALID_INSTANCE",
                    "%s of system %s has no %s%s now: previous=true shows what the last one wrote",
                    whom, q->system, p->instance ? "instance " : "container",
                    p->instance ? p->instance : "");
    } else if (meant > 1) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_REQUEST",
                    "%s of system %s has %zu instances: say which by instance=, one of %s", whom,
                    q->system, meant, names);
    } else if (!add_sidecar(v, one->actual_lrp_key->process_guid, p, &p->words)) {
        no_sidecar(q, whom, p->sidecar, out);
    } else {
        const Models__ActualLRPInstanceKey *at = one->actual_lrp_instance_key;
        read_of(begin(q, v, p, whom), at->instance_guid, at->cell_id, out);
    }
}

void rest_service_logs(struct rest *q, struct view *v, const Board__SystemRecord *system,
                       struct effects *out)
{
    struct arena *a = view_arena(v);
    const Board__ServiceRecord *s = service_named(v, system->uid, q->name);
    struct log_query p;
    struct err err;
    if (!s) {
        rest_refuse(out, q->ask->request_id, 404, "INVALID_SERVICE_ID",
                    "system %s has no service %s", q->system, q->name);
        return;
    }
    if (log_query_read(a, q->query, &p, &err) < 0) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_REQUEST", "%s", err.text);
        return;
    }
    const char *whom = arena_printf(a, "service %s", s->path);
    if (p.previous && (s->n_revisions == 0 || !add_sidecar(v, target_guid(s), &p, &p.words))) {
        no_sidecar(q, whom, p.sidecar ? p.sidecar : "", out);
    } else if (p.previous) {
        read_previous(q, v, s, &p, whom, out);
    } else {
        read_present(q, v, s, &p, whom, out);
    }
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static const char *job_fault(const struct log_query *p)
{
    return p->previous   ? "a job runs once: it has no previous"
           : p->instance ? "a job runs once: it has no instance"
                         : NULL;
}

void rest_job_logs(struct rest *q, struct view *v, const Board__SystemRecord *system,
                   struct effects *out)
{
    struct arena *a = view_arena(v);
    const Board__JobRunRecord *run = view_peek_message(v, key_jobrun(a, system->uid, q->name));
    struct log_query p;
    struct err err;
    if (!run) {
        rest_refuse(out, q->ask->request_id, 404, "INVALID_JOB_ID", "system %s has no job %s",
                    q->system, q->name);
        return;
    }
    int bad = log_query_read(a, q->query, &p, &err);
    const char *fault = bad ? err.text : job_fault(&p);
    const char *whom = arena_printf(a, "job %s", q->name);
    if (fault) {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_REQUEST", "%s", fault);
        return;
    }
    if (p.sidecar) {
        no_sidecar(q, whom, p.sidecar, out);
        return;
    }
    const Models__Task *task =
        *run->task_guid ? view_peek_message(v, key_task(a, run->task_guid)) : NULL;
    if (!run->completed_at && (!task || task->state == MODELS__TASK__STATE__Pending)) {
        rest_refuse(out, q->ask->request_id, 409, "CONFLICT",
                    "%s of system %s has not begun: it is "
                    "%s%s%s",
                    whom, q->system, run->state, *run->message ? ": " : "", run->message);
        return;
    }
    struct log_request *r = begin(q, v, &p, whom);
    if (task && *task->cell_id) {
        read_of(r, run->task_guid, task->cell_id, out);
    } else {
        r->guid = arena_strdup(r->arena, run->task_guid);
        ask_on(r, out);
    }
}
