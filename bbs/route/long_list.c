#include "bbs/route/long_list.h"

#include "bbs/board/copy.h"
#include "bbs/route/answer.h"
#include "bbs/route/whole_desired.h"

#include <stdlib.h>
#include <string.h>

struct long_list {
    uint64_t request_id;
    bool r2;
    struct list_place *place;
    struct records *records;
    struct arena scratch;
    size_t count;
    struct version *list[]; /* references, in the order of their keys */
};

/* What follows the type in a key of a scheduling or run part, up to the next slash: the process_guid
 * as keys hold it. */
static struct bytes guid_in(struct bytes key)
{
    const uint8_t *start = memchr(key.data, '/', key.size);
    if (!start) {
        return (struct bytes){0};
    }
    struct bytes guid = {.data = start + 1, .size = key.size - (size_t)(start + 1 - key.data)};
    const uint8_t *end = memchr(guid.data, '/', guid.size);
    guid.size = end ? (size_t)(end - guid.data) : guid.size;
    return guid;
}

static int compare(const void *guid, const void *version)
{
    const struct bytes *x = guid;
    const struct bytes y = guid_in(bytes_of(version_key(*(struct version *const *)version)));
    int order = memcmp(x->data, y.data, x->size < y.size ? x->size : y.size);
    return order ? order : x->size < y.size ? -1 : x->size > y.size;
}

/* A run part of a definition that is not the present one, or that the list is not about, is none of
 * its own. */
static void take_run(void *context, struct bytes key, struct bytes value)
{
    struct long_list *l = context;
    struct half_desired half;
    const struct bytes guid = guid_in(key);
    struct version *const *found = bsearch(&guid, l->list, l->count, sizeof(*l->list), compare);
    if (!found) {
        return;
    }
    if (half_desired_read(&l->scratch, &l->scratch, (*found)->blob, &half)) {
        if (bytes_equal(bytes_of(half.run_key), key)) {
            struct blob *run = blob_new(value.data, value.size);
            whole_desired_add(l->records, &half, run, l->r2);
            blob_unref(run);
        }
        half_desired_done(&half);
    }
    arena_reset(&l->scratch);
}

static bool enough(void *context)
{
    const struct long_list *l = context;
    return list_place_void(l->place);
}

static void walked(void *context, const char *text, struct effects *out)
{
    struct long_list *l = context;
    if (text || list_place_void(l->place)) {
        answer_unavailable(out, l->request_id);
        records_free(l->records);
        list_place_free(l->place);
    } else {
        records_hold(l->records, l->place);
        records_answer(l->records, l->request_id, out);
    }
    for (size_t i = 0; i < l->count; i++) {
        version_unref(l->list[i]);
    }
    arena_done(&l->scratch);
    free(l);
}

void long_list_start(struct bbs *b, uint64_t request_id, bool r2, struct list_place *place,
                     const struct picked *list, size_t count, int64_t revision,
                     struct effects *out)
{
    struct long_list *l = calloc(1, sizeof(*l) + count * sizeof(l->list[0]));
    if (!l) {
        abort();
    }
    l->request_id = request_id;
    l->r2 = r2;
    l->place = place;
    l->records = records_new(count);
    l->count = count;
    for (size_t i = 0; i < count; i++) {
        l->list[i] = version_ref(list[i].version);
    }
    arena_init(&l->scratch);
    const struct board_walker walker = {
        .context = l, .record = take_run, .enough = enough, .done = walked};
    board_walk(b->board, "run/", revision, &walker, out);
}
