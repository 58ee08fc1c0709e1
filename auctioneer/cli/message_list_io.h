/* Lists of messages in files, as commands print them with --output json. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

struct message_list {
    const ProtobufCMessageDescriptor *type;
    const char *noun; /* one of them, for errors */
    ProtobufCMessage **list;
    size_t count;
};

/* Reads a file, "-" for standard input: a JSON list, or one object on each line that is not empty.
 * `type` and `noun` are the caller's, the list lives in the arena. ERR_INVALID, ERR_TOO_LARGE: with
 * the file, and which one it is. */
int message_list_read(struct arena *a, const char *file, struct message_list *l, struct err *err);
