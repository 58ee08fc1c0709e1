#include "rep/driver/network_plan.h"

#include <assert.h>

const char *network_id(struct arena *a, const char *table, const char *guid)
{
    return arena_printf(a, "%s-%s", table, guid);
}

json_t *network_plan_pack(const struct network_plan *plan)
{
    assert(plan->table && plan->guid && plan->id && plan->path && plan->list && plan->egress);
    json_t *ports = json_array();
    for (size_t i = 0; i < plan->port_count; i++) {
        json_array_append_new(ports, json_pack("[i, i]", (int)plan->ports[i].host_port,
                                               (int)plan->ports[i].container_port));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:O, s:s?, s:s?, s:o, s:s}", "table", plan->table,
                     "guid", plan->guid, "id", plan->id, "path", plan->path, "list", plan->list,
                     "address", plan->address, "lease", plan->lease, "ports", ports, "egress",
                     plan->egress);
}

static const char *text_of(struct arena *a, const json_t *read, const char *name)
{
    const char *text = json_string_value(json_object_get(read, name));
    return text ? arena_strdup(a, text) : NULL;
}

static void read_ports(struct arena *a, const json_t *read, struct network_plan *plan)
{
    json_t *list = json_object_get(read, "ports");
    struct port_pair *ports = ARENA_ARRAY(a, json_array_size(list), struct port_pair);
    plan->port_count = json_array_size(list);
    for (size_t i = 0; i < plan->port_count; i++) {
        json_t *pair = json_array_get(list, i);
        ports[i].host_port = (uint32_t)json_integer_value(json_array_get(pair, 0));
        ports[i].container_port = (uint32_t)json_integer_value(json_array_get(pair, 1));
    }
    plan->ports = ports;
}

int network_plan_read(struct arena *a, const json_t *read, struct network_plan *ret,
                      struct err *err)
{
    struct network_plan plan = {
        .table = text_of(a, read, "table"),
        .guid = text_of(a, read, "guid"),
        .id = text_of(a, read, "id"),
        .path = text_of(a, read, "path"),
        .list = json_object_get(read, "list"),
        .address = text_of(a, read, "address"),
        .lease = text_of(a, read, "lease"),
        .egress = text_of(a, read, "egress"),
    };
    if (!plan.table || !plan.guid || !plan.id || !plan.path || !plan.list || !plan.egress) {
        return err_set(err, ERR_INVALID, "%s is not complete", NETWORK_PLAN_FILE);
    }
    read_ports(a, read, &plan);
    *ret = plan;
    return 0;
}
