/* Templates of definitions: `$parameters` and `${name}`, and `{$secret: name}` (docs/systems.md,
 * Definitions). Pure. */
#pragma once

#include "common/definition/mistake.h"

struct definition_template {
    const struct definition_source *source;
    size_t *nodes; /* made so far, of DEFINITION_NODES_MAX */
};

/* The file with its parameters in it; `values` is the map of those that are given, or NULL. NULL:
 * it has faults, which are told. Parameters that the file does not know are passed over. */
const struct node *definition_template(const struct definition_template *t, const struct node *file,
                                       const struct node *values);

/* A copy in which each {$secret: name} is {$secret_ref: path:name} of the source's path. Members of
 * the map `n` that are called `components` stay as they are: they have paths of their own. */
const struct node *definition_secrets(const struct definition_template *t, const struct node *n);

/* The path:name in {$secret_ref: path:name}; NULL: it is none, or of an impossible name. */
const char *definition_secret_name(struct arena *a, const struct node *n);

/* Whether it is a map of this one key. */
bool definition_is_only(const struct node *n, const char *key);

/* The value as JSON, numbers as they are written. With `escape` a "${" in a text becomes "$${", as
 * a template has it. */
void definition_json(const struct node *n, bool escape, struct buf *to);
