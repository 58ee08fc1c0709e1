/* The lifecycle engine: states and transitions as data, written once in a .def file as X-macros
 * (design.md 3.6). One file gives the enum, the names both ways, the check at every state change,
 * the exhaustive test, and docs/lifecycles.md. */
#pragma once

#include "common/lifecycle/actor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row: from this state, this actor (bits), on this trigger, under these guards (bits, all
 * needed), to that state. `none` is a state: creation and deletion are transitions. */
struct lifecycle_row {
    uint8_t from;
    actor_set actors;
    uint8_t trigger;
    uint32_t guards;
    uint8_t to;
};

/* Why the transitions from this state are so. */
struct lifecycle_note {
    uint8_t from;
    const char *words;
};

/* All words are for people. */
struct lifecycle {
    const char *name;  /* "actual_lrp" */
    const char *title; /* "An instance: the ActualLRP record" */
    const char *about;
    const char *const *states;
    const char *const *state_words;
    size_t state_count;
    const char *const *triggers;
    const char *const *trigger_words;
    size_t trigger_count;
    const char *const *guards; /* name of bit i */
    const char *const *guard_words;
    size_t guard_count;
    const struct lifecycle_row *rows;
    size_t row_count;
    const struct lifecycle_note *notes; /* the last has no words */
};

/* The state after the transition, or -1 when no row allows it. `true_guards` has the bit of every
 * guard that holds. When several rows match, the first wins. */
int lifecycle_transition(const struct lifecycle *l, int from, enum actor actor, int trigger,
                         uint32_t true_guards);

/* True if some row lets this actor bring this trigger, whatever the state and the guards. */
bool lifecycle_permits(const struct lifecycle *l, enum actor actor, int trigger);

/* True if some row leads this actor on this trigger from one state to the other, whatever the
 * guards. */
bool lifecycle_leads(const struct lifecycle *l, int from, enum actor actor, int trigger, int to);

/* State or trigger by name; -1 if unknown. */
int lifecycle_state(const struct lifecycle *l, const char *name);
int lifecycle_trigger(const struct lifecycle *l, const char *name);
