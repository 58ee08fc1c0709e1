/* What all moves of a centre about its sites have in common (docs/edge.md, Who acts): who may
 * speak, what an operation is, and how its progress is told. Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"

#include "board.pb-c.h"

/* The site that a move is about, as the board has it; each NULL = none. */
struct edge_site {
    struct speaker by;
    const char *name; /* "acme/paris" */
    const Board__CloudletRecord *cloudlet;
    const Board__CloudletInfoRecord *info;
    const Board__MaintenanceRecord *maintenance;
};

/* Reads them, and who speaks; all are noted. */
void edge_site_gather(struct view *v, const struct op_input *in, const char *name,
                      struct edge_site *ret);

/* Whether the caller may bring this move, about the object of this uid (NULL = there is none);
 * otherwise the plan is refused, or nothing is done:
 * 1. A leader, in another term than the one in which it leads.
 * 2. A CRM whose certificate is of another cloudlet, or whose board generation is another one.
 * 3. A CRM, about an object that is not there, or of another life.
 * 4. The converger, about another life or request than it judged: nothing. A client's names none.
 */
bool edge_speaks(const struct edge_site *s, const struct move_turn *t, const char *uid,
                 uint64_t request);

/* The body of the turn's move. */
const Board__EdgeMove *edge_says(const struct move_turn *t);

/* The session of the turn's move is the site's, and there is one. */
bool edge_in_session(const struct edge_site *s, const Board__EdgeMove *m);

/* ---- Operations ------------------------------------------------------------------------------ */

enum { EDGE_ERROR_BYTES_MAX = 4096, EDGE_OVERDUE_TEXT_MAX = 256 };

/* What a client overrides with it (docs/edge.md, Tracked states). */
bool edge_ignores_crm(Board__EdgeOperation__Override o);
bool edge_ignores_errors(Board__EdgeOperation__Override o);
bool edge_ignores_transient(Board__EdgeOperation__Override o);

/* One that begins now, and is to be over within the limit; 0 = it has none. */
Board__EdgeOperation *edge_operation(struct arena *a, const char *word,
                                     Board__EdgeOperation__Override o, const char *found,
                                     int64_t wall_ns, int64_t limit_ns);

/* The same operation with its deadline set anew. NULL gives NULL. */
Board__EdgeOperation *edge_operation_again(struct arena *a, const Board__EdgeOperation *o,
                                           int64_t wall_ns);

/* The same, failed: it has no deadline any more. */
Board__EdgeOperation *edge_operation_failed(struct arena *a, const Board__EdgeOperation *o,
                                            const char *error);

/* It is over by this clock. */
bool edge_is_overdue(const Board__EdgeOperation *o, int64_t wall_ns);

/* "no end within 30 min" */
const char *edge_overdue_text(struct arena *a, const Board__EdgeOperation *o);

/* "12 s", "3 min", "5 h", "2 days": since then. */
const char *edge_since_text(struct arena *a, int64_t since, int64_t wall_ns);

/* Puts progress/<uid> with these lines (each may be NULL); `end` NULL = it goes on. */
struct edge_told {
    const char *kind, *name, *uid, *word;
    uint64_t request;
    const char *line, *more;
    const char *end, *error;
};
void edge_tell(const struct move_turn *t, const Board__ProgressRecord *before,
               const struct edge_told *told);

/* "step 1 of 3: slice reserved"; NULL where the move has none. */
const char *edge_step_text(struct arena *a, const Board__EdgeMove *m);

/* ---- What a move says ------------------------------------------------------------------------ */

/* For the rows' `valid`: the bounds of what a CRM and a client say. */
void edge_valid(struct validation *v, const Board__Move *move);
