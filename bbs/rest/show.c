#include "bbs/rest/show.h"

#include "common/base/time_text.h"
#include "common/codec/json.h"
#include "common/codec/secrets.h"
#include "common/model/service_record.h"

#include <assert.h>
#include <string.h>

/* An empty message of the type, in the arena. */
#define NEW(a, type) arena_message(a, &board__##type##__descriptor)

char *show_time(struct arena *a, int64_t wall_ns)
{
    char text[WALL_TEXT_BYTES];
    return arena_strdup(a, wall_ns > 0 ? wall_text(wall_ns, text) : "");
}

const ProtobufCMessage *show_system(struct arena *a, const ProtobufCMessage *record)
{
    const Board__SystemRecord *r = (const Board__SystemRecord *)record;
    Board__RestSystem *shown = NEW(a, rest_system);
    shown->id = r->id;
    shown->definition_url = arena_strdup(a, secrets_hide_url(a, r->definition_url));
    shown->uid = r->uid;
    shown->ssh_key = r->ssh_key;
    shown->status = NEW(a, rest_system_status);
    shown->status->state = r->state;
    shown->status->message = r->message;
    shown->status->version = r->version;
    shown->status->creation_timestamp = show_time(a, r->created_at);
    shown->status->deletion_timestamp = show_time(a, r->deleted_at);
    shown->status->since = show_time(a, r->since);
    return &shown->base;
}

const ProtobufCMessage *show_build(struct arena *a, const ProtobufCMessage *record)
{
    const Board__BuildRecord *r = (const Board__BuildRecord *)record;
    Board__RestBuild *shown = NEW(a, rest_build);
    assert(record->descriptor == &board__build_record__descriptor);
    Board__RestBuildStatus *status = NEW(a, rest_build_status);
    bool of_path = !*r->version && !r->definition;
    shown->id = r->id;
    shown->path = of_path ? r->path : shown->path;
    shown->version = r->version;
    shown->status = status;
    status->state = r->state;
    status->message = r->message;
    status->path = *r->root ? r->root : r->path;
    status->version = r->version;
    status->creation_timestamp = show_time(a, r->created_at);
    status->start_timestamp = show_time(a, r->started_at);
    status->completion_timestamp = show_time(a, r->completed_at);
    status->components = r->components;
    status->written = r->written;
    status->n_commits = r->n_commits;
    status->commits = r->commits;
    return &shown->base;
}

/* What it was asked for is shown beside its id, what came of that in the status. */
static void show_target(const Board__DeployRecord *r, Board__RestDeploy *shown)
{
    if (strcmp(r->target, "version") == 0) {
        shown->version = r->version;
    } else if (strcmp(r->target, "path") == 0) {
        shown->path = r->path;
    } else if (strcmp(r->target, "build") == 0) {
        shown->build_id = r->build;
    } else if (strcmp(r->target, "undo") == 0) {
        shown->undo = r->undo;
    }
}

const ProtobufCMessage *show_deploy(struct arena *a, const ProtobufCMessage *record)
{
    const Board__DeployRecord *r = (const Board__DeployRecord *)record;
    Board__RestDeploy *shown = NEW(a, rest_deploy);
    assert(record->descriptor == &board__deploy_record__descriptor);
    Board__RestDeployStatus *status = NEW(a, rest_deploy_status);
    shown->id = r->id;
    show_target(r, shown);
    shown->rollback_on_failure = r->rollback_on_failure;
    shown->status = status;
    status->state = r->state;
    status->message = r->message;
    status->build = r->build;
    status->path = r->path;
    status->version = r->version;
    status->creation_timestamp = show_time(a, r->created_at);
    status->start_timestamp = show_time(a, r->started_at);
    status->completion_timestamp = show_time(a, r->completed_at);
    status->paused = r->paused;
    status->aborted = r->aborted;
    status->reverting = r->reverting;
    return &shown->base;
}

const ProtobufCMessage *show_teardown(struct arena *a, const ProtobufCMessage *record)
{
    const Board__TeardownRecord *r = (const Board__TeardownRecord *)record;
    Board__RestTeardown *shown = NEW(a, rest_teardown);
    shown->id = r->id;
    shown->status = NEW(a, rest_teardown_status);
    shown->status->state = r->state;
    shown->status->message = r->message;
    shown->status->creation_timestamp = show_time(a, r->created_at);
    shown->status->start_timestamp = show_time(a, r->started_at);
    shown->status->completion_timestamp = show_time(a, r->completed_at);
    return &shown->base;
}

/* ---- Services -------------------------------------------------------------------------------- */

static void add_port(struct arena *a, Board__RestServiceStatus *status, uint32_t port,
                     const char *address)
{
    Board__RestServiceStatus__PortsEntry *entry =
        NEW(a, rest_service_status__ports_entry);
    entry->key = arena_printf(a, "%u", port);
    entry->value = arena_strdup(a, address);
    status->ports[status->n_ports++] = entry;
}

static void add_ports(struct arena *a, Board__RestServiceStatus *status, struct bytes routes)
{
    ProtobufCMessage **list;
    size_t count;
    if (json_decode_list(a, &board__rest_route__descriptor, routes, 0, &list, &count, NULL) < 0) {
        return;
    }
    Board__RestServiceStatus__PortsEntry **before = status->ports;
    status->ports = ARENA_ARRAY(a, status->n_ports + count, Board__RestServiceStatus__PortsEntry *);
    for (size_t i = 0; i < status->n_ports; i++) {
        status->ports[i] = before[i];
    }
    for (size_t i = 0; i < count; i++) {
        const Board__RestRoute *r = (const Board__RestRoute *)list[i];
        if (r->n_hostnames) {
            add_port(a, status, r->port, r->hostnames[0]);
        } else if (r->external_port) {
            add_port(a, status, r->container_port, arena_printf(a, ":%u", r->external_port));
        }
    }
}

static void show_routes(struct arena *a, const Board__ServiceRecord *r,
                        Board__RestServiceStatus *status)
{
    for (size_t i = 0; r->routes && i < r->routes->n_routes; i++) {
        const Models__ProtoRoutes__RoutesEntry *route = r->routes->routes[i];
        if (strcmp(route->key, "cf-router") == 0 || strcmp(route->key, "tcp-router") == 0) {
            add_ports(a, status, (struct bytes){route->value.data, route->value.len});
        }
    }
}

static void show_counts(const Board__ServiceRecord *r, Board__RestServiceStatus *status)
{
    const Board__Counts *c = r->counts;
    status->wanted_instances = r->instances;
    if (c) {
        status->total_instances = c->total;
        status->updated_instances = c->updated;
        status->stale_instances = c->total - c->updated;
        status->available_instances = c->available;
        status->terminating_instances = c->terminating;
    }
}

static Board__RestFailure *failure(struct arena *a, const char *text, int64_t at)
{
    Board__RestFailure *f = NULL;
    if (*text) {
        f = NEW(a, rest_failure);
        f->time = show_time(a, at);
        f->message = (char *)(uintptr_t)text;
    }
    return f;
}

const ProtobufCMessage *show_service(struct arena *a, const ProtobufCMessage *record)
{
    const Board__ServiceRecord *r = (const Board__ServiceRecord *)record;
    Board__RestService *shown = NEW(a, rest_service);
    assert(record->descriptor == &board__service_record__descriptor);
    Board__RestServiceStatus *status = NEW(a, rest_service_status);
    shown->id = r->id;
    shown->path = r->path;
    shown->status = status;
    status->state = r->state;
    status->message = r->message;
    status->failure_info = failure(a, r->fault, r->fault_at);
    show_counts(r, status);
    show_routes(a, r, status);
    status->pool = r->pool;
    status->revision = r->target;
    status->deploy = r->deploy;
    status->since = show_time(a, r->since);
    const Board__Revision *target = service_target(r);
    status->process_guid = target ? target->process_guid : status->process_guid;
    return &shown->base;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Of a secret its name; of any other value nothing (docs/rest.md, Jobs). */
static struct bytes shown_value(struct arena *a, const Models__EnvironmentVariable *variable)
{
    SCOPED_BUF(text);
    if (variable->sealed) {
        buf_append_string(&text, "{\"$secret_ref\":");
        json_string_text(bytes_of(variable->sealed->name), &text);
        buf_append_string(&text, "}");
    } else {
        json_string_text(bytes_of(SECRET_TEXT), &text);
    }
    return (struct bytes){arena_copy(a, text.data, text.size), text.size};
}

static Models__ProtoRoutes *show_environment(struct arena *a, const Board__JobRunRecord *r)
{
    Models__ProtoRoutes *shown = arena_message(a, &models__proto_routes__descriptor);
    shown->routes = ARENA_ARRAY(a, r->n_environment, Models__ProtoRoutes__RoutesEntry *);
    for (size_t i = 0; i < r->n_environment; i++) {
        Models__ProtoRoutes__RoutesEntry *entry =
            arena_message(a, &models__proto_routes__routes_entry__descriptor);
        struct bytes value = shown_value(a, r->environment[i]);
        entry->key = r->environment[i]->name;
        entry->value = (ProtobufCBinaryData){value.size, (uint8_t *)(uintptr_t)value.data};
        shown->routes[shown->n_routes++] = entry;
    }
    return shown;
}

const ProtobufCMessage *show_job(struct arena *a, const ProtobufCMessage *record)
{
    const Board__JobRunRecord *r = (const Board__JobRunRecord *)record;
    Board__RestJob *shown = NEW(a, rest_job);
    assert(record->descriptor == &board__job_run_record__descriptor);
    Board__RestJobStatus *status = NEW(a, rest_job_status);
    shown->id = r->id;
    shown->path = r->path;
    shown->n_command = r->n_command;
    shown->command = r->command;
    shown->environment = r->n_environment ? show_environment(a, r) : NULL;
    shown->status = status;
    status->state = r->state;
    status->message = r->message;
    status->path = r->path;
    status->creation_timestamp = show_time(a, r->created_at);
    status->start_timestamp = show_time(a, r->started_at);
    status->completion_timestamp = show_time(a, r->completed_at);
    status->result = r->result;
    status->task = r->task_guid;
    status->pool = r->pool;
    return &shown->base;
}

/* ---- Node pools ------------------------------------------------------------------------------ */

const ProtobufCMessage *show_pool(struct arena *a, const ProtobufCMessage *record)
{
    const Board__PoolRecord *r = (const Board__PoolRecord *)record;
    Board__RestPool *shown = NEW(a, rest_pool);
    Board__RestPoolStatus *status = NEW(a, rest_pool_status);
    shown->id = r->name;
    shown->path = r->name;
    shown->status = status;
    status->state = r->state;
    status->message = r->message;
    status->failure_info =
        failure(a, strcmp(r->state, "failed") == 0 ? r->message : "", r->since);
    status->instance_type = r->instance_type;
    status->wanted_instances = r->wanted;
    for (size_t i = 0; i < r->n_epochs; i++) {
        status->num_instances += (int32_t)r->epochs[i]->n_cells;
    }
    return &shown->base;
}
