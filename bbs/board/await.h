/* Who waits for the copy to reach a revision, or for an instant, whichever comes first. Pure. */
#pragma once

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stdint.h>

struct await;
struct effects;

/* Called when the wait ended: `reached` when the revision came, else the instant did. */
typedef void await_wake(struct await *a, bool reached, struct effects *out);

/* Embedded in what waits; zeroed before its first use, then `wake` and `owner` are set. */
struct await {
    RB_ENTRY(await) by_revision;
    RB_ENTRY(await) by_deadline;
    int64_t revision;    /* NEVER_NS (no revision is so high): only the instant counts */
    int64_t deadline_ns; /* NEVER_NS: only the revision counts */
    uint64_t number;     /* order of arrival, for equal revisions and deadlines */
    bool waiting;
    await_wake *wake;
    void *owner;
};

RB_HEAD(await_revisions, await);
RB_HEAD(await_deadlines, await);

struct awaits {
    struct await_revisions revisions;
    struct await_deadlines deadlines;
    uint64_t last_number;
};

void awaits_init(struct awaits *w);

/* Begins to wait; one that waits already waits for the new goal instead. */
void await_start(struct awaits *w, struct await *a, int64_t revision, int64_t deadline_ns);

/* Ends the wait, if there is one. */
void await_stop(struct awaits *w, struct await *a);

/* Takes out the next one whose revision is reached, in order of revision; NULL if there is none. */
struct await *awaits_reached(struct awaits *w, int64_t revision);

/* Takes out the next one whose deadline has come; NULL if there is none. */
struct await *awaits_late(struct awaits *w, int64_t now_ns);

/* The earliest deadline, NEVER_NS if there is none. */
int64_t awaits_due_ns(const struct awaits *w);
