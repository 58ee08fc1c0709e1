#include "test/chaos/nemesis/target.h"

#include <stdio.h>
#include <string.h>

static const struct member_row {
    const char *list;
    enum cluster_role role;
    const char *name; /* the member that names the process */
} member_rows[] = {
    {"etcd", ROLE_ETCD, "name"},
    {"bbs", ROLE_BBS, "name"},
    {"auctioneers", ROLE_AUCTIONEER, "name"},
    {"convergers", ROLE_CONVERGER, "name"},
    {"cells", ROLE_REP, "process"},
};

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static int add_process(struct cluster_shape *shape, const struct member_row *row,
                       const json_t *member, struct err *err)
{
    const char *name = text_of(member, row->name), *zone = text_of(member, "zone");
    if (!name || !name[0] || strlen(name) >= FAULT_NAME_BYTES ||
        (zone && strlen(zone) >= FAULT_NAME_BYTES)) {
        return err_set(err, ERR_INVALID, "%s: each member needs a %s of less than %d characters",
                       row->list, row->name, FAULT_NAME_BYTES);
    }
    if (shape->count == CLUSTER_PROCESSES_MAX) {
        return err_set(err, ERR_TOO_LARGE, "more than %d processes", CLUSTER_PROCESSES_MAX);
    }
    struct cluster_process *p = &shape->processes[shape->count++];
    *p = (struct cluster_process){
        .role = row->role, .small_disk = json_is_true(json_object_get(member, "small_disk"))};
    snprintf(p->name, sizeof(p->name), "%s", name);
    snprintf(p->zone, sizeof(p->zone), "%s", zone && row->role == ROLE_REP ? zone : "");
    const char *cell = row->role == ROLE_REP ? text_of(member, "name") : NULL;
    snprintf(p->cell, sizeof(p->cell), "%s", cell ? cell : "");
    return 0;
}

static int add_members(struct nemesis_target *t, const struct member_row *row, struct err *err)
{
    const json_t *list = json_object_get(t->root, row->list), *member;
    size_t i;
    if (list && !json_is_array(list)) {
        return err_set(err, ERR_INVALID, "%s: must be a list", row->list);
    }
    json_array_foreach(list, i, member)
    {
        int result = add_process(&t->shape, row, member, err);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

int nemesis_target_parse(const char *text, size_t size, struct nemesis_target *ret_target,
                         struct err *err)
{
    json_error_t wrong;
    struct nemesis_target t = {.root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong)};
    int result = 0;
    if (!json_is_object(t.root)) {
        result = err_set(err, ERR_INVALID, "line %d: %s", t.root ? 1 : wrong.line,
                         t.root ? "must be an object" : wrong.text);
    }
    for (size_t i = 0; result == 0 && i < sizeof(member_rows) / sizeof(member_rows[0]); i++) {
        result = add_members(&t, &member_rows[i], err);
    }
    if (result == 0 && t.shape.count == 0) {
        result = err_set(err, ERR_INVALID, "names no process: nothing can be disturbed");
    }
    if (result == 0 && !nemesis_target_command(&t, "healthy")) {
        result = err_set(err, ERR_INVALID,
                         "commands.healthy: is missing; without it nobody knows "
                         "when the next fault may come");
    }
    if (result < 0) {
        nemesis_target_done(&t);
        return result;
    }
    *ret_target = t;
    return 0;
}

void nemesis_target_done(struct nemesis_target *t)
{
    json_decref(t->root);
    t->root = NULL;
}

const char *nemesis_target_command(const struct nemesis_target *t, const char *name)
{
    return text_of(json_object_get(t->root, "commands"), name);
}

static const json_t *fault_of(const struct nemesis_target *t, const struct fault_kind *kind)
{
    const json_t *faults = json_object_get(json_object_get(t->root, "commands"), "faults");
    return json_object_get(faults, kind->name);
}

const char *nemesis_target_fault_command(const struct nemesis_target *t,
                                         const struct fault_kind *kind, const char *verb)
{
    return text_of(fault_of(t, kind), verb);
}

bool nemesis_target_fault_spares_cells(const struct nemesis_target *t,
                                       const struct fault_kind *kind)
{
    return json_is_false(json_object_get(fault_of(t, kind), "cells"));
}
