#include "test/chaos/judge/linear.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_WORDS = LINEAR_UNKNOWN_MAX / 64 };

/* A possibility. `used` follows it in memory: a bit for each unknown call. */
struct possible {
    struct linear_state state;
    uint64_t done; /* of the open calls, by their slot */
    uint32_t next; /* in its chain of the table + 1 */
    bool dropped;
    uint64_t used[];
};

enum { CHAINS = 4096 };

struct search {
    const struct linear_call *calls;
    linear_model model;
    size_t slots[LINEAR_OPEN_MAX]; /* the open calls; SIZE_MAX = free */
    size_t *unknown;               /* the calls of unknown outcome that have begun */
    size_t unknown_count, words;   /* words: how many hold their bits */
    char *possibles;
    size_t count, room;
    uint32_t chains[CHAINS]; /* by state and done + 1 */
    int64_t steps;
    bool full;
};

static size_t size_of(const struct search *s)
{
    return sizeof(struct possible) + s->words * sizeof(uint64_t);
}

static struct possible *at(const struct search *s, size_t i)
{
    return (struct possible *)(void *)(s->possibles + i * size_of(s));
}

static uint32_t chain_of(const struct possible *p)
{
    uint64_t h = (uint64_t)(uint32_t)p->state.kind * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)(uint32_t)p->state.value) * 0xc2b2ae3d27d4eb4fu;
    h = (h ^ p->done) * 0x165667b19e3779f9u;
    return (uint32_t)(h >> 40) % CHAINS;
}

static bool same(const struct possible *a, const struct possible *b)
{
    return a->state.kind == b->state.kind && a->state.value == b->state.value && a->done == b->done;
}

/* Every unknown call that a used, b used, too. */
static bool within(const struct possible *a, const struct possible *b, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        if (a->used[i] & ~b->used[i]) {
            return false;
        }
    }
    return true;
}

/* Keeps a possibility unless one that can do the same is there; drops those that it outdoes. */
static void keep(struct search *s, const struct possible *p)
{
    uint32_t *chain = &s->chains[chain_of(p)];
    for (uint32_t i = *chain; i; i = at(s, i - 1)->next) {
        struct possible *other = at(s, i - 1);
        if (other->dropped || !same(other, p)) {
            continue;
        }
        if (within(other, p, s->words)) {
            return;
        }
        other->dropped = within(p, other, s->words);
    }
    if (s->count == LINEAR_STATES_MAX) {
        s->full = true;
        return;
    }
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->possibles = mem_resized(s->possibles, s->room, size_of(s));
    }
    struct possible *to = at(s, s->count++);
    memcpy(to, p, size_of(s));
    to->dropped = false;
    to->next = *chain;
    *chain = (uint32_t)s->count;
}

/* Takes all possibilities out, to be kept anew. */
static char *take_all(struct search *s, size_t *ret_count)
{
    char *all = s->possibles;
    *ret_count = s->count;
    s->possibles = NULL;
    s->count = s->room = 0;
    memset(s->chains, 0, sizeof(s->chains));
    return all;
}

/* More unknown calls than bits: each possibility gets a word more. */
static void widen(struct search *s)
{
    size_t count, old = size_of(s);
    char *all = take_all(s, &count);
    s->words++;
    struct possible *wide = mem_zeroed(size_of(s));
    for (size_t i = 0; i < count; i++) {
        memcpy(wide, all + i * old, old);
        wide->used[s->words - 1] = 0;
        if (!wide->dropped) {
            keep(s, wide);
        }
    }
    free(wide);
    free(all);
}

/* Lets the call happen in a possibility, if the model allows it. */
static void try(struct search *s, struct possible *scratch, size_t from, size_t call, int slot,
                size_t unknown)
{
    struct linear_state next;
    s->steps++;
    if (!s->model(at(s, from)->state, &s->calls[call], &next)) {
        return;
    }
    memcpy(scratch, at(s, from), size_of(s));
    scratch->state = next;
    if (slot >= 0) {
        scratch->done |= (uint64_t)1 << slot;
    } else {
        scratch->used[unknown / 64] |= (uint64_t)1 << unknown % 64;
    }
    keep(s, scratch);
}

/* All that can have happened by now, in the possibilities in which the call of `slot` has not. */
static void spread(struct search *s, int slot)
{
    struct possible *scratch = mem_zeroed(size_of(s));
    for (size_t i = 0; i < s->count && !s->full; i++) {
        if (at(s, i)->dropped || at(s, i)->done >> slot & 1) {
            continue;
        }
        for (int k = 0; k < LINEAR_OPEN_MAX; k++) {
            if (s->slots[k] != SIZE_MAX && !(at(s, i)->done >> k & 1)) {
                try(s, scratch, i, s->slots[k], k, 0);
            }
        }
        for (size_t u = 0; u < s->unknown_count; u++) {
            if (!(at(s, i)->used[u / 64] >> u % 64 & 1)) {
                try(s, scratch, i, s->unknown[u], -1, u);
            }
        }
        s->full = s->full || s->steps > LINEAR_STEPS_MAX;
    }
    free(scratch);
}

/* The call of the slot has ended: only where it happened goes on. False if nowhere. */
static bool end_call(struct search *s, int slot)
{
    size_t count, size = size_of(s);
    spread(s, slot);
    char *all = take_all(s, &count);
    for (size_t i = 0; i < count; i++) {
        struct possible *p = (struct possible *)(void *)(all + i * size);
        if (!p->dropped && p->done >> slot & 1) {
            p->done &= ~((uint64_t)1 << slot);
            keep(s, p);
        }
    }
    free(all);
    s->slots[slot] = SIZE_MAX;
    return s->count > 0;
}

static bool begin_call(struct search *s, size_t call)
{
    if (s->calls[call].end == INT64_MAX) {
        if (s->unknown_count == LINEAR_UNKNOWN_MAX) {
            return false;
        }
        if (s->unknown_count == s->words * 64) {
            widen(s);
        }
        s->unknown[s->unknown_count++] = call;
        return true;
    }
    int slot = 0;
    while (slot < LINEAR_OPEN_MAX && s->slots[slot] != SIZE_MAX) {
        slot++;
    }
    if (slot == LINEAR_OPEN_MAX) {
        return false;
    }
    s->slots[slot] = call;
    return true;
}

/* The open call that ends first; -1 = none is open. */
static int first_end(const struct search *s)
{
    int first = -1;
    for (int k = 0; k < LINEAR_OPEN_MAX; k++) {
        if (s->slots[k] != SIZE_MAX &&
            (first < 0 || s->calls[s->slots[k]].end < s->calls[s->slots[first]].end)) {
            first = k;
        }
    }
    return first;
}

/* An end at the moment of a begin comes after it: then the two were at the same time. */
static enum linear_verdict walk(struct search *s, size_t count, size_t *ret_at)
{
    for (size_t next = 0;;) {
        int slot = first_end(s);
        if (next < count && (slot < 0 || s->calls[next].begin <= s->calls[s->slots[slot]].end)) {
            assert(next == 0 || s->calls[next - 1].begin <= s->calls[next].begin);
            if (!begin_call(s, next++)) {
                return LINEAR_UNDECIDED;
            }
            continue;
        }
        if (slot < 0) {
            return LINEAR_GOOD;
        }
        *ret_at = s->slots[slot];
        bool some = end_call(s, slot);
        if (s->full) {
            return LINEAR_UNDECIDED;
        }
        if (!some) {
            return LINEAR_BAD;
        }
    }
}

enum linear_verdict linear_check(const struct linear_call *calls, size_t count,
                                 struct linear_state from, linear_model model, size_t *ret_at)
{
    struct search *s = mem_zeroed(sizeof(*s));
    s->calls = calls;
    s->model = model;
    s->words = 1;
    s->unknown = mem_array(LINEAR_UNKNOWN_MAX, sizeof(*s->unknown));
    memset(s->slots, 0xff, sizeof(s->slots));
    struct possible *first = mem_zeroed(size_of(s));
    first->state = from;
    keep(s, first);
    free(first);
    size_t at_call = 0;
    enum linear_verdict verdict = walk(s, count, &at_call);
    if (verdict == LINEAR_BAD) {
        *ret_at = at_call;
    }
    free(s->possibles);
    free(s->unknown);
    free(s);
    return verdict;
}
