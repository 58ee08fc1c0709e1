/* How a service rolls: rows of each rule, then every small case: N + S and N - U are kept, whatever
 * comes to be available, and it ends. */
#include "converger/roll.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { OLD_MAX = 2, STEPS_MAX = 200 };

/* A revision as "1101": instances from index 0 on, 1 = available. */
struct row {
    const char *name;
    int wanted, surge, unavailable;
    const char *newest, *old[OLD_MAX];
    bool held, differs, waited;
    const char *step;
};

static const struct row rows[] = {
    {"nothing yet", 3, 1, 0, "", {0}, .step = "surge 3"},
    {"all is well", 3, 1, 0, "111", {0}, .step = ""},
    {"1: held", 3, 1, 0, "", {"111"}, .held = true, .step = ""},
    {"1: held, and to be scaled", 3, 1, 0, "1", {0}, .held = true, .step = ""},
    {"2: adjust first", 3, 1, 0, "1", {"111"}, .differs = true, .step = "adjust"},
    {"2: also of none", 0, 1, 0, "", {0}, .differs = true, .step = "adjust"},
    {"3: beside old ones", 3, 1, 0, "", {"111"}, .step = "surge 1"},
    {"3: no more than wanted", 3, 9, 0, "", {"111"}, .step = "surge 3"},
    {"3: up, none old", 5, 1, 0, "111", {0}, .step = "surge 5"},
    {"3: two old ones count", 3, 2, 0, "", {"11", "1"}, .step = "surge 2"},
    {"3: not beyond N + S", 3, 1, 0, "0", {"111"}, .step = ""},
    {"4: one is available, one goes", 3, 1, 0, "1", {"111"}, .step = "shrink old 0 to 2"},
    {"4: what is not available costs nothing", 3, 1, 0, "0", {"100"}, .step = "shrink old 0 to 1"},
    {"4: a bad one goes whole", 3, 1, 0, "11", {"1", "00"}, .step = "shrink old 1 to 0"},
    {"4: the oldest first", 3, 1, 0, "111", {"1", "1"}, .step = "shrink old 0 to 0"},
    {"4: U may be missing", 4, 0, 1, "", {"1111"}, .step = "shrink old 0 to 3"},
    {"4: U are missing already", 4, 0, 1, "0", {"111"}, .step = ""},
    {"4: all but U at once", 4, 0, 4, "", {"1111"}, .step = "shrink old 0 to 0"},
    {"4: none wanted", 0, 1, 0, "", {"111"}, .step = "shrink old 0 to 0"},
    {"4: one without instances goes too", 3, 1, 0, "111", {""}, .step = "shrink old 0 to 0"},
    {"5: a broken one below, not yet", 3, 1, 0, "1", {"011"}, .step = ""},
    {"5: and for long", 3, 1, 0, "1", {"011"}, .waited = true, .step = "shrink old 0 to 2"},
    {"5: not while a new one is not there", 3, 1, 0, "0", {"011"}, .waited = true, .step = ""},
    {"6: down", 2, 1, 0, "1111", {0}, .step = "shrink newest to 2"},
    {"6: down to none", 0, 1, 0, "11", {0}, .step = "shrink newest to 0"},
    {"6: old ones first", 1, 1, 0, "111", {"1"}, .step = "shrink old 0 to 0"},
};

static bool is_available(const void *of, int32_t index)
{
    return ((const char *)of)[index] == '1';
}

static struct roll_revision revision(const char *text)
{
    struct roll_revision r = {.is_available = is_available, .of = text};
    r.instances = (int32_t)strlen(text);
    for (const char *c = text; *c; c++) {
        r.available += *c == '1';
    }
    return r;
}

static void each_rule(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        struct roll_revision old[OLD_MAX];
        struct roll_view v = {.held = r->held,
                              .fits = !r->differs,
                              .waited = r->waited,
                              .wanted = r->wanted,
                              .surge = r->surge,
                              .unavailable = r->unavailable,
                              .newest = revision(r->newest),
                              .old = old};
        while (v.old_count < OLD_MAX && r->old[v.old_count]) {
            old[v.old_count] = revision(r->old[v.old_count]);
            v.old_count++;
        }
        struct roll_step s;
        char text[64] = "";
        roll_decide(&v, &s);
        if (s.kind == ROLL_ADJUST) {
            snprintf(text, sizeof(text), "adjust");
        } else if (s.kind == ROLL_SURGE) {
            snprintf(text, sizeof(text), "surge %d", s.instances);
        } else if (s.kind == ROLL_SHRINK && s.old == ROLL_NEWEST) {
            snprintf(text, sizeof(text), "shrink newest to %d", s.instances);
        } else if (s.kind == ROLL_SHRINK) {
            snprintf(text, sizeof(text), "shrink old %d to %d", s.old, s.instances);
        }
        if (strcmp(text, r->step) != 0) {
            fail_msg("%s: \"%s\", not \"%s\"", r->name, text, r->step);
        }
    }
}

/* ---- Every small case ------------------------------------------------------------------------ */

enum { SMALL = 4 };

/* Revisions as bits: available ones. */
struct small {
    int wanted, surge, unavailable;
    int newest, old[OLD_MAX];
    unsigned newest_up, old_up[OLD_MAX];
};

static bool bit(const void *of, int32_t index)
{
    return *(const unsigned *)of >> index & 1;
}

static int up(unsigned bits, int instances)
{
    return __builtin_popcount(bits & ((1u << instances) - 1));
}

static int available(const struct small *s)
{
    return up(s->newest_up, s->newest) + up(s->old_up[0], s->old[0]) + up(s->old_up[1], s->old[1]);
}

/* Decides; what it decided is checked and done. False: nothing. */
static bool step(struct small *s, bool waited)
{
    struct roll_revision old[OLD_MAX];
    int which[OLD_MAX];
    struct roll_view v = {
        .fits = true,
        .waited = waited,
        .wanted = s->wanted,
        .surge = s->surge,
        .unavailable = s->unavailable,
        .newest = {s->newest, up(s->newest_up, s->newest), bit, &s->newest_up},
        .old = old,
    };
    for (int i = 0; i < OLD_MAX; i++) {
        if (s->old[i] > 0) {
            which[v.old_count] = i;
            old[v.old_count++] = (struct roll_revision){s->old[i], up(s->old_up[i], s->old[i]),
                                                        bit, &s->old_up[i]};
        }
    }
    int before = available(s), floor = s->wanted - s->unavailable;
    struct roll_step r;
    roll_decide(&v, &r);
    if (r.kind == ROLL_SURGE) {
        assert_true(r.instances > s->newest && r.instances <= s->wanted);
        s->newest_up &= (1u << s->newest) - 1;
        s->newest = r.instances;
        assert_true(s->newest + s->old[0] + s->old[1] <= s->wanted + s->surge);
    } else if (r.kind == ROLL_SHRINK && r.old == ROLL_NEWEST) {
        assert_int_equal(s->old[0] + s->old[1], 0);
        assert_true(r.instances < s->newest && r.instances == s->wanted);
        s->newest = r.instances;
    } else if (r.kind == ROLL_SHRINK) {
        int *of = &s->old[which[r.old]];
        assert_true(r.instances >= 0 && r.instances < *of);
        *of = r.instances;
        int least = before < floor ? before : floor;
        int broken = s->old[0] - up(s->old_up[0], s->old[0]) + s->old[1] -
                     up(s->old_up[1], s->old[1]);
        assert_true(available(s) >= least - (waited ? broken : 0));
    }
    return r.kind != ROLL_NOTHING;
}

/* New ones come to be available; old ones stay as they are. */
static void runs_to_its_end(struct small s)
{
    int steps = 0;
    while (step(&s, false) || s.newest_up != (1u << s.newest) - 1 || step(&s, true)) {
        s.newest_up = (1u << s.newest) - 1;
        assert_true(++steps < STEPS_MAX);
    }
    assert_int_equal(s.newest, s.wanted);
    assert_int_equal(s.old[0] + s.old[1], 0);
}

/* Nobody ever comes: no step takes what runs below its bound, and that ends too. */
static void stands_still(struct small s)
{
    int steps = 0;
    s.newest_up = 0;
    while (step(&s, false)) {
        assert_true(++steps < STEPS_MAX);
    }
}

static void of_bounds(struct small s)
{
    for (s.newest = 0; s.newest <= SMALL; s.newest++) {
        for (s.old[0] = 0; s.old[0] <= SMALL; s.old[0]++) {
            for (s.old[1] = 0; s.old[1] <= 2; s.old[1]++) {
                for (unsigned ups = 0; ups < 1u << (s.old[0] + s.old[1] + s.newest); ups++) {
                    s.old_up[0] = ups & ((1u << s.old[0]) - 1);
                    s.old_up[1] = ups >> s.old[0] & ((1u << s.old[1]) - 1);
                    s.newest_up = ups >> (s.old[0] + s.old[1]);
                    runs_to_its_end(s);
                    stands_still(s);
                }
            }
        }
    }
}

static void every_small_case(void **state)
{
    struct small s = {0};
    for (s.wanted = 0; s.wanted <= SMALL; s.wanted++) {
        for (s.surge = 0; s.surge <= 3; s.surge++) {
            for (s.unavailable = s.surge == 0; s.unavailable <= SMALL; s.unavailable++) {
                of_bounds(s);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(every_small_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
