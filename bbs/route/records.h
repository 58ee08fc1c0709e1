/* A long answer made of records as the board holds them: each is one message in field 2 of the
 * response. Most are given as they are, nothing is decoded or copied before the reader takes it;
 * those that are shown in another form are decoded one at a time (design.md 2, 3.1c). */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/contract/effect.h"

/* Parts of one message: their bytes joined are the message (a DesiredLRP is two records and, at
 * times, a few harmonised fields). */
enum { RECORD_PARTS = 3 };

struct records;

/* What is shown in place of a record of type `type`: `show` makes it from the decoded copy, in the
 * arena. It is called twice for each message, for its size and for its bytes, and must give the
 * same both times. */
struct record_viewer {
    const ProtobufCMessageDescriptor *type;
    const ProtobufCMessage *(*show)(struct arena *a, ProtobufCMessage *decoded);
};

/* For at most `capacity` messages; the caller frees it, or gives it away as a cursor. */
struct records *records_new(size_t capacity);

/* Adds one message of up to RECORD_PARTS records (NULL = none); takes references of its own. What
 * this version cannot read is left out, here and below. */
void records_add(struct records *r, struct blob *const parts[RECORD_PARTS]);

/* The same, as the viewer shows it. */
void records_add_view(struct records *r, struct blob *const parts[RECORD_PARTS],
                      const struct record_viewer *viewer);

/* Adds an ActualLRPGroup of two records, of which one may be NULL. */
void records_add_group(struct records *r, struct blob *instance, struct blob *evacuating);

/* Of the messages that were added. */
size_t records_count(const struct records *r);

/* Answers with all of them, with Content-Length, and gives `r` to the shell. None: an empty
 * body. */
void records_answer(struct records *r, uint64_t request_id, struct effects *out);

void records_free(struct records *r);
