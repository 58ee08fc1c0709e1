#include "common/appfile/node.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Decimal or 0x: always within 64 bits. */
enum { INTEGER_LETTERS_MAX = 17 };

struct yaml_builder {
    struct arena *arena;
    const char *file;
    struct bytes text;
    yaml_document_t *document;
    size_t nodes;
    unsigned depth;
    struct err *err;
};

static int build(struct yaml_builder *b, const yaml_node_t *from, struct node **ret_node);

static unsigned line_of(const yaml_node_t *n)
{
    return (unsigned)n->start_mark.line + 1;
}

static int mistake(struct yaml_builder *b, const yaml_node_t *at, const char *what)
{
    return err_set(b->err, ERR_INVALID, "%s:%u: %s", b->file, line_of(at), what);
}

/* Of what has been met of the file so far, at `line`. */
static int check_counts(struct yaml_builder *b, size_t line, size_t nodes, size_t depth,
                        size_t anchors)
{
    if (nodes > NODES_MAX) {
        return err_set(b->err, ERR_TOO_LARGE, "%s:%zu: more than %d values" NODE_DIVIDE, b->file,
                       line, NODES_MAX);
    }
    if (anchors > NODE_ANCHORS_MAX) {
        return err_set(b->err, ERR_TOO_LARGE, "%s:%zu: more than %d anchors" NODE_DIVIDE, b->file,
                       line, NODE_ANCHORS_MAX);
    }
    if (depth > NODE_DEPTH_MAX) {
        return err_set(b->err, ERR_TOO_LARGE, "%s:%zu: nested more than %d deep", b->file, line,
                       NODE_DEPTH_MAX);
    }
    return 0;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++) {
        if (strcmp(text, *words) == 0) {
            return true;
        }
    }
    return false;
}

static bool all_digits(const char *s, bool hex)
{
    if (!*s) {
        return false;
    }
    for (; *s; s++) {
        if (hex ? !isxdigit((unsigned char)*s) : !isdigit((unsigned char)*s)) {
            return false;
        }
    }
    return true;
}

static bool read_integer(const char *text, int64_t *ret_value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    bool hex = strncmp(digits, "0x", 2) == 0;
    if (!all_digits(hex ? digits + 2 : digits, hex)) {
        return false;
    }
    if (strlen(digits) > INTEGER_LETTERS_MAX) {
        return false; /* a text: no member of an app holds such a number */
    }
    *ret_value = strtoll(text, NULL, hex ? 16 : 10);
    return true;
}

static bool is_real(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    if (!isdigit((unsigned char)digits[*digits == '.']) || strpbrk(text, "xXpP")) {
        return false;
    }
    strtod(text, &end);
    return *end == 0;
}

/* Plain scalars are null, booleans or numbers as in YAML's core schema; "yes" and "no" are texts.
 */
static enum node_kind kind_of_plain(const char *text, int64_t *ret_integer)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    if (is_one_of(text, nulls)) {
        return NODE_NULL;
    }
    if (is_one_of(text, trues)) {
        return NODE_TRUE;
    }
    if (is_one_of(text, falses)) {
        return NODE_FALSE;
    }
    if (read_integer(text, ret_integer)) {
        return NODE_INTEGER;
    }
    return is_real(text) ? NODE_REAL : NODE_TEXT;
}

static int build_scalar(struct yaml_builder *b, const yaml_node_t *from, struct node *n)
{
    assert(from->type == YAML_SCALAR_NODE);
    const char *text = (const char *)from->data.scalar.value;
    if (strlen(text) != from->data.scalar.length) {
        return mistake(b, from, "a zero byte cannot stand in a text");
    }
    bool plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    n->text = arena_strdup(b->arena, text);
    n->kind = plain ? kind_of_plain(text, &n->integer) : NODE_TEXT;
    n->text = n->kind == NODE_NULL ? "" : n->text;
    return 0;
}

static int build_list(struct yaml_builder *b, const yaml_node_t *from, struct node *n)
{
    const yaml_node_item_t *first = from->data.sequence.items.start;
    n->kind = NODE_LIST;
    n->count = (size_t)(from->data.sequence.items.top - first);
    n->items = ARENA_ARRAY(b->arena, n->count, struct node *);
    for (size_t i = 0; i < n->count; i++) {
        int r = build(b, yaml_document_get_node(b->document, first[i]), &n->items[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int build_member(struct yaml_builder *b, const yaml_node_t *key, const yaml_node_t *value,
                        struct node *map)
{
    if (!key || key->type != YAML_SCALAR_NODE) {
        return mistake(b, key ? key : value, "a key must be a single word");
    }
    const char *name = (const char *)key->data.scalar.value;
    if (strlen(name) != key->data.scalar.length) {
        return mistake(b, key, "a zero byte cannot stand in a text");
    }
    if (node_member(map, name)) {
        return err_set(b->err, ERR_INVALID, "%s:%u: %.60s: stands here twice", b->file,
                       line_of(key), name);
    }
    struct node *item = NULL;
    assert(map->kind == NODE_MAP);
    int r = build(b, value, &item);
    if (r == 0) {
        item->line = line_of(key);
        map->keys[map->count] = arena_strdup(b->arena, name);
        map->items[map->count++] = item;
    }
    return r;
}

static int build_map(struct yaml_builder *b, const yaml_node_t *from, struct node *n)
{
    const yaml_node_pair_t *first = from->data.mapping.pairs.start;
    size_t count = (size_t)(from->data.mapping.pairs.top - first);
    n->kind = NODE_MAP;
    n->keys = ARENA_ARRAY(b->arena, count, const char *);
    n->items = ARENA_ARRAY(b->arena, count, struct node *);
    for (size_t i = 0; i < count; i++) {
        int r = build_member(b, yaml_document_get_node(b->document, first[i].key),
                             yaml_document_get_node(b->document, first[i].value), n);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int build(struct yaml_builder *b, const yaml_node_t *from, struct node **ret_node)
{
    int r = check_counts(b, line_of(from), ++b->nodes, b->depth + 1, 0);
    if (r < 0) {
        return r;
    }
    struct node *n = ARENA_NEW(b->arena, struct node);
    n->line = line_of(from);
    n->text = "";
    b->depth++;
    r = from->type == YAML_SCALAR_NODE     ? build_scalar(b, from, n)
        : from->type == YAML_SEQUENCE_NODE ? build_list(b, from, n)
                                           : build_map(b, from, n);
    assert(b->depth > 0);
    b->depth--;
    if (r == 0) {
        *ret_node = n;
    }
    return r;
}

/* libyaml gives the place of bytes that are no text by their number, that of all else by line. */
static size_t line_of_problem(struct bytes text, const yaml_parser_t *p)
{
    if (p->error != YAML_READER_ERROR) {
        return p->problem_mark.line + 1;
    }
    size_t line = 1;
    for (size_t i = 0; i < p->problem_offset && i < text.size; i++) {
        line += text.data[i] == '\n';
    }
    return line;
}

/* Whether a tab is in the way, where only spaces may indent. */
static bool is_tab(struct bytes text, const yaml_parser_t *p)
{
    return p->error == YAML_SCANNER_ERROR && p->problem_mark.index < text.size &&
           text.data[p->problem_mark.index] == '\t';
}

static int bad_yaml(struct yaml_builder *b, const yaml_parser_t *p)
{
    size_t line = line_of_problem(b->text, p);
    if (is_tab(b->text, p)) {
        return err_set(b->err, ERR_INVALID, "%s:%zu: not valid YAML: a tab; indent with spaces",
                       b->file, line);
    }
    return err_set(b->err, ERR_INVALID, "%s:%zu: not valid YAML: %s%s%s", b->file, line,
                   p->problem ? p->problem : "unreadable", p->context ? ", " : "",
                   p->context ? p->context : "");
}

/* Gives 1 for a document, 0 at the end. */
static int next_document(struct yaml_builder *b, yaml_parser_t *p, struct node **ret_node)
{
    yaml_document_t document;
    if (!yaml_parser_load(p, &document)) {
        return bad_yaml(b, p);
    }
    const yaml_node_t *root = yaml_document_get_root_node(&document);
    b->document = &document;
    int r = root ? build(b, root, ret_node) : 0;
    yaml_document_delete(&document);
    return r < 0 ? r : root != NULL;
}

/* What has been met of a file, while it is only walked over. */
struct bounds {
    size_t nodes, anchors, depth;
};

static void count(struct bounds *b, const yaml_event_t *e)
{
    const yaml_char_t *anchor = NULL;
    switch (e->type) {
    case YAML_SEQUENCE_START_EVENT:
        anchor = e->data.sequence_start.anchor;
        b->depth++;
        b->nodes++;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = e->data.mapping_start.anchor;
        b->depth++;
        b->nodes++;
        break;
    case YAML_SCALAR_EVENT:
        anchor = e->data.scalar.anchor;
        b->nodes++;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        assert(b->depth > 0); /* libyaml sends no end without its beginning */
        b->depth--;
        break;
    default:
        break;
    }
    b->anchors += anchor != NULL;
}

/* Loading a document costs the square of its depth and of its anchors, and is over before anything
 * of it can be looked at; walking over it ends where a bound is exceeded. Mistakes are left to be
 * found by the loading, which comes to the same place. */
static int check_bounds(struct yaml_builder *b)
{
    yaml_parser_t parser;
    yaml_event_t event;
    struct bounds bounds = {0};
    bool over = false;
    int r = 0;
    if (!yaml_parser_initialize(&parser)) {
        abort();
    }
    yaml_parser_set_input_string(&parser, b->text.data, b->text.size);
    while (r == 0 && !over && yaml_parser_parse(&parser, &event)) {
        over = event.type == YAML_STREAM_END_EVENT;
        count(&bounds, &event);
        r = check_counts(b, event.start_mark.line + 1, bounds.nodes, bounds.depth, bounds.anchors);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return r;
}

int node_parse_yaml(struct arena *a, const char *file, struct bytes text, struct node ***ret_nodes,
                    size_t *ret_count, struct err *err)
{
    text.data = text.size ? text.data : (const uint8_t *)"";
    struct yaml_builder b = {.arena = a, .file = file, .text = text, .err = err};
    int checked = check_bounds(&b);
    if (checked < 0) {
        return checked;
    }
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        abort();
    }
    yaml_parser_set_input_string(&parser, text.data, text.size);
    struct node **nodes = ARENA_ARRAY(a, NODE_DOCUMENTS_MAX, struct node *);
    size_t count = 0;
    int r = 1;
    while (r > 0 && count < NODE_DOCUMENTS_MAX) {
        r = next_document(&b, &parser, &nodes[count]);
        count += r > 0;
    }
    yaml_parser_delete(&parser);
    if (r > 0) {
        r = err_set(err, ERR_TOO_LARGE, "%s: more than %d documents" NODE_DIVIDE, file,
                    NODE_DOCUMENTS_MAX - 1);
    }
    if (r == 0) {
        assert(count < NODE_DOCUMENTS_MAX);
        *ret_nodes = nodes;
        *ret_count = count;
    }
    return r;
}
