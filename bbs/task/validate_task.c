#include "bbs/task/validate_task.h"

#include "bbs/lrp/validate_url.h"
#include "common/model/sealed_values.h"

void valid_task_guid(struct validation *v, const char *task_guid)
{
    if (!task_guid[0]) {
        say_field(v, "task_guid");
    }
}

static void valid_new_guid(struct validation *v, const char *task_guid)
{
    if (!good_guid(task_guid)) {
        say_field(v, "task_guid");
    }
    check_length(v, task_guid, NAME_CHARACTERS_MAX);
}

/* Unlike a DesiredLRP's, their own texts are left out. */
static void valid_egress_rules(struct validation *v, const Models__TaskDefinition *d)
{
    for (size_t i = 0; i < d->n_egress_rules; i++) {
        struct validation inner = {0};
        valid_egress_rule(&inner, d->egress_rules[i]);
        if (!validation_ok(&inner)) {
            say_field(v, "egress_rules");
        }
        validation_done(&inner);
    }
}

static void valid_definition(struct validation *v, const Models__TaskDefinition *d)
{
    if (!valid_url(d->root_fs)) {
        say_field(v, "rootfs");
    }
    if (!d->action) {
        say(v, "invalid action type");
    } else {
        valid_action_of(v, d->action, "action");
    }
    not_negative(v, d->memory_mb, "memory_mb");
    not_negative(v, d->disk_mb, "disk_mb");
    valid_log_rate(v, d->log_rate_limit, "log_rate_limit");
    not_negative(v, d->max_pids, "max_pids");
    valid_annotation(v, d->annotation);
    valid_egress_rules(v, d);
    valid_image_credentials(v, d->image_username,
                            d->sealed_image_password ? SEALED_SHOWN : d->image_password);
    valid_dependencies(v, d->cached_dependencies, d->n_cached_dependencies);
    valid_layers(v, d->image_layers, d->n_image_layers, d->legacy_download_user);
    valid_cpu_max(v, d->cpu_max_percent);
    valid_placement_tags(v, d->placement_tags, d->n_placement_tags);
}

void valid_desire_task(struct validation *v, const Models__DesireTaskRequest *r)
{
    valid_new_guid(v, r->task_guid);
    if (!r->domain[0]) {
        say_field(v, "domain");
    }
    if (!r->task_definition) {
        say_field(v, "task_definition");
    } else {
        valid_definition(v, r->task_definition);
    }
    not_negative(v, r->max_retries, "max_retries"); /* ours; 0 when absent */
    check_length(v, r->domain, NAME_CHARACTERS_MAX);
}

/* That it names a task, or, `strict`, that its guid is one; it must fit. */
static void valid_subject(struct validation *v, const Board__Move *move, bool strict)
{
    SCOPED_ARENA(a);
    const char *guid = move_name(&a, move);
    if (strict) {
        valid_new_guid(v, guid);
    } else {
        valid_task_guid(v, guid);
    }
}

void valid_task_named(struct validation *v, const Board__Move *move)
{
    valid_subject(v, move, false);
}

void valid_task_by_cell(struct validation *v, const Board__Move *move)
{
    const Board__TaskMove *m = move_task(move);
    valid_subject(v, move, true);
    if (!m->cell_id[0]) {
        say_field(v, "cell_id");
    }
    check_length(v, m->cell_id, NAME_CHARACTERS_MAX);
    check_length(v, m->attempt, NAME_CHARACTERS_MAX);
}

void valid_task_with_reason(struct validation *v, const Board__Move *move)
{
    valid_subject(v, move, true);
    if (!move_task(move)->error_message[0]) {
        say_field(v, "failure_reason");
    }
}
