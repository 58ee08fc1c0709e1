/* protoc as the failure detector of the conformance test: it encodes requests and decodes answers
 * and events, by the messages that the facts describe (test/conformance/spec), not by our .proto
 * files. Our own paths are the exception: theirs are those of proto/board.proto. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include <stdbool.h>

/* Makes the descriptor sets in `dir`, where files of every call live too. Fails the test when
 * protoc or awk does. */
void protoc_init(const char *dir);
/* Removes the files. */
void protoc_done(void);

/* Request and response message of a path, "" where the body is ignored; NULL for unknown paths. */
const char *protoc_request(struct arena *a, const char *path);
const char *protoc_response(struct arena *a, const char *path);

/* The message that events of this name carry; NULL for unknown names. */
const char *protoc_event(const char *name);

/* Text to bytes and back; false with what protoc said in `why`. */
bool protoc_encode(const char *message, const char *text, struct buf *out, struct buf *why);
bool protoc_decode(const char *message, struct bytes bytes, struct buf *out, struct buf *why);
