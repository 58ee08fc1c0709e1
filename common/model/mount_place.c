#include "common/model/mount_place.h"

#include <stddef.h>
#include <string.h>

static bool is_step(const char *at, size_t size, const char *step)
{
    return size == strlen(step) && memcmp(at, step, size) == 0;
}

bool path_steps_good(const char *path)
{
    for (const char *at = path; at;) {
        size_t n = strcspn(at, "/");
        if (n == 0 || is_step(at, n, ".") || is_step(at, n, "..")) {
            return false;
        }
        at = at[n] ? at + n + 1 : NULL;
    }
    return true;
}

/* The first step of where the path leads, its size in *ret_size, and how many there are. */
static size_t follow(const char *path, const char **ret_first, size_t *ret_size)
{
    size_t depth = 0;
    *ret_first = "";
    *ret_size = 0;
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        if (is_step(at, n, "..")) {
            depth -= depth > 0;
        } else if (n > 0 && !is_step(at, n, ".")) {
            if (depth++ == 0) {
                *ret_first = at;
                *ret_size = n;
            }
        }
        at += n + (at[n] == '/');
    }
    return depth;
}

int mount_place_check(const char *path, struct err *err)
{
    static const struct {
        const char *step;
        bool below; /* nor there */
    } own[] = {{"proc", true}, {"sys", true}, {"dev", false}};
    const char *first;
    size_t size;
    size_t depth = follow(path, &first, &size);
    if (depth == 0) {
        return err_set(err, ERR_INVALID,
                       "nothing can be mounted at \"%.100s\": the root filesystem is there", path);
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (is_step(first, size, own[i].step) && (own[i].below || depth == 1)) {
            return err_set(err, ERR_INVALID,
                           "nothing can be mounted at \"%.100s\": the container has its own /%s",
                           path, own[i].step);
        }
    }
    return 0;
}

int volume_place_check(const char *path, struct err *err)
{
    if (path[0] != '/') {
        return err_set(err, ERR_INVALID, "\"%.100s\" is no absolute path: it must begin with /",
                       path);
    }
    if (path[1] && !path_steps_good(path + 1)) {
        return err_set(err, ERR_INVALID,
                       "\"%.100s\" must not end with a / nor have an empty step, . or ..", path);
    }
    return mount_place_check(path, err);
}
