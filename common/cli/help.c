#include "common/cli/commands.h"

#include <string.h>

enum { LEFT_COLUMN = 34, HELP_COLUMN = LEFT_COLUMN + 3, LINE_MAX_LETTERS = 100 };

/* Word by word, as many as fit into a line beside the left column. */
static void wrapped(struct buf *out, const char *text)
{
    size_t column = HELP_COLUMN;
    for (const char *word = text; *word;) {
        size_t size = strcspn(word, " ");
        bool first = column == HELP_COLUMN;
        if (!first && column + 1 + size > LINE_MAX_LETTERS) {
            buf_printf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (!first) {
            buf_append_string(out, " ");
            column++;
        }
        buf_append(out, word, size);
        column += size;
        word += size;
        word += strspn(word, " ");
    }
    buf_append_string(out, "\n");
}

static void help_line(struct buf *out, const char *left, const char *help)
{
    buf_printf(out, "  %-*s ", LEFT_COLUMN, left);
    if (strlen(left) > LEFT_COLUMN) {
        buf_printf(out, "\n  %-*s ", LEFT_COLUMN, "");
    }
    wrapped(out, help);
}

/* The lines of a program's commands. */
struct help_lines {
    const struct invocation *call;
    const struct cli_group *group; /* of the line before */
    struct buf *out;
};

static void command_line(const struct cli_group *group, const struct cli_command *c, void *lines)
{
    struct help_lines *l = lines;
    struct arena *a = l->call->arena;
    if (group != l->group) {
        buf_printf(l->out, "%s%s\n", l->group ? "\n" : "", group->title);
    }
    l->group = group;
    help_line(l->out,
              arena_printf(a, "%s %s", cli_title(a, l->call->program, group, c), c->arguments),
              c->summary);
}

static void program_help(const struct invocation *call, struct buf *out)
{
    const struct cli_program *p = call->program;
    buf_printf(out, "%s: %s\n\n", p->name, p->summary);
    struct help_lines lines = {call, NULL, out};
    cli_each_command(p, command_line, &lines);
    buf_printf(out,
               "\n%s COMMAND --help says all about a command; %s --version the version.\n"
               "In bash eval \"$(%s completion)\" completes these words.\n"
               "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 unavailable,\n"
               "6 timeout, 7 partly placed, 8 denied, 130 interrupted.\n",
               p->name, p->name, p->name);
}

static void option_help(const struct invocation *call, const struct cli_option *o, struct buf *out)
{
    struct arena *a = call->arena;
    const char *letter = o->letter ? arena_printf(a, "-%c, ", o->letter) : "";
    const char *value = o->value ? arena_printf(a, " %s", o->value) : "";
    const char *fallback = o->fallback && *o->fallback ? arena_printf(a, " (%s)", o->fallback) : "";
    const char *env = o->env ? arena_printf(a, " [%s]", o->env) : "";
    help_line(out, arena_printf(a, "%s--%s%s", letter, o->name, value),
              arena_printf(a, "%s%s%s%s%s", o->help, fallback,
                           o->repeated ? "; may be repeated" : "", env,
                           o->required && !o->env ? "; required" : ""));
}

/* Of a group alone. */
static void verbs_help(const struct invocation *call, struct buf *out)
{
    struct arena *a = call->arena;
    buf_append_string(out, "\n");
    for (const struct cli_command *c = call->group->verbs + 1; c->name; c++) {
        const char *title = cli_title(a, call->program, call->group, c);
        help_line(out, arena_printf(a, "%s %s", title, c->arguments), c->summary);
    }
}

static void command_help(const struct invocation *call, struct buf *out)
{
    const struct cli_command *c = call->command;
    buf_printf(out, "%s %s%s[OPTIONS]\n%s\n", call->title, c->arguments,
               *c->arguments ? " " : "", c->summary);
    if (call->group && !*c->name) {
        verbs_help(call, out);
    }
    if (c->details) {
        buf_printf(out, "\n%s", c->details);
    }
    if (call->given_count) {
        buf_append_string(out, "\n");
    }
    for (size_t i = 0; i < call->given_count; i++) {
        option_help(call, call->given[i].option, out);
    }
}

void cli_help(const struct invocation *call, struct buf *out)
{
    if (call->command) {
        command_help(call, out);
    } else {
        program_help(call, out);
    }
}
