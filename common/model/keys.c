#include "common/model/keys.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static const char *const type_names[RECORD_TYPE_COUNT] = {
#define RECORD_ROW(ID, name, ...) [RECORD_##ID] = #name,
#include "common/model/records.def"
    [RECORD_UNKNOWN] = "unknown",
};

const char *record_type_name(enum record_type type)
{
    assert(type < RECORD_TYPE_COUNT);
    return type_names[type];
}

static enum record_type type_of(const char *name, size_t size)
{
    for (enum record_type t = 0; t < RECORD_UNKNOWN; t++) {
        if (strlen(type_names[t]) == size && memcmp(type_names[t], name, size) == 0) {
            return t;
        }
    }
    return RECORD_UNKNOWN;
}

enum record_type record_type_named(const char *name)
{
    return type_of(name, strlen(name));
}

enum record_type key_type(const char *key)
{
    const char *slash = strchr(key, '/');
    return slash ? type_of(key, (size_t)(slash - key)) : RECORD_UNKNOWN;
}

static bool plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_' || c == '.' || c == '~';
}

static const char *escaped(struct arena *a, const char *component)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t size = strlen(component);
    char *out = arena_alloc(a, 3 * size + 1), *p = out;
    for (const unsigned char *c = (const unsigned char *)component; *c; c++) {
        if (plain(*c)) {
            *p++ = (char)*c;
        } else {
            *p++ = '%';
            *p++ = digits[*c >> 4];
            *p++ = digits[*c & 15];
        }
    }
    return out;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *unescaped(struct arena *a, const char *from, size_t size)
{
    char *out = arena_alloc(a, size + 1), *p = out;
    for (size_t i = 0; i < size; i++) {
        if (from[i] == '%' && i + 2 < size && digit(from[i + 1]) >= 0 && digit(from[i + 2]) >= 0) {
            *p++ = (char)(digit(from[i + 1]) << 4 | digit(from[i + 2]));
            i += 2;
        } else {
            *p++ = from[i];
        }
    }
    return out;
}

/* "type/name" or, with a tail, "type/name<tail>". */
static const char *key(struct arena *a, enum record_type type, const char *name, const char *tail)
{
    return arena_printf(a, "%s/%s%s", type_names[type], escaped(a, name), tail);
}

#define KEY_ONE(ID, name)                                            \
    const char *key_##name(struct arena *a, const char *component)   \
    {                                                                \
        return key(a, RECORD_##ID, component, "");                   \
    }
#define KEY_OWN(ID, name)
#define RECORD_ROW(ID, name, key, ...) KEY_##key(ID, name)
#include "common/model/records.def"

const char *key_actual_index(struct arena *a, const char *process_guid, int32_t index)
{
    assert(index >= 0);
    return key(a, RECORD_ACTUAL, process_guid, arena_printf(a, "/%010d/", index));
}

const char *key_actual(struct arena *a, const char *process_guid, int32_t index, int presence)
{
    assert(presence >= 0 && presence <= 9);
    return arena_printf(a, "%s%d", key_actual_index(a, process_guid, index), presence);
}

const char *key_actual_process(struct arena *a, const char *process_guid)
{
    return key(a, RECORD_ACTUAL, process_guid, "/");
}

const char *key_brake(struct arena *a)
{
    return key(a, RECORD_LIMITER, "cells", "");
}

const char *key_cause(struct arena *a, const char *boot_id, unsigned slot)
{
    return key(a, RECORD_CAUSE, boot_id, arena_printf(a, "/%04u", slot));
}

const char *key_cause_boot(struct arena *a, const char *boot_id)
{
    return key(a, RECORD_CAUSE, boot_id, "/");
}

const char *key_job(struct arena *a, const char *target, const char *name)
{
    return key(a, RECORD_JOB, target, *name ? arena_printf(a, "/%s", escaped(a, name)) : "");
}

const char *key_removal(struct arena *a, const char *process_guid, const char *definition_id)
{
    return key(a, RECORD_REMOVAL, process_guid, arena_printf(a, "/%s", escaped(a, definition_id)));
}

const char *key_run(struct arena *a, const char *process_guid, const char *definition_id)
{
    return key(a, RECORD_RUN, process_guid, arena_printf(a, "/%s", escaped(a, definition_id)));
}

/* "type/first/second". */
static const char *key_of_two(struct arena *a, enum record_type type, const char *first,
                              const char *second)
{
    assert(first[0] && second[0]);
    return key(a, type, first, arena_printf(a, "/%s", escaped(a, second)));
}

const char *key_build(struct arena *a, const char *uid, const char *id)
{
    return key_of_two(a, RECORD_BUILD, uid, id);
}

const char *key_deploy(struct arena *a, const char *uid, const char *id)
{
    return key_of_two(a, RECORD_DEPLOY, uid, id);
}

const char *key_jobrun(struct arena *a, const char *uid, const char *id)
{
    return key_of_two(a, RECORD_JOB_RUN, uid, id);
}

const char *key_pool(struct arena *a, const char *uid, const char *name)
{
    return key_of_two(a, RECORD_POOL, uid, name);
}

const char *key_revision(struct arena *a, const char *uid, const char *path, const char *hash)
{
    return arena_printf(a, "%s/%s", key_of_two(a, RECORD_REVISION, uid, path), escaped(a, hash));
}

const char *key_secret(struct arena *a, const char *uid, const char *name)
{
    return key_of_two(a, RECORD_SECRET, uid, name);
}

const char *key_service(struct arena *a, const char *uid, const char *path)
{
    return key_of_two(a, RECORD_SERVICE, uid, path);
}

const char *key_teardown(struct arena *a, const char *uid, const char *id)
{
    return key_of_two(a, RECORD_TEARDOWN, uid, id);
}

const char *key_tree(struct arena *a, const char *tree, const char *path)
{
    return key_of_two(a, RECORD_TREE, tree, path);
}

/* ---- Units and relations ---- */

/* "type/service/number<tail>". */
static const char *key_of_unit(struct arena *a, enum record_type type, struct unit_name u,
                               const char *tail)
{
    assert(u.service[0]);
    return key(a, type, u.service, arena_printf(a, "/%010u%s", u.number, tail));
}

/* "type/number<tail>". */
static const char *key_of_number(struct arena *a, enum record_type type, uint32_t number,
                                 const char *tail)
{
    return arena_printf(a, "%s/%010u%s", type_names[type], number, tail);
}

static const char *key_of_member(struct arena *a, enum record_type type,
                                 const struct member_name *m)
{
    assert(m->principal[0] && m->role >= 0 && m->role <= 9);
    const char *unit = arena_printf(a, "/%s/%d/%s/%010u", escaped(a, m->principal), m->role,
                                    escaped(a, m->unit.service), m->unit.number);
    return key_of_number(a, type, m->relation, unit);
}

const char *key_charm(struct arena *a, const char *service, const char *digest)
{
    return key_of_two(a, RECORD_CHARM, service, digest);
}

const char *key_machine(struct arena *a, uint32_t number)
{
    return key_of_number(a, RECORD_MACHINE, number, "");
}

const char *key_machine_units(struct arena *a, uint32_t machine)
{
    return key_of_number(a, RECORD_MACHINE_UNIT, machine, "/");
}

const char *key_machine_unit(struct arena *a, uint32_t machine, struct unit_name u)
{
    const char *unit = arena_printf(a, "/%s/%010u", escaped(a, u.service), u.number);
    return key_of_number(a, RECORD_MACHINE_UNIT, machine, unit);
}

const char *key_relation(struct arena *a, uint32_t number)
{
    return key_of_number(a, RECORD_RELATION, number, "");
}

const char *key_relation_member(struct arena *a, const struct member_name *m)
{
    return key_of_member(a, RECORD_RELATION_MEMBER, m);
}

const char *key_relation_members(struct arena *a, uint32_t relation)
{
    return key_of_number(a, RECORD_RELATION_MEMBER, relation, "/");
}

const char *key_relation_settings(struct arena *a, const struct member_name *m)
{
    return key_of_member(a, RECORD_RELATION_SETTINGS, m);
}

const char *key_sequence(struct arena *a, const char *of, const char *service)
{
    return *service ? key_of_two(a, RECORD_SEQUENCE, of, service)
                    : key(a, RECORD_SEQUENCE, of, "");
}

const char *key_unit(struct arena *a, struct unit_name u)
{
    return key_of_unit(a, RECORD_UNIT, u, "");
}

const char *key_unit_children(struct arena *a, struct unit_name u)
{
    return key_of_unit(a, RECORD_UNIT_CHILD, u, "/");
}

const char *key_unit_child(struct arena *a, struct unit_name u, const char *service)
{
    return arena_printf(a, "%s%s", key_unit_children(a, u), escaped(a, service));
}

const char *key_unit_scopes(struct arena *a, struct unit_name u)
{
    return key_of_unit(a, RECORD_UNIT_SCOPE, u, "/");
}

const char *key_unit_scope(struct arena *a, struct unit_name u, uint32_t relation)
{
    return arena_printf(a, "%s%010u", key_unit_scopes(a, u), relation);
}

const char *key_unit_service_relation(struct arena *a, const char *service, uint32_t relation)
{
    return key(a, RECORD_UNIT_SERVICE_RELATION, service, arena_printf(a, "/%010u", relation));
}

const char *key_unit_status(struct arena *a, struct unit_name u)
{
    return key_of_unit(a, RECORD_UNIT_STATUS, u, "");
}

/* ---- A centre and its sites ---- */

const char *key_edge(struct arena *a, enum record_type type, const char *name)
{
    const char *whole = type_names[type];
    for (const char *rest = name; rest;) {
        size_t size = strcspn(rest, "/");
        whole = arena_printf(a, "%s/%s", whole, escaped(a, arena_strndup(a, rest, size)));
        rest = rest[size] ? rest + size + 1 : NULL;
    }
    return whole;
}

const char *key_edge_all(struct arena *a, enum record_type type, const char *name)
{
    return arena_printf(a, "%s/", key_edge(a, type, name));
}

const char *key_edge_name(struct arena *a, const char *key)
{
    const char *name = NULL, *part;
    for (unsigned n = 1; (part = key_component(a, key, n)); n++) {
        name = name ? arena_printf(a, "%s/%s", name, part) : part;
    }
    return name ? name : "";
}

const char *key_appdef(struct arena *a, const char *app, uint64_t revision)
{
    return arena_printf(a, "%s%010llu", key_edge_all(a, RECORD_APPDEF, app),
                        (unsigned long long)revision);
}

const char *key_dns_name(struct arena *a, const char *dns_name)
{
    return key(a, RECORD_NAME, dns_name, "");
}

const char *key_uses(struct arena *a, const char *referred_key)
{
    return key(a, RECORD_USE, referred_key, "/");
}

const char *key_use(struct arena *a, const char *referred_key, const char *referring_key)
{
    return arena_printf(a, "%s%s", key_uses(a, referred_key), escaped(a, referring_key));
}

const char *key_range_of(struct arena *a, enum record_type type, const char *first)
{
    return key(a, type, first, "/");
}

const char *key_component(struct arena *a, const char *whole, unsigned n)
{
    const char *start = whole;
    while (n--) {
        start = strchr(start, '/');
        if (!start) {
            return NULL;
        }
        start++;
    }
    return unescaped(a, start, strcspn(start, "/"));
}

size_t key_parent_size(const char *key)
{
    const char *slash = strrchr(key, '/');
    return slash ? (size_t)(slash - key) + 1 : 0;
}

int key_presence(const char *key)
{
    const char *digit = key + key_parent_size(key);
    return digit[0] >= '0' && digit[0] <= '9' && !digit[1] ? digit[0] - '0' : -1;
}

const char *key_range_end(struct arena *a, const char *prefix)
{
    size_t size = strlen(prefix);
    assert(size > 0);
    char *end = arena_strndup(a, prefix, size);
    /* Keys are plain ASCII, so the last byte can always be raised. */
    assert((unsigned char)end[size - 1] < 0xff);
    end[size - 1]++;
    return end;
}
