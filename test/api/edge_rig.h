/* What tests of a running centre share: its records, requests as text, and errors. */
#pragma once

#include "test/api/bbs_rig.h"

/* As nobody may: a record stands in the etcd of the rig; or these bytes do. */
void edge_lay(const char *key, const ProtobufCMessage *record);
void edge_lay_bytes(const char *key, struct bytes value);

/* A message from its JSON, in which ' stands for ". Fails the test where it is none. */
ProtobufCMessage *edge_message(struct arena *a, const ProtobufCMessageDescriptor *d,
                               const char *text);

/* The same request in JSON, of any type, by this caller. Gives the status, 0 = no answer. */
int edge_post_json(const struct tls_files *files, int port, const char *path, const char *text,
                   struct buf *answer);

/* What the error in an answer says, "" = there is none; of one in JSON what stands as its message.
 * In the arena. */
const char *edge_error_of(struct arena *a, const struct buf *answer);
const char *edge_error_in_json(struct arena *a, const struct buf *answer);
