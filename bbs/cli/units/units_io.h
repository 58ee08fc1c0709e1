/* The verbs of `bbs units`, and what they share. */
#pragma once

#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"

/* POSTs to /v1/units/<path>; the answer lives in the session's arena. */
int units_call(struct session *s, const char *path, const ProtobufCMessage *request,
               const ProtobufCMessageDescriptor *answer_type, ProtobufCMessage **ret_answer,
               struct err *err);

/* The same of a change, of whose answer nothing is wanted. */
int units_change(struct session *s, const char *path, const ProtobufCMessage *request,
                 struct err *err);

/* The error `r`, of the service of this name: it stands before a text that does not name it. */
int units_about(struct session *s, const char *name, int r, struct err *err);

/* Prints a line: "web/0 is being destroyed: ..."; in JSON {"name":...,"result":...}. */
int units_done(struct session *s, const char *name, const char *result, const char *sentence,
               struct err *err);

/* The needs of --to and --unused; NULL = none is given. */
int units_needs_read(struct session *s, const struct invocation *call, Board__UnitNeeds **ret_needs,
                     struct err *err);

/* How long a forced end waits, of --force and --max-wait; 0 = as the bbs does. */
int units_force_read(const struct invocation *call, bool *ret_forced, int64_t *ret_max_wait_ms,
                     struct err *err);

/* Each as cli_command.run. */
int bbs_units_status_run(const struct invocation *call, struct err *err);
extern const struct cli_option bbs_unit_logs_options[];
int bbs_units_logs_run(const struct invocation *call, struct err *err);
int bbs_units_why_run(const struct invocation *call, struct err *err);
int bbs_units_machines_run(const struct invocation *call, struct err *err);
int bbs_units_relations_run(const struct invocation *call, struct err *err);
int bbs_units_deploy_run(const struct invocation *call, struct err *err);
int bbs_units_add_run(const struct invocation *call, struct err *err);
int bbs_units_upgrade_run(const struct invocation *call, struct err *err);
int bbs_units_config_run(const struct invocation *call, struct err *err);
int bbs_units_resolved_run(const struct invocation *call, struct err *err);
int bbs_units_relate_run(const struct invocation *call, struct err *err);
int bbs_units_add_machine_run(const struct invocation *call, struct err *err);
int bbs_units_cordon_run(const struct invocation *call, struct err *err);
int bbs_units_uncordon_run(const struct invocation *call, struct err *err);
int bbs_units_destroy_unit_run(const struct invocation *call, struct err *err);
int bbs_units_destroy_service_run(const struct invocation *call, struct err *err);
int bbs_units_destroy_relation_run(const struct invocation *call, struct err *err);
int bbs_units_destroy_machine_run(const struct invocation *call, struct err *err);
