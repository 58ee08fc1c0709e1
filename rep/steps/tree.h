/* The tree of what a container does: what is brought before it starts, its setup, its action and
 * its sidecars with all their steps, numbered depth-first from the whole, which is step 0. The same
 * definition has the same numbers;
 * the note keeps the tree, so that a restarted rep needs nobody else's word to go on. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/contract/step_fact.h"
#include "models/actions.pb-c.h"
#include "models/cached_dependency.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "rep_note.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beside STEPS_MAX: most leaves that may be at work at once, and most bytes of their messages. */
enum { STEPS_AT_ONCE_MAX = 100, STEPS_TEXT_MAX = 256 * 1024 };

/* What is beneath step n has the numbers from n + 1 to steps[n]->end - 1. */
struct action_tree {
    /* By number; [0] is the whole: its dependencies and its setup, if any, action, sidecars. */
    Rep__Step *const *steps;
    size_t count;
};

/* The children of step `n`, in order. */
#define TREE_EACH(tree, n, child)                                                                  \
    for (uint32_t child = (n) + 1; child < (tree)->steps[n]->end;                                  \
         child = (tree)->steps[child]->end)

/* The parts of a definition that make steps, and what their texts begin with. */
struct tree_parts {
    const Models__CachedDependency *const *dependencies;
    size_t dependency_count;
    const Models__Action *setup; /* NULL = none */
    const Models__Action *action;
    const Models__Action *monitor; /* NULL = none */
    bool monitored; /* that, or checks, look after what the action leaves running */
    const Models__Sidecar *const *sidecars;
    size_t sidecar_count;
    const char *log_source, *log_guid;
};

/* Those of a definition, borrowed; its image layers as what they are for older clients:
 * dependencies if they are SHARED, downloads before all else if they are EXCLUSIVE (behaviour.md
 * 8.5). The layer of a root filesystem "preloaded+layer:..." is an EXCLUSIVE one. */
struct tree_parts tree_parts_of(struct arena *a, const Models__DesiredLRP *lrp);
struct tree_parts tree_parts_of_task(struct arena *a, const Models__TaskDefinition *definition);

/* Whether there is more to do than to run one program: otherwise that is the container's first
 * process, and there is no tree. */
bool tree_is_needed(const struct tree_parts *parts);

/* What a leaf does, one of these; of another step none is there. */
struct tree_leaf {
    const Models__RunAction *run;
    const Models__DownloadAction *download;
    const Models__UploadAction *upload;
    const Models__CachedDependency *dependency;
};

/* The tree, and its leaves by number; in the arena, borrowing from the parts. ERR_INVALID: an
 * action is missing; ERR_TOO_LARGE names the bound that is passed. */
int tree_make(struct arena *a, const struct tree_parts *parts, struct action_tree *ret_tree,
              const struct tree_leaf **ret_leaves, struct err *err);

/* The same of the monitor, which the parts have: a whole of that action alone. ERR_INVALID also for
 * what it cannot do. */
int tree_make_monitor(struct arena *a, const struct tree_parts *parts,
                      struct action_tree *ret_tree, const struct tree_leaf **ret_leaves,
                      struct err *err);

/* Whether these, which come from a disk, are a tree: numbered, nested and bounded as above. None at
 * all is well. ERR_INVALID. */
int tree_check(Rep__Step *const *steps, size_t count, struct err *err);

/* What an exit text, or a line of the log, has as its source (design.md 7, Exit texts): that of the
 * step, else the definition's, else LOG; without a log_guid always LOG. Borrowed. */
const char *tree_source(const char *of_step, const struct tree_parts *parts);

/* Whether the step does something itself: it runs a program, or is a transfer, which brings or
 * sends files. */
bool tree_is_leaf(const struct action_tree *tree, uint32_t step);
bool tree_is_transfer(const struct action_tree *tree, uint32_t step);

/* The first step that is begun in the running container: those before are done before it starts. */
uint32_t tree_first_inside(const struct action_tree *tree);

/* The step that is the action. */
uint32_t tree_action(const struct action_tree *tree);
