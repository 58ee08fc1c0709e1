#include "rep/unit/unit_records.h"

#include "common/model/record.h"

#include <string.h>

const ProtobufCMessage *unit_record(const struct unit_knowledge *k, struct arena *a,
                                    const char *key)
{
    const struct unit_record_held *h = map_get(&k->records, key);
    ProtobufCMessage *m = NULL;
    return h && record_decode(a, key_type(key), blob_bytes(h->record), &m, NULL) == 0 ? m : NULL;
}

uint64_t unit_record_revision(const struct unit_knowledge *k, const char *key)
{
    const struct unit_record_held *h = map_get(&k->records, key);
    return h ? (uint64_t)h->mod_revision : 0;
}

bool unit_key_begins(const char *key, const char *prefix)
{
    return strncmp(key, prefix, strlen(prefix)) == 0;
}

const char *unit_key_part(struct arena *a, const char *key, unsigned n)
{
    const char *end = key;
    for (unsigned i = 0; i < n; i++) {
        end = strchr(end, '/') + 1;
    }
    return arena_strndup(a, key, (size_t)(end - key));
}

const char *unit_refused_key(struct arena *a, struct unit_name name, uint32_t relation)
{
    return arena_printf(a, "%s/%010u", key_unit(a, name), relation);
}

const char *unit_reserved_key(struct arena *a, struct unit_name name, const char *service)
{
    return arena_printf(a, "%s/%s", key_unit(a, name), service);
}
