/* Records: a one-byte format version before a protobuf message (design.md 2). An unknown version is
 * kept and left alone. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/lifecycle/lifecycle.h"
#include "common/model/keys.h"

#include <stdbool.h>

enum { RECORD_VERSION = 1, RECORD_MAX_BYTES = 1024 * 1024 };

/* What the copy's index knows of a record, "" where it does not apply. */
enum tag {
    TAG_DOMAIN,
    TAG_CELL,  /* of an ActualLRP or Task the cell it is on, of a cell its id */
    TAG_STATE, /* of an ActualLRP or Task */
    TAG_OWNER, /* as owner_text() gives it */
    TAG_COUNT
};

/* What records.def says of a kind. */
struct record_kind {
    const char *name;
    const struct lifecycle *lifecycle; /* NULL = none */
    const char *topic;                 /* of `bbs events`; NULL = none */
    bool is_kept;                      /* in the copy */
    bool is_tagged;
};

/* Of RECORD_UNKNOWN too, which is kept and of which nothing is known. */
const struct record_kind *record_kind(enum record_type type);

/* The copy keeps records of this type; others are read from etcd when they are asked for. */
bool record_is_kept(enum record_type type);

/* The keys from `first` to before `end`; NULL = as far as keys go. */
struct key_part {
    const char *first, *end;
};

/* The n-th part of what the copy keeps, in order; between two lies a kind that it does not keep.
 * NULL after the last. */
const struct key_part *record_kept_part(unsigned n);

/* What a decoded record, not of RECORD_UNKNOWN, has for each tag, "" for none. The texts are in the
 * arena, in the message, or constant. */
void record_tags(struct arena *a, enum record_type type, const ProtobufCMessage *message,
                 const char *ret[TAG_COUNT]);

/* "kind/uid", both percent-escaped; "" without an owner. */
const char *owner_text(struct arena *a, const char *kind, const char *uid);

/* The message type of a record type; NULL for UNKNOWN. DESIRED and RUN are both models.DesiredLRP:
 * their bytes joined (without the version byte of the second) are the whole message. */
const ProtobufCMessageDescriptor *record_descriptor(enum record_type type);

/* Version byte and packed message, appended to `out`. */
void record_encode(struct buf *out, const ProtobufCMessage *message);

/* The same, in the arena. */
struct bytes record_encoded(struct arena *a, const ProtobufCMessage *message);

/* Whether it is of this version and of its type, and well formed: a scan (scan.h). */
bool record_readable(enum record_type type, struct bytes record);

/* The message without its version byte; no bytes if the version is not ours. */
struct bytes record_body(struct bytes record);

/* What a record of whatever version says as far as it is a message of this one; NULL = it is none.
 * For its index alone: who is to be told that it is there. */
ProtobufCMessage *record_guess(struct arena *a, enum record_type type, struct bytes record);

/* Decodes into the arena. Fails with ERR_INVALID for an unknown version or malformed bytes. The
 * result is of record_descriptor(type). */
int record_decode(struct arena *a, enum record_type type, struct bytes record,
                  ProtobufCMessage **ret_message, struct err *err);
