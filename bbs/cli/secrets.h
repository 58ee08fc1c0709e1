/* What the bbs command line shows of secrets and of the keys that they are sealed by. Pure:
 * messages in, text out. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "secret_api.pb-c.h"

/* The table of `bbs secrets SYSTEM`: names, and since when they are set; no values. */
void secrets_table(struct arena *a, const Board__SecretsResponse *all, int64_t now_ns,
                   struct buf *out);

/* The table of `bbs keys`: each key, whether the bbs has it, and how many systems need it. */
void keys_table(struct arena *a, const Board__KeysResponse *all, struct buf *out);

/* What is to be done about a key, for people. */
const char *key_advice(struct arena *a, const Board__KeysResponse *all, const Board__KeyUse *key);
