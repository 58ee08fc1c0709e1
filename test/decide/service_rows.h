/* Rows of before, when, plan for services. A board is written as words:
 *   "app stable target=b instances=3 revs=a:2,b:1 gen=4 seen=3": the service apps/web, at
 *       generation 4, of which 3 was taken up; of revision a 2 instances are desired, of b 1. More:
 *       paused unrouted restarting restored (nobody confirmed it in this board generation)
 *       message=M fault=F. "system ..." is service /api of system shop instead; it has deploy=D
 *       component=H as well
 *   "desired=a:2,b:1+r,c:1!,d:1~": DesiredLRPs; +r with routes, ! another client's, ~ of an earlier
 *       version
 *   "kept=a,b": what these revisions run is on the board; "r" behind it: with routes
 *   "actual=a:0:RUNNING,a:1:UNCLAIMED": records of instances
 *   "leads": a converger leads, in term 5
 * and of the system: "system=stable", "held=deploy:D1:/", "held=teardown:T1:/ paused",
 *   "head=T:/", "tree=T:api", "secret=/api:key"
 * A plan is printed a line a change: "put desired/web-a 2 routes", "put service updating b revs=.."
 */
#pragma once

#include "bbs/board/op.h"
#include "test/decide/laid_board.h"

#include "system_api.pb-c.h"

#include "board.pb-c.h"

struct service_case {
    const char *name;  /* the rule */
    const char *board; /* before */
    const char *when;  /* a move: "surge revision=b instances=2"; a request: "scale instances=2" */
    const char *plan;
};

/* Moves of the converger; `service_row` for requests of clients. Each is held to its read set. */
void run_service_moves(const struct service_case *cases, size_t count);
void run_service_requests(const struct service_case *cases, size_t count);

/* Diego's: "update revision=b instances=2", "remove revision=b". */
void run_service_outsiders(const struct service_case *cases, size_t count);

/* What a request runs: revision `letter`. */
Models__DesiredLRP *service_definition(struct arena *a, const char *letter, bool routes);
