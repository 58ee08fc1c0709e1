/* The keys of app files and task files: the API's own and the shorthands, turned into the API's
 * JSON. app_keys.def has a row for each. */
#pragma once

#include "common/appfile/node.h"
#include "models/actions.pb-c.h"
#include "models/cached_dependency.pb-c.h"
#include "models/check_definition.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/environment_variables.pb-c.h"
#include "models/image_layer.pb-c.h"
#include "models/log_rate_limit.pb-c.h"
#include "models/metric_tags.pb-c.h"
#include "models/security_group.pb-c.h"
#include "models/sidecar.pb-c.h"
#include "models/volume_mount.pb-c.h"

enum { APP_CPU_WEIGHT_MAX = 100, APP_CPU_MAX_PERCENT_MAX = 100000 };

struct app_source {
    struct arena *arena;
    const char *file;
    struct err *err;
    const ProtobufCMessageDescriptor *type; /* models.DesiredLRP, or models.TaskDefinition */
    bool may_idle; /* that nothing is to run is no mistake */
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
    KEY_GROUP = 32,  /* in an action's serial, parallel or codependent */
    KEY_TRY = 64,
    KEY_TIMEOUT = 128,
    KEY_PROGRESS = 256,
    KEY_SIDECAR = 512,
    KEY_CHECKS = 1024, /* in a check_definition */
    KEY_CHECK = 2048,  /* one of its checks */
    KEY_HTTP_CHECK = 4096,
    KEY_TCP_CHECK = 8192,
    KEY_HTTP_TCP_CHECK = KEY_HTTP_CHECK | KEY_TCP_CHECK,
    KEY_DOWNLOAD = 16384,
    KEY_UPLOAD = 32768,
    KEY_DEPENDENCY = 65536, /* in one of cached_dependencies */
    KEY_LAYER = 131072,     /* in one of image_layers */
    KEY_DOWNLOAD_UPLOAD = KEY_DOWNLOAD | KEY_UPLOAD,
    KEY_DOWNLOAD_DEPENDENCY = KEY_DOWNLOAD | KEY_DEPENDENCY,
    KEY_DOWNLOAD_UPLOAD_DEPENDENCY = KEY_DOWNLOAD_UPLOAD | KEY_DEPENDENCY,
    KEY_TRY_TIMEOUT_PROGRESS = KEY_TRY | KEY_TIMEOUT | KEY_PROGRESS,
    KEY_GROUP_TRY_TIMEOUT = KEY_GROUP | KEY_TRY | KEY_TIMEOUT,
};

struct app_key {
    const char *name;
    unsigned places;
    const char *member; /* of the API's JSON, that it becomes; two of one may not stand together */
    int (*convert)(const struct app_source *s, const struct app_key *k, const struct node *v,
                   json_t *definition);
    enum app_key_place inside; /* what stands in its value */
    int64_t least, most; /* of a number, in the member's unit, beside 0; none when both are 0 */
    const char *value, *otherwise, *meaning; /* for people; of a key that is not refused */
    const char *refused;                     /* why no cell can do it yet; NULL = cells can */
    const char *made; /* only corkboard makes it: what to do; NULL = not so */
};

/* All of them, in the order of docs/app-file.md. */
const struct app_key *app_keys(size_t *ret_count);

/* Tells what is wrong with the value of `key`: ERR_INVALID, "file:line: key: what". */
int app_mistake(const struct app_source *s, const struct node *at, const char *key,
                const char *what);

/* The same of what json_decode_tree() refused at `path`, by the key that made that member. */
int app_mistake_of_api(const struct app_source *s, const struct node *app, const char *path,
                       const char *what);

/* Turns the members of the map `app` into members of `definition`, a JSON object with the API's
 * names that json_decode_tree() takes as a message of the source's type. Leaves out `name`, and of
 * a task what is not of its definition, and keys without a value. An unknown key is a mistake; so
 * is one that no cell can do, unless its value asks for nothing (null, false, 0, an empty text or
 * list). */
int app_to_api(const struct app_source *s, const struct node *app, json_t *definition);

/* Reads the keys of an app that stand in the map `from`, with all defaults, and checks them as a
 * bbs would. What it gives lives in the arena of the source, and lacks process_guid and owner.
 * `domain` holds where the map has none; `name` is whose logs and metrics it has. */
int app_definition(const struct app_source *s, const struct node *from, const char *domain,
                   const char *name, Models__DesiredLRP **ret_lrp);

/* The rules by which everything is reached. A new reference. */
json_t *app_egress_all(void);

/* ---- What a bbs would refuse without being able to say where it stands ---- */

/* As a bbs takes them (behaviour.md 18). */
enum {
    APP_TEXT_MAX = 255, /* characters of a name that is stored */
    APP_ROOTFS_MAX = 1024,
    APP_ANNOTATION_MAX = 10240, /* bytes */
    APP_ROUTES_MAX = 131072,    /* bytes of their JSON */
};

/* What an app and a task have both. */
struct app_said {
    const char *domain, *root_fs, *log_guid, *metrics_guid, *annotation;
    const Models__Action *action, *setup, *monitor; /* setup, monitor: NULL = none */
    Models__Sidecar *const *sidecars;
    size_t sidecar_count;
    const Models__CheckDefinition *checks; /* NULL = none */
    Models__EnvironmentVariable *const *env;
    size_t env_count;
    const char *const *tag_names; /* as they stand in metric_tags, if it is there */
    const Models__MetricTagValue *const *tags;
    size_t tag_count;
    Models__SecurityGroupRule *const *egress;
    size_t egress_count;
    Models__CachedDependency *const *dependencies;
    size_t dependency_count;
    Models__ImageLayer *const *layers;
    size_t layer_count;
    const char *legacy_download_user;
    Models__VolumeMount *const *volumes;
    size_t volume_count;
    const Models__LogRateLimit *log_rate; /* NULL = none */
    const char *image_username, *image_password;
};

/* `from`: the map that it was read from. */
int app_check(const struct app_source *s, const struct node *from, const struct app_said *said);

/* Of a text that stands there: ERR_INVALID when it is empty, or longer. */
int app_check_domain(const struct app_source *s, const struct node *at, const char *domain);
