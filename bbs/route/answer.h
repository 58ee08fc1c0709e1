/* Answers as Diego's clients expect them (behaviour.md 3, 4): status 200 with the error in field 1,
 * application/x-protobuf; a success with nothing to say is a 200 with an empty body. */
#pragma once

#include "common/contract/effect.h"
#include "models/error.pb-c.h"

#define PROTOBUF_TYPE "application/x-protobuf"
#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain; charset=utf-8"

/* Answer 200: with no bytes, an empty response; or with the error, whose text is copied. */
void answer_well(struct effects *out, uint64_t request_id);
void answer_error(struct effects *out, uint64_t request_id, Models__Error__Type type,
                  const char *message);

/* As answer_well(), to who asked in JSON: an empty object. */
void answer_well_json(struct effects *out, uint64_t request_id);

/* The same to an evacuation: whether its container is to be kept (behaviour.md 11). No text: well.
 */
void answer_evacuation(struct effects *out, uint64_t request_id, Models__Error__Type type,
                       const char *text, bool keep);
void answer_text(struct effects *out, uint64_t request_id, int status, const char *text);

/* 503, empty, Retry-After: 1: not ready, store unreachable, too many conflicts, out of quota. */
void answer_unavailable(struct effects *out, uint64_t request_id);

/* The same for a reason that somebody must hear of: the body is NOT_DONE and the text. */
void answer_not_done(struct effects *out, uint64_t request_id, const char *text);

/* The same of a change that may have been done, or may be done yet: not empty, and without
 * NOT_DONE, by which it is reported. */
void answer_unsure(struct effects *out, uint64_t request_id);

/* 500, empty: a subscription that cannot be understood (behaviour.md 16.1). */
void answer_broken(struct effects *out, uint64_t request_id);

/* 405 with Allow. */
void answer_wrong_method(struct effects *out, uint64_t request_id, const char *allow);
