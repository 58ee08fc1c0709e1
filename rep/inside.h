/* The rep's object: its subjects side by side. A subject works on its own member and on those of
 * the subjects below it; rep.c hands events to them and ends each step with reconcile(). */
#ifndef REP_INSIDE_H
#define REP_INSIDE_H

#include "common/base/random.h"
#include "common/client/askers.h"
#include "common/client/beater.h"
#include "common/client/boards.h"
#include "common/client/follower.h"
#include "rep/capacity.h"
#include "rep/drain.h"
#include "rep/host_ports.h"
#include "rep/kind.h"
#include "rep/knowledge.h"
#include "rep/listing.h"
#include "rep/metrics.h"
#include "rep/moves.h"
#include "rep/pass.h"
#include "rep/rep.h"
#include "rep/session.h"
#include "rep/starts.h"

/* How long an answer of bbs may take. */
#define BOARD_CALL_TIMEOUT_NS (5 * SECOND_NS)

enum { REP_SELECTORS = 2 };

struct rep {
    struct role role;
    struct arena forever; /* strings of the configuration, selectors */
    struct rep_config config; /* defaults filled in */

    uint64_t next_id; /* of calls, subscriptions and verbs; only rises */
    struct boards boards;
    struct askers askers; /* for answers of bbs but those to follower, beater and session */
    Board__Selector selector[REP_SELECTORS]; /* this cell's actual LRPs and tasks */
    const Board__Selector *selectors[REP_SELECTORS];
    struct follower follower;
    struct beater beater;
    Board__CellBeat beat;
    struct session session;

    struct containers containers;
    struct capacity capacity;
    struct knowledge knowledge;
    struct moves moves;
    struct pass pass;
    struct listing listing;
    struct metrics metrics;
    struct drain drain;
    struct starts starts;
    struct port_returns port_returns;

    bool ended;    /* EFFECT_EXIT was given: nothing more is done */
    bool unusable; /* the configuration: the first event ends the role */
    struct err unusable_why;

    struct moment now;  /* of the present step */
    struct random random;
};

/* Strings of a list of the configuration, which NULL ends; NULL: none. */
static inline size_t rep_list_size(const char *const *list)
{
    size_t n = 0;
    while (list && list[n]) {
        n++;
    }
    return n;
}

#endif
