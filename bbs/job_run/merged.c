/* The snapshot of a job that a run executes: its definition, with what the request says. */
#include "bbs/job_run/job_run.h"

#include <assert.h>
#include <string.h>

static Models__TaskDefinition *task_copy(struct arena *a, const Models__TaskDefinition *task)
{
    size_t size = models__task_definition__get_packed_size(task);
    uint8_t *packed = arena_alloc(a, size);
    ProtobufCAllocator allocator = arena_protobuf(a);
    models__task_definition__pack(task, packed);
    Models__TaskDefinition *copy = models__task_definition__unpack(&allocator, size, packed);
    assert(copy); /* it was a message */
    return copy;
}

/* The action that runs a program, within those that bound or tell of it; NULL = there is none. */
static Models__RunAction *run_action(Models__Action *action)
{
    while (action) {
        if (action->run_action) {
            return action->run_action;
        }
        action = action->timeout_action         ? action->timeout_action->action
                 : action->try_action           ? action->try_action->action
                 : action->emit_progress_action ? action->emit_progress_action->action
                                                : NULL;
    }
    return NULL;
}

/* Of a name that is set anew only the new value counts. */
static bool is_replaced(const Board__JobRunRequest *r, const char *name)
{
    for (size_t i = 0; i < r->n_environment; i++) {
        if (strcmp(r->environment[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Takes what is set anew out of a list; gives how many stay. */
static size_t without_replaced(const Board__JobRunRequest *r, Models__EnvironmentVariable **list,
                               size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_replaced(r, list[i]->name)) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static void merge_environment(struct arena *a, Models__TaskDefinition *t, Models__RunAction *run,
                              const Board__JobRunRequest *r)
{
    size_t kept = without_replaced(r, t->environment_variables, t->n_environment_variables);
    Models__EnvironmentVariable **all =
        ARENA_ARRAY(a, kept + r->n_environment, Models__EnvironmentVariable *);
    for (size_t i = 0; i < kept; i++) {
        all[i] = t->environment_variables[i];
    }
    for (size_t i = 0; i < r->n_environment; i++) {
        all[kept + i] = r->environment[i];
    }
    t->environment_variables = all;
    t->n_environment_variables = kept + r->n_environment;
    if (run) {
        run->n_env = without_replaced(r, run->env, run->n_env);
    }
}

Models__TaskDefinition *job_run_merged(struct arena *a, const Models__TaskDefinition *task,
                                       const Board__JobRunRequest *request)
{
    Models__TaskDefinition *merged = task_copy(a, task);
    Models__RunAction *run = run_action(merged->action);
    merge_environment(a, merged, run, request);
    if (run && request->n_command) {
        run->path = request->command[0];
        run->args = request->command + 1;
        run->n_args = request->n_command - 1;
    }
    return task_copy(a, merged); /* nothing is shared with the request */
}

/* ---- Its Task's name ------------------------------------------------------------------------- */

/* As guids of tasks are: A-Z a-z 0-9 - _ . The end of a path tells more than its beginning. */
char *job_run_task_guid(struct arena *a, const Board__JobRunRecord *run, bool whole)
{
    enum { NAME_BYTES_MAX = 160, SHORT_ID = 8, UUID_BYTES = 36 };
    char *name = arena_printf(a, "%s%s", run->system, run->path);
    size_t size = strlen(name);
    name += size > NAME_BYTES_MAX ? size - NAME_BYTES_MAX : 0;
    for (char *c = name; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '-';
        *c = plain ? *c : '_';
    }
    assert(*run->system && *run->path && *run->id);
    bool all = whole || strlen(run->id) != UUID_BYTES;
    return arena_printf(a, "%s-%.*s", name, all ? JOB_RUN_ID_BYTES_MAX : SHORT_ID, run->id);
}
