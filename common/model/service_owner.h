/* Whose a DesiredLRP, an ActualLRP or a Task is that a service made: owner of kind `service`, uid
 * `<uid of the system><path>`, as "apps/web" or "6f0c..2a/store/api". Plain apps are services of
 * the uid `apps`. Pure. */
#pragma once

#include "common/base/arena.h"
#include "models/owner.pb-c.h"

#include <stdbool.h>

#define SERVICE_OWNER_KIND "service"
#define SERVICE_APPS_UID "apps"

/* What a bbs says of one that is to go, and `bbs apply` waits for. */
#define SERVICE_IS_REMOVED_TEXT "it is being removed"

/* Of the service at `path`, in the arena. */
Models__Owner *service_owner_of(struct arena *a, const char *uid, const char *path);

/* Whether it is a service's; NULL is nobody's. */
bool service_owner_is(const Models__Owner *owner);

/* Of a service's owner: the uid of its system; its path, within `owner`. */
const char *service_owner_uid(struct arena *a, const Models__Owner *owner);
const char *service_owner_path(const Models__Owner *owner);

/* The key of the service's record. */
const char *service_owner_key(struct arena *a, const Models__Owner *owner);

/* Of a plain app's: its name, within `owner`; NULL if it is none's. */
const char *service_owner_app(const Models__Owner *owner);

/* The path of the service that a plain app is: "/<name>". */
const char *service_app_path(struct arena *a, const char *name);
