/* Systems, their builds, deploys and teardowns (docs/systems.md; common/lifecycle/system.def,
 * build.def, deploy.def, teardown.def): what clients ask, and the moves of the converger. Pure.
 *
 * The ops below answer with the record as it stands then, plan->record: of create, delete and
 * confirm the SystemRecord, of the others that of the build, deploy or teardown. The same request
 * again is answered by the same record. Refused: ResourceNotFound, ResourceExists (create; an id
 * that another one has) or ResourceConflict; plan->record is then the SystemRecord that refuses,
 * for it is pending, failed or deleting, or that lacks what was asked for; NULL = there is no such
 * system. The route draws ids and uids that a request leaves out, before the op: a decision says
 * the same each time. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"

#include "board.pb-c.h"
#include "system_api.pb-c.h"

/* Of each kind; what is over goes by and by, the oldest first. */
enum {
    SYSTEMS_MAX = 10000,
    SYSTEM_ID_BYTES_MAX = 63,
    SYSTEM_URL_BYTES_MAX = 2048,
    ACTION_ID_BYTES_MAX = 63,        /* of builds, deploys, teardowns */
    ACTIONS_MAX = 1000,              /* of one kind in one system, over or not */
    BUILDS_KEPT_MAX = 50,            /* that are over, and all that are named */
    ACTIONS_KEPT_MAX = 200,          /* deploys and teardowns that are over */
    BUILD_SOURCE_BYTES_MAX = 960 * 1024,
    BUILD_WRITTEN_MAX = 48,          /* components in one move */
    BUILD_WRITTEN_BYTES_MAX = 768 * 1024,
    COMPONENTS_MAX = 10000,          /* of one tree */
    COMPONENT_BYTES_MAX = 64 * 1024, /* packed */
    COMPONENT_SECRETS_MAX = 32,
    KEY_BYTES_MAX = 4096,            /* of a record that is given as a reason */
};

/* Board__CreateSystemRequest; Board__SystemRequest. */
extern const struct op_row create_system_row;
extern const struct op_row delete_system_row;
extern const struct op_row confirm_system_row;

/* Board__BuildRequest; Board__DeployRequest; Board__DeployChangeRequest; Board__TeardownRequest. */
extern const struct op_row build_row;
extern const struct op_row deploy_row;
extern const struct op_row pause_deploy_row;
extern const struct op_row resume_deploy_row;
extern const struct op_row abort_deploy_row;
extern const struct op_row teardown_row;

/* What is wrong with a request, for its route: ids, paths, not exactly one target, lengths. Ids and
 * the uid are drawn by then. */
void valid_create_system(struct validation *v, const Board__CreateSystemRequest *request);
void valid_system_request(struct validation *v, const Board__SystemRequest *request);
void valid_build(struct validation *v, const Board__BuildRequest *request);
void valid_deploy(struct validation *v, const Board__DeployRequest *request);
void valid_deploy_change(struct validation *v, const Board__DeployChangeRequest *request);
void valid_teardown(struct validation *v, const Board__TeardownRequest *request);

/* The moves of the converger. */
extern const struct move_family system_moves;
extern const struct move_family build_moves;
extern const struct move_family deploy_moves;
extern const struct move_family teardown_moves;
