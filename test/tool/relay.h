/* A TCP relay on a libevent loop, for tests: it can break all connections or hold everything back.
 */
#pragma once

#include <stdbool.h>

struct event_base;
struct relay;

/* Listens on a random loopback port and connects on to 127.0.0.1:`target`. NULL when it cannot. */
struct relay *relay_new(struct event_base *base, int target);
void relay_free(struct relay *r);
int relay_port(const struct relay *r);

/* Breaks all connections off; new ones are served. */
void relay_cut(struct relay *r);

/* While silent nothing is read or written, in both directions; connections stay open and new ones
 * are accepted and not served. What was held back passes afterwards. */
void relay_silence(struct relay *r, bool silent);
