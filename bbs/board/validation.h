/* What is wrong with a request, collected before anything is decided. What each request must fulfil
 * stands in its own folder (bbs/lrp/validate.h, ...). Pure. */
#pragma once

#include "common/base/bytes.h"

/* Lengths (behaviour.md 18). */
enum {
    NAME_CHARACTERS_MAX = 255,
    VALIDATION_TEXT_MAX = 64 * 1024, /* further messages are left out */
};

/* Collects messages, joined by ", ". Begins as {0}. */
struct validation {
    struct buf text;
    bool unstorable; /* nothing wrong but that it does not fit into its place */
};

void validation_done(struct validation *v);
bool validation_ok(const struct validation *v); /* nothing is wrong so far */

/* The message of the InvalidRequest error; owned by v. */
const char *validation_text(struct validation *v);

void say(struct validation *v, const char *message);     /* this is wrong; copied */
void say_field(struct validation *v, const char *field); /* "Invalid field: X" */

/* Longer than `characters`: unstorable. */
void check_length(struct validation *v, const char *text, size_t characters);
