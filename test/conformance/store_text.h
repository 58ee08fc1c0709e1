/* Any message as one line of text, so that two stores' answers can be compared and shown. What must
 * differ between two stores (ids of cluster and member, raft term) is left out. */
#pragma once

#include "common/base/bytes.h"
#include "common/contract/store.h"

void store_text_message(struct buf *out, const ProtobufCMessage *m);

/* Outcome, status, text and message. */
void store_text_answer(struct buf *out, const struct store_answer *answer);
