/* What is said is bent, as the bytes of an input have it: a byte changed, a piece cut out, put in
 * or doubled, the rest cut off, or all of it something else. */
#pragma once

#include "test/fuzz/fuzz.h"
#include "test/sim/world/world.h"

/* The bytes bent once; in the arena, or borrowed from `in`. */
struct bytes fuzz_bent_bytes(struct arena *a, struct bytes b, struct bytes *in);
const char *fuzz_bent_text(struct arena *a, const char *text, struct bytes *in);

/* The answer is none, has another status, or another body. */
void fuzz_bend_response(struct response *r, struct arena *a, struct bytes *in);

/* Runs the world for so long; nobody may spin. */
void fuzz_go_on(struct world *w, int64_t duration_ns);

/* The process begins again, whether it is up or not. */
void fuzz_restart(struct world *w, struct node *n);
