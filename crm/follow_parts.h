/* The parts of what makes a site follow the centre (crm/follow.h): what is asked of the site's
 * board and the centre's definitions, and what the centre is told. For crm/follow*.c only. */
#pragma once

#include "crm/follow.h"

/* ---- The site: follow_site.c ------------------------------------------------------------------
 */

/* Asks for what a work wants next. */
void follow_ask(struct follow *f, const struct crm_wanted *w, const struct event *ev,
                struct effects *out);

/* The answers; true: this event was one. */
bool follow_hear_site(struct follow *f, const struct event *ev, struct effects *out);

/* Definitions that wait for others are asked for. */
void follow_ask_waiting(struct follow *f, const struct event *ev, struct effects *out);

/* Nobody awaits an answer any more. */
void follow_forget_calls(struct follow *f);

/* The term of this CRM at the site, in the arena. */
Board__Term *follow_term(const struct follow *f, struct arena *a);

/* ---- The centre: follow_centre.c --------------------------------------------------------------
 */

/* What the plan says: a report waits for its time, all else are moves of the next batch. Gives how
 * many of them there are in `moves`, FOLLOW_MOVES_MAX at most. */
size_t follow_gather_said(struct follow *f, struct arena *a, const struct crm_said *list,
                          size_t count, int64_t now_ns, Board__Move **moves);

/* A line of progress of a work. */
void follow_tell_step(struct follow *f, const struct crm_plan *plan, const struct crm_wanted *w,
                      struct arena *a);

/* Sends the moves, and the reports whose time has come, if the centre takes them now. */
void follow_say(struct follow *f, Board__Move **moves, size_t count, const struct event *ev,
                struct effects *out);
bool follow_may_say(const struct follow *f, struct arena *a, int64_t now_ns);

/* The answer to a batch; true: this event was it. */
bool follow_hear_centre(struct follow *f, const struct event *ev, struct effects *out);

/* All is told anew: another session. */
void follow_tell_anew(struct follow *f);

/* When a report is to be told, or health to be seen again; NEVER_NS = not. */
int64_t follow_telling_due_ns(const struct follow *f);
