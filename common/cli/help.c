#include "common/cli/options.h"

#include <string.h>

enum { LEFT_COLUMN = 34 };

static void help_line(struct buf *out, const char *left, const char *help)
{
    buf_printf(out, "  %-*s ", LEFT_COLUMN, left);
    if (strlen(left) > LEFT_COLUMN) {
        buf_printf(out, "\n  %-*s ", LEFT_COLUMN, "");
    }
    buf_printf(out, "%s", help);
}

static void program_help(const struct invocation *call, struct buf *out)
{
    const struct cli_program *p = call->program;
    buf_printf(out, "%s: %s\n\n", p->name, p->summary);
    for (const struct cli_command *c = p->commands; c->name; c++) {
        const char *left = arena_printf(call->arena, "%s %s %s", p->name, c->name, c->arguments);
        help_line(out, left, c->summary);
        buf_append_string(out, "\n");
    }
    buf_printf(out,
               "\n%s COMMAND --help tells all of a command; %s --version the version.\n"
               "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 unavailable,\n"
               "6 timeout, 7 partly placed, 8 denied.\n",
               p->name, p->name);
}

static void option_help(const struct invocation *call, const struct cli_option *o, struct buf *out)
{
    help_line(out,
              arena_printf(call->arena, "%s--%s%s%s",
                           o->letter ? arena_printf(call->arena, "-%c, ", o->letter) : "", o->name,
                           o->value ? " " : "", o->value ? o->value : ""),
              o->help);
    if (o->fallback && *o->fallback) {
        buf_printf(out, " (%s)", o->fallback);
    }
    if (o->repeated) {
        buf_append_string(out, "; may be repeated");
    }
    if (o->env) {
        buf_printf(out, " [%s]", o->env);
    }
    buf_append_string(out, o->required && !o->env ? "; required\n" : "\n");
}

static void command_help(const struct invocation *call, struct buf *out)
{
    const struct cli_command *c = call->command;
    buf_printf(out, "%s %s %s%s[OPTIONS]\n%s\n", call->program->name, c->name, c->arguments,
               *c->arguments ? " " : "", c->summary);
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
