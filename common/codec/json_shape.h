/* How each message type looks in JSON: descriptors joined with the side table json_fields.def. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>

enum json_when {
    JSON_OMIT,        /* the key is left out when the member is zero, empty or absent */
    JSON_ALWAYS,      /* always there; null for an absent message or an empty list */
    JSON_NEVER_NULL,  /* always there; an absent message looks like an empty one */
    JSON_ONLY_IF_SET, /* member of a oneof */
    JSON_IF_THERE,    /* a list or map: left out when its pointer is NULL, else shown, empty too */
    JSON_INLINED,     /* the sub-message's members stand in the parent, always */
    JSON_INLINED_IF_SET, /* the same, but an absent one shows nothing */
    JSON_HOLDER,         /* "Holder":{"key":value}, null when the oneof is not set */
    JSON_HOLDER_OMIT,    /* the same, with "Holder":{} for a zero value */
};

struct json_field {
    const ProtobufCFieldDescriptor *field;
    const char *key;
    const char *wire;   /* Diego's key, with CODEC_SNAKE_CASE; else NULL */
    const char *holder; /* NULL but for HOLDER and HOLDER_OMIT */
    enum json_when when;
    bool map; /* repeated entries of key and value, shown as an object */
};

struct json_shape {
    const ProtobufCMessageDescriptor *descriptor;
    bool routes; /* models.ProtoRoutes: its one map is the object, its bytes are JSON */
    struct json_field *fields; /* one for each of the descriptor's, in its order */
    struct json_shape *next;
};

/* The shapes of one call, made when first needed. */
struct json_shapes {
    struct arena *arena;
    bool snake_case; /* keys as CODEC_SNAKE_CASE has them */
    struct json_shape *first;
};

/* The shape of this message, made in the arena if it is the first. */
const struct json_shape *json_shape_of(struct json_shapes *shapes,
                                       const ProtobufCMessageDescriptor *descriptor);

/* Whether the field is Corkboard's own, not Diego's. */
bool json_field_is_own(const struct json_field *f);

/* Bytes of one value of this type in a message, or in its list. */
size_t json_value_size(ProtobufCType type);
