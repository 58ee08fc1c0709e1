/* What the site's board holds of the centre's objects, from its feed: slices, the DesiredLRPs that
 * are in them, and their instances; and the cells, of which a slice may have some whole. Pure. */
#pragma once

#include "crm/work.h"

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/model/keys.h"

enum { SITE_TOLD_MAX = 64 }; /* endpoints and instances that a report names */

struct crm_board {
    struct map slices; /* uid -> */
    struct map lrps;   /* process guid -> of one that is in a slice, or whose instances are left */
    struct map instances;  /* key of an ActualLRP -> of one of those; and where it runs */
    struct map cells;      /* cell id -> */
    struct map on_cells;   /* key of what is on a cell, whatever it is -> that of */
    struct map used_cells; /* cell id -> how much is on it */
    uint64_t changes;      /* so far */
};

void crm_board_init(struct crm_board *b);
void crm_board_done(struct crm_board *b);

/* Changes of the site's feed: of slices, desired and actual LRPs, cells, tasks and units; others
 * are left alone. NULL = it is gone. */
void crm_board_change(struct crm_board *b, const char *key, const ProtobufCMessage *message);
void crm_board_reset(struct crm_board *b);

/* All that is held, the list in the arena, its texts the board's until its next change. What is
 * desired in a slice, but by no CRM's guid, is left out. */
size_t crm_board_held(const struct crm_board *b, struct arena *a, struct crm_held **ret_list);

/* Of one object, in the arena. */
void crm_board_site(const struct crm_board *b, struct arena *a, const char *uid,
                    struct crm_site *ret);

/* RUNNING now, of those that are wanted of this digest; false: it is not desired. */
bool crm_board_running(const struct crm_board *b, const char *uid, const char *digest,
                       uint32_t *ret_running, uint32_t *ret_wanted);

/* Which of the board's changes was the last one of what it holds of the object in this digest; 0 =
 * it holds nothing of it. */
uint64_t crm_board_changed(const struct crm_board *b, enum crm_kind kind, const char *uid,
                           const char *digest);

/* For reports, in the arena. Health is the caller's. */
Board__AppInstReport *crm_board_app_report(const struct crm_board *b, struct arena *a,
                                           const char *uid, const char *digest);
Board__ClusterReport *crm_board_cluster_report(const struct crm_board *b, struct arena *a,
                                               const char *uid);

/* Sums over the cells that are PRESENT, and their number. */
uint32_t crm_board_totals(const struct crm_board *b, Board__EdgeResources *ret);

/* What a slice is to be, in the arena. With `dedicated` it keeps the cells that it has, and takes
 * those that have room for the most nodes, and nothing on them, until all nodes have room; a cell
 * that is not needed any more goes once nothing is on it. NULL: there are not enough such cells;
 * *ret_fault says so. */
Board__SliceMove *crm_board_slice_move(const struct crm_board *b, struct arena *a,
                                       const Board__ClusterInstRecord *cluster,
                                       const char **ret_fault);
