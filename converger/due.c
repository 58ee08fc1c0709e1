#include "converger/due.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nineteen digits of time, a slash, the name. */
enum { DUE_PREFIX_BYTES = 20 };

void due_init(struct due *d)
{
    map_init(&d->by_time);
}

void due_done(struct due *d)
{
    map_done(&d->by_time, NULL);
}

static char *due_key(int64_t due_ns, const char *name)
{
    size_t size = DUE_PREFIX_BYTES + strlen(name) + 1;
    char *key = mem_zeroed(size);
    snprintf(key, size, "%019lld/%s", (long long)due_ns, name);
    return key;
}

void due_clear(struct due *d, int64_t *slot, const char *name)
{
    if (*slot != NEVER_NS) {
        char *key = due_key(*slot, name);
        void *removed = map_remove(&d->by_time, key);
        assert(removed);
        free(key);
        *slot = NEVER_NS;
    }
}

void due_set(struct due *d, int64_t *slot, int64_t due_ns, const char *name, void *thing)
{
    if (due_ns >= *slot) {
        return;
    }
    due_clear(d, slot, name);
    *slot = due_ns < 0 ? 0 : due_ns;
    assert(*slot >= 0 && *slot < NEVER_NS);
    char *key = due_key(*slot, name);
    map_put(&d->by_time, key, thing);
    free(key);
}

void *due_next(const struct due *d, int64_t *ret_ns)
{
    struct map_node *n = map_first(&d->by_time);
    *ret_ns = n ? (int64_t)strtoll(map_key(n), NULL, 10) : NEVER_NS;
    assert(*ret_ns >= 0);
    return n ? map_value(n) : NULL;
}
