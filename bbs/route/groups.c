/* Actual LRPs as groups, the deprecated view: one for each process_guid and index (behaviour.md
 * 10.5). Keys and states of the copy's index say which record is shown; none is decoded. */
#include "bbs/route/groups.h"

#include "bbs/board/errors.h"
#include "bbs/lrp/group.h"
#include "bbs/route/answer.h"
#include "bbs/route/records.h"
#include "bbs/route/route.h"
#include "models/actual_lrp_requests.pb-c.h"

#include <string.h>

static bool same_index(const struct picked *x, const struct picked *y)
{
    size_t size = key_parent_size(x->key);
    return size == key_parent_size(y->key) && memcmp(x->key, y->key, size) == 0;
}

static const char *state_of(const struct picked *p)
{
    return p ? p->state : "";
}

/* Records of presences that a newer version may know are in no group. */
void group_choose(const struct picked *list, size_t count, const struct picked **ret_instance,
                  const struct picked **ret_evacuating)
{
    const struct picked *ordinary = NULL, *suspect = NULL;
    *ret_evacuating = NULL;
    for (size_t i = 0; i < count; i++) {
        switch (key_presence(list[i].key)) {
        case MODELS__ACTUAL_LRP__PRESENCE__EVACUATING:
            *ret_evacuating = &list[i];
            break;
        case MODELS__ACTUAL_LRP__PRESENCE__ORDINARY:
            ordinary = &list[i];
            break;
        case MODELS__ACTUAL_LRP__PRESENCE__SUSPECT:
            suspect = &list[i];
            break;
        default:
            break;
        }
    }
    *ret_instance =
        group_shows_suspect(state_of(ordinary), state_of(suspect)) ? suspect : ordinary;
}

/* Adds the group of these records of one index, if any of them is in it. */
static void add_group(struct records *r, const struct picked *list, size_t count)
{
    const struct picked *instance, *evacuating;
    group_choose(list, count, &instance, &evacuating);
    records_add_group(r, instance ? instance->blob : NULL, evacuating ? evacuating->blob : NULL);
}

/* All groups of what the selector picks; records_free() or records_answer() ends them. */
static struct records *groups(struct view *v, const Board__Selector *selector, size_t *ret_count)
{
    struct picked *list;
    size_t count = view_pick(v, selector, &list);
    struct records *r = records_new(count);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && same_index(&list[from], &list[to])) {
            to++;
        }
        add_group(r, &list[from], to - from);
    }
    *ret_count = count;
    return r;
}

static Board__Selector actual_selector(struct view *v)
{
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(view_arena(v), record_type_name(RECORD_ACTUAL));
    return selector;
}

/* The filters come before the grouping, so a group may show only the half that is on the cell. */
static void list_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const Models__ActualLRPGroupsRequest *q =
        (const Models__ActualLRPGroupsRequest *)ask->in.request;
    size_t count;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    Board__Selector selector = actual_selector(v);
    selector.domain = q->domain;
    selector.cell_id = q->cell_id;
    records_answer(groups(v, &selector, &count), ask->request_id, out);
}

void route_list_groups(struct ask *ask, struct effects *out)
{
    ask_read(ask, list_read, out);
}

static void process_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const char *guid =
        ((const Models__ActualLRPGroupsByProcessGuidRequest *)ask->in.request)->process_guid;
    size_t count;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct arena *a = view_arena(v);
    Board__Selector selector = actual_selector(v);
    selector.key_prefix = arena_strdup(a, key_actual_process(a, guid));
    records_answer(groups(v, &selector, &count), ask->request_id, out);
}

void route_list_groups_of_process(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_process_guid(
        &v, ((const Models__ActualLRPGroupsByProcessGuidRequest *)ask->in.request)->process_guid);
    if (ask_valid(ask, &v, out)) {
        ask_read(ask, process_read, out);
    }
}

static void one_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const Models__ActualLRPGroupByProcessGuidAndIndexRequest *q =
        (const Models__ActualLRPGroupByProcessGuidAndIndexRequest *)ask->in.request;
    size_t count;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    struct arena *a = view_arena(v);
    Board__Selector selector = actual_selector(v);
    selector.key_prefix = arena_strdup(a, key_actual_index(a, q->process_guid, q->index));
    struct records *r = groups(v, &selector, &count);
    if (count > 0) {
        records_answer(r, ask->request_id, out);
        return;
    }
    records_free(r);
    answer_error(out, ask->request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                 error_text(MODELS__ERROR__TYPE__ResourceNotFound));
}

void route_get_group(struct ask *ask, struct effects *out)
{
    const Models__ActualLRPGroupByProcessGuidAndIndexRequest *q =
        (const Models__ActualLRPGroupByProcessGuidAndIndexRequest *)ask->in.request;
    struct validation v;
    validation_init(&v);
    valid_process_guid(&v, q->process_guid);
    not_negative(&v, q->index, "index");
    if (ask_valid(ask, &v, out)) {
        ask_read(ask, one_read, out);
    }
}
