/* What is unplaced: one entry an instance, from the feed of UNCLAIMED records and from hints, with
 * what the board says of its process; and one entry a Pending task, or a unit without a
 * place, with what it asks for (design.md 5, docs/tasks.md, docs/units.md). Bounded, all together.
 * Pure. */
#pragma once

#include "auctioneer/bounces.h"
#include "auctioneer/waiting.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/map.h"

#include <bsd/sys/queue.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*              taken                placed
 *     FRESH ------------> TAKEN ----------------> PLACED
 *      ^ ^ ^              ^ | | refused              |
 *      | | |        taken | | +--------> REFUSED     |  too long, or it is not what it was
 *      | | |              | |             | |        |  when it was offered to the cell
 *      | | |              +-+-------------+ |        |
 *      | | +--------------------------------+        |
 *      | |          asked for again                   |
 *      | |                  | asked for again         |
 *      | |                  v                        |
 *      | +----------- TAKEN_AGAIN --> PLACED         |
 *      |    refused                                  |
 *      +---------------------------------------------+
 *
 * One that leaves the backlog while the auction holds it is LEFT until it is given back. */
enum entry_state {
    ENTRY_FRESH,       /* to be tried with the next batch */
    ENTRY_TAKEN,       /* in the present auction, which holds it until it says what became of it */
    ENTRY_TAKEN_AGAIN, /* the same, and asked for again: a refusal of this auction is not the last
                          word */
    ENTRY_LEFT,        /* the same, and out of the backlog already */
    ENTRY_PLACED,      /* a cell accepted it; its claim, or its start, is awaited */
    ENTRY_REFUSED,     /* no cell took it; tried again with each batch */
    ENTRY_STATE_COUNT
};

/* How it is known that it awaits placement. */
enum entry_source {
    SOURCE_HINT,  /* somebody said so, and the feed has not shown it yet */
    SOURCE_BOARD, /* the feed shows it UNCLAIMED, or Pending */
    SOURCE_RESET, /* the feed showed it, and began again since */
};

struct entry {
    TAILQ_ENTRY(entry) link; /* in the list of its state */
    enum entry_state state;
    enum entry_source source;
    bool queued; /* in the queue of those whose reason is to be reported to the board (report.h) */
    int64_t since_ns;  /* of the state; of a hint: when it came */
    int64_t hinted_ns; /* when the hint came */
    const struct waiting_kind *kind;
    struct wanted *own; /* what it asks for itself; NULL: its process says it */
    int64_t revision; /* of its UNCLAIMED or Pending record, the newest that is known of; 0 = only a
                         hint spoke of it, and did not tell */
    bool awaits_again; /* of an instance that the auction holds: it was placed, and left that place,
                         since it was taken */
    bool passed_over;  /* of a hint: the feed sent older records than it, which were left alone */
    bool requested;    /* of a task: asked for since it was last rejected or placed: a refusal is
                          reported as a rejection, once */
    int64_t reported_revision; /* of a task: that its last rejection named; 0 = none */
    struct blob *placed_on;    /* PLACED: the cell's id, with its zero byte */
    struct wanted *placed_as;  /* PLACED: what that cell was offered */
    struct blob *reason;       /* why no cell took it, with its zero byte; NULL */
    struct blob *reported; /* the placement error that the board has or will have; NULL = none */
    int32_t index;
    const char *guid; /* of the process, the task, or the unit's service; behind the key */
    char key[];       /* of its record on the board */
};

TAILQ_HEAD(entry_list, entry);

struct backlog {
    size_t max;
    int64_t
        unclaimed_after_ns; /* placed, or hinted, but not seen so long: tried again, or dropped */
    struct map entries;     /* key -> struct entry */
    struct map wanted;      /* process guid -> struct wanted */
    struct entry_list lists[ENTRY_STATE_COUNT];
    size_t counts[ENTRY_STATE_COUNT];
    /* Of entries, and of those that have left and may come again. */
    struct bounces bounces;         /* a cell gave it back */
    struct bounces late;            /* a cell took it for too long: others come first */
    size_t of_kind[JOB_KIND_COUNT]; /* entries */
    size_t overdue;                 /* entries that a cell took for too long, so far */
    size_t hinted;                  /* entries that only a hint spoke of */
    bool overflowed; /* something did not find room: the copy must be read again when there is */
    /* So must it be because a hint was believed in its stead, and nothing confirmed it. */
    bool doubted;
    bool unit_placed; /* a unit was; whoever looks at those clears it (barred_units.h) */
    bool changed; /* something may be ready for a batch that was not before */
};

/* At most `max` entries; one that was placed and stands unchanged for so long is tried again. */
void backlog_init(struct backlog *p, size_t max, int64_t unclaimed_after_ns);
void backlog_done(struct backlog *p);

/* A change of the feed: a record that does not wait is out, one that is older than what a hint
 * spoke of is left alone. Gives its entry; NULL when there is none, or nothing was changed. */
struct entry *backlog_record(struct backlog *p, const struct waiting_kind *kind, const char *key,
                             const ProtobufCMessage *record, int64_t mod_revision, int64_t now_ns);
/* Of either kind: the record has left the selection; the last that was in it had this revision. */
void backlog_gone(struct backlog *p, const char *key, int64_t mod_revision);
/* What a cell took of an instance as of another definition is fresh again: that start is refused.
 */
void backlog_desired(struct backlog *p, const Models__DesiredLRP *lrp, int64_t now_ns);
void backlog_desired_gone(struct backlog *p, const char *process_guid);

/* The copy was emptied: nothing is known to be on the board. */
void backlog_reset(struct backlog *p);
/* The copy is complete: what was not seen again is gone, but for fresh hints. */
void backlog_current(struct backlog *p);

/* Somebody says that this record waits for placement, at this revision, 0 = which was not said;
 * `message` is for the row of the kind. The feed has reported all up to `position`, 0 = that is not
 * known. What a hint says that comes after the feed changes nothing; one that comes before it does,
 * where hints run ahead: what a cell took, and waits at a later revision, is fresh again. */
struct hint {
    const struct waiting_kind *kind;
    const char *key, *guid;
    int32_t index;
    int64_t revision;
    const ProtobufCMessage *message;
};
void backlog_hint(struct backlog *p, const struct hint *h, int64_t position, int64_t now_ns);

/* For the rows of the kinds: it was placed, and left that place. */
void backlog_await_again(struct backlog *p, struct entry *e, int64_t now_ns);

/* Placed for too long: fresh again, and its cell is late. Kept apart from a cell for long enough:
 * fresh again. A hint that the feed does not confirm in time: dropped, and if it contradicted the
 * feed, the copy is right. */
void backlog_expire(struct backlog *p, int64_t now_ns);
/* When backlog_expire() has something to do; NEVER_NS = nothing. */
int64_t backlog_due_ns(const struct backlog *p);

/* What is wanted of this entry, borrowed; NULL when it is not desired (any more, or yet). */
struct wanted *backlog_wanted(const struct backlog *p, const struct entry *e);

/* Whether a fresh entry is desired; `changed` is cleared when none is. */
bool backlog_has_fresh(struct backlog *p);

/* `e` is no more to be used after backlog_placed() and backlog_put_back(): the backlog may drop it
 * any time.
 *
 * Takes at most `max` desired entries, the fresh ones first, then the refused ones that have waited
 * longest. They are held until given back by one of the three below. */
size_t backlog_take(struct backlog *p, struct arena *a, size_t max, struct entry ***ret_list,
                    size_t *ret_refused);

/* `cell_id`: of the cell that took it, with its zero byte; `as`: what it was offered. The backlog
 * takes references of its own. What does not stand so any more is fresh again at once: a task that
 * is offered otherwise by now, for that start will be refused, and so will that of an instance
 * whose process has another definition by now; an instance that awaits a place again. */
void backlog_placed(struct backlog *p, struct entry *e, struct wanted *as, struct blob *cell_id,
                    int64_t now_ns);
/* False when the entry has left the backlog meanwhile; it is then freed. */
bool backlog_refused(struct backlog *p, struct entry *e, struct blob *reason, int64_t now_ns);
void backlog_put_back(struct backlog *p, struct entry *e, int64_t now_ns);

/* This cell gave the one that the auction holds back: they are kept apart for a while. */
void backlog_bounced(struct backlog *p, const struct entry *e, const char *cell_id, int64_t now_ns);
/* The cell has more room than before: what it gave back may be offered to it again. */
void backlog_cell_grew(struct backlog *p, const char *cell_id);

/* The text of a reason; "" for NULL. */
const char *reason_text(const struct blob *reason);
void reason_set(struct blob **slot, const char *text);
