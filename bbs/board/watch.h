/* The watch, and how what it tells comes into the copy (changes.c) */
#pragma once

#include "bbs/board/copy.h"
#include "common/contract/effect.h"

#include <stdbool.h>
#include <sys/queue.h>

struct board;

/* One change as the watch reported it, not yet in the copy. */
struct watch_change {
    STAILQ_ENTRY(watch_change) link;
    int64_t revision;
    int64_t previous_revision; /* of the value before, 0 = not known */
    enum record_type type;
    struct version *item; /* after a put of a record that the copy keeps */
    struct blob *cause;   /* after a put of a cause, which it does not keep */
    bool deleted;
    char key[];
};

STAILQ_HEAD(watch_changes, watch_change);

struct watch {
    uint64_t id; /* 0 = none */
    bool open;
    unsigned failures;
    int64_t retry_ns;
    int64_t revision; /* last one in `list` or applied */
    struct watch_changes list;
};

/* Watches from the revision behind the copy on; ends that; true if the event is this watch's; opens
 * a broken one again when that is due. */
void watch_start(struct board *b, struct effects *out);
void watch_stop(struct board *b, struct effects *out);
bool watch_step(struct board *b, const struct watch_event *ev, struct effects *out);
void watch_timer(struct board *b, struct effects *out);
void watch_done(struct board *b);

/* Brings what the watch reported into the copy, revision by revision. */
void apply_changes(struct board *b, struct effects *out);
