/* The centre of sites: its records and the moves about them (docs/edge.md; the lifecycles cloudlet,
 * cloudlet_info, maintenance and tracked). Clients bring theirs by /v1/edge/..., a CRM and the
 * converger by apply. All is decided in the transaction of the change that it belongs to. Pure. */
#pragma once

#include "bbs/board/move_family.h"

/* cloudlet/<name>, with what goes along: cloudletinfo, maintenance, refs and progress.
 *
 *   create, update, upgrade, delete   of a client
 *   init, ready, upgrading, fail, deleting, deleted   of its CRM: what it says of itself changes in
 *       the same transaction
 *   proceed, refuse, expire, undo     of the converger */
extern const struct move_family cloudlet_moves;

/* cloudletinfo/<name>: sync, back, ready and report of the CRM; offline of the converger, which
 * names the session that it judged to be silent. ready is for a CRM that is back, or has begun
 * again while the cloudlet stayed as it was; a cloudlet in CRM_INITOK or UPDATE_ERROR has a move of
 * its own. */
extern const struct move_family cloudlet_info_moves;

/* maintenance/<name>: start, start_no_failover and end of a client; failed_over and expire of the
 * converger; under_maintenance, fail and normal of the CRM, which names the request. */
extern const struct move_family maintenance_moves;

/* clusterinst/<name> and appinst/<name>: what they have of their site - resources, public ports,
 * numbers of automatic clusters - what they refer to, the DNS name and the progress change in the
 * same transaction.
 *
 *   create, update, refresh, delete   of a client; with an override of that operation. delete of
 * the converger too: of what goes along with a cluster that goes, or is idle and of our own
 *   creating, updating, deleting, ready, deleted, fail, report   of the CRM, which names the
 * request proceed, fail, refuse, expire, undo   of the converger, which names life and request */
extern const struct move_family clusterinst_moves;
extern const struct move_family appinst_moves;

/* progress/<uid>: forget of the converger, which names life and request: what has been told of an
 * operation goes when it has been over for as long as it is kept. */
extern const struct move_family progress_moves;
