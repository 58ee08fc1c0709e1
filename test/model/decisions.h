/* What the model of an instance (instance.pml) asks the code: what a bbs decides about a move, and
 * what a rep makes of a container and its record. The answers are those of bbs/lrp/ and
 * rep/container/harmonise.c as they ship; here numbers become their records and back. An answer
 * hangs on the question alone, and is kept: a search asks the same again and again. */
#pragma once

#include "common/lifecycle/actual_lrp.h"
#include "common/lifecycle/cell.h"
#include "rep/container/harmonise.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_CELLS = 2, MODEL_SLOTS = 2, MODEL_PRESENCES = 3, MODEL_NOBODY = 0 };

/* The moves of the converger; those of a rep are named by enum harmony_action. */
enum model_repair {
    MODEL_CREATE = HARMONY_ACTION_COUNT,
    MODEL_SUSPECT,
    MODEL_RESOLVE,
    MODEL_VACATE,
    MODEL_RESTART,
    MODEL_STOP_UNDESIRED,
    MODEL_MOVES
};

/* An ActualLRP record: a state of actual_lrp.def; the instance, 1 and up, MODEL_NOBODY without one.
 */
struct model_record {
    uint8_t state, who, stopping;
};

/* The board, and a move. */
struct model_question {
    struct model_record at[MODEL_PRESENCES]; /* by presence */
    uint8_t cell[MODEL_CELLS];               /* a state of cell.def */
    uint8_t desired;                         /* the index is */
    uint8_t removed;                         /* its removal was asked */
    uint8_t move;                            /* enum harmony_action or enum model_repair */
    uint8_t who;                             /* of a rep: the instance */
    uint8_t presence;                        /* that the move names */
    uint8_t current;                         /* of a rep: the incarnation given is the board's */
    uint8_t immediate;                       /* crash: so few that it is restarted at once */
};

struct model_answer {
    uint8_t verdict;                         /* enum plan_verdict */
    uint8_t type;                            /* Models__Error__Type, of a refusal */
    uint8_t keep;                            /* of an evacuation: the container is kept */
    uint8_t writes;                          /* a bit for each presence that is put or deleted */
    struct model_record to[MODEL_PRESENCES]; /* what is written there */
    uint8_t shown;                           /* the presence of the record shown; MODEL_PRESENCES:
                                                none */
    struct model_record record;
};

/* The cell of an instance. */
int model_cell_of(int who);

/* Decides it as a bbs does. The answer lives on. */
const struct model_answer *model_decide(const struct model_question *q);

/* Whether the move's row reads this, beside the records of the index: the DesiredLRP and its
 * removal; the cell. */
bool model_reads_desired(int move);
bool model_reads_cell(const struct model_question *q, int cell);

/* What a rep does, by harmonise.c. `type`: of the refusal of `refused`. */
enum harmony_action model_judge(bool draining, enum harmony_container container,
                                enum harmony_record record);
enum harmony_action model_judge_refused(bool draining, enum harmony_container container,
                                        enum harmony_record record, enum harmony_action refused,
                                        int type);
