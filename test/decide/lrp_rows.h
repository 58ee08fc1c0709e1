/* Rows of before, when, plan for the decisions about LRPs: records and moves are written as short
 * texts, plans are printed as such.
 *   an instance   "RUNNING a@c1 since=100 crash=2 def=D1 stopping error=E reason=R zone=z"
 *                 "... route=H tag=V": an internal route, a metric tag "k"
 *   a DesiredLRP  "instances=3 def=D1 hold stay route=H tag=V": the tag INDEX or GUID is a dynamic
 * one a cell        "present incarnation=7", "lost incarnation=7 until=1100": it is being emptied
 *   a lock        "holder=h term=5"
 *   a domain      "ttl=60 left=30 seen=5": expires in `left` s, present revision seen for `seen` s;
 *                 "restored": from before the board generation
 *   a limiter       "KEPT cells=c1:7,c2:8 since=10 until=70"
 *   a removal     "from=2 board_generation=F": of the board generation, without it of this one
 *   a move        "claim a@c1 incarnation=7 def=D1 error=E term=5 role=auctioneer presence=2
 *                 index=1", "lose cell=c1 incarnation=7", "hold cells=c1:7,c2:8" */
#pragma once

#include "bbs/limiter/limiter.h"
#include "bbs/cell/cell.h"
#include "bbs/domain/domain.h"
#include "bbs/lrp/move.h"

/* The wall clock of all rows, in seconds; `since` is told in seconds too. */
enum { ROWS_NOW_S = 1000 };
#define ROWS_PROCESS "web"
#define ROWS_DOMAIN "d"
#define ROWS_BOARD_GENERATION "E" /* of the board, and of the modification tag of every instance */

struct move_case {
    const char *name; /* the rule */
    enum actor actor; /* a rep is of cell c1 */
    const char *ordinary, *suspect, *evacuating; /* before; NULL = none */
    const char *desired, *cell, *leader_lock, *domain, *limiter, *removal;
    const char *move;
    const char *plan; /* as printed by print_plan */
};

/* The family of a move about LRPs, cells, the limiter, domains. */
const struct move_family *row_family(const char *move);

/* Runs each case through its decision and compares; the first difference fails the test. */
void run_move_cases(const struct move_case *cases, size_t count);

Models__ActualLRP *row_actual(struct arena *a, const char *text, int32_t index, int presence);
Models__DesiredLRP *row_desired(struct arena *a, const char *text);
/* "route=HOSTNAME" is an internal one, "http=HOSTNAME" one of another kind; else none. */
Models__ProtoRoutes *row_routes(struct arena *a, const char *text);
Board__CellRecord *row_cell(struct arena *a, const char *text);
Board__LimiterRecord *row_limiter(struct arena *a, const char *text);
Board__Move *row_move(struct arena *a, const char *text);

/* Who speaks by such a text: incarnation, term. */
void row_speaker(struct arena *a, const char *text, Board__Move *m);

/* Of such a text: the first word; and of "name=value" the value, NULL, `otherwise` or "" if it is
 * not there. */
char *row_first_word(struct arena *a, const char *text);
char *row_value(struct arena *a, const char *text, const char *name);
int64_t row_number(struct arena *a, const char *text, const char *name, int64_t otherwise);
char *row_text(struct arena *a, const char *text, const char *name);

/* An input at ROWS_NOW_S. `random` must outlive it. */
struct op_input row_input(enum actor actor, struct random *random, const ProtobufCMessage *request);

/* One line a change, with what the record became; then the notices; or the refusal. Needs a buf. */
void print_plan(const struct plan *p, struct buf *out);
