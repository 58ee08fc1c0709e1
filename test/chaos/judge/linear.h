/* Whether the calls on one record could have happened one after the other, each at some moment
 * between its begin and its end, in the manner of porcupine. Pure.
 *
 * The search goes through begins and ends in the order of time and keeps all states that are
 * possible: a state, which of the open calls have happened in it, and which of those whose outcome
 * is not known were used for it. A call must have happened when it ends; one of unknown outcome may
 * happen at any time after its begin, or never. Of two possibilities with the same state and the
 * same open calls, the one that used fewer unknown calls can do all that the other can, so the
 * other one is dropped: that keeps the search small. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINEAR_OPEN_MAX = 64,      /* calls at once on a record */
    LINEAR_UNKNOWN_MAX = 4096, /* of unknown outcome, on a record */
    LINEAR_STATES_MAX = 20000, /* possible at once */
};
#define LINEAR_STEPS_MAX (200 * 1000 * 1000) /* tries of a call in a state, for a record */

/* What the model says of a state; its meaning is the model's. */
struct linear_state {
    int32_t kind, value;
};

struct linear_call {
    int64_t begin, end; /* INT64_MAX = its outcome is not known */
    const void *about;  /* for the model */
};

/* Whether the call can happen in the state with the answer that it had, and the state after it. Of
 * a call of unknown outcome: whether it would do anything there. */
typedef bool (*linear_model)(struct linear_state state, const struct linear_call *call,
                             struct linear_state *ret_next);

enum linear_verdict {
    LINEAR_GOOD,
    LINEAR_BAD,
    LINEAR_UNDECIDED, /* a bound was reached */
};

/* `calls` in the order of their begins; `from` is the state before the first. If BAD, *ret_at is
 * the call that no possibility allows to end. */
enum linear_verdict linear_check(const struct linear_call *calls, size_t count,
                                 struct linear_state from, linear_model model, size_t *ret_at);
