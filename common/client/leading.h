/* What the roles with a leader share: the boards that they ask, a copy of the board, a candidacy
 * and a life. A role begins unless its configuration is wrong, is elected and deposed, and when it
 * is asked to stop gives the lock back before it ends (design.md 6). Pure: embedded in a role as
 * its first member, driven by its events.
 *
 * A step of the role:  leading_begin(), what its changes made due, leading_elect(), what it is
 * there for, leading_end(). */
#pragma once

#include "common/base/arena.h"
#include "common/client/boards.h"
#include "common/client/feed_client.h"
#include "common/client/leader.h"
#include "common/contract/role.h"

/* The board's answer to the lock given back is waited for so long. */
#define LEADING_STOP_WAIT_NS (1 * SECOND_NS)
/* Who may lead is one of few, and looks for a bbs at least so often: with a rep's 5 s the first
 * leader after an outage of every bbs would come later than the 8 s of design.md 6. */
#define LEADING_BACK_OFF_MAX_NS (1 * SECOND_NS)
enum { LEADING_EXIT_USAGE = 2, LEADING_SELECTORS_MAX = 56 };

/* Records that the role follows; "" and NULL = all of the type. */
struct leading_selector {
    const char *type, *state, *key_prefix;
};

struct leading {
    struct role role;     /* first: a struct role * is a struct leading *, and the role's own */
    struct arena forever; /* as long as the role: its strings */
    const char *name;
    struct moment now; /* of the step */
    uint64_t next_call_id;
    struct boards boards;
    Board__Selector selectors[LEADING_SELECTORS_MAX];
    const Board__Selector *selector_list[LEADING_SELECTORS_MAX];
    struct feed_client feed_client;
    struct leader leader;

    /* The role's, reported after the leader has heard of it. */
    void (*on_change)(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out);
    bool ended;    /* EFFECT_EXIT was given */
    bool unusable; /* the configuration is wrong: why */
    struct err unusable_why;
    int64_t stop_ns; /* ends at the latest; NEVER_NS = not asked to */
};

/* Strings are copied. */
struct leading_config {
    const struct role_ops *ops;
    const char *lead_name;      /* it leads by lead/<lead_name>; NULL = the name of `ops` */
    const char *name;           /* of this process */
    const char *boards;         /* "https://...,https://..." */
    const char *url;            /* where it listens, reported in the lock */
    /* What it follows; the types "lead" and "beat" are among them. At most LEADING_SELECTORS_MAX.
     */
    const struct leading_selector *selectors;
    size_t selector_count;
    /* As the feed client's; the context is the role. */
    void (*on_change)(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out);
};

/* With wrong boards it is refused, see leading_refuse(). leading_done() must follow; the role
 * itself is the owner's to free. */
void leading_init(struct leading *l, const struct leading_config *c);
void leading_done(struct leading *l);

/* The configuration is wrong: the first step ends the role with code 2 and this text. The first
 * reason stands. */
void leading_refuse(struct leading *l, const struct err *why);

/* First in each step: `now`, and the changes. False: the role has ended and does nothing. */
bool leading_begin(struct leading *l, const struct event *ev, struct effects *out);

/* After what the role itself makes of the changes: the leader's own step, and what it says is
 * logged.
 */
enum leader_change leading_elect(struct leading *l, const struct event *ev, struct effects *out);

/* Last in each step: ends when the lock is given back, or the wait has been long enough. */
void leading_end(struct leading *l, const struct event *ev, struct effects *out);
