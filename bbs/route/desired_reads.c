/* Whole DesiredLRPs: lists and single ones (behaviour.md 8.5); infos.c has the partial ones. A
 * DesiredLRP is two records: the copy's scheduling part is joined with the run part, which is fetched:
 * one here, those of lists in short_list.c and long_list.c. */
#include "bbs/lists.h"
#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/find_desired.h"
#include "bbs/route/long_list.h"
#include "bbs/route/route.h"
#include "bbs/route/short_list.h"
#include "bbs/route/whole_desired.h"

enum { GET_ATTEMPTS_MAX = 3 };

/* ---- lists ----------------------------------------------------------------------------------- */

/* `r` is what is asked for, decoded; the place is taken over, NULL: it has none yet. One that was said to
 * be long has a place, or waits for one and is then read anew. */
static void list_found(struct bbs *b, const struct list_wait *asked,
                       const Models__DesiredLRPsRequest *r, struct list_place *place,
                       struct view *v, struct effects *out)
{
    struct picked *list;
    size_t count = find_desired(v, r, r->domain, &list);
    if (count <= LIST_LONG) {
        short_list_start(b, asked, place, list, count, view_revision(v), out);
        return;
    }
    place = place ? place : lists_take(&b->lists, asked->request_id, board_now(b->board));
    if (place) {
        long_list_start(b, asked->request_id, asked->r2, place, list, count, view_revision(v), out);
    } else if (!lists_wait(&b->lists, asked, board_now(b->board))) {
        answer_unavailable(out, asked->request_id);
    }
}

static void list_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    const Models__DesiredLRPsRequest *r = (const Models__DesiredLRPsRequest *)ask->in.request;
    struct buf request;
    buf_init(&request);
    buf_message(&request, &r->base);
    const struct list_wait asked = {
        .request_id = ask->request_id, .r2 = r2, .request = buf_bytes(&request)};
    list_found(ask->bbs, &asked, r, NULL, v, out);
    buf_done(&request);
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
    struct bbs *bbs;
    struct list_wait asked;
    struct list_place *place;
};

static void waited_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct waited *w = context;
    if (!v || list_place_void(w->place)) {
        answer_unavailable(out, w->asked.request_id);
        list_place_free(w->place);
        return;
    }
    ProtobufCAllocator allocator = arena_protobuf(view_arena(v));
    list_found(w->bbs, &w->asked,
               models__desired_lrps_request__unpack(&allocator, w->asked.request.size,
                                                    w->asked.request.data),
               w->place, v, out);
}

void desired_list_begin(struct bbs *b, const struct list_wait *wait, struct list_place *place,
                        struct effects *out)
{
    struct arena *a = board_arena();
    struct waited *w = ARENA_NEW(a, struct waited);
    *w = (struct waited){.bbs = b, .asked = *wait, .place = place};
    w->asked.request.data = arena_copy(a, wait->request.data, wait->request.size);
    board_barrier(b->board, a, waited_read, w, out);
}

/* ---- one ------------------------------------------------------------------------------------- */

/* Which one is asked for; in a fetch, its scheduling part. Lives in the arena of what it waits for: the
 * barrier, or the fetch. */
struct question {
    struct bbs *bbs;
    uint64_t request_id;
    bool r2; /* without image layers */
    const char *process_guid;
    unsigned attempts; /* how often it has looked */
    struct half_desired half;
};

static struct question *question_copy(struct arena *a, const struct question *q)
{
    struct question *copy = arena_copy(a, q, sizeof(*q));
    copy->process_guid = arena_strdup(a, q->process_guid);
    copy->half = (struct half_desired){0};
    return copy;
}

static void get_again(const struct question *q, struct effects *out);

/* Without its run part it was removed meanwhile: it is looked for again, for another may be desired
 * under its name. */
static void run_fetched(void *context, const struct outside *list, size_t count, const char *text,
                        struct effects *out)
{
    struct question *q = context;
    if (text) {
        answer_unavailable(out, q->request_id);
    } else if (count == 0) {
        q->attempts++;
        get_again(q, out);
    } else {
        struct records *records = records_new(1);
        whole_desired_add(records, &q->half, list[0].blob, q->r2);
        records_answer(records, q->request_id, out);
    }
    half_desired_done(&q->half);
}

static void fetch_run(const struct question *asked, struct blob *scheduling, struct effects *out)
{
    struct arena *a = board_arena(), scratch;
    struct question *q = question_copy(a, asked);
    const char **key = ARENA_NEW(a, const char *);
    arena_init(&scratch);
    bool readable = half_desired_read(a, &scratch, scheduling, &q->half);
    arena_done(&scratch);
    *key = q->half.run_key;
    board_fetch(q->bbs->board, a, key, readable, 0, run_fetched, q, out);
}

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
        fetch_run(q, found.blob, out);
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
    board_barrier(q->bbs->board, a, get_read, question_copy(a, q), out);
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
