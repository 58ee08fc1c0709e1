/* EFFECT_RELAY: a peer's answer is passed on to who asked (common/contract/effect.h). A relay takes
 * bytes of the peer when its reader has taken those before: it holds at most HTTP_STREAM_BYTES. */
#pragma once

#include "common/contract/effect.h"

struct host;
struct relays;
struct tls_files;

/* Of the host, which it answers and wakes; connects to nothing yet. */
struct relays *relays_new(const struct tls_files *files, struct host *host);

/* Ends all of them, untold; the servers that read them have been freed before. Accepts NULL. */
void relays_free(struct relays *s);

/* Begins one; everything is copied. */
void relays_begin(struct relays *s, const struct relay *wanted);
