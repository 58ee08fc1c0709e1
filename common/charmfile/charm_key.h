/* The keys of charm files: keys.def has a row for each. Pure. */
#pragma once

#include "common/appfile/app_keys.h"
#include "common/appfile/node.h"

/* Where a key may stand. */
enum charm_place { CK_CHARM, CK_ENDPOINT, CK_OPTION, CK_SCRIPT };

/* A key, as docs/units.md lists it. */
struct charm_key {
    const char *name;
    enum charm_place place;
    const char *value, *otherwise, *meaning; /* NULL = an app file's key, and as there */
};

/* All, in the order of the docs. */
const struct charm_key *charm_keys(size_t *ret_count);

/* The one of that name in that place; NULL if there is none. */
const struct charm_key *charm_key_named(const char *name, enum charm_place place);

/* Whether it is a map whose keys are all known in that place: 0, or the mistake with the nearest
 * key. `path`: where the map stands, for people; "" = it is the charm. */
int charm_check_keys(const struct app_source *s, const struct node *map, const char *path,
                     enum charm_place place);
