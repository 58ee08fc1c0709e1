/* The nemesis's part of the history, DIR/history/nemesis.jsonl (docs/chaos.md). */
#pragma once

#include "test/chaos/nemesis/attack_io.h"

#include <stdio.h>

/* A line "making" before the fault is made, so that whoever reads knows of it if this process dies
 * meanwhile. */
void history_making(FILE *history, int number, const struct attack *a);

/* The line of a fault that is over: "fault", or "not_there" when its probe never saw it. */
void history_fault(FILE *history, int number, const struct attack *a);

/* The cluster is healthy again. */
void history_healthy(FILE *history, int number, int64_t at_ns);
