/* The verbs that change something. Each is an op: what it leads to comes as events of a job, and
 * is then read from the container's directory. */
#include "common/base/memory.h"
#include "rep/driver/verb_parts.h"
#include "rep/shim/shim.h"
#include "rep/steps/machine.h"

#include <assert.h>
#include <sys/stat.h>
#include <time.h>

static struct verb_op *op_new(struct driver *d, const struct verb_call *call)
{
    struct verb_op *op = mem_zeroed(sizeof(*op));
    op->driver = d;
    op->id = call->id;
    op->verb = call->verb;
    op->guid = strdup(call->guid);
    op->dir = mem_printf("%s/%s", d->containers_dir, call->guid);
    return op;
}

void op_free(void *verb_under_way)
{
    struct verb_op *op = verb_under_way;
    exec_forget(op);
    free(op->guid);
    free(op->dir);
    free(op->keep);
    free(op);
}

void op_answer(struct verb_op *op, enum verb_outcome outcome, int exit_code, const char *text)
{
    if (op->answered) {
        return;
    }
    bool started = op->verb == VERB_START && outcome == VERB_DONE;
    struct driver_container *c = started ? map_get(&op->driver->containers, op->guid) : NULL;
    op->answered = true;
    driver_answer(op->driver, &(struct verb_answer){
                                  .id = op->id,
                                  .verb = op->verb,
                                  .guid = op->guid,
                                  .outcome = outcome,
                                  .exit_code = exit_code,
                                  .text = text,
                                  .address = c ? container_address(c) : NULL,
                              });
}

void op_fail(struct verb_op *op, const char *text)
{
    op_answer(op, VERB_FAILED, 0, text);
    op_free(op);
}

/* What a job said of its failure, as a text of one line. */
const char *words_of(struct bytes said, char *text, size_t size)
{
    size_t n = said.size < size - 1 ? said.size : size - 1;
    memcpy(text, said.data ? (const char *)said.data : "", n);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) {
        n--;
    }
    text[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        text[i] = text[i] == '\n' ? ';' : text[i];
    }
    return n > 0 ? text : "the shim ended without a word";
}

/* The answers that every job has alike; true: there is nothing more to say. */
bool common_event(struct verb_op *op, struct driver_job *j, enum job_event event)
{
    if (event == JOB_LATE) {
        op_answer(op, VERB_UNCERTAIN, 0, "no answer before the deadline; it was ended");
    } else if (event == JOB_ENDED && !job_began(j) && job_exit_code(j) == 0) {
        op_answer(op, VERB_FAILED, 0, "not begun before its deadline: too many others went first");
    }
    return event == JOB_LATE;
}

int op_run(struct verb_op *op, struct command *c, int64_t deadline_ns, bool outlives,
           void (*on_event)(struct driver_job *j, enum job_event event), struct err *err)
{
    struct job_plan plan = {
        .key = op->verb == VERB_EXEC ? NULL : op->guid,
        .dir = op->dir,
        .argv = c->argv.list,
        .envp = c->env.count ? c->env.list : NULL,
        .deadline_ns = deadline_ns,
        .outlives = outlives,
        .on_event = on_event,
        .forget = op_free,
        .owner = op,
    };
    return jobs_add(op->driver->jobs, &plan, err);
}

/* ---- REMOVE ---- */

static void on_removed(struct driver_job *j, enum job_event event)
{
    struct verb_op *op = job_owner(j);
    struct driver_container *c = map_get(&op->driver->containers, op->guid);
    char text[512];
    if (common_event(op, j, event)) {
        return;
    }
    bool done = container_is_gone(op->dir); /* whoever removed it */
    if (c) {
        c->removing = false;
        container_load(op->driver, op->guid); /* which drops it when it has gone */
    }
    if (done) {
        pulls_unpin(op->driver, op->guid);
        transfers_left(op->driver);
    }
    if (done && op->keep_note) {
        note_learn(op->driver, op->guid);
    }
    if (op->verb == VERB_PREPARE) { /* it had failed, and this cleared up */
        op_answer(op, VERB_FAILED, 0, op->err.text);
    } else if (done) {
        if (op->keep) {
            outputs_kept(op->driver);
        }
        op_answer(op, VERB_DONE, 0, "");
    } else {
        op_answer(op, VERB_FAILED, 0, words_of(job_text(j), text, sizeof(text)));
    }
    op_free(op);
}

static int run_remove(struct verb_op *op, bool unfinished, int64_t deadline_ns, struct err *err)
{
    struct driver *d = op->driver;
    struct driver_container *known = map_get(&d->containers, op->guid);
    struct command c;
    command_init(&c);
    shim_command(d, &c, "remove");
    if (unfinished) {
        command_add(&c, "--unfinished");
    }
    if (op->keep) {
        command_add(&c, "--keep=%s", op->keep);
    }
    if (op->keep_note) {
        char *path = note_kept_path(d, op->guid);
        command_add(&c, "--keep-note=%s", path);
        free(path);
    }
    char *uses = transfer_uses(d, op->guid);
    command_add(&c, "--uses=%s", uses);
    free(uses);
    d->ops->remove(d, op->guid, &c);
    int result = op_run(op, &c, deadline_ns, false, on_removed, err);
    command_done(&c);
    if (known && result == 0) {
        known->removing = true;
    }
    return result;
}

static void call_remove(struct verb_op *op, const struct verb_call *call)
{
    struct err err;
    pulls_cancel(op->driver, op->guid);
    op->keep = call->label ? outputs_keep(op->driver, call->label, op->guid) : NULL;
    op->keep_note = call->keep_note;
    if (!call->keep_note) {
        note_drop(op->driver, op->guid);
    }
    if (access(op->dir, F_OK) < 0 && errno == ENOENT &&
        !jobs_busy(op->driver->jobs, op->guid)) {
        pulls_unpin(op->driver, op->guid);
        op_answer(op, VERB_DONE, 0, "");
        op_free(op);
    } else if (run_remove(op, false, call->deadline_ns, &err) < 0) {
        op_fail(op, err.text);
    }
}

/* ---- PREPARE ---- */

static void on_prepared(struct driver_job *j, enum job_event event)
{
    enum { CLEAR_MS = 30000 };
    struct verb_op *op = job_owner(j);
    struct timespec now;
    char text[sizeof(op->err.text)];
    if (common_event(op, j, event)) {
        return;
    }
    if (job_began(j) && job_exit_code(j) == 0 && container_load(op->driver, op->guid)) {
        note_drop(op->driver, op->guid); /* it has another one */
        op_answer(op, VERB_DONE, 0, "");
        op_free(op);
        return;
    }
    err_set(&op->err, ERR_IO, "%s", words_of(job_text(j), text, sizeof(text)));
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t until = now.tv_sec * SECOND_NS + now.tv_nsec + CLEAR_MS * MILLISECOND_NS;
    if (run_remove(op, true, until, NULL) < 0) {
        op_fail(op, op->err.text);
    }
}

static int write_container(struct verb_op *op, const struct verb_call *call, struct command *c,
                           struct err *err)
{
    struct driver *d = op->driver;
    int result = d->ops->prepare(d, op->guid, op->dir, call->spec, c, err);
    limits_say(d, call->spec);
    result = result < 0 ? result : log_options_write(op->dir, call->spec, err);
    result = result < 0 ? result : boot_write(op->dir, err);
    return result < 0 ? result : file_write(op->dir, "note.tmp", call->note, err);
}

/* Whether they have all ids in common, as is meant. */
static bool shares_ids(const struct driver_container *c, const char *join)
{
    return join && (strcmp(c->guid, join) == 0 || (c->join && strcmp(c->join, join) == 0));
}

/* The container that has some of these ids; NULL: none. */
static const char *holder_of_ids(const struct driver *d, uint32_t first, const char *join)
{
    MAP_EACH(&d->containers, n) {
        const struct driver_container *c = map_value(n);
        int64_t apart = (int64_t)c->ids.first - (int64_t)first;
        if (c->ids.first > 0 && apart > -CONTAINER_IDS && apart < CONTAINER_IDS &&
            !shares_ids(c, join)) {
            return c->guid;
        }
    }
    return NULL;
}

/* Refused before anything is on the disk. */
static int may_prepare(struct verb_op *op, const struct verb_call *call, struct err *err)
{
    struct driver *d = op->driver;
    bool program = call->spec && (call->spec->path ? call->spec->path[0] != '\0'
                                                   : call->spec->step_count > 0 ||
                                                         call->spec->idle);
    if (!program || !call->spec->rootfs) {
        return err_set(err, ERR_INVALID, "a container needs a program and a root filesystem");
    }
    if (map_get(&d->containers, op->guid)) {
        return err_set(err, ERR_EXISTS, "container %s exists", op->guid);
    }
    const char *other = call->spec->ids_first
                            ? holder_of_ids(d, call->spec->ids_first, call->spec->join)
                            : NULL;
    if (other) {
        return err_set(err, ERR_EXISTS, "its range of ids from %u on is container %s's",
                       call->spec->ids_first, other);
    }
    if (d->containers.count >= DRIVER_CONTAINERS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "%d containers are the most a cell keeps",
                       DRIVER_CONTAINERS_MAX);
    }
    if (mkdir(op->dir, 0700) < 0) {
        return err_set(err, ERR_IO, "cannot make %s: %s", op->dir,
                       errno == EEXIST ? "what it was before is still being removed"
                                       : strerror(errno));
    }
    return 0;
}

/* Its ports are tried last before anything is made: the sooner the program follows, the less can
 * come between. True: somebody else has some, and that is answered. */
static bool ports_refuse(struct verb_op *op, const struct container_spec *spec)
{
    uint32_t *taken = calloc(spec->port_count + 1, sizeof(*taken));
    size_t count = 0;
    for (size_t i = 0; i < spec->port_count; i++) {
        if (port_is_taken(spec->ports[i].host_port)) {
            taken[count++] = spec->ports[i].host_port;
        }
    }
    if (count > 0) {
        err_set(&op->err, ERR_EXISTS, "host port %u is held by another process", taken[0]);
        driver_answer(op->driver, &(struct verb_answer){.id = op->id,
                                                        .verb = op->verb,
                                                        .guid = op->guid,
                                                        .outcome = VERB_FAILED,
                                                        .text = op->err.text,
                                                        .taken = taken,
                                                        .taken_count = count});
        op_free(op);
    }
    free(taken);
    return count > 0;
}

static void call_prepare(struct verb_op *op, const struct verb_call *call)
{
    struct command c;
    if (call->spec && ports_refuse(op, call->spec)) {
        return;
    }
    if (may_prepare(op, call, &op->err) < 0) {
        op_fail(op, op->err.text);
        return;
    }
    command_init(&c);
    shim_command(op->driver, &c, "prepare");
    int result = write_container(op, call, &c, &op->err);
    if (result == 0) {
        result = op_run(op, &c, call->deadline_ns, false, on_prepared, &op->err);
    }
    command_done(&c);
    if (result < 0 && run_remove(op, true, call->deadline_ns, NULL) < 0) {
        op_fail(op, op->err.text);
    }
}

/* ---- START ---- */

static void on_start(struct driver_job *j, enum job_event event)
{
    struct verb_op *op = job_owner(j);
    struct driver_container *c = map_get(&op->driver->containers, op->guid);
    char text[STATUS_TEXT_BYTES];
    if (common_event(op, j, event)) {
        return;
    }
    if (event == JOB_STARTED) {
        op_answer(op, VERB_DONE, 0, "");
        if (c && c->first.pid == 0) { /* the file may be missing, on a broken disk */
            identity_of(job_report(j).number, &c->first);
        }
    }
    if (c && event == JOB_ENDED) {
        container_load(op->driver, op->guid); /* while its end is the answer, not an event */
    }
    if (c) {
        c->starting = false;
        container_load(op->driver, op->guid);
    }
    if (c && c->shim >= 0) { /* not ours, which has ended: one that a killed rep had just begun */
        op_answer(op, VERB_UNCERTAIN, 0, "it was started before");
    }
    struct shim_report r = job_report(j);
    op_answer(op, VERB_FAILED, 0,
              words_of(r.kind == REPORT_FAILED ? r.text : job_text(j), text, sizeof(text)));
    op_free(op);
}

static int run_start(struct verb_op *op, const struct verb_call *call, struct err *err)
{
    struct driver *d = op->driver;
    struct command c;
    command_init(&c);
    shim_command(d, &c, "run");
    log_options_add(d, op->dir, -1, &c);
    int result = d->ops->start(d, op->guid, op->dir, &c, err);
    if (result == 0) {
        result = op_run(op, &c, call->deadline_ns, true, on_start, err);
    }
    command_done(&c);
    return result;
}

/* A start that fails before a shim runs leaves the same trace as one that fails in it. */
static void note_failure(struct driver_container *c, const struct err *err)
{
    SCOPED_BUF(text);
    buf_printf(&text, "code -1\nsignal 0\noom 0\ntext %s\n", err->text);
    file_write(c->dir, "status", buf_bytes(&text), NULL);
    c->starting = true;
    container_load(c->driver, c->guid);
    c->starting = false;
}

static void call_start(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = map_get(&op->driver->containers, op->guid);
    if (!c) {
        op_fail(op, "there is no such container");
    } else if (c->state != CONTAINER_PREPARED) {
        op_fail(op, "the container was started before");
    } else if (c->rebooted) { /* nothing of it is mounted any more */
        op_fail(op, STEP_MACHINE_TEXT);
    } else if (run_start(op, call, &op->err) < 0) {
        note_failure(c, &op->err);
        op_fail(op, op->err.text);
    } else {
        c->starting = true;
        c->state = CONTAINER_STARTING;
    }
}

/* ---- SIGNAL ---- */

static void call_signal(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = container_load(op->driver, op->guid);
    if (call->exec || call->step > 0) {
        (call->exec ? verb_signal_exec : verb_signal_step)(op, call);
        return;
    }
    int fd = c && c->state == CONTAINER_RUNNING ? identity_open(&c->first) : -1;
    if (fd < 0 || identity_signal(fd, call->signal) < 0) {
        op_answer(op, VERB_FAILED, 0,
                  fd < 0 ? "the container does not run" : strerror(errno));
    } else {
        op_answer(op, VERB_DONE, 0, "");
    }
    fd_close(fd);
    op_free(op);
}

/* ---- NOTE ---- */

/* The driver knows it as it stands on the disk now. */
static void note_changed(struct driver_container *c, struct bytes note)
{
    blob_unref(c->note);
    c->note = blob_new(note.data, note.size);
}

/* Whole or not at all. Not synced: only a machine that goes down could lose it, and its containers
 * go with it. */
static int write_note(struct driver_container *c, struct bytes note, struct err *err)
{
    char from[4300], to[4300];
    int result = file_write(c->dir, "note.new", note, err);
    snprintf(from, sizeof(from), "%s/note.new", c->dir);
    snprintf(to, sizeof(to), "%s/note", c->dir);
    if (result == 0 && rename(from, to) < 0) {
        result = err_set(err, ERR_IO, "cannot write %s: %s", to, strerror(errno));
    }
    if (result == 0) {
        note_changed(c, note);
    } else {
        unlink(from);
    }
    return result;
}

static void on_note(struct driver_job *j, enum job_event event)
{
    struct verb_op *op = job_owner(j);
    struct driver_container *c = map_get(&op->driver->containers, op->guid);
    char text[512];
    SCOPED_BUF(note);
    if (common_event(op, j, event)) {
        return;
    }
    bool done = job_began(j) && job_exit_code(j) == 0;
    if (c && file_read(op->dir, "note", NOTE_BYTES_MAX, &note, NULL) == 0) {
        note_changed(c, buf_bytes(&note));
    }
    op_answer(op, done ? VERB_DONE : VERB_FAILED, 0,
              done ? "" : words_of(job_text(j), text, sizeof(text)));
    op_free(op);
}

/* Syncing takes as long as the disk likes, so a child does it: one after the other, for its jobs
 * take turns, and none that an earlier driver left (notes_withdraw()). */
static int run_note(struct verb_op *op, const struct verb_call *call, struct err *err)
{
    char name[64];
    struct command c;
    note_name_new(name, sizeof(name));
    int result = file_write(op->dir, name, call->note, err);
    if (result < 0) {
        return result;
    }
    command_init(&c);
    shim_command(op->driver, &c, "note");
    command_add(&c, "--note=%s", name);
    result = op_run(op, &c, call->deadline_ns, false, on_note, err);
    command_done(&c);
    return result;
}

static void call_note(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = map_get(&op->driver->containers, op->guid);
    if (!c) {
        op_fail(op, "there is no such container");
    } else if (call->note.size > NOTE_BYTES_MAX) {
        op_fail(op, "the note is too large");
    } else if (call->durable) {
        if (run_note(op, call, &op->err) < 0) {
            op_fail(op, op->err.text);
        }
    } else if (write_note(c, call->note, &op->err) < 0) {
        op_fail(op, op->err.text);
    } else {
        op_answer(op, VERB_DONE, 0, "");
        op_free(op);
    }
}

/* ---- From outside ---- */

void verb_begin(struct driver *d, const struct verb_call *call)
{
    static void (*const calls[VERB_COUNT])(struct verb_op *op, const struct verb_call *call) = {
        [VERB_PREPARE] = call_prepare, [VERB_START] = call_start, [VERB_SIGNAL] = call_signal,
        [VERB_REMOVE] = call_remove,   [VERB_EXEC] = verb_exec,
        [VERB_NOTE] = call_note,       [VERB_BEGIN] = verb_begin_step,
        [VERB_CUT] = verb_cut_step,    [VERB_SAY] = verb_say,
        [VERB_RUN] = verb_run,         [VERB_FORGET] = verb_forget,
    };
    assert(call->verb < VERB_COUNT && calls[call->verb]);
    calls[call->verb](op_new(d, call), call);
}

void verb_clear(struct driver *d, const char *guid, int64_t deadline_ns)
{
    struct verb_call call = {.verb = VERB_REMOVE, .guid = guid};
    struct verb_op *op = op_new(d, &call);
    op->answered = true; /* nobody asked */
    if (run_remove(op, true, deadline_ns, NULL) < 0) {
        op_free(op);
    }
}
