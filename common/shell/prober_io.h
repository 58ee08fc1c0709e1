/* Makes probes in libevent's loop: HTTP by libcurl, TCP by connect. No name is ever looked up. */
#pragma once

#include "common/contract/probe.h"

struct event_base;
struct prober;

/* Tells of each probe's end once, never from inside of prober_probe(). What `probed` points to
 * lives as long as the call. */
typedef void prober_told(void *context, const struct probed *probed);

/* The base must outlive it. */
struct prober *prober_new(struct event_base *base, prober_told *told, void *context);
void prober_free(struct prober *p); /* ends what is open, untold; accepts NULL */

/* Begins one; `probe` is borrowed. At most PROBES_MAX may be open. */
void prober_probe(struct prober *p, const struct probe *probe);
