/* Task files: what `bbs run` is told to do once, in YAML or JSON. docs/app-file.md lists
 * all keys: the API's own (the JSON names of TaskDefinition, and task_guid and domain), shorthands,
 * and policies of the task. A file holds one task. */
#pragma once

#include "common/appfile/node.h"
#include "common/base/arena.h"
#include "common/base/err.h"
#include "models/task_requests.pb-c.h"

enum { TASK_APP_RETRIES_MAX = 1000 };

struct task_app {
    const char *name;
    bool guid_given;
    /* Ready to be sent but for task_guid where it was not given ("" then). */
    Models__DesireTaskRequest *request;
};

/* As appfile_parse(). */
int task_app_parse(struct arena *a, const char *file, struct bytes text, struct task_app *ret_task,
                   struct err *err);
