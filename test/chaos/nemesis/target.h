/* A cluster as target.json describes it (docs/chaos.md): who is in it, and the commands that
 * disturb and mend it. */
#pragma once

#include "common/base/err.h"
#include "test/chaos/nemesis/schedule.h"

#include <jansson.h>

struct nemesis_target {
    json_t *root;
    struct cluster_shape shape;
};

/* Reads the text of a target.json. Fails with ERR_INVALID and the member that is wrong. */
int nemesis_target_parse(const char *text, size_t size, struct nemesis_target *ret_target,
                         struct err *err);
void nemesis_target_done(struct nemesis_target *t);

/* A command by its name: "healthy", "leader", "heal". NULL if the target has none. */
const char *nemesis_target_command(const struct nemesis_target *t, const char *name);

/* "make", "probe" or "heal" of a kind of fault; NULL if the target has none. */
const char *nemesis_target_fault_command(const struct nemesis_target *t,
                                         const struct fault_kind *kind, const char *verb);

/* Whether the target lets this kind befall no rep: "cells" is false beside its commands. */
bool nemesis_target_fault_spares_cells(const struct nemesis_target *t,
                                       const struct fault_kind *kind);
