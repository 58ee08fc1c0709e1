/* What every subject of the board may note, and what all share (state.c) */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/moment.h"

struct board;

#define BACKOFF_MIN_NS (100 * MILLISECOND_NS)
#define BACKOFF_MAX_NS (5 * SECOND_NS)
#define BEHIND_MAX_NS (5 * SECOND_NS) /* then the copy is rebuilt */

/* 100 ms, 200 ms, ... 5 s. */
int64_t backoff_ns(unsigned failures);

/* etcd does not answer as it should: logged once until board_well(). */
void board_trouble(struct board *b, const char *text, struct effects *out);
void board_well(struct board *b, struct effects *out);

/* Forgets what a callback of a board that is ending wanted done: the effects of one hold the bound,
 * those of all who wait do not. */
void effects_forget(struct effects *nowhere);

/* The copy is to be loaded again, for this reason (static), before anything else is done. */
void board_want_reload(struct board *b, const char *why);
#define BOARD_GENERATION_GONE "the board generation is gone: it was restored"
#define WENT_BACK "etcd went back to an older revision"
