/* A charm file: what a unit service runs, which relations it can have, what can be configured, and
 * the hooks that its author wrote, in YAML or JSON (docs/units.md, A charm). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "models/desired_lrp.pb-c.h"
#include "units.pb-c.h"

#include <stdbool.h>

enum {
    CHARM_BYTES_MAX = 256 * 1024, /* of its file */
    CHARM_NAME_MAX = 63,          /* of a service, an endpoint, an interface */
    CHARM_ENDPOINTS_MAX = 16,
    CHARM_HOOKS_MAX = 70,
    CHARM_SCRIPT_BYTES_MAX = 64 * 1024,
    CHARM_PATH_BYTES_MAX = 1024,
    CHARM_VALUES_MAX = 64,              /* keys of a configuration, or of settings */
    CHARM_VALUES_BYTES_MAX = 64 * 1024, /* of all keys and values together */
    CHARM_VALUE_KEY_MAX = 128,
    CHARM_HOOK_TIMEOUT_S = 5 * 60, /* of a charm that does not say it */
    CHARM_HOOK_TIMEOUT_MAX_S = 60 * 60,
};

/* Every service provides it, without saying so, to whatever needs no more than a container to sit
 * in. It runs no hooks. */
#define CHARM_IMPLICIT "juju-info"

enum charm_role { CHARM_PROVIDES, CHARM_REQUIRES, CHARM_PEERS, CHARM_ROLE_COUNT };

struct charm_endpoint {
    const char *name;
    enum charm_role role;
    const char *interface;
    bool container; /* scope: only units of one container see each other */
    bool implicit;  /* CHARM_IMPLICIT, which no charm says */
};

struct charm_value {
    const char *key, *value;
};

struct charm_hook {
    const char *name;
    const char *script; /* for /bin/sh; "" = `path` */
    const char *path;   /* of a program in the root filesystem, absolute; "" = `script` */
};

/* All lists are sorted by name or key, so that a charm written in another order is the same. */
struct charm {
    const char *name;
    bool subordinate;
    const struct charm_endpoint *endpoints;
    size_t endpoint_count;
    const struct charm_value *config; /* with the defaults */
    size_t config_count;
    const struct charm_hook *hooks;
    size_t hook_count;
    uint32_t hook_timeout_s;       /* a hook that takes longer has failed */
    Models__DesiredLRP *container; /* what runs, and in what; without process_guid and owner */
};

/* Reads the one charm of a file's text; `file` is its name for errors, and ".json" at its end means
 * JSON. What it gives lives in the arena. A mistake gives ERR_INVALID, or ERR_TOO_LARGE of a bound
 * of the file, with file, line and key: "web.yaml:3: requries: unknown key; did you mean
 * "requires"?". */
int charm_parse(struct arena *a, const char *file, struct bytes text, struct charm *ret_charm,
                struct err *err);

/* Names of services, endpoints and interfaces: parts with "-" between them, each with a letter, the
 * first of which begins it; small letters and digits, CHARM_NAME_MAX at most. */
#define CHARM_NAME_RULE                                                                            \
    "must be small letters, digits and -, begin with a letter, have a letter in each part "        \
    "between "                                                                                     \
    "-, and at most 63 of them"
bool charm_name_is_valid(const char *name);

/* Keys of configuration and of settings. */
#define CHARM_VALUE_KEY_RULE "must be letters, digits, _, . and -, at most 128"
bool charm_value_key_is_valid(const char *key);

/* NULL if the list keeps the bounds of a configuration and of settings; else what is wrong, a
 * sentence in the arena: which bound, or which key. Values are UTF-8. */
const char *charm_values_fault(struct arena *a, const struct charm_value *values, size_t count);

/* The configuration that units see: the defaults, with what is given in their place, by key. A key
 * that the charm lacks gives ERR_INVALID, with the nearest that it has; so does a bound. */
int charm_configuration(struct arena *a, const struct charm *c, const struct charm_value *given,
                        size_t count, const struct charm_value **ret_values, size_t *ret_count,
                        struct err *err);

/* "provides", "requires", "peers". */
const char *charm_role_name(enum charm_role role);

/* By name; NULL if it has none. */
const struct charm_endpoint *charm_endpoint_named(const struct charm *c, const char *name);
const struct charm_hook *charm_hook_named(const struct charm *c, const char *name);

/* Whether a charm of these endpoints can have a hook of that name. */
bool charm_hook_is_possible(const struct charm *c, const char *name);

/* Of a program in the root filesystem: absolute, with no part that leads elsewhere than it
 * seems. */
bool charm_path_is_valid(const char *path);

/* NULL if a message that a client sent is one that charm_message() could have made of a charm file;
 * else what is wrong, a sentence in the arena. What it runs is looked at no further than that it is
 * there. */
const char *charm_message_fault(struct arena *a, const Board__Charm *m);

/* What units need of their cell that run this; `more`: placement tags that are wanted beside its
 * own. Borrows from both. */
Board__UnitNeeds *charm_needs(struct arena *a, const Models__DesiredLRP *run, char *const *more,
                              size_t count);

/* Of an endpoint in a record. */
enum charm_role charm_role_of(Board__Endpoint__Role role);

/* A charm as its record has it, and back. What is given lives in the arena and shares nothing with
 * what it was made from. A record is one that charm_message() made. */
Board__Charm *charm_message(struct arena *a, const struct charm *c);
struct charm charm_of_message(struct arena *a, const Board__Charm *m);

/* Its name and its endpoints alone, whether it is subordinate: what ends that fit are judged by.
 * Borrows from the message. */
struct charm charm_ends_of_message(struct arena *a, const Board__Charm *m);
