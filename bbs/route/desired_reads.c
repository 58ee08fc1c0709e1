/* Whole DesiredLRPs: lists and single ones (behaviour.md 8.5); infos.c has the partial ones. A
 * DesiredLRP is two records: the copy's scheduling parts are joined with the run parts, which are
 * fetched: a few here, by their keys, those of a long list in long_list.c. */
#include "bbs/lists.h"
#include "bbs/lrp/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/find_desired.h"
#include "bbs/route/long_list.h"
#include "bbs/route/route.h"
#include "bbs/route/whole_desired.h"
#include "common/base/map.h"

enum { GET_ATTEMPTS_MAX = 3 };

/* What is asked for: a list, or one DesiredLRP. */
struct question {
    struct bbs *bbs;
    uint64_t request_id;
    bool r2;                  /* without image layers */
    const char *process_guid; /* NULL for a list */
    unsigned attempts;        /* of a get: how often it has looked */
};

/* An answer under way: the scheduling parts, waiting for their run parts. Lives in the fetch's
 * arena. */
struct listing {
    struct question question;
    size_t count;
    struct half_desired *list;
};

static void get_again(const struct question *q, struct effects *out);

/* Without its run part an LRP was removed meanwhile: a get looks again, for another may be desired
 * under its name. A list reads all run parts at the revision of its scheduling parts, so that it is
 * the board at one instant; there none is missing but what this version cannot read. */
static void answer_listing(struct listing *l, struct map *runs, struct effects *out)
{
    struct records *records = records_new(l->count);
    size_t whole = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct blob *run = map_get(runs, l->list[i].run_key);
        if (run) {
            whole_desired_add(records, &l->list[i], run, l->question.r2);
            whole++;
        }
    }
    if (l->question.process_guid && whole == 0) {
        records_free(records);
        l->question.attempts++;
        get_again(&l->question, out);
    } else {
        records_answer(records, l->question.request_id, out);
    }
}

static void runs_fetched(void *context, const struct outside *list, size_t count, const char *text,
                         struct effects *out)
{
    struct listing *l = context;
    if (text) {
        answer_unavailable(out, l->question.request_id);
    } else {
        struct map runs;
        map_init(&runs);
        for (size_t i = 0; i < count; i++) {
            map_put(&runs, list[i].key, list[i].blob);
        }
        answer_listing(l, &runs, out);
        map_done(&runs, NULL);
    }
    for (size_t i = 0; i < l->count; i++) {
        half_desired_done(&l->list[i]);
    }
}

static struct question question_copy(struct arena *a, const struct question *q)
{
    struct question copy = *q;
    copy.process_guid = q->process_guid ? arena_strdup(a, q->process_guid) : NULL;
    return copy;
}

/* Fetches the run parts of what was found, as they stood at `revision` (0 = now), then answers. */
static void fetch_runs(const struct question *q, const struct picked *found, size_t count,
                       int64_t revision, struct effects *out)
{
    struct arena *a = board_arena(), scratch;
    struct listing *l = ARENA_NEW(a, struct listing);
    l->question = question_copy(a, q);
    l->list = ARENA_ARRAY(a, count, struct half_desired);
    const char **keys = ARENA_ARRAY(a, count, const char *);
    arena_init(&scratch);
    for (size_t i = 0; i < count; i++) {
        if (half_desired_read(a, &scratch, found[i].blob, &l->list[l->count])) {
            keys[l->count] = l->list[l->count].run_key;
            l->count++;
        }
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    board_fetch(q->bbs->board, a, keys, l->count, revision, runs_fetched, l, out);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* One that was said to be long has a place, or waits for one and is then read anew. */
static void list_waits(const struct question *q, const Models__DesiredLRPsRequest *r,
                       struct effects *out)
{
    struct buf request;
    buf_init(&request);
    buf_message(&request, &r->base);
    const struct list_wait wait = {
        .request_id = q->request_id, .r2 = q->r2, .request = buf_bytes(&request)};
    if (!lists_wait(&q->bbs->lists, &wait, board_now(q->bbs->board))) {
        answer_unavailable(out, q->request_id);
    }
    buf_done(&request);
}

/* `place` is taken over; NULL: it has none yet. */
static void list_found(const struct question *q, const Models__DesiredLRPsRequest *r,
                       struct list_place *place, struct view *v, struct effects *out)
{
    struct bbs *b = q->bbs;
    struct picked *list;
    size_t count = find_desired(v, r, r->domain, &list);
    if (count <= LIST_LONG) {
        list_place_free(place);
        fetch_runs(q, list, count, view_revision(v), out);
        return;
    }
    place = place ? place : lists_take(&b->lists, q->request_id, board_now(b->board));
    if (place) {
        long_list_start(b, q->request_id, q->r2, place, list, count, view_revision(v), out);
    } else {
        list_waits(q, r, out);
    }
}

static void list_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    const struct question q = {.bbs = ask->bbs, .request_id = ask->request_id, .r2 = r2};
    list_found(&q, (const Models__DesiredLRPsRequest *)ask->in.request, NULL, v, out);
}

static void list_r2_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    list_read(context, v, true, out);
}

static void list_r3_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    list_read(context, v, false, out);
}

void route_list_desired_r2(struct ask *ask, struct effects *out)
{
    ask_read(ask, list_r2_read, out);
}

void route_list_desired(struct ask *ask, struct effects *out)
{
    ask_read(ask, list_r3_read, out);
}

/* A list that waited, with its place: what it is about is looked up anew. */
struct waited {
    struct question question;
    const Models__DesiredLRPsRequest *request;
    struct list_place *place;
};

static void waited_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct waited *w = context;
    if (v && !list_place_void(w->place)) {
        list_found(&w->question, w->request, w->place, v, out);
    } else {
        answer_unavailable(out, w->question.request_id);
        list_place_free(w->place);
    }
}

void desired_list_begin(struct bbs *b, const struct list_wait *wait, struct list_place *place,
                        struct effects *out)
{
    struct arena *a = board_arena();
    struct waited *w = ARENA_NEW(a, struct waited);
    ProtobufCAllocator allocator = arena_protobuf(a);
    w->question = (struct question){.bbs = b, .request_id = wait->request_id, .r2 = wait->r2};
    w->request =
        models__desired_lrps_request__unpack(&allocator, wait->request.size, wait->request.data);
    w->place = place;
    board_barrier(b->board, a, waited_read, w, out);
}

/* ---- one ------------------------------------------------------------------------------------- */

static void not_found(uint64_t request_id, struct effects *out)
{
    answer_error(out, request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                 error_text(MODELS__ERROR__TYPE__ResourceNotFound));
}

static void get_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    const struct question *q = context;
    struct picked found;
    if (!v) {
        answer_unavailable(out, q->request_id);
    } else if (view_pick_one(v, key_desired(view_arena(v), q->process_guid), &found)) {
        fetch_runs(q, &found, 1, 0, out);
    } else {
        not_found(q->request_id, out);
    }
}

static void get_again(const struct question *q, struct effects *out)
{
    if (q->attempts >= GET_ATTEMPTS_MAX) { /* it was there each time: "not found" would be untrue */
        answer_unavailable(out, q->request_id);
        return;
    }
    struct arena *a = board_arena();
    struct question *again = ARENA_NEW(a, struct question);
    *again = question_copy(a, q);
    board_barrier(q->bbs->board, a, get_read, again, out);
}

static void get(struct ask *ask, bool r2, struct effects *out)
{
    const char *guid =
        ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid;
    struct validation v;
    validation_init(&v);
    valid_process_guid(&v, guid);
    if (ask_valid(ask, &v, out)) {
        get_again(&(struct question){.bbs = ask->bbs,
                                     .request_id = ask->request_id,
                                     .r2 = r2,
                                     .process_guid = guid},
                  out);
        ask_end(ask);
    }
}

void route_get_desired_r2(struct ask *ask, struct effects *out)
{
    get(ask, true, out);
}

void route_get_desired(struct ask *ask, struct effects *out)
{
    get(ask, false, out);
}
