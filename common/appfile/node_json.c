#include "common/appfile/node.h"
#include "common/codec/json_text.h"

#include <assert.h>
#include <string.h>

/* Lines of values. jansson keeps no positions, but it keeps the order: a second walk over the valid
 * text meets keys and values in just the order in which the tree is walked. */
struct json_lines {
    const char *at, *end;
    unsigned line;
};

struct json_builder {
    struct arena *arena;
    const char *file;
    struct json_lines lines;
    size_t nodes;
    struct err *err;
};

static int build(struct json_builder *b, const json_t *from, struct node **ret_node);

static void skip_string(struct json_lines *l)
{
    assert(l->at < l->end && *l->at == '"');
    for (l->at++; l->at < l->end && *l->at != '"'; l->at++) {
        l->at += *l->at == '\\';
    }
    l->at++;
}

/* The line of the next key or value; moves behind it, or into it if it is an object or a list. */
static unsigned next_line(struct json_lines *l)
{
    while (l->at < l->end && strchr(" \t\r\n,:]}", *l->at)) {
        l->line += *l->at++ == '\n';
    }
    assert(l->at <= l->end);
    unsigned line = l->line;
    if (l->at < l->end && *l->at == '"') {
        skip_string(l);
    } else if (l->at < l->end && strchr("[{", *l->at)) {
        l->at++;
    } else {
        while (l->at < l->end && !strchr(" \t\r\n,]}", *l->at)) {
            l->at++;
        }
    }
    return line;
}

static int build_list(struct json_builder *b, const json_t *from, struct node *n)
{
    n->kind = NODE_LIST;
    n->count = json_array_size(from);
    n->items = ARENA_ARRAY(b->arena, n->count, struct node *);
    for (size_t i = 0; i < n->count; i++) {
        int r = build(b, json_array_get(from, i), &n->items[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int build_map(struct json_builder *b, const json_t *from, struct node *n)
{
    n->kind = NODE_MAP;
    n->keys = ARENA_ARRAY(b->arena, json_object_size(from), const char *);
    n->items = ARENA_ARRAY(b->arena, json_object_size(from), struct node *);
    const char *key;
    json_t *value;
    int r = 0;
    json_object_foreach((json_t *)from, key, value)
    {
        if (r == 0) {
            unsigned line = next_line(&b->lines);
            assert(n->count < json_object_size(from));
            n->keys[n->count] = arena_strdup(b->arena, key);
            r = build(b, value, &n->items[n->count]);
            if (r == 0) {
                n->items[n->count++]->line = line;
            }
        }
    }
    return r;
}

static void build_scalar(struct json_builder *b, const json_t *from, struct node *n)
{
    switch (json_typeof(from)) {
    case JSON_STRING:
        n->kind = NODE_TEXT;
        n->text = arena_strdup(b->arena, json_string_value(from));
        break;
    case JSON_INTEGER:
        n->kind = NODE_INTEGER;
        n->integer = json_integer_value(from);
        n->text = arena_printf(b->arena, "%lld", (long long)n->integer);
        break;
    case JSON_REAL:
        n->kind = NODE_REAL;
        n->text = arena_printf(b->arena, "%.17g", json_real_value(from));
        break;
    case JSON_TRUE:
        n->kind = NODE_TRUE;
        n->text = "true";
        break;
    case JSON_FALSE:
        n->kind = NODE_FALSE;
        n->text = "false";
        break;
    default:
        n->kind = NODE_NULL;
        break;
    }
}

static int build(struct json_builder *b, const json_t *from, struct node **ret_node)
{
    struct node *n = ARENA_NEW(b->arena, struct node);
    n->line = next_line(&b->lines);
    n->text = "";
    if (++b->nodes > NODES_MAX) {
        return err_set(b->err, ERR_TOO_LARGE, "%s:%u: more than %d values" NODE_DIVIDE, b->file,
                       n->line, NODES_MAX);
    }
    int r = 0;
    if (json_is_array(from)) {
        r = build_list(b, from, n);
    } else if (json_is_object(from)) {
        r = build_map(b, from, n);
    } else {
        build_scalar(b, from, n);
    }
    if (r == 0) {
        *ret_node = n;
    }
    return r;
}

int node_parse_json(struct arena *a, const char *file, struct bytes text, struct node **ret_node,
                    struct err *err)
{
    int r = json_check_bounds(text, err);
    if (r < 0) {
        return err_prefix(err, "%s", file);
    }
    json_error_t problem;
    const char *data = text.size ? (const char *)text.data : "";
    json_t *tree = json_loadb(data, text.size, JSON_REJECT_DUPLICATES, &problem);
    if (!tree) {
        return err_set(err, ERR_INVALID, "%s:%d: not valid JSON: %s", file, problem.line,
                       problem.text);
    }
    struct json_builder b = {.arena = a,
                        .file = file,
                        .lines = {.at = data, .end = data + text.size, .line = 1},
                        .err = err};
    r = build(&b, tree, ret_node);
    json_decref(tree);
    return r;
}
