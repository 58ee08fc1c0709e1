/* `bbs why`: why an instance or a task is as it is, told from the board in sentences. Pure: what
 * the board has in, sentences out. */
#pragma once

#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/model/settings.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

enum { WHY_LINES_MAX = 24 };

/* What the board has. */
struct why_facts {
    const Board__CellsStatus *cells;
    bool domain_fresh; /* of the process's domain */
    int64_t now_ns;    /* wall clock */
    const struct settings *settings; /* in force */
    bool by_guid;      /* its app has several definitions: the subject has the process_guid */
};

struct why {
    struct arena *arena;
    const char *subject; /* "web/0" */
    const char *guid;    /* process_guid or task_guid */
    int32_t index;       /* -1: a task */
    bool well;           /* one record, which runs, and there is nothing to explain */
    bool waits;          /* the auctioneer may know more */
    const char *lines[WHY_LINES_MAX];
    size_t count;
};

/* Of one index; `actuals` are the records of the process. `lrp` NULL: it is not desired any more.
 */
void why_instance(struct arena *a, const struct why_facts *facts, const Models__DesiredLRP *lrp,
                  const char *process_guid, int32_t index, Models__ActualLRP *const *actuals,
                  size_t count, struct why *ret_why);

/* What the checks of an instance found last, as its rep tells it. */
void why_checks(struct why *w, const Cell__LRP *told, int64_t now_ns);

/* Of one task. Texts live in the arena, or are borrowed. */
void why_task(struct arena *a, const struct why_facts *facts, const Models__Task *task,
              struct why *ret_why);

/* Adds a sentence, a line of its own. */
void why_say(struct why *w, const char *text);

/* `auctioneer`: what the leading auctioneer answers to GET /why?process_guid=GUID&index=N, or
 * /why?task_guid=GUID: a JSON object (Auction.Why); no bytes = nothing. As lines
 * for people, or as one JSON object a line: {"subject","guid","index","explanation":[...],
 * "auctioneer":...}. */
void why_print(const struct why *why, struct bytes auctioneer, bool json, struct buf *out);

/* The same answer alone, as lines for people; nothing, if there is none. */
void why_auctioneer_print(struct arena *a, struct bytes auctioneer, struct buf *out);
