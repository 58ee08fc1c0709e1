/* What clients ask about services: of plain apps all, of those of systems a restart. Pure. */
#pragma once

#include "bbs/board/nested.h"
#include "bbs/board/op.h"
#include "bbs/service/record.h"
#include "system_api.pb-c.h"

/* A DesiredLRP that an earlier version's `bbs apply` made: it becomes a revision as it stands. */
struct adopted_lrp {
    const Models__DesiredLRP *desired; /* scheduling part */
    const Models__DesiredLRP *run;     /* the rest; NULL = it is not there */
};

struct app_snapshot {
    const char *board_generation;
    const Board__ServiceRecord *service; /* as it stands; NULL = none */
    struct adopted_lrp *adopted;
    size_t adopted_count;
    const char *aim;                  /* hash of the revision that is to run then; NULL = none */
    const Models__DesiredLRP *wanted; /* what that runs, whole; NULL = it is not there */
    bool kept;                        /* it is on the board as it is */
    const Models__DesiredLRP *desired; /* that stands under its process_guid; NULL = none */
    const Models__DesiredLRP *rival;   /* of another client, under the app's name */
    bool unled;                        /* no converger leads */
    bool stranger;                     /* which is another's */
    const char *oldest;                /* hash of the revision that has to go; NULL = none */
    bool oldest_kept;                  /* what it runs is on the board */
    struct nested_op domain;           /* of TARGET: the app's is kept alive */
    struct nested_op op;               /* done to its DesiredLRP at once; no row = nothing */
    bool at_once; /* after it the DesiredLRP is as it is to be; of DELETE: it has no routes */
};

/* Of a gather: the DesiredLRPs that the app's earlier version left, at most SERVICE_ADOPTED_MAX. */
void adopt_gather(struct view *v, const char *name, const Board__ServiceRecord *service,
                  struct app_snapshot *s);

/* The service with the adopted as revisions, in the order in which they were given; the last of
 * them is the target of one that is made by this. NULL when there is neither. */
Board__ServiceRecord *adopt_service(struct arena *a, const char *name,
                                    const struct app_snapshot *s, const struct op_input *in);

/* Puts what the adoption changes beside the service's record: owners, and what revisions run; not
 * that of the aim if the request `targets` it, for then it is put as the request says. */
void adopt_put(const char *name, const struct app_snapshot *s, const struct op_input *in,
               bool targets, struct plan *p);

/* How an app rolls: as it is asked (NULL = nothing is), and else so that new instances start beside
 * the old ones, which go when the new ones run. */
Board__Rolling *app_rolling(struct arena *a, const Board__Rolling *asked);
