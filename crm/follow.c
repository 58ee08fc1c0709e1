#include "crm/follow.h"

#include "common/base/memory.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "crm/app_lrp.h"
#include "crm/records.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOW_ANSWER_MAX = 4 * 1024 * 1024 };

void follow_init(struct follow *f)
{
    assert(f->life && f->centre);
    crm_board_init(&f->board);
    crm_works_init(&f->works);
    reports_init(&f->reports);
    map_init(&f->healths);
    f->compare_ns = f->say_ns = 0;
}

static void call_over(struct follow_call *c)
{
    free(c->uid);
    *c = (struct follow_call){0};
}

static void forget_works(struct follow *f)
{
    for (size_t i = 0; i < CRM_WORKS_MAX; i++) {
        call_over(&f->calls[i]);
    }
    crm_works_done(&f->works);
    crm_works_init(&f->works);
    f->batch_id = 0;
}

void follow_done(struct follow *f)
{
    forget_works(f);
    crm_board_done(&f->board);
    crm_works_done(&f->works);
    reports_done(&f->reports);
    map_done(&f->healths, free);
}

/* ---- What the boards have -------------------------------------------------------------------- */

void follow_site_change(struct follow *f, enum feed_client_change change, const char *key,
                        const struct followed *record)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m = NULL;
    assert(key || change == FEED_CLIENT_RESET || change == FEED_CLIENT_CURRENT);
    if (change == FEED_CLIENT_RESET) {
        crm_board_reset(&f->board);
    } else if (change == FEED_CLIENT_DELETE) {
        crm_board_change(&f->board, key, NULL);
    } else if (change == FEED_CLIENT_PUT &&
               record_decode(&a, key_type(key), blob_bytes(record->record), &m, NULL) == 0) {
        crm_board_change(&f->board, key, m);
    }
    f->changed = true;
}

/* The records of the centre, decoded once a comparison. */
struct compared {
    struct crm_records centre;
    struct crm_plan plan;
};

/* While a record of the centre cannot be read, what has none may be its own. */
static void compare(const struct follow *f, struct arena *a, struct compared *ret)
{
    struct crm_plan_input in = {0};
    struct crm_held *held;
    crm_records_read(&f->centre->feed_client.records, f->centre->cloudlet, a, &ret->centre);
    in.records = ret->centre.list;
    in.record_count = ret->centre.count;
    in.held_count = crm_board_held(&f->board, a, &held);
    in.held = held;
    in.snapshot = feed_client_complete(&f->centre->feed_client);
    in.epoch_known = f->epoch_known && !ret->centre.unreadable;
    in.busy_count = crm_works_busy(&f->works, a, &in.busy);
    crm_plan(a, &in, &ret->plan);
}

void follow_plan(const struct follow *f, struct arena *a, struct crm_plan *ret)
{
    struct compared c;
    compare(f, a, &c);
    *ret = c.plan;
}

static const Board__ClusterInstRecord *cluster_of(const struct compared *c, const char *uid)
{
    for (size_t i = 0; i < c->centre.cluster_count; i++) {
        if (strcmp(c->centre.clusters[i]->uid, uid) == 0) {
            return c->centre.clusters[i];
        }
    }
    return NULL;
}

static const Board__AppInstRecord *app_of(const struct compared *c, const char *uid)
{
    for (size_t i = 0; i < c->centre.app_count; i++) {
        if (strcmp(c->centre.apps[i]->uid, uid) == 0) {
            return c->centre.apps[i];
        }
    }
    return NULL;
}

/* ---- What is asked of the boards ------------------------------------------------------------- */

static Board__Term *own_term(const struct follow *f, struct arena *a)
{
    Board__Term *term = arena_message(a, &board__term__descriptor);
    leader_term(&f->life->leader, term);
    return term;
}

static struct follow_call *free_call(struct follow *f)
{
    for (size_t i = 0; i < CRM_WORKS_MAX; i++) {
        if (!f->calls[i].id) {
            return &f->calls[i];
        }
    }
    return NULL;
}

static void call(struct follow *f, struct boards *boards, int kind, const struct crm_work *w,
                 const char *path, const ProtobufCMessage *m, const struct event *ev,
                 struct effects *out)
{
    struct follow_call *c = free_call(f);
    assert(c); /* one a work, and there are no more works */
    *c = (struct follow_call){.kind = kind, .uid = mem_text(w->uid), .request = w->request};
    c->url = boards_url(boards);
    c->id = boards_call(boards, out, path, "", m, ev->now.mono_ns + FOLLOW_CALL_NS);
    assert(c->id > 0);
}

static void ask_slice(struct follow *f, const struct crm_work *w, const char *name,
                      Board__SliceMove *wanted, const struct event *ev, struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    Board__Move *m = move_new(out->arena, name, key_slice(out->arena, w->uid));
    m->term = own_term(f, out->arena);
    if (wanted) {
        m->body_case = BOARD__MOVE__BODY_SLICE;
        m->slice = wanted;
    }
    request.board_generation = f->life->feed_client.board_generation;
    request.n_moves = 1;
    request.moves = &m;
    call(f, &f->life->boards, FOLLOW_SLICE, w, "/v1/board/apply", &request.base, ev, out);
}

static void put_slice(struct follow *f, const struct crm_work *w, const char *name,
                      const struct compared *c, const struct event *ev, struct effects *out)
{
    const Board__ClusterInstRecord *record = cluster_of(c, w->uid);
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

static void ask_definition(struct follow *f, const struct crm_work *w, const struct event *ev,
                           struct effects *out)
{
    Board__Subject subject = BOARD__SUBJECT__INIT;
    subject.kind = (char *)(uintptr_t)record_type_name(RECORD_APPINST);
    subject.key = w->name;
    call(f, &f->centre->boards, FOLLOW_DEFINITION, w, "/v1/edge/definition", &subject.base, ev,
         out);
}

static void ask_removal(struct follow *f, const struct crm_work *w, const char *guid,
                        const struct event *ev, struct effects *out)
{
    Models__RemoveDesiredLRPRequest request = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(uintptr_t)guid;
    request.term = own_term(f, out->arena);
    call(f, &f->life->boards, FOLLOW_REMOVE, w, "/v1/desired_lrp/remove", &request.base, ev, out);
}

/* ---- What the centre is told ----------------------------------------------------------------- */

static Board__EdgeMove *word_of(const struct follow *f, struct arena *a, const struct crm_record *r)
{
    Board__EdgeMove *e = arena_message(a, &board__edge_move__descriptor);
    e->uid = (char *)(uintptr_t)r->uid;
    e->request = r->request;
    e->session = f->centre->session;
    e->board_generation = (char *)(uintptr_t)f->centre->feed_client.board_generation;
    return e;
}

static const char *key_of(struct arena *a, const struct crm_record *r)
{
    return key_edge(a, r->kind == CRM_CLUSTER ? RECORD_CLUSTERINST : RECORD_APPINST, r->name);
}

/* Of an app instance that is READY. */
struct watched_app {
    struct app_health health;
    bool seen; /* in this comparison */
};

static void add_report(const struct follow *f, struct arena *a, const struct crm_record *r,
                       Board__EdgeMove *e)
{
    if (r->kind == CRM_CLUSTER) {
        e->cluster_report = crm_board_cluster_report(&f->board, a, r->uid);
        e->cluster_report->health = (char *)(uintptr_t)app_health_name(APP_OK);
        return;
    }
    const struct watched_app *w = map_get(&f->healths, r->uid);
    e->instance_report = crm_board_app_report(&f->board, a, r->uid, r->digest);
    e->instance_report->health = (char *)(uintptr_t)app_health_name(w ? w->health.is : APP_UNKNOWN);
}

static Board__Move *move_of(const struct follow *f, struct arena *a, const struct crm_said *said)
{
    const struct crm_record *r = said->about->record;
    bool restored = said->say == SAY_RESTORED;
    assert(r && said->say != SAY_NOTHING && (said->say != SAY_FAIL || said->error));
    Board__Move *m = move_new(a, restored ? "report" : crm_say_name(said->say), key_of(a, r));
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = word_of(f, a, r);
    m->edge->restored = restored;
    m->edge->error = said->error ? (char *)(uintptr_t)said->error : m->edge->error;
    if (said->say == SAY_READY) {
        add_report(f, a, r, m->edge);
    }
    return m;
}

static void see_health(struct follow *f, const struct crm_record *r, int64_t now_ns)
{
    uint32_t running, wanted;
    if (r->kind != CRM_APP || !crm_board_running(&f->board, r->uid, r->digest, &running, &wanted)) {
        return;
    }
    struct watched_app *w = map_get(&f->healths, r->uid);
    if (!w) {
        w = mem_zeroed(sizeof(*w));
        map_put(&f->healths, r->uid, w);
    }
    w->seen = true;
    app_health_see(&w->health, running, wanted, now_ns);
}

static void forget_unseen(struct follow *f)
{
    MAP_EACH(&f->healths, n)
    {
        struct watched_app *w = map_value(n);
        if (!w->seen) {
            free(map_remove(&f->healths, map_key(n)));
        } else {
            w->seen = false;
        }
    }
}

/* Reports wait for their time; all else is said now. */
static size_t gather_said(struct follow *f, struct arena *a, const struct crm_said *list,
                          size_t count, int64_t now_ns, Board__Move **moves)
{
    size_t said = 0;
    for (size_t i = 0; i < count; i++) {
        const struct crm_record *r = list[i].about->record;
        if (r && list[i].say == SAY_REPORT) {
            Board__EdgeMove *e = word_of(f, a, r);
            see_health(f, r, now_ns);
            add_report(f, a, r, e);
            reports_put(&f->reports, key_of(a, r), e);
        } else if (r && said < FOLLOW_MOVES_MAX) {
            moves[said++] = move_of(f, a, &list[i]);
        }
    }
    forget_unseen(f);
    return said;
}

static bool may_say(const struct follow *f, struct arena *a, int64_t now_ns)
{
    return centre_is_ready(f->centre, a) && !f->batch_id && now_ns >= f->say_ns &&
           centre_has_shown(f->centre, f->seen_from);
}

static void say(struct follow *f, Board__Move **moves, size_t count, const struct event *ev,
                struct effects *out)
{
    struct crm_report *reports;
    f->batch_said = count;
    size_t told = reports_take(&f->reports, out->arena, ev->now.mono_ns, &reports);
    for (size_t i = 0; i < told && count < FOLLOW_MOVES_MAX; i++) {
        Board__Move *m = move_new(out->arena, "report", reports[i].key);
        m->body_case = BOARD__MOVE__BODY_EDGE;
        m->edge = (Board__EdgeMove *)(uintptr_t)reports[i].move;
        m->edge->session = f->centre->session;
        moves[count++] = m;
    }
    if (count == 0) {
        return;
    }
    assert(count <= FOLLOW_MOVES_MAX && !f->batch_id && f->centre->session);
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    request.board_generation = f->centre->feed_client.board_generation;
    request.n_moves = count;
    request.moves = moves;
    f->batch_url = boards_url(&f->centre->boards);
    f->batch_id = boards_call(&f->centre->boards, out, "/v1/board/apply", "", &request.base,
                              ev->now.mono_ns + FOLLOW_CALL_NS);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void on_batch(struct follow *f, const struct event *ev, struct effects *out)
{
    const char *why = "";
    const Board__ApplyResponse *r = (const Board__ApplyResponse *)boards_answer(
        out->arena, &ev->response, &board__apply_response__descriptor, FOLLOW_ANSWER_MAX, &why);
    bool well = r && !r->error;
    f->batch_id = 0;
    f->changed = true;
    for (size_t i = 0; well && i < r->n_results; i++) {
        const Board__MoveResult *one = r->results[i];
        bool done = one->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE;
        bool shown = done && i < f->batch_said; /* a report changes nothing that it goes by */
        f->seen_from = shown && one->revision > f->seen_from ? one->revision : f->seen_from;
        well = well && one->outcome != BOARD__MOVE_RESULT__OUTCOME__UNKNOWN && !one->error;
    }
    if (!r) {
        boards_failed(&f->centre->boards, f->batch_url);
    }
    if (well) {
        f->failures = 0;
        return;
    }
    int64_t wait_ns = FOLLOW_PAUSE_NS << (f->failures < 5 ? f->failures : 5);
    f->failures++;
    f->say_ns = ev->now.mono_ns + earlier_ns(wait_ns, FOLLOW_PAUSE_MOST_NS);
}

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
    struct compared now;
    const Board__EdgeAppRevisionRecord *r = (const Board__EdgeAppRevisionRecord *)boards_answer(
        out->arena, &ev->response, &board__edge_app_revision_record__descriptor, FOLLOW_ANSWER_MAX,
        &why);
    compare(f, out->arena, &now);
    const Board__AppInstRecord *i = app_of(&now, c->uid);
    if (!r || !r->definition || !i || !i->spec || i->request != c->request ||
        r->revision != i->spec->revision) {
        crm_works_answered(&f->works, c->uid, c->request, ANSWER_AGAIN,
                           *why ? why : "the centre has not the app's definition", ev->now.mono_ns);
        return;
    }
    Models__DesireLRPRequest request = MODELS__DESIRE_LRPREQUEST__INIT;
    const struct crm_work like = {.uid = c->uid, .request = c->request};
    request.desired_lrp = (Models__DesiredLRP *)(uintptr_t)app_lrp(out->arena, i, r->definition);
    request.term = own_term(f, out->arena);
    call(f, &f->life->boards, FOLLOW_DESIRE, &like, "/v1/desired_lrp/desire.r2", &request.base, ev,
         out);
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
    free(answered.uid);
}

static void hear(struct follow *f, const struct event *ev, struct effects *out)
{
    if (ev->kind != EVENT_RESPONSE) {
        return;
    }
    if (f->batch_id && ev->response.id == f->batch_id) {
        on_batch(f, ev, out);
        return;
    }
    for (size_t i = 0; i < CRM_WORKS_MAX; i++) {
        if (f->calls[i].id && f->calls[i].id == ev->response.id) {
            on_answer(f, &f->calls[i], ev, out);
            return;
        }
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

static void site_of(void *context, struct arena *a, const char *uid, struct crm_site *ret)
{
    crm_board_site(&((const struct follow *)context)->board, a, uid, ret);
}

static void tell_step(struct follow *f, const struct compared *c, const struct crm_wanted *w,
                      struct arena *a)
{
    for (size_t i = 0; w->step.text && i < c->plan.count; i++) {
        const struct crm_record *r = c->plan.list[i].record;
        if (r && strcmp(r->uid, w->work->uid) == 0) {
            Board__EdgeMove *e = word_of(f, a, r);
            e->step = arena_message(a, &board__edge_step__descriptor);
            e->step->step = w->step.number;
            e->step->steps = w->step.of;
            e->step->text = (char *)(uintptr_t)w->step.text;
            reports_put(&f->reports, key_of(a, r), e);
        }
    }
}

static void work(struct follow *f, const struct compared *c, const struct event *ev,
                 struct effects *out)
{
    struct crm_wanted *list;
    size_t count = crm_works_next(&f->works, out->arena, site_of, f, ev->now.mono_ns, &list);
    for (size_t i = 0; i < count; i++) {
        const struct crm_work *w = list[i].work;
        tell_step(f, c, &list[i], out->arena);
        switch (list[i].step.kind) {
        case STEP_MAKE_SLICE:
            put_slice(f, w, "make", c, ev, out);
            break;
        case STEP_RESIZE_SLICE:
            put_slice(f, w, "resize", c, ev, out);
            break;
        case STEP_DROP_SLICE:
            ask_slice(f, w, "drop", NULL, ev, out);
            break;
        case STEP_DESIRE:
            ask_definition(f, w, ev, out);
            break;
        case STEP_REMOVE:
            ask_removal(f, w, list[i].step.process_guid, ev, out);
            break;
        default:
            break;
        }
    }
}

/* Reports wait for the link, and for what is on its way. */
static int64_t due_ns(const struct follow *f)
{
    int64_t due = crm_works_due_ns(&f->works);
    if (f->centre->feed_client.current && !f->batch_id) {
        int64_t told = reports_due_ns(&f->reports);
        due = earlier_ns(due, told > f->say_ns ? told : f->say_ns);
    }
    MAP_EACH(&f->healths, n)
    {
        due =
            earlier_ns(due, app_health_due_ns(&((const struct watched_app *)map_value(n))->health));
    }
    return due;
}

/* What was not to be said yet may be said though nothing changes: the feed's position alone has
 * passed the last answer. */
static void note_changes(struct follow *f, struct arena *a, int64_t now_ns)
{
    const struct feed_client *centre = &f->centre->feed_client;
    f->changed = f->changed || centre->change_revision != f->centre_seen || now_ns >= due_ns(f) ||
                 (f->unsaid && may_say(f, a, now_ns));
    f->centre_seen = centre->change_revision;
}

/* A comparison goes by what both boards have said so far, also while the link is cut. */
static void follow_boards(struct follow *f, const struct event *ev, struct effects *out)
{
    struct compared c;
    struct crm_said *said;
    Board__Move **moves = ARENA_ARRAY(out->arena, FOLLOW_MOVES_MAX, Board__Move *);
    int64_t now_ns = ev->now.mono_ns;
    f->changed = false;
    f->compare_ns = now_ns + FOLLOW_AGAIN_NS;
    compare(f, out->arena, &c);
    f->foreign = c.plan.foreign;
    bool says = may_say(f, out->arena, now_ns);
    size_t count = crm_works_follow(&f->works, out->arena, &c.plan, now_ns, &said);
    work(f, &c, ev, out);
    count = gather_said(f, out->arena, said, count, now_ns, moves);
    if (says) {
        say(f, moves, count, ev, out);
    }
    f->unsaid = count > 0 && !says;
    f->changed = f->works.ended; /* and the next plan says more */
}

/* Nobody awaits the answers: it is done again soon. */
static void vouch(struct follow *f, const struct event *ev, struct effects *out)
{
    if (!f->centre->feed_client.current) {
        return;
    }
    if (ev->now.mono_ns >= f->vouch_ns) {
        f->vouch_ns = ev->now.mono_ns + FOLLOW_DOMAIN_NS;
        MAP_EACH(&f->board.slices, n)
        {
            Models__UpsertDomainRequest request = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
            request.domain = (char *)(uintptr_t)app_lrp_domain(out->arena, map_key(n));
            request.ttl = FOLLOW_DOMAIN_TTL_S;
            request.term = own_term(f, out->arena);
            boards_call(&f->life->boards, out, "/v1/domains/upsert", "", &request.base,
                        ev->now.mono_ns + FOLLOW_CALL_NS);
        }
    }
    effects_due(out, f->vouch_ns);
}

static void note_session(struct follow *f, struct arena *a)
{
    if (!f->life->leader.leads || !f->centre->session) {
        if (f->follows) {
            forget_works(f); /* somebody else does them, or they are found again */
            reports_reset(&f->reports);
        }
        f->follows = false;
    } else if (!f->follows && centre_is_ready(f->centre, a)) {
        f->follows = f->changed = true;
        f->unsaid = false;
        f->seen_from = 0;
    }
}

void follow_step(struct follow *f, const struct event *ev, bool epoch_known, struct effects *out)
{
    int64_t now_ns = ev->now.mono_ns;
    hear(f, ev, out);
    note_session(f, out->arena);
    f->changed = f->changed || epoch_known != f->epoch_known;
    f->epoch_known = epoch_known;
    if (!f->follows || !f->life->feed_client.current ||
        !feed_client_complete(&f->centre->feed_client)) {
        return;
    }
    vouch(f, ev, out);
    note_changes(f, out->arena, now_ns);
    if (f->changed && now_ns >= f->compare_ns) {
        follow_boards(f, ev, out);
    }
    int64_t due = f->changed ? f->compare_ns : due_ns(f);
    effects_due(out, due > now_ns ? due : f->compare_ns);
    effects_due(out, f->unsaid && f->say_ns > now_ns ? f->say_ns : NEVER_NS);
}
