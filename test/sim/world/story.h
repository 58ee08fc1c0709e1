/* What the trace of a simulated world says of a record: one pair of functions for each story that
 * records.def names. A new kind brings its own, or is `named`. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/record.h"

/* Of what: "cell", and the first component of its key. */
struct story_subject {
    const char *kind;
    const char *name;
};

struct story {
    void (*put)(struct buf *out, const struct story_subject *s, const ProtobufCMessage *m);
    void (*gone)(struct buf *out, const struct story_subject *s);
};

/* NULL: the trace does not tell of these. */
const struct story *story_of(enum record_type type);
