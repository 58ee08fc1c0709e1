/* What the bbs command line shows of units: services as a tree, and tables. Pure: messages in, text
 * out. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "board.pb-c.h"

#include <stdbool.h>

/* A row a service, unit, subordinate and relation, each below what it belongs to. What is not as it
 * should be ends with the first thing that holds it. `terminal`: long cells are cut. `width`: its
 * columns, 0 = as wide as need be (common/cli/table.h); so of the tables below. */
void units_tree(struct arena *a, const Board__UnitsStatus *status, bool terminal, unsigned width,
                struct buf *out);

/* "started", "dying, down (started)", "unassigned": its life unless alive, and how it is. */
const char *unit_state_text(struct arena *a, const Board__UnitEntry *e);

/* A row each; of what is not as it should be the first thing that holds it. */
void unit_machines_table(struct arena *a, Board__MachineEntry *const *list, size_t count,
                         int64_t now_ns, unsigned width, struct buf *out);
void unit_relations_table(struct arena *a, Board__UnitRelationEntry *const *list, size_t count,
                          int64_t now_ns, unsigned width, struct buf *out);

/* All that holds a thing: a line each, with how long and what ends it. */
void unit_why_show(struct arena *a, const Board__UnitsWhy *why, int64_t now_ns, struct buf *out);

/* The options of a service: what is in force, and whether it is the charm's default. */
void unit_config_table(struct arena *a, const Board__UnitServiceWhole *whole, struct buf *out);
