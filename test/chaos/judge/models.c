#include "test/chaos/judge/models.h"

#include <string.h>

enum { ABSENT, PRESENT, ANYTHING };

static bool refused_as(const struct model_call *m, const char *word)
{
    return m->call->result == CALL_FAILED && strcmp(m->call->saw, word) == 0;
}

bool model_register(struct linear_state state, const struct linear_call *call,
                    struct linear_state *ret_next)
{
    const struct model_call *m = call->about;
    bool may_be_absent = state.kind != PRESENT, may_be_present = state.kind != ABSENT;
    *ret_next = state;
    if (refused_as(m, "exists")) {
        return may_be_present;
    }
    if (refused_as(m, "not_found")) {
        *ret_next = (struct linear_state){ABSENT, 0};
        return may_be_absent;
    }
    if (m->call->result == CALL_FAILED) {
        return true; /* it did nothing, and says nothing of the record */
    }
    switch (m->op) {
    case CALL_CREATE:
        *ret_next = (struct linear_state){PRESENT, m->value};
        return may_be_absent;
    case CALL_UPDATE:
        *ret_next = (struct linear_state){PRESENT, m->value};
        return may_be_present;
    case CALL_REMOVE:
        *ret_next = (struct linear_state){ABSENT, 0};
        return may_be_present;
    case CALL_GET:
        *ret_next = m->saw_value ? (struct linear_state){PRESENT, m->saw_value}
                                 : (struct linear_state){ABSENT, 0};
        return m->saw_value
                   ? may_be_present && (state.kind == ANYTHING || state.value == m->saw_value)
                   : may_be_absent;
    default:
        return true;
    }
}

/* ---- Tasks ---- */

enum { NONE, OPEN, OVER, RESOLVING, GONE, ANY };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* How it ended must be what was read of it before. */
static bool ended_so(struct linear_state state, const struct model_call *m, int32_t kind,
                     struct linear_state *ret_next)
{
    *ret_next = (struct linear_state){kind, m->saw_value};
    return state.kind == ANY || state.value == 0 || state.value == m->saw_value;
}

static bool read_task(struct linear_state state, const struct model_call *m,
                      struct linear_state *ret_next)
{
    if (!m->saw[0]) {
        *ret_next = state.kind == ANY ? (struct linear_state){NONE, 0} : state;
        return state.kind == NONE || state.kind == GONE || state.kind == ANY;
    }
    if (begins(m->saw, "Pending") || begins(m->saw, "Running")) {
        *ret_next = (struct linear_state){OPEN, 0};
        return state.kind == OPEN || state.kind == ANY;
    }
    if (begins(m->saw, "Completed")) {
        return (state.kind == OPEN || state.kind == OVER || state.kind == RESOLVING ||
                state.kind == ANY) &&
               ended_so(state, m, OVER, ret_next);
    }
    return (state.kind == RESOLVING || state.kind == ANY) &&
           ended_so(state, m, RESOLVING, ret_next);
}

bool model_task(struct linear_state state, const struct linear_call *call,
                struct linear_state *ret_next)
{
    const struct model_call *m = call->about;
    bool any = state.kind == ANY;
    *ret_next = state;
    if (refused_as(m, "exists")) {
        return state.kind != NONE && state.kind != GONE;
    }
    if (refused_as(m, "not_found")) {
        return state.kind == NONE || state.kind == GONE || any;
    }
    if (m->call->result == CALL_FAILED) {
        return true;
    }
    switch (m->op) {
    case CALL_TASK_CREATE:
        ret_next->kind = OPEN;
        return state.kind == NONE || any;
    case CALL_TASK_CANCEL:
        ret_next->kind = OVER;
        return state.kind == OPEN || any;
    case CALL_TASK_RESOLVE:
        ret_next->kind = RESOLVING;
        return state.kind == OPEN || state.kind == OVER || any;
    case CALL_TASK_DELETE:
        ret_next->kind = GONE;
        return state.kind == RESOLVING || any;
    case CALL_TASK_GET:
        return read_task(state, m, ret_next);
    default:
        return true;
    }
}
