/* What stands in a YAML or JSON file, with the line of each value, so that a mistake can be told
 * where it is. Pure: bytes in, a tree in an arena out. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <jansson.h>

/* Bounds of one file. Aliases count each time they are used, so they cannot blow a file up. */
enum {
    NODE_DEPTH_MAX = 64,
    NODES_MAX = 20000,
    NODE_DOCUMENTS_MAX = 256,
    NODE_ANCHORS_MAX = 1000, /* of YAML: "&name"; libyaml compares each with all before it */
};

/* What to do about a file that has too much in it. */
#define NODE_DIVIDE "; divide it into several files"

enum node_kind {
    NODE_NULL,
    NODE_TRUE,
    NODE_FALSE,
    NODE_INTEGER,
    NODE_REAL,
    NODE_TEXT,
    NODE_LIST,
    NODE_MAP,
};

struct node {
    enum node_kind kind;
    unsigned line;    /* from 1; of a member of a map: the line of its key */
    const char *text; /* of a scalar, as written; numbers too */
    int64_t integer;
    size_t count;      /* items of a list or map */
    const char **keys; /* of a map */
    struct node **items;
};

/* All documents of a YAML text, at most NODE_DOCUMENTS_MAX. Errors name `file` and the line:
 * "web.yaml:3: ...". A key twice in a map is an error. */
int node_parse_yaml(struct arena *a, const char *file, struct bytes text, struct node ***ret_nodes,
                    size_t *ret_count, struct err *err);

/* The one value of a JSON text. */
int node_parse_json(struct arena *a, const char *file, struct bytes text, struct node **ret_node,
                    struct err *err);

/* The member of a map; NULL if there is none or `n` is not a map. */
const struct node *node_member(const struct node *n, const char *key);

/* The same, but NULL for a member without a value, too ("instances:", "instances: null"): in a file
 * of an app or a task it is as if it were left out. */
const struct node *node_given(const struct node *n, const char *key);

/* Whether it is one value and not a list or map; its `text` is then set ("" for null). */
bool node_is_scalar(const struct node *n);

/* As a JSON tree, owned by the caller. NULL when a text is not UTF-8. */
json_t *node_to_json(const struct node *n);

/* The deepest node on a path as json_decode_tree() gives it: "action.run.args[1]". */
const struct node *node_at(const struct node *n, const char *path);
