/* The models that calls on records are held to. Pure. */
#pragma once

#include "test/chaos/judge/history.h"
#include "test/chaos/judge/linear.h"

/* What a model looks at of a call: linear_call.about. Texts are equal where their pointers are. */
struct model_call {
    const struct call *call;
    enum call_op op;
    const char *saw;          /* of a get; "" = nothing was there */
    int32_t value, saw_value; /* numbers of texts; 0 = "" */
};

/* A register is absent (0), holds a value (1, its number), or is anything (2), as after a restore
 * of the store. A create needs it absent, an update and a removal need it present. */
bool model_register(struct linear_state state, const struct linear_call *call,
                    struct linear_state *ret_next);

/* A task goes from none (0) to open (1: Pending or Running, by the cluster's own moves), over (2),
 * Resolving (3), gone (4); 5 is anything. By itself it goes from open to over, and back from
 * Resolving to over. How it ended never changes once somebody has read it (S4): the state's value.
 */
bool model_task(struct linear_state state, const struct linear_call *call,
                struct linear_state *ret_next);

enum { MODEL_REGISTER_ANYTHING = 2, MODEL_TASK_ANYTHING = 5 };
