#include "rep/container/spec.h"

#include "common/model/image_name.h"
#include "common/model/mount_place.h"
#include "common/model/routing.h"
#include "rep/container/environment.h"
#include "rep/container/health_note.h"
#include "rep/container/join.h"
#include "rep/container/note.h"
#include "rep/steps/tree.h"

#include <assert.h>
#include <string.h>

/* ---- What is supported ----------------------------------------------------------------------- */

/* What is bound, layers among it; a volume's driver looks at its own (rep/driver/volumes.h). */
static int check_places(const struct tree_parts *parts, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < parts->dependency_count && code == 0; i++) {
        code = mount_place_check(parts->dependencies[i]->to, err);
    }
    return code;
}

/* The programs of a monitor are steps of the container, too. */
static int check(const struct tree_parts *parts, struct err *err)
{
    SCOPED_ARENA(scratch);
    struct action_tree tree, monitor;
    const struct tree_leaf *leaves;
    int code = tree_make(&scratch, parts, &tree, &leaves, err);
    code = code < 0 ? code : check_places(parts, err);
    if (code == 0 && parts->monitor) {
        code = tree_make_monitor(&scratch, parts, &monitor, &leaves, err);
        if (code == 0 && tree.count + monitor.count > STEPS_MAX) {
            code = err_set(err, ERR_TOO_LARGE, "the definition has more than %d steps", STEPS_MAX);
        }
    }
    return code;
}

int spec_check(const Models__DesiredLRP *lrp, struct err *err)
{
    SCOPED_ARENA(scratch);
    Rep__Health *health;
    const struct tree_parts parts = tree_parts_of(&scratch, lrp);
    struct image_name name;
    int code = image_name_parse(&scratch, lrp->root_fs, &name, err);
    code = code < 0 ? code : check(&parts, err);
    code = code < 0 ? code : join_check(lrp->network, lrp->n_ports, lrp->n_egress_rules, err);
    return code < 0 ? code : health_make(&scratch, lrp, &health, err);
}

int spec_check_task(const Models__TaskDefinition *definition, struct err *err)
{
    SCOPED_ARENA(scratch);
    const struct tree_parts parts = tree_parts_of_task(&scratch, definition);
    struct image_name name;
    int code = image_name_parse(&scratch, definition->root_fs, &name, err);
    code = code < 0 ? code : check(&parts, err);
    return code < 0 ? code : join_check(definition->network, 0, definition->n_egress_rules, err);
}

/* ---- The note -------------------------------------------------------------------------------- */

/* What an exit text begins with, where one program is all there is to it. */
static const char *source_of(const struct tree_parts *parts)
{
    const Models__RunAction *run = parts->action ? parts->action->run_action : NULL;
    return tree_source(run ? run->log_source : "", parts);
}

/* Its steps, in the arena; none for one program, or for what passes no check. */
static void note_steps(struct arena *a, Rep__Note *note, const struct tree_parts *parts)
{
    struct action_tree tree;
    const struct tree_leaf *leaves;
    if (tree_is_needed(parts) && tree_make(a, parts, &tree, &leaves, NULL) == 0) {
        note->steps = (Rep__Step **)(uintptr_t)tree.steps;
        note->n_steps = tree.count;
    }
    if (parts->monitor && tree_make_monitor(a, parts, &tree, &leaves, NULL) == 0) {
        note->monitor = (Rep__Step **)(uintptr_t)tree.steps;
        note->n_monitor = tree.count;
    }
}

static void note_ports(struct arena *a, Rep__Note *note, const struct port_pair *ports,
                       size_t count)
{
    note->n_ports = count;
    note->ports = ARENA_ARRAY(a, count, Models__PortMapping *);
    for (size_t i = 0; i < count; i++) {
        note->ports[i] = arena_message(a, &models__port_mapping__descriptor);
        note->ports[i]->container_port = ports[i].container_port;
        note->ports[i]->host_port = ports[i].host_port;
    }
}

static void note_routing(struct arena *a, Rep__Note *note, const struct routing *routing)
{
    note->n_internal_routes = routing->hostname_count;
    note->internal_routes =
        ARENA_ARRAY(a, routing->hostname_count, Models__ActualLRPInternalRoute *);
    for (size_t i = 0; i < routing->hostname_count; i++) {
        Models__ActualLRPInternalRoute *route = ARENA_NEW(a, Models__ActualLRPInternalRoute);
        models__actual_lrpinternal_route__init(route);
        route->hostname = (char *)(uintptr_t)routing->hostnames[i];
        note->internal_routes[i] = route;
    }
    note->n_metric_tags = routing->tag_count;
    note->metric_tags = ARENA_ARRAY(a, routing->tag_count, Rep__Note__MetricTagsEntry *);
    for (size_t i = 0; i < routing->tag_count; i++) {
        Rep__Note__MetricTagsEntry *entry = ARENA_NEW(a, Rep__Note__MetricTagsEntry);
        rep__note__metric_tags_entry__init(entry);
        entry->key = (char *)(uintptr_t)routing->tags[i].key;
        entry->value = (char *)(uintptr_t)routing->tags[i].value;
        note->metric_tags[i] = entry;
    }
}

Rep__Note *spec_note(const Rep__Note *reserved, const Models__DesiredLRP *lrp,
                     const struct port_pair *ports, size_t port_count)
{
    SCOPED_ARENA(scratch);
    Rep__Note note = *reserved; /* shallow: copied deeply below, the original stays whole */
    note.definition_id =
        lrp->modification_tag ? lrp->modification_tag->epoch : reserved->definition_id;
    note.root_fs = lrp->root_fs;
    note.max_pids = lrp->max_pids;
    note.metric_guid = lrp->metrics_guid;
    const struct tree_parts parts = tree_parts_of(&scratch, lrp);
    note.log_source = (char *)(uintptr_t)source_of(&parts);
    note_steps(&scratch, &note, &parts);
    int code = health_make(&scratch, lrp, &note.health, NULL);
    assert(code == 0); /* it has passed spec_check() */
    (void)code;
    if (!note.joined[0]) { /* else it has the other's */
        note_ports(&scratch, &note, ports, port_count);
    }
    struct routing routing;
    routing_desired(&scratch, lrp, note.key->index, note.instance_guid, &routing);
    note.routed = routing.routed;
    note_routing(&scratch, &note, &routing);
    return note_copy(&note);
}

Rep__Note *spec_note_task(const Rep__Note *reserved, const Models__TaskDefinition *definition)
{
    SCOPED_ARENA(scratch);
    Rep__Note note = *reserved; /* shallow: copied deeply below, the originals stay whole */
    Rep__TaskNote task = *reserved->task;
    note.root_fs = definition->root_fs;
    note.max_pids = definition->max_pids;
    task.result_file = definition->result_file;
    note.metric_guid = definition->metrics_guid;
    const struct tree_parts parts = tree_parts_of_task(&scratch, definition);
    note.log_source = (char *)(uintptr_t)source_of(&parts);
    note_steps(&scratch, &note, &parts);
    note.task = &task;
    return note_copy(&note);
}

/* ---- The spec -------------------------------------------------------------------------------- */

/* The definition's environment, and where the container is. */
struct surroundings {
    struct environment_facts env; /* without a step */
    const struct tree_parts *parts;
    const Rep__Image *image; /* NULL = none */
};

static struct surroundings surroundings_of(const Rep__Note *about, const char *address,
                                           struct variable_list definition,
                                           const Rep__Image *image,
                                           const struct tree_parts *parts)
{
    struct surroundings s = {
        .env = {.about = about, .address = address, .definition = definition},
        .parts = parts,
        .image = image,
    };
    if (image) {
        s.env.image = image->env;
        s.env.image_count = image->n_env;
    }
    return s;
}

static void add_words(const char **words, size_t *count, char *const *more, size_t more_count)
{
    for (size_t i = 0; i < more_count; i++) {
        words[(*count)++] = more[i];
    }
}

/* What an image says of a program, where the action leaves it out: the entrypoint goes before the
 * action's words, or else its own ones. */
static void process_from_image(struct arena *a, const Rep__Image *image,
                               const Models__RunAction *run, struct step_process *p)
{
    const char **words =
        ARENA_ARRAY(a, image->n_entrypoint + image->n_cmd + run->n_args + 2, const char *);
    size_t count = 0;
    add_words(words, &count, image->entrypoint, image->n_entrypoint);
    if (run->n_args > 0) {
        add_words(words, &count, run->args, run->n_args);
    } else {
        add_words(words, &count, image->cmd, image->n_cmd);
    }
    assert(count <= image->n_entrypoint + image->n_cmd + run->n_args);
    p->path = count > 0 ? words[0] : "";
    p->args = count > 0 ? words + 1 : words;
    p->dir = run->dir[0] ? run->dir : image->working_dir[0] ? image->working_dir : "/";
    p->user = run->user[0] ? run->user : image->user;
}

/* What a run action says. */
static struct step_process process_of(struct arena *a, const struct surroundings *around,
                                      const Models__RunAction *run, uint32_t step)
{
    size_t count = 0;
    const char **args = ARENA_ARRAY(a, run->n_args + 1, const char *);
    add_words(args, &count, run->args, run->n_args);
    struct environment_facts env = around->env;
    env.step = (struct variable_list){run->env, run->n_env};
    struct step_process p = {
        .step = step,
        .path = run->path,
        .args = args,
        .dir = run->dir,
        .user = run->user,
        .source = tree_source(run->log_source, around->parts),
        .mute = run->suppress_log_output,
    };
    if (run->from_image && around->image) {
        process_from_image(a, around->image, run, &p);
    }
    p.env_count = environment_make(a, &env, &p.env);
    const Models__ResourceLimits *limits = run->resource_limits;
    if (limits && limits->optional_nofile_case == MODELS__RESOURCE_LIMITS__OPTIONAL_NOFILE_NOFILE) {
        p.nofile = limits->nofile;
    }
    if (limits && limits->optional_nproc_case == MODELS__RESOURCE_LIMITS__OPTIONAL_NPROC_NPROC) {
        p.nproc = limits->nproc;
    }
    return p;
}

static void spec_volumes(struct arena *a, Models__VolumeMount *const *mounts, size_t count,
                         struct container_spec *spec)
{
    struct volume *list = ARENA_ARRAY(a, count, struct volume);
    for (size_t i = 0; i < count; i++) {
        const Models__SharedDevice *shared = mounts[i]->shared;
        list[i] = (struct volume){
            .driver = mounts[i]->driver,
            .name = shared ? shared->volume_id : "",
            .config = shared ? shared->mount_config : "",
            .path = mounts[i]->container_dir,
            .writable = strcmp(mounts[i]->mode, "rw") == 0,
        };
    }
    spec->volumes = list;
    spec->volume_count = count;
}

static struct file_transfer *transfer_new(struct arena *a, const struct file_transfer *t)
{
    return arena_copy(a, t, sizeof(*t));
}

/* What a leaf that runs no program brings or sends. What is bound belongs to the container's root,
 * for it is one tree for all. */
static struct step_process transfer_of(struct arena *a, const struct tree_leaf *leaf, uint32_t step)
{
    struct step_process p = {.step = step, .user = "0"};
    if (leaf->dependency) {
        const Models__CachedDependency *d = leaf->dependency;
        p.transfer = transfer_new(
            a, &(struct file_transfer){TRANSFER_DOWNLOAD, true, d->from, d->to, d->cache_key,
                                  d->checksum_algorithm, d->checksum_value});
    } else if (leaf->download) {
        const Models__DownloadAction *d = leaf->download;
        p.user = d->user;
        p.transfer = transfer_new(
            a, &(struct file_transfer){TRANSFER_DOWNLOAD, false, d->from, d->to, d->cache_key,
                                  d->checksum_algorithm, d->checksum_value});
    } else {
        const Models__UploadAction *u = leaf->upload;
        p.user = u->user;
        p.transfer = transfer_new(
            a, &(struct file_transfer){TRANSFER_UPLOAD, false, u->to, u->from, "", "", ""});
    }
    return p;
}

static void spec_program(const struct step_process *p, struct container_spec *spec)
{
    spec->path = p->path;
    spec->args = p->args;
    spec->env = p->env;
    spec->env_count = p->env_count;
    spec->dir = p->dir;
    spec->user = p->user;
    spec->nofile = p->nofile;
    spec->nproc = p->nproc;
    spec->source = p->source;
    spec->mute = p->mute;
}

/* Where the first program of the action starts, a file that it left is looked for. */
static void spec_home(const Rep__Note *about, struct container_spec *spec)
{
    const struct action_tree tree = {about->steps, about->n_steps};
    uint32_t action = tree_action(&tree);
    const struct step_process *first = NULL;
    for (size_t i = 0; i < spec->step_count && !(first && first->step >= action); i++) {
        bool counts = !spec->steps[i].transfer && spec->steps[i].step < about->n_steps;
        first = counts ? &spec->steps[i] : first;
    }
    spec->dir = first ? first->dir : "";
    spec->user = first ? first->user : "";
}

/* What its monitor runs, numbered behind the rest. */
static void spec_monitor(struct arena *a, const struct surroundings *around,
                         const struct tree_parts *parts, struct step_process *list, size_t *count)
{
    struct action_tree tree;
    const struct tree_leaf *leaves;
    const Rep__Note *about = around->env.about;
    int code = tree_make_monitor(a, parts, &tree, &leaves, NULL);
    assert(code == 0 && tree.count == about->n_monitor);
    for (uint32_t i = 0; code == 0 && i < tree.count; i++) {
        if (leaves[i].run) {
            uint32_t step = (uint32_t)about->n_steps + i;
            list[(*count)++] = process_of(a, around, leaves[i].run, step);
        }
    }
}

static void spec_steps(struct arena *a, const struct surroundings *around,
                       const struct tree_parts *parts, struct container_spec *spec)
{
    struct action_tree tree;
    const struct tree_leaf *leaves;
    int code = tree_make(a, parts, &tree, &leaves, NULL);
    assert(code == 0 && tree.count == around->env.about->n_steps);
    struct step_process *list =
        ARENA_ARRAY(a, tree.count + around->env.about->n_monitor, struct step_process);
    for (uint32_t i = 0; code == 0 && i < tree.count; i++) {
        if (leaves[i].run) {
            list[spec->step_count++] = process_of(a, around, leaves[i].run, i);
        } else if (tree_is_leaf(&tree, i)) {
            list[spec->step_count++] = transfer_of(a, &leaves[i], i);
        }
    }
    if (parts->monitor) {
        spec_monitor(a, around, parts, list, &spec->step_count);
    }
    spec->steps = list;
    spec_home(around->env.about, spec);
}

static void spec_processes(struct arena *a, const struct surroundings *around,
                           const struct tree_parts *parts, struct container_spec *spec)
{
    if (around->env.about->n_steps > 0) {
        spec_steps(a, around, parts, spec);
    } else {
        assert(parts->action->run_action);
        struct step_process only = process_of(a, around, parts->action->run_action, 0);
        spec_program(&only, spec);
    }
}

/* -1, and no word of it, is no limit. */
static void spec_log(const Models__LogRateLimit *limit, struct container_spec *spec)
{
    spec->log_limited = limit && limit->bytes_per_second >= 0;
    spec->log_rate = spec->log_limited ? limit->bytes_per_second : 0;
}

/* What leads to it; a network that it shares is led to as it is. */
static void spec_network(struct arena *a, const Rep__Note *about, struct container_spec *spec)
{
    if (about->joined[0]) {
        spec->join = about->own_network ? about->joined : NULL;
        return;
    }
    struct port_pair *ports = ARENA_ARRAY(a, about->n_ports, struct port_pair);
    for (size_t i = 0; i < about->n_ports; i++) {
        ports[i] = (struct port_pair){about->ports[i]->container_port, about->ports[i]->host_port};
    }
    spec->ports = ports;
    spec->port_count = about->n_ports;
}

/* What it may reach; with the host's network nothing filters it. */
static void spec_egress(struct arena *a, Models__SecurityGroupRule *const *rules, size_t count,
                        const Rep__Note *about, struct container_spec *spec)
{
    if (!about->own_network) {
        return;
    }
    struct egress_rule *list = ARENA_ARRAY(a, count, struct egress_rule);
    for (size_t i = 0; i < count; i++) {
        const Models__SecurityGroupRule *r = rules[i];
        list[i] = (struct egress_rule){
            .protocol = r->protocol,
            .destinations = (const char *const *)r->destinations,
            .destination_count = r->n_destinations,
            .ports = r->ports,
            .port_count = r->n_ports,
            .first_port = r->port_range ? r->port_range->start : 0,
            .last_port = r->port_range ? r->port_range->end : 0,
            .icmp_type = r->icmp_info ? r->icmp_info->type : -1,
            .icmp_code = r->icmp_info ? r->icmp_info->code : -1,
            .log = r->log,
        };
    }
    spec->egress = list;
    spec->egress_count = count;
    spec->address_variable = ADDRESS_VARIABLE;
}

/* Of what was pulled: the lowest first. */
static void spec_layers(struct arena *a, const Rep__Image *image, struct container_spec *spec)
{
    size_t count = image ? image->n_layers : 0;
    const char **layers = ARENA_ARRAY(a, count, const char *);
    for (size_t i = 0; i < count; i++) {
        layers[i] = image->layers[i]->id;
    }
    spec->layers = layers;
    spec->layer_count = count;
}

/* All but what runs in it. */
static void spec_around(struct arena *a, const Models__DesiredLRP *lrp, const Rep__Note *about,
                        const Rep__Image *image, struct container_spec *ret_spec)
{
    *ret_spec = (struct container_spec){
        .rootfs = lrp->root_fs,
        .memory_mb = lrp->memory_mb,
        .disk_mb = lrp->disk_mb,
        .max_pids = lrp->max_pids,
        .cpu_weight = lrp->cpu_weight, /* 0 is not 1, as Diego has it: design.md 7, Limits */
        .cpu_max_percent = lrp->cpu_max_percent,
        .privileged = lrp->privileged,
        .ids_first = about->ids_first,
    };
    spec_network(a, about, ret_spec);
    spec_volumes(a, lrp->volume_mounts, lrp->n_volume_mounts, ret_spec);
    spec_log(lrp->log_rate_limit, ret_spec);
    spec_egress(a, lrp->egress_rules, lrp->n_egress_rules, about, ret_spec);
    spec_layers(a, image, ret_spec);
}

void spec_make(struct arena *a, const Models__DesiredLRP *lrp, const Rep__Note *about,
               const char *address, const Rep__Image *image, struct container_spec *ret_spec)
{
    spec_around(a, lrp, about, image, ret_spec);
    const struct tree_parts parts = tree_parts_of(a, lrp);
    const struct variable_list env = {lrp->environment_variables, lrp->n_environment_variables};
    const struct surroundings around = surroundings_of(about, address, env, image, &parts);
    spec_processes(a, &around, &parts, ret_spec);
}

void spec_make_task(struct arena *a, const Models__TaskDefinition *definition,
                    const Rep__Note *about, const char *address, const Rep__Image *image,
                    struct container_spec *ret_spec)
{
    *ret_spec = (struct container_spec){
        .rootfs = definition->root_fs,
        .memory_mb = definition->memory_mb,
        .disk_mb = definition->disk_mb,
        .max_pids = definition->max_pids,
        .cpu_weight = definition->cpu_weight,
        .cpu_max_percent = definition->cpu_max_percent,
        .privileged = definition->privileged,
        .ids_first = about->ids_first,
    };
    spec_network(a, about, ret_spec);
    spec_volumes(a, definition->volume_mounts, definition->n_volume_mounts, ret_spec);
    spec_log(definition->log_rate_limit, ret_spec);
    spec_egress(a, definition->egress_rules, definition->n_egress_rules, about, ret_spec);
    const struct tree_parts parts = tree_parts_of_task(a, definition);
    const struct variable_list env = {definition->environment_variables,
                                      definition->n_environment_variables};
    const struct surroundings around = surroundings_of(about, address, env, image, &parts);
    spec_layers(a, image, ret_spec);
    spec_processes(a, &around, &parts, ret_spec);
}

/* ---- Units ----------------------------------------------------------------------------------- */

/* Without an action it has no command. */
int spec_check_unit(const Models__DesiredLRP *run, struct err *err)
{
    SCOPED_ARENA(scratch);
    struct image_name name;
    if (run->action && !run->action->run_action) {
        return err_set(err, ERR_INVALID, "the command of a unit is one program");
    }
    return run->action ? spec_check(run, err)
                       : image_name_parse(&scratch, run->root_fs, &name, err);
}

Rep__Note *spec_note_unit(const Rep__Note *reserved, const Models__DesiredLRP *run,
                          const struct port_pair *ports, size_t port_count)
{
    SCOPED_ARENA(scratch);
    Rep__Note note = *reserved; /* shallow: copied deeply below, the original stays whole */
    note.root_fs = run->root_fs;
    note.max_pids = run->max_pids;
    note.metric_guid = run->metrics_guid;
    const struct tree_parts parts = tree_parts_of(&scratch, run);
    note.log_source = (char *)(uintptr_t)source_of(&parts);
    if (!note.joined[0]) { /* else it has its principal's */
        note_ports(&scratch, &note, ports, port_count);
    }
    return note_copy(&note);
}

void spec_make_unit(struct arena *a, const Models__DesiredLRP *run, const Rep__Note *about,
                    const char *address, const Rep__Image *image, struct container_spec *ret_spec)
{
    spec_around(a, run, about, image, ret_spec);
    struct step_process all = spec_process_of_unit(a, run, about, address, 0);
    ret_spec->idle = true;
    ret_spec->env = all.env;
    ret_spec->env_count = all.env_count;
    ret_spec->dir = all.dir;
    ret_spec->user = all.user;
}

struct step_process spec_process_of_unit(struct arena *a, const Models__DesiredLRP *run,
                                         const Rep__Note *about, const char *address,
                                         uint32_t number)
{
    static const Models__RunAction none = MODELS__RUN_ACTION__INIT;
    const struct tree_parts parts = tree_parts_of(a, run);
    const struct variable_list env = {run->environment_variables, run->n_environment_variables};
    const struct surroundings around =
        surroundings_of(about, address, env, about->unit->image, &parts);
    const Models__RunAction *action = run->action ? run->action->run_action : NULL;
    return process_of(a, &around, action ? action : &none, number);
}
