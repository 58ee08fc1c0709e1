/* What a change costs that goes by a reader of the feed, whom it does not concern: a rep that
 * follows the relations of its units by topics (docs/units.md, The agent), beside the same said by
 * selectors, of which a request has FEED_SELECTORS_MAX at most. Processor time, in one process;
 * what matters is the ratio. */
#include "bbs/board/feed.h"
#include "common/model/keys.h"
#include "common/model/unit_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHANGES = 200000, ROUNDS = 5, RING = 4096, MEMBERS = 64, FIRST_OTHER = 100000 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Those of the reader's relations; of others nothing is told. */
static void by_topics(struct arena *a, Board__FeedRequest *r, uint32_t relations)
{
    r->topics = ARENA_ARRAY(a, relations, char *);
    for (; r->n_topics < relations; r->n_topics++) {
        r->topics[r->n_topics] = arena_strdup(a, key_relation_members(a, (uint32_t)r->n_topics));
    }
}

static void by_selectors(struct arena *a, Board__FeedRequest *r, uint32_t relations)
{
    r->selectors = ARENA_ARRAY(a, relations, Board__Selector *);
    for (; r->n_selectors < relations; r->n_selectors++) {
        Board__Selector *s = r->selectors[r->n_selectors] = ARENA_NEW(a, Board__Selector);
        board__selector__init(s);
        s->key_prefix = arena_strdup(a, key_relation_members(a, (uint32_t)r->n_selectors));
    }
}

/* Nanoseconds a change, with a reader who asks so, and without one (NULL). */
static double once(const Board__FeedRequest *request)
{
    static uint8_t record[] = {RECORD_VERSION};
    SCOPED_ARENA(a);
    struct copy *copy = copy_new();
    struct feed *feed = feed_new(RING, (size_t)64 << 20);
    feed_reset(feed, copy, "generation", 1);
    struct cursor *reader = request ? feed_reader(feed, request) : NULL;
    SCOPED_BUF(bytes);
    if (request && (!reader || cursor_fill(reader, &bytes, 1 << 20) == CURSOR_CUT)) {
        fprintf(stderr, "bench: the feed takes no such reader\n");
        exit(1);
    }
    double began = seconds();
    for (int64_t i = 0; i < CHANGES; i++) {
        struct member_name m = {.principal = "-",
                                .relation = FIRST_OTHER + (uint32_t)(i / MEMBERS),
                                .unit = {"web", (uint32_t)(i % MEMBERS)}};
        struct version *v = version_new(&a, key_relation_member(&a, &m),
                                        (struct bytes){record, sizeof(record)}, i + 2, i + 2);
        feed_change(feed, i + 2, NULL, v);
        feed_advance(feed, i + 2);
        version_unref(v);
        if (reader && i % 64 == 63) {
            buf_clear(&bytes);
            cursor_fill(reader, &bytes, 1 << 20);
        }
        if (i % RING == 0) {
            arena_reset(&a);
        }
    }
    double took = seconds() - began;
    cursor_free(reader);
    feed_free(feed);
    copy_free(copy);
    return took * 1e9 / CHANGES;
}

static double least(const Board__FeedRequest *request)
{
    double best = once(request);
    for (int i = 1; i < ROUNDS; i++) {
        double took = once(request);
        best = took < best ? took : best;
    }
    return best;
}

int main(void)
{
    static const uint32_t counts[] = {1, FEED_SELECTORS_MAX, FEED_TOPICS_MAX};
    double nobody = least(NULL), selectors = 0;
    uint32_t selected = 0;
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        Board__FeedRequest r = BOARD__FEED_REQUEST__INIT;
        if (counts[i] <= FEED_SELECTORS_MAX) {
            by_selectors(&a, &r, counts[i]);
            selectors = least(&r) - nobody;
            selected = counts[i];
            board__feed_request__init(&r);
        }
        by_topics(&a, &r, counts[i]);
        double topics = least(&r) - nobody;
        char what[64];
        snprintf(what, sizeof(what), "a change that passes a feed of %u topics", counts[i]);
        printf("%-56s %10.2f %-10s %10.2f %8.3f  ns, a feed of %u selectors\n", what, topics, "ns",
               selectors, topics / selectors, selected);
    }
    return 0;
}
