#include "bbs/edge/said.h"

#include "bbs/edge/progress.h"
#include "common/contract/moment.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <string.h>

enum {
    SITE_ERRORS_MAX = 16,
    SITE_ERROR_BYTES_MAX = 512,
    SITE_TEXT_BYTES_MAX = 256,
    ENDPOINTS_MAX = 64,
    CELLS_MAX = 60,
    TASK_STEPS_MAX = 1000,
};

const Board__EdgeMove *edge_says(const struct move_turn *t)
{
    return move_edge(t->move);
}

void edge_site_gather(struct view *v, const struct op_input *in, const char *name,
                      struct edge_site *ret)
{
    struct arena *a = view_arena(v);
    speaker_gather(v, in, &ret->by);
    ret->name = arena_strdup(a, name);
    ret->cloudlet = view_message(v, key_edge(a, RECORD_CLOUDLET, name));
    ret->info = view_message(v, key_edge(a, RECORD_CLOUDLETINFO, name));
    ret->maintenance = view_message(v, key_edge(a, RECORD_MAINTENANCE, name));
}

static bool crm_speaks(const struct edge_site *s, const struct move_turn *t, const char *uid)
{
    const Board__EdgeMove *m = edge_says(t);
    struct plan *p = t->plan;
    if (strcmp(t->in->peer_name, s->name) != 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest,
                    "the certificate is of cloudlet %s, not of %s", t->in->peer_name, s->name);
    } else if (strcmp(m->board_generation, s->by.board_generation) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the board generation is %s, not %s: list again", s->by.board_generation,
                    *m->board_generation ? m->board_generation : "(none)");
    } else if (!s->cloudlet) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "there is no cloudlet %s: make it with `bbs cloudlets create %s`", s->name,
                    s->name);
    } else if (uid && strcmp(m->uid, uid) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s has another life by now: %s",
                    key_edge_name(p->arena, move_key(p->arena, t->move)), uid);
    }
    return p->verdict != PLAN_REFUSE;
}

bool edge_speaks(const struct edge_site *s, const struct move_turn *t, const char *uid,
                 uint64_t request)
{
    const Board__EdgeMove *m = edge_says(t);
    if (t->in->actor == ACTOR_CRM) {
        return crm_speaks(s, t, uid);
    }
    if (!speaker_authorised(&s->by, t->in, t->plan)) { /* 1 */
        return false;
    }
    bool judged = uid && strcmp(m->uid, uid) == 0 && m->request == request;
    return t->in->actor != ACTOR_CONVERGER || !uid || judged; /* 4 */
}

bool edge_in_session(const struct edge_site *s, const Board__EdgeMove *m)
{
    return s->info && m->session && m->session == s->info->session;
}

/* ---- Operations ------------------------------------------------------------------------------ */

bool edge_ignores_crm(Board__EdgeOperation__Override o)
{
    return o == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM ||
           o == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_AND_TRANSIENT;
}

bool edge_ignores_errors(Board__EdgeOperation__Override o)
{
    return o == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_ERRORS;
}

bool edge_ignores_transient(Board__EdgeOperation__Override o)
{
    return o == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_TRANSIENT ||
           o == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_AND_TRANSIENT;
}

Board__EdgeOperation *edge_operation(struct arena *a, const char *word,
                                     Board__EdgeOperation__Override o, const char *found,
                                     int64_t wall_ns, int64_t limit_ns)
{
    Board__EdgeOperation *op = arena_message(a, &board__edge_operation__descriptor);
    assert(limit_ns >= 0);
    op->word = arena_strdup(a, word);
    op->override = o;
    op->found = arena_strdup(a, found);
    op->since = wall_ns;
    op->limit_ns = limit_ns;
    op->deadline = limit_ns ? wall_ns + limit_ns : 0;
    return op;
}

Board__EdgeOperation *edge_operation_again(struct arena *a, const Board__EdgeOperation *o,
                                           int64_t wall_ns)
{
    Board__EdgeOperation *again = o ? arena_copy(a, o, sizeof(*o)) : NULL;
    if (again && again->limit_ns) {
        again->deadline = wall_ns + again->limit_ns;
        again->overdue = false;
    }
    return again;
}

Board__EdgeOperation *edge_operation_failed(struct arena *a, const Board__EdgeOperation *o,
                                            const char *error)
{
    Board__EdgeOperation *failed =
        o ? arena_copy(a, o, sizeof(*o)) : edge_operation(a, "", 0, "", 0, 0);
    failed->deadline = 0;
    failed->overdue = false;
    failed->restored = false;
    failed->error = arena_strndup(
        a, error, strlen(error) < EDGE_ERROR_BYTES_MAX ? strlen(error) : EDGE_ERROR_BYTES_MAX);
    return failed;
}

bool edge_is_overdue(const Board__EdgeOperation *o, int64_t wall_ns)
{
    return o && o->deadline && wall_ns >= o->deadline;
}

static const char *duration_text(struct arena *a, int64_t ns)
{
    long long s = ns > 0 ? (long long)(ns / SECOND_NS) : 0;
    return s < 120        ? arena_printf(a, "%lld s", s)
           : s < 2 * 3600 ? arena_printf(a, "%lld min", s / 60)
           : s < 172800   ? arena_printf(a, "%lld h", s / 3600)
                          : arena_printf(a, "%lld days", s / 86400);
}

const char *edge_overdue_text(struct arena *a, const Board__EdgeOperation *o)
{
    return arena_printf(a, "no end within %s", duration_text(a, o ? o->limit_ns : 0));
}

const char *edge_since_text(struct arena *a, int64_t since, int64_t wall_ns)
{
    return duration_text(a, wall_ns - since);
}

void edge_tell(const struct move_turn *t, const Board__ProgressRecord *before,
               const struct edge_told *told)
{
    struct arena *a = t->plan->arena;
    int64_t at = t->in->now.wall_ns;
    Board__ProgressRecord *p =
        progress_of(a, before, told->kind, told->name, told->uid, told->request, told->word);
    if (*p->end) { /* no line stands behind the end */
        return;
    }
    if (told->line) {
        progress_line(a, p, at, told->line);
    }
    if (told->more) {
        progress_line(a, p, at, told->more);
    }
    if (told->end) {
        progress_end(a, p, at, told->end, told->error ? told->error : "");
    }
    plan_put(t->plan, key_progress(a, told->uid), t->row->name, t->in->actor, &p->base);
}

const char *edge_step_text(struct arena *a, const Board__EdgeMove *m)
{
    const Board__EdgeStep *s = m->step;
    return !s           ? NULL
           : s->steps   ? arena_printf(a, "step %u of %u: %s", s->step, s->steps, s->text)
           : s->text[0] ? s->text
                        : NULL;
}

/* ---- What a move says ------------------------------------------------------------------------ */

/* Each says its bound: who wrote the CRM reads it in a log. */
static void valid_text(struct validation *v, const char *text, size_t most, const char *field)
{
    SCOPED_ARENA(a);
    size_t size = strlen(text);
    if (size > most) {
        say(v, arena_printf(&a, "%s: %zu bytes, at most %zu", field, size, most));
    }
}

static void valid_list(struct validation *v, char *const *list, size_t count, size_t most,
                       size_t bytes, const char *field)
{
    SCOPED_ARENA(a);
    if (count > most) {
        say(v, arena_printf(&a, "%s: %zu, at most %zu", field, count, most));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) > bytes) {
            valid_text(v, list[i], bytes, field);
            return; /* one tells enough */
        }
    }
}

static void valid_resources(struct validation *v, const Board__EdgeResources *r, const char *field)
{
    SCOPED_ARENA(a);
    if (r && (r->memory_mb < 0 || r->disk_mb < 0 || r->containers < 0)) {
        say(v, arena_printf(&a, "%s: memory, disk and containers are not below 0", field));
    }
}

static void valid_step(struct validation *v, const Board__EdgeStep *s)
{
    SCOPED_ARENA(a);
    if (s->steps > TASK_STEPS_MAX || s->step > s->steps) {
        say(v, arena_printf(&a, "step: %u of %u, at most %d of as many", s->step, s->steps,
                            TASK_STEPS_MAX));
    }
    valid_text(v, s->text, PROGRESS_LINE_BYTES_MAX, "step");
}

static void valid_reports(struct validation *v, const Board__EdgeMove *m)
{
    const Board__ClusterReport *c = m->cluster_report;
    const Board__AppInstReport *i = m->instance_report;
    if (c) {
        valid_list(v, c->cells, c->n_cells, CELLS_MAX, SITE_TEXT_BYTES_MAX, "cells");
        valid_resources(v, c->used, "used");
        valid_text(v, c->health, SITE_TEXT_BYTES_MAX, "health");
    }
    if (i) {
        valid_list(v, i->endpoints, i->n_endpoints, ENDPOINTS_MAX, SITE_TEXT_BYTES_MAX,
                   "endpoints");
        valid_list(v, i->runtime_ids, i->n_runtime_ids, ENDPOINTS_MAX, SITE_TEXT_BYTES_MAX,
                   "runtime_ids");
        valid_text(v, i->health, SITE_TEXT_BYTES_MAX, "health");
    }
}

void edge_valid(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const Board__EdgeMove *m = move_edge(move);
    const ProtobufCEnumDescriptor *overrides = &board__edge_operation__override__descriptor;
    valid_text(v, m->uid, SITE_TEXT_BYTES_MAX, "uid");
    valid_text(v, m->version, SITE_TEXT_BYTES_MAX, "version");
    valid_text(v, m->identity, SITE_TEXT_BYTES_MAX, "identity");
    valid_text(v, m->error, EDGE_ERROR_BYTES_MAX, "error");
    if (m->step) {
        valid_step(v, m->step);
    }
    valid_list(v, m->errors, m->n_errors, SITE_ERRORS_MAX, SITE_ERROR_BYTES_MAX, "errors");
    valid_list(v, m->foreign, m->n_foreign, EDGE_FOREIGN_TOLD_MAX, SITE_ERROR_BYTES_MAX, "foreign");
    valid_resources(v, m->totals, "totals");
    valid_reports(v, m);
    if (!protobuf_c_enum_descriptor_get_value(overrides, (int)m->override)) {
        say(v, arena_printf(&a, "override: there is no %d, only 0 to %u", (int)m->override,
                            overrides->n_values - 1));
    }
}
