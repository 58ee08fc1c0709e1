/* Sends beats: every 2 s to one bbs, after 1 s without an answer to the next (design.md 6).
 * Pure. */
#ifndef COMMON_CLIENT_BEATER_H
#define COMMON_CLIENT_BEATER_H

#include "board.pb-c.h"
#include "common/client/boards.h"

#define BEAT_INTERVAL_NS (2 * SECOND_NS)
#define BEAT_TIMEOUT_NS (1 * SECOND_NS)

enum beat_verdict {
    BEAT_NONE,     /* the event was not its own, or no answer yet */
    BEAT_TAKEN,    /* a bbs counts us */
    BEAT_REJECTED, /* our session or term is not the board's any more */
};

struct beater {
    struct boards *boards;
    Board__BeatRequest request; /* filled by the role; pointers must stay valid */
    bool on;                    /* nothing is sent while false */
    uint64_t call_id;
    const char *url;   /* the bbs that the open call went to */
    unsigned failures; /* bbs that failed one after the other */
    int64_t next_ns;
    int64_t sent_ns;
    int64_t taken_ns; /* last answer; 0 = never */
};

/* Off; the role fills `request` and calls beater_start(). */
void beater_init(struct beater *b, struct boards *boards);

/* Beats at once and from now on. Also after `request` changed: the answer to an older beat is then
 * no more listened to. */
void beater_start(struct beater *b, const struct event *ev, struct effects *out);

/* No more beats; the answer under way is ignored. */
void beater_stop(struct beater *b);

/* Give it every event. After REJECTED it goes on until stopped. Adds its due time to `out`. */
enum beat_verdict beater_step(struct beater *b, const struct event *ev, struct effects *out);

#endif
