/* What is done at the top about definitions that are being taken up: deploy and teardown of a
 * system; pause, resume, abort and rollback of an app or of a system's deploy. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"
#include "system_api.pb-c.h"

#include <string.h>

/* ---- Apps ---- */

/* A change of a plain app's roll, by the server. */
static int change_app(struct session *s, const char *name, Board__ServiceRequest__Action action,
                      const char *said, struct err *err)
{
    Board__ServiceRequest request = BOARD__SERVICE_REQUEST__INIT;
    ProtobufCMessage *m;
    request.action = action;
    request.name = arena_strdup(&s->arena, name);
    int r = cli_client_call(s->client, &s->arena, "/v1/board/service", &request.base,
                            &board__service_response__descriptor, &m, err);
    if (r < 0) {
        return session_about(s, name, r, err);
    }
    const Board__ServiceResponse *answer = (const Board__ServiceResponse *)m;
    const char *guid = answer->service ? answer->service->target : "";
    return session_line(s, name, guid, answer->changed ? said : "unchanged", err);
}

/* ---- Of whichever the name means ---- */

static int change(struct session *s, const struct invocation *call, const char *verb,
                  Board__ServiceRequest__Action action, const char *said, struct err *err)
{
    const char *name;
    int32_t index;
    bool system = false;
    int r = name_read(&s->arena, call->arguments[0], NULL, &name, &index, err);
    if (r == 0 && index >= 0) {
        r = err_set(err, ERR_INVALID, "\"%.60s\": all instances roll, not one of them",
                    call->arguments[0]);
    }
    r = r < 0 ? r : session_means_system(s, name, &system, err);
    return r < 0    ? r
           : system ? session_change_deploy(s, name, verb, err)
                    : change_app(s, name, action, said, err);
}

static int pause_it(struct session *s, const struct invocation *call, struct err *err)
{
    return change(s, call, "pause", BOARD__SERVICE_REQUEST__ACTION__PAUSE, "paused", err);
}

static int resume_it(struct session *s, const struct invocation *call, struct err *err)
{
    return change(s, call, "resume", BOARD__SERVICE_REQUEST__ACTION__RESUME, "goes on", err);
}

static int abort_it(struct session *s, const struct invocation *call, struct err *err)
{
    return change(s, call, "abort", BOARD__SERVICE_REQUEST__ACTION__ABORT,
                  "goes back to what ran before", err);
}

static int roll_back(struct session *s, const struct invocation *call, struct err *err)
{
    const char *name = call->arguments[0];
    bool system = false;
    int r = session_means_system(s, name, &system, err);
    if (r == 0 && system) {
        return err_set(err, ERR_INVALID,
                       "of a system a deploy is undone, which bbs deploys %.*s lists: bbs deploy "
                       "%.*s --undo ID",
                       (int)strcspn(name, ":"), name, (int)strcspn(name, ":"), name);
    }
    return r < 0 ? r
                 : change_app(s, name, BOARD__SERVICE_REQUEST__ACTION__ROLLBACK,
                              "goes back to its revision before", err);
}

SESSION_RUN(bbs_pause_run, pause_it)
SESSION_RUN(bbs_resume_run, resume_it)
SESSION_RUN(bbs_abort_run, abort_it)
SESSION_RUN(bbs_rollback_run, roll_back)

/* ---- The table ---- */

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);

static const char pause_details[] =
    "NAME is an app's, or SYSTEM or SYSTEM:PATH for the deploy under way that holds it. What\n"
    "runs, runs on; nothing more is started or stopped for the new definition, and no deadline\n"
    "passes.\n";

static const char resume_details[] = "NAME as of bbs pause.\n";

static const char abort_details[] =
    "NAME as of bbs pause. What stood before is put back, as carefully as it was replaced; a\n"
    "deploy ends failed then.\n";

static const char rollback_details[] =
    "NAME is an app's. The revision before the one that is to run is the one that is to run,\n"
    "rolled to as to any other. Of a system: bbs deploy SYSTEM --undo last.\n";

static const struct cli_command verbs[] = {
    {"deploy", "[SYSTEM]", "brings a system, or a part of it, to a definition", bbs_deploy_details,
     bbs_deploy_tables, 0, 1, bbs_deploy_run},
    {"teardown", "SYSTEM", "ends every service of a system; the system stays", bbs_teardown_details,
     bbs_teardown_tables, 1, 1, bbs_teardown_run},
    {"pause", "NAME", "lets the roll of an app, or a deploy, stand still", pause_details, question,
     1, 1, bbs_pause_run},
    {"resume", "NAME", "lets it go on", resume_details, question, 1, 1, bbs_resume_run},
    {"abort", "NAME", "ends it, and puts back what stood before", abort_details, question, 1, 1,
     bbs_abort_run},
    {"rollback", "NAME", "puts an app's revision before back", rollback_details, question, 1, 1,
     bbs_rollback_run},
    {0},
};

const struct cli_group bbs_rolls_group = {"", "New definitions:", verbs};
