/* Which site of a centre this cluster is (docs/edge.md, Cloudlets; common/lifecycle/site.def). All
 * is done by moves of the CRM that leads here. Pure.
 *
 *   name    the cluster is this cloudlet: an id is drawn. It is already: nothing; it is another
 * one: ResourceConflict follow  the centre's board of this generation is the one that it follows;
 * already: nothing */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"

#include "board.pb-c.h"

extern const struct move_family site_moves;

/* The one record of its kind. */
#define SITE_KEY_NAME "identity"

/* ---- for the rows ---------------------------------------------------------------------------- */

struct site_snapshot {
    struct speaker by;
    const Board__SiteRecord *site; /* NULL = none */
};
