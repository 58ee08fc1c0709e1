/* A client that follows the instance stream of one bbs (behaviour.md 16): notes in the trace what
 * it hears, and replays it. What it holds then is the board's records, as far as it has heard of
 * them from their creation on (S9 as Diego's clients see it). When its stream ends it drops what it
 * holds, and subscribes again after a second. */
#pragma once

#include "test/sim/world/cluster.h"

/* Adds it to the world and starts it; it is "subscriber-N" of bbs number N (from 1). */
struct node *subscriber_new(struct cluster *c, unsigned number);

/* How often its stream has ended. */
unsigned subscriber_ends(struct node *n);

/* Events heard since it subscribed, and a text of all of them, a line each. */
const char *subscriber_heard(struct node *n);

/* What is wrong with its replay: an event about a record that it does not hold, or, with `records`
 * not negative, another number of records than that. NULL = nothing. */
const char *subscriber_fault(struct node *n, int records);
