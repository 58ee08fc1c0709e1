/* The board generation: a key whose name is a random id, made by the first bbs and again by `bbs
 * restore`. Every transaction compares that it exists, so what was decided before a restore can
 * not be written after it (design.md 2, Board generation). Pure. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"
#include "etcd.pb-c.h"

#include <stdint.h>

enum { BOARD_GENERATIONS_MAX = 32 }; /* keys looked at; a board has one */

/* The Range that finds the board generations of a board. Lives in the arena. */
void board_generation_question(struct arena *a, Etcd__RangeRequest *ret);

/* The transaction that makes the board generation `id`, in place of those `found` (the answer to
 * the question; NULL = the board has none yet). It is refused if there are others by then. Lives in
 * the arena. */
void board_generation_again(struct arena *a, const Etcd__RangeResponse *found, const char *id,
                            int64_t wall_ns, Etcd__TxnRequest *ret);

/* The transaction that writes the record of the board generation found at `kv` again, under the
 * compare that it is unchanged. Lives in the arena, but for the record. */
void board_generation_rewrite(struct arena *a, const Etcd__KeyValue *kv,
                              const Board__BoardGenerationRecord *record, Etcd__TxnRequest *ret);
