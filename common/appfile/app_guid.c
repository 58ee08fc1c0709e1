#include "common/appfile/app.h"

#include "common/base/message.h"

#include <assert.h>
#include <string.h>

enum { GUID_HASH_DIGITS = 10 };

const char *app_process_guid(struct arena *a, const char *name, const Models__DesiredLRP *lrp)
{
    assert(*name);
    const Models__DesiredLRP empty = MODELS__DESIRED_LRP__INIT;
    Models__DesiredLRP definition = *lrp;
    definition.process_guid = empty.process_guid;
    definition.instances = 0;
    definition.routes = NULL;
    definition.annotation = empty.annotation;
    definition.n_metric_tags = 0;
    definition.metrics_guid = empty.metrics_guid;
    definition.owner = NULL;
    definition.on_cell_loss = empty.on_cell_loss;
    definition.on_evacuate = empty.on_evacuate;
    definition.modification_tag = NULL;
    SCOPED_BUF(packed);
    buf_message(&packed, &definition.base);
    uint64_t h = bytes_hash(buf_bytes(&packed)); /* it tells one person's definitions apart */
    return arena_printf(a, "%s-%0*llx", name, GUID_HASH_DIGITS,
                        (unsigned long long)(h >> (64 - 4 * GUID_HASH_DIGITS)));
}

bool app_has_guid(const char *name, const char *process_guid)
{
    size_t size = strlen(name);
    if (strncmp(process_guid, name, size) != 0) {
        return false;
    }
    const char *rest = process_guid + size;
    return !*rest || (*rest == '-' && strlen(rest + 1) == GUID_HASH_DIGITS &&
                      strspn(rest + 1, "0123456789abcdef") == GUID_HASH_DIGITS);
}
