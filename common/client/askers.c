#include "common/client/askers.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>

struct asker {
    LIST_ENTRY(asker) link;
    uint64_t id;
    asker_answered *answered;
    void *context;
};

void askers_init(struct askers *s)
{
    for (size_t i = 0; i < ASKERS_BUCKETS; i++) {
        LIST_INIT(&s->buckets[i]);
    }
}

void askers_done(struct askers *s)
{
    for (size_t i = 0; i < ASKERS_BUCKETS; i++) {
        struct asker *k;
        while ((k = LIST_FIRST(&s->buckets[i]))) {
            LIST_REMOVE(k, link);
            free(k);
        }
    }
}

static struct asker *find(const struct askers *s, uint64_t id)
{
    struct asker *k;
    LIST_FOREACH(k, &s->buckets[id % ASKERS_BUCKETS], link)
    {
        if (k->id == id) {
            return k;
        }
    }
    return NULL;
}

void askers_add(struct askers *s, uint64_t id, asker_answered *answered, void *context)
{
    assert(id != 0 && !find(s, id));
    struct asker *k = mem_zeroed(sizeof(*k));
    *k = (struct asker){.id = id, .answered = answered, .context = context};
    LIST_INSERT_HEAD(&s->buckets[id % ASKERS_BUCKETS], k, link);
}

bool askers_answer(struct askers *s, const struct response *r, struct effects *out)
{
    struct asker *k = find(s, r->id);
    if (!k) {
        return false;
    }
    struct asker copy = *k;
    LIST_REMOVE(k, link);
    free(k);
    copy.answered(copy.context, r, out);
    return true;
}
