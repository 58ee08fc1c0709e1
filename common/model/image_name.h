/* Names of root filesystems, as definitions have them (docs/cell.md, Images):
 *
 *   preloaded:NAME
 *   preloaded+layer:NAME?layer=URL&layer_path=PATH&layer_digest=DIGEST
 *   docker://[HOST]/REPOSITORY[#TAG|@DIGEST]
 *   oci:///PATH[#TAG]
 *
 * Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

enum image_scheme { IMAGE_PRELOADED, IMAGE_PRELOADED_LAYER, IMAGE_DOCKER, IMAGE_OCI };

enum { IMAGE_NAME_BYTES = 2048 }; /* no name is longer */

/* Texts are "" where the name has none. */
struct image_name {
    enum image_scheme scheme;
    const char *name;       /* of the directory that the cell has: preloaded, preloaded+layer */
    const char *host;       /* docker: with its port; "" = the default registry */
    const char *repository; /* docker */
    const char *path;       /* oci: of the layout's directory, absolute */
    const char *tag;        /* docker, oci: "latest" where the name has neither tag nor digest */
    const char *digest;     /* docker: "sha256:" and hex digits */
    const char *layer_url, *layer_path, *layer_digest; /* preloaded+layer, escapes undone */
};

/* Reads it into the arena. -ERR_INVALID says what is wrong; the text has nothing of an URL's
 * query. */
int image_name_parse(struct arena *a, const char *text, struct image_name *ret, struct err *err);

/* The root filesystem's name of an image as people call it: "[HOST/]REPOSITORY[:TAG][@DIGEST]".
 * What stands before the first "/" is a host if it has a "." or ":" or is "localhost". A name of
 * the forms above is given back as it is. In the arena; -ERR_INVALID as of image_name_parse(). */
int image_name_of(struct arena *a, const char *reference, const char **ret_name, struct err *err);

/* The name of what a cell has: the NAME of the first two forms, its size in *ret_size. NULL: it is
 * of another form. */
const char *image_name_preloaded(const char *text, size_t *ret_size);

/* Whether a cell has to pull it: docker and oci. */
bool image_name_is_pulled(const char *text);

/* What the program that pulls calls it: "docker://HOST/REPOSITORY:TAG", with @DIGEST instead of the
 * tag where that is not ""; "oci:PATH:TAG". In the arena. `registry`: for a missing host. */
const char *image_source(struct arena *a, const struct image_name *n, const char *registry,
                         const char *digest);

/* The registry for names without a host, as containers-registries.conf(5) has it: the first of
 * unqualified-search-registries; "docker.io" where the file has none. In the arena. */
const char *image_default_registry(struct arena *a, struct bytes file);
