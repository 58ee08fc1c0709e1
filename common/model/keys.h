/* The one place that makes and reads keys of the board (design.md 2). Components are
 * percent-escaped (everything but A-Z a-z 0-9 - _ . ~), every prefix ends in "/", numbers are
 * padded so that byte order is numeric order. All results live in the given arena. */
#pragma once

#include "common/base/arena.h"

#include <stdint.h>

/* Kinds of records, by the first component of their key: records.def says all of them. */
enum record_type {
#define RECORD_ROW(ID, ...) RECORD_##ID,
#include "common/model/records.def"
    RECORD_UNKNOWN, /* kept and left alone */
    RECORD_TYPE_COUNT
};

/* "actual", "beat", ...; the prefix is the name and "/". */
const char *record_type_name(enum record_type type);
enum record_type record_type_named(const char *name);
enum record_type key_type(const char *key);

/* key_<name>(a, component) of every kind with keys of one component: key_beat(a, boot_id),
 * key_cell(a, cell_id), key_desired(a, process_guid), key_domain, key_epoch(a, id),
 * key_lead(a, role), key_lock(a, name), key_task(a, task_guid), ... */
#define KEY_ONE(name) const char *key_##name(struct arena *a, const char *component);
#define KEY_OWN(name)
#define RECORD_ROW(ID, name, key, ...) KEY_##key(name)
#include "common/model/records.def"
#undef KEY_ONE
#undef KEY_OWN

/* Those of several components, in the arena, escaped; and the beginnings of some. */
const char *key_actual(struct arena *a, const char *process_guid, int32_t index, int presence);
const char *key_actual_index(struct arena *a, const char *process_guid, int32_t index); /* prefix */
const char *key_actual_process(struct arena *a, const char *process_guid);              /* prefix */
const char *key_brake(struct arena *a);
const char *key_cause(struct arena *a, const char *boot_id, unsigned slot);
const char *key_cause_boot(struct arena *a, const char *boot_id); /* prefix */
const char *key_job(struct arena *a, const char *target, const char *name); /* name: may be "" */
const char *key_removal(struct arena *a, const char *process_guid, const char *definition_id);
const char *key_run(struct arena *a, const char *process_guid, const char *definition_id);

/* Those of systems; `path` is a component path, "/" or "/a/b", `name` "path:name". */
const char *key_build(struct arena *a, const char *uid, const char *id);
const char *key_deploy(struct arena *a, const char *uid, const char *id);
const char *key_jobrun(struct arena *a, const char *uid, const char *id);
const char *key_pool(struct arena *a, const char *uid, const char *name);
const char *key_revision(struct arena *a, const char *uid, const char *path, const char *hash);
const char *key_secret(struct arena *a, const char *uid, const char *name);
const char *key_service(struct arena *a, const char *uid, const char *path);
const char *key_teardown(struct arena *a, const char *uid, const char *id);
const char *key_tree(struct arena *a, const char *tree, const char *path);

/* Those of units and relations. Numbers have 10 digits. A unit is its service and its number; a
 * member also its relation, the principal in whose scope it is ("web.3", or "-": the relation has
 * one scope) and its role. */
struct unit_name {
    const char *service;
    uint32_t number;
};
struct member_name {
    uint32_t relation;
    const char *principal;
    int role; /* of Board__Endpoint */
    struct unit_name unit;
};
const char *key_charm(struct arena *a, const char *service, const char *digest);
const char *key_machine(struct arena *a, uint32_t number);
const char *key_machine_unit(struct arena *a, uint32_t machine, struct unit_name u);
const char *key_machine_units(struct arena *a, uint32_t machine); /* prefix */
const char *key_relation(struct arena *a, uint32_t number);
const char *key_relation_member(struct arena *a, const struct member_name *m);
const char *key_relation_members(struct arena *a, uint32_t relation); /* prefix */
const char *key_relation_settings(struct arena *a, const struct member_name *m);
/* "machine" or "relation" with no service, "unit" with one. */
const char *key_sequence(struct arena *a, const char *of, const char *service);
const char *key_unit(struct arena *a, struct unit_name u);
const char *key_unit_child(struct arena *a, struct unit_name u, const char *service);
const char *key_unit_children(struct arena *a, struct unit_name u); /* prefix */
const char *key_unit_scope(struct arena *a, struct unit_name u, uint32_t relation);
const char *key_unit_scopes(struct arena *a, struct unit_name u); /* prefix */
const char *key_unit_service_relation(struct arena *a, const char *service, uint32_t relation);
const char *key_unit_status(struct arena *a, struct unit_name u);

/* Those of a centre and its sites (docs/edge.md). Of an app, a cloudlet with its info, maintenance
 * and refs, a cluster and an instance it is the kind and the name, "acme/paris/dev/web", whose
 * components are escaped (common/model/edge_name.h says which names are valid). */
const char *key_edge(struct arena *a, enum record_type type, const char *name);
const char *key_edge_all(struct arena *a, enum record_type type, const char *name); /* prefix */
const char *key_edge_name(struct arena *a, const char *key); /* the name in it, unescaped */
const char *key_appdef(struct arena *a, const char *app, uint64_t revision);
const char *key_dns_name(struct arena *a, const char *dns_name);
const char *key_use(struct arena *a, const char *referred_key, const char *referring_key);
const char *key_uses(struct arena *a, const char *referred_key); /* prefix */

/* All keys of one type whose second component is `first`: "<type>/<first>/". */
const char *key_range_of(struct arena *a, enum record_type type, const char *first);

/* The n-th component (0 = type), unescaped; NULL if there are fewer. */
const char *key_component(struct arena *a, const char *key, unsigned n);

/* Of a key below which no other is kept: the bytes up to its last slash, with it. Those of an
 * ActualLRP's key are the prefix that all records of its index share. */
size_t key_parent_size(const char *key);

/* The presence in an ActualLRP's key; -1 if it is none of a digit. */
int key_presence(const char *key);

/* The first key after all that start with `prefix` (not empty): the range_end of its range. */
const char *key_range_end(struct arena *a, const char *prefix);
