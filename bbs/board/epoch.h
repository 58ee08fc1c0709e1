/* The epoch of a board: a key whose name is a random id, made by the first bbs and again by `bbs
 * restore`. Every transaction compares that it exists, so what was decided before a restore can
 * not be written after it (design.md 2, Epoch). Pure. */
#ifndef BBS_BOARD_EPOCH_H
#define BBS_BOARD_EPOCH_H

#include "common/base/arena.h"

#include "board.pb-c.h"
#include "etcd.pb-c.h"

#include <stdint.h>

enum { EPOCHS_MAX = 32 }; /* keys looked at; a board has one */

/* The Range that finds the epochs of a board. Lives in the arena. */
void epoch_question(struct arena *a, Etcd__RangeRequest *ret);

/* The transaction that makes the epoch `id`, in place of those `found` (the answer to the question;
 * NULL = the board has none yet). It is refused if there are others by then. Lives in the arena. */
void epoch_again(struct arena *a, const Etcd__RangeResponse *found, const char *id, int64_t wall_ns,
                 Etcd__TxnRequest *ret);

/* The transaction that writes the record of the epoch found at `kv` again, under the compare that
 * it is unchanged. Lives in the arena, but for the record. */
void epoch_rewrite(struct arena *a, const Etcd__KeyValue *kv, const Board__EpochRecord *record,
                   Etcd__TxnRequest *ret);

#endif
