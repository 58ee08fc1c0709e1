#include "bbs/route/short_list.h"

#include "bbs/route/answer.h"
#include "bbs/route/whole_desired.h"

#include <stdlib.h>
#include <string.h>

enum { FETCHED_TOGETHER = 16 };

struct short_list {
    struct bbs *bbs;
    struct list_wait asked; /* its request lives in the arena */
    struct list_place *place;
    struct records *records;
    struct arena arena;
    int64_t revision;
    size_t bytes; /* of the run parts that it has */
    size_t count;
    size_t next; /* not yet fetched */
    struct half_desired *list;
};

static void end(struct short_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        half_desired_done(&l->list[i]);
    }
    records_free(l->records);
    list_place_free(l->place);
    arena_done(&l->arena);
    free(l);
}

static void answer(struct short_list *l, struct effects *out)
{
    records_hold(l->records, l->place);
    records_answer(l->records, l->asked.request_id, out);
    l->records = NULL;
    l->place = NULL;
    end(l);
}

static void refuse(struct short_list *l, struct effects *out)
{
    answer_unavailable(out, l->asked.request_id);
    end(l);
}

/* True if what it has is so little that it needs no place, or it has one now. */
static bool may_go_on(struct short_list *l)
{
    if (!l->place && l->bytes > LIST_HEAVY_BYTES) {
        l->place = lists_take(&l->bbs->lists, l->asked.request_id, board_now(l->bbs->board));
        return l->place != NULL;
    }
    return true;
}

static void wait_for_place(struct short_list *l, struct effects *out)
{
    if (lists_wait(&l->bbs->lists, &l->asked, board_now(l->bbs->board))) {
        end(l);
    } else {
        refuse(l, out);
    }
}

/* Both are in the order of the keys. What is not there, this version cannot read. */
static void take(struct short_list *l, const struct outside *runs, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < FETCHED_TOGETHER && l->next < l->count; i++, l->next++) {
        const struct half_desired *half = &l->list[l->next];
        if (found < count && strcmp(runs[found].key, half->run_key) == 0) {
            whole_desired_add(l->records, half, runs[found].blob, l->asked.r2);
            l->bytes += blob_bytes(runs[found].blob).size;
            found++;
        }
    }
}

static void go_on(struct short_list *l, struct effects *out);

static void fetched(void *context, const struct outside *runs, size_t count, const char *text,
                    struct effects *out)
{
    struct short_list *l = context;
    if (text || (l->place && list_place_void(l->place))) {
        refuse(l, out);
        return;
    }
    take(l, runs, count);
    go_on(l, out);
}

static void go_on(struct short_list *l, struct effects *out)
{
    if (l->next == l->count) {
        answer(l, out);
        return;
    }
    if (!may_go_on(l)) {
        wait_for_place(l, out);
        return;
    }
    struct arena *a = board_arena();
    const char **keys = ARENA_ARRAY(a, FETCHED_TOGETHER, const char *);
    size_t count = 0;
    for (size_t i = l->next; i < l->count && count < FETCHED_TOGETHER; i++) {
        keys[count++] = arena_strdup(a, l->list[i].run_key);
    }
    board_fetch(l->bbs->board, a, keys, count, l->revision, fetched, l, out);
}

void short_list_start(struct bbs *b, const struct list_wait *asked, struct list_place *place,
                      const struct picked *list, size_t count, int64_t revision,
                      struct effects *out)
{
    struct arena scratch;
    struct short_list *l = calloc(1, sizeof(*l));
    if (!l) {
        abort();
    }
    arena_init(&l->arena);
    arena_init(&scratch);
    l->bbs = b;
    l->asked = *asked;
    l->asked.request.data = arena_copy(&l->arena, asked->request.data, asked->request.size);
    l->place = place;
    l->records = records_new(count);
    l->revision = revision;
    l->list = ARENA_ARRAY(&l->arena, count, struct half_desired);
    for (size_t i = 0; i < count; i++) {
        if (half_desired_read(&l->arena, &scratch, list[i].blob, &l->list[l->count])) {
            l->count++;
        }
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    go_on(l, out);
}
