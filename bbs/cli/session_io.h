/* What the commands of `bbs` share: a client, an arena, the lists they ask for, and waiting. */
#pragma once

#include "bbs/cli/lrps.h"
#include "bbs/cli/unheard.h"
#include "board.pb-c.h"
#include "common/cli/client_io.h"
#include "system_api.pb-c.h"

struct session {
    struct arena arena;
    struct cli_client *client;
    const struct invocation *call;
    bool json;
    bool show_secrets; /* of session_hide() and session_json() */
    bool wait;
    const char *app; /* of session_wait(): its process is this app's; NULL = a client's own */
    bool unled;      /* no converger led when the app was looked at last */
    bool settle; /* session_wait() takes only what has settled for good: something goes after it */
    const char *guid_key; /* of session_line() in JSON; NULL = "process_guid" */
    /* Of session_print(): said when it cannot be written; NULL = nothing else. */
    const char *instead;
    bool names_task;      /* of session_not_found(): a task has the name */
    const char *halted;   /* of session_count(): what the interrupt came upon, or NULL */
    const char *undone;   /* said then beside it: "1 of 3 applied"; NULL = nothing */
    int status;           /* of session_count(): exit status of the first that failed, or 0 */
    const Board__CellsStatus *cells; /* of session_cells(); NULL = not asked yet */
    struct placed *placed;           /* of session_note_placed() */
    size_t placed_count;
    bool warns_of_lost; /* what was replaced on a LOST cell may run there still: to be said once */
    int64_t begun_ms, timeout_ms; /* the time is for all that the command does */
};

/* Opens with the options of the call; close it even when this fails. */
int session_open(const struct invocation *call, struct session *s, struct err *err);
void session_close(struct session *s);

/* A command of one: opens it, does the work if that went well, closes it. */
int session_run(const struct invocation *call,
                int (*work)(struct session *s, const struct invocation *call, struct err *err),
                struct err *err);

/* Defines its cli_command.run. */
#define SESSION_RUN(run, work)                                                                     \
    int run(const struct invocation *call, struct err *err)                                        \
    {                                                                                              \
        return session_run(call, work, err);                                                       \
    }

/* All desired LRPs, of one domain if not "". */
int session_desired(struct session *s, const char *domain, Models__DesiredLRP ***ret_lrps,
                    size_t *ret_count, struct err *err);

/* Those that `name` means; ERR_NOT_FOUND when there are none, with the nearest name. */
int session_named(struct session *s, const char *name, Models__DesiredLRP ***ret_lrps,
                  size_t *ret_count, struct err *err);

/* ERR_NOT_FOUND; says if a task has the name, else the nearest name of those that there are. */
int session_not_found(struct session *s, const char *name, Models__DesiredLRP *const *lrps,
                      size_t count, struct err *err);

/* All actual LRPs, of one process if not "". They live in `a`. */
int session_actuals(struct session *s, struct arena *a, const char *process_guid,
                    Models__ActualLRP ***ret_actuals, size_t *ret_count, struct err *err);

/* The cells and the mass-loss limiter; asked once a command. */
int session_cells(struct session *s, const Board__CellsStatus **ret_cells, struct err *err);

/* Warns of a root filesystem that no cell has: what was just desired waits for one that has. */
void session_warn_of_rootfs(struct session *s, const char *name, const char *rootfs);

/* Stands for a process that is not desired any more while records of it are left; NULL when none
 * is. It is known by its process_guid alone. */
Models__DesiredLRP *session_left(struct session *s, const char *process_guid);

/* Waits until a process has `desired` instances that run, and no others; looks at least once.
 * ERR_CONFLICT when somebody removes it meanwhile, or asks for another number of instances;
 * CLI_TIMEOUT at once, after having said so, when all that is left to do is with cells that are not
 * heard. At the end of the session's time: 0 if all run but have not settled yet (with `settle` it
 * goes on until they have, at most LRP_SETTLED_NS, and gives CLI_TIMEOUT if they do not),
 * CLI_PARTLY_PLACED if some run, CLI_TIMEOUT if none does, after having said why. */
int session_wait(struct session *s, const char *name, const char *process_guid, int32_t desired,
                 struct err *err);

/* The cells as they are now, in `a`. */
int session_cells_now(struct session *s, struct arena *a, const Board__CellsStatus **ret_cells,
                      struct err *err);

/* Before instances with an index of at least `from` are told to stop: notes where they are, if they
 * are waited for, because the board gives up at once what a cell has of which it hears nothing. */
int session_note_placed(struct session *s, const char *name, const char *process_guid,
                        int32_t from, struct err *err);

/* What is left of the time of the command; at least 0. */
int64_t session_left_ms(const struct session *s);

/* The same, and no more than the limit: of a question that is worth a short wait. */
int64_t session_at_most_ms(const struct session *s, int64_t limit_ms);

/* How long one look at the board may take while something is waited for, `left_ms` before the end:
 * a slow answer is not the end of the waiting, but the end comes in time. */
int64_t session_look_ms(int64_t left_ms);

/* Removes a process, or the app that it is of, and tells it so. */
int session_remove(struct session *s, const char *name, const Models__DesiredLRP *lrp,
                   struct err *err);

/* Of a command that goes on with the next one when one fails: takes what the work on `name` gave,
 * 0, an exit status, or an error code with its text, which is reported at once (of an interrupt: by
 * session_end()); in JSON mode also on standard output, as {"name":...,"error":...}. */
void session_count(struct session *s, const char *name, int r, struct err *err);

/* Asked before each of them: false once it was interrupted. What is left undone then makes a status
 * that is not 0, also if all that was begun was done. */
bool session_goes_on(struct session *s);

/* Asks the bbs about an app; the answer lives in `a`. */
int session_service(struct session *s, struct arena *a, Board__ServiceRequest__Action action,
                    const char *app, const Board__ServiceResponse **ret, struct err *err);

/* The same of a request that says more. */
int session_service_call(struct session *s, struct arena *a, const Board__ServiceRequest *request,
                         const Board__ServiceResponse **ret, struct err *err);

/* Says so, if what an app waits for is a converger that leads. */
void session_warn_of_unled(struct session *s, const char *name);

/* How such a command ends: with the status that was counted; or, interrupted with something not
 * done, with ERR_UNKNOWN and what is half done: "interrupted; web: 0 of 2 running; it goes on", and
 * `undone`. */
int session_end(struct session *s, struct err *err);

/* Puts the name before what a bbs said, which does not know it, and adds that it may have been done
 * if the answer to a change is missing. Gives r again. */
int session_about(struct session *s, const char *name, int r, struct err *err);

/* Hides what is secret in it, unless the call has --show-secrets. */
void session_hide(struct session *s, ProtobufCMessage *m);

/* Appends it as a line of JSON, with our own fields and without its secrets. */
void session_json(struct session *s, ProtobufCMessage *m, struct buf *out);

/* The NAME[/N], or NAME and N, of a call; an index of -1 = all. With --task there is none. */
int cli_target(const struct invocation *call, const char **ret_name, int32_t *ret_index,
               struct err *err);

/* cli_print(), or cli_print_or() if something is said `instead`. */
int session_print(struct session *s, struct bytes text, struct err *err);

/* Prints a line, in JSON mode {"name":...,"process_guid":...,"result":...}. */
int session_line(struct session *s, const char *name, const char *process_guid, const char *result,
                 struct err *err);
