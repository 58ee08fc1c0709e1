/* A board that a test lays out record by record, on which the ops of a bbs gather as they do on the
 * copy; and the law about what they read (design.md 2: a write compares all that its decision
 * read), held by changing one record after the other. */
#pragma once

#include "bbs/board/op.h"

/* Where a laid board stands: each record was written at a revision from LAID_FIRST on, and none
 * later than LAID_NOW; the board generation began before. */
enum { LAID_BOARD_GENERATION = 2, LAID_FIRST = 3, LAID_NOW = 1000 };

struct laid_board;

/* At this moment, in the board generation of this id. The caller frees it. */
struct laid_board *laid_new(struct moment now, const char *board_generation);
void laid_free(struct laid_board *l); /* accepts NULL */

/* Puts a record, or puts it again. Copied. It was first seen by this bbs at `seen_ns`. */
void laid_put(struct laid_board *l, const char *key, const ProtobufCMessage *message,
              int64_t create_revision, int64_t mod_revision, int64_t seen_ns);

/* What a later version of the software has written there: nobody can read it. */
void laid_put_later(struct laid_board *l, const char *key);

/* Takes one away; none: nothing. */
void laid_remove(struct laid_board *l, const char *key);

/* From now on the board is as it was at this revision. */
void laid_at(struct laid_board *l, int64_t revision);

/* All keys with this prefix, in byte order. */
size_t laid_keys(const struct laid_board *l, struct arena *a, const char *prefix,
                 const char ***ret_keys);

/* The record at the key, decoded into the arena; NULL = none. */
const ProtobufCMessage *laid_message(const struct laid_board *l, struct arena *a, const char *key);

/* One decision upon it. */
struct laid_plan {
    struct plan plan;
    struct read_set reads;
};

/* Gathers and decides as an op does; all lives in `a`. `in` is given a random source of one seed.
 */
void laid_decide(struct laid_board *l, const struct op_row *row, const struct op_input *in,
                 struct arena *a, struct laid_plan *ret);

/* The same, drawing from this source. */
void laid_decide_drawn(struct laid_board *l, const struct op_row *row, const struct op_input *in,
                       struct random *random, struct arena *a, struct laid_plan *ret);

/* What the plan would write, tell and answer, whole records included, for comparing it. */
void laid_print(const struct plan *p, struct buf *out);

/* Whether the compares of this read set would let a transaction pass on the board as it stands. */
bool laid_passes(const struct laid_board *l, const struct read_set *reads);

/* A record that is not there, and might come. */
struct laid_stranger {
    const char *key;
    const ProtobufCMessage *message;
};

/* If the decision commits something: takes away every record in turn, changes it (its fields are
 * drawn from `random`, `changes` times) and puts every stranger. Where the plan would be another
 * one, and where a record that it writes was touched, the compares must refuse it. `excused` may
 * say that it knows of a key and why; NULL = nothing is excused. Gives the verdict; *ret_fault
 * becomes what does not hold, empty otherwise. The board is as it was. */
enum plan_verdict laid_hold(struct laid_board *l, const struct op_row *row,
                            const struct op_input *in, const struct laid_stranger *strangers,
                            size_t stranger_count, struct random *random, unsigned changes,
                            bool (*excused)(const struct op_row *row, const char *key, bool added),
                            struct buf *ret_fault);
