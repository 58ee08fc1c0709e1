#include "test/api/diego_text.h"

#include "test/tool/cmocka.h"


#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member of a message: a value, or a message of its own. */
struct member {
    struct member *next, *inside;
    const char *name;
    const char *value; /* NULL: a message */
};

void bindings_init(struct bindings *b)
{
    arena_init(&b->arena);
    map_init(&b->values);
}

void bindings_done(struct bindings *b)
{
    map_done(&b->values, NULL);
    arena_done(&b->arena);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void skip_space(const char **at)
{
    *at += strspn(*at, " \t\n");
}

/* A name, a number, a quoted text, or one of { } : */
static const char *read_token(struct arena *a, const char **at)
{
    skip_space(at);
    const char *from = *at;
    if (*from == '"') {
        for ((*at)++; **at && **at != '"'; (*at)++) {
            *at += **at == '\\' && (*at)[1];
        }
        *at += **at == '"';
    } else if (*from && strchr("{}:", *from)) {
        (*at)++;
    } else {
        *at += strcspn(from, " \t\n{}:");
    }
    return arena_strndup(a, from, (size_t)(*at - from));
}

static char peek(const char **at)
{
    skip_space(at);
    return **at;
}

static bool unnamed(const char *name)
{
    return name[0] >= '0' && name[0] <= '9';
}

/* Keeps the list sorted by name; equal names in the order they came. */
static void insert(struct member **list, struct member *m)
{
    while (*list && strcmp((*list)->name, m->name) <= 0) {
        list = &(*list)->next;
    }
    m->next = *list;
    *list = m;
}

static struct member *read_members(struct arena *a, const char **at)
{
    struct member *list = NULL;
    while (peek(at) && peek(at) != '}') {
        struct member *m = ARENA_NEW(a, struct member);
        m->name = read_token(a, at);
        if (strcmp(m->name, "...") == 0) {
            m->value = "";
        } else {
            if (peek(at) == ':') {
                read_token(a, at);
            }
            if (peek(at) == '{') {
                read_token(a, at);
                m->inside = read_members(a, at);
                read_token(a, at);
            } else {
                m->value = read_token(a, at);
            }
        }
        if (!unnamed(m->name)) {
            insert(&list, m);
        }
    }
    return list;
}

static void print_members(const struct member *m, struct buf *out)
{
    for (; m; m = m->next) {
        buf_printf(out, "%s%s", out->size ? " " : "", m->name);
        if (m->value) {
            buf_printf(out, ": %s", m->value);
        } else {
            buf_append_string(out, " {");
            print_members(m->inside, out);
            buf_append_string(out, " }");
        }
    }
}

const char *text_compact(struct arena *a, const char *text)
{
    SCOPED_BUF(out);
    print_members(read_members(a, &text), &out);
    return arena_strdup(a, buf_string(&out));
}

/* ---- placeholders ---------------------------------------------------------------------------- */

static bool differs(struct buf *why, const char *name, const char *expected, const char *is)
{
    buf_printf(why, "%s is %s, not %s", name, is, expected);
    return false;
}

/* A placeholder's parts: "$name", "$name>other", "$name>=other". */
static bool fits_placeholder(struct bindings *b, const struct member *e, const char *is,
                             struct buf *why)
{
    const char *name = e->value + 1, *other = strchr(name, '>');
    size_t size = other ? (size_t)(other - name) : strlen(name);
    if (strcmp(name, "_") == 0) {
        return true;
    }
    if (other) {
        bool equal_too = other[1] == '=';
        const char *bound = map_get(&b->values, other + 1 + equal_too);
        if (!bound) {
            fail_msg("%s has no value yet", other + 1 + equal_too);
        }
        long long limit = atoll(bound), value = atoll(is);
        if (value < limit || (value == limit && !equal_too)) {
            buf_printf(why, "%s is %s, where %s is %s", e->name, is, e->value, bound);
            return false;
        }
    }
    const char *key = arena_strndup(&b->arena, name, size);
    const char *bound = map_get(&b->values, key);
    if (!bound) {
        map_put(&b->values, key, arena_strdup(&b->arena, is));
        return true;
    }
    return strcmp(bound, is) == 0 || differs(why, e->name, bound, is);
}

const char *text_filled(struct bindings *b, const char *text)
{
    SCOPED_BUF(out);
    while (*text) {
        size_t plain = strcspn(text, "$");
        buf_append(&out, text, plain);
        text += plain;
        if (*text == '$') {
            size_t size = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
            const char *value = map_get(&b->values, arena_strndup(&b->arena, text + 1, size));
            if (!value) {
                fail_msg("%.*s has no value yet", (int)size + 1, text);
            }
            buf_append_string(&out, value);
            text += 1 + size;
        }
    }
    return arena_strdup(&b->arena, buf_string(&out));
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool members_fit(struct bindings *b, const struct member *e, const struct member *is,
                        struct buf *why);

static bool member_fits(struct bindings *b, const struct member *e, const struct member *is,
                        struct buf *why)
{
    if (!e->value != !is->value) {
        buf_printf(why, "%s is %s", e->name, is->value ? "a value" : "a message");
        return false;
    }
    if (!e->value) {
        return members_fit(b, e->inside, is->inside, why);
    }
    if (e->value[0] == '$') {
        return fits_placeholder(b, e, is->value, why);
    }
    return strcmp(e->value, is->value) == 0 || differs(why, e->name, e->value, is->value);
}

static bool members_fit(struct bindings *b, const struct member *e, const struct member *is,
                        struct buf *why)
{
    bool open = e && strcmp(e->name, "...") == 0; /* a dot sorts before every name */
    e = open ? e->next : e;
    while (e || is) {
        int order = !e ? 1 : !is ? -1 : strcmp(e->name, is->name);
        if (order > 0 && open) {
            is = is->next;
        } else if (order != 0) {
            buf_printf(why, "%s %s", order < 0 ? e->name : is->name,
                       order < 0 ? "is missing" : "was not expected");
            return false;
        } else if (!member_fits(b, e, is, why)) {
            return false;
        } else {
            e = e->next;
            is = is->next;
        }
    }
    return true;
}

bool text_fits(struct bindings *b, const char *expected, const char *is, struct buf *why)
{
    return members_fit(b, read_members(&b->arena, &expected), read_members(&b->arena, &is), why);
}
