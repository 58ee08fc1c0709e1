/* A command line as data: programs, commands and options in tables, parsed without touching the
 * world. `bbs apply web.yaml --wait`, `--name value`, `--name=value`, options anywhere, "--" ends
 * them. Whatever is not known names the nearest that is. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_OPTIONS_MAX = 64, CLI_REPEATS_MAX = 64, CLI_ARGUMENTS_MAX = 1024 };

struct cli_option {
    const char *name;  /* without "--"; NULL ends a table */
    const char *value; /* what stands for its value in the help: "URL"; NULL = a switch */
    const char *help;
    const char *fallback; /* value when not given; NULL = none */
    const char *env;      /* environment variables that stand in, "A,B" in this order; or NULL */
    bool repeated;        /* may be given several times */
    bool required;        /* by itself or by one of env */
    char letter;          /* "-f" is the same, "-n 3" of one with a value; 0 = none */
};

struct invocation;

struct cli_command {
    const char *name;      /* NULL ends a table */
    const char *arguments; /* in the help: "FILE..."; "" = none */
    const char *summary;   /* one line */
    const char *details;   /* more for its own help, lines end with \n; NULL = none */
    const struct cli_option *const *options; /* tables, NULL-terminated */
    int arguments_min, arguments_max;
    /* Gives 0, a negative error code (err says why), or a positive exit status of its own after
     * having said why. */
    int (*run)(const struct invocation *call, struct err *err);
};

/* The commands of one subject, `bbs cells confirm`: verbs, ended by a name of NULL. Its first one
 * has the name "": the group alone, which lists, and with a NAME shows what has it. A verb wins
 * over a NAME of that spelling, which stands after "--" then. A group named "" has no such one:
 * what it has stands at the top, `bbs apply`. */
struct cli_group {
    const char *name;
    const char *title; /* in the program's help */
    const struct cli_command *verbs;
};

struct cli_program {
    const char *name;
    const char *summary;
    const struct cli_command *commands;    /* at the top, beside the groups; NULL = none */
    const struct cli_group *const *groups; /* NULL-terminated; NULL = none */
};

/* What was given for one option. */
struct cli_given {
    const struct cli_option *option;
    const char *values[CLI_REPEATS_MAX + 1]; /* NULL-terminated, so a list can be passed on */
    size_t count;
    bool typed; /* on the command line, not by the environment or as its fallback */
};

struct invocation {
    const struct cli_program *program;
    const struct cli_group *group;     /* of the command; NULL = it stands at the top */
    const struct cli_command *command; /* NULL: something of the program itself was asked */
    const char *title;                 /* of the command: "bbs cells confirm" */
    bool help, version, completion;
    const char **arguments;
    size_t argument_count;
    struct cli_given *given; /* one for each option of the command */
    size_t given_count;
    struct arena *arena;
};

/* Parses. Strings are those of argv. ERR_INVALID with a sentence for what is wrong; missing
 * required options are left to cli_complete(), for the environment may have them. */
int cli_parse(struct arena *a, const struct cli_program *program, int argc, char *const *argv,
              struct invocation *ret_call, struct err *err);

/* Takes `env` (an array of "NAME=value", as environ) and the fallbacks for options not given, then
 * refuses if a required one is missing, saying how it can be given. */
int cli_complete(struct invocation *call, char *const *env, struct err *err);

/* Whether the option stood on the command line itself. After cli_complete(). */
bool cli_typed(const struct invocation *call, const char *name);

/* The value of an option of the command's tables (an unknown name is a bug and asserts): NULL when
 * it has none. A switch that is given is "". */
const char *cli_text(const struct invocation *call, const char *name);
bool cli_switch(const struct invocation *call, const char *name);
const char *const *cli_list(const struct invocation *call, const char *name);

/* A whole number from `low` to `high`; untouched when the option has no value. */
int cli_number(const struct invocation *call, const char *name, int64_t low, int64_t high,
               int64_t *ret_value, struct err *err);

/* A decimal number from `low` to `high`: "0.25"; untouched when the option has no value. */
int cli_decimal(const struct invocation *call, const char *name, double low, double high,
                double *ret_value, struct err *err);

/* A duration: "90", "90s", "500ms", "5m", "1h", "1d". At most a day. */
int cli_duration_ms(const struct invocation *call, const char *name, int64_t *ret_ms,
                    struct err *err);

/* How old something is: the same, at most 30 days. */
int cli_age_ms(const struct invocation *call, const char *name, int64_t *ret_ms, struct err *err);

/* One of the words "a|b|c" of the option's `value`. */
int cli_choice(const struct invocation *call, const char *name, const char **ret_word,
               struct err *err);

/* The help of a program, or of a command when the call names one. */
void cli_help(const struct invocation *call, struct buf *out);
