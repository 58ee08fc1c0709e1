#include "common/definition/template.h"

#include "common/model/component_path.h"

#include <assert.h>
#include <string.h>

/* Room for one more value. */
static bool room(const struct definition_template *t, const struct node *at)
{
    if (*t->nodes >= DEFINITION_NODES_MAX) {
        if (*t->nodes == DEFINITION_NODES_MAX) {
            definition_mistake(t->source, at, "", "the definition has more than %d values",
                               DEFINITION_NODES_MAX);
            ++*t->nodes;
        }
        return false;
    }
    ++*t->nodes;
    return true;
}

bool definition_is_only(const struct node *n, const char *key)
{
    return n->kind == NODE_MAP && n->count == 1 && strcmp(n->keys[0], key) == 0;
}

const char *definition_secret_name(struct arena *a, const struct node *n)
{
    if (!definition_is_only(n, "$secret_ref") || n->items[0]->kind != NODE_TEXT ||
        component_subname_fault(a, n->items[0]->text, false)) {
        return NULL;
    }
    return n->items[0]->text;
}

/* ---- As JSON -------------------------------------------------------------------------------- */

static void json_text(const char *s, bool escape, struct buf *to)
{
    buf_append_string(to, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            buf_printf(to, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            buf_printf(to, "\\u%04x", c);
        } else if (escape && c == '$' && s[1] == '{') {
            buf_append_string(to, "$$");
        } else {
            buf_append(to, s, 1);
        }
    }
    buf_append_string(to, "\"");
}

/* As JSON writes numbers: YAML knows more. */
static bool is_json_number(const char *s)
{
    static const char digits[] = "0123456789";
    s += *s == '-';
    size_t whole = strspn(s, digits);
    if (whole == 0 || (whole > 1 && *s == '0')) {
        return false;
    }
    s += whole;
    if (*s == '.') {
        size_t part = strspn(s + 1, digits);
        if (part == 0) {
            return false;
        }
        s += 1 + part;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '+' || *s == '-';
        size_t part = strspn(s, digits);
        if (part == 0) {
            return false;
        }
        s += part;
    }
    return *s == 0;
}

static void json_number(const struct node *n, struct buf *to)
{
    if (is_json_number(n->text)) {
        buf_append_string(to, n->text);
    } else if (n->kind == NODE_INTEGER) {
        buf_printf(to, "%lld", (long long)n->integer);
    } else {
        json_text(n->text, false, to);
    }
}

void definition_json(const struct node *n, bool escape, struct buf *to)
{
    bool map = n->kind == NODE_MAP;
    switch (n->kind) {
    case NODE_NULL:
        buf_append_string(to, "null");
        break;
    case NODE_TRUE:
        buf_append_string(to, "true");
        break;
    case NODE_FALSE:
        buf_append_string(to, "false");
        break;
    case NODE_INTEGER:
    case NODE_REAL:
        json_number(n, to);
        break;
    case NODE_TEXT:
        json_text(n->text, escape, to);
        break;
    case NODE_LIST:
    case NODE_MAP:
        buf_append_string(to, map ? "{" : "[");
        for (size_t i = 0; i < n->count; i++) {
            buf_append_string(to, i ? "," : "");
            if (map) {
                json_text(n->keys[i], false, to);
                buf_append_string(to, ":");
            }
            definition_json(n->items[i], escape, to);
        }
        buf_append_string(to, map ? "}" : "]");
        break;
    }
}

/* ---- Parameters ----------------------------------------------------------------------------- */

static bool is_number(const struct node *v)
{
    return v->kind == NODE_INTEGER || v->kind == NODE_REAL;
}

static bool is_bool(const struct node *v)
{
    return v->kind == NODE_TRUE || v->kind == NODE_FALSE;
}

/* 1 = it is of the type, 0 = it is not, -1 = there is no such type. */
static int is_of_type(const struct definition_template *t, const struct node *v, const char *type)
{
    const char *secret = definition_secret_name(t->source->arena, v);
    if (strcmp(type, "bool") == 0) {
        return is_bool(v);
    } else if (strcmp(type, "number") == 0) {
        return is_number(v);
    } else if (strcmp(type, "string") == 0) {
        return v->kind == NODE_TEXT;
    } else if (strcmp(type, "array") == 0) {
        return v->kind == NODE_LIST;
    } else if (strcmp(type, "object") == 0) {
        return v->kind == NODE_MAP && !secret;
    } else if (strcmp(type, "secret") == 0) {
        return secret != NULL;
    }
    return -1;
}

/* The value of a parameter; NULL: told. */
static const struct node *value_of(const struct definition_template *t, const char *name,
                                   const struct node *parameter, const struct node *values)
{
    const struct definition_source *s = t->source;
    const char *key = arena_printf(s->arena, "$parameters.%.60s", name);
    if (!definition_check_keys(s, parameter, key, DK_PARAMETER)) {
        return NULL;
    }
    const struct node *type = node_given(parameter, "type");
    const struct node *v = values ? node_member(values, name) : NULL;
    v = v ? v : node_member(parameter, "default");
    if (!type || type->kind != NODE_TEXT) {
        definition_mistake(s, parameter, key, "type is missing");
        return NULL;
    }
    if (!v) {
        definition_mistake(s, parameter, key, "is not given, and has no default");
        return NULL;
    }
    v = definition_secrets(t, v);
    int of_type = v ? is_of_type(t, v, type->text) : 0;
    if (v && of_type < 0) {
        definition_mistake(s, type, key, "\"%.40s\" is no type of a parameter: %s", type->text,
                           "bool, number, string, array, object or secret");
    } else if (v && !of_type) {
        definition_mistake(s, v, key, "must be of type %s", type->text);
    }
    return of_type > 0 ? v : NULL;
}

/* A map of those that the file declares. NULL: told. */
static const struct node *parameters_of(const struct definition_template *t,
                                        const struct node *declared, const struct node *values)
{
    struct arena *a = t->source->arena;
    struct node *map = ARENA_NEW(a, struct node);
    map->kind = NODE_MAP;
    if (!declared) {
        return map;
    }
    if (declared->kind != NODE_MAP) {
        definition_mistake(t->source, declared, "$parameters", "must be a map");
        return NULL;
    }
    bool good = true;
    map->keys = declared->keys;
    map->count = declared->count;
    map->items = ARENA_ARRAY(a, declared->count, struct node *);
    for (size_t i = 0; i < declared->count; i++) {
        map->items[i] = (struct node *)value_of(t, declared->keys[i], declared->items[i], values);
        good = good && map->items[i];
    }
    return good ? map : NULL;
}

/* ---- Substitution --------------------------------------------------------------------------- */

static struct node *copy_head(const struct definition_template *t, const struct node *n)
{
    return room(t, n) ? arena_copy(t->source->arena, n, sizeof(*n)) : NULL;
}

/* The parameter in "${name}" at s; *ret_size is that of the whole. NULL: told. */
static const struct node *variable(const struct definition_template *t, const struct node *at,
                                   const struct node *parameters, const char *s, size_t *ret_size)
{
    const char *end = strchr(s, '}');
    if (!end) {
        definition_mistake(t->source, at, "", "\"%.40s\" has no } (a ${ that is none is $${)", s);
        return NULL;
    }
    const char *name = arena_strndup(t->source->arena, s + 2, (size_t)(end - s) - 2);
    const struct node *v = node_member(parameters, name);
    if (!v) {
        definition_mistake(t->source, at, "",
                           "${%.60s} is no parameter of this file (a ${ that is "
                           "none is $${)",
                           name);
    }
    *ret_size = (size_t)(end - s) + 1;
    return v;
}

static struct node *put_text(const struct definition_template *t, const struct node *n,
                             const struct node *parameters)
{
    SCOPED_BUF(text);
    for (const char *s = n->text; *s;) {
        size_t size = 1;
        if (strncmp(s, "$${", 3) == 0) {
            buf_append_string(&text, "${");
            size = 3;
        } else if (strncmp(s, "${", 2) == 0) {
            const struct node *v = variable(t, n, parameters, s, &size);
            if (!v) {
                return NULL;
            }
            if (v->kind == NODE_TEXT) {
                buf_append_string(&text, v->text);
            } else {
                definition_json(v, false, &text);
            }
        } else {
            buf_append(&text, s, 1);
        }
        if (text.size > DEFINITION_TEXT_BYTES_MAX) {
            definition_mistake(t->source, n, "", "a text is longer than %d bytes",
                               DEFINITION_TEXT_BYTES_MAX);
            return NULL;
        }
        s += size;
    }
    struct node *made = copy_head(t, n);
    if (made) {
        made->text = arena_strdup(t->source->arena, buf_string(&text));
    }
    return made;
}

static bool is_one_variable(const char *s)
{
    const char *end = strncmp(s, "${", 2) == 0 ? strchr(s, '}') : NULL;
    return end && !end[1];
}

static struct node *put(const struct definition_template *t, const struct node *n,
                        const struct node *parameters);

static struct node *put_items(const struct definition_template *t, const struct node *n,
                              const struct node *parameters)
{
    struct node *made = copy_head(t, n);
    if (!made) {
        return NULL;
    }
    bool good = true;
    made->items = ARENA_ARRAY(t->source->arena, n->count, struct node *);
    for (size_t i = 0; i < n->count; i++) {
        made->items[i] = put(t, n->items[i], parameters);
        good = good && made->items[i];
    }
    return good ? made : NULL;
}

/* Counts the values in it, and says whether they are neither too many nor nested too deep: values
 * that templates put into values could grow without end. */
static bool count_values(const struct node *n, unsigned depth, size_t *count)
{
    if (depth == 0 || ++*count > DEFINITION_NODES_MAX) {
        return false;
    }
    for (size_t i = 0; i < n->count; i++) {
        if (!count_values(n->items[i], depth - 1, count)) {
            return false;
        }
    }
    return true;
}

static struct node *put_value(const struct definition_template *t, const struct node *at,
                              const struct node *v)
{
    if (!count_values(v, NODE_DEPTH_MAX, t->nodes)) {
        if (*t->nodes <= DEFINITION_NODES_MAX) {
            definition_mistake(t->source, at, "", "a parameter is nested deeper than %d",
                               NODE_DEPTH_MAX);
            return NULL;
        }
        *t->nodes = DEFINITION_NODES_MAX;
    }
    struct node *made = copy_head(t, v);
    if (made) {
        made->line = at->line;
    }
    return made;
}

static struct node *put(const struct definition_template *t, const struct node *n,
                        const struct node *parameters)
{
    if (!node_is_scalar(n)) {
        return put_items(t, n, parameters);
    }
    if (n->kind != NODE_TEXT || !strstr(n->text, "${")) {
        return copy_head(t, n);
    }
    if (!is_one_variable(n->text)) {
        return put_text(t, n, parameters);
    }
    size_t size;
    const struct node *v = variable(t, n, parameters, n->text, &size);
    return v ? put_value(t, n, v) : NULL;
}

/* Without the member `$parameters`. */
static const struct node *body_of(const struct definition_template *t, const struct node *file)
{
    if (!node_member(file, "$parameters")) {
        return file;
    }
    struct arena *a = t->source->arena;
    struct node *made = arena_copy(a, file, sizeof(*file));
    made->keys = ARENA_ARRAY(a, file->count, const char *);
    made->items = ARENA_ARRAY(a, file->count, struct node *);
    made->count = 0;
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->keys[i], "$parameters") != 0) {
            made->keys[made->count] = file->keys[i];
            made->items[made->count++] = file->items[i];
        }
    }
    return made;
}

const struct node *definition_template(const struct definition_template *t, const struct node *file,
                                       const struct node *values)
{
    const struct node *parameters = parameters_of(t, node_given(file, "$parameters"), values);
    return parameters ? put(t, body_of(t, file), parameters) : NULL;
}

/* ---- Secrets -------------------------------------------------------------------------------- */

static struct node *name_secret(const struct definition_template *t, const struct node *n)
{
    struct arena *a = t->source->arena;
    const struct node *name = n->items[0];
    const char *fault =
        name->kind != NODE_TEXT ? "must be a name" : component_name_fault(a, name->text);
    if (fault) {
        definition_mistake(t->source, n, "$secret", "%s", fault);
        return NULL;
    }
    struct node *made = copy_head(t, n), *text = made ? copy_head(t, name) : NULL;
    if (text) {
        text->text = arena_printf(a, "%s:%s", t->source->path, name->text);
        made->keys = ARENA_ARRAY(a, 1, const char *);
        made->keys[0] = "$secret_ref";
        made->items = ARENA_ARRAY(a, 1, struct node *);
        made->items[0] = text;
    }
    return text ? made : NULL;
}

static struct node *name_secrets(const struct definition_template *t, const struct node *n,
                                 bool top)
{
    if (definition_is_only(n, "$secret")) {
        return name_secret(t, n);
    }
    struct node *made = copy_head(t, n);
    if (!made || node_is_scalar(n)) {
        return made;
    }
    bool good = true;
    made->items = ARENA_ARRAY(t->source->arena, n->count, struct node *);
    for (size_t i = 0; i < n->count; i++) {
        bool own = top && n->kind == NODE_MAP && strcmp(n->keys[i], "components") == 0;
        made->items[i] = own ? n->items[i] : name_secrets(t, n->items[i], false);
        good = good && made->items[i];
    }
    return good ? made : NULL;
}

const struct node *definition_secrets(const struct definition_template *t, const struct node *n)
{
    assert(t->source->path[0] == '/');
    return name_secrets(t, n, true);
}
