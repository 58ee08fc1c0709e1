/* Rows of the centre of sites: a board of records, one move about it, and what it comes to, printed
 * with what is compared and held to an expected file; and each decision that commits is held to its
 * compares (laid_board.h). A record is a line "KEY {JSON}" with ' for ", a move "NAME KEY {JSON of
 * its body}". */
#pragma once

#include "bbs/board/move_family.h"

#include "board.pb-c.h"

struct edge_row {
    const char *rule; /* for people */
    const char *board;
    const char *by; /* "client"; "crm acme/paris"; "converger" */
    const char *move;
};

/* The board generation, the uid and the clock that boards have. */
#define EDGE_GENERATION "E"
#define EDGE_NOW 1000 /* seconds */

/* In refs: the numbers of all reservable clusters are given out. */
#define EDGE_ALL_IDS "'reservable_ids':0"

/* A line of a board: a setting. */
#define EDGE_SETTING(named, number)                                                                \
    "setting/edge." named " {'name':'edge." named "','value':" number "}\n"

/* Appends what each row of a page comes to: a line of its rule, and lines of changes, progress and
 * compares. Fails where a decision does not hold to its compares. */
void edge_rows_try(const struct move_family *family, const struct edge_row *rows, size_t count,
                   struct buf *out);

/* The same for one of a request that is no move: `move` is its JSON. */
void edge_row_try(const struct op_row *op, const ProtobufCMessageDescriptor *type,
                  void (*valid)(struct validation *v, const void *request),
                  const struct edge_row *row, struct buf *out);

/* The state that the object is in after the row, "none" when it goes, "refused", or "stays". */
const char *edge_row_state(const struct move_family *family, const struct edge_row *row,
                           struct arena *a);
