/* All states that are reached from a first one, each of them once: for tests that try every order
 * of events in a small world. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frontier {
    size_t size; /* bytes of a state */
    size_t states;
    /* inside */
    unsigned char *stack;
    size_t depth, capacity;
    uint64_t *visited;
};

/* Fails the test without memory; frontier_done() frees. */
void frontier_init(struct frontier *f, size_t size);
void frontier_done(struct frontier *f);

/* A state that was not seen yet is kept. `told`: how many of its bytes tell it from others. Fails
 * the test at FRONTIER_STATES_MAX. */
enum { FRONTIER_STATES_MAX = 1 << 22 };
void frontier_push(struct frontier *f, const void *state, size_t told);

/* The next one to be looked at; false = there is none left. */
bool frontier_pop(struct frontier *f, void *ret_state);
