/* Services: what runs for long (common/lifecycle/service.def). The
 * record says what is to run, and of which revisions DesiredLRPs stand; the leading converger rolls
 * from one to the next. A plain app of `bbs apply` is a service of the uid "apps". Pure.
 *
 * Each change of a service's DesiredLRPs is made by one of these moves, in one transaction with the
 * service's record: none stands without its entry there. */
#pragma once

#include "bbs/board/move_family.h"

#include "board.pb-c.h"
#include "system_api.pb-c.h"

enum {
    SERVICE_REVISIONS_KEPT = 10,      /* beside those that run */
    SERVICE_MESSAGE_BYTES_MAX = 4096, /* of message and fault */
    SERVICE_ADOPTED_MAX = 4,          /* DesiredLRPs of an earlier version, in one request */
};

/* Moves of the converger: target, surge, shrink, adjust, retire, observe, delete, unroute, remove.
 * All but target, delete and remove say in Subject.revision which record they judged, and are
 * refused when it is another by now. */
extern const struct move_family service_moves;

/* Board__ServiceRequest; plan->record is a Board__ServiceResponse without error. */
extern const struct op_row service_row;

/* What is wrong with a request of a client. */
void valid_service(struct validation *v, const Board__ServiceRequest *request);
