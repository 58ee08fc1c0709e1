/* Runs: processes that begin beside a container's own, once and for all. To the shim one is a step:
 * steps/N/ of the container's directory has its words, its begin and its end, and `tail`, the last
 * that it wrote. Those are written when it is asked for, and go when it is forgotten. */
#include "common/base/memory.h"
#include "rep/driver/verb_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* What is forgotten goes in one move: nobody finds half of it. */
#define GONE "steps/gone"

bool run_number(uint32_t step)
{
    return step >= RUN_FIRST && step <= RUN_LAST;
}

/* What an earlier driver left of it goes first. -1 with errno. */
static int clear_gone(const char *dir)
{
    char *path = mem_printf("%s/" GONE, dir);
    DIR *all = opendir(path);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            unlinkat(dirfd(all), e->d_name, 0);
        }
    }
    if (all) {
        closedir(all);
    }
    int result = rmdir(path) < 0 && errno != ENOENT ? -1 : 0;
    free(path);
    return result;
}

int run_delete(const char *dir, uint32_t number, struct err *err)
{
    char *from = mem_printf("%s/steps/%u", dir, number), *to = mem_printf("%s/" GONE, dir);
    int result = clear_gone(dir);
    result = result < 0 ? result : rename(from, to);
    result = result < 0 && errno == ENOENT ? 0 : result;
    if (result < 0) {
        result = err_set(err, ERR_IO, "cannot delete %s: %s", from, strerror(errno));
    } else {
        clear_gone(dir);
    }
    free(from);
    free(to);
    return result;
}

/* With the container's own rights and limits. */
int run_write(const char *dir, const struct step_process *run, const struct oci_params *p,
              const char *home, struct err *err)
{
    static const char *const kept[] = {"capabilities", "rlimits", "noNewPrivileges", "oomScoreAdj"};
    const struct container_spec own = {.path = run->path,
                                       .args = run->args,
                                       .env = run->env,
                                       .env_count = run->env_count,
                                       .dir = run->dir};
    char name[64];
    json_t *config = json_read(dir, "config.json", err);
    if (!config) {
        return -err->code;
    }
    json_t *process = oci_process(&own, p, false);
    const json_t *base = json_object_get(config, "process");
    for (size_t i = 0; process && i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_object_set(process, kept[i], json_object_get(base, kept[i]));
    }
    json_decref(config);
    if (process && home) { /* of a plain process, whose words are one part of its file */
        json_t *whole = json_object();
        json_object_set_new(whole, "process", process);
        if (home[0]) {
            json_object_set_new(whole, "home", json_string_nocheck(home));
        }
        process = whole;
    }
    int result = step_dir_make(dir, run->step, err);
    snprintf(name, sizeof(name), "steps/%u/process.json", run->step);
    if (result < 0) {
        json_decref(process);
        return result;
    }
    return json_write(dir, name, process, err);
}

/* ---- RUN ---- */

static int may_run(const struct driver_container *c, const struct step_process *run,
                   struct err *err)
{
    if (!c || c->state != CONTAINER_RUNNING) {
        return err_set(err, ERR_CONFLICT, "the container does not run");
    }
    if (!run_number(run->step) || !run->path || !run->path[0]) {
        return err_set(err, ERR_INVALID, "a run has a program, and a number from %d to %d",
                       RUN_FIRST, RUN_LAST);
    }
    if (steps_knows(c, run->step)) {
        return err_set(err, ERR_EXISTS, "it was run before, and is not forgotten");
    }
    if (steps_runs(c) >= RUNS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "%d runs of a container are kept at most", RUNS_MAX);
    }
    return 0;
}

void verb_run(struct verb_op *op, const struct verb_call *call)
{
    struct driver *d = op->driver;
    struct driver_container *c = container_load(d, op->guid);
    int result = may_run(c, call->run, &op->err);
    op->step = call->run->step;
    if (result == 0) {
        steps_take_runs(c);
        result = d->ops->run(d, op->guid, op->dir, call->run, &op->err);
        result = result < 0 ? result : step_begin(op, call->run, call->deadline_ns, &op->err);
        if (result < 0) {
            run_delete(op->dir, op->step, NULL);
        }
    }
    if (result < 0) {
        op_fail(op, op->err.text);
    } else {
        steps_beginning(c, op->step, true);
    }
}

/* ---- FORGET ---- */

void verb_forget(struct verb_op *op, const struct verb_call *call)
{
    struct driver_container *c = container_load(op->driver, op->guid);
    if (c && run_number(call->step) && steps_forget(c, call->step, &op->err) < 0) {
        op_fail(op, op->err.text);
        return;
    }
    op_answer(op, VERB_DONE, 0, "");
    op_free(op);
}

/* ---- READ ---- */

int run_output(const struct driver_container *c, uint32_t number, struct buf *out, struct err *err)
{
    char name[64];
    snprintf(name, sizeof(name), "steps/%u/tail", number);
    if (!run_number(number) || !steps_knows(c, number)) {
        return err_set(err, ERR_NOT_FOUND, "the container has no run %u", number);
    }
    int result = file_read(c->dir, name, RUN_OUTPUT_MAX, out, err);
    return result < 0 && errno == ENOENT ? 0 : result; /* nobody kept it, as it was lost */
}
