/* Units and relations (docs/units.md, Decisions): moves of reps, leaders, clients and jobs about a
 * unit, a membership and a relation, and the requests of clients. Pure.
 *
 * Of a unit (common/lifecycle/unit.def)
 *   destroy  it becomes dying and its memberships depart; one whose agent has never reported goes
 *            at once. Not alive any more: nothing. Of more than UNIT_SCOPES_AT_ONCE memberships
 *            a job says that they depart. Forced by a client, whatever its life: a job ends it
 *   die      it is in no relation and has no subordinate
 *   remove   its record goes, and what names it; the last of a dying service takes that with it
 *   assign   a cell takes it, for ever: the machine that the cell is, or is made by this
 * Of a unit's status (common/lifecycle/unit_status.def), while the unit is not dead
 *   report   how its agent says that it is; in error, once it has done what was resolved: it says
 *            what that was, and the revision of the record by which it knows
 *   fail     a hook has failed; likewise again
 *   resolve  a client says that the hook is to run again, or counts as done
 * Of a membership (common/lifecycle/member.def); the guid of the unit is said
 *   enter    with its first settings. A principal that enters a relation of container scope has a
 *            subordinate of the other service, or brings one by the number that is said
 *   publish  what a hook has set, once a hook
 *   leave    the last one takes a dying relation with it. No member: nothing
 * Of a relation (common/lifecycle/relation.def)
 *   destroy  it becomes dying, or goes when nobody is in it
 * Of a machine (common/lifecycle/machine.def)
 *   cordon, uncordon   whether it takes units
 *   destroy  it becomes dying; refused with a unit on it, and of one that runs the cluster; its
 *            cell is to leave first, if that is said. Not alive any more: nothing. With units, and
 *            forced by a client: it is cordoned, and a job ends them and then it
 *   die      nothing of it runs any more: its rep says so, or is absent
 *   remove   its record goes */
#pragma once

#include "bbs/board/move_family.h"

#include "board.pb-c.h"

enum {
    UNIT_SCOPES_AT_ONCE = 16,
    UNIT_STATUS_TEXT_MAX = 512, /* bytes */
    UNIT_STATUS_OUTPUT_MAX = 4096,
    UNIT_STATUS_PORTS_MAX = 64,
    UNIT_NUMBERS_MAX = 64, /* that a cell takes at once */
};

/* A restored board knows nothing of what was assigned since: so long a cell that has a container of
 * such a unit may say so, before another one takes it. */
#define UNIT_RESTORE_NS (60 * SECOND_NS)

extern const struct move_family unit_moves;
extern const struct op_row unit_assign_row; /* which decides assign, of these */
extern const struct move_family unit_status_moves;
extern const struct move_family member_moves;
extern const struct move_family relation_moves;
extern const struct move_family machine_moves;

/* A client wants two ends related. Refused: a service that is not there or not alive; an end that
 * is not its charm's; ends that do not fit; a relation that stands. */
extern const struct op_row relate_units_row;
void valid_relate_units(struct validation *v, const Board__RelateUnitsRequest *request);

/* A client makes a machine of a cell, which has to be there and be none yet. */
extern const struct op_row add_machine_row;
void valid_add_machine(struct validation *v, const Board__AddMachineRequest *request);

/* A client deploys a service: with its charm, what is configured, and so many units. The answer is
 * the job that makes them, a Board__JobRecord; none without units. Refused: a name that a service
 * has, be it dying; settings that the charm does not have; a machine that takes no units. */
extern const struct op_row deploy_units_row;
void valid_deploy_units(struct validation *v, const Board__DeployUnitsRequest *request);

/* A client wants so many units more, of a service that is alive and no subordinate one. The answer
 * is the job, likewise. */
extern const struct op_row add_units_row;
void valid_add_units(struct validation *v, const Board__AddUnitsRequest *request);

/* A client sets options of a service that is alive, or gives them the charm's default again. */
extern const struct op_row configure_units_row;
void valid_configure_units(struct validation *v, const Board__ConfigureUnitsRequest *request);

/* A client gives it another charm, which has each end that a relation of it uses. */
extern const struct op_row upgrade_units_row;
void valid_upgrade_units(struct validation *v, const Board__UpgradeUnitsRequest *request);

/* A service ends (common/lifecycle/unit_service.def): destroy, by a client. It becomes dying with
 * each of its relations that somebody is in, and its others go; it goes at once if nothing of it is
 * left. Of more than SERVICE_RELATIONS_AT_ONCE relations that are alive a job ends them first, and
 * the service then. Not alive any more: nothing. */
enum { SERVICE_RELATIONS_AT_ONCE = 8 };
extern const struct move_family unit_service_moves;

/* A portion of a job (bbs/jobs.def); the request is its Board__JobRecord. */
extern const struct op_row add_units_job_row;

/* Of a unit service, for its family: a rep takes numbers for subordinates that it will make. The
 * answer's revision is that of the sequence, below which they are. */
extern const struct op_row unit_numbers_row;
void valid_unit_numbers(struct validation *v, const Board__Move *move);

/* Of relations and unit services, for their families: the converger ends what is dying and held by
 * nothing (settle, release), and a charm that no unit runs (trim). */
extern const struct op_row relation_settle_row;
extern const struct op_row unit_service_leftover_row;

extern const struct op_row end_relations_job_row;
extern const struct op_row end_units_job_row;
extern const struct op_row depart_unit_job_row;
extern const struct op_row sweep_units_job_row;
extern const struct op_row force_unit_job_row;
extern const struct op_row force_machine_job_row;
