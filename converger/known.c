#include "converger/known.h"

#include "common/model/record.h"
#include "converger/inside.h"

#include <assert.h>

const void *message_of(struct arena *a, const char *key, const struct followed *record)
{
    ProtobufCMessage *m = NULL;
    bool readable =
        record && record_decode(a, key_type(key), blob_bytes(record->record), &m, NULL) == 0;
    return readable ? m : NULL;
}

const void *message_at(const struct kept *k, struct arena *a, const char *key)
{
    assert(k->x && *key);
    return message_of(a, key, feed_client_get(&k->x->life.feed_client, key));
}
