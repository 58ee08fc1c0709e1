#include "test/chaos/judge/board.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

static int by_revision(const void *a, const void *b)
{
    const struct event *x = ((const struct change *)a)->event;
    const struct event *y = ((const struct change *)b)->event;
    if (x->generation != y->generation) {
        return x->generation - y->generation;
    }
    if (x->revision != y->revision) {
        return x->revision < y->revision ? -1 : 1;
    }
    int order = x->key == y->key ? 0 : strcmp(x->key, y->key);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

static int by_key(const void *a, const void *b)
{
    const struct change *x = *(const struct change *const *)a;
    const struct change *y = *(const struct change *const *)b;
    int order = x->event->key == y->event->key ? 0 : strcmp(x->event->key, y->event->key);
    return order ? order : by_revision(x, y);
}

static bool is_same(const struct change *a, const struct change *b)
{
    return a->event->generation == b->event->generation &&
           a->event->revision == b->event->revision && a->event->key == b->event->key;
}

static void merge(struct board *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (kept && is_same(&b->changes[kept - 1], &b->changes[i])) {
            b->changes[kept - 1].told |= b->changes[i].told;
        } else {
            b->changes[kept++] = b->changes[i];
        }
    }
    b->count = kept;
}

static void link_keys(struct board *b)
{
    b->keys = mem_array(b->count + 1, sizeof(*b->keys));
    for (size_t i = 0; i < b->count; i++) {
        b->keys[i] = &b->changes[i];
    }
    qsort(b->keys, b->count, sizeof(*b->keys), by_key);
    for (size_t i = 1; i < b->count; i++) {
        struct change *c = &b->changes[b->keys[i] - b->changes];
        bool follows = b->keys[i - 1]->event->key == c->event->key &&
                       b->keys[i - 1]->event->generation == c->event->generation;
        c->before = follows ? b->keys[i - 1] : NULL;
    }
}

/* Records of snapshots count as changes of the revision that made them so: those that a stream told
 * of before are known, and others were before the first stream began. */
void chaos_board_init(struct board *b, const struct history *h)
{
    *b = (struct board){.changes = mem_array(h->events_count + 1, sizeof(*b->changes))};
    for (size_t i = 0; i < h->events_count; i++) {
        const struct event *e = &h->events[i];
        if (e->what != EVENT_SNAPSHOT) {
            b->changes[b->count++] = (struct change){e, (uint64_t)1 << e->bbs, e->at, NULL};
        }
    }
    qsort(b->changes, b->count, sizeof(*b->changes), by_revision);
    merge(b);
    link_keys(b);
}

void chaos_board_done(struct board *b)
{
    free(b->changes);
    free(b->keys);
}

const struct change *chaos_board_at(const struct board *b, const char *key, int64_t at)
{
    size_t low = 0, high = b->count;
    while (low < high) { /* the first that is after the key, or later than `at` */
        size_t middle = (low + high) / 2;
        const struct change *c = b->keys[middle];
        int order = c->event->key == key ? 0 : strcmp(c->event->key, key);
        if (order < 0 || (order == 0 && c->at <= at)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct change *last = low ? b->keys[low - 1] : NULL;
    return last && last->event->key == key ? last : NULL;
}

bool event_is_instance(const struct event *e, const char *process, int index)
{
    return strcmp(e->record, "actual") == 0 && e->process == process && e->index == index;
}
