/* The letters of JSON: quoting, base64. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

/* Whether it is all UTF-8 as Go takes it: no overlong forms, no surrogates. */
bool utf8_valid(struct bytes text);

/* Appends standard base64 with padding. */
void base64_encode(struct bytes in, struct buf *out);

/* Gives the bytes in the arena; ERR_INVALID for anything but whole groups of four. */
int base64_decode(struct arena *a, struct bytes text, struct bytes *ret_bytes, struct err *err);

/* Appends a text that is JSON by its grammar (json_syntax.h) as it was written, as Go does: without
 * white space between its tokens, with `<`, `>`, `&` and the two line separators as escapes, and
 * U+FFFD where it is not UTF-8. */
void json_as_written(struct bytes text, struct buf *out);

/* Checks, without recursion, that brackets nest at most JSON_DEPTH_MAX deep and that there are at
 * most JSON_VALUES_MAX values, so that a parser may have the text. It need not be valid JSON. */
int json_check_bounds(struct bytes text, struct err *err);
