#include "test/chaos/workload/asks.h"

#include "models/domain.pb-c.h"

enum { ASK_MEMORY_MB = 16, ASK_DISK_MB = 16, ASK_PORT = 8080 };

static const char app_script[] =
    "mkdir -p /tmp/www && echo \"$CF_INSTANCE_GUID $CF_INSTANCE_INDEX\" >/tmp/www/index.html && "
    "exec httpd -f -p \"$PORT\" -h /tmp/www";
static const char task_script[] =
    "cat /proc/sys/kernel/random/uuid >/tmp/result; sleep \"$CHAOS_SECONDS\"";

static Models__EnvironmentVariable *variable(struct arena *a, const char *name, const char *value)
{
    Models__EnvironmentVariable *v = arena_message(a, &models__environment_variable__descriptor);
    v->name = arena_strdup(a, name);
    v->value = arena_strdup(a, value);
    return v;
}

/* sh -c SCRIPT with two variables. */
static Models__Action *shell_action(struct arena *a, const char *script, const char *name,
                                    const char *value, const char *seconds)
{
    Models__RunAction *run = arena_message(a, &models__run_action__descriptor);
    run->path = arena_strdup(a, "sh");
    run->user = arena_strdup(a, "root");
    run->args = ARENA_ARRAY(a, 2, char *);
    run->args[run->n_args++] = arena_strdup(a, "-c");
    run->args[run->n_args++] = arena_strdup(a, script);
    run->env = ARENA_ARRAY(a, 2, Models__EnvironmentVariable *);
    run->env[run->n_env++] = variable(a, name, value);
    run->env[run->n_env++] = variable(a, "CHAOS_SECONDS", seconds);
    Models__Action *action = arena_message(a, &models__action__descriptor);
    action->run_action = run;
    return action;
}

/* Every DesiredLRP needs the tag source_id. */
static Models__DesiredLRP__MetricTagsEntry *source_tag(struct arena *a, const char *of)
{
    Models__MetricTagValue *value = arena_message(a, &models__metric_tag_value__descriptor);
    value->static_ = arena_strdup(a, of);
    Models__DesiredLRP__MetricTagsEntry *tag = ARENA_NEW(a, Models__DesiredLRP__MetricTagsEntry);
    models__desired_lrp__metric_tags_entry__init(tag);
    tag->key = arena_strdup(a, "source_id");
    tag->value = value;
    return tag;
}

const ProtobufCMessage *ask_desire(struct arena *a, const struct ask_lrp *p)
{
    Models__DesiredLRP *lrp = arena_message(a, &models__desired_lrp__descriptor);
    lrp->process_guid = arena_strdup(a, p->process_guid);
    lrp->domain = arena_strdup(a, p->domain);
    lrp->root_fs = arena_strdup(a, p->rootfs);
    lrp->annotation = arena_strdup(a, p->annotation);
    lrp->instances = p->instances;
    lrp->memory_mb = ASK_MEMORY_MB;
    lrp->disk_mb = ASK_DISK_MB;
    lrp->action = shell_action(a, app_script, "CHAOS_PROCESS", p->process_guid, "0");
    lrp->ports = ARENA_ARRAY(a, 1, uint32_t);
    lrp->ports[lrp->n_ports++] = ASK_PORT;
    lrp->metric_tags = ARENA_ARRAY(a, 1, Models__DesiredLRP__MetricTagsEntry *);
    lrp->metric_tags[lrp->n_metric_tags++] = source_tag(a, p->process_guid);
    Models__DesireLRPRequest *request = arena_message(a, &models__desire_lrprequest__descriptor);
    request->desired_lrp = lrp;
    return &request->base;
}

const ProtobufCMessage *ask_update(struct arena *a, const char *process_guid,
                                   const char *annotation, int instances)
{
    Models__DesiredLRPUpdate *update = arena_message(a, &models__desired_lrpupdate__descriptor);
    update->optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    update->annotation = arena_strdup(a, annotation);
    if (instances >= 0) {
        update->optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        update->instances = instances;
    }
    Models__UpdateDesiredLRPRequest *request =
        arena_message(a, &models__update_desired_lrprequest__descriptor);
    request->process_guid = arena_strdup(a, process_guid);
    request->update = update;
    return &request->base;
}

const ProtobufCMessage *ask_remove(struct arena *a, const char *process_guid)
{
    Models__RemoveDesiredLRPRequest *request =
        arena_message(a, &models__remove_desired_lrprequest__descriptor);
    request->process_guid = arena_strdup(a, process_guid);
    return &request->base;
}

const ProtobufCMessage *ask_get(struct arena *a, const char *process_guid)
{
    Models__DesiredLRPByProcessGuidRequest *request =
        arena_message(a, &models__desired_lrpby_process_guid_request__descriptor);
    request->process_guid = arena_strdup(a, process_guid);
    return &request->base;
}

const ProtobufCMessage *ask_list(struct arena *a, const char *domain)
{
    Models__DesiredLRPsRequest *request =
        arena_message(a, &models__desired_lrps_request__descriptor);
    request->domain = arena_strdup(a, domain);
    return &request->base;
}

const ProtobufCMessage *ask_domain(struct arena *a, const char *domain, uint32_t ttl_s)
{
    Models__UpsertDomainRequest *request =
        arena_message(a, &models__upsert_domain_request__descriptor);
    request->domain = arena_strdup(a, domain);
    request->ttl = ttl_s;
    return &request->base;
}

const ProtobufCMessage *ask_task(struct arena *a, const char *task_guid, const char *domain,
                                 const char *rootfs, int seconds)
{
    Models__TaskDefinition *definition = arena_message(a, &models__task_definition__descriptor);
    definition->root_fs = arena_strdup(a, rootfs);
    definition->memory_mb = ASK_MEMORY_MB;
    definition->disk_mb = ASK_DISK_MB;
    definition->result_file = arena_strdup(a, "/tmp/result");
    definition->action =
        shell_action(a, task_script, "CHAOS_TASK", task_guid, arena_printf(a, "%d", seconds));
    Models__DesireTaskRequest *request = arena_message(a, &models__desire_task_request__descriptor);
    request->task_guid = arena_strdup(a, task_guid);
    request->domain = arena_strdup(a, domain);
    request->task_definition = definition;
    return &request->base;
}

const ProtobufCMessage *ask_of_task(struct arena *a, const char *task_guid)
{
    Models__TaskGuidRequest *request = arena_message(a, &models__task_guid_request__descriptor);
    request->task_guid = arena_strdup(a, task_guid);
    return &request->base;
}

const ProtobufCMessage *ask_task_get(struct arena *a, const char *task_guid)
{
    Models__TaskByGuidRequest *request =
        arena_message(a, &models__task_by_guid_request__descriptor);
    request->task_guid = arena_strdup(a, task_guid);
    return &request->base;
}
