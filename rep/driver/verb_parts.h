/* What the files of the verbs share: a verb under way, and its answer. */
#pragma once

#include "rep/driver/driver_parts.h"

/* One verb under way. */
struct verb_op {
    struct driver *driver;
    uint64_t id;
    enum verb verb;
    char *guid, *dir;
    bool answered;
    struct err err; /* why it failed, while what it left is being removed */
    uint64_t number; /* exec */
    struct verb_op *next_exec; /* exec: the next one that is open */
    uint32_t step;   /* begin */
    char *keep; /* remove: where the log goes; NULL = with the container */
    bool keep_note; /* remove */
};

void op_free(void *verb_under_way);

/* Answers it, unless that was done. The second one fails it, and frees it, too. */
void op_answer(struct verb_op *op, enum verb_outcome outcome, int exit_code, const char *text);
void op_fail(struct verb_op *op, const char *text);

/* What a job said of its failure, as a text of one line. */
const char *words_of(struct bytes said, char *text, size_t size);

/* The answers that every job has alike; true: there is nothing more to say. */
bool common_event(struct verb_op *op, struct driver_job *j, enum job_event event);

/* A run of the shim for it; `on_event` frees it with its last event. -code with err: none runs. */
int op_run(struct verb_op *op, struct command *c, int64_t deadline_ns, bool outlives,
           void (*on_event)(struct driver_job *j, enum job_event event), struct err *err);

/* exec_io.c: the same of EXEC, and of the SIGNAL that ends one; an op that is freed is none of the
 * open ones any more. */
void verb_exec(struct verb_op *op, const struct verb_call *call);
void verb_signal_exec(struct verb_op *op, const struct verb_call *call);
void exec_forget(struct verb_op *op);

/* step_verbs_io.c: the verbs of steps; each answers, and frees `op` in the end. */
void verb_begin_step(struct verb_op *op, const struct verb_call *call);
void verb_cut_step(struct verb_op *op, const struct verb_call *call);
void verb_signal_step(struct verb_op *op, const struct verb_call *call);
void verb_say(struct verb_op *op, const struct verb_call *call);
/* Begins op->step, by its words in the container's directory; `run` if it is one, else NULL. */
int step_begin(struct verb_op *op, const struct step_process *run, int64_t deadline_ns,
               struct err *err);

/* run_io.c: the verbs of runs, likewise. */
void verb_run(struct verb_op *op, const struct verb_call *call);
void verb_forget(struct verb_op *op, const struct verb_call *call);
