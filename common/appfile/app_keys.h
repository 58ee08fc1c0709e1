/* The keys of an app: the API's own and the shorthands, turned into the API's JSON. */
#ifndef COMMON_APPFILE_APP_KEYS_H
#define COMMON_APPFILE_APP_KEYS_H

#include "common/appfile/node.h"

struct app_source {
    struct arena *arena;
    const char *file;
    struct err *err;
    const ProtobufCMessageDescriptor *type; /* models.DesiredLRP, or models.TaskDefinition */
};

/* Tells what is wrong with the value of `key`: ERR_INVALID, "file:line: key: what". */
int app_mistake(const struct app_source *s, const struct node *at, const char *key,
                const char *what);

/* Turns the members of the map `app` into members of `lrp`, a JSON object with the API's names that
 * json_decode_tree() takes as a message of the source's type. Leaves out `name`, and of a task what
 * is not of its definition. An unknown key is a mistake. */
int app_to_api(const struct app_source *s, const struct node *app, json_t *lrp);

#endif
