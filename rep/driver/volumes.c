#include "rep/driver/volumes.h"

#include "common/model/mount_place.h"

#include <stdlib.h>
#include <string.h>

/* "NAME" or "NAME/DIR/...": a directory, or one below it. */
static int plan_bind(const struct volume *v, const struct volume_source *sources,
                     size_t count, struct volume_plan *ret, struct err *err)
{
    size_t n = strcspn(v->name, "/");
    if (!path_steps_good(v->name)) {
        return err_set(err, ERR_INVALID, VOLUME_FAILED ": \"%.100s\" names no directory", v->name);
    }
    for (size_t i = 0; i < count; i++) {
        if (strlen(sources[i].name) == n && memcmp(sources[i].name, v->name, n) == 0) {
            ret->source = sources[i].path;
            ret->below = v->name + n + (v->name[n] == '/');
            return 0;
        }
    }
    return err_set(err, ERR_NOT_FOUND, VOLUME_FAILED ": this cell has no volume \"%.*s\"",
                   (int)n, v->name);
}

/* "size=N", with K, M or G; nothing. */
static int plan_tmpfs(const struct volume *v, const struct volume_source *sources,
                      size_t count, struct volume_plan *ret, struct err *err)
{
    static const char letters[] = "KMG";
    (void)sources;
    (void)count;
    if (v->config[0] == '\0') {
        return 0;
    }
    const char *number = v->config + (strncmp(v->config, "size=", 5) == 0 ? 5 : 0);
    char *end = (char *)(uintptr_t)number;
    unsigned long long n = number[0] >= '1' && number[0] <= '9' ? strtoull(number, &end, 10) : 0;
    const char *letter = *end ? strchr(letters, *end) : NULL;
    int shift = letter ? 10 * (int)(letter - letters + 1) : 0;
    if (number == v->config || n == 0 || n > UINT64_C(1) << 32 ||
        end[letter ? 1 : 0] != '\0') {
        return err_set(err, ERR_INVALID, VOLUME_FAILED ": its configuration must be size=N, "
                       "with K, M or G, not \"%.40s\"", v->config);
    }
    ret->bytes = n << shift;
    return 0;
}

static const struct volume_driver {
    const char *name;
    int (*plan)(const struct volume *v, const struct volume_source *sources,
                size_t count, struct volume_plan *ret, struct err *err);
} drivers[] = {
    {"bind", plan_bind},
    {"tmpfs", plan_tmpfs},
};

static const struct volume_driver *find(const char *name)
{
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        if (strcmp(drivers[i].name, name) == 0) {
            return &drivers[i];
        }
    }
    return NULL;
}

bool volume_driver_exists(const char *name)
{
    return find(name) != NULL;
}

int volume_plan(const struct volume *v, const struct volume_source *sources,
                size_t count, struct volume_plan *ret, struct err *err)
{
    const struct volume_driver *driver = find(v->driver);
    struct volume_plan plan = {.below = "", .path = v->path, .writable = v->writable};
    if (!driver) {
        return err_set(err, ERR_NOT_FOUND, VOLUME_FAILED);
    }
    struct err why;
    if (volume_place_check(v->path, &why) < 0) {
        return err_set(err, ERR_INVALID, VOLUME_FAILED ": %s", why.text);
    }
    int result = driver->plan(v, sources, count, &plan, err);
    if (result == 0) {
        *ret = plan;
    }
    return result;
}
