/* The keys of app files and task files: the API's own and the shorthands, turned into the API's
 * JSON. app_keys.def has a row for each. */
#ifndef COMMON_APPFILE_APP_KEYS_H
#define COMMON_APPFILE_APP_KEYS_H

#include "common/appfile/node.h"

enum { APP_CPU_WEIGHT_MAX = 100 };

struct app_source {
    struct arena *arena;
    const char *file;
    struct err *err;
    const ProtobufCMessageDescriptor *type; /* models.DesiredLRP, or models.TaskDefinition */
};

/* Where a key may stand. */
enum app_key_place {
    KEY_NOWHERE = 0,
    KEY_APP = 1,
    KEY_TASK = 2,
    KEY_BOTH = KEY_APP | KEY_TASK,
    KEY_ACTION = 4,
    KEY_RUN = 8,     /* in an action's run */
    KEY_LIMITS = 16, /* in its resource_limits */
};

struct app_key {
    const char *name;
    unsigned places;
    const char *member; /* of the API's JSON, that it becomes; two of one may not stand together */
    int (*convert)(const struct app_source *s, const struct app_key *k, const struct node *v,
                   json_t *definition);
    enum app_key_place inside; /* what stands in its value */
    int64_t least, most;       /* of a number, in the member's unit, beside 0; none when both are 0 */
    const char *value, *otherwise, *meaning; /* for people; of a key that is not refused */
    const char *refused;                     /* why no cell can do it yet; NULL = cells can */
    const char *made;                        /* only corkboard makes it: what to do; NULL = not so */
};

/* All of them, in the order of docs/app-file.md. */
const struct app_key *app_keys(size_t *ret_count);

/* Tells what is wrong with the value of `key`: ERR_INVALID, "file:line: key: what". */
int app_mistake(const struct app_source *s, const struct node *at, const char *key,
                const char *what);

/* Turns the members of the map `app` into members of `definition`, a JSON object with the API's names
 * that json_decode_tree() takes as a message of the source's type. Leaves out `name`, and of a task
 * what is not of its definition, and keys without a value. An unknown key is a mistake; so is one that no cell can do, unless
 * its value asks for nothing (null, false, 0, an empty text or list). */
int app_to_api(const struct app_source *s, const struct node *app, json_t *definition);

#endif
