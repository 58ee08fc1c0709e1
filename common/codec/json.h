/* One generic codec between protobuf messages and Diego's JSON, both ways, driven by protobuf-c's
 * descriptors and the side table json_fields.def (design.md 4; json.md 2,
 * rep-auctioneer.md 2). It serves the rep's and auctioneer's JSON paths, the command line and logs.
 *
 * How a message looks: keys in the order of field numbers, named as in json_fields.def; enums by
 * name; int64 as numbers; bytes as base64; maps as objects with sorted keys; ProtoRoutes as an
 * object router -> JSON; empty lists that are always shown as null; `<`, `>`, `&` escaped and
 * invalid UTF-8 replaced, as Go does. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

enum codec_flags {
    CODEC_PRETTY = 1, /* encode: indented lines instead of one line */
    CODEC_OWN = 2,    /* Corkboard's own fields (numbers from 1000 up) take part */
    CODEC_STRICT = 4, /* decode: an unknown or repeated key is an error */
    /* As the command line shows messages: every key in snake_case ("MemoryMB" is "memory_mb"), and
     * what Diego puts into a holder ("OptionalRoutable":{"routable":true}) without it, when it is
     * set. Decode takes these and Diego's own. */
    CODEC_SNAKE_CASE = 8,
};

enum {
    JSON_DEPTH_MAX = 128,     /* nesting of objects and arrays */
    JSON_VALUES_MAX = 262144, /* values in one input; jansson takes about 100 bytes for each */
    JSON_OWN_FIELD_MIN = 1000,
};

/* Appends the message as JSON text to `out`, without a line feed at the end. Fails only with
 * ERR_TOO_LARGE, for a message nested too deep; `out` then holds a part. */
int json_encode(const ProtobufCMessage *message, unsigned flags, struct buf *out, struct err *err);

/* Decodes one JSON object into a message of type `descriptor` in the arena. Keys are matched
 * exactly, else without regard to case, as Go does; null leaves a member unset, and an empty list
 * or map is told from it by its pointer, which is not NULL; messages that Diego always writes
 * (nullable=false) are there even if the text has none of their keys. Refuses with ERR_INVALID and
 * a text that starts with the path of the member ("action.run.path: must be ..."), or with
 * ERR_TOO_LARGE. */
int json_decode(struct arena *a, const ProtobufCMessageDescriptor *descriptor, struct bytes text,
                unsigned flags, ProtobufCMessage **ret_message, struct err *err);

/* Decodes a JSON array of objects of one type, as the auctioneer's POST /v1/lrps has it. */
int json_decode_list(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                     struct bytes text, unsigned flags, ProtobufCMessage ***ret_messages,
                     size_t *ret_count, struct err *err);

/* Checks that `text` is one JSON value and appends it to `out` without white space and with `<`,
 * `>`, `&` escaped: what Diego makes of the values of routes (behaviour.md 2). */
int json_compact(struct bytes text, struct buf *out, struct err *err);

/* Appends `text` as a JSON string with its quotes. */
void json_string_text(struct bytes text, struct buf *out);
