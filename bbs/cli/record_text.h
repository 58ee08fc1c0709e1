/* What `bbs events` says of a record behind its name: one function for each text that records.def
 * names. A new kind brings its own. Pure; texts live in the arena. */
#pragma once

#include "common/base/arena.h"
#include "common/model/record.h"

/* The text for a decoded record of this type; "" for one of which there is no more to say. */
const char *record_text(struct arena *a, enum record_type type, const ProtobufCMessage *m);

/* How people call a record of a part of a system, "shop:/api", "shop 7f3a0c12"; "" of all others,
 * which have a key that says it, and of NULL. */
const char *record_name(struct arena *a, enum record_type type, const ProtobufCMessage *m);

/* The same of a record of a centre and its sites, of the topic "edge", by its key. */
const char *record_edge_name(struct arena *a, enum record_type type, const char *key);

/* record_text_<text>(), by which the table calls them; `nothing` is the one for many. */
#define RECORD_ROW(ID, name, key, message, lifecycle, place, tags, topic, text, story, ...) \
    const char *record_text_##text(struct arena *a, const ProtobufCMessage *m);
#include "common/model/records.def"
