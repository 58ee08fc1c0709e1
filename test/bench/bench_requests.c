#include "test/bench/bench_requests.h"

#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"

#define BENCH_DOMAIN "bench"
#define BENCH_CELL "bench-cell"
enum { BENCH_MEMORY_MB = 32 };

static Models__Action *sleep_action(struct arena *a)
{
    Models__RunAction *run = arena_message(a, &models__run_action__descriptor);
    run->path = arena_strdup(a, "sleep");
    run->user = arena_strdup(a, "root");
    run->n_args = 1;
    run->args = ARENA_ARRAY(a, 1, char *);
    run->args[0] = arena_strdup(a, "100000");
    Models__Action *action = arena_message(a, &models__action__descriptor);
    action->run_action = run;
    return action;
}

/* Every DesiredLRP needs the tag source_id. */
static Models__DesiredLRP__MetricTagsEntry *source_tag(struct arena *a)
{
    Models__MetricTagValue *value = arena_message(a, &models__metric_tag_value__descriptor);
    value->static_ = arena_strdup(a, BENCH_DOMAIN);
    Models__DesiredLRP__MetricTagsEntry *tag = ARENA_NEW(a, Models__DesiredLRP__MetricTagsEntry);
    models__desired_lrp__metric_tags_entry__init(tag);
    tag->key = arena_strdup(a, "source_id");
    tag->value = value;
    return tag;
}

static Models__EnvironmentVariable *variable(struct arena *a, int n)
{
    Models__EnvironmentVariable *v = arena_message(a, &models__environment_variable__descriptor);
    v->name = arena_printf(a, "BENCH_VARIABLE_%d", n);
    v->value = arena_printf(a, "%080d", n);
    return v;
}

const ProtobufCMessage *bench_desire(struct arena *a, const struct bench_process *p,
                                     const char **ret_path)
{
    Models__DesiredLRP *lrp = arena_message(a, &models__desired_lrp__descriptor);
    lrp->process_guid = arena_strdup(a, p->guid);
    lrp->domain = arena_strdup(a, BENCH_DOMAIN);
    lrp->root_fs = arena_strdup(a, "preloaded:busybox");
    lrp->instances = p->instances;
    lrp->memory_mb = BENCH_MEMORY_MB;
    lrp->disk_mb = p->disk_mb;
    lrp->action = sleep_action(a);
    lrp->environment_variables =
        ARENA_ARRAY(a, (size_t)p->environment, Models__EnvironmentVariable *);
    for (int i = 0; i < p->environment; i++) {
        lrp->environment_variables[lrp->n_environment_variables++] = variable(a, i);
    }
    lrp->n_metric_tags = 1;
    lrp->metric_tags = ARENA_ARRAY(a, 1, Models__DesiredLRP__MetricTagsEntry *);
    lrp->metric_tags[0] = source_tag(a);
    Models__DesireLRPRequest *request = arena_message(a, &models__desire_lrprequest__descriptor);
    request->desired_lrp = lrp;
    *ret_path = "/v1/desired_lrp/desire.r2";
    return &request->base;
}

const ProtobufCMessage *bench_remove(struct arena *a, const char *process_guid,
                                     const char **ret_path)
{
    Models__RemoveDesiredLRPRequest *request = ARENA_NEW(a, Models__RemoveDesiredLRPRequest);
    models__remove_desired_lrprequest__init(request);
    request->process_guid = arena_strdup(a, process_guid);
    *ret_path = "/v1/desired_lrp/remove";
    return &request->base;
}

static Models__ActualLRPInstanceKey *instance_key(struct arena *a, const char *instance_guid)
{
    Models__ActualLRPInstanceKey *key = ARENA_NEW(a, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(key);
    key->instance_guid = arena_strdup(a, instance_guid);
    key->cell_id = arena_strdup(a, BENCH_CELL);
    return key;
}

const ProtobufCMessage *bench_claim(struct arena *a, const char *process_guid, int32_t index,
                                    const char *instance_guid, const char **ret_path)
{
    Models__ClaimActualLRPRequest *claim = ARENA_NEW(a, Models__ClaimActualLRPRequest);
    models__claim_actual_lrprequest__init(claim);
    claim->process_guid = arena_strdup(a, process_guid);
    claim->index = index;
    claim->actual_lrp_instance_key = instance_key(a, instance_guid);
    *ret_path = "/v1/actual_lrps/claim";
    return &claim->base;
}

const ProtobufCMessage *bench_start(struct arena *a, const char *process_guid, int32_t index,
                                    const char *instance_guid, const char **ret_path)
{
    Models__ActualLRPKey *key = arena_message(a, &models__actual_lrpkey__descriptor);
    key->process_guid = arena_strdup(a, process_guid);
    key->index = index;
    key->domain = arena_strdup(a, BENCH_DOMAIN);
    Models__ActualLRPNetInfo *net = arena_message(a, &models__actual_lrpnet_info__descriptor);
    net->address = arena_strdup(a, "10.0.0.1");
    Models__StartActualLRPRequest *start = ARENA_NEW(a, Models__StartActualLRPRequest);
    models__start_actual_lrprequest__init(start);
    start->actual_lrp_key = key;
    start->actual_lrp_instance_key = instance_key(a, instance_guid);
    start->actual_lrp_net_info = net;
    *ret_path = "/v1/actual_lrps/start.r1";
    return &start->base;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static const ProtobufCMessage *desire_task(struct arena *a, const char *task_guid)
{
    Models__TaskDefinition *definition = arena_message(a, &models__task_definition__descriptor);
    definition->root_fs = arena_strdup(a, "preloaded:busybox");
    definition->memory_mb = BENCH_MEMORY_MB;
    definition->action = sleep_action(a);
    Models__DesireTaskRequest *request = arena_message(a, &models__desire_task_request__descriptor);
    request->task_guid = arena_strdup(a, task_guid);
    request->domain = arena_strdup(a, BENCH_DOMAIN);
    request->task_definition = definition;
    return &request->base;
}

static const ProtobufCMessage *start_task(struct arena *a, const char *task_guid)
{
    Models__StartTaskRequest *request = arena_message(a, &models__start_task_request__descriptor);
    request->task_guid = arena_strdup(a, task_guid);
    request->cell_id = arena_strdup(a, BENCH_CELL);
    return &request->base;
}

static const ProtobufCMessage *complete_task(struct arena *a, const char *task_guid)
{
    Models__CompleteTaskRequest *request = ARENA_NEW(a, Models__CompleteTaskRequest);
    models__complete_task_request__init(request);
    request->task_guid = arena_strdup(a, task_guid);
    request->cell_id = arena_strdup(a, BENCH_CELL);
    request->result = arena_strdup(a, "done");
    return &request->base;
}

static const ProtobufCMessage *name_task(struct arena *a, const char *task_guid)
{
    Models__TaskGuidRequest *request = arena_message(a, &models__task_guid_request__descriptor);
    request->task_guid = arena_strdup(a, task_guid);
    return &request->base;
}

static const struct {
    const char *name, *path;
    const ProtobufCMessage *(*request)(struct arena *a, const char *task_guid);
} task_steps[BENCH_TASK_STEPS] = {
    [BENCH_TASK_DESIRE] = {"desire", "/v1/tasks/desire.r2", desire_task},
    [BENCH_TASK_START] = {"start", "/v1/tasks/start", start_task},
    [BENCH_TASK_COMPLETE] = {"complete", "/v1/tasks/complete", complete_task},
    [BENCH_TASK_RESOLVING] = {"resolving", "/v1/tasks/resolving", name_task},
    [BENCH_TASK_DELETE] = {"delete", "/v1/tasks/delete", name_task},
};

const ProtobufCMessage *bench_task(struct arena *a, const char *task_guid,
                                   enum bench_task_step step, const char **ret_path)
{
    *ret_path = task_steps[step].path;
    return task_steps[step].request(a, task_guid);
}

const char *bench_task_step_name(enum bench_task_step step)
{
    return task_steps[step].name;
}
