#include "common/cli/commands.h"

#include "common/codec/nearest.h"

#include <string.h>

static bool is_top(const struct cli_group *g)
{
    return !*g->name;
}

static const struct cli_command *find_in(const struct cli_command *all, const char *name)
{
    for (const struct cli_command *c = all; c && c->name; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

void cli_each_command(const struct cli_program *p,
                      void (*each)(const struct cli_group *group, const struct cli_command *c,
                                   void *owner),
                      void *owner)
{
    for (const struct cli_command *c = p->commands; c && c->name; c++) {
        each(NULL, c, owner);
    }
    for (const struct cli_group *const *g = p->groups; g && *g; g++) {
        for (const struct cli_command *c = (*g)->verbs; c->name; c++) {
            each(*g, c, owner);
        }
    }
}

/* ---- Finding ---- */

static void consider(const struct cli_group *g, const struct cli_command *c, void *nearest)
{
    nearest_consider(nearest, g && !is_top(g) ? g->name : c->name);
}

static int unknown(const struct cli_program *p, const char *name, struct err *err)
{
    struct nearest n;
    nearest_begin(&n, name);
    cli_each_command(p, consider, &n);
    if (n.best) {
        return err_set(err, ERR_INVALID, "unknown command \"%.40s\"; did you mean \"%s %s\"?", name,
                       p->name, n.best);
    }
    return err_set(err, ERR_INVALID, "unknown command \"%.40s\"; see %s --help", name, p->name);
}

/* Whether the next word is the value of this option in any command of the group. */
static bool takes_next(const struct cli_group *g, const char *option)
{
    for (const struct cli_command *c = g->verbs; c->name; c++) {
        for (const struct cli_option *const *table = c->options; *table; table++) {
            for (const struct cli_option *o = *table; o->name; o++) {
                if (o->value && strcmp(o->name, option) == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* The first word after the group that is neither an option nor its value; 0 = there is none. */
static int first_word(const struct cli_group *g, int argc, char *const *argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-') {
            return i;
        }
        i += strncmp(argv[i], "--", 2) == 0 && takes_next(g, argv[i] + 2);
    }
    return 0;
}

static void find_verb(const struct cli_group *g, int argc, char *const *argv, struct cli_found *ret)
{
    int at = first_word(g, argc, argv);
    const struct cli_command *verb = at && *argv[at] ? find_in(g->verbs, argv[at]) : NULL;
    *ret = (struct cli_found){g, verb ? verb : find_in(g->verbs, ""), verb ? at : 0};
}

int cli_find(const struct cli_program *p, int argc, char *const *argv, struct cli_found *ret,
             struct err *err)
{
    *ret = (struct cli_found){.command = find_in(p->commands, argv[1])};
    for (const struct cli_group *const *g = p->groups; g && *g && !ret->command; g++) {
        if (is_top(*g)) {
            ret->command = find_in((*g)->verbs, argv[1]);
        } else if (strcmp((*g)->name, argv[1]) == 0) {
            find_verb(*g, argc, argv, ret);
        }
    }
    return ret->command ? 0 : unknown(p, argv[1], err);
}

const char *cli_title(struct arena *a, const struct cli_program *p, const struct cli_group *group,
                      const struct cli_command *c)
{
    bool grouped = group && !is_top(group);
    return arena_printf(a, "%s %s%s%s", p->name, grouped ? group->name : "",
                        grouped && *c->name ? " " : "", c->name);
}

const char *cli_verb_near(const struct invocation *call, const char *name)
{
    struct nearest n;
    nearest_begin(&n, name);
    for (const struct cli_command *c = call->group ? call->group->verbs : NULL; c && c->name; c++) {
        nearest_consider(&n, *c->name ? c->name : NULL);
    }
    return n.best;
}

/* ---- Completion ---- */

/* A table's options as words: "--output --timeout". */
static void option_words(const struct cli_command *c, struct buf *out)
{
    for (const struct cli_option *const *table = c->options; *table; table++) {
        for (const struct cli_option *o = *table; o->name; o++) {
            buf_printf(out, "--%s ", o->name);
        }
    }
    buf_append_string(out, "--help");
}

static void top_word(const struct cli_group *g, const struct cli_command *c, void *out)
{
    bool grouped = g && !is_top(g);
    if (!grouped || c == g->verbs) {
        buf_printf(out, "%s ", grouped ? g->name : c->name);
    }
}

/* A row of the script; of a group alone, whose verbs may follow, it stands after those of its
 * verbs. */
static void row(const char *group, const struct cli_command *c, const struct cli_command *verbs,
                struct buf *out)
{
    buf_printf(out, "    \" %s%s%s \"*) words=\"", group, *group && *c->name ? " " : "", c->name);
    for (; verbs && verbs->name; verbs++) {
        buf_printf(out, "%s%s", verbs->name, *verbs->name ? " " : "");
    }
    option_words(c, out);
    buf_append_string(out, "\" ;;\n");
}

static void command_row(const struct cli_group *g, const struct cli_command *c, void *out)
{
    bool grouped = g && !is_top(g);
    if (!grouped || *c->name) {
        row(grouped ? g->name : "", c, NULL, out);
    }
}

void cli_completion(const struct cli_program *p, struct buf *out)
{
    buf_printf(out,
               "# Words of %s for bash: eval \"$(%s completion)\"\n"
               "_%s_words() {\n"
               "    local words\n"
               "    case \" ${COMP_WORDS[*]:1:COMP_CWORD-1} \" in\n"
               "    \"  \") words=\"",
               p->name, p->name, p->name);
    cli_each_command(p, top_word, out);
    buf_append_string(out, "help completion --help --version\" ;;\n");
    cli_each_command(p, command_row, out);
    for (const struct cli_group *const *g = p->groups; g && *g; g++) {
        if (!is_top(*g)) {
            row((*g)->name, find_in((*g)->verbs, ""), (*g)->verbs, out);
        }
    }
    buf_printf(
        out,
        "    *) words= ;;\n"
        "    esac\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
        "}\n"
        "complete -o default -F _%s_words %s\n",
        p->name, p->name);
}
