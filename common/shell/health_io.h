/* The health listener: plain HTTP, 200 without body to any path and method (behaviour.md 3). It
 * says no more than that the process's loop turns.
 *
 * Anybody may connect, so what they can hold is bounded: HEALTH_CONNECTIONS_MAX descriptors, a head
 * of HEALTH_HEAD_BYTES each, for HEALTH_LIFE_MS from accept to close. One more connection takes the
 * place of the oldest: whoever asks at once is answered, whatever others hold open. */
#pragma once

#include "common/base/err.h"

struct event_base;
struct health;

enum {
    HEALTH_CONNECTIONS_MAX = 32,
    HEALTH_HEAD_BYTES = 8 * 1024,
    HEALTH_LIFE_MS = 5 * 1000,
};

/* Listens on "IP:PORT". IO when that is taken. */
int health_new(const char *address, struct event_base *base, struct health **ret_health,
               struct err *err);

/* Accepts NULL. */
void health_free(struct health *h);

/* That it listens on: the settings may leave it to the system (0). */
int health_port(const struct health *h);
