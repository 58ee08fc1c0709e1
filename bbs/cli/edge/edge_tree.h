/* `bbs cloudlets tree`: sites, their clusters, the app instances in these, and what runs of each.
 * Pure.
 */
#pragma once

#include "bbs/cli/edge/edge_tables.h"

/* A row each, below what it belongs to and named without that. What a cluster was made for
 * automatically stands in that cluster. What has an error has it below its row. */
void edge_tree(struct arena *a, const struct edge_board *b, struct buf *out);
