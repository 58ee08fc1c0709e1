/* Whether a text is JSON by its grammar alone. Pure. */
#pragma once

#include "common/base/bytes.h"

/* Brackets that may nest, as in Go's encoding/json. */
enum { JSON_SYNTAX_DEPTH_MAX = 10000 };

/* One value with white space around it, as Go's json.Valid takes it: numbers of any size, any bytes
 * from 0x20 on in strings, whatever they mean as UTF-8, and escapes of halves of surrogate pairs.
 * Without recursion, in one pass. */
bool json_syntax_valid(struct bytes text);
