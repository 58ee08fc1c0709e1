/* A family of moves: those of one kind of record, each a row of the family's moves.def (design.md
 * 4, 5). A row says what a move must say, what it rests on, which guards of the lifecycle it looks
 * at, what refuses it and what it does. Diego's paths and /v1/board/apply bring them alike, as a
 * Board__Move. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"
#include "common/lifecycle/lifecycle.h"
#include "common/model/moves.h"

#include "board.pb-c.h"

/* What a move comes to when there is no record that it could be about. */
enum move_absent {
    ABSENT_REFUSED, /* ResourceNotFound */
    ABSENT_NOTHING, /* it is as it should be */
    ABSENT_MOVES,   /* the lifecycle has transitions from `none` */
};

struct move_family;
struct move_row;

/* One move while it is decided. */
struct move_turn {
    const struct move_family *family;
    const struct move_row *row;
    const void *snapshot; /* of the family's type */
    const struct op_input *in;
    const Board__Move *move;
    const ProtobufCMessage *record; /* that it is about; NULL = none */
    int from;                       /* its state */
    uint32_t guards;                /* of the lifecycle, those that hold */
    int to;                         /* where the lifecycle leads; -1 = nowhere */
    struct plan *plan;
};

struct move_row {
    const char *name; /* the lifecycle's trigger of that name; who may bring it stands there */
    void (*valid)(struct validation *v, const Board__Move *move); /* says all that is wrong */
    const char *rep_says; /* what a rep must say too: "attempt", "definition_id"; NULL = nothing */
    unsigned reads;       /* bits of the family: what is read beside who speaks and the record */
    unsigned about;            /* of the family: which record it is about */
    enum move_absent absent;
    uint32_t (*guards)(const struct move_turn *t); /* NULL = none */
    void (*refuse)(const struct move_turn *t);     /* the lifecycle leads nowhere */
    void (*decide)(const struct move_turn *t);     /* it leads to t->to */
    const struct op_row *op;
    const struct op_row *op_of_rep; /* of a rep that repeats itself: gets "nothing to change" from
                                       the copy alone, which etcd does not confirm */
};

struct move_family {
    const struct lifecycle *lifecycle;
    const struct move_row *rows;
    size_t count;
    /* Sets `record`, its state, and what the answer shows. False: it is decided, for the caller may
     * not speak or nothing is to be done. */
    bool (*begin)(struct move_turn *t);
};

/* The key of the record that the move is about: the target of most. */
const char *move_subject_key(struct arena *a, const struct op_input *in);

/* The row of a move's name; NULL when the family has none. */
const struct move_row *move_row_named(const struct move_family *f, const char *name);

/* Whether this actor may bring the move at all. */
bool move_permitted(const struct move_family *f, const struct move_row *row, enum actor actor);

/* Decides the move by its row: what the family's op rows call. */
void move_decide(const struct move_family *f, const void *snapshot, const struct op_input *in,
                 struct plan *p);

/* For the rows: a record goes from this state to that one, by the trigger of that name; asserts
 * that the lifecycle has such a transition for this actor. A put becomes what the answer shows. Key
 * and message are borrowed. */
struct change *move_put(const struct move_turn *t, const char *key, int from, int to,
                        const ProtobufCMessage *message);
void move_delete(const struct move_turn *t, const char *key, int from, const char *trigger);

/* A row's `decide`: the record that it is about goes. */
void move_delete_subject(const struct move_turn *t);
