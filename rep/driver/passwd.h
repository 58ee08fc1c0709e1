/* Users of a root filesystem, as its own /etc/passwd and /etc/group tell them. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { USER_GROUPS_MAX = 32, USER_NAME_BYTES = 64, USER_HOME_BYTES = 1024 };

struct user {
    uint32_t uid, gid;
    uint32_t groups[USER_GROUPS_MAX]; /* the others that list it as a member */
    size_t group_count;
    char name[USER_NAME_BYTES]; /* of its entry, likewise the next; "" = it has none, or too long */
    char home[USER_HOME_BYTES];
};

/* Resolves "", "name", "name:group", "uid" or "uid:gid" ("" is root: 0, 0). Numbers and "root" need
 * no entry; other names do. `passwd` and `group` may be empty. -ERR_NOT_FOUND names what is
 * missing; groups beyond USER_GROUPS_MAX are -ERR_TOO_LARGE. */
int user_resolve(const char *words, struct bytes passwd, struct bytes group, struct user *ret,
                 struct err *err);
