/* Who follows a topic, so that a change is looked up once and not once a reader: of a thousand
 * sites each follows its own keys, and what is written concerns one of them (docs/edge.md, Two
 * certificates). Pure. */
#pragma once

#include "common/base/map.h"
#include "common/model/keys.h"

#include <stdint.h>

struct topic_index {
    struct map by_topic; /* -> those who follow it */
    uint64_t types;      /* bits of the record types that topics have named; of others none is */
};

/* One topic of one reader; the reader's. */
struct topic_follower {
    struct topic_follower *next, **at;
    const char *topic;
    uint64_t *end; /* of the reader, see topic_index_note() */
};

void topic_index_init(struct topic_index *t);
/* Nobody follows any more. */
void topic_index_done(struct topic_index *t);

/* `topic` and `end` are borrowed until the removal. */
void topic_index_add(struct topic_index *t, struct topic_follower *f, const char *topic,
                     uint64_t *end);
void topic_index_remove(struct topic_index *t, struct topic_follower *f);

/* Sets `end` of each reader that follows the key, or a prefix of it that ends in a slash. */
void topic_index_note(const struct topic_index *t, enum record_type type, const char *key,
                      uint64_t end);
