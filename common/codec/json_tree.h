/* Decoding from a parsed tree: for those that parse or make the tree themselves (app files). */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

#include <jansson.h>

/* As json_decode(), of a tree. On ERR_INVALID *ret_path (may be NULL) is the path of the member
 * that is wrong, in the arena: "action.run.args[1]", "" for the message itself; the error's text
 * does not repeat it. */
int json_decode_tree(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                     const json_t *tree, unsigned flags, ProtobufCMessage **ret_message,
                     const char **ret_path, struct err *err);
