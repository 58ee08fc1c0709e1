/* Messages, whatever their type: packed, copied, compared. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

/* The packed message, in the arena. */
struct bytes message_packed(struct arena *a, const ProtobufCMessage *m);

/* A deep copy, in the arena; NULL gives NULL. */
ProtobufCMessage *message_copy(struct arena *a, const ProtobufCMessage *m);

/* Whether two messages of a type say the same. */
bool message_equal(const ProtobufCMessage *a, const ProtobufCMessage *b);

/* 64 bits of them: what differs has another hash, but for what somebody looked for. The same on
 * every machine, so that it may stand in records. */
uint64_t bytes_hash(struct bytes in);
