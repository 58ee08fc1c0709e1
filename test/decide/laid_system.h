/* Rows of before, when, plan about systems: records of a board as the short texts of
 * system_rows.h, on which an op gathers and decides as in a bbs. */
#pragma once

#include "bbs/board/move_family.h"
#include "test/decide/laid_board.h"

enum { LAID_SYSTEM_TERM = 5, LAID_SYSTEM_NOW_S = 1000 };
#define LAID_SYSTEM_GENERATION "E"
#define LAID_SYSTEM_UID "u"

struct laid_system {
    struct arena arena;
    struct laid_board *board;
    size_t count; /* of records; the n-th has the mod-revision LAID_FIRST + 10 + n, from 0 */
};

/* The records of the texts, a line each; the converger leads. */
void laid_system_init(struct laid_system *l, const char *texts);
void laid_system_done(struct laid_system *l);

/* One record more; the key is a constant or in the arena. */
void laid_system_put(struct laid_system *l, const char *key, const ProtobufCMessage *m);

/* "accept deploy/u/D1 witness=W witness_revision=3 revision=7": a move of the converger, its
 * subject and fields of its body; `revision` is the subject's. */
Board__Move *laid_system_move(struct laid_system *l, const struct move_family *family,
                              const char *text);

/* "system=shop id=D1": a request of that type. */
ProtobufCMessage *laid_system_request(struct laid_system *l,
                                      const ProtobufCMessageDescriptor *type, const char *text);

/* What the plan does, a line each: a change as "<move> <key>", and each field that it changes as
 * " name=value"; or the refusal. */
const char *laid_system_print(struct laid_system *l, const struct plan *p);

/* What the actor asks comes to this, and its compares let it pass; `peer`: a rep's cell. */
void laid_system_try(struct laid_system *l, const struct op_row *op, enum actor actor,
                     const char *peer, const ProtobufCMessage *request, const char *rule,
                     const char *want);

/* A move upon the board comes to this. Its compares let it pass. */
struct system_move_row {
    const char *rule, *board, *move, *plan;
};
void try_system_moves(const struct move_family *family, const struct system_move_row *rows,
                      size_t count);

/* The same of a client's request. */
struct system_op_row {
    const char *rule, *board, *request, *plan;
};
void try_system_ops(const struct op_row *op, const ProtobufCMessageDescriptor *request,
                    const struct system_op_row *rows, size_t count);
