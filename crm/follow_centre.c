/* What a CRM tells the centre: moves as its plan says them, and reports, each in its time. */
#include "crm/follow_parts.h"

#include "common/base/memory.h"
#include "common/model/moves.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOW_ANSWER_MAX = 4 * 1024 * 1024 };

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

/* An object that is READY. */
struct watched_object {
    struct app_health health; /* of an app instance */
    bool seen;                /* in this comparison */
    bool put;                 /* what is below was reported, or waits for its time: */
    uint64_t changed, request;
    enum app_health_state told;
};

static void add_report(const struct follow *f, struct arena *a, const struct crm_record *r,
                       Board__EdgeMove *e)
{
    if (r->kind == CRM_CLUSTER) {
        e->cluster_report = crm_board_cluster_report(&f->board, a, r->uid);
        e->cluster_report->health = (char *)(uintptr_t)app_health_name(APP_OK);
        return;
    }
    const struct watched_object *w = map_get(&f->watched, key_of(a, r));
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

static struct watched_object *watch(struct follow *f, const char *key, const struct crm_record *r,
                                    int64_t now_ns)
{
    uint32_t running, wanted;
    struct watched_object *w = map_get(&f->watched, key);
    if (!w) {
        w = mem_zeroed(sizeof(*w));
        map_put(&f->watched, key, w);
    }
    w->seen = true;
    if (r->kind == CRM_APP && crm_board_running(&f->board, r->uid, r->digest, &running, &wanted)) {
        app_health_see(&w->health, running, wanted, now_ns);
    }
    return w;
}

/* What nothing has changed of since it was put is not looked at again: a site has thousands. */
static void put_report(struct follow *f, struct arena *a, const struct crm_record *r,
                       int64_t now_ns)
{
    const char *key = key_of(a, r);
    struct watched_object *w = watch(f, key, r, now_ns);
    uint64_t changed = crm_board_changed(&f->board, r->kind, r->uid, r->digest);
    if (w->put && w->changed == changed && w->request == r->request && w->told == w->health.is) {
        return;
    }
    w->put = true;
    w->changed = changed;
    w->request = r->request;
    w->told = w->health.is;
    Board__EdgeMove *e = word_of(f, a, r);
    add_report(f, a, r, e);
    reports_put(&f->reports, key, e);
}

static void forget_unseen(struct follow *f)
{
    MAP_EACH(&f->watched, n)
    {
        struct watched_object *w = map_value(n);
        if (!w->seen) {
            free(map_remove(&f->watched, map_key(n)));
        } else {
            w->seen = false;
        }
    }
}

size_t follow_gather_said(struct follow *f, struct arena *a, const struct crm_said *list,
                          size_t count, int64_t now_ns, Board__Move **moves)
{
    size_t said = 0;
    for (size_t i = 0; i < count; i++) {
        const struct crm_record *r = list[i].about->record;
        if (r && list[i].say == SAY_REPORT) {
            put_report(f, a, r, now_ns);
        } else if (r && said < FOLLOW_MOVES_MAX) {
            moves[said++] = move_of(f, a, &list[i]);
        }
    }
    forget_unseen(f);
    return said;
}

void follow_tell_step(struct follow *f, const struct crm_plan *plan, const struct crm_wanted *w,
                      struct arena *a)
{
    for (size_t i = 0; w->step.text && i < plan->count; i++) {
        const struct crm_record *r = plan->list[i].record;
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

bool follow_may_say(const struct follow *f, struct arena *a, int64_t now_ns)
{
    return centre_is_ready(f->centre, a) && !f->batch_id && now_ns >= f->say_ns &&
           centre_has_shown(f->centre, f->seen_from);
}

static void forget_batch(struct follow *f)
{
    for (size_t i = 0; i < f->batch_count; i++) {
        free(f->batch_keys[i]);
        f->batch_keys[i] = NULL;
    }
    f->batch_count = 0;
    f->batch_id = 0;
}

/* The moves of the batch that are reports, by their places after the others. */
static size_t add_reports(struct follow *f, struct arena *a, Board__Move **moves, size_t count,
                          int64_t now_ns)
{
    struct crm_report *reports;
    size_t told = reports_take(&f->reports, a, now_ns, FOLLOW_MOVES_MAX - count, &reports);
    for (size_t i = 0; i < told; i++) {
        Board__Move *m = move_new(a, "report", reports[i].key);
        m->body_case = BOARD__MOVE__BODY_EDGE;
        m->edge = (Board__EdgeMove *)(uintptr_t)reports[i].move;
        m->edge->session = f->centre->session;
        moves[count + i] = m;
        f->batch_keys[f->batch_count++] = mem_text(reports[i].key);
    }
    return count + told;
}

void follow_say(struct follow *f, Board__Move **moves, size_t count, const struct event *ev,
                struct effects *out)
{
    assert(!f->batch_id && f->batch_count == 0);
    f->batch_said = count;
    count = add_reports(f, out->arena, moves, count, ev->now.mono_ns);
    if (count == 0) {
        return;
    }
    assert(count <= FOLLOW_MOVES_MAX && f->centre->session);
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    request.board_generation = f->centre->feed_client.board_generation;
    request.n_moves = count;
    request.moves = moves;
    f->batch_url = boards_url(&f->centre->boards);
    f->batch_id = boards_call(&f->centre->boards, out, "/v1/board/apply", "", &request.base,
                              ev->now.mono_ns + FOLLOW_CALL_NS);
}

/* The centre did not take them, or nobody knows: they are told again. */
static void retell_batch(struct follow *f)
{
    for (size_t i = 0; i < f->batch_count; i++) {
        struct watched_object *w = map_get(&f->watched, f->batch_keys[i]);
        reports_retell(&f->reports, f->batch_keys[i]);
        if (w) {
            w->put = false;
        }
    }
}

static void on_batch(struct follow *f, const struct event *ev, struct effects *out)
{
    const char *why = "";
    const Board__ApplyResponse *r = (const Board__ApplyResponse *)boards_answer(
        out->arena, &ev->response, &board__apply_response__descriptor, FOLLOW_ANSWER_MAX, &why);
    bool well = r && !r->error, known = well;
    f->changed = true;
    for (size_t i = 0; well && i < r->n_results; i++) {
        const Board__MoveResult *one = r->results[i];
        bool done = one->outcome == BOARD__MOVE_RESULT__OUTCOME__DONE;
        bool shown = done && i < f->batch_said; /* a report changes nothing that it goes by */
        f->seen_from = shown && one->revision > f->seen_from ? one->revision : f->seen_from;
        known = known && one->outcome != BOARD__MOVE_RESULT__OUTCOME__UNKNOWN;
        well = well && known && !one->error;
    }
    if (!r) {
        boards_failed(&f->centre->boards, f->batch_url);
    }
    if (!known) {
        retell_batch(f);
    }
    forget_batch(f);
    if (well) {
        f->failures = 0;
        return;
    }
    f->say_ns = ev->now.mono_ns + centre_pause_ns(f->failures++, ev->entropy[0]);
}

bool follow_hear_centre(struct follow *f, const struct event *ev, struct effects *out)
{
    bool is = ev->kind == EVENT_RESPONSE && f->batch_id && ev->response.id == f->batch_id;
    if (is) {
        on_batch(f, ev, out);
    }
    return is;
}

void follow_tell_anew(struct follow *f)
{
    reports_reset(&f->reports);
    forget_batch(f);
    MAP_EACH(&f->watched, n)
    {
        ((struct watched_object *)map_value(n))->put = false;
    }
}

/* Reports wait for the link, and for what is on its way. */
int64_t follow_telling_due_ns(const struct follow *f)
{
    int64_t due = NEVER_NS;
    if (f->centre->feed_client.current && !f->batch_id) {
        int64_t told = reports_due_ns(&f->reports);
        due = told > f->say_ns ? told : f->say_ns;
    }
    MAP_EACH(&f->watched, n)
    {
        due = earlier_ns(due,
                         app_health_due_ns(&((const struct watched_object *)map_value(n))->health));
    }
    return due;
}
