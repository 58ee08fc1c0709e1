/* What may run at sites: flavors, and apps with their revisions (docs/edge.md, The centre's
 * records). Each is written by a request of a client, and goes only when nothing uses it. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"

#include "board.pb-c.h"

enum {
    APP_REVISIONS_KEPT = 16, /* and those that an instance has, */
    APP_REVISIONS_MAX = 64,  /* so many in all */
    APP_PORTS_MAX = 16,
    /* Of spec and definition; a record has 1 MiB, in which the centre says a little more. */
    APP_BYTES_MAX = 1024 * 1024 - 64,
};

/* The request is a FlavorRecord without a time, or an EdgeRemoveRequest. */
void valid_flavor(struct validation *v, const Board__FlavorRecord *request);
extern const struct op_row set_flavor_row;
extern const struct op_row remove_flavor_row;

/* The request is an EdgeAppRevisionRecord: name, spec and definition. Applied again as it is it
 * changes nothing; otherwise there is a revision more, and those that are neither among the last
 * nor used go. */
void valid_edge_app(struct validation *v, const Board__EdgeAppRevisionRecord *request);
extern const struct op_row apply_edge_app_row;
extern const struct op_row remove_edge_app_row;
