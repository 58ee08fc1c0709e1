/* The verbs of steps, and lines for the log. What they lead to is told by an event of the container
 * before they are answered. */
#include "rep/driver/verb_parts.h"

#include <signal.h>

#include "rep/shim/shim.h"

/* ---- BEGIN ---- */

static void on_begun(struct driver_job *j, enum job_event event)
{
    struct verb_op *op = job_owner(j);
    struct driver_container *c = map_get(&op->driver->containers, op->guid);
    char text[STATUS_TEXT_BYTES];
    if (common_event(op, j, event)) {
        return;
    }
    if (c && c->steps) {
        steps_beginning(c, op->step, false);
        container_load(op->driver, op->guid);
    }
    if (c && op->verb == VERB_RUN && event != JOB_STARTED && !steps_knows(c, op->step)) {
        run_delete(op->dir, op->step, NULL); /* nothing of it began */
    }
    struct shim_report r = job_report(j);
    if (event == JOB_STARTED) {
        op_answer(op, VERB_DONE, 0, "");
    } else {
        op_answer(op, VERB_FAILED, 0,
                  words_of(r.kind == REPORT_FAILED ? r.text : job_text(j), text, sizeof(text)));
    }
    op_free(op);
}

int step_begin(struct verb_op *op, const struct step_process *run, int64_t deadline_ns,
               struct err *err)
{
    struct driver *d = op->driver;
    struct command c;
    char dir[4200];
    command_init(&c);
    shim_command(d, &c, "step");
    command_add(&c, "--step=%u", op->step);
    log_options_add(d, op->dir, op->step, &c);
    if (run) {
        run_options_add(run, &c);
    }
    snprintf(dir, sizeof(dir), "%s/steps/%u", op->dir, op->step);
    int result = transfer_is(op->dir, op->step) ? transfer_command(d, op->guid, dir, &c, err)
                                                : d->ops->step(d, op->guid, dir, &c, err);
    result = result < 0 ? result : op_run(op, &c, deadline_ns, true, on_begun, err);
    command_done(&c);
    return result;
}

/* What is bound comes before the container runs, everything else after. */
static bool may_begin_now(const struct driver_container *c, uint32_t step)
{
    return c->state == CONTAINER_RUNNING ||
           (c->state == CONTAINER_PREPARED && !c->rebooted && transfer_is_bound(c->dir, step));
}

void verb_begin_step(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = container_load(op->driver, op->guid);
    op->step = call->step;
    if (!c || !may_begin_now(c, call->step)) {
        op_fail(op, "the container does not run");
    } else if (!c->steps || !steps_may_begin(c, call->step)) {
        op_fail(op, "the container has no such step, or it was begun before");
    } else if (step_begin(op, NULL, call->deadline_ns, &op->err) < 0) {
        op_fail(op, op->err.text);
    } else {
        steps_beginning(c, call->step, true);
    }
}

/* ---- CUT and SIGNAL ---- */

void verb_cut_step(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = container_load(op->driver, op->guid);
    if (!c || c->state != CONTAINER_RUNNING) {
        op_fail(op, "the container does not run");
    } else if (steps_cut(c, call->step, call->why, &op->err) < 0) {
        op_fail(op, op->err.text);
    } else {
        container_load(op->driver, op->guid);
        op_answer(op, VERB_DONE, 0, "");
        op_free(op);
    }
}

void verb_signal_step(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = container_load(op->driver, op->guid);
    int number = call->signal == SIGKILL ? SHIM_END_SIGNAL : SHIM_TERM_SIGNAL;
    if (!c || steps_signal(c, call->step, number) < 0) {
        op_fail(op, "the step does not run");
    } else {
        op_answer(op, VERB_DONE, 0, "");
        op_free(op);
    }
}

/* ---- SAY ---- */

/* Whose turn it is does not matter: the line goes behind whatever the present file has. */
int log_say(const char *dir, const char *source, bool to_stderr, const char *text)
{
    char path[4300];
    char time[LOG_TIME_SIZE + 1], from[LOG_SOURCE_SIZE + 1];
    struct timespec now;
    SCOPED_BUF(line);
    clock_gettime(CLOCK_REALTIME, &now);
    log_time_print(now.tv_sec * SECOND_NS + now.tv_nsec, time);
    log_source_print(source, from);
    buf_printf(&line, "%s %s F %s %s\n", time, to_stderr ? "stderr" : "stdout", from, text);
    snprintf(path, sizeof(path), "%s/log/" LOG_FILE, dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    int result = fd < 0 || write(fd, line.data, line.size) != (ssize_t)line.size ? -errno : 0;
    fd_close(fd);
    return result;
}

void verb_say(struct verb_op *op, const struct verb_call *call)
{
    int result = log_say(op->dir, call->source, call->to_stderr, call->text);
    op_answer(op, result < 0 ? VERB_FAILED : VERB_DONE, 0,
              result == -ENOENT ? "there is no such container"
              : result < 0      ? strerror(-result)
                                : "");
    op_free(op);
}
