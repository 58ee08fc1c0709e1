/* `bbs systems tree`: a system as a tree, a line a component. Pure. */
#pragma once

#include "bbs/cli/system_board.h"
#include "common/base/bytes.h"

enum { TREE_WIDTH_LEAST = 40 };

struct tree_form {
    int64_t now_ns;
    const char *top; /* the path at and below which is shown; "/" = all */
    unsigned width;  /* columns; what is longer is cut; at least TREE_WIDTH_LEAST */
    size_t rows;     /* at most so many lines: what is well is left out, and counted; 0 = all */
    bool colours;
};

/* Lines with their ends; gives how many. The system must be there. */
size_t tree_print(struct arena *a, const struct system_view *v, const struct tree_form *form,
                  struct buf *out);

/* The first line alone, without colours: "shop   updating   1.4.0 -> 1.5.0   ...". */
const char *tree_head(struct arena *a, const struct system_view *v, int64_t now_ns);

/* Whether something is deployed at a path or below it, or ran there; of "/" always. */
bool tree_has(const struct system_view *v, const char *path);

/* Whether nothing is under way: nobody holds a part of it, and its state is one that stays, stable,
 * degraded or failed; or it is gone. */
bool tree_is_at_rest(const struct system_view *v);

/* "7f3a0c12": as much of an id as people need. */
const char *short_id(struct arena *a, const char *id);

/* "3/3", "2/4 updated, 4 available" */
const char *counts_text(struct arena *a, const Board__ServiceRecord *s);

/* What a service is about, behind its counts: its fault, what it rolls to, where it is reached. */
const char *service_text(struct arena *a, const Board__ServiceRecord *s);

/* Where nothing can be drawn anew: a line for each thing that is otherwise than it was said last,
 * the system, what holds it, its services. `said`: name -> text, each of malloc(); begins empty. */
void tree_changes(struct arena *a, const struct system_view *v, const char *top, struct map *said,
                  struct buf *out);
