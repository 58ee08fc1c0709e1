/* What a CRM asks of its site's board, and the definitions that it asks the centre for. */
#include "crm/follow_parts.h"

#include "common/base/memory.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "crm/app_lrp.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOW_ANSWER_MAX = 4 * 1024 * 1024 };

static void call_over(struct follow_call *c)
{
    free(c->uid);
    free(c->name);
    *c = (struct follow_call){0};
}

void follow_forget_calls(struct follow *f)
{
    for (size_t i = 0; i < CRM_WORKS_MAX; i++) {
        call_over(&f->calls[i]);
    }
}

/* ---- What is asked of the boards ------------------------------------------------------------- */

Board__Term *follow_term(const struct follow *f, struct arena *a)
{
    Board__Term *term = arena_message(a, &board__term__descriptor);
    leader_term(&f->life->leader, term);
    return term;
}

static struct follow_call *free_call(struct follow *f)
{
    for (size_t i = 0; i < CRM_WORKS_MAX; i++) {
        if (!f->calls[i].uid) {
            return &f->calls[i];
        }
    }
    return NULL;
}

static struct follow_call *new_call(struct follow *f, int kind, const struct crm_work *w)
{
    struct follow_call *c = free_call(f);
    assert(c); /* one a work, and there are no more works */
    *c = (struct follow_call){
        .kind = kind, .uid = mem_text(w->uid), .name = mem_text(w->name), .request = w->request};
    return c;
}

static void call(struct boards *boards, struct follow_call *c, const char *path,
                 const ProtobufCMessage *m, const struct event *ev, struct effects *out)
{
    c->url = boards_url(boards);
    c->id = boards_call(boards, out, path, "", m, ev->now.mono_ns + FOLLOW_CALL_NS);
    assert(c->id > 0);
}

static void ask_slice(struct follow *f, const struct crm_work *w, const char *name,
                      Board__SliceMove *wanted, const struct event *ev, struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    Board__Move *m = move_new(out->arena, name, key_slice(out->arena, w->uid));
    m->term = follow_term(f, out->arena);
    if (wanted) {
        m->body_case = BOARD__MOVE__BODY_SLICE;
        m->slice = wanted;
    }
    request.board_generation = f->life->feed_client.board_generation;
    request.n_moves = 1;
    request.moves = &m;
    call(&f->life->boards, new_call(f, FOLLOW_SLICE, w), "/v1/board/apply", &request.base, ev, out);
}

static const void *read_now(const struct follow *f, struct arena *a, enum record_type type,
                            const char *name)
{
    const struct followed *r = feed_client_get(&f->centre->feed_client, key_edge(a, type, name));
    ProtobufCMessage *m;
    return r && record_decode(a, type, blob_bytes(r->record), &m, NULL) == 0 ? m : NULL;
}

/* The centre's record of a work's object, read now, in the arena; NULL = it is gone, is another
 * one, or cannot be read. */
static const Board__ClusterInstRecord *cluster_now(const struct follow *f, struct arena *a,
                                                   const char *name, const char *uid)
{
    const Board__ClusterInstRecord *c = read_now(f, a, RECORD_CLUSTERINST, name);
    return c && strcmp(c->uid, uid) == 0 ? c : NULL;
}

static const Board__AppInstRecord *app_now(const struct follow *f, struct arena *a,
                                           const char *name, const char *uid)
{
    const Board__AppInstRecord *i = read_now(f, a, RECORD_APPINST, name);
    return i && strcmp(i->uid, uid) == 0 ? i : NULL;
}

static void put_slice(struct follow *f, const struct crm_work *w, const char *name,
                      const struct event *ev, struct effects *out)
{
    const Board__ClusterInstRecord *record = cluster_now(f, out->arena, w->name, w->uid);
    const char *fault = "the centre's record has gone";
    Board__SliceMove *m = record && record->spec && record->spec->node
                              ? crm_board_slice_move(&f->board, out->arena, record, &fault)
                              : NULL;
    if (m) {
        ask_slice(f, w, name, m, ev, out);
    } else {
        crm_works_answered(&f->works, w->uid, w->request, ANSWER_REFUSED, fault, ev->now.mono_ns);
        f->changed = true;
    }
}

/* The centre has other sites too: so many at once. */
static bool is_centre_free(const struct follow *f)
{
    size_t open = 0;
    for (size_t i = 0; i < CRM_WORKS_MAX; i++) {
        open += f->calls[i].id && f->calls[i].kind == FOLLOW_DEFINITION;
    }
    return open < FOLLOW_DEFINITIONS_MAX;
}

static void ask_definition(struct follow *f, struct follow_call *c, const struct event *ev,
                           struct effects *out)
{
    Board__Subject subject = BOARD__SUBJECT__INIT;
    subject.kind = (char *)(uintptr_t)record_type_name(RECORD_APPINST);
    subject.key = c->name;
    call(&f->centre->boards, c, "/v1/edge/definition", &subject.base, ev, out);
}

void follow_ask_waiting(struct follow *f, const struct event *ev, struct effects *out)
{
    for (size_t i = 0; i < CRM_WORKS_MAX && is_centre_free(f); i++) {
        struct follow_call *c = &f->calls[i];
        if (c->uid && !c->id) {
            ask_definition(f, c, ev, out);
        }
    }
}

static void ask_removal(struct follow *f, const struct crm_work *w, const char *guid,
                        const struct event *ev, struct effects *out)
{
    Models__RemoveDesiredLRPRequest request = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(uintptr_t)guid;
    request.term = follow_term(f, out->arena);
    call(&f->life->boards, new_call(f, FOLLOW_REMOVE, w), "/v1/desired_lrp/remove", &request.base,
         ev, out);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* An error that says that it is so already is none. */
static bool is_so(int kind, const Models__Error *e)
{
    return (kind == FOLLOW_DESIRE && e->type == MODELS__ERROR__TYPE__ResourceExists) ||
           (kind == FOLLOW_REMOVE && e->type == MODELS__ERROR__TYPE__ResourceNotFound);
}

static enum crm_answer answer_of(struct follow_call *c, const struct event *ev, struct arena *a,
                                 const char **ret_why)
{
    bool slice = c->kind == FOLLOW_SLICE;
    const ProtobufCMessageDescriptor *type =
        slice ? &board__apply_response__descriptor
              : &models__desired_lrplifecycle_response__descriptor;
    const ProtobufCMessage *m = boards_answer(a, &ev->response, type, FOLLOW_ANSWER_MAX, ret_why);
    if (!m) {
        return ANSWER_AGAIN;
    }
    const Board__ApplyResponse *r = (const Board__ApplyResponse *)m;
    const Board__MoveResult *one = slice && r->n_results == 1 ? r->results[0] : NULL;
    const Models__Error *e = !slice     ? ((const Models__DesiredLRPLifecycleResponse *)m)->error
                             : r->error ? r->error
                             : one      ? one->error
                                        : NULL;
    if (slice && !e && (!one || one->outcome == BOARD__MOVE_RESULT__OUTCOME__UNKNOWN)) {
        *ret_why = "it was not settled in time";
        return ANSWER_AGAIN;
    }
    *ret_why = e ? e->message : "";
    return !e || is_so(c->kind, e) ? ANSWER_DONE : ANSWER_REFUSED;
}

/* The definition is here: it is desired, if the record is the same yet. */
static void desire(struct follow *f, const struct follow_call *c, const struct event *ev,
                   struct effects *out)
{
    const char *why = "";
    const Board__EdgeAppRevisionRecord *r = (const Board__EdgeAppRevisionRecord *)boards_answer(
        out->arena, &ev->response, &board__edge_app_revision_record__descriptor, FOLLOW_ANSWER_MAX,
        &why);
    const Board__AppInstRecord *i = app_now(f, out->arena, c->name, c->uid);
    if (!r || !r->definition || !i || !i->spec || i->request != c->request ||
        r->revision != i->spec->revision) {
        crm_works_answered(&f->works, c->uid, c->request, ANSWER_AGAIN,
                           *why ? why : "the centre has not the app's definition", ev->now.mono_ns);
        return;
    }
    Models__DesireLRPRequest request = MODELS__DESIRE_LRPREQUEST__INIT;
    const struct crm_work like = {.uid = c->uid, .name = c->name, .request = c->request};
    request.desired_lrp = (Models__DesiredLRP *)(uintptr_t)app_lrp(out->arena, i, r->definition);
    request.term = follow_term(f, out->arena);
    call(&f->life->boards, new_call(f, FOLLOW_DESIRE, &like), "/v1/desired_lrp/desire.r2",
         &request.base, ev, out);
}

static void on_answer(struct follow *f, struct follow_call *c, const struct event *ev,
                      struct effects *out)
{
    struct follow_call answered = *c;
    struct boards *boards = c->kind == FOLLOW_DEFINITION ? &f->centre->boards : &f->life->boards;
    *c = (struct follow_call){0};
    f->changed = true;
    if (ev->response.outcome != CALL_ANSWERED) {
        boards_failed(boards, answered.url);
    }
    if (answered.kind == FOLLOW_DEFINITION) {
        desire(f, &answered, ev, out);
    } else {
        const char *why = "";
        enum crm_answer answer = answer_of(&answered, ev, out->arena, &why);
        crm_works_answered(&f->works, answered.uid, answered.request, answer, why, ev->now.mono_ns);
    }
    call_over(&answered);
}

bool follow_hear_site(struct follow *f, const struct event *ev, struct effects *out)
{
    for (size_t i = 0; ev->kind == EVENT_RESPONSE && i < CRM_WORKS_MAX; i++) {
        if (f->calls[i].id && f->calls[i].id == ev->response.id) {
            on_answer(f, &f->calls[i], ev, out);
            return true;
        }
    }
    return false;
}

void follow_ask(struct follow *f, const struct crm_wanted *w, const struct event *ev,
                struct effects *out)
{
    switch (w->step.kind) {
    case STEP_MAKE_SLICE:
        put_slice(f, w->work, "make", ev, out);
        break;
    case STEP_RESIZE_SLICE:
        put_slice(f, w->work, "resize", ev, out);
        break;
    case STEP_DROP_SLICE:
        ask_slice(f, w->work, "drop", NULL, ev, out);
        break;
    case STEP_DESIRE:
        new_call(f, FOLLOW_DEFINITION, w->work);
        follow_ask_waiting(f, ev, out);
        break;
    case STEP_REMOVE:
        ask_removal(f, w->work, w->step.process_guid, ev, out);
        break;
    default:
        break;
    }
}
