#include "rep/cli/audit_table.h"

#include "common/cli/table.h"
#include "common/codec/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void audit_add(struct audit *a, const char *kind, const char *what, const char *whose)
{
    assert(kind && what && a->count <= a->capacity);
    if (a->count == a->capacity) {
        struct audit_find *more = ARENA_ARRAY(a->arena, a->capacity * 2 + 16, struct audit_find);
        if (a->count > 0) {
            memcpy(more, a->finds, a->count * sizeof(*more));
        }
        a->finds = more;
        a->capacity = a->capacity * 2 + 16;
    }
    a->finds[a->count++] = (struct audit_find){
        arena_strdup(a->arena, kind),
        arena_strdup(a->arena, what),
        whose ? arena_strdup(a->arena, whose) : NULL,
    };
}

static int find_order(const void *left, const void *right)
{
    const struct audit_find *x = left, *y = right;
    int order = strcmp(x->kind, y->kind);
    return order ? order : strcmp(x->what, y->what);
}

static bool has(const struct audit *a, const struct audit_find *find)
{
    for (size_t i = 0; i < a->count; i++) {
        if (find_order(&a->finds[i], find) == 0) {
            return true;
        }
    }
    return false;
}

void audit_keep(struct audit *a, const struct audit *again)
{
    size_t kept = 0;
    assert(a != again);
    for (size_t i = 0; i < a->count; i++) {
        if (has(again, &a->finds[i])) {
            a->finds[kept++] = a->finds[i];
        }
    }
    a->count = kept;
}

static void sort(struct audit *a)
{
    if (a->count > 0) {
        qsort(a->finds, a->count, sizeof(*a->finds), find_order);
    }
}

void audit_show(struct audit *a, struct buf *out)
{
    struct table t;
    if (a->count == 0) {
        buf_append_string(out, "nothing is left\n");
        return;
    }
    sort(a);
    table_init(&t, a->arena, 3, (const char *[]){"KIND", "WHAT", "WHOSE"});
    for (size_t i = 0; i < a->count; i++) {
        const struct audit_find *f = &a->finds[i];
        table_add(&t, (const char *[]){f->kind, f->what, f->whose});
    }
    table_print(&t, out);
}

void audit_show_json(struct audit *a, struct buf *out)
{
    sort(a);
    buf_append_string(out, "{\"left\":[");
    for (size_t i = 0; i < a->count; i++) {
        const struct audit_find *f = &a->finds[i];
        buf_append_string(out, i ? ",{\"kind\":" : "{\"kind\":");
        json_string_text(bytes_of(f->kind), out);
        buf_append_string(out, ",\"what\":");
        json_string_text(bytes_of(f->what), out);
        buf_append_string(out, ",\"whose\":");
        json_string_text(bytes_of(f->whose ? f->whose : ""), out);
        buf_append_string(out, "}");
    }
    buf_append_string(out, "]}\n");
}

const char *audit_below(struct arena *a, const char *path, const char *dir)
{
    size_t size = strlen(dir);
    if (strncmp(path, dir, size) != 0 || path[size] != '/') {
        return NULL;
    }
    const char *name = path + size + 1;
    size_t length = strcspn(name, "/ "); /* a guid has neither */
    return length > 0 ? arena_strndup(a, name, length) : NULL;
}

/* Of the octal digits that follow a backslash; -1: they are none. */
static int octal(const char *at)
{
    int value = 0;
    for (int i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '7') {
            return -1;
        }
        value = value * 8 + (at[i] - '0');
    }
    return value < 256 ? value : -1;
}

const char *audit_mount_point(struct arena *a, const char *line)
{
    enum { FIELDS_BEFORE = 4 };
    for (int i = 0; line && i < FIELDS_BEFORE; i++) {
        line = strchr(line, ' ');
        line = line ? line + 1 : NULL;
    }
    if (!line) {
        return NULL;
    }
    char *text = arena_strndup(a, line, strcspn(line, " \n")), *to = text;
    for (const char *from = text; *from; from++) {
        int value = *from == '\\' ? octal(from + 1) : -1;
        *to++ = value < 0 ? *from : (char)value;
        from += value < 0 ? 0 : 3;
    }
    assert(to >= text && to <= text + strlen(text));
    *to = '\0';
    return text;
}

const char *audit_group(const char *name, uint32_t hash)
{
    static const char begin[] = "corkboard-";
    enum { HASH_DIGITS = 8 };
    char *end;
    size_t size = sizeof(begin) - 1;
    if (strncmp(name, begin, size) != 0 || strlen(name) <= size + HASH_DIGITS + 1) {
        return NULL;
    }
    unsigned long long found = strtoull(name + size, &end, 16);
    return end == name + size + HASH_DIGITS && *end == '-' && found == hash ? end + 1 : NULL;
}

void audit_network_line(struct audit *a, const char *line)
{
    static const struct {
        const char *begin, *kind;
        size_t skip; /* of what names it, before the guid */
        bool named;  /* it tells of whom it was */
    } forms[] = {
        {"chain ", "chain", 2, true},
        {"element ", "element", 0, false},
        {"interface ", "interface", 0, false},
        {"address of ", "address", 0, true},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t size = strlen(forms[i].begin);
        if (strncmp(line, forms[i].begin, size) == 0 && strlen(line) > size + forms[i].skip) {
            const char *what = line + size;
            audit_add(a, forms[i].kind, what, forms[i].named ? what + forms[i].skip : NULL);
            return;
        }
    }
    if (*line) {
        audit_add(a, "network", line, NULL); /* of a later version */
    }
}
