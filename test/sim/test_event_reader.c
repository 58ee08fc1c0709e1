/* The failure detector of event streams (checkers/events.h): where a client's subscription may have
 * begun, and what it may then not miss. Words that are told more than once leave that open for a
 * while. */
#include "test/sim/checkers/checkers.h"
#include "test/tool/cmocka.h"

#include <stdint.h>

enum { REVISIONS = 16 };

struct fixture {
    struct checkers k;
    struct told_revision told[REVISIONS];
    struct told_event events[REVISIONS];
    struct event_reader reader;
};

/* Each revision tells one event of one and the same thing; "" = none. etcd is at the last of them.
 */
static void lay(struct fixture *x, const char *const *texts)
{
    *x = (struct fixture){.reader = {.name = "somebody", .kind = EVENTS_GROUPS, .cell_id = ""}};
    arena_init(&x->k.history.arena);
    for (int i = 0; texts[i]; i++) {
        x->events[i] =
            (struct told_event){.text = texts[i], .subject = "web/0", .of_all_cells = true};
        x->told[i + 1] = (struct told_revision){&x->events[i], *texts[i] != '\0'};
        x->k.history.revision = i + 1;
    }
    x->k.events.revisions[EVENTS_GROUPS] = x->told;
    x->k.events.capacity = REVISIONS;
}

/* Its request arrived at one revision, and was answered at another. */
static void begins(struct fixture *x, int64_t arrived, int64_t answered)
{
    int64_t revision = x->k.history.revision;
    reader_asks(&x->k, &x->reader);
    x->k.history.revision = answered;
    reader_begins(&x->k, &x->reader, arrived);
    x->k.history.revision = revision;
}

/* NULL when it may have heard that, and all that there is; else what it missed, or "wrong". */
static const char *verdict(struct fixture *x, const char *const *heard)
{
    const char *missed = NULL;
    for (int i = 0; heard[i] && !missed; i++) {
        missed = reader_hears(&x->k, &x->reader, heard[i]) ? "wrong" : NULL;
    }
    missed = missed ? missed : reader_misses(&x->k, &x->reader);
    reader_done(&x->reader);
    arena_done(&x->k.history.arena);
    return missed;
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A retire, the end that it asked for, and the next claim. */
#define RETIRE_AND_END TEXTS("removed", "removed", "claimed")

static void begun_before_the_retire(void **state)
{
    struct fixture x;
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 0);
    assert_null(verdict(&x, TEXTS("removed", "removed", "claimed")));
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 0);
    assert_string_equal(verdict(&x, TEXTS("removed", "claimed")), "wrong");
}

/* The bbs had the retire already when it made the stream, though etcd got no further until then. */
static void begun_at_the_end_of_the_retire(void **state)
{
    struct fixture x;
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 1);
    assert_null(verdict(&x, TEXTS("removed", "claimed")));
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 1);
    assert_null(verdict(&x, TEXTS("removed", "removed", "claimed")));
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 1);
    assert_string_equal(verdict(&x, TEXTS("claimed")), "wrong");
}

/* The same words three times: the second of them may be heard first, beyond where it began. */
static void begun_before_one_more_retire(void **state)
{
    const char *const *texts = TEXTS("removed", "", "removed", "removed", "claimed", "started");
    struct fixture x;
    lay(&x, texts);
    begins(&x, 0, 2);
    assert_null(verdict(&x, TEXTS("removed", "removed", "claimed", "started")));
    lay(&x, texts);
    begins(&x, 0, 2);
    assert_null(verdict(&x, TEXTS("removed", "removed", "removed", "claimed", "started")));
    lay(&x, texts);
    begins(&x, 0, 2);
    assert_string_equal(verdict(&x, TEXTS("removed", "claimed")), "wrong");
}

static void what_comes_last_is_missed(void **state)
{
    struct fixture x;
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 1);
    assert_string_equal(verdict(&x, TEXTS("removed")), "claimed");
}

/* Its request was on its way while etcd was restored: a bbs of afterwards answers it, and what that
 * tells counts (seed 7246643). */
static void asked_before_a_restore_and_begun_after(void **state)
{
    struct fixture x;
    lay(&x, RETIRE_AND_END);
    reader_asks(&x.k, &x.reader);
    x.k.history.restores++;
    reader_begins(&x.k, &x.reader, 0);
    x.reader.begun_revision = 0;
    assert_string_equal(verdict(&x, TEXTS("removed")), "removed");
    lay(&x, RETIRE_AND_END);
    begins(&x, 0, 0);
    x.k.history.restores++; /* and never told anything of the time after */
    assert_string_equal(verdict(&x, TEXTS("removed", "removed", "claimed")), "anything");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begun_before_the_retire),
        cmocka_unit_test(begun_at_the_end_of_the_retire),
        cmocka_unit_test(begun_before_one_more_retire),
        cmocka_unit_test(what_comes_last_is_missed),
        cmocka_unit_test(asked_before_a_restore_and_begun_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
