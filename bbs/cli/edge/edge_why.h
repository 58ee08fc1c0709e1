/* `bbs cloudlets why`, `clusters why`, `appinsts why`: whose turn it is and since when, until when,
 * what stands in the way, and what to do. Pure: records in, sentences out, a line each. */
#pragma once

#include "bbs/cli/edge/edge_follow.h"
#include "bbs/cli/edge/edge_tables.h"

/* `progress` NULL = none is known. The board has what is at the cloudlet. */
void edge_why_cloudlet(struct arena *a, const struct edge_board *b, const Board__CloudletRecord *c,
                       const Board__ProgressRecord *progress, struct buf *out);
void edge_why_cluster(struct arena *a, const struct edge_board *b,
                      const Board__ClusterInstRecord *c, const Board__ProgressRecord *progress,
                      struct buf *out);
void edge_why_instance(struct arena *a, const struct edge_board *b, const Board__AppInstRecord *i,
                       const Board__ProgressRecord *progress, struct buf *out);
