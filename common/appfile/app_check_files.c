/* What is brought into a container: archives with their checksums, and volumes. A wrong checksum
 * and a wrong place pass a bbs, and then each start fails. */
#include "common/appfile/app_checks.h"

#include "common/model/mount_place.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

enum { DIGEST_DIGITS_MAX = 128 };

static const struct sum {
    const char *name;
    size_t digits;
} sums[] = {{"md5", 32}, {"sha1", 40}, {"sha256", 64}, {"sha512", DIGEST_DIGITS_MAX}};

enum { CHECKSUMS = 3 }; /* the first, which may be a checksum_algorithm */

static const struct sum *find_sum(const char *name, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(name, sums[i].name) == 0) {
            return &sums[i];
        }
    }
    return NULL;
}

/* What is wrong with the member `name` of the map at `path`. */
static int wrong(const struct app_source *s, const struct node *from, const char *path,
                 const char *name, const char *what)
{
    const char *at = arena_printf(s->arena, "%s.%s", path, name);
    return app_mistake(s, node_at(from, at), at, what);
}

static int missing(const struct app_source *s, const struct node *from, const char *path,
                   const char *what)
{
    return app_mistake(s, node_at(from, path), path, what);
}

/* A cell would refuse it, as late as it is needed. */
int app_check_url(const struct app_source *s, const struct node *from, const char *path,
                  const char *key, const char *url)
{
    static const char *const schemes[] = {"http://", "https://", "file://"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0) {
            return 0;
        }
    }
    return wrong(s, from, path, key, "must be a URL: https://..., http:// or file://");
}

static int check_digits(const struct app_source *s, const struct node *from, const char *path,
                        const char *name, const struct sum *sum, const char *value)
{
    assert(sum->digits <= DIGEST_DIGITS_MAX);
    size_t size = strlen(value);
    if (size == sum->digits && strspn(value, "0123456789abcdefABCDEF") == size) {
        return 0;
    }
    return wrong(s, from, path, name,
                 arena_printf(s->arena, "must be the %zu hex digits of %s", sum->digits,
                              sum->name));
}

int app_check_checksum(const struct app_source *s, const struct node *from, const char *path,
                       const char *algorithm, const char *value)
{
    if (!*algorithm && !*value) {
        return 0;
    }
    if (!*algorithm) {
        return missing(s, from, path, "checksum_algorithm is missing: md5, sha1 or sha256");
    }
    const struct sum *sum = find_sum(algorithm, CHECKSUMS);
    if (!sum) {
        return wrong(s, from, path, "checksum_algorithm", "must be md5, sha1 or sha256");
    }
    return *value ? check_digits(s, from, path, "checksum_value", sum, value)
                  : missing(s, from, path, "checksum_value is missing: the hex digits");
}

static int check_digest(const struct app_source *s, const struct node *from, const char *path,
                        const Models__ImageLayer *l)
{
    bool sha256 = l->digest_algorithm == MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA256;
    bool sha512 = l->digest_algorithm == MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA512;
    bool exclusive = l->layer_type == MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    if (!sha256 && !sha512) {
        return exclusive || *l->digest_value
                   ? missing(s, from, path,
                             exclusive ? "digest_algorithm is missing, which an EXCLUSIVE layer "
                                         "needs: SHA256 or SHA512"
                                       : "digest_algorithm is missing: SHA256 or SHA512")
                   : 0;
    }
    const struct sum *sum =
        find_sum(sha256 ? "sha256" : "sha512", sizeof(sums) / sizeof(sums[0]));
    assert(sum);
    return *l->digest_value
               ? check_digits(s, from, path, "digest_value", sum, l->digest_value)
               : missing(s, from, path, "digest_value is missing: the hex digits");
}

/* Where a tree is mounted. */
static int check_place(const struct app_source *s, const struct node *from, const char *path,
                       const char *name, const char *place,
                       int (*check)(const char *path, struct err *err))
{
    struct err why;
    return check(place, &why) < 0
               ? wrong(s, from, path, name, arena_strdup(s->arena, why.text))
               : 0;
}

static int check_dependency(const struct app_source *s, const struct node *from, const char *path,
                            const Models__CachedDependency *d)
{
    if (!*d->from || !*d->to) {
        return missing(s, from, path,
                       *d->from ? "to is missing: the directory where it is seen"
                                : "from is missing: the archive's URL");
    }
    int r = app_check_url(s, from, path, "from", d->from);
    r = r < 0 ? r : app_check_checksum(s, from, path, d->checksum_algorithm, d->checksum_value);
    return r < 0 ? r : check_place(s, from, path, "to", d->to, mount_place_check);
}

static int check_layer(const struct app_source *s, const struct node *from, const char *path,
                       const Models__ImageLayer *l)
{
    if (!*l->url || !*l->destination_path) {
        return missing(s, from, path,
                       *l->url ? "destination_path is missing: the directory where it is seen"
                               : "url is missing: the archive's");
    }
    bool shared = l->layer_type == MODELS__IMAGE_LAYER__TYPE__SHARED;
    if (!shared && l->layer_type != MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE) {
        return wrong(s, from, path, "layer_type", "must be SHARED or EXCLUSIVE");
    }
    if (l->media_type != MODELS__IMAGE_LAYER__MEDIA_TYPE__TGZ &&
        l->media_type != MODELS__IMAGE_LAYER__MEDIA_TYPE__TAR &&
        l->media_type != MODELS__IMAGE_LAYER__MEDIA_TYPE__ZIP) {
        return wrong(s, from, path, "media_type", "must be TGZ, TAR or ZIP");
    }
    int r = app_check_url(s, from, path, "url", l->url);
    r = r < 0 ? r : check_digest(s, from, path, l);
    return r < 0 || !shared
               ? r
               : check_place(s, from, path, "destination_path", l->destination_path,
                             mount_place_check);
}

static int check_volume(const struct app_source *s, const struct node *from, const char *path,
                        const Models__VolumeMount *m)
{
    const char *volume_id = m->shared ? m->shared->volume_id : "";
    if (!*m->driver) {
        return missing(s, from, path, "driver is missing: bind or tmpfs");
    }
    if (!*m->container_dir) {
        return missing(s, from, path, "container_dir is missing: where it is in the container");
    }
    if (strcmp(m->mode, "r") != 0 && strcmp(m->mode, "rw") != 0) {
        return *m->mode ? wrong(s, from, path, "mode", "must be r or rw")
                        : missing(s, from, path, "mode is missing: r or rw");
    }
    if (!*volume_id && strcmp(m->driver, "bind") == 0) {
        return missing(s, from, path,
                       "shared is missing: {volume_id: NAME}, of a rep's --volume NAME=DIR");
    }
    if (!*volume_id && m->shared) {
        return wrong(s, from, path, "shared", "volume_id is missing: any text, of memory");
    }
    return check_place(s, from, path, "container_dir", m->container_dir, volume_place_check);
}

int app_check_files(const struct app_source *s, const struct node *from,
                    const struct app_said *said)
{
    int r = 0;
    bool exclusive = false;
    for (size_t i = 0; i < said->dependency_count && r == 0; i++) {
        r = check_dependency(s, from, arena_printf(s->arena, "cached_dependencies[%zu]", i),
                             said->dependencies[i]);
    }
    for (size_t i = 0; i < said->layer_count && r == 0; i++) {
        r = check_layer(s, from, arena_printf(s->arena, "image_layers[%zu]", i), said->layers[i]);
        exclusive |= said->layers[i]->layer_type == MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    }
    if (r == 0 && exclusive && !*said->legacy_download_user) {
        r = missing(s, from, "legacy_download_user",
                    "is missing: whose the files of EXCLUSIVE image_layers are");
    }
    for (size_t i = 0; i < said->volume_count && r == 0; i++) {
        r = check_volume(s, from, arena_printf(s->arena, "volume_mounts[%zu]", i),
                         said->volumes[i]);
    }
    return r;
}
