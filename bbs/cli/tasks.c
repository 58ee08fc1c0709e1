#include "bbs/cli/tasks.h"

#include "common/cli/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEEP_DEFAULT_S = 24 * 60 * 60 }; /* by a bbs */

bool task_is_over(const Models__Task *task)
{
    return task->state == MODELS__TASK__STATE__Completed ||
           task->state == MODELS__TASK__STATE__Resolving;
}

static const char *state_name(const Models__Task *task)
{
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value(&models__task__state__descriptor, (int)task->state);
    return v ? v->name : "?";
}

const char *task_state_text(struct arena *a, const Models__Task *task)
{
    if (!task_is_over(task)) {
        return text_upper(a, state_name(task));
    }
    const char *how = task->failed ? "FAILED" : "SUCCEEDED";
    return task->state == MODELS__TASK__STATE__Resolving ? arena_printf(a, "%s (resolving)", how)
                                                         : how;
}

const char *task_cell(const Models__Task *task)
{
    return task->state == MODELS__TASK__STATE__Running      ? task->cell_id
           : task_is_over(task) && *task->ran_on_cell_id    ? task->ran_on_cell_id
           : task_is_over(task)                             ? task->cell_id
                                                            : "";
}

static bool is_in_state(const Models__Task *task, const char *state)
{
    if (task_is_over(task) && strcmp(state, task->failed ? "failed" : "succeeded") == 0) {
        return true;
    }
    return strcasecmp(state, state_name(task)) == 0;
}

static bool is_selected(const Models__Task *task, const struct task_selection *s)
{
    if (s->name && !task_has_name(task, s->name)) {
        return false;
    }
    if (s->over_before_ns &&
        !(task_is_over(task) && task->first_completed_at <= s->over_before_ns)) {
        return false;
    }
    return (!s->state || is_in_state(task, s->state)) &&
           (!s->cell || strcmp(task_cell(task), s->cell) == 0);
}

static int by_age(const void *left, const void *right)
{
    const Models__Task *a = *(Models__Task *const *)left, *b = *(Models__Task *const *)right;
    if (a->created_at != b->created_at) {
        return a->created_at < b->created_at ? -1 : 1;
    }
    return strcmp(a->task_guid, b->task_guid);
}

size_t tasks_selected(struct arena *a, Models__Task *const *tasks, size_t count,
                      const struct task_selection *selection, Models__Task ***ret_found)
{
    Models__Task **found = ARENA_ARRAY(a, count, Models__Task *);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_selected(tasks[i], selection)) {
            found[n++] = tasks[i];
        }
    }
    if (n > 0) {
        qsort(found, n, sizeof(*found), by_age);
    }
    *ret_found = found;
    return n;
}

Models__Task *task_meant(Models__Task *const *named, size_t count)
{
    Models__Task *going_on = NULL;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!task_is_over(named[i])) {
            going_on = named[i];
            n++;
        }
    }
    return n == 1 ? going_on : n == 0 && count > 0 ? named[count - 1] : NULL;
}

static bool is_awaited(const Models__Task *task)
{
    const Models__TaskDefinition *d = task->task_definition;
    return task->state != MODELS__TASK__STATE__Completed || (d && *d->completion_callback_url);
}

size_t tasks_to_remove(Models__Task **tasks, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_awaited(tasks[i])) {
            Models__Task *over = tasks[i];
            memmove(&tasks[n + 1], &tasks[n], (i - n) * sizeof(*tasks));
            tasks[n++] = over;
        }
    }
    return n;
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

const char *task_failure_text(struct arena *a, const Models__Task *task)
{
    /* As Diego says it, without the file. */
    static const char no_result[] = "failed to fetch result";
    const Models__TaskDefinition *d = task->task_definition;
    return d && *d->result_file && strcmp(task->failure_reason, no_result) == 0
               ? arena_printf(a, "%s from %s", no_result, d->result_file)
               : or_dash(task->failure_reason);
}

/* "once: no room", "3 times, the last time: no room" */
static const char *rejections_text(struct arena *a, const Models__Task *task)
{
    return arena_printf(a, "%s%s: %s", times_text(a, task->rejection_count),
                        task->rejection_count > 1 ? ", the last time" : "",
                        or_dash(task->rejection_reason));
}

/* Why it waits, or failed; NULL when there is nothing to say. */
static const char *problem(struct arena *a, const Models__Task *task)
{
    if (task_is_over(task) && task->failed) {
        return arena_printf(a, "failed: %s", task_failure_text(a, task));
    }
    if (task->state == MODELS__TASK__STATE__Pending && task->rejection_count > 0) {
        return arena_printf(a, "rejected %s", rejections_text(a, task));
    }
    return NULL;
}

void tasks_table(struct arena *a, Models__Task *const *tasks, size_t count, int64_t now_ns,
                 bool terminal, struct buf *out)
{
    struct table t;
    table_init(&t, a, 6, (const char *[]){"TASK", "GUID", "STATE", "CELL", "AGE", "DOMAIN"});
    t.terminal = terminal;
    for (size_t i = 0; i < count; i++) {
        const Models__Task *k = tasks[i];
        table_add(&t, (const char *[]){task_name(k), k->task_guid, task_state_text(a, k),
                                       or_dash(task_cell(k)), age_text(a, now_ns - k->created_at),
                                       k->domain});
        const char *why = problem(a, k);
        if (why) {
            table_note(&t, why);
        }
    }
    table_print(&t, out);
}

static void add(struct table *t, const char *name, const char *value)
{
    table_add(t, (const char *[]){name, or_dash(value)});
}

/* A line of the result is a row; what ends the last one is no part of it. */
static void add_result(struct table *t, const char *result)
{
    const char *name = "result";
    while (*result) {
        size_t size = strcspn(result, "\n");
        table_add(t, (const char *[]){name, size ? arena_strndup(t->arena, result, size) : " "});
        name = " ";
        result += size + (result[size] == '\n');
    }
}

static const char *ago(struct arena *a, int64_t at_ns, int64_t now_ns)
{
    return at_ns ? arena_printf(a, "%s ago", age_text(a, now_ns - at_ns)) : "-";
}

void task_text(struct arena *a, const Models__Task *k, int64_t now_ns, struct buf *out)
{
    const Models__TaskDefinition *d = k->task_definition;
    struct table t;
    table_init(&t, a, 2, (const char *[]){"TASK", task_name(k)});
    add(&t, "guid", k->task_guid);
    add(&t, "domain", k->domain);
    add(&t, "state", task_state_text(a, k));
    add(&t, "cell", task_cell(k));
    add(&t, "created", ago(a, k->created_at, now_ns));
    add(&t, "changed", ago(a, k->updated_at, now_ns));
    add(&t, "over", ago(a, k->first_completed_at, now_ns));
    if (k->rejection_count > 0) {
        add(&t, "rejected", rejections_text(a, k));
    }
    if (k->failed) {
        add(&t, "failed", task_failure_text(a, k));
    }
    if (d) {
        add(&t, "rootfs", d->root_fs);
        add(&t, "memory", arena_printf(a, "%d MB", (int)d->memory_mb));
        add(&t, "disk", arena_printf(a, "%d MB", (int)d->disk_mb));
        if (*d->completion_callback_url) {
            add(&t, "callback", d->completion_callback_url);
        }
    }
    add_result(&t, k->result);
    table_print(&t, out);
}

static void add_line(struct buf *out, const char *text)
{
    buf_append_string(out, text);
    buf_append_string(out, "\n");
}

/* The result is given as it is: it is the task's own output. */
void task_outcome_text(struct arena *a, const char *name, const Models__Task *task,
                       struct buf *out)
{
    add_line(out, task->failed ? arena_printf(a, "%s failed: %s (%s)", name,
                                              text_printable(a, task_failure_text(a, task)),
                                              task->task_guid)
                               : arena_printf(a, "%s succeeded (%s)", name, task->task_guid));
    if (*task->result) {
        buf_append_string(out, task->result);
        if (task->result[strlen(task->result) - 1] != '\n') {
            buf_append_string(out, "\n");
        }
    }
}

const char *task_progress_text(struct arena *a, const char *name, const Models__Task *task)
{
    const char *why = problem(a, task);
    return arena_printf(a, "%s: %s%s%s%s%s%s", name, task_state_text(a, task),
                        *task_cell(task) ? " on " : "", task_cell(task), why ? " (" : "",
                        why ? text_printable(a, why) : "", why ? ")" : "");
}

const char *task_gone_text(struct arena *a, const char *name,
                           const Models__DesireTaskRequest *request, int64_t unseen_s)
{
    bool keeps =
        request->optional_keep_s_case == MODELS__DESIRE_TASK_REQUEST__OPTIONAL_KEEP_S_KEEP_S;
    int64_t keep_s = keeps ? (int64_t)request->keep_s : KEEP_DEFAULT_S;
    if (*request->task_definition->completion_callback_url) {
        return arena_printf(
            a, "%.60s is over, and its callback was sent the outcome; it has been deleted", name);
    }
    if (unseen_s < keep_s) {
        return arena_printf(a, "%.60s was deleted by somebody else", name);
    }
    return arena_printf(a, "%.60s is over, and was not kept: %s. How it ended is not known", name,
                        keeps ? arena_printf(a, "its file says keep: %llds", (long long)keep_s)
                              : "24 h after its end it is deleted");
}
