/* The calls about tasks that several commands of `bbs` make. */
#pragma once

#include "bbs/cli/session_io.h"
#include "models/task.pb-c.h"

/* All tasks, of a domain and on a cell if not "". */
int session_tasks(struct session *s, const char *domain, const char *cell,
                  Models__Task ***ret_tasks, size_t *ret_count, struct err *err);

/* The task with this guid, in `a`; ERR_NOT_FOUND. */
int session_task_by_guid(struct session *s, struct arena *a, const char *guid,
                         Models__Task **ret_task, struct err *err);

/* The task with this guid, else the one of this name that task_meant() gives. ERR_NOT_FOUND with
 * the nearest name; ERR_CONFLICT when it is not clear which is meant. */
int session_task(struct session *s, const char *name, Models__Task **ret_task, struct err *err);

/* ERR_NOT_FOUND; says if a process has the name, else the nearest name of those that there are. */
int session_no_task(struct session *s, const char *name, Models__Task *const *tasks, size_t count,
                    struct err *err);

/* Ends one that is not over. That it was over already is ERR_CONFLICT, unless it is over because an
 * earlier try of this call, whose answer was lost, had cancelled it. */
int session_cancel_task(struct session *s, const char *guid, struct err *err);

/* Deletes one that is over, as Diego's clients do; that somebody else has deleted it is no error.
 */
int session_delete_task(struct session *s, const char *guid, struct err *err);
