/* What the judge says, as text and as a drawing. Pure. */
#pragma once

#include "test/chaos/judge/checks.h"

/* A line for each fault, a table by kind, what was violated, and what was looked at. */
void report_text(const struct history *h, const struct verdict *v,
                 const struct recovery *recoveries, double seconds, struct buf *out);

/* The faults and recoveries in the order of time, one a line. */
void report_table(const struct history *h, const struct board *b, const struct recovery *recoveries,
                  struct buf *out);

/* The same as SVG: a lane for each process and cell that a fault befell, faults as bars, recoveries
 * as strips at their feet, lost requests as ticks. */
void report_drawing(const struct history *h, const struct board *b,
                    const struct recovery *recoveries, struct buf *out);
