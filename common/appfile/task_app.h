/* Task files: what `bbs run` is told to do once, in YAML or JSON. Keys are the API's own (the JSON
 * names of TaskDefinition, and task_guid and domain) and the shorthands of app files: command, user,
 * dir, env, image, memory, disk, metric_tags (app.h), and
 *
 *   name: backup            required unless task_guid is given
 *   task_guid: backup-7     what nobody else may have; drawn when left out: the name and a random part
 *   max_retries: 3          rejections by cells, after which the next one fails it
 *   keep: 2h                how long it is kept when it is over and nobody deletes it
 *
 * Left out: domain is "default", memory 128M, disk 256M, log_guid the name, metric_tags
 * {source_id: name}. A file holds one task. */
#ifndef COMMON_APPFILE_TASK_APP_H
#define COMMON_APPFILE_TASK_APP_H

#include "common/appfile/node.h"
#include "common/base/arena.h"
#include "common/base/err.h"
#include "models/task_requests.pb-c.h"

struct task_app {
    const char *name;
    bool guid_given;
    /* Ready to be sent but for task_guid where it was not given ("" then). */
    Models__DesireTaskRequest *request;
};

/* As appfile_parse(). */
int task_app_parse(struct arena *a, const char *file, struct bytes text, struct task_app *ret_task,
                   struct err *err);

#endif
