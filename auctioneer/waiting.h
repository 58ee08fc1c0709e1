/* What waits by kind of record: a row a kind, in a file of its own. The backlog, the auction and
 * the reports ask the row where kinds differ (design.md 5, docs/tasks.md). Pure. */
#pragma once

#include "auctioneer/wanted.h"
#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/base/arena.h"
#include "common/model/keys.h"

struct entry;
struct backlog;

/* Which one it is, for those who read: one of the texts is set, the others stay as they are. */
struct waiting_name {
    char **process_guid, **task_guid, **unit;
    int32_t *index;
};

struct waiting_kind {
    enum record_type record;
    enum job_kind job;
    /* A hint of a later revision than what the feed reported stands in for the record. */
    bool hint_runs_ahead;
    /* Why it was refused is reported as soon as the feed shows the record, if that comes later. */
    bool reported_when_seen;

    /* Whether this record awaits a cell, and which work it is, borrowed from it. */
    bool (*waits)(const ProtobufCMessage *record, const char **ret_guid, int32_t *ret_index);
    /* The feed shows the record, the entry has what was known before. */
    void (*seen)(struct backlog *p, struct entry *e, const ProtobufCMessage *record,
                 int64_t mod_revision, int64_t now_ns);
    /* Somebody says that it waits. NULL: that it is asked for is all there is to say. */
    void (*hinted)(struct backlog *p, struct entry *e, const ProtobufCMessage *hint,
                   int64_t revision, int64_t now_ns);
    /* A cell took what was offered `as` this: it is what awaits a cell still. */
    bool (*stands)(const struct entry *e, const struct wanted *as);

    /* Whether to report to the board why it is not placed, the move that does, and that it was
     * sent; and that it may not have arrived. All NULL: the board is told nothing. */
    bool (*unreported)(const struct entry *e);
    Board__Move *(*refusal)(struct arena *a, const struct entry *e, const struct wanted *w);
    void (*reported)(struct entry *e);
    void (*doubt)(struct entry *e);

    /* Adds it to what a cell is asked to take, whose lists have room; gives its size in bytes. */
    size_t (*offer)(struct arena *a, const struct wanted *w, int32_t index, Cell__Work *work);
    /* Whether it is in what the cell gave back. */
    bool (*came_back)(const Cell__Work *back, const struct wanted *w, int32_t index);
    void (*name)(struct arena *a, const struct entry *e, const struct waiting_name *ret);
};

extern const struct waiting_kind waiting_instance, waiting_task, waiting_unit;
