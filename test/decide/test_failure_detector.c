/* The failure detector, as rows: cells, a story told in words, and what the failure detector does
 * in it.
 *
 *   cells: "a b c1 d1": ids of one letter, with their zone
 *   -ab    these cells send no more heartbeats; +ab again; ^a with a higher incarnation
 *   2ab    these send them to the bbs 2 (else to 1); !2 this bbs stops; @2 its record is deleted;
 *          *2 it begins again
 *   10     seconds pass: ticks each 500 ms, a cell is told of by its bbs every 2 s, by the bbs 2
 * one second later s9     nobody ticks for 9 s; T a new raft term; N a new term of the failure
 * detector; R another copy ?      moves are not answered from now on; . they are keep, confirm:
 * what an operator says of the limiter
 *
 * What it does: "7.5 lose a", at so many seconds, "hold a b" and "hold" (nobody is left),
 * "release". The board does at once what the failure detector plans. */
#include "common/base/bytes.h"
#include "converger/failure_detector.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 26 };
#define HOLD_NS (60 * SECOND_NS)

struct cell {
    char id[2], zone[2];
    bool there, heartbeats, lost;
    int bbs; /* 0 or 1 */
    uint64_t incarnation;
};

struct story {
    struct liveness_report liveness_report;
    struct failure_detector failure_detector;
    struct cell cells[CELLS_MAX];
    bool bbs_heartbeats[2];
    bool deaf; /* moves are not answered */
    struct moment begin, now;
    uint64_t raft_term;
    struct arena arena;
    Board__LimiterRecord limiter; /* its cells in the arena */
    bool holds;
    struct buf did;
};

/* ---- The board ------------------------------------------------------------------------------- */

static void tell_cell(struct story *s, const struct cell *c)
{
    Board__CellRecord r = BOARD__CELL_RECORD__INIT;
    Models__CellPresence p = MODELS__CELL_PRESENCE__INIT;
    p.cell_id = (char *)(uintptr_t)c->id;
    p.zone = (char *)(uintptr_t)c->zone;
    r.presence = &p;
    r.incarnation = c->incarnation;
    r.state = c->lost ? BOARD__CELL_RECORD__STATE__LOST : BOARD__CELL_RECORD__STATE__PRESENT;
    failure_detector_cell(&s->failure_detector, c->id, &r, s->now);
}

static void tell_limiter(struct story *s)
{
    if (s->holds) {
        failure_detector_limiter(&s->failure_detector, &s->limiter,
                                 (struct sighting){.since_ns = s->now.mono_ns});
    } else {
        failure_detector_limiter_gone(&s->failure_detector);
    }
}

static void set_limiter(struct story *s, const struct verdict *g)
{
    bool fewer = s->limiter.state == BOARD__LIMITER_RECORD__STATE__RELEASED;
    if (!s->holds) {
        board__limiter_record__init(&s->limiter);
        s->limiter.until = s->now.wall_ns + HOLD_NS;
        fewer = false;
    }
    s->limiter.n_cells = g->cell_count;
    s->limiter.cells = ARENA_ARRAY(&s->arena, g->cell_count, Board__CellHeartbeat *);
    for (size_t i = 0; i < g->cell_count; i++) {
        Board__CellHeartbeat *b = s->limiter.cells[i] = ARENA_NEW(&s->arena, Board__CellHeartbeat);
        board__cell_heartbeat__init(b);
        b->cell_id = arena_strdup(&s->arena, g->cells[i]->cell_id);
        b->incarnation = g->cells[i]->incarnation;
        assert_true(!fewer || map_get(&s->failure_detector.limiter.cells,
                                      b->cell_id)); /* the table's FEWER */
    }
    s->holds = g->cell_count > 0;
    tell_limiter(s);
}

static void write_down(struct story *s, const struct verdict *g)
{
    struct arena *a = &s->arena;
    buf_append_string(&s->did, s->did.size ? ", " : "");
    buf_append_string(&s->did, arena_printf(a, "%.1f %s",
                                            (double)(s->now.mono_ns - s->begin.mono_ns) / SECOND_NS,
                                            g->move));
    buf_append_string(&s->did, *g->cell_id ? arena_printf(a, " %s", g->cell_id) : "");
    for (size_t i = 0; i < g->cell_count; i++) {
        buf_append_string(&s->did, arena_printf(a, " %s", g->cells[i]->cell_id));
    }
}

static void apply(struct story *s, const struct verdict *g)
{
    write_down(s, g);
    failure_detector_asked(&s->failure_detector, g, s->now);
    if (s->deaf) {
        return;
    }
    if (strcmp(g->move, "lose") == 0) {
        struct cell *c = &s->cells[g->cell_id[0] - 'a'];
        bool held = s->holds && s->limiter.state != BOARD__LIMITER_RECORD__STATE__RELEASED &&
                    map_get(&s->failure_detector.limiter.cells, c->id);
        assert_false(held); /* the table's NOT_HELD and SAME_INCARNATION */
        assert_int_equal(g->incarnation, c->incarnation);
        c->lost = true;
        tell_cell(s, c);
    } else if (strcmp(g->move, "hold") == 0) {
        set_limiter(s, g);
    } else {
        assert_true(s->now.wall_ns >= s->limiter.until);
        s->limiter.state = BOARD__LIMITER_RECORD__STATE__RELEASED;
        tell_limiter(s);
    }
    failure_detector_settled(&s->failure_detector, g->cell_id, 0);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void put(struct story *s, int bbs)
{
    Board__HeartbeatRecord heartbeat = BOARD__HEARTBEAT_RECORD__INIT;
    Board__CellHeartbeat list[CELLS_MAX], *cells[CELLS_MAX];
    heartbeat.cells = cells;
    heartbeat.raft_term = s->raft_term;
    for (size_t i = 0; i < CELLS_MAX; i++) {
        struct cell *c = &s->cells[i];
        if (c->there && c->heartbeats && c->bbs == bbs) {
            board__cell_heartbeat__init(&list[i]);
            list[i].cell_id = c->id;
            list[i].incarnation = c->incarnation;
            cells[heartbeat.n_cells++] = &list[i];
        }
    }
    liveness_report_heartbeat(&s->liveness_report, bbs ? "beat/2" : "beat/1", &heartbeat);
}

static void decide(struct story *s)
{
    struct verdicts p;
    SCOPED_ARENA(a);
    failure_detector_decide(&s->failure_detector, s->now, &p, &a);
    for (size_t i = 0; i < p.count; i++) {
        apply(s, &p.list[i]);
    }
}

static void advance(struct story *s, int64_t ns)
{
    s->now.mono_ns += ns;
    s->now.wall_ns += ns;
    liveness_report_tick(&s->liveness_report, s->now.mono_ns, true);
}

static void pass(struct story *s, int seconds)
{
    for (int i = 0; i < 2 * seconds; i++) {
        int64_t phase = (s->now.mono_ns - s->begin.mono_ns) % (2 * SECOND_NS);
        if (phase == 0 && s->bbs_heartbeats[0]) {
            put(s, 0);
        }
        if (phase == 1 * SECOND_NS && s->bbs_heartbeats[1]) {
            put(s, 1);
        }
        advance(s, 500 * MILLISECOND_NS);
        decide(s);
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void tell_cells(struct story *s, char what, const char *ids)
{
    for (; *ids; ids++) {
        struct cell *c = &s->cells[*ids - 'a'];
        c->bbs = what == '2' ? 1 : what == '1' ? 0 : c->bbs;
        c->heartbeats = what == '-' ? false : what == '+' || what == '^' ? true : c->heartbeats;
        if (what == '^') {
            c->incarnation++;
            c->lost = false;
            tell_cell(s, c);
        }
    }
}

static void tell_operator(struct story *s, const char *word)
{
    assert_true(s->holds);
    s->limiter.state = strcmp(word, "keep") == 0 ? BOARD__LIMITER_RECORD__STATE__KEPT
                                               : BOARD__LIMITER_RECORD__STATE__RELEASED;
    tell_limiter(s);
}

static void copy_again(struct story *s)
{
    liveness_report_reset(&s->liveness_report);
    failure_detector_reset(&s->failure_detector);
    tell_limiter(s); /* its key comes first */
    for (size_t i = 0; i < CELLS_MAX; i++) {
        if (s->cells[i].there) {
            tell_cell(s, &s->cells[i]);
        }
    }
}

static void tell(struct story *s, const char *word)
{
    if (strcmp(word, "keep") == 0 || strcmp(word, "confirm") == 0) {
        tell_operator(s, word);
    } else if (strchr("-+^", word[0]) || (strchr("12", word[0]) && word[1] >= 'a')) {
        tell_cells(s, word[0], word + 1);
    } else if (word[0] == '!' || word[0] == '*' || word[0] == '@') {
        s->bbs_heartbeats[word[1] == '2'] = word[0] == '*';
        if (word[0] == '@') {
            liveness_report_gone(&s->liveness_report, word[1] == '2' ? "beat/2" : "beat/1");
        }
    } else if (word[0] == 's') {
        advance(s, atoi(word + 1) * SECOND_NS);
        decide(s);
    } else if (word[0] == 'T') {
        s->raft_term++;
    } else if (word[0] == 'N') {
        failure_detector_forget_moves(&s->failure_detector);
        liveness_report_restart(&s->liveness_report);
    } else if (word[0] == 'R') {
        copy_again(s);
    } else if (word[0] == '?' || word[0] == '.') {
        s->deaf = word[0] == '?';
    } else {
        pass(s, atoi(word));
    }
}

static void begin(struct story *s, const char *cells)
{
    *s = (struct story){.raft_term = 4, .bbs_heartbeats = {true, true}};
    s->begin = s->now = (struct moment){.mono_ns = 1000 * SECOND_NS, .wall_ns = 5000 * SECOND_NS};
    arena_init(&s->arena);
    buf_init(&s->did);
    liveness_report_init(&s->liveness_report);
    liveness_report_tick(&s->liveness_report, s->now.mono_ns, true);
    failure_detector_init(&s->failure_detector, &SETTINGS_DEFAULT, &s->liveness_report);
    for (; *cells; cells++) {
        if (*cells >= 'a') {
            struct cell *c = &s->cells[*cells - 'a'];
            *c = (struct cell){.id = {*cells}, .there = true, .heartbeats = true, .incarnation = 1};
            c->zone[0] = cells[1] >= '0' ? cells[1] : 0;
            c->zone[0] = c->zone[0] >= 'a' ? 0 : c->zone[0];
            tell_cell(s, c);
        }
    }
}

static void end(struct story *s)
{
    failure_detector_done(&s->failure_detector);
    liveness_report_done(&s->liveness_report);
    buf_done(&s->did);
    arena_done(&s->arena);
}

static const struct row {
    const char *name, *cells, *story, *did;
} rows[] = {
    {"all send heartbeats", "abc", "60", ""},
    {"a silent cell is lost after the window", "abcdef", "10 -a 20", "14.5 lose a"},
    {"unheard since its last heartbeat, not since it died", "abcdef", "9 -a 20", "14.5 lose a"},
    {"the incarnation that is told is the one that was judged", "abcdef", "10 ^a 2 -a 20",
     "16.5 lose a"},
    {"a cell that is back with another incarnation is judged again", "abcdef",
     "10 -a 20 ^a 20 -a 20", "14.5 lose a, 54.5 lose a"},
    {"no bbs counts: nobody is lost", "abcdef", "10 -a !1 !2 60", ""},
    {"nor at once when one counts again", "abcdef", "10 -a !1 !2 60 *1 20", "75.5 lose a"},
    {"an own standstill: windows again", "abcdef", "10 -a 4 s9 20", "30.5 lose a"},
    {"a shorter one counts 1 s", "abcdef", "10 -a 3 s2 20", "16.5 lose a"},
    {"a new term of the failure detector: windows again", "abcdef", "10 -a 4 N 20", "20.5 lose a"},
    {"a new raft term: windows again", "abcdef", "10 -a 4 T 20", "20.5 lose a"},
    {"another copy: windows again", "abcdef", "10 -a 4 R 20", "20.5 lose a"},
    {"cell and bbs lost together: the window begins when the bbs counts no more", "abcdef",
     "2a 10 -a !2 30", "19.0 lose a"},
    {"the same when its record goes", "abcdef", "2a 10 -a @2 30", "16.5 lose a"},
    {"cells that go to another bbs in time are not lost", "abcdef", "2abcdef 10 !2 2 1abcdef 30",
     ""},
    {"what is on its way is not planned twice", "abcdef", "10 ? -a 60", "14.5 lose a"},
    {"a new leader plans again what was on its way", "abcdef", "10 ? -a 10 N 10",
     "14.5 lose a, 26.5 lose a"},

    {"2 of 2: fewer than 3 are no mass loss", "ab", "10 -ab 30", "14.0 lose a, 14.0 lose b"},
    {"2 of 5, more than a third: fewer than 3", "abcde", "10 -ab 30", "14.5 lose a, 14.5 lose b"},
    {"3 of 3", "abc", "10 -abc 30", "14.0 hold a b c"},
    {"3 of 6", "abcdef", "10 -abc 30", "14.0 hold a b c"},
    {"3 of 8: more than a third", "abcdefgh", "10 -abc 30", "14.0 hold a b c"},
    {"3 of 9: a third, not more", "abcdefghi", "10 -abc 30",
     "14.5 lose a, 14.5 lose b, 14.5 lose c"},
    {"4 of 12: a third", "abcdefghijkl", "10 -abcd 30",
     "14.5 lose a, 14.5 lose b, 14.5 lose c, 14.5 lose d"},
    {"5 of 14: more than a third", "abcdefghijklmn", "10 -abcde 30", "14.0 hold a b c d e"},
    {"5 of 15: a third", "abcdefghijklmno", "10 -abcde 30",
     "14.5 lose a, 14.5 lose b, 14.5 lose c, 14.5 lose d, 14.5 lose e"},
    {"a whole zone of 3, a quarter of the cells", "a1b1c1d2e2f2g3h3i3j3k3l3", "10 -abc 30",
     "14.0 hold a b c"},
    {"a whole zone of 2", "a1b1d2e2f2g3h3i3j3k3l3m3", "10 -ab 30", "14.5 lose a, 14.5 lose b"},
    {"2 of a zone of 3", "a1b1c1d2e2f2g3h3i3j3k3l3", "10 -ab 30", "14.5 lose a, 14.5 lose b"},
    {"cells without a zone are of none", "abcd1e1f1g1h1i1j1k1l1", "10 -abc 30",
     "14.5 lose a, 14.5 lose b, 14.5 lose c"},
    {"3 of 6, one after the other within one window", "abcdef", "10 -a 2 -b 2 -c 30",
     "18.0 hold a b c"},
    {"3 of 6, one after the other, slowly", "abcdef", "10 -a 10 -b 10 -c 30",
     "14.5 lose a, 24.5 lose b, 34.5 lose c"},
    {"3 of 6, told of by two bbs a second apart", "abcdef", "1abc 2def 11 -adf 30",
     "16.0 hold a d f"},
    {"a zone, told of by two bbs", "a1b1c1d2e2f2g2h2i2j2k2l2", "1ab 2c 11 -abc 30",
     "16.0 hold a b c"},
    {"5 cells were lost long ago: 3 of the 6 others", "abcdefghijk",
     "10 -a 10 -b 10 -c 10 -d 10 -e 10 -fgh 20",
     "14.5 lose a, 24.5 lose b, 34.5 lose c, 44.5 lose d, 54.5 lose e, 64.0 hold f g h"},

    {"it ends after 60 s, then they are lost", "abcdef", "10 -abc 100",
     "14.0 hold a b c, 74.0 release, 74.5 lose a, 74.5 lose b, 74.5 lose c, 75.0 hold"},
    {"kept: it does not end", "abcdef", "10 -abc 20 keep 100", "14.0 hold a b c"},
    {"kept, then confirmed", "abcdef", "10 -abc 20 keep 60 confirm 10",
     "14.0 hold a b c, 90.5 lose a, 90.5 lose b, 90.5 lose c, 91.0 hold"},
    {"confirmed", "abcdef", "10 -abc 20 confirm 10",
     "14.0 hold a b c, 30.5 lose a, 30.5 lose b, 30.5 lose c, 31.0 hold"},
    {"cells that are heard again leave it; with none left it goes", "abcdef",
     "10 -abc 20 +a 10 +bc 10", "14.0 hold a b c, 30.5 hold b c, 40.5 hold"},
    {"so do cells with another incarnation", "abcdef", "10 -abc 20 ^a 10",
     "14.0 hold a b c, 30.5 hold b c"},
    {"so do those of a kept one", "abcdef", "10 -abc 20 keep 20 +abc 10",
     "14.0 hold a b c, 50.5 hold"},
    {"who falls silent meanwhile joins it; its time stays", "abcdefghijkl", "10 -abcde 20 -f 60",
     "14.0 hold a b c d e, 34.0 hold a b c d e f, 74.0 release, 74.5 lose a, 74.5 lose b, "
     "74.5 lose c, 74.5 lose d, 74.5 lose e, 74.5 lose f, 75.0 hold"},
    {"a new failure detector, a new copy, a raft term: nobody looks as if heard", "abcdef",
     "10 -abc 20 N 10 R 10 T 70",
     "14.0 hold a b c, 74.0 release, 74.5 lose a, 74.5 lose b, 74.5 lose c, 75.0 hold"},
    {"many are lost at most 10 at a time", "abcdefghijklmnopqrstuvwxyz",
     "10 -abcdefghijklmnopqrst 20 confirm 20",
     "14.0 hold a b c d e f g h i j k l m n o p q r s t, 30.5 lose a, 30.5 lose b, "
     "30.5 lose c, 30.5 lose d, 30.5 lose e, 30.5 lose f, 30.5 lose g, 30.5 lose h, "
     "30.5 lose i, 30.5 lose j, 31.0 hold k l m n o p q r s t, 32.5 lose k, 32.5 lose l, "
     "32.5 lose m, 32.5 lose n, 32.5 lose o, 32.5 lose p, 32.5 lose q, 32.5 lose r, "
     "32.5 lose s, 32.5 lose t, 33.0 hold"},
    {"who returns while others are released is not lost", "abcdefghijklmnopqrstuvwxyz",
     "10 -abcdefghijklmnopqrst 20 confirm 1 +qrst 20",
     "14.0 hold a b c d e f g h i j k l m n o p q r s t, 30.5 lose a, 30.5 lose b, "
     "30.5 lose c, 30.5 lose d, 30.5 lose e, 30.5 lose f, 30.5 lose g, 30.5 lose h, "
     "30.5 lose i, 30.5 lose j, 31.0 hold k l m n o p q r s t, 32.5 lose k, 32.5 lose l, "
     "32.5 lose m, 32.5 lose n, 32.5 lose o, 32.5 lose p, 32.5 hold k l m n o p, 33.0 hold"},
    {"a single loss meanwhile is no mass loss", "abcdefghijklmnopqrstuvwxyz",
     "10 -abcdefghijklmnopqrst 20 -u 3 confirm 20",
     "14.0 hold a b c d e f g h i j k l m n o p q r s t, 33.5 lose a, 33.5 lose b, "
     "33.5 lose c, 33.5 lose d, 33.5 lose e, 33.5 lose f, 33.5 lose g, 33.5 lose h, "
     "33.5 lose i, 33.5 lose j, 34.0 hold k l m n o p q r s t, 34.5 lose u, 35.5 lose k, "
     "35.5 lose l, 35.5 lose m, 35.5 lose n, 35.5 lose o, 35.5 lose p, 35.5 lose q, "
     "35.5 lose r, 35.5 lose s, 35.5 lose t, 36.0 hold"},
    {"another mass loss waits until the released ones are lost", "abcdefghijklmnopqrstuvwxyz",
     "10 -abcdefghijklmnopqrst 19 -uvw 3 confirm 20",
     "14.0 hold a b c d e f g h i j k l m n o p q r s t, 32.5 lose a, 32.5 lose b, "
     "32.5 lose c, 32.5 lose d, 32.5 lose e, 32.5 lose f, 32.5 lose g, 32.5 lose h, "
     "32.5 lose i, 32.5 lose j, 33.0 hold k l m n o p q r s t, 34.5 lose k, 34.5 lose l, "
     "34.5 lose m, 34.5 lose n, 34.5 lose o, 34.5 lose p, 34.5 lose q, 34.5 lose r, "
     "34.5 lose s, 34.5 lose t, 35.0 hold, 35.5 hold u v w"},
    {"an unanswered limiter holds too: nobody of them is lost", "abcdef", "10 ? -abc 60",
     "14.0 hold a b c"},
    {"without a bbs it is not ended", "abcdef", "10 -abc 20 !1 !2 100", "14.0 hold a b c"},
};

static void each_row(void **state)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct story s;
        char words[200], *rest = words;
        begin(&s, rows[i].cells);
        snprintf(words, sizeof(words), "%s", rows[i].story);
        for (char *word; (word = strsep(&rest, " "));) {
            tell(&s, word);
        }
        if (strcmp(buf_string(&s.did), rows[i].did) != 0) {
            print_error("%s: \"%s\": \"%s\"\n  did \"%s\"\n  not \"%s\"\n", rows[i].name,
                        rows[i].cells, rows[i].story, buf_string(&s.did), rows[i].did);
            wrong++;
        }
        end(&s);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
    };
    return cmocka_run_group_tests_name("failure detector", tests, NULL, NULL);
}
