#include "bbs/board/topic_index.h"

#include "common/base/arena.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>

_Static_assert(RECORD_TYPE_COUNT <= 64, "types are a bit each");

struct followers {
    struct topic_follower *first;
};

void topic_index_init(struct topic_index *t)
{
    map_init(&t->by_topic);
    t->types = 0;
}

void topic_index_done(struct topic_index *t)
{
    assert(t->by_topic.count == 0);
    map_done(&t->by_topic, free);
}

void topic_index_add(struct topic_index *t, struct topic_follower *f, const char *topic,
                     uint64_t *end)
{
    struct followers *all = map_get(&t->by_topic, topic);
    if (!all) {
        all = mem_zeroed(sizeof(*all));
        map_put(&t->by_topic, topic, all);
    }
    *f = (struct topic_follower){.next = all->first, .at = &all->first, .topic = topic, .end = end};
    if (f->next) {
        f->next->at = &f->next;
    }
    all->first = f;
    t->types |= UINT64_C(1) << key_type(topic);
}

void topic_index_remove(struct topic_index *t, struct topic_follower *f)
{
    *f->at = f->next;
    if (f->next) {
        f->next->at = f->at;
    }
    const struct followers *all = map_get(&t->by_topic, f->topic);
    assert(all);
    if (!all->first) {
        free(map_remove(&t->by_topic, f->topic));
    }
}

static void note(const struct topic_index *t, const char *topic, uint64_t end)
{
    const struct followers *all = map_get(&t->by_topic, topic);
    for (const struct topic_follower *f = all ? all->first : NULL; f; f = f->next) {
        *f->end = end;
    }
}

void topic_index_note(const struct topic_index *t, enum record_type type, const char *key,
                      uint64_t end)
{
    if (t->by_topic.count == 0 || !(t->types & UINT64_C(1) << type)) {
        return;
    }
    SCOPED_ARENA(a);
    char *prefix = arena_strdup(&a, key);
    for (size_t i = 0; prefix[i]; i++) {
        if (prefix[i] == '/' && prefix[i + 1]) {
            char next = prefix[i + 1];
            prefix[i + 1] = 0;
            note(t, prefix, end);
            prefix[i + 1] = next;
        }
    }
    note(t, key, end);
}
