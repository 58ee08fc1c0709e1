/* The whole matrix of every lifecycle, all states x actors x triggers x guards (design.md 3.6, 9),
 * against test/table/expected/<name>.txt, which no test run ever writes. With the arguments "print
 * NAME" it prints one instead. */
#include "common/base/bytes.h"
#include "test/table/lifecycles.h"
#include "test/tool/cmocka.h"

#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

static const enum actor ALL_ACTORS[] = {ACTOR_CLIENT,     ACTOR_BBS,       ACTOR_REP,
                                        ACTOR_AUCTIONEER, ACTOR_CONVERGER, ACTOR_OPERATOR,
                                        ACTOR_CRM,        ACTOR_SITE};
enum { ACTOR_KINDS = sizeof(ALL_ACTORS) / sizeof(ALL_ACTORS[0]) };

static uint32_t named_guards(const struct lifecycle *l, int from, enum actor actor, int trigger)
{
    uint32_t guards = 0;
    for (size_t i = 0; i < l->row_count; i++) {
        const struct lifecycle_row *r = &l->rows[i];
        if (r->from == from && (r->actors & actor) && r->trigger == trigger) {
            guards |= r->guards;
        }
    }
    return guards;
}

static void print_outcome(const struct lifecycle *l, uint32_t set, int to, struct buf *out)
{
    buf_printf(out, "    %s", to < 0 ? "refused" : l->states[to]);
    buf_append_string(out, set ? " if" : "");
    for (size_t g = 0; g < l->guard_count; g++) {
        if (set & (1u << g)) {
            buf_printf(out, " %s", l->guards[g]);
        }
    }
    buf_append_string(out, "\n");
}

static void print_cell(const struct lifecycle *l, int from, enum actor actor, int trigger,
                       struct buf *out)
{
    uint32_t named = named_guards(l, from, actor, trigger);
    uint32_t others = ((1u << l->guard_count) - 1) & ~named;
    uint32_t set = 0;
    do { /* every subset of the guards that a row names, in rising order */
        int to = lifecycle_transition(l, from, actor, trigger, set);
        assert_int_equal(to, lifecycle_transition(l, from, actor, trigger, set | others));
        print_outcome(l, set, to, out);
        set = (set - named) & named;
    } while (set);
}

static bool any_row(const struct lifecycle *l, int from, enum actor actor, int trigger)
{
    for (size_t i = 0; i < l->row_count; i++) {
        const struct lifecycle_row *r = &l->rows[i];
        if (r->from == from && (r->actors & actor) && r->trigger == trigger) {
            return true;
        }
    }
    return false;
}

/* Only few lifecycles know operators, or who acts at a site. */
static bool is_shown(const struct lifecycle *l, enum actor actor)
{
    bool shown = !(actor & (ACTOR_OPERATOR | ACTOR_CRM | ACTOR_SITE));
    for (size_t i = 0; i < l->row_count; i++) {
        shown = shown || (l->rows[i].actors & actor);
    }
    return shown;
}

/* For every state, actor and trigger, the outcome under every set of those guards that any row for
 * them names. Fails the test when a guard that no row names changes an outcome. */
static void matrix_print(const struct lifecycle *l, struct buf *out)
{
    for (int from = 0; from < (int)l->state_count; from++) {
        for (int trigger = 0; trigger < (int)l->trigger_count; trigger++) {
            for (size_t a = 0; a < ACTOR_KINDS; a++) {
                if (!is_shown(l, ALL_ACTORS[a])) {
                    continue;
                }
                buf_printf(out, "%s, %s by %s%s\n", l->states[from], l->triggers[trigger],
                           actor_name(ALL_ACTORS[a]),
                           any_row(l, from, ALL_ACTORS[a], trigger) ? "" : ": refused");
                if (any_row(l, from, ALL_ACTORS[a], trigger)) {
                    print_cell(l, from, ALL_ACTORS[a], trigger, out);
                }
            }
        }
    }
}

static void names_lead_back(const struct lifecycle *l)
{
    for (int i = 0; i < (int)l->state_count; i++) {
        assert_int_equal(lifecycle_state(l, l->states[i]), i);
    }
    for (int i = 0; i < (int)l->trigger_count; i++) {
        assert_int_equal(lifecycle_trigger(l, l->triggers[i]), i);
    }
    assert_int_equal(lifecycle_state(l, "no such state"), -1);
    assert_int_equal(lifecycle_trigger(l, "no such trigger"), -1);
    assert_string_equal(l->states[0], "none");
}

static void equals_what_is_written(void **state)
{
    const struct lifecycle *l = *state;
    names_lead_back(l);
    char path[128], command[128];
    snprintf(path, sizeof(path), "test/table/expected/%s.txt", l->name);
    snprintf(command, sizeof(command), "test_lifecycle_matrix print %s", l->name);
    SCOPED_BUF(actual);
    matrix_print(l, &actual);
    page_equals(path, buf_string(&actual), command);
}

static int print(const char *name)
{
    for (size_t i = 0; i < lifecycle_count(); i++) {
        const struct lifecycle *l = lifecycle_at(i);
        if (strcmp(l->name, name) == 0) {
            SCOPED_BUF(out);
            matrix_print(l, &out);
            fputs(buf_string(&out), stdout);
            return 0;
        }
    }
    fprintf(stderr, "test_lifecycle_matrix: no lifecycle is called %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "print") == 0) {
        return print(argv[2]);
    }
    struct CMUnitTest tests[LIFECYCLES_MAX];
    for (size_t i = 0; i < lifecycle_count(); i++) {
        const struct lifecycle *l = lifecycle_at(i);
        tests[i] = (struct CMUnitTest){.name = l->name,
                                       .test_func = equals_what_is_written,
                                       .initial_state = (void *)(uintptr_t)l};
    }
    return _cmocka_run_group_tests("lifecycles", tests, lifecycle_count(), NULL, NULL);
}
