/* The liveness report: whose silence is how long, as rows. A row is a story of one cell `c`
 * (incarnation 1) and of the bbs a and b, told in words, with the cell's silence in it:
 *
 *   A B    this bbs begins to put its heartbeat record once a second
 *   a b    it stops
 *   A+ B+  it names the cell from now on; A- B- no more; A* it names another incarnation of the
 *   cell
 *   A!     its record is deleted
 *   3      seconds pass, with a tick each 500 ms; s3 = nobody ticks meanwhile
 *   l6     six seconds pass with ticks 1,500 ms apart
 *   T      a new raft term of etcd; t = an older one
 *   N      the owner starts all windows again; R = another copy begins; S = the cell has
 *          incarnation 2
 *   g2     the feed has a gap of two seconds
 *   =3.5   the cell's silence is 3.5 s
 *   -      no bbs counts; + one does */
#include "common/client/liveness_report.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bbs {
    bool heartbeats;
    int names; /* incarnation of the cell that it names; 0 = nobody */
};

struct story {
    struct liveness_report liveness_report;
    struct bbs bbs[2];
    int64_t now_ns;
    uint64_t raft_term;
};

static const char *const keys[] = {"beat/a", "beat/b"};

static void put(struct story *s, size_t i)
{
    Board__HeartbeatRecord heartbeat = BOARD__HEARTBEAT_RECORD__INIT;
    Board__CellHeartbeat cell = BOARD__CELL_HEARTBEAT__INIT, *cells[] = {&cell};
    char id[] = "c";
    cell.cell_id = id;
    cell.incarnation = (uint64_t)s->bbs[i].names;
    heartbeat.cells = cells;
    heartbeat.n_cells = s->bbs[i].names ? 1 : 0;
    heartbeat.raft_term = s->raft_term;
    liveness_report_tick(&s->liveness_report, s->now_ns, true);
    liveness_report_heartbeat(&s->liveness_report, keys[i], &heartbeat);
}

/* The heartbeats come at the beginning of each second. */
static void pass(struct story *s, int64_t seconds, int64_t tick_ms, bool current)
{
    int64_t end_ns = s->now_ns + seconds * SECOND_NS;
    for (; s->now_ns < end_ns; s->now_ns += tick_ms * MILLISECOND_NS) {
        for (size_t i = 0; i < 2 && current; i++) {
            if (s->bbs[i].heartbeats && (s->now_ns % SECOND_NS == 0 || tick_ms > 500)) {
                put(s, i);
            }
        }
        liveness_report_tick(&s->liveness_report, s->now_ns, current);
    }
    liveness_report_tick(&s->liveness_report, s->now_ns, current);
}

static void tell_bbs(struct story *s, size_t i, const char *word)
{
    struct bbs *b = &s->bbs[i];
    if (word[1] == '!') {
        b->heartbeats = false;
        liveness_report_gone(&s->liveness_report, keys[i]);
        return;
    }
    b->heartbeats = word[0] >= 'A' && word[0] <= 'Z';
    b->names = word[1] == '+' ? 1 : word[1] == '*' ? 7 : word[1] == '-' ? 0 : b->names;
}

static void tell(struct story *s, const char *word)
{
    int number = atoi(word + 1);
    switch (word[0]) {
    case 'A':
    case 'a':
    case 'B':
    case 'b':
        tell_bbs(s, word[0] == 'B' || word[0] == 'b', word);
        break;
    case 's':
        s->now_ns += number * SECOND_NS;
        liveness_report_tick(&s->liveness_report, s->now_ns, true);
        break;
    case 'l':
        pass(s, number, 1500, true);
        break;
    case 'T':
        s->raft_term = 9;
        break;
    case 't':
        s->raft_term = 3;
        break;
    case 'N':
        liveness_report_restart(&s->liveness_report);
        break;
    case 'R':
        liveness_report_reset(&s->liveness_report);
        break;
    case 'S':
        liveness_report_expect(&s->liveness_report, LIVENESS_REPORT_CELL, "c", 2);
        break;
    case 'g':
        pass(s, number, 500, false);
        break;
    default:
        pass(s, atoi(word), 500, true);
        break;
    }
}

static const struct row {
    const char *name, *story;
} rows[] = {
    {"who is named is not silent", "A+ 20 =1 20 =1"},
    {"who is not named any more is silent", "A+ 5 A- 1 =2 5 =7"},
    {"who was never named is silent since it was expected", "A 7 =7"},
    {"a heartbeat of another incarnation is not heard", "A+ 5 A* 5 =6"},
    {"either of two bbs is enough", "A+ B 5 A- B+ 5 =1"},

    {"no bbs: nobody is silent", "30 =0 -"},
    {"a bbs counts for 4 s after its last change", "A 1 a 2 =3 + 3 =3.5 -"},
    {"time does not count while none counts, and does again", "A 4 a 20 =6.5 - A 3 =9.5 +"},
    {"a deleted record counts no more", "A 3 A! 3 =3 -"},

    {"a long tick counts 1 s at most", "A 1 l6 =5"},
    {"an own standstill starts the window again", "A 5 =5 s3 =0 5 =5"},
    {"a standstill of 2 s does not", "A 4 s2 =5"},
    {"a standstill is not the loss of a bbs", "A+ B 5 A- 1 s9 =0 2 a 5 =2"},
    {"the owner's new term starts it again", "A 5 N =0 3 =3"},
    {"another copy starts it again, and nobody counts", "A 5 R =0 a 2 =0 - A 3 =3"},
    {"a gap of the feed starts it again", "A 5 g2 =0 3 =3"},
    {"another incarnation starts it again", "A 5 S 3 =3"},

    {"a new raft term starts it again", "A 5 T 1 =1 4 =5"},
    {"once for all bbs that tell it", "A B 5 T 1 =1 4 =5"},
    {"an older raft term does not", "A T 5 t 3 =8"},
    {"the first raft term that is heard of does not", "3 A 5 =5"},

    /* b heard the cell last, its record changes last a second before it stops: lost after 3 s. */
    {"the loss of the bbs that heard it starts it again", "A B+ 5 b 3 =0 5 =5"},
    {"so does the end of its record", "A B+ 5 3 B! =0 5 =5"},
    {"the loss of another bbs does not", "A B A+ 5 A- 3 b 5 =9"},
    {"not the loss of one that had heard it before another did", "A+ B+ 5 B- 2 b A- 5 =6"},
    {"once until it is heard again", "A B+ 5 b 3 =0 A+ 1 A- 2 =3"},
};

/* What the words "=3.5", "+" and "-" say; true if it is so. */
static bool holds(const struct story *s, const char *word)
{
    if (word[0] == '=') {
        return liveness_report_silent_ns(&s->liveness_report, LIVENESS_REPORT_CELL, "c") ==
               (int64_t)(atof(word + 1) * SECOND_NS);
    }
    return s->liveness_report.counting == (word[0] == '+');
}

/* Runs the words of a story; true if all its claims hold. */
static bool run(const struct row *row)
{
    bool well = true;
    struct story s = {.now_ns = 1000 * SECOND_NS, .raft_term = 5};
    char words[128], *rest = words;
    snprintf(words, sizeof(words), "%s", row->story);
    liveness_report_init(&s.liveness_report);
    liveness_report_tick(&s.liveness_report, s.now_ns, true);
    liveness_report_expect(&s.liveness_report, LIVENESS_REPORT_CELL, "c", 1);
    for (char *word; (word = strsep(&rest, " "));) {
        if (!strchr("=+-", word[0])) {
            tell(&s, word);
        } else if (!holds(&s, word)) {
            print_error(
                "%s: \"%s\": not %s but %.1f s, %s\n", row->name, row->story, word,
                (double)liveness_report_silent_ns(&s.liveness_report, LIVENESS_REPORT_CELL, "c") /
                    SECOND_NS,
                s.liveness_report.counting ? "+" : "-");
            well = false;
        }
    }
    liveness_report_done(&s.liveness_report);
    return well;
}

static void each_rule(void **state)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        wrong += !run(&rows[i]);
    }
    assert_int_equal(wrong, 0);
}

/* A site is heard by its session, and is nobody else of its name. */
static void sites_are_heard_by_their_session(void **state)
{
    struct liveness_report l;
    Board__HeartbeatRecord heartbeat = BOARD__HEARTBEAT_RECORD__INIT;
    Board__SiteHeartbeat site = BOARD__SITE_HEARTBEAT__INIT, *sites[] = {&site};
    char name[] = "acme/paris";
    site.cloudlet = name;
    heartbeat.sites = sites;
    heartbeat.n_sites = 1;
    liveness_report_init(&l);
    liveness_report_tick(&l, 1000 * SECOND_NS, true);
    liveness_report_expect(&l, LIVENESS_REPORT_SITE, name, 7);
    liveness_report_expect(&l, LIVENESS_REPORT_CELL, name, 7);
    for (int64_t s = 1; s <= 20; s++) {
        site.session = s <= 10 ? 7 : 6; /* then its former CRM alone */
        liveness_report_tick(&l, (1000 + s) * SECOND_NS, true);
        liveness_report_heartbeat(&l, "beat/a", &heartbeat);
    }
    assert_int_equal(liveness_report_silent_ns(&l, LIVENESS_REPORT_SITE, name), 10 * SECOND_NS);
    assert_int_equal(liveness_report_silent_ns(&l, LIVENESS_REPORT_CELL, name), 19 * SECOND_NS);
    assert_string_equal(liveness_report_longest(&l, LIVENESS_REPORT_SITE)->name, name);
    liveness_report_forget(&l, LIVENESS_REPORT_SITE, name);
    assert_null(liveness_report_longest(&l, LIVENESS_REPORT_SITE));
    assert_non_null(liveness_report_find(&l, LIVENESS_REPORT_CELL, name));
    liveness_report_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(sites_are_heard_by_their_session),
    };
    return cmocka_run_group_tests_name("client liveness report", tests, NULL, NULL);
}
