/* What registries, images and the programs that pull them say, as data. All comes from outside:
 * whatever it is, it is refused or bounded. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep_image.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MANIFEST_BYTES = 4 << 20,     /* of a manifest or a list of such, at most */
    IMAGE_CONFIG_BYTES = 4 << 20, /* of an image's configuration */
    IMAGE_WORDS_MAX = 1000,       /* variables, and words of a command */
};

struct manifest_layer {
    const char *digest;
    int64_t size; /* as it is moved, packed */
};

struct manifest {
    /* A list: the image of this architecture in it, "sha256:..."; all else is unset then. */
    const char *chosen;
    char config[64 + 1]; /* hex digits of the configuration's digest: the image's id */
    const struct manifest_layer *layers;
    size_t layer_count;
    int64_t size; /* of all layers */
};

/* Reads a manifest, or a list of them for architecture `arch` of Linux; in the arena. -ERR_INVALID
 * when it is none, -ERR_NOT_FOUND when the list has not this architecture, -ERR_TOO_LARGE beyond
 * IMAGE_LAYERS_MAX layers. */
int manifest_parse(struct arena *a, struct bytes text, const char *arch, struct manifest *ret,
                   struct err *err);

/* Takes the image's own words from its configuration: env, entrypoint, cmd, working_dir, user. In
 * the arena. -ERR_INVALID. */
int image_config_parse(struct arena *a, struct bytes text, Rep__Image *image, struct err *err);

/* Takes the image's layers from what containers-storage says of all images and of all layers (-j).
 * In the arena. -ERR_NOT_FOUND when it does not say. */
int image_layers_parse(struct arena *a, struct bytes images, struct bytes layers, Rep__Image *image,
                       struct err *err);

/* Whether the store has a layer already that was moved as this digest, by the same words. */
bool image_layer_known(struct bytes layers, const char *digest);

/* The file that gives user and password for a registry's host; appended. */
void auth_file_print(const char *host, const char *user, const char *password, struct buf *out);

/* Whether the words of a failure say that the registry cannot be reached, rather than that it
 * refused. */
bool registry_is_silent(const char *words);

/* The words of a failure that are for people: the last line, without level, time and URLs' queries,
 * in the arena. */
const char *pull_failure(struct arena *a, struct bytes words);
