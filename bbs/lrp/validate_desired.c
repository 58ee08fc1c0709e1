/* Desired LRPs: desire and update (behaviour.md 8.1, 8.3). */
#include "bbs/lrp/validate.h"

#include "bbs/lrp/validate_url.h"
#include "common/codec/json_syntax.h"
#include "common/model/pool_tag.h"
#include "common/model/sealed_values.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool good_guid(const char *guid)
{
    for (const char *c = guid; *c; c++) {
        if (!is_letter(*c) && !is_digit(*c) && *c != '-' && *c != '_') {
            return false;
        }
    }
    return guid[0] != '\0';
}

void not_negative(struct validation *v, int32_t value, const char *field)
{
    if (value < 0) {
        say_field(v, field);
    }
}

static void valid_instances(struct validation *v, int32_t instances)
{
    if (instances < 0 || instances > INSTANCES_MAX) {
        say_field(v, "instances");
    }
}

void valid_annotation(struct validation *v, const char *annotation)
{
    if (strlen(annotation) > ANNOTATION_BYTES_MAX) {
        say_field(v, "annotation");
    }
}

/* Ours: REPLACE or HOLD, MOVE or STAY. What a newer version may know is refused, for it would not
 * be obeyed. */
static void valid_on_cell_loss(struct validation *v, Models__OnCellLoss policy)
{
    if (policy != MODELS__ON_CELL_LOSS__REPLACE && policy != MODELS__ON_CELL_LOSS__HOLD) {
        say_field(v, "on_cell_loss");
    }
}

static void valid_on_evacuate(struct validation *v, Models__OnEvacuate policy)
{
    if (policy != MODELS__ON_EVACUATE__MOVE && policy != MODELS__ON_EVACUATE__STAY) {
        say_field(v, "on_evacuate");
    }
}

/* A tag of a node pool is given by the board: whoever bore one could take a pool's cell. */
void valid_placement_tags(struct validation *v, char *const *tags, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pool_tag_is(tags[i])) {
            say_field(v, "placement_tags");
            say(v, slice_tag_uid(tags[i])
                       ? "tags that begin with slice: are of slices, which only the CRM of a site "
                         "names"
                       : "tags that begin with pool: are of node pools, which only services and "
                         "jobs of systems name, by node_pool");
            return;
        }
    }
}

void valid_cpu_max(struct validation *v, uint32_t percent)
{
    if (percent > CPU_MAX_PERCENT_MAX) {
        say_field(v, "cpu_max_percent");
    }
}

/* Values are stored as JSON; what is not, does not fit into its place (behaviour.md 2). Nobody
 * looks into what is too long anyway. */
static void valid_routes(struct validation *v, const Models__ProtoRoutes *routes)
{
    size_t bytes = 0;
    size_t count = routes ? routes->n_routes : 0;
    for (size_t i = 0; i < count; i++) {
        bytes += routes->routes[i]->value.len;
    }
    if (bytes > ROUTES_BYTES_MAX) {
        say_field(v, "routes");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ProtobufCBinaryData value = routes->routes[i]->value;
        if (!json_syntax_valid((struct bytes){value.data, value.len})) {
            v->unstorable = true;
        }
    }
}

/* Exactly one of a text and a known dynamic value. */
static bool good_tag(const Models__MetricTagValue *value)
{
    bool text = value && value->static_[0];
    bool dynamic =
        value && (value->dynamic == MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX ||
                  value->dynamic == MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INSTANCE_GUID);
    return text != dynamic;
}

/* `values` of the tags, in the order of the wire. */
static void valid_tags(struct validation *v, const Models__MetricTagValue *const *values,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!good_tag(values[i])) {
            say_field(v, "static");
            say_field(v, "dynamic");
        }
    }
}

/* Says the field and then what `inner` holds, if anything; ends `inner`. */
static void say_inner(struct validation *v, const char *field, struct validation *inner)
{
    if (!validation_ok(inner)) {
        say_field(v, field);
        say(v, validation_text(inner));
    }
    validation_done(inner);
}

static void valid_desired_tags(struct validation *v, const Models__DesiredLRP *d)
{
    SCOPED_ARENA(a);
    const Models__MetricTagValue **values =
        ARENA_ARRAY(&a, d->n_metric_tags, const Models__MetricTagValue *);
    const Models__MetricTagValue *source = NULL;
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        values[i] = d->metric_tags[i]->value;
        if (strcmp(d->metric_tags[i]->key, "source_id") == 0) {
            source = values[i];
        }
    }
    if (d->n_metric_tags == 0) {
        say_field(v, "metric_tags");
    }
    struct validation inner = {0};
    valid_tags(&inner, values, d->n_metric_tags);
    if (d->metrics_guid[0] && d->n_metric_tags > 0 &&
        (!source || strcmp(source->static_, d->metrics_guid) != 0)) {
        say_field(&inner, "source_id should match metrics_guid");
    }
    say_inner(v, "metric_tags", &inner);
}

void valid_action_of(struct validation *v, const Models__Action *action, const char *field)
{
    struct validation inner = {0};
    valid_action(&inner, action);
    say_inner(v, field, &inner);
}

static void valid_environment(struct validation *v, const Models__DesiredLRP *d)
{
    for (size_t i = 0; i < d->n_environment_variables; i++) {
        if (!d->environment_variables[i]->name[0]) {
            say(v, "invalid field: name cannot be blank");
        }
    }
}

static void valid_egress(struct validation *v, const Models__DesiredLRP *d)
{
    for (size_t i = 0; i < d->n_egress_rules; i++) {
        struct validation inner = {0};
        valid_egress_rule(&inner, d->egress_rules[i]);
        say_inner(v, "egress_rules", &inner);
    }
}

void valid_dependencies(struct validation *v, Models__CachedDependency *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const Models__CachedDependency *c = list[i];
        struct validation inner = {0};
        if (!c->from[0]) {
            say_field(&inner, "from");
        }
        if (!c->to[0]) {
            say_field(&inner, "to");
        }
        valid_checksum(&inner, c->checksum_algorithm, c->checksum_value);
        say_inner(v, "cached_dependency", &inner);
    }
}

/* A digest without an algorithm is said twice, as Diego does. */
static void valid_digest(struct validation *v, const Models__ImageLayer *l)
{
    bool exclusive = l->layer_type == MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    bool algorithm =
        l->digest_algorithm != MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__DigestAlgorithmInvalid;
    bool known = l->digest_algorithm == MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA256 ||
                 l->digest_algorithm == MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA512;
    if ((l->digest_value[0] || exclusive) && !algorithm) {
        say_field(v, "digest_algorithm");
    }
    if ((algorithm || exclusive) && !l->digest_value[0]) {
        say_field(v, "digest_value");
    }
    if (l->digest_value[0] && !known) {
        say_field(v, "digest_algorithm");
    }
}

static void valid_layer(struct validation *v, const Models__ImageLayer *l)
{
    if (!l->url[0]) {
        say_field(v, "url");
    }
    if (!l->destination_path[0]) {
        say_field(v, "destination_path");
    }
    if (l->layer_type != MODELS__IMAGE_LAYER__TYPE__SHARED &&
        l->layer_type != MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE) {
        say_field(v, "layer_type");
    }
    if (l->media_type != MODELS__IMAGE_LAYER__MEDIA_TYPE__TGZ &&
        l->media_type != MODELS__IMAGE_LAYER__MEDIA_TYPE__TAR &&
        l->media_type != MODELS__IMAGE_LAYER__MEDIA_TYPE__ZIP) {
        say_field(v, "media_type");
    }
    valid_digest(v, l);
}

void valid_layers(struct validation *v, Models__ImageLayer *const *list, size_t count,
                  const char *legacy_download_user)
{
    bool exclusive = false;
    for (size_t i = 0; i < count; i++) {
        struct validation inner = {0};
        valid_layer(&inner, list[i]);
        say_inner(v, "image_layer", &inner);
        exclusive |= list[i]->layer_type == MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    }
    if (exclusive && !legacy_download_user[0]) {
        say_field(v, "legacy_download_user");
    }
}

static void valid_sidecars(struct validation *v, const Models__DesiredLRP *d)
{
    struct validation inner = {0};
    for (size_t i = 0; i < d->n_sidecars; i++) {
        const Models__Sidecar *s = d->sidecars[i];
        if (!s->action) {
            say(&inner, "invalid action type");
        } else {
            valid_action_of(&inner, s->action, "action");
        }
        not_negative(&inner, s->memory_mb, "memory_mb");
        not_negative(&inner, s->disk_mb, "disk_mb");
    }
    say_inner(v, "sidecars", &inner);
}

static void valid_mounts(struct validation *v, const Models__DesiredLRP *d)
{
    for (size_t i = 0; i < d->n_volume_mounts; i++) {
        const Models__VolumeMount *m = d->volume_mounts[i];
        if (!m->driver[0]) {
            say(v, "invalid volume_mount driver");
        }
        if (strcmp(m->mode, "r") != 0 && strcmp(m->mode, "rw") != 0) {
            say(v, "invalid volume_mount mode");
        }
        if (m->shared && !m->shared->volume_id[0]) {
            say(v, "invalid volume_mount volume id");
        }
    }
}

static void valid_check(struct validation *v, const Models__Check *c)
{
    uint32_t port = c->http_check ? c->http_check->port : c->tcp_check ? c->tcp_check->port : 0;
    if (c->tcp_check && c->http_check) {
        say_field(v, "check");
    } else if (port < 1 || port > 65535) {
        say_field(v, "port");
    }
}

static void valid_check_definition(struct validation *v, const Models__CheckDefinition *c)
{
    struct validation inner = {0};
    for (size_t i = 0; c && i < c->n_checks; i++) {
        valid_check(&inner, c->checks[i]);
    }
    for (size_t i = 0; c && i < c->n_readiness_checks; i++) {
        valid_check(&inner, c->readiness_checks[i]);
    }
    say_inner(v, "check_definition", &inner);
}

void valid_log_rate(struct validation *v, const Models__LogRateLimit *limit, const char *field)
{
    if (limit && limit->bytes_per_second < -1) {
        say_field(v, field);
    }
}

/* Values are sealed by the board alone, when a component of a system is targeted: one that a client
 * brings was sealed for another place, or by nobody. */
void valid_unsealed(struct validation *v, const ProtobufCMessage *definition)
{
    if (definition && sealed_values_any(definition)) {
        say(v, "secrets are of systems: deploy one that needs it (docs/systems.md, Secrets)");
    }
}

void valid_image_credentials(struct validation *v, const char *username, const char *password)
{
    if (password[0] && !username[0]) {
        say_field(v, "image_username");
    }
    if (username[0] && !password[0]) {
        say_field(v, "image_password");
    }
}

/* The scheduling half, up to the key. */
static void valid_scheduling(struct validation *v, const Models__DesiredLRP *d)
{
    if (!d->domain[0]) {
        say_field(v, "domain");
    }
    if (!d->root_fs[0]) {
        say_field(v, "rootfs");
    }
    if (!valid_url(d->root_fs)) {
        say_field(v, "rootfs");
    }
    valid_instances(v, d->instances);
    not_negative(v, d->memory_mb, "memory_mb");
    not_negative(v, d->disk_mb, "disk_mb");
    valid_log_rate(v, d->log_rate_limit, "log_rate_limit_bytes_per_second");
    valid_annotation(v, d->annotation);
    not_negative(v, d->max_pids, "max_pids");
    valid_routes(v, d->routes);
    valid_desired_tags(v, d);
}

/* The run half, from the key on. */
static void valid_running(struct validation *v, const Models__DesiredLRP *d)
{
    if (!d->domain[0]) {
        say_field(v, "domain");
    }
    if (!good_guid(d->process_guid)) {
        say_field(v, "process_guid");
    }
    if (d->setup) {
        valid_action_of(v, d->setup, "setup");
    }
    if (!d->action) {
        say(v, "invalid action type");
    } else {
        valid_action_of(v, d->action, "action");
    }
    if (d->monitor) {
        valid_action_of(v, d->monitor, "monitor");
    }
    valid_environment(v, d);
    valid_egress(v, d);
    valid_dependencies(v, d->cached_dependencies, d->n_cached_dependencies);
    valid_layers(v, d->image_layers, d->n_image_layers, d->legacy_download_user);
    valid_sidecars(v, d);
    valid_mounts(v, d);
    valid_image_credentials(v, d->image_username,
                            d->sealed_image_password ? SEALED_SHOWN : d->image_password);
    valid_check_definition(v, d->check_definition);
    valid_log_rate(v, d->log_rate_limit, "log_rate_limit");
}

void valid_of_client(struct validation *v, const Models__DesiredLRP *desired)
{
    valid_unsealed(v, desired ? &desired->base : NULL);
    if (desired && *desired->slice) {
        say_field(v, "slice");
        say(v, "only the CRM of a site asks for what runs in a slice");
    }
}

void valid_desire(struct validation *v, const Models__DesiredLRP *d)
{
    if (!d) {
        say_field(v, "desired_lrp");
        return;
    }
    valid_scheduling(v, d);
    valid_running(v, d);
    valid_on_cell_loss(v, d->on_cell_loss);
    valid_on_evacuate(v, d->on_evacuate);
    valid_cpu_max(v, d->cpu_max_percent);
    valid_placement_tags(v, d->placementtags, d->n_placementtags);
    check_length(v, d->process_guid, NAME_CHARACTERS_MAX);
    check_length(v, d->domain, NAME_CHARACTERS_MAX);
    check_length(v, d->log_guid, NAME_CHARACTERS_MAX);
    check_length(v, d->root_fs, ROOT_FS_CHARACTERS_MAX);
}

void valid_update(struct validation *v, const Models__UpdateDesiredLRPRequest *request)
{
    const Models__DesiredLRPUpdate *u = request->update;
    valid_process_guid(v, request->process_guid);
    if (!u) {
        return; /* an empty update (behaviour.md 8.3) */
    }
    if (u->optional_instances_case == MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES) {
        valid_instances(v, u->instances);
    }
    if (u->optional_annotation_case == MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION) {
        valid_annotation(v, u->annotation);
    }
    valid_routes(v, u->routes);
    SCOPED_ARENA(a);
    const Models__MetricTagValue **values =
        ARENA_ARRAY(&a, u->n_metric_tags, const Models__MetricTagValue *);
    for (size_t i = 0; i < u->n_metric_tags; i++) {
        values[i] = u->metric_tags[i]->value;
    }
    struct validation inner = {0};
    valid_tags(&inner, values, u->n_metric_tags);
    say_inner(v, "metric_tags", &inner);
    if (u->optional_on_cell_loss_case ==
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_CELL_LOSS_ON_CELL_LOSS) {
        valid_on_cell_loss(v, u->on_cell_loss);
    }
    if (u->optional_on_evacuate_case ==
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE) {
        valid_on_evacuate(v, u->on_evacuate);
    }
}
