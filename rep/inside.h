/* The rep's object: its subjects side by side. rep.c hands events to them and ends each step with
 * reconcile(). Calls go down: http/ answers requests; instance/ and task/ know what a container of
 * their kind does next; drain/ empties the cell; board/ asks bbs, and holds what they answered;
 * container/ is the table of containers, the driver's verbs, and the pure tables. */
#pragma once

#include "common/base/random.h"
#include "common/client/askers.h"
#include "common/client/heartbeat_sender.h"
#include "common/client/boards.h"
#include "common/client/feed_client.h"
#include "common/model/crash_policy.h"
#include "rep/board/knowledge.h"
#include "rep/board/moves.h"
#include "rep/board/incarnation.h"
#include "rep/container/capacity.h"
#include "rep/container/id_ranges.h"
#include "rep/container/kind.h"
#include "rep/container/starts.h"
#include "rep/drain/drain.h"
#include "rep/http/metrics.h"
#include "rep/instance/host_ports.h"
#include "rep/listing.h"
#include "rep/pass.h"
#include "rep/rep.h"
#include "rep/unit/cell_unit.h"
#include "rep/unit/tools_face.h"

/* How long an answer of bbs may take. */
#define BOARD_CALL_TIMEOUT_NS (5 * SECOND_NS)

enum { REP_SELECTORS = 10 };

struct rep {
    struct role role;
    struct arena forever; /* strings of the configuration, selectors */
    struct rep_config config; /* defaults filled in */

    uint64_t next_id; /* of calls, subscriptions and verbs; only rises */
    struct boards boards;
    struct askers
        askers; /* for answers of bbs but those to feed client, heartbeat_sender and incarnation */
    Board__Selector selector[REP_SELECTORS]; /* what is this cell's; settings */
    const Board__Selector *selectors[REP_SELECTORS];
    struct feed_client feed_client;
    struct heartbeat_sender heartbeat_sender;
    Board__CellHeartbeat heartbeat;
    struct incarnation incarnation;

    struct containers containers;
    struct checks_at_once checks;
    struct capacity capacity;
    struct id_ranges ids;
    struct knowledge knowledge;
    struct cell_units units;
    struct moves moves;
    struct rep_pass pass;
    struct listing listing;
    struct metrics metrics;
    struct drain drain;
    int64_t drain_ns; /* the setting: between the stop of what has routes and its SIGTERM */
    struct crash_policy crash; /* the settings: when a unit's command begins again */
    struct starts starts;
    struct port_returns port_returns;

    struct tools_face tools;
    const struct tools_owner *tools_owner; /* NULL: it has no units */

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
