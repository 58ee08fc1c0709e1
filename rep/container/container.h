/* The rep's own table of containers: what it reserved, makes, runs and has to delete. A container
 * is one LRP instance, a task, or a unit, on this cell; its state changes only by
 * common/lifecycle/container.def. */
#pragma once

#include "common/base/map.h"
#include "common/contract/effect.h"
#include "common/lifecycle/container.h"
#include "rep/container/checks.h"
#include "rep/container/step_facts.h"
#include "rep/container/task_step.h"
#include "rep_image.pb-c.h"
#include "rep_note.pb-c.h"

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stdint.h>

/* A step's log lines about containers end here, so that thousands adopted at once leave room for
 * what must be done; how many are left out is reported, and their state by /state. */
enum { CONTAINER_LOGS_A_STEP_MAX = EFFECTS_MAX / 4 };

/* What is under way for a container: at most one of these at a time (rep-auctioneer.md 2.5). */
enum container_op {
    OP_NONE,
    OP_MOVE,    /* waits for or travels in a /v1/board/apply */
    OP_FETCH,   /* asks bbs for the DesiredLRP */
    OP_PREPARE, /* the rest are verbs of the driver */
    OP_START,
    OP_SIGNAL,
    OP_NOTE,
    OP_READ,
    OP_RUN,
    OP_FORGET,
    OP_PORTS,
    OP_REMOVE,
};

/* What its end counts as. */
enum container_end {
    END_ITS_OWN,  /* no stop was asked: an instance has crashed, a task is over */
    END_SHUTDOWN, /* a stop was asked, and bbs hears of its end: an instance is removed, a task has
                     failed */
    END_DISOWNED, /* a stop was asked, and nobody is notified: another one has its place, or nobody
                     waits for it */
};

struct rep;
struct container_kind;

struct container {
    const struct container_kind *kind; /* what differs between them (kind.h) */
    Rep__Note *about;   /* owned; instance_guid is always set, and key, task or unit */
    int phase;          /* PHASE_...: its state */
    enum container_op op;
    uint64_t op_id;     /* of the open call or verb; for OP_MOVE unused */
    const char *op_url; /* OP_FETCH: the bbs that was asked */
    uint64_t pull_id;   /* of the open pull, which holds nothing else up; 0 = none */
    bool made;          /* the driver may hold something of it */
    Rep__Image *image;  /* owned; pulled for it; NULL = none yet, or it needs none */
    char *image_name;   /* owned; of that, or of the one that is being pulled; NULL = neither */
    struct container_steps steps;
    struct container_checks checks;
    bool uncertain;     /* a verb ended without an answer: only a listing tells */
    bool process_gone;  /* the driver said so, or that there never was one */
    bool memory_given;  /* its memory is the cell's again: so when its process is gone */
    enum container_end end;
    bool deleting;      /* nothing but its removal is left to do */
    bool keep_note;     /* its note outlives it: of a unit that is made anew */
    bool start_wanted;  /* routes or tags changed: tell bbs again */
    bool note_wanted;   /* and the driver, before that: a restart must not forget them */
    uint64_t touched;   /* the role's last id when its driver side last changed; see listing.h */
    char *address;      /* owned; its own, as the driver says; NULL = none, or not known */
    char *exit_text;    /* owned; why it completed, "" before */
    enum task_step step; /* of a task: goes with the phase; within it cell_task.c moves it */
    char *result;       /* of a task; owned; NULL = none */
    unsigned failures;  /* of the present step, for the back-off */
    unsigned attempts;  /* to make or start it that ended uncertain */
    bool ports_wanted;  /* free host ports are searched for before it is made (host_ports.h) */
    bool ports_retried; /* those that were passed over were tried again for it */
    bool ports_doubted; /* it ended badly: whether somebody else holds a port of it is asked */
    size_t ports_asked; /* how many the open question names */
    int64_t start_asked_ns; /* or when it was adopted; 0 = not yet */
    int64_t starting_until_ns; /* listed as starting: for so long it is waited for; 0 = it is not */
    int64_t running_since_ns; /* of an unproven one: first seen RUNNING */
    bool start_judged; /* by starts.h; one that an earlier rep started never is */
    unsigned signals;   /* sent since the stop was asked */
    int64_t retry_ns;   /* nothing is tried before; 0 = at once */
    unsigned note_failures;  /* of the note that is wanted, which holds nothing else up */
    int64_t note_retry_ns;   /* it is not tried before; 0 = at once */
    int64_t reserved_until_ns; /* RESERVED: dropped then */
    int64_t kept_until_ns; /* RUNNING while the cell is emptied: bbs keeps it; 0 = it does not */
    int64_t kill_ns;    /* stop asked: when the next, harder signal is due */
    int64_t unrouted_ns; /* when it was told that its routes are gone; 0 = not since it is known */
    int64_t drained_ns; /* stop asked: before, nothing of it is told to end; 0 = at once */

    /* Of the table. */
    struct containers *table;
    int64_t due_ns;
    bool queued, unproven;
    bool late; /* queued by a pass that nothing called for, and by nothing else */
    RB_ENTRY(container) due_link;
    TAILQ_ENTRY(container) queue_link, unproven_link;
};

RB_HEAD(container_due, container);
TAILQ_HEAD(container_queue, container);

struct containers {
    struct rep *rep;             /* whose they are */
    const struct container_kind *const *kinds; /* by KIND_... */
    struct map by_guid;          /* instance guid -> struct container */
    struct map by_index;         /* "process_guid/index" -> newest struct container of it */
    struct container_due due;
    struct container_queue queue; /* to be reconciled in this step */
    struct container_queue unproven; /* RUNNING, their start not judged; the longest first */
    size_t starting;             /* RESERVED, INITIALIZING, CREATED */
    uint64_t version;            /* raised by every change that /state shows */
    unsigned untold;             /* log lines that this step had no room for */
};

/* `kinds` has KIND_COUNT rows and lives as long as the table. */
void containers_init(struct containers *t, struct rep *rep,
                     const struct container_kind *const *kinds);
void containers_done(struct containers *t);

/* The kind of what has this note, and of what is recorded at this key of the board. */
const struct container_kind *container_kind_of(const struct containers *t, const Rep__Note *about);
const struct container_kind *container_kind_at(const struct containers *t, const char *key);

/* Adds a container in phase NONE; takes over `about` (made with the default allocator), whose
 * instance_guid must not be in the table yet. container_transition() must follow. */
struct container *container_add(struct containers *t, Rep__Note *about);

/* By its instance_guid; NULL if there is none. */
struct container *container_find(const struct containers *t, const char *guid);

/* The newest container of this index; NULL if there is none. Older ones may still be ending. */
struct container *container_of_index(const struct containers *t, const char *process_guid,
                                     int32_t index);

/* Changes the phase by the table and logs guid, old, new and why; asserts that the table allows it.
 * That it runs, and that it ended, are lines of their own, which no others crowd out. After DELETED
 * the container is freed. */
void container_transition(struct container *c, int trigger, const char *why, struct effects *out);

/* Its end, when it comes, is not its own. */
bool container_stop_asked(const struct container *c);

/* Asks for its stop, which is to count as `end`; why goes to the log. Asked before: only that it is
 * disowned is new. */
void container_stop(struct container *c, enum container_end end, const char *why,
                    struct effects *out);

/* A stop was asked, and it is not told yet: whoever routes to it is to hear first. */
bool container_drains(const struct container *c);

/* Nothing is left to do but its removal. */
void container_delete(struct container *c, const char *why, struct effects *out);

/* The same, after a running one was stopped; nobody is notified of its end. */
void container_abandon(struct container *c, const char *why, struct effects *out);

/* Its process has ended, as the driver says: ENDED or ADOPTED_ENDED. */
void container_exited(struct container *c, int trigger, const struct container_status *s,
                      struct effects *out);

/* What was to be done in it is over, after it has completed: whether that came out well. */
void container_ended(struct container *c, bool well);

/* It could not be made or started, as the driver says: nothing of that is in force. */
void container_never_ran(struct container *c, const char *text, struct effects *out);

/* Completes it: FAILED or ENDED with the text that a crash would tell. */
void container_complete(struct container *c, int trigger, const char *text, struct effects *out);

/* It runs, and whether that lasts is to be seen; nothing if that is noted already. */
void container_unproven(struct container *c, int64_t now_ns);
/* How its start came out is known. */
void container_judged(struct container *c);

/* Other words for how it ended. */
void container_set_text(struct container *c, const char *text);

/* Its own address, as the driver says; NULL: it says nothing. */
void container_addressed(struct container *c, const char *address);

/* The image that was pulled for it, by the root filesystem's name: takes over `image`; NULL: it is
 * not known yet. */
void container_image(struct container *c, const char *name, Rep__Image *image);

/* Replaces what is known about it; takes over `about`, whose key and guid are the same. */
void container_learn(struct container *c, Rep__Note *about);

/* Wants it reconciled: in this step, or at `due_ns` (the earliest wish wins). */
void container_touch(struct container *c);
void container_due(struct container *c, int64_t due_ns);

/* The next of the queue, taken out of it; NULL when it is empty. */
struct container *containers_next(struct containers *t);

/* Moves those whose time has come to the queue; gives the next due time, NEVER_NS if none. */
int64_t containers_wake(struct containers *t, int64_t now_ns);

const char *container_guid(const struct container *c); /* its instance_guid, borrowed */

/* Whether this step has room for a log line about it; one that has not is counted. */
bool container_may_tell(struct container *c, const struct effects *out);
/* The step's last word on that: how many lines were left out. */
void containers_tell_rest(struct containers *t, struct effects *out);
const char *phase_name(int phase);

/* What /state and the table of the seed call it. */
bool container_is_starting(const struct container *c);

/* Its program was started, whether it counts as running yet or not: what is stopped from now on is
 * over when its end is known. */
bool container_has_begun(const struct container *c);

/* How its one process ended, with this source (rep/steps/exit_text.h). The driver's own words for
 * what never ran, or was lost with its shim, are no process's end and stand alone. */
const char *exit_text_of(struct arena *a, const struct container_status *s, const char *source);
