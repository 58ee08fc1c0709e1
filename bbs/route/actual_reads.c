/* Actual LRPs as they are, and as groups, the deprecated view: one for each process_guid and index
 * (behaviour.md 10.3, 10.5). Keys and states of the copy's index say which record a group shows;
 * none is decoded. */
#include "bbs/route/actual_reads.h"

#include "bbs/lrp/group.h"
#include "bbs/route/read.h"
#include "models/actual_lrp_requests.pb-c.h"

#include <string.h>

/* ---- as they are ----------------------------------------------------------------------------- */

static bool has_index(const Models__ActualLRPsRequest *r)
{
    return r->optional_index_case == MODELS__ACTUAL_LRPS_REQUEST__OPTIONAL_INDEX_INDEX;
}

/* Whether a record is of that index; for the rare list of one index over all processes. */
static bool of_index(struct blob *record, int32_t index)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    bool same = false;
    if (record_decode(&a, RECORD_ACTUAL, blob_bytes(record), &m, NULL) == 0) {
        const Models__ActualLRPKey *key = ((const Models__ActualLRP *)m)->actual_lrp_key;
        same = key && key->index == index;
    }
    return same;
}

static size_t pick_instances(struct view *v, const void *request, struct picked **ret)
{
    const Models__ActualLRPsRequest *r = request;
    struct arena *a = view_arena(v);
    if (has_index(r) && r->index < 0) {
        return 0;
    }
    Board__Selector selector = read_selector(v, RECORD_ACTUAL);
    selector.domain = r->domain;
    selector.cell_id = r->cell_id;
    if (r->process_guid[0]) {
        selector.key_prefix =
            arena_strdup(a, has_index(r) ? key_actual_index(a, r->process_guid, r->index)
                                         : key_actual_process(a, r->process_guid));
    }
    size_t count = view_pick(v, &selector, ret), kept = 0;
    bool filter = has_index(r) && !r->process_guid[0];
    for (size_t i = 0; i < count; i++) {
        if (!filter || of_index((*ret)[i].blob, r->index)) {
            (*ret)[kept++] = (*ret)[i];
        }
    }
    return kept;
}

const struct read_row read_instances = {.pick = pick_instances};

/* ---- groups ---------------------------------------------------------------------------------- */

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

static void add_groups(struct records *r, struct view *v, const struct picked *list, size_t count,
                       bool r2)
{
    (void)v;
    (void)r2;
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && same_index(&list[from], &list[to])) {
            to++;
        }
        add_group(r, &list[from], to - from);
    }
}

/* The filters come before the grouping, so a group may show only the half that is on the cell. */
static size_t pick_groups(struct view *v, const void *request, struct picked **ret)
{
    const Models__ActualLRPGroupsRequest *r = request;
    Board__Selector selector = read_selector(v, RECORD_ACTUAL);
    selector.domain = r->domain;
    selector.cell_id = r->cell_id;
    return view_pick(v, &selector, ret);
}

static size_t pick_process(struct view *v, const void *request, struct picked **ret)
{
    struct arena *a = view_arena(v);
    const char *guid = ((const Models__ActualLRPGroupsByProcessGuidRequest *)request)->process_guid;
    Board__Selector selector = read_selector(v, RECORD_ACTUAL);
    selector.key_prefix = arena_strdup(a, key_actual_process(a, guid));
    return view_pick(v, &selector, ret);
}

static void valid_process(struct validation *v, const void *request)
{
    valid_process_guid(
        v, ((const Models__ActualLRPGroupsByProcessGuidRequest *)request)->process_guid);
}

static size_t pick_index(struct view *v, const void *request, struct picked **ret)
{
    struct arena *a = view_arena(v);
    const Models__ActualLRPGroupByProcessGuidAndIndexRequest *r = request;
    Board__Selector selector = read_selector(v, RECORD_ACTUAL);
    selector.key_prefix = arena_strdup(a, key_actual_index(a, r->process_guid, r->index));
    return view_pick(v, &selector, ret);
}

static void valid_index(struct validation *v, const void *request)
{
    const Models__ActualLRPGroupByProcessGuidAndIndexRequest *r = request;
    valid_process_guid(v, r->process_guid);
    not_negative(v, r->index, "index");
}

const struct read_row read_groups = {.pick = pick_groups, .add = add_groups};
const struct read_row read_groups_of_process = {
    .valid = valid_process, .pick = pick_process, .add = add_groups};
const struct read_row read_group = {
    .valid = valid_index, .pick = pick_index, .one = true, .add = add_groups};
