#include "common/model/image_name.h"

#include "common/base/query.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum {
    HOST_BYTES = 255,
    REPOSITORY_BYTES = 255,
    TAG_BYTES = 128,
    OCI_PATH_BYTES = 1024,
    DIGEST_DIGITS = 64,
};

static const char preloaded[] = "preloaded:", layered[] = "preloaded+layer:", docker[] = "docker:",
                  oci[] = "oci:";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool image_name_is_pulled(const char *text)
{
    return begins(text, docker) || begins(text, oci);
}

const char *image_name_preloaded(const char *text, size_t *ret_size)
{
    const char *name = begins(text, preloaded) ? text + strlen(preloaded)
                       : begins(text, layered) ? text + strlen(layered)
                                               : NULL;
    *ret_size = name ? strcspn(name, "?") : 0;
    return name;
}

/* ---- Parts ---- */

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_word(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Parts of small letters and digits, in them ".", "_" and "-" between such. */
static bool repository_valid(const char *text)
{
    bool inside = false; /* the character before was a letter or a digit */
    for (const char *c = text; *c; c++) {
        if (!is_lower(*c) && !(inside && strchr("._-/", *c)) &&
            !(c > text && strchr("_-", *c) && c[-1] == *c)) {
            return false;
        }
        inside = is_lower(*c);
    }
    return inside && strlen(text) <= REPOSITORY_BYTES;
}

/* "name", "name:5000", "[::1]:5000"; "" is one, too. */
static bool host_valid(const char *text)
{
    size_t n = text[0] == '[' ? 1 + strspn(text + 1, "0123456789abcdefABCDEF:.") : 0;
    if (text[0] == '[') {
        n = text[n] == ']' ? n + 1 : strlen(text) + 1;
    } else {
        while (is_word(text[n]) || (n > 0 && text[n] == '-') ||
               (n > 0 && text[n] == '.' && is_word(text[n - 1]) && is_word(text[n + 1]))) {
            n++; /* no "..", for a directory is called so, too */
        }
    }
    if (n > strlen(text) || strlen(text) > HOST_BYTES) {
        return false;
    }
    const char *port = text + n;
    size_t digits = port[0] == ':' ? strspn(port + 1, "0123456789") : 0;
    return port[0] == '\0' || (n > 0 && digits > 0 && digits <= 5 && port[1 + digits] == '\0');
}

static bool tag_valid(const char *text)
{
    size_t n = 0;
    while (is_word(text[n]) || (n > 0 && (text[n] == '.' || text[n] == '-'))) {
        n++;
    }
    return n > 0 && n <= TAG_BYTES && text[n] == '\0';
}

static bool digest_valid(const char *text)
{
    return begins(text, "sha256:") && strspn(text + 7, "0123456789abcdef") == DIGEST_DIGITS &&
           text[7 + DIGEST_DIGITS] == '\0';
}

/* Absolute, without "." and "..", and without what the program that pulls would take for more than
 * a path. */
static bool path_valid(const char *text)
{
    if (text[0] != '/' || strlen(text) > OCI_PATH_BYTES || strstr(text, "/../") ||
        strstr(text, "/./")) {
        return false;
    }
    const char *last = strrchr(text, '/');
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr(":@,%", *c)) {
            return false;
        }
    }
    return strcmp(last, "/..") != 0 && strcmp(last, "/.") != 0;
}

/* ---- Names ---- */

/* What stands behind "//", in two: before and after the first "/". */
static int split(struct arena *a, const char *rest, const char **ret_host, const char **ret_path,
                 struct err *err)
{
    const char *slash = begins(rest, "//") ? strchr(rest + 2, '/') : NULL;
    if (!slash) {
        return err_set(err, ERR_INVALID, "the image must be SCHEME://[HOST]/NAME");
    }
    *ret_host = arena_strndup(a, rest + 2, (size_t)(slash - rest) - 2);
    *ret_path = slash;
    return 0;
}

static int parse_tag(struct arena *a, const char *path, struct image_name *n, size_t *ret_size,
                     struct err *err)
{
    size_t size = strcspn(path, "#");
    n->tag = "latest";
    *ret_size = size;
    if (path[size] == '#') {
        n->tag = arena_strdup(a, path + size + 1);
    }
    return tag_valid(n->tag)
               ? 0
               : err_set(err, ERR_INVALID, "the image's tag \"%.60s\" is none", n->tag);
}

static int parse_docker(struct arena *a, const char *rest, struct image_name *n, struct err *err)
{
    const char *path = NULL;
    size_t size;
    int rc = split(a, rest, &n->host, &path, err);
    if (rc) {
        return rc;
    }
    if (strchr(n->host, '@')) {
        return err_set(err, ERR_INVALID,
                       "the image's name has a password in it: image_username and image_password "
                       "are for that");
    }
    const char *at = strchr(++path, '@');
    if (at) {
        size = (size_t)(at - path);
        n->digest = arena_strdup(a, at + 1);
        rc = digest_valid(n->digest)
                 ? 0
                 : err_set(err, ERR_INVALID, "the image's digest must be sha256: and 64 digits");
    } else {
        rc = parse_tag(a, path, n, &size, err);
    }
    n->repository = arena_strndup(a, path, size);
    if (rc == 0 && !host_valid(n->host)) {
        rc = err_set(err, ERR_INVALID, "the image's host \"%.60s\" is none", n->host);
    } else if (rc == 0 && !repository_valid(n->repository)) {
        rc = err_set(err, ERR_INVALID, "the image's repository \"%.60s\" is none", n->repository);
    }
    return rc;
}

static int parse_oci(struct arena *a, const char *rest, struct image_name *n, struct err *err)
{
    const char *path = NULL;
    size_t size;
    int rc = split(a, rest, &n->host, &path, err);
    rc = rc ? rc : parse_tag(a, path, n, &size, err);
    if (rc) {
        return rc;
    }
    n->path = arena_strndup(a, path, size);
    if (n->host[0]) {
        return err_set(err, ERR_INVALID, "an oci image has no host: oci:///PATH#TAG");
    }
    return path_valid(n->path)
               ? 0
               : err_set(err, ERR_INVALID, "the image's path \"%.60s\" cannot be used", n->path);
}

static int parse_layered(struct arena *a, const char *rest, struct image_name *n, struct err *err)
{
    size_t size = strcspn(rest, "?");
    const char *query = rest + size + (rest[size] == '?');
    n->name = arena_strndup(a, rest, size);
    n->layer_url = query_value(a, query, "layer");
    n->layer_path = query_value(a, query, "layer_path");
    n->layer_digest = query_value(a, query, "layer_digest");
    if (!n->layer_url || !n->layer_path || !n->layer_digest) {
        return err_set(err, ERR_INVALID,
                       "preloaded+layer needs layer, layer_path and layer_digest");
    }
    if (!path_valid(n->layer_path)) {
        return err_set(err, ERR_INVALID, "layer_path must be an absolute path");
    }
    return digest_valid(n->layer_digest)
               ? 0
               : err_set(err, ERR_INVALID, "layer_digest must be sha256: and 64 digits");
}

int image_name_parse(struct arena *a, const char *text, struct image_name *ret, struct err *err)
{
    struct image_name n = {
        IMAGE_PRELOADED, "", "", "", "", "", "", "", "", "",
    };
    int rc = 0;
    if (strlen(text) > IMAGE_NAME_BYTES) {
        rc = err_set(err, ERR_INVALID, "the root filesystem's name is too long");
    } else if (begins(text, preloaded)) {
        const char *rest = text + strlen(preloaded);
        n.name = arena_strndup(a, rest, strcspn(rest, "?"));
    } else if (begins(text, layered)) {
        n.scheme = IMAGE_PRELOADED_LAYER;
        rc = parse_layered(a, text + strlen(layered), &n, err);
    } else if (begins(text, docker)) {
        n.scheme = IMAGE_DOCKER;
        rc = parse_docker(a, text + strlen(docker), &n, err);
    } else if (begins(text, oci)) {
        n.scheme = IMAGE_OCI;
        rc = parse_oci(a, text + strlen(oci), &n, err);
    } else {
        rc = err_set(err, ERR_INVALID, "\"%.60s\" is no root filesystem's name", text);
    }
    if (rc == 0) {
        *ret = n;
    }
    return rc;
}

static size_t host_size(const char *reference)
{
    size_t size = strcspn(reference, "/");
    bool host = reference[size] == '/' && (memchr(reference, '.', size) ||
                                           memchr(reference, ':', size) ||
                                           strncmp(reference, "localhost/", size + 1) == 0);
    return host ? size : 0;
}

/* A digest is more than a tag: beside one the tag says nothing. */
static const char *name_of_reference(struct arena *a, const char *reference)
{
    size_t host = host_size(reference);
    const char *rest = reference + host + (host > 0);
    size_t repository = strcspn(rest, ":@");
    const char *tag = rest[repository] == ':' ? rest + repository + 1 : NULL;
    const char *at = strchr(rest, '@');
    return arena_printf(a, "docker://%.*s/%.*s%s%s", (int)host, reference, (int)repository, rest,
                        at ? at : tag ? "#" : "", at || !tag ? "" : tag);
}

int image_name_of(struct arena *a, const char *reference, const char **ret_name, struct err *err)
{
    struct image_name n;
    const char *name = strstr(reference, ":/") ? reference : name_of_reference(a, reference);
    int rc = image_name_parse(a, name, &n, err);
    if (rc == 0) {
        assert(n.scheme != IMAGE_DOCKER || n.repository[0]);
        *ret_name = name;
    }
    return rc;
}

const char *image_source(struct arena *a, const struct image_name *n, const char *registry,
                         const char *digest)
{
    if (n->scheme == IMAGE_OCI) {
        return arena_printf(a, "oci:%s:%s", n->path, n->tag);
    }
    const char *host = n->host[0] ? n->host : registry;
    return digest[0] ? arena_printf(a, "docker://%s/%s@%s", host, n->repository, digest)
                     : arena_printf(a, "docker://%s/%s:%s", host, n->repository, n->tag);
}

/* ---- The registries' file ---- */

/* The first string of a TOML array that begins behind the "=". */
static const char *first_string(struct arena *a, const char *text, const char *end)
{
    const char *open = text;
    while (open < end && (isspace((unsigned char)*open) || *open == '=' || *open == '[')) {
        open++;
    }
    if (open == end || (*open != '"' && *open != '\'')) {
        return NULL;
    }
    const char *close = memchr(open + 1, *open, (size_t)(end - open) - 1);
    return close && close > open + 1 ? arena_strndup(a, open + 1, (size_t)(close - open) - 1)
                                     : NULL;
}

const char *image_default_registry(struct arena *a, struct bytes file)
{
    static const char key[] = "unqualified-search-registries";
    const char *at = arena_strndup(a, file.size ? (const char *)file.data : "", file.size);
    const char *end = at + strlen(at);
    while (at < end) {
        at += strspn(at, " \t");
        if (*at == '[') {
            break; /* a table begins: it is the file's own no more */
        }
        if (begins(at, key)) {
            const char *first = first_string(a, at + sizeof(key) - 1, end);
            return first ? first : "docker.io";
        }
        const char *line = memchr(at, '\n', (size_t)(end - at));
        at = line ? line + 1 : end;
    }
    return "docker.io";
}
