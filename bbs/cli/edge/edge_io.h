/* The verbs of `bbs flavors`, `edge-apps`, `cloudlets`, `clusters` and `appinsts`, and what they
 * share. */
#pragma once

#include "bbs/cli/commands_io.h"
#include "bbs/cli/edge/edge_follow.h"
#include "bbs/cli/edge/edge_tables.h"
#include "bbs/cli/session_io.h"

/* POSTs to /v1/edge/<path>; the answer lives in `a`. */
int edge_call(struct session *s, struct arena *a, const char *path, const ProtobufCMessage *request,
              const ProtobufCMessageDescriptor *answer_type, ProtobufCMessage **ret_answer,
              struct err *err);

/* One kind of object that has operations. */
struct edge_noun {
    const char *path; /* "instance": /v1/edge/instance/... */
    const char *word; /* "app instance" */
    const ProtobufCMessageDescriptor *list;
    /* The one of this name in an answer of that list; false = there is none. */
    bool (*find)(const ProtobufCMessage *answer, const char *name, struct edge_thing *ret);
};
extern const struct edge_noun edge_cloudlet_noun, edge_cluster_noun, edge_instance_noun;

/* The records of this name and below it ("" = all), and what their tables need. The session's arena
 * has them. */
int edge_list(struct session *s, const char *noun, const char *name,
              const ProtobufCMessageDescriptor *list, ProtobufCMessage **ret, struct err *err);
int edge_read_board(struct session *s, const char *name, struct edge_board *ret, struct err *err);

/* "there is no cluster "acme/pris/dev/web"; did you mean ...?" of these names; says if a verb was
 * meant. */
int edge_not_found(const struct invocation *call, const char *noun, const char *name,
                   const char *const *names, size_t count, struct err *err);

/* How the operation of this uid goes; NULL = nothing is known of it, or there is no uid. */
int edge_progress(struct session *s, struct arena *a, const char *uid,
                  const Board__ProgressRecord **ret, struct err *err);

/* Prints a line: "acme/paris/dev/web: create requested"; in JSON {"name":...,"result":...}. */
int edge_done(struct session *s, const char *name, const char *result, const char *sentence,
              struct err *err);

/* Asks for the change, whose override is that of the call, and follows it by --wait and --follow;
 * else it says that the change is requested. */
int edge_change(struct session *s, const struct edge_noun *noun, const char *verb, const char *name,
                Board__EdgeMove *says, struct err *err);

/* Its parts, of a command that asks for several. Asks, and notes what is waited for; edge_await()
 * looks until there is an end, the session's time is over (EDGE_GOES_ON) or it is interrupted. */
int edge_begin(struct session *s, const struct edge_noun *noun, const char *verb, const char *name,
               Board__EdgeMove *says, bool waits, struct edge_wanted *ret, struct err *err);
int edge_await(struct session *s, const struct edge_noun *noun, struct edge_wanted *w, bool follows,
               enum edge_end *ret_end, const char **ret_why, struct err *err);

/* Follows what is under way of it, from the first line on; of one that is gone `name` is its uid.
 */
int edge_follow(struct session *s, const struct edge_noun *noun, const char *name, struct err *err);

/* --wait, --follow, --timeout and --override of what has operations. */
extern const struct cli_option bbs_edge_wait_options[];
extern const struct cli_option bbs_edge_follow_options[]; /* --timeout of a follow */

/* Each as cli_command.run. */
int bbs_flavors_show_run(const struct invocation *call, struct err *err);
int bbs_flavors_set_run(const struct invocation *call, struct err *err);
int bbs_flavors_rm_run(const struct invocation *call, struct err *err);
int bbs_edge_apps_show_run(const struct invocation *call, struct err *err);
int bbs_edge_apps_apply_run(const struct invocation *call, struct err *err);
int bbs_edge_apps_rm_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_show_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_tree_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_create_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_update_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_upgrade_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_maintain_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_confirm_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_follow_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_why_run(const struct invocation *call, struct err *err);
int bbs_cloudlets_rm_run(const struct invocation *call, struct err *err);
int bbs_clusters_show_run(const struct invocation *call, struct err *err);
int bbs_clusters_create_run(const struct invocation *call, struct err *err);
int bbs_clusters_update_run(const struct invocation *call, struct err *err);
int bbs_clusters_follow_run(const struct invocation *call, struct err *err);
int bbs_clusters_why_run(const struct invocation *call, struct err *err);
int bbs_clusters_rm_run(const struct invocation *call, struct err *err);
int bbs_appinsts_show_run(const struct invocation *call, struct err *err);
int bbs_appinsts_create_run(const struct invocation *call, struct err *err);
int bbs_appinsts_update_run(const struct invocation *call, struct err *err);
int bbs_appinsts_refresh_run(const struct invocation *call, struct err *err);
int bbs_appinsts_follow_run(const struct invocation *call, struct err *err);
int bbs_appinsts_why_run(const struct invocation *call, struct err *err);
int bbs_appinsts_rm_run(const struct invocation *call, struct err *err);

extern const struct cli_option bbs_flavor_options[];
extern const struct cli_option bbs_cloudlet_create_options[];
extern const struct cli_option bbs_cloudlet_update_options[];
extern const struct cli_option bbs_cluster_create_options[];
extern const struct cli_option bbs_cluster_update_options[];
extern const struct cli_option bbs_appinst_options[];
extern const struct cli_option bbs_appinst_refresh_options[];
