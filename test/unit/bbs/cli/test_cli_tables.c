/* The tables of bbs: what each group and each command must have, and README.md's list of them.
 *   test_cli_tables print-readme    prints README.md with the list as the tables say it: make docs
 */
#include "bbs/cli/commands_io.h"
#include "common/cli/commands.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LETTERS = 100 };

static void lines_fit(const char *title, const char *details)
{
    for (const char *line = details; line && *line; line = strchr(line, '\n') + 1) {
        if (strcspn(line, "\n") > LINE_MAX_LETTERS) {
            fail_msg("%s: a line of its help is too long: %.60s...", title, line);
        }
        assert_non_null(strchr(line, '\n')); /* the last one ends, too */
    }
}

/* Of a group that a command is called after: the first row is the group alone. */
static void command_is_sound(const struct cli_group *g, const struct cli_command *c, void *a)
{
    const char *title = cli_title(a, &bbs_program, g, c);
    if ((*g->name != 0 && c == g->verbs) != (*c->name == 0)) {
        fail_msg("%s: the first row of a group, and that alone, has no name", title);
    }
    assert_non_null(g->title);
    assert_true(*c->summary && c->summary[strlen(c->summary) - 1] != '.');
    assert_true(c->arguments_max >= c->arguments_min);
    assert_int_equal(c->arguments_max > 0, *c->arguments != 0);
    assert_non_null(c->run);
    lines_fit(title, c->details);
}

static void every_row_has_what_it_needs(void **state)
{
    SCOPED_ARENA(a);
    cli_each_command(&bbs_program, command_is_sound, &a);
}

struct words {
    struct arena arena;
    const char *all[200];
    size_t count;
};

static void take_title(const struct cli_group *g, const struct cli_command *c, void *words)
{
    struct words *w = words;
    const char *title = cli_title(&w->arena, &bbs_program, g, c);
    for (size_t i = 0; i < w->count; i++) {
        assert_string_not_equal(w->all[i], title);
    }
    w->all[w->count++] = title;
}

/* Each is found by what its own help calls it, and by no other's. */
static void each_command_has_a_name_of_its_own(void **state)
{
    struct words w = {.count = 0};
    arena_init(&w.arena);
    cli_each_command(&bbs_program, take_title, &w);
    assert_true(w.count >= 18);
    for (size_t i = 0; i < w.count; i++) {
        char *argv[4] = {NULL}, *rest = arena_strdup(&w.arena, w.all[i]), *word;
        int argc = 0;
        while ((word = strsep(&rest, " ")) && argc < 3) {
            argv[argc++] = word;
        }
        struct cli_found found;
        struct err err;
        assert_int_equal(cli_find(&bbs_program, argc, argv, &found, &err), 0);
        assert_string_equal(cli_title(&w.arena, &bbs_program, found.group, found.command),
                            w.all[i]);
    }
    arena_done(&w.arena);
}

/* ---- README.md ---- */

static const char list_begin[] = "<!-- commands -->\n", list_end[] = "<!-- end of commands -->\n";

struct page {
    struct arena arena;
    struct buf *out;
};

static void list_row(const struct cli_group *g, const struct cli_command *c, void *page)
{
    struct page *p = page;
    buf_printf(p->out, "| `%s%s%s` | %s |\n", cli_title(&p->arena, &bbs_program, g, c),
               *c->arguments ? " " : "", c->arguments, c->summary);
}

static void print_readme(struct buf *out)
{
    struct page p = {.out = out};
    char *readme = page_read("README.md");
    assert_non_null(readme);
    char *from = strstr(readme, list_begin), *to = strstr(readme, list_end);
    assert_true(from && to && from < to);
    buf_append(out, readme, (size_t)(from - readme) + strlen(list_begin));
    buf_append_string(out, "| command | what it does |\n|---|---|\n");
    arena_init(&p.arena);
    cli_each_command(&bbs_program, list_row, &p);
    arena_done(&p.arena);
    buf_append(out, to, strlen(to));
    free(readme);
}

static void the_readme_lists_all_commands(void **state)
{
    SCOPED_BUF(readme);
    print_readme(&readme);
    page_equals("README.md", buf_string(&readme), "make docs");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print-readme") == 0) {
        SCOPED_BUF(readme);
        print_readme(&readme);
        fputs(buf_string(&readme), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_what_it_needs),
        cmocka_unit_test(each_command_has_a_name_of_its_own),
        cmocka_unit_test(the_readme_lists_all_commands),
    };
    return cmocka_run_group_tests_name("the tables of bbs", tests, NULL, NULL);
}
