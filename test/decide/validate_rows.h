/* What rows of validation share: messages made in an arena, and what is said of them. */
#pragma once

#include "bbs/lrp/validate.h"

#define INVALID "the request received is invalid"
#define FIELD(name) "Invalid field: " name

/* A message of the arena `a`, initialised; a text of it. */
#define NEW(a, type, lower)                                                                        \
    ({                                                                                             \
        type *new_ = ARENA_NEW(a, type);                                                           \
        lower##__init(new_);                                                                       \
        new_;                                                                                      \
    })
#define TEXT(s) arena_strdup(a, s)

char *repeated(struct arena *a, const char *piece, size_t count);

/* The least that is valid. */
Models__Action *run_action(struct arena *a);

/* What was said, "" = all is well; ends the validation. */
const char *said(struct arena *a, struct validation *v);
