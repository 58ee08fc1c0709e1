/* A plan: the short list of changes a decision wants, each a named move (design.md 3.2). It prints
 * as text: what logs, tests and dry runs show. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/lifecycle/actor.h"
#include "models/error.pb-c.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

enum plan_verdict {
    PLAN_NOTHING, /* already so: answer well, commit nothing */
    PLAN_COMMIT,
    PLAN_REFUSE, /* error says why */
};

/* One record put or deleted by one move. */
struct change {
    struct change *next;
    const char *key;
    const char *move; /* name from common/lifecycle, for the cause and the plan's text */
    enum actor actor;
    const ProtobufCMessage *message; /* the whole record after the move; NULL = delete */
    const char *text; /* what an event needs and the record does not keep; "" if nothing */
};

/* What another process hears once the plan is committed; best effort, repeated by passes. */
enum notice_kind {
    NOTICE_START, /* the auctioneer: these indices await placement */
    NOTICE_STOP,  /* the rep of cell_id: stop this instance */
    NOTICE_REFRESH, /* the reps of these indices: routes and tags as they are desired now */
    NOTICE_TASK,     /* the auctioneer: this task awaits placement */
    NOTICE_CANCEL,   /* the rep of cell_id: this task was cancelled */
    NOTICE_CALLBACK, /* this bbs itself: the task is over, its callback URL is to be called */
};

struct notice {
    struct notice *next;
    enum notice_kind kind;
    const char *process_guid;  /* START, STOP, REFRESH */
    const char *task_guid;     /* TASK, CANCEL, CALLBACK */
    const char *instance_guid; /* STOP */
    const char *attempt;       /* CANCEL */
    const char *cell_id;       /* STOP, CANCEL */
    int32_t first_index;       /* START, REFRESH: [first_index, end_index) */
    int32_t end_index;
};

struct plan {
    struct arena *arena;
    enum plan_verdict verdict;
    Models__Error__Type error_type; /* REFUSE */
    const char *error_message;
    struct change *changes, **changes_end;
    size_t change_count;
    struct notice *notices, **notices_end;
    /* What the op's answer is made of, by the convention of its row: for LRP moves the record after
     * the move, or the one that refused it. May be NULL. */
    const ProtobufCMessage *record;
    bool keep_container; /* of an evacuation's move: the rep lets it run (behaviour.md 11) */
    /* Likewise of its answer: what it takes out of a sequence, so many from there on; 0 = none. */
    uint32_t first_number, number_count;
};

/* Empty: verdict NOTHING. */
void plan_init(struct plan *p, struct arena *arena);

/* Adds a put; the verdict becomes COMMIT. Key and message are borrowed and must live as long as the
 * plan's arena. Gives the change, so that `text` can be set. */
struct change *plan_put(struct plan *p, const char *key, const char *move, enum actor actor,
                        const ProtobufCMessage *message);

/* Adds a delete; the verdict becomes COMMIT. */
struct change *plan_delete(struct plan *p, const char *key, const char *move, enum actor actor);

/* Drops all changes and notices; the verdict becomes REFUSE. `record` and keep_container stay. */
void plan_refuse(struct plan *p, Models__Error__Type type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Indices [first, end) are to be placed, by the auctioneer, or have other routes or tags, for reps;
 * an instance is to end. Texts are copied. */
void plan_notice_start(struct plan *p, const char *process_guid, int32_t first, int32_t end);
void plan_notice_refresh(struct plan *p, const char *process_guid, int32_t first, int32_t end);
void plan_notice_stop(struct plan *p, const char *process_guid, const char *instance_guid,
                      const char *cell_id);

/* It waits for a cell. */
void plan_notice_task(struct plan *p, const char *task_guid);
/* `attempt`: the one that ran; "" = whichever the cell has. */
void plan_notice_cancel(struct plan *p, const char *task_guid, const char *attempt,
                        const char *cell_id);
void plan_notice_callback(struct plan *p, const char *task_guid);

/* One line a change: "claim actual/web/000.. by rep", "refuse ResourceNotFound: ...", in order. */
void plan_print(const struct plan *p, struct buf *out);
