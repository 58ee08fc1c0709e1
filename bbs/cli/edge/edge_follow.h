/* What becomes of an operation that was asked for at a centre: what the record and its progress say
 * of it, looked at again and again, at whichever bbs. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "edge_api.pb-c.h"

#include <stdbool.h>

/* What a cloudlet, a cluster and an app instance have in common. Borrows from the record. */
struct edge_thing {
    const char *noun; /* "cluster", as in the sentences of a bbs */
    const char *name, *uid, *state;
    int64_t since;
    uint64_t request;
    const Board__EdgeOperation *operation; /* NULL = none */
};

/* The same of one of each kind; borrows from the record. */
struct edge_thing edge_thing_of_cloudlet(const Board__CloudletRecord *c);
struct edge_thing edge_thing_of_cluster(const Board__ClusterInstRecord *c);
struct edge_thing edge_thing_of_instance(const Board__AppInstRecord *i);

enum edge_end {
    EDGE_GOES_ON,
    EDGE_READY,     /* it is as it was asked to be */
    EDGE_GONE,      /* likewise, of a delete */
    EDGE_UNCHANGED, /* nothing was to do; believed when it stands for EDGE_STANDS_MS */
    EDGE_UNSEEN,    /* what was made is not there; likewise */
    EDGE_FAILED,
    EDGE_OVERDUE, /* its time is over, and the site goes on */
    EDGE_OTHER,   /* somebody else asked for something else meanwhile */
};

/* A bbs that has not heard of the change yet shows what stood before it. */
enum { EDGE_STANDS_MS = 2000 };

/* What is waited for. */
struct edge_wanted {
    const char *noun, *name;
    const char *uid; /* of the object; NULL = it is not known yet: the first that is seen has it */
    const char *former; /* the uid of one that a create takes the name of; NULL = none */
    uint64_t before;    /* its request before the change; 0 = it was not there, or is made anew */
    uint64_t request;   /* of the operation; 0 = not known yet */
    bool goes;          /* it was asked to go */
    bool takes_errors;  /* ignore-errors: an error is no end */
    uint32_t shown;     /* the number of the last line of progress that was shown */
};

/* One look: `thing` NULL = there is no such object; `progress` NULL = none is known. Sets what is
 * not known yet. `ret_why` is the reason of an end that is none of the good ones; in the arena, ""
 * = nobody says. */
enum edge_end edge_look(struct arena *a, struct edge_wanted *w, const struct edge_thing *thing,
                        const Board__ProgressRecord *progress, const char **ret_why);

/* How an operation ended of which the progress alone is left. */
enum edge_end edge_end_of(const Board__ProgressRecord *progress);

/* The lines of the progress that were not shown yet, "3 step 1 of 2: slice reserved"; in JSON an
 * object a line. */
void edge_lines(struct edge_wanted *w, const Board__ProgressRecord *progress, bool json,
                struct buf *out);

/* The sentence that a command ends with: "acme/paris/dev/web is ready". */
const char *edge_end_text(struct arena *a, const struct edge_wanted *w, enum edge_end end,
                          const char *why);

/* The exit status: 0, 1 of what failed, 4 of what somebody else changed, 6 of what goes on. */
int edge_end_status(enum edge_end end);

/* Whether a refresh would change nothing: it is READY, or on its way, with this revision. */
bool edge_needs_no_refresh(const Board__AppInstRecord *i, uint64_t newest, bool force);

/* How far a refresh of all instances of an app came: "20 of 42: 18 updated, 2 skipped, 0 failed",
 * and ", 1 under way" of what is overdue or not waited for any longer. */
struct edge_refreshed {
    size_t all, updated, skipped, failed, under_way;
};
size_t edge_refreshed_done(const struct edge_refreshed *r);
const char *edge_refreshed_text(struct arena *a, const struct edge_refreshed *r);
