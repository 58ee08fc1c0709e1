/* Records: a one-byte format version before a protobuf message (DESIGN 2). An unknown version is
 * kept and left alone. */
#ifndef COMMON_MODEL_RECORD_H
#define COMMON_MODEL_RECORD_H

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/model/keys.h"

enum { RECORD_VERSION = 1, RECORD_MAX_BYTES = 1024 * 1024 };

/* The message type of a record type; NULL for UNKNOWN. DESIRED and RUN are both models.DesiredLRP:
 * their bytes joined (without the version byte of the second) are the whole message. */
const ProtobufCMessageDescriptor *record_descriptor(enum record_type type);

/* Version byte and packed message, appended to `out`. */
void record_encode(struct buf *out, const ProtobufCMessage *message);

/* The message without its version byte; no bytes if the version is not ours. */
struct bytes record_body(struct bytes record);

/* Decodes into the arena. Fails with ERR_INVALID for an unknown version or malformed bytes. The
 * result is of record_descriptor(type). */
int record_decode(struct arena *a, enum record_type type, struct bytes record,
                  ProtobufCMessage **ret_message, struct err *err);

#endif
