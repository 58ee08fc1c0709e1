/* The look at a message before protobuf-c unpacks it (design.md 3.7). protobuf-c 1.4.1 recurses
 * without limit (34 KB of nested actions end the process) and 1 MiB of empty sub-messages become 96
 * MB; so every body and record passes here first. Iterative, linear in the size of the input. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Sub-messages below the message itself; one more is refused. An answer has more around a record
 * than the request that brought it, so it may be deeper. */
enum { SCAN_DEPTH_MAX = 64, SCAN_ANSWER_DEPTH_MAX = SCAN_DEPTH_MAX + 4 };

/* Walks `body` as a message of type `descriptor` and adds up what unpacking it into an arena takes:
 * structs, arrays, strings, unknown fields, protobuf-c's own lists of members (an arena never gives
 * them back), and the copies made when a singular sub-message comes more than once and is merged.
 * Gives 0 and the sum in *ret_decoded (may be NULL). Refuses
 * - ERR_INVALID: truncated or malformed wire format, a field of another wire type than its
 *   descriptor's (repeated scalars may be packed or not), groups, a zero byte in a string;
 * - ERR_TOO_LARGE: nesting over SCAN_DEPTH_MAX, more than `decoded_max` bytes.
 * Unknown fields are skipped and counted; invalid UTF-8 passes (behaviour.md 2). */
int scan_message(const ProtobufCMessageDescriptor *descriptor, struct bytes body,
                 size_t decoded_max, size_t *ret_decoded, struct err *err);

/* Scans, then unpacks into the arena. *ret_message has the type of `descriptor`, lives as long as
 * the arena, and shares nothing with `body`. Errors as above. */
int scan_and_unpack(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                    struct bytes body, size_t decoded_max, ProtobufCMessage **ret_message,
                    struct err *err);

/* The same for an answer with records: SCAN_ANSWER_DEPTH_MAX. */
int scan_and_unpack_answer(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                           struct bytes body, size_t decoded_max, ProtobufCMessage **ret_message,
                           struct err *err);

/* The first length-prefixed field of that number in a well-formed message (one that was packed here
 * or scanned before), without decoding the rest; false if there is none. The value is borrowed from
 * `message`. */
bool message_field(struct bytes message, uint32_t number, struct bytes *ret_value);
