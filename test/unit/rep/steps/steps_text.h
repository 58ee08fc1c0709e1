/* Trees, facts and orders of the machine of steps as short texts, for the rows of its tests.
 *
 * "watched: " before it: checks look after it. A tree is parts with "+" between them: "setup: run
 * + serial(run try(run)) + run" is a setup, the action and a sidecar. A step is run, try(X),
 * timeout:MS(X), say(X) (emit progress, with all messages), serial(X Y ...), parallel(X Y ...) or
 * codependent(X Y ...). A run may have a source of its own: run:WEB. The definition's is APP. */
#pragma once

#include "rep/steps/machine.h"

/* The parts of a definition, in the arena; the text must be well formed. */
struct tree_parts steps_text_parts(struct arena *a, const char *text);

/* Its tree; asserts that there is one. */
struct action_tree steps_text_tree(struct arena *a, const char *text);

/* Facts with ";" between them, times in ms: "0 begun 2; 5 ended 2 1; 7 cut 3 beside; 9 lost 3", of
 * which an end has a code, "9" for SIGKILL as "sig9", "oom" for code 137 and out of memory,
 * "full" for code 1 and out of disk, or a
 * text in quotes; of a transfer it is "0:BYTES", or code and why, "4:no room". In the arena. */
struct step_fact *steps_text_facts(struct arena *a, const char *text, size_t *ret_count);

/* "begin 2 3; cut 4 beside; term 5; kill 6; stuck; due 10; start; ready; failed: TEXT" (or
 * "well", "cut"), without lines of the log. In the arena. */
const char *steps_text_orders(struct arena *a, const struct steps_orders *o);

/* The lines: "out APP: Exit status 1" or "err ...", with "; " between them. In the arena. */
const char *steps_text_lines(struct arena *a, const struct steps_orders *o);
