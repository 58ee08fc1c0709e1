#include "test/sim/world/queue.h"

#include "common/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

void queue_init(struct queue *q)
{
    *q = (struct queue){0};
}

void queue_done(struct queue *q)
{
    for (size_t i = 0; i < q->count; i++) {
        item_free(q->heap[i]);
    }
    free(q->heap);
    queue_init(q);
}

struct item *item_new(void (*run)(void *world, struct item *item))
{
    struct item *i = mem_zeroed(sizeof(*i));
    arena_init(&i->arena);
    i->run = run;
    return i;
}

void item_free(struct item *i)
{
    arena_done(&i->arena);
    free(i);
}

static bool before(const struct item *a, const struct item *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void swap(struct queue *q, size_t a, size_t b)
{
    struct item *i = q->heap[a];
    q->heap[a] = q->heap[b];
    q->heap[b] = i;
}

void queue_push(struct queue *q, struct item *i, int64_t at_ns)
{
    if (q->count == q->capacity) {
        q->capacity = q->capacity ? 2 * q->capacity : 64;
        q->heap = mem_resized(q->heap, q->capacity, sizeof(*q->heap));
    }
    i->at_ns = at_ns;
    i->order = q->next_order++;
    size_t at = q->count++;
    q->heap[at] = i;
    while (at > 0 && before(q->heap[at], q->heap[(at - 1) / 2])) {
        swap(q, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

struct item *queue_pop(struct queue *q, int64_t until_ns)
{
    if (q->count == 0 || q->heap[0]->at_ns > until_ns) {
        return NULL;
    }
    struct item *first = q->heap[0];
    q->heap[0] = q->heap[--q->count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < q->count && before(q->heap[child], q->heap[least])) {
                least = child;
            }
        }
        if (least == at) {
            return first;
        }
        swap(q, at, least);
        at = least;
    }
}
