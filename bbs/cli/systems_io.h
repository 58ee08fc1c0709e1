/* What the commands about systems share: their records as the feed gives them, their paths of REST,
 * and waiting. */
#pragma once

#include "bbs/cli/session_io.h"
#include "bbs/cli/system_board.h"
#include "bbs/cli/system_why.h"

/* Of a command whose --timeout is for waiting: answers are waited for 10 s at most from now on.
 * Gives the time for waiting. */
int64_t system_patience(struct session *s);

/* All systems there are, by id. */
int systems_get(struct session *s, struct system_view *ret, struct err *err);

/* Whether a system has the id. ERR_NOT_FOUND, with the nearest id, when none has it. */
int systems_find(struct session *s, const char *id, const Board__SystemRecord **ret,
                 struct err *err);

/* One system with all its records, as they stand; ERR_NOT_FOUND as above. */
int system_get(struct session *s, const char *id, struct system_view *ret, struct err *err);

/* ERR_NOT_FOUND: the system of the view has no build, deploy, teardown or run of a job that the id
 * means. The text says of which system one is, or that the id means several. */
int system_no_such(struct session *s, const struct system_view *v, enum record_type type,
                   const char *id, struct err *err);

/* Follows a system. `look` is called at each change and each second; it gives 0 to go on, 1 when
 * the end is seen, or an error. `fresh`: what a bbs gave is not of before the following began, so
 * that what is not there is gone. Ends with 0; ERR_TIMEOUT after `limit_ms` (-1 = never), without
 * a text of its own; or "interrupted". */
struct system_follow {
    const char *id, *uid;
    int64_t limit_ms;
    int (*look)(void *owner, struct arena *a, const struct system_view *v, bool fresh,
                struct err *err);
    void *owner;
};
int system_follow(struct session *s, const struct system_follow *f, struct err *err);

/* Adds to an explanation of what is not well that the converger which leads by the view does not
 * answer, so that nobody does what it waits for. */
void system_add_lack(struct session *s, const struct system_view *v, struct system_why *w);

/* A path of REST below /v1/systems/ID; `rest` "" or "/deploys". `body` JSON, NULL = none. The
 * answer lives in the session. Errors say the system's id. */
int system_rest(struct session *s, const char *method, const char *id, const char *rest,
                const char *body, struct bytes *ret_body, struct err *err);

/* Prints an answer as it is: of a list a line each. */
int system_print_json(struct session *s, struct bytes body, struct err *err);

/* A UUID, drawn. */
const char *draw_uuid(struct arena *a);

/* Argument n of a call, of which the first may come from CORKBOARD_SYSTEM; NULL = there is none. */
const char *system_argument(const struct invocation *call, size_t n);

/* CORKBOARD_SYSTEM; NULL = it is not set. Never for what ends or deletes. */
const char *system_by_default(void);

/* The first argument as SYSTEM or SYSTEM:PATH, "/" without a path; where CORKBOARD_SYSTEM says the
 * system, none at all or /PATH. ERR_INVALID when there is none, or it is no path. */
int system_target(const struct invocation *call, const char **ret_id, const char **ret_path,
                  struct err *err);

/* The same of [SYSTEM] [ID]; NULL in *ret_of without an ID. A single argument is the ID where
 * CORKBOARD_SYSTEM says the system, unless a system is called so. */
int system_target_id(struct session *s, const struct invocation *call, const char **ret_id,
                     const char **ret_path, const char **ret_of, struct err *err);

/* ERR_INVALID without an ID: its one argument was taken for the system. */
int system_needs_id(const struct invocation *call, const char *id, struct err *err);

/* Waits for a deploy or teardown, with a line of progress, or as a tree that lives (`watch`), until
 * it is over: exit status 0, 1 failed, 4 somebody else held a part of it. What was interrupted, or
 * not over in time, goes on: the error says so, and how it is found again. */
struct action_wait {
    const Board__SystemRecord *system;
    const char *id;
    bool teardown, watch;
    int64_t limit_ms;
};
int action_wait(struct session *s, const struct action_wait *w, struct err *err);

/* Shows a system as a tree; with `watch` until it is at rest, on a terminal drawn anew at each
 * change, elsewhere a line for each. */
int tree_show(struct session *s, const char *id, const char *top, bool watch, struct err *err);

/* `why` of a system, or of what stands at and below a path. */
int system_explain(struct session *s, const char *id, const char *path, struct err *err);

/* Whether a NAME means a system, or a part of one. */
int session_is_system(struct session *s, const char *name, bool *ret, struct err *err);

/* The same, but no when an app has the name: that is meant then ("shop:" means the system). */
int session_means_system(struct session *s, const char *name, bool *ret, struct err *err);

/* "pause", "resume" or "abort" of the deploy under way that holds what `name` means. ERR_CONFLICT
 * when there is none, or more than one. */
int session_change_deploy(struct session *s, const char *name, const char *verb, struct err *err);

/* The guid of the task of the newest run of the job at the path; NULL when the path is no job's.
 * ERR_NOT_FOUND and "" when it was never run, or the run has no task yet. */
int session_newest_run(struct session *s, const char *system, const char *path,
                       const char **ret_guid, struct err *err);

/* Cancels the runs of jobs at and below a path that are not over; ERR_CONFLICT if there is none. */
int session_cancel_job(struct session *s, const char *system, const char *path, struct err *err);

/* The definition in a file, with the files that it refers to joined in, as a text. Mistakes are all
 * said at once, with CLI_USAGE; `system`: the id that it is for, "" = any. */
int system_file_read(struct arena *a, const char *file, const char *system, struct bytes *ret,
                     struct err *err);

/* Of --wait and --watch of what may take long. */
extern const struct cli_option bbs_long_wait_options[];
extern const struct cli_option bbs_watch_options[];
