#include "test/conformance/store_lockstep.h"

#include "common/contract/moment.h"
#include "test/conformance/store_random.h"
#include "test/conformance/store_text.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

/* How often both watches are compared, and another one is opened somewhere in the past. */
enum { COMPARE_WATCHES_EVERY = 60 };

struct lockstep {
    struct tester *side[2];
    struct watch_log *whole[2]; /* from revision 1 on */
    struct store_random random;
    uint64_t seed;
    unsigned step;
    size_t compared; /* events of the whole watches that are compared already */
    struct arena arena;
};

static void differ(struct lockstep *l, const char *what, const char *a, const char *b)
{
    fprintf(stderr, "seed %llu step %u: %s\n%s: %s\n%s: %s\n", (unsigned long long)l->seed, l->step,
            what, l->side[0]->backend->ops->name, a, l->side[1]->backend->ops->name, b);
    fail();
}

static size_t events_of(const struct watch_log *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++) {
        count += w->list[i]->n_events;
    }
    return count;
}

/* One line an event, however they were packed into responses. */
static void text_events(const struct watch_log *w, size_t from, struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) {
        for (size_t k = 0; k < w->list[i]->n_events; k++, n++) {
            if (n >= from) {
                store_text_message(out, &w->list[i]->events[k]->base);
                buf_append_string(out, "\n");
            }
        }
    }
}

static void compare_logs(struct lockstep *l, struct watch_log *const log[2], size_t from)
{
    struct buf text[2];
    for (int i = 0; i < 2; i++) {
        buf_init(&text[i]);
        text_events(log[i], from, &text[i]);
        buf_printf(&text[i], "closed %d compacted %lld wrong %u", log[i]->closed,
                   (long long)log[i]->compact_revision, log[i]->wrong);
    }
    if (strcmp(buf_string(&text[0]), buf_string(&text[1])) != 0) {
        differ(l, "watches differ", buf_string(&text[0]), buf_string(&text[1]));
    }
    buf_done(&text[0]);
    buf_done(&text[1]);
}

/* The last revision that changed something; all of them reach the watches. */
static void drain(struct lockstep *l)
{
    for (int i = 0; i < 2; i++) {
        if (l->random.revision > 1) {
            assert_true(tester_watch_until(l->side[i], l->whole[i], l->random.revision));
        }
    }
    compare_logs(l, l->whole, l->compared);
    l->compared = events_of(l->whole[0]);
}

/* Not from the compacted revision itself: whether etcd still tells deletions of it depends on how
 * far its compaction is. */
static void compare_watch_from_the_past(struct lockstep *l)
{
    struct watch_log *log[2];
    int64_t from = 1 + (int64_t)random_below(&l->random.random, (uint64_t)l->random.revision);
    if (from == l->random.compacted) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        log[i] = tester_watch(l->side[i], from);
        if (from < l->random.compacted) {
            assert_true(tester_watch_closes(l->side[i], log[i], 60 * SECOND_NS));
        } else if (from <= l->random.revision) {
            assert_true(tester_watch_until(l->side[i], log[i], l->random.revision));
        }
    }
    compare_logs(l, log, 0);
    for (int i = 0; i < 2; i++) {
        if (!log[i]->closed) {
            tester_unwatch(l->side[i], log[i]);
        }
    }
}

static void one_step(struct lockstep *l)
{
    const struct store_answer *answer[2];
    struct buf text[2];
    struct random_call call = store_random_call(&l->random, &l->arena);
    if (call.call == STORE_COMPACT) {
        drain(l); /* or previous values would be missing, depending on the watch's delay */
    }
    for (int i = 0; i < 2; i++) {
        answer[i] = tester_ask(l->side[i], call.call, call.message);
        buf_init(&text[i]);
        store_text_message(&text[i], call.message);
        buf_append_string(&text[i], "\n  ");
        store_text_answer(&text[i], answer[i]);
    }
    if (strcmp(buf_string(&text[0]), buf_string(&text[1])) != 0) {
        differ(l, "answers differ", buf_string(&text[0]), buf_string(&text[1]));
    }
    buf_done(&text[0]);
    buf_done(&text[1]);
    int64_t revision = answer_revision(answer[0]);
    l->random.revision = revision > l->random.revision ? revision : l->random.revision;
    if (call.call == STORE_COMPACT && answer[0]->outcome == STORE_DONE) {
        l->random.compacted = ((const Etcd__CompactionRequest *)call.message)->revision;
    }
}

void store_lockstep(struct tester *a, struct tester *b, uint64_t seed, unsigned steps)
{
    struct lockstep l = {.side = {a, b}, .seed = seed, .random = {.revision = 1}};
    random_seed(&l.random.random, (uint64_t[2]){seed, seed ^ 0x6c6f636b});
    arena_init(&l.arena);
    for (int i = 0; i < 2; i++) {
        l.whole[i] = tester_watch(l.side[i], 1);
    }
    for (l.step = 0; l.step < steps; l.step++) {
        one_step(&l);
        arena_reset(&l.arena);
        if (l.step % COMPARE_WATCHES_EVERY == COMPARE_WATCHES_EVERY - 1) {
            drain(&l);
            compare_watch_from_the_past(&l);
        }
    }
    drain(&l);
    assert_int_equal(a->wrong + b->wrong, 0);
    arena_done(&l.arena);
}
