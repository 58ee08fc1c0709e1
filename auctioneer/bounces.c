#include "auctioneer/bounces.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Keys are percent-escaped, so this does not stand in one. */
#define BETWEEN "\n"

static struct bounce *bounce_new(const char *job_key, const char *cell_id)
{
    size_t key_size = strlen(job_key);
    struct bounce *e = mem_zeroed(sizeof(*e) + key_size + sizeof(BETWEEN) + strlen(cell_id));
    char *at = stpcpy(stpcpy(e->name, job_key), BETWEEN);
    e->cell_id = strcpy(at, cell_id);
    e->key_size = key_size;
    return e;
}

/* Out of both, and the caller's. */
static struct bounce *take_out(struct bounces *b, struct bounce *e)
{
    const struct bounce *removed = map_remove(&b->by_name, e->name);
    assert(removed == e);
    TAILQ_REMOVE(&b->list, e, link);
    return e;
}

void bounces_init(struct bounces *b, int64_t pause_ns)
{
    b->pause_ns = pause_ns;
    map_init(&b->by_name);
    TAILQ_INIT(&b->list);
}

void bounces_done(struct bounces *b)
{
    map_done(&b->by_name, free);
    TAILQ_INIT(&b->list);
}

void bounces_add(struct bounces *b, const char *job_key, const char *cell_id, int64_t now_ns)
{
    struct bounce *e = bounce_new(job_key, cell_id);
    struct bounce *before = map_get(&b->by_name, e->name);
    if (before) {
        free(take_out(b, before));
    } else if (b->by_name.count == BOUNCES_MAX) {
        free(take_out(b, TAILQ_FIRST(&b->list)));
    }
    e->until_ns = now_ns + b->pause_ns;
    assert(b->by_name.count < BOUNCES_MAX);
    const struct bounce *last = TAILQ_LAST(&b->list, bounce_list);
    assert(!last || last->until_ns <= e->until_ns);
    map_put(&b->by_name, e->name, e);
    TAILQ_INSERT_TAIL(&b->list, e, link);
}

bool bounces_apart(const struct bounces *b, const char *job_key, const char *cell_id)
{
    const struct bounce *e = bounces_first(b, job_key);
    while (e && strcmp(e->cell_id, cell_id) != 0) {
        e = bounces_next(b, e);
    }
    return e != NULL;
}

static const struct bounce *of_job(const struct map_node *n, const char *job_key, size_t key_size)
{
    const struct bounce *e = n ? map_value(n) : NULL;
    return e && e->key_size == key_size && memcmp(e->name, job_key, key_size) == 0 ? e : NULL;
}

const struct bounce *bounces_first(const struct bounces *b, const char *job_key)
{
    if (b->by_name.count == 0) {
        return NULL; /* as nearly always */
    }
    struct bounce *from = bounce_new(job_key, "");
    const struct bounce *first = of_job(map_from(&b->by_name, from->name), job_key, from->key_size);
    free(from);
    return first;
}

const struct bounce *bounces_next(const struct bounces *b, const struct bounce *after)
{
    return of_job(map_next(map_from(&b->by_name, after->name)), after->name, after->key_size);
}

static int older_first(const void *a, const void *b)
{
    const struct bounce *x = *(const struct bounce *const *)a,
                        *y = *(const struct bounce *const *)b;
    return (x->until_ns > y->until_ns) - (x->until_ns < y->until_ns);
}

size_t bounces_of(const struct bounces *b, struct arena *a, const char *job_key,
                  const struct bounce ***ret_list)
{
    size_t count = 0, at = 0;
    const struct bounce *first = bounces_first(b, job_key);
    for (const struct bounce *e = first; e; e = bounces_next(b, e)) {
        count++;
    }
    *ret_list = count ? ARENA_ARRAY(a, count, const struct bounce *) : NULL;
    for (const struct bounce *e = first; e; e = bounces_next(b, e)) {
        (*ret_list)[at++] = e;
    }
    assert(at == count);
    if (count > 1) {
        qsort(*ret_list, count, sizeof(const struct bounce *), older_first);
    }
    return count;
}

struct bounce *bounces_expire(struct bounces *b, int64_t now_ns)
{
    struct bounce *e = TAILQ_FIRST(&b->list);
    return e && now_ns >= e->until_ns ? take_out(b, e) : NULL;
}

int64_t bounces_due_ns(const struct bounces *b)
{
    const struct bounce *e = TAILQ_FIRST(&b->list);
    return e ? e->until_ns : NEVER_NS;
}

void bounces_forget_cell(struct bounces *b, const char *cell_id)
{
    struct bounce *e = TAILQ_FIRST(&b->list), *next;
    for (; e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (strcmp(e->cell_id, cell_id) == 0) {
            free(take_out(b, e));
        }
    }
}
