/* Whole DesiredLRPs: lists and single ones (behaviour.md 8.5); infos.c has the partial ones. */
#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/find_desired.h"
#include "bbs/route/route.h"
#include "bbs/route/whole_desired.h"

/* ---- lists ----------------------------------------------------------------------------------- */

static void list_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    const Models__DesiredLRPsRequest *r = (const Models__DesiredLRPsRequest *)ask->in.request;
    struct picked *list;
    size_t count = find_desired(v, r, r->domain, &list);
    struct records *records = records_new(count);
    struct arena scratch;
    arena_init(&scratch);
    for (size_t i = 0; i < count; i++) {
        whole_desired_add(records, v, &scratch, &list[i], r2);
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    records_answer(records, ask->request_id, out);
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

/* ---- one ------------------------------------------------------------------------------------- */

/* One that stands there and cannot be read whole is not "not found". */
static void answer_one(const struct ask *ask, struct view *v, const struct picked *found, bool r2,
                       struct effects *out)
{
    struct records *records = records_new(1);
    whole_desired_add(records, v, view_arena(v), found, r2);
    if (records_count(records) > 0) {
        records_answer(records, ask->request_id, out);
    } else {
        records_free(records);
        answer_unavailable(out, ask->request_id);
    }
}

static void get_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    const char *guid =
        ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid;
    struct picked found;
    if (!v) {
        answer_unavailable(out, ask->request_id);
    } else if (view_pick_one(v, key_desired(view_arena(v), guid), &found)) {
        answer_one(ask, v, &found, r2, out);
    } else {
        answer_error(out, ask->request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                     error_text(MODELS__ERROR__TYPE__ResourceNotFound));
    }
}

static void get_r2_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    get_read(context, v, true, out);
}

static void get_r3_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    get_read(context, v, false, out);
}

static void get(struct ask *ask, board_read *read, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_process_guid(
        &v, ((const Models__DesiredLRPByProcessGuidRequest *)ask->in.request)->process_guid);
    if (ask_valid(ask, &v, out)) {
        ask_read(ask, read, out);
    }
}

void route_get_desired_r2(struct ask *ask, struct effects *out)
{
    get(ask, get_r2_read, out);
}

void route_get_desired(struct ask *ask, struct effects *out)
{
    get(ask, get_r3_read, out);
}
