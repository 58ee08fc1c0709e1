#include "test/tool/frontier.h"

#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = FRONTIER_STATES_MAX * 2 };

void frontier_init(struct frontier *f, size_t size)
{
    *f = (struct frontier){.size = size, .visited = calloc(SLOTS, sizeof(uint64_t))};
    assert_non_null(f->visited);
}

void frontier_done(struct frontier *f)
{
    free(f->stack);
    free(f->visited);
}

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return hash ? hash : 1;
}

void frontier_push(struct frontier *f, const void *state, size_t told)
{
    uint64_t hash = hash_of(state, told);
    size_t at = hash % SLOTS;
    while (f->visited[at] && f->visited[at] != hash) {
        at = (at + 1) % SLOTS;
    }
    if (f->visited[at]) {
        return;
    }
    f->visited[at] = hash;
    f->states++;
    assert_true(f->states < FRONTIER_STATES_MAX);
    if (f->depth == f->capacity) {
        f->capacity = f->capacity ? f->capacity * 2 : 1024;
        f->stack = realloc(f->stack, f->capacity * f->size);
        assert_non_null(f->stack);
    }
    memcpy(f->stack + f->depth++ * f->size, state, f->size);
}

bool frontier_pop(struct frontier *f, void *ret_state)
{
    if (f->depth == 0) {
        return false;
    }
    memcpy(ret_state, f->stack + --f->depth * f->size, f->size);
    return true;
}
