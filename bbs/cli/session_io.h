/* What the commands of `bbs` share: a client, an arena, the lists they ask for, and waiting. */
#ifndef BBS_CLI_SESSION_IO_H
#define BBS_CLI_SESSION_IO_H

#include "bbs/cli/lrps.h"
#include "common/cli/client_io.h"
#include "models/task.pb-c.h"

struct session {
    struct arena arena;
    struct cli_client *client;
    bool json;
    bool show_secrets; /* of session_hide() and session_json() */
    bool wait;
    bool settle; /* session_wait() takes only what has settled for good: something goes after it */
    const char *guid_key;         /* of session_tell() in JSON; NULL = "process_guid" */
    int64_t begun_ms, timeout_ms; /* the time is for all that the command does */
};

/* Opens with the options of the call; close it even when this fails. */
int session_open(const struct invocation *call, struct session *s, struct err *err);
void session_close(struct session *s);

/* All desired LRPs, of one domain if not "". */
int session_desired(struct session *s, const char *domain, Models__DesiredLRP ***ret_lrps,
                    size_t *ret_count, struct err *err);

/* Those that `name` means; ERR_NOT_FOUND when there are none, with the nearest name. */
int session_named(struct session *s, const char *name, Models__DesiredLRP ***ret_lrps,
                  size_t *ret_count, struct err *err);

/* All actual LRPs, of one process if not "". They live in `a`. */
int session_actuals(struct session *s, struct arena *a, const char *process_guid,
                    Models__ActualLRP ***ret_actuals, size_t *ret_count, struct err *err);

/* Waits until a process has `desired` instances that run, and no others; looks at least once. At
 * the end of the session's time:
 * 0 if all run but have not settled yet (with `settle` it goes on until they have, at most
 * LRP_SETTLED_NS, and gives CLI_TIMEOUT if they do not), CLI_PARTLY_PLACED if some run, CLI_TIMEOUT
 * if none does, after having said why. */
int session_wait(struct session *s, const char *name, const char *process_guid, int32_t desired,
                 struct err *err);

/* Removes a process and tells it so; with --wait until nothing of it runs. */
int session_remove(struct session *s, const char *name, const Models__DesiredLRP *lrp,
                   const char *result, struct err *err);

/* Hides what is secret in it, unless the call has --show-secrets. */
void session_hide(struct session *s, ProtobufCMessage *m);

/* Appends it as a line of JSON, with our own fields and without its secrets. */
void session_json(struct session *s, ProtobufCMessage *m, struct buf *out);

/* The index given as this argument; untouched when it is not. With --task there is none. */
int cli_index(const struct invocation *call, size_t argument, int32_t *ret_index, struct err *err);

/* Text as a value in the query of a path. */
const char *cli_escaped(struct arena *a, const char *text);

/* The task with this guid, else the only one of this name. ERR_NOT_FOUND with the nearest name;
 * ERR_CONFLICT when several have it. */
int session_task(struct session *s, const char *name, Models__Task **ret_task, struct err *err);

/* Prints a line, in JSON mode {"name":...,"process_guid":...,"result":...}. */
int session_tell(struct session *s, const char *name, const char *process_guid, const char *result,
                 struct err *err);

#endif
