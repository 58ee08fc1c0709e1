#include "common/cli/options.h"

#include "common/cli/commands.h"
#include "common/codec/nearest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int unknown_option(const struct invocation *call, const char *name, struct err *err)
{
    struct nearest n;
    nearest_begin(&n, name);
    for (size_t i = 0; i < call->given_count; i++) {
        nearest_consider(&n, call->given[i].option->name);
    }
    if (n.best) {
        return err_set(err, ERR_INVALID, "unknown option --%.40s; did you mean --%s?", name,
                       n.best);
    }
    return err_set(err, ERR_INVALID, "unknown option --%.40s; see %s --help", name, call->title);
}

static void list_options(struct arena *a, struct invocation *call)
{
    call->given = ARENA_ARRAY(a, CLI_OPTIONS_MAX, struct cli_given);
    for (const struct cli_option *const *table = call->command->options; *table; table++) {
        for (const struct cli_option *o = *table; o->name; o++) {
            assert(call->given_count < CLI_OPTIONS_MAX);
            call->given[call->given_count++].option = o;
        }
    }
}

static struct cli_given *find_option(const struct invocation *call, const char *name, size_t size)
{
    for (size_t i = 0; i < call->given_count; i++) {
        const char *known = call->given[i].option->name;
        if (strlen(known) == size && memcmp(known, name, size) == 0) {
            return &call->given[i];
        }
    }
    return NULL;
}

static int add_value(struct cli_given *g, const char *value, struct err *err)
{
    const struct cli_option *o = g->option;
    if (g->count > 0 && !o->repeated) {
        return err_set(err, ERR_INVALID, "--%s is given twice", o->name);
    }
    if (g->count == CLI_REPEATS_MAX) {
        return err_set(err, ERR_INVALID, "--%s is given more than %d times", o->name,
                       CLI_REPEATS_MAX);
    }
    g->values[g->count++] = value;
    return 0;
}

/* Reads the option at argv[*at], and its value if that is the next word. */
static int parse_option(struct invocation *call, int argc, char *const *argv, int *at,
                        struct err *err)
{
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    if (size == 4 && memcmp(name, "help", 4) == 0) {
        call->help = true;
        return 0;
    }
    struct cli_given *g = find_option(call, name, size);
    if (!g) {
        return unknown_option(call, arena_strndup(call->arena, name, size), err);
    }
    if (!g->option->value) {
        return equals ? err_set(err, ERR_INVALID, "--%s takes no value", g->option->name)
                      : add_value(g, "", err);
    }
    if (equals) {
        return add_value(g, equals + 1, err);
    }
    if (*at + 1 == argc || strncmp(argv[*at + 1], "--", 2) == 0) {
        return err_set(err, ERR_INVALID, "--%s needs a value: --%s %s", g->option->name,
                       g->option->name, g->option->value);
    }
    return add_value(g, argv[++*at], err);
}

/* "NAME" of "NAME[/N] N", "N" of its second word; a last word goes on: "NAME...". */
static const char *argument_name(const struct invocation *call, size_t which)
{
    const char *word = call->command->arguments;
    for (; which > 0 && strchr(word, ' '); which--) {
        word = strchr(word, ' ') + 1;
    }
    word += *word == '[';
    return arena_strndup(call->arena, word, strcspn(word, " .[]"));
}

/* What "$GUID" is where nobody set it: it was not meant to name nothing, or all. */
static int check_empty(const struct invocation *call, struct err *err)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        if (!*call->arguments[i]) {
            return err_set(err, ERR_INVALID, "%s is empty: %s %s", argument_name(call, i),
                           call->title, call->command->arguments);
        }
    }
    return 0;
}

static int check_arguments(const struct invocation *call, struct err *err)
{
    const struct cli_command *c = call->command;
    int count = (int)call->argument_count;
    if (count < c->arguments_min) {
        const char *first = arena_strndup(call->arena, c->arguments, strcspn(c->arguments, " ."));
        return err_set(err, ERR_INVALID, "%s is missing: %s %s",
                       c->arguments_min == 1 ? first : "an argument", call->title, c->arguments);
    }
    if (count > c->arguments_max) {
        return err_set(err, ERR_INVALID, "\"%.40s\" is one argument too many: %s%s%s",
                       call->arguments[c->arguments_max], call->title, *c->arguments ? " " : "",
                       c->arguments);
    }
    return check_empty(call, err);
}

/* "-1" is a number, though a wrong one perhaps: its command says what is wrong with it. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != 0 && !(word[1] >= '0' && word[1] <= '9');
}

/* "-f" */
static struct cli_given *find_letter(const struct invocation *call, const char *word)
{
    for (size_t i = 0; word[1] && !word[2] && i < call->given_count; i++) {
        if (call->given[i].option->letter == word[1]) {
            return &call->given[i];
        }
    }
    return NULL;
}

/* Its value is the next word. */
static int parse_letter(struct cli_given *g, int argc, char *const *argv, int *at, struct err *err)
{
    const struct cli_option *o = g->option;
    if (!o->value) {
        return add_value(g, "", err);
    }
    if (*at + 1 == argc || strncmp(argv[*at + 1], "--", 2) == 0) {
        return err_set(err, ERR_INVALID, "-%c needs a value: -%c %s", o->letter, o->letter,
                       o->value);
    }
    return add_value(g, argv[++*at], err);
}

/* The words after the command; a group's verb stands among them, at `verb_at` unless 0. */
static int parse_words(struct invocation *call, int argc, char *const *argv, int verb_at,
                       struct err *err)
{
    call->arguments = ARENA_ARRAY(call->arena, (size_t)argc + 1, const char *);
    bool options = true;
    for (int i = 2; i < argc; i++) {
        int r = 0;
        if (i == verb_at) {
            continue;
        }
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && strcmp(argv[i], "-h") == 0) {
            call->help = true;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            r = parse_option(call, argc, argv, &i, err);
        } else if (options && is_option(argv[i]) && find_letter(call, argv[i])) {
            r = parse_letter(find_letter(call, argv[i]), argc, argv, &i, err);
        } else if (options && is_option(argv[i])) {
            r = err_set(err, ERR_INVALID,
                        "unknown option %.40s; see %s --help, or put -- before what only begins "
                        "with -",
                        argv[i], call->title);
        } else if (call->argument_count == CLI_ARGUMENTS_MAX) {
            r = err_set(err, ERR_INVALID, "more than %d arguments: run %s several times",
                        CLI_ARGUMENTS_MAX, call->title);
        } else {
            call->arguments[call->argument_count++] = argv[i];
        }
        if (r < 0) {
            return r;
        }
    }
    return call->help ? 0 : check_arguments(call, err);
}

/* "bbs help cells confirm" is "bbs cells confirm --help". */
static int parse_help(struct arena *a, const struct cli_program *program, int argc,
                      char *const *argv, struct invocation *ret_call, struct err *err)
{
    char **words = ARENA_ARRAY(a, (size_t)argc, char *);
    words[0] = argv[0];
    for (int i = 2; i < argc; i++) {
        words[i - 1] = argv[i];
    }
    words[argc - 1] = arena_strdup(a, "--help");
    return cli_parse(a, program, argc, words, ret_call, err);
}

static bool is_any(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int cli_parse(struct arena *a, const struct cli_program *program, int argc, char *const *argv,
              struct invocation *ret_call, struct err *err)
{
    struct invocation call = {.program = program, .arena = a};
    if (argc < 2) {
        return err_set(err, ERR_INVALID, "what should be done? See %s --help", program->name);
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        return parse_help(a, program, argc, argv, ret_call, err);
    }
    call.help = is_any(argv[1], "help", "--help", "-h");
    call.version = is_any(argv[1], "version", "--version", "--version");
    call.completion = strcmp(argv[1], "completion") == 0;
    if (!call.help && !call.version && !call.completion) {
        struct cli_found found;
        int r = cli_find(program, argc, argv, &found, err);
        if (r < 0) {
            return r;
        }
        call.group = found.group;
        call.command = found.command;
        call.title = cli_title(a, program, found.group, found.command);
        list_options(a, &call);
        r = parse_words(&call, argc, argv, found.verb_at, err);
        if (r < 0) {
            return r;
        }
    }
    *ret_call = call;
    return 0;
}

/* The value of a variable that is set and not empty. */
static const char *variable(char *const *env, const char *name, size_t size)
{
    for (; *env; env++) {
        if (strncmp(*env, name, size) == 0 && (*env)[size] == '=' && (*env)[size + 1]) {
            return *env + size + 1;
        }
    }
    return NULL;
}

static const char *from_environment(const struct cli_option *o, char *const *env)
{
    for (const char *name = o->env; name && *name;) {
        size_t size = strcspn(name, ",");
        const char *value = variable(env, name, size);
        if (value) {
            return value;
        }
        name += size + (name[size] == ',');
    }
    return NULL;
}

/* What the environment of a shell that knows the cluster would have reported; all of it at once, so
 * that nobody sets one after the other. */
static int check_environment(const struct invocation *call, struct err *err)
{
    const struct cli_option *only = NULL;
    const char *missing = "";
    size_t count = 0;
    for (size_t i = 0; i < call->given_count; i++) {
        const struct cli_option *o = call->given[i].option;
        if (call->given[i].count == 0 && o->required) {
            missing = arena_printf(call->arena, "%s%s--%s (or %.*s)", missing, count ? ", " : "",
                                   o->name, (int)strcspn(o->env, ","), o->env);
            only = o;
            count++;
        }
    }
    if (count == 1) {
        return err_set(err, ERR_INVALID, "missing: %s: %s", missing, only->help);
    }
    return count ? err_set(err, ERR_INVALID,
                           "missing: %s; of a local cluster: eval \"$(deploy/local/env)\"", missing)
                 : 0;
}

int cli_complete(struct invocation *call, char *const *env, struct err *err)
{
    for (size_t i = 0; i < call->given_count; i++) {
        struct cli_given *g = &call->given[i];
        const struct cli_option *o = g->option;
        g->typed = g->count > 0;
        const char *value = g->count ? NULL : from_environment(o, env);
        value = value || g->count ? value : o->fallback;
        if (value) {
            g->values[g->count++] = value;
        }
        if (g->count == 0 && o->required && !o->env) {
            return err_set(err, ERR_INVALID, "--%s %s is missing: %s", o->name, o->value, o->help);
        }
    }
    return check_environment(call, err);
}

static const struct cli_given *given(const struct invocation *call, const char *name)
{
    const struct cli_given *g = find_option(call, name, strlen(name));
    assert(g);
    return g;
}

bool cli_typed(const struct invocation *call, const char *name)
{
    return given(call, name)->typed;
}

const char *cli_text(const struct invocation *call, const char *name)
{
    return given(call, name)->values[0];
}

bool cli_switch(const struct invocation *call, const char *name)
{
    return given(call, name)->count > 0;
}

const char *const *cli_list(const struct invocation *call, const char *name)
{
    return given(call, name)->values;
}

int cli_number(const struct invocation *call, const char *name, int64_t low, int64_t high,
               int64_t *ret_value, struct err *err)
{
    const char *text = cli_text(call, name);
    if (!text) {
        return 0;
    }
    size_t digits = strspn(text, "0123456789");
    long long value = digits && digits < 18 ? strtoll(text, NULL, 10) : -1;
    if (text[digits] || value < low || value > high) {
        return err_set(err, ERR_INVALID, "--%s must be a number from %lld to %lld, not \"%.40s\"",
                       name, (long long)low, (long long)high, text);
    }
    *ret_value = value;
    return 0;
}

int cli_decimal(const struct invocation *call, const char *name, double low, double high,
                double *ret_value, struct err *err)
{
    const char *text = cli_text(call, name);
    if (!text) {
        return 0;
    }
    size_t size = strspn(text, "0123456789.");
    char *end = NULL;
    double value = size && size < 18 ? strtod(text, &end) : -1;
    if (!end || *end || value < low || value > high) {
        return err_set(err, ERR_INVALID, "--%s must be a number from %g to %g, not \"%.40s\"", name,
                       low, high, text);
    }
    *ret_value = value;
    return 0;
}

/* `most` in words, for its mistake. */
static int read_duration(const struct invocation *call, const char *name, int64_t most_ms,
                         const char *most, int64_t *ret_ms, struct err *err)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"", 1000},     {"s", 1000},      {"ms", 1},
                 {"m", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000}};
    const char *text = cli_text(call, name);
    if (!text) {
        return 0;
    }
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; digits && digits < 10 && i < sizeof(units) / sizeof(units[0]); i++) {
        int64_t ms = strtoll(text, NULL, 10) * units[i].ms;
        if (strcmp(text + digits, units[i].unit) == 0 && ms <= most_ms) {
            *ret_ms = ms;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID,
                   "--%s must be a time like 90s or 5m, at most %s, not \"%.40s\"", name, most,
                   text);
}

int cli_duration_ms(const struct invocation *call, const char *name, int64_t *ret_ms,
                    struct err *err)
{
    return read_duration(call, name, (int64_t)24 * 3600 * 1000, "a day", ret_ms, err);
}

int cli_age_ms(const struct invocation *call, const char *name, int64_t *ret_ms, struct err *err)
{
    return read_duration(call, name, (int64_t)30 * 24 * 3600 * 1000, "30d", ret_ms, err);
}

int cli_choice(const struct invocation *call, const char *name, const char **ret_word,
               struct err *err)
{
    const struct cli_given *g = given(call, name);
    const char *text = g->values[0];
    if (!text) {
        return 0;
    }
    for (const char *word = g->option->value; *word;) {
        size_t size = strcspn(word, "|");
        if (strlen(text) == size && memcmp(text, word, size) == 0) {
            *ret_word = text;
            return 0;
        }
        word += size + (word[size] == '|');
    }
    return err_set(err, ERR_INVALID, "--%s must be %s, not \"%.40s\"", name, g->option->value,
                   text);
}
