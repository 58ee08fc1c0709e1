/* Protobuf text as protoc prints it, compared with what a row of the table expects.
 *
 * Expected text is protobuf text in which a value may be a placeholder: `$_` is anything, `$name`
 * is anything the first time and the same value from then on, `$name>other` and `$name>=other` also
 * ask that the number is above (not below) that of `other`. The member `...` in a message says that
 * it may have more than what is named. The order of different fields does not matter, that of equal
 * ones does; fields that the printer has no name for are passed over, as every client does. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/map.h"

#include <stdbool.h>

/* What placeholders stand for, of one sequence of rows; values live in `arena`. */
struct bindings {
    struct arena arena;
    struct map values; /* name -> text of the value, as printed */
};

void bindings_init(struct bindings *b);
void bindings_done(struct bindings *b);

/* Whether `is` fits `expected`; binds placeholders. False with a sentence in `why`. */
bool text_fits(struct bindings *b, const char *expected, const char *is, struct buf *why);

/* The text with each $name replaced by its value; lives in `b`. Fails the test for a name that has
 * none. */
const char *text_filled(struct bindings *b, const char *text);

/* On one line, unnamed fields left out; in the arena. */
const char *text_compact(struct arena *a, const char *text);
