/* The converger from inside: what its keepers share. For converger/ only. */
#pragma once

#include "common/client/questions.h"
#include "converger/cache.h"
#include "converger/moves.h"

struct converger {
    struct leading life; /* first: a struct role * is a struct converger * */
    int64_t interval_ns;
    char board_generation[FEED_CLIENT_BOARD_GENERATION_BYTES]; /* of what it knows */
    struct settings settings; /* in force */
    struct cache cache;
    struct mover mover;
    struct kept *keepers[KEEPER_COUNT];
    int64_t full_ns; /* the next full pass; 0 = at once */
    uint64_t full_passes;
    bool by_time; /* the full pass of now began because its time had come */
};

/* keepers.def as a table; and an operation of each keeper that has it. */
extern const struct keeper_row {
    const struct keeper *keeper;
    uint64_t kinds;
} keeper_rows[KEEPER_COUNT];
#define EACH_KEEPER(x, operation, ...)                                                             \
    for (size_t i = 0; i < KEEPER_COUNT; i++) {                                                    \
        if (keeper_rows[i].keeper->operation) {                                                    \
            keeper_rows[i].keeper->operation((x)->keepers[i] __VA_OPT__(, ) __VA_ARGS__);          \
        }                                                                                          \
    }

/* What a full pass would do now, in the arena; nothing on the board changes. */
void converger_plan(struct converger *x, struct arena *a, Converge__Plan *ret);

/* Each keeper adds its part to what GET /state tells. */
void converger_show(struct converger *x, Converge__ConvergerState *ret, struct arena *a);

/* What it is asked: GET /state, GET /plan, GET /metrics, POST /once. */
extern const struct path_table converger_questions;
