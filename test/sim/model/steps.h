/* The steps of one model container: what may be begun, what runs, and the facts so far. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/driver.h"

struct model_steps;

/* Those of a spec; NULL when it has none. */
struct model_steps *model_steps_new(const struct container_spec *spec);
void model_steps_free(struct model_steps *s); /* accepts NULL, as most of these */

/* At this time: one begins; false when there is none, or it has begun, but for a transfer that was
 * lost. It is cut. It ends, or its end is lost; false when it does not run. */
bool model_steps_begin(struct model_steps *s, uint32_t step, int64_t at_ns);
bool model_steps_cut(struct model_steps *s, uint32_t step, enum cut_why why, int64_t at_ns);
bool model_steps_end(struct model_steps *s, uint32_t step, const struct step_fact *how);

/* Runs (driver.h, VERB_RUN), which begin with no more than what the call says; *steps may be NULL
 * and is made. False when there is one of that number, or RUNS_MAX are there. */
bool model_steps_run(struct model_steps **steps, const struct step_process *run, int64_t at_ns);
/* Its facts go; false: it runs. One that is not there has been forgotten. */
bool model_steps_forget(struct model_steps *s, uint32_t run);
/* What it does, and the last that it wrote; NULL when it is not there. */
const struct step_process *model_steps_run_of(const struct model_steps *s, uint32_t run);
const char *model_steps_output(const struct model_steps *s, uint32_t run);
/* That is to be it; false when it is not there. */
bool model_steps_write(struct model_steps *s, uint32_t run, const char *output);
/* What it does, copied. */
const struct step_process *model_run_copy(struct arena *a, const struct step_process *run);

/* Whether its spec had steps. */
bool model_steps_declared(const struct model_steps *s);

/* Whether there is such a step. */
bool model_steps_has(const struct model_steps *s, uint32_t step);

/* Whether it is a transfer; one that is bound, so that it is done before the container starts. */
bool model_steps_is_transfer(const struct model_steps *s, uint32_t step);
bool model_steps_is_bound(const struct model_steps *s, uint32_t step);

/* It ends at this time by SIGTERM, unless it does before; false when it does not run. */
bool model_steps_term(struct model_steps *s, uint32_t step, int64_t ends_at_ns);

/* All that run end like that. */
void model_steps_end_all(struct model_steps *s, const struct step_fact *how);

/* All that run are gone, and nobody says so: no facts come of it. */
void model_steps_cease(struct model_steps *s);

/* The first that ends after SIGTERM: when, NEVER_NS if none does; and its end then. */
int64_t model_steps_due(const struct model_steps *s);
void model_steps_end_due(struct model_steps *s, int64_t now_ns);

/* There are facts that model_steps_told() has not been called since. */
bool model_steps_untold(const struct model_steps *s);
void model_steps_told(struct model_steps *s);

/* The n-th that runs, in order; -1 if there are fewer. */
int64_t model_steps_running(const struct model_steps *s, int n);

/* The facts so far, copied. */
void model_steps_facts(const struct model_steps *s, struct arena *arena,
                       struct container_status *ret);
