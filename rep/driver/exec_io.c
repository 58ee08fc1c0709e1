/* EXEC: one more process in a container, for as long as somebody waits for it. Its shim ends it
 * with the rep, so that nothing of it has to be found again. */
#include "rep/driver/verb_parts.h"
#include "rep/shim/shim.h"

_Static_assert((int)SHIM_TAIL_BYTES == (int)EXEC_OUTPUT_MAX, "what is kept is what is told");

static void delete_files(const struct verb_op *op)
{
    static const char *const kinds[] = {"json", "log", "pid"};
    char path[4300];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(path, sizeof(path), "%s/exec-%llu.%s", op->dir, (unsigned long long)op->number,
                 kinds[i]);
        unlink(path);
    }
}

static void on_exec(struct driver_job *j, enum job_event event)
{
    struct verb_op *op = job_owner(j);
    char text[STATUS_TEXT_BYTES], output[SHIM_TAIL_BYTES + 1];
    if (common_event(op, j, event) || event == JOB_STARTED) {
        return;
    }
    struct shim_report r = job_report(j);
    if (r.kind == REPORT_EXITED) {
        snprintf(output, sizeof(output), "%.*s", (int)r.text.size, (const char *)r.text.data);
        op_answer(op, VERB_DONE, (int)r.number, output);
    } else {
        op_answer(op, VERB_FAILED, 0,
                  words_of(r.kind == REPORT_FAILED ? r.text : job_text(j), text, sizeof(text)));
    }
    delete_files(op);
    op_free(op);
}

static int run_exec(struct verb_op *op, const struct verb_call *call, struct err *err)
{
    struct driver *d = op->driver;
    struct command c;
    command_init(&c);
    shim_command(d, &c, "exec");
    op->number = ++d->execs;
    int result =
        d->ops->exec(d, op->guid, op->dir, call->argv, call->step, op->number, &c, err);
    if (result == 0) {
        result = op_run(op, &c, call->deadline_ns, false, on_exec, err);
    }
    command_done(&c);
    if (result == 0) {
        op->next_exec = d->open_execs;
        d->open_execs = op;
    }
    return result;
}

static bool has_program(const struct verb_op *op, const struct verb_call *call)
{
    char path[4300];
    if (call->argv) {
        return call->argv[0] != NULL;
    }
    snprintf(path, sizeof(path), "%s/steps/%u/process.json", op->dir, call->step);
    return access(path, F_OK) == 0;
}

void verb_exec(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = container_load(op->driver, op->guid);
    if (!c || c->state != CONTAINER_RUNNING) {
        op_fail(op, "the container does not run");
    } else if (!has_program(op, call)) {
        op_fail(op, call->argv ? "nothing to execute" : "the container has no such step");
    } else if (run_exec(op, call, &op->err) < 0) {
        delete_files(op);
        op_fail(op, op->err.text);
    }
}

/* ---- Ending them early ---- */

void exec_forget(struct verb_op *op)
{
    struct verb_op **at = op->verb == VERB_EXEC ? &op->driver->open_execs : NULL;
    while (at && *at && *at != op) {
        at = &(*at)->next_exec;
    }
    if (at && *at) {
        *at = op->next_exec;
    }
}

/* One that is answered is being ended already. */
void verb_signal_exec(struct verb_op *op, const struct verb_call *call)
{
    struct verb_op *open = op->driver->open_execs;
    while (open && !(open->id == call->exec && !open->answered)) {
        open = open->next_exec;
    }
    if (!open) {
        op_fail(op, "it does not run");
        return;
    }
    jobs_cancel(op->driver->jobs, open);
    op_answer(op, VERB_DONE, 0, "");
    op_free(op);
}

void execs_end(struct driver *d, const char *guid)
{
    for (struct verb_op *op = d->open_execs; op; op = op->next_exec) {
        if (!op->answered && strcmp(op->guid, guid) == 0) {
            jobs_cancel(d->jobs, op);
        }
    }
}
