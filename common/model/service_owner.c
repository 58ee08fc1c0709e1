#include "common/model/service_owner.h"

#include "common/model/keys.h"

#include <assert.h>
#include <string.h>

Models__Owner *service_owner_of(struct arena *a, const char *uid, const char *path)
{
    assert(uid[0] && path[0] == '/');
    Models__Owner *owner = ARENA_NEW(a, Models__Owner);
    models__owner__init(owner);
    owner->kind = arena_strdup(a, SERVICE_OWNER_KIND);
    owner->uid = arena_printf(a, "%s%s", uid, path);
    return owner;
}

bool service_owner_is(const Models__Owner *owner)
{
    return owner && strcmp(owner->kind, SERVICE_OWNER_KIND) == 0 && owner->uid[0] != '/' &&
           strchr(owner->uid, '/');
}

const char *service_owner_uid(struct arena *a, const Models__Owner *owner)
{
    assert(service_owner_is(owner));
    return arena_strndup(a, owner->uid, strcspn(owner->uid, "/"));
}

const char *service_owner_path(const Models__Owner *owner)
{
    assert(service_owner_is(owner));
    return strchr(owner->uid, '/');
}

const char *service_owner_key(struct arena *a, const Models__Owner *owner)
{
    return key_service(a, service_owner_uid(a, owner), service_owner_path(owner));
}

const char *service_owner_app(const Models__Owner *owner)
{
    size_t size = strlen(SERVICE_APPS_UID);
    bool is = service_owner_is(owner) && strncmp(owner->uid, SERVICE_APPS_UID, size) == 0 &&
              owner->uid[size] == '/';
    return is ? owner->uid + size + 1 : NULL;
}

const char *service_app_path(struct arena *a, const char *name)
{
    assert(name[0]);
    return arena_printf(a, "/%s", name);
}
