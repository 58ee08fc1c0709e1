/* docs/lifecycles.md is what the tables print; `make docs` writes it, this test holds it there. */
#include "common/base/bytes.h"
#include "test/table/lifecycles.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

static const enum actor actors[] = {ACTOR_CLIENT, ACTOR_BBS, ACTOR_REP, ACTOR_AUCTIONEER,
                                    ACTOR_CONVERGER, ACTOR_OPERATOR};

/* ---- The drawing ---- */

static const char *drawn(const struct lifecycle *l, int state)
{
    return state == 0 ? "[*]" : l->states[state];
}

static bool leads(const struct lifecycle *l, int from, int trigger, int to)
{
    for (size_t i = 0; i < l->row_count; i++) {
        const struct lifecycle_row *r = &l->rows[i];
        if (r->from == from && r->trigger == trigger && r->to == to) {
            return true;
        }
    }
    return false;
}

/* One arrow with all the trigger that lead this way. */
static void print_arrow(const struct lifecycle *l, int from, int to, struct buf *out)
{
    bool first = true;
    for (int trigger = 0; trigger < (int)l->trigger_count; trigger++) {
        if (!leads(l, from, trigger, to)) {
            continue;
        }
        if (first) {
            buf_printf(out, "    %s --> %s: ", drawn(l, from), drawn(l, to));
        }
        buf_printf(out, "%s%s", first ? "" : ", ", l->triggers[trigger]);
        first = false;
    }
    buf_append_string(out, first ? "" : "\n");
}

static void print_drawing(const struct lifecycle *l, struct buf *out)
{
    buf_append_string(out, "```mermaid\nstateDiagram-v2\n");
    for (int from = 0; from < (int)l->state_count; from++) {
        for (int to = 0; to < (int)l->state_count; to++) {
            if (from || to) {
                print_arrow(l, from, to, out);
            }
        }
    }
    buf_append_string(out, "```\n\n");
}

/* ---- The tables ---- */

static void print_words(const char *head, const char *const *names, const char *const *words,
                        size_t count, struct buf *out)
{
    if (!count) {
        return;
    }
    buf_printf(out, "| %s | |\n|---|---|\n", head);
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "| `%s` | %s |\n", names[i], words[i]);
    }
    buf_append_string(out, "\n");
}

static void print_move(const struct lifecycle *l, const struct lifecycle_row *r, struct buf *out)
{
    bool first = true;
    buf_append_string(out, "| ");
    for (size_t i = 0; i < sizeof(actors) / sizeof(actors[0]); i++) {
        if (r->actors & actors[i]) {
            buf_printf(out, "%s%s", first ? "" : ", ", actor_name(actors[i]));
            first = false;
        }
    }
    buf_printf(out, " | `%s` |", l->triggers[r->trigger]);
    first = true;
    for (size_t g = 0; g < l->guard_count; g++) {
        if (r->guards & (1u << g)) {
            buf_printf(out, "%s `%s`", first ? "" : " and", l->guards[g]);
            first = false;
        }
    }
    buf_printf(out, " | %s%s |\n", r->to == r->from ? "stays " : "", l->states[r->to]);
}

static void print_moves(const struct lifecycle *l, int from, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < l->row_count; i++) {
        if (l->rows[i].from != from) {
            continue;
        }
        if (first) {
            buf_printf(out, "From **%s**:", l->states[from]);
            for (const struct lifecycle_note *n = l->notes; n->words; n++) {
                buf_printf(out, "%s%s", n->from == from ? " " : "",
                           n->from == from ? n->words : "");
            }
            buf_append_string(out, "\n\n| who | brings | if | it becomes |\n|---|---|---|---|\n");
        }
        print_move(l, &l->rows[i], out);
        first = false;
    }
    buf_append_string(out, first ? "" : "\n");
}

static void print_lifecycle(const struct lifecycle *l, struct buf *out)
{
    buf_printf(out, "## %s\n\n%s\n\n", l->title, l->about);
    buf_printf(out, "The table: [common/lifecycle/%s.def](../common/lifecycle/%s.def).\n\n",
               l->name, l->name);
    print_drawing(l, out);
    print_words("state", l->states, l->state_words, l->state_count, out);
    print_words("trigger", l->triggers, l->trigger_words, l->trigger_count, out);
    print_words("guard", l->guards, l->guard_words, l->guard_count, out);
    for (int from = 0; from < (int)l->state_count; from++) {
        print_moves(l, from, out);
    }
}

static void print_page(struct buf *out)
{
    buf_append_string(
        out,
        "# Lifecycles\n\n"
        "Everything on the board, and every container, has a state. It changes to the next one "
        "only "
        "as\n"
        "a table says: from this state, by this actor, on this trigger, under these guards, "
        "to\n"
        "that state. The tables are data that the compiler reads; the names on the wire, the "
        "check\n"
        "at every change, the tests and this page are made from them (`make docs`).\n\n"
        "How to read a row: all guards named must hold, and of the rows that fit the first one\n"
        "counts. `none` is a state too, so that creation and deletion are transitions (the "
        "drawings "
        "show\n"
        "it as a dot). What no row allows is refused when it is asked from outside. *client* is\n"
        "an ordinary client ([certificates.md](certificates.md)); the other actors are our own "
        "processes.\n\n");
    for (size_t i = 0; i < lifecycle_count(); i++) {
        print_lifecycle(lifecycle_at(i), out);
    }
    out->size--; /* one newline ends it */
}

/* ---- The tests ---- */

static void page_is_what_the_tables_print(void **state)
{
    SCOPED_BUF(page);
    print_page(&page);
    page_equals("docs/lifecycles.md", buf_string(&page), "make docs");
}

static void every_table_is_on_the_page(void **state)
{
    glob_t defs;
    assert_int_equal(glob("common/lifecycle/*.def", 0, NULL, &defs), 0);
    for (size_t i = 0; i < defs.gl_pathc; i++) {
        bool found = false;
        for (size_t j = 0; j < lifecycle_count(); j++) {
            char path[200];
            snprintf(path, sizeof(path), "common/lifecycle/%s.def", lifecycle_at(j)->name);
            found = found || strcmp(path, defs.gl_pathv[i]) == 0;
        }
        if (!found) {
            fail_msg("%s has no place in docs/lifecycles.md: name it in common/model/records.def, "
                     "or in test/table/lifecycles.c",
                     defs.gl_pathv[i]);
        }
    }
    assert_int_equal(defs.gl_pathc, lifecycle_count());
    globfree(&defs);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(page);
        print_page(&page);
        fputs(buf_string(&page), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_is_what_the_tables_print),
        cmocka_unit_test(every_table_is_on_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
