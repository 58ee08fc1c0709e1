/* Which command a command line means: the tables of a program, and the groups among them. Pure. */
#pragma once

#include "common/cli/options.h"

/* What argv begins with. */
struct cli_found {
    const struct cli_group *group; /* NULL: it stands at the top */
    const struct cli_command *command;
    int verb_at; /* where in argv a group's verb stands; 0 = it has none */
};

/* Finds the command of argv, which has two words at least. ERR_INVALID, with the nearest name, when
 * there is none. In a group the first word that is no option is a verb if one has that name; after
 * "--" none is. */
int cli_find(const struct cli_program *p, int argc, char *const *argv, struct cli_found *ret,
             struct err *err);

/* As people write it: "bbs ps", "bbs cells confirm"; `group` NULL = at the top. */
const char *cli_title(struct arena *a, const struct cli_program *p, const struct cli_group *group,
                      const struct cli_command *c);

/* The group that a NAME may have been meant to be a verb of; NULL when none of its verbs is near.
 */
const char *cli_verb_near(const struct invocation *call, const char *name);

/* Calls `each` for every command in the order of the help, with its group (NULL = none, before the
 * first one). */
void cli_each_command(const struct cli_program *p,
                      void (*each)(const struct cli_group *group, const struct cli_command *c,
                                   void *owner),
                      void *owner);

/* A script for bash that completes the program's groups, verbs and options. */
void cli_completion(const struct cli_program *p, struct buf *out);
