#include "common/model/pool_tag.h"

#include "common/model/component_path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "pool:"
#define SLICE_PREFIX "slice:"

const char *pool_tag(struct arena *a, const char *uid, const char *name, uint32_t epoch)
{
    assert(uid[0] && !strchr(uid, '/') && name[0] == '/' && epoch > 0);
    return arena_printf(a, PREFIX "%s/%s#%u", uid, name, epoch);
}

const char *slice_tag(struct arena *a, const char *uid)
{
    assert(uid[0]);
    return arena_printf(a, SLICE_PREFIX "%s", uid);
}

static bool begins(const char *tag, const char *prefix)
{
    return strncmp(tag, prefix, strlen(prefix)) == 0;
}

const char *slice_tag_uid(const char *tag)
{
    return begins(tag, SLICE_PREFIX) ? tag + strlen(SLICE_PREFIX) : NULL;
}

bool pool_tag_is(const char *tag)
{
    return begins(tag, PREFIX) || slice_tag_uid(tag);
}

bool pool_tag_parse(struct arena *a, const char *tag, struct pool_tag *ret)
{
    if (!begins(tag, PREFIX)) {
        return false;
    }
    const char *uid = tag + strlen(PREFIX);
    const char *slash = strchr(uid, '/'), *hash = strrchr(uid, '#');
    if (!slash || slash == uid || !hash || hash < slash) {
        return false;
    }
    unsigned long epoch = strtoul(hash + 1, NULL, 10);
    *ret = (struct pool_tag){
        .uid = arena_strndup(a, uid, (size_t)(slash - uid)),
        .name = arena_strndup(a, slash + 1, (size_t)(hash - slash - 1)),
        .epoch = (uint32_t)epoch,
    };
    return epoch > 0 && epoch <= UINT32_MAX && !component_subname_fault(a, ret->name, true) &&
           strcmp(pool_tag(a, ret->uid, ret->name, ret->epoch), tag) == 0;
}

bool pool_tag_fits(const char *cell_pool, char *const *tags, size_t count)
{
    bool bears = !*cell_pool;
    for (size_t i = 0; i < count; i++) {
        bool own = *cell_pool && strcmp(tags[i], cell_pool) == 0;
        if (pool_tag_is(tags[i]) && !own) {
            return false;
        }
        bears = bears || own;
    }
    return bears;
}

const char *pool_type_fault(const char *instance_type)
{
    size_t size = strlen(instance_type);
    bool good = size > 0 && size <= POOL_TYPE_BYTES_MAX &&
                strspn(instance_type, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;
    return good ? NULL : "must be 1 to 63 of a-z, 0-9 and -";
}

const char *pool_type_tag(struct arena *a, const char *instance_type)
{
    assert(!pool_type_fault(instance_type));
    return arena_printf(a, "type:%s", instance_type);
}
