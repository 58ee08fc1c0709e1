/* Validation of DesiredLRPs: a row for every rule of behaviour.md 8.1, 8.3 and 9, the limits of 18,
 * and a row where nothing is wrong. Each row changes a valid request in one point. */
#include "models/check_definition.pb-c.h"
#include "models/image_layer.pb-c.h"
#include "models/sidecar.pb-c.h"
#include "test/decide/validate_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

static Models__DesiredLRP__MetricTagsEntry *tag(struct arena *a, const char *key,
                                                const char *value, int dynamic)
{
    Models__DesiredLRP__MetricTagsEntry *e =
        NEW(a, Models__DesiredLRP__MetricTagsEntry, models__desired_lrp__metric_tags_entry);
    e->key = TEXT(key);
    e->value = NEW(a, Models__MetricTagValue, models__metric_tag_value);
    e->value->static_ = TEXT(value);
    e->value->dynamic = (Models__MetricTagValue__DynamicValue)dynamic;
    return e;
}

static Models__DesiredLRP *valid(struct arena *a)
{
    Models__DesiredLRP *d = NEW(a, Models__DesiredLRP, models__desired_lrp);
    d->process_guid = TEXT("web-1_A");
    d->domain = TEXT("d");
    d->root_fs = TEXT("preloaded:busybox");
    d->action = run_action(a);
    d->n_metric_tags = 1;
    d->metric_tags = ARENA_ARRAY(a, 3, Models__DesiredLRP__MetricTagsEntry *);
    d->metric_tags[0] = tag(a, "source_id", "s", 0);
    return d;
}

/* ---- desire ---------------------------------------------------------------------------------- */

typedef void change_desired(struct arena *a, Models__DesiredLRP *d);

/* A nested function a row: what the row changes. */
#define CHANGE(name) static void name(struct arena *a, Models__DesiredLRP *d)
#define UNUSED (void)a, (void)d

CHANGE(nothing) { UNUSED; }
CHANGE(everything) { (void)a; models__desired_lrp__init(d); }
#define OF_POOLS                                                                                   \
    "Invalid field: placement_tags, tags that begin with pool: are of node pools, which only "    \
    "services and jobs of systems name, by node_pool"
CHANGE(pool_tag)
{
    d->n_placementtags = 3;
    d->placementtags = ARENA_ARRAY(a, 3, char *);
    d->placementtags[0] = TEXT("ssd");
    d->placementtags[1] = TEXT("pool:u//:main#1");
    d->placementtags[2] = TEXT("pool:");
}
CHANGE(pool_like_tags)
{
    pool_tag(a, d);
    d->placementtags[1] = TEXT("pool");
    d->placementtags[2] = TEXT("my pool:1");
}
CHANGE(no_domain) { d->domain = TEXT(""); }
CHANGE(no_root_fs) { d->root_fs = TEXT(""); }
CHANGE(root_fs_without_scheme) { d->root_fs = TEXT("foo"); }
CHANGE(root_fs_path) { d->root_fs = TEXT("/tmp/x"); }
CHANGE(root_fs_empty_scheme) { d->root_fs = TEXT(":x"); }
CHANGE(root_fs_bad_port) { d->root_fs = TEXT("docker://host:port/a"); }
CHANGE(root_fs_bad_escape) { d->root_fs = TEXT("docker:///a%zz"); }
CHANGE(root_fs_control) { d->root_fs = TEXT("preloaded:a\nb"); }
CHANGE(root_fs_layer) { d->root_fs = TEXT("preloaded+layer:x?layer=https://l/y.tgz"); }
CHANGE(root_fs_docker) { d->root_fs = TEXT("docker:///a/b#tag"); }
CHANGE(root_fs_host) { d->root_fs = TEXT("docker://host:5000/a/b"); }
CHANGE(instances) { (void)a; d->instances = -1; }
CHANGE(instances_most) { (void)a; d->instances = INSTANCES_MAX; }
CHANGE(instances_too_many) { (void)a; d->instances = INSTANCES_MAX + 1; }
CHANGE(memory) { (void)a; d->memory_mb = -1; }
CHANGE(cpu_max) { (void)a; d->cpu_max_percent = 100001; }
CHANGE(cpu_max_most) { (void)a; d->cpu_max_percent = 100000; }
CHANGE(disk) { (void)a; d->disk_mb = -1; }
CHANGE(max_pids) { (void)a; d->max_pids = -1; }
CHANGE(log_rate)
{
    d->log_rate_limit = NEW(a, Models__LogRateLimit, models__log_rate_limit);
    d->log_rate_limit->bytes_per_second = -2;
}
CHANGE(log_rate_unlimited)
{
    log_rate(a, d);
    d->log_rate_limit->bytes_per_second = -1;
}
CHANGE(annotation_longest) { d->annotation = repeated(a, "x", 10240); }
CHANGE(annotation_too_long) { d->annotation = repeated(a, "x", 10241); }

static void add_route(struct arena *a, Models__DesiredLRP *d, const char *value)
{
    if (!d->routes) {
        d->routes = NEW(a, Models__ProtoRoutes, models__proto_routes);
        d->routes->routes = ARENA_ARRAY(a, 4, Models__ProtoRoutes__RoutesEntry *);
    }
    Models__ProtoRoutes__RoutesEntry *e =
        NEW(a, Models__ProtoRoutes__RoutesEntry, models__proto_routes__routes_entry);
    e->key = TEXT("cf-router");
    e->value.data = (uint8_t *)TEXT(value);
    e->value.len = strlen(value);
    d->routes->routes[d->routes->n_routes++] = e;
}

CHANGE(routes_longest)
{
    add_route(a, d, arena_printf(a, "\"%s\"", repeated(a, "x", 65534)));
    add_route(a, d, arena_printf(a, "\"%s\"", repeated(a, "x", 65534)));
}
CHANGE(routes_too_long)
{
    routes_longest(a, d);
    add_route(a, d, "1");
}
CHANGE(routes_no_json) { add_route(a, d, "[{]"); }
CHANGE(routes_empty) { add_route(a, d, ""); }
CHANGE(routes_scalar) { add_route(a, d, " 17 "); }
CHANGE(routes_large_integer) { add_route(a, d, "[18446744073709551615]"); }
CHANGE(routes_large_real) { add_route(a, d, "{\"x\":-1e400}"); }
CHANGE(routes_half_pair) { add_route(a, d, "\"\\ud800\xff\""); }
CHANGE(routes_too_long_and_no_json)
{
    routes_too_long(a, d);
    add_route(a, d, "[{]");
}
CHANGE(routes_deepest)
{
    add_route(a, d, arena_printf(a, "%s%s", repeated(a, "[", 10000), repeated(a, "]", 10000)));
}
CHANGE(routes_too_deep)
{
    add_route(a, d, arena_printf(a, "%s%s", repeated(a, "[", 10001), repeated(a, "]", 10001)));
}
CHANGE(no_tags) { (void)a; d->n_metric_tags = 0; }
CHANGE(tag_empty) { d->metric_tags[d->n_metric_tags++] = tag(a, "k", "", 0); }
CHANGE(tag_both) { d->metric_tags[d->n_metric_tags++] = tag(a, "k", "v", 1); }
CHANGE(tag_unknown_dynamic) { d->metric_tags[d->n_metric_tags++] = tag(a, "k", "", 3); }
CHANGE(tag_two_bad)
{
    tag_empty(a, d);
    tag_both(a, d);
}
CHANGE(tag_dynamic) { d->metric_tags[d->n_metric_tags++] = tag(a, "k", "", 2); }
CHANGE(tag_no_value)
{
    tag_empty(a, d);
    d->metric_tags[1]->value = NULL;
}
CHANGE(metrics_guid_other) { d->metrics_guid = TEXT("t"); }
CHANGE(metrics_guid_same) { d->metrics_guid = TEXT("s"); }
CHANGE(metrics_guid_no_source)
{
    metrics_guid_same(a, d);
    d->metric_tags[0] = tag(a, "k", "s", 0);
}
CHANGE(tag_bad_and_no_source)
{
    metrics_guid_other(a, d);
    tag_both(a, d);
}
CHANGE(guid_slash) { d->process_guid = TEXT("a/b"); }
CHANGE(guid_space) { d->process_guid = TEXT("a b"); }
CHANGE(guid_dot) { d->process_guid = TEXT("a.b"); }
CHANGE(guid_letter) { d->process_guid = TEXT("\303\251"); }
CHANGE(guid_empty) { d->process_guid = TEXT(""); }
CHANGE(guid_longest) { d->process_guid = repeated(a, "x", 255); }
CHANGE(guid_too_long) { d->process_guid = repeated(a, "x", 256); }
CHANGE(domain_too_long) { d->domain = repeated(a, "x", 256); }
CHANGE(domain_of_long_characters) { d->domain = repeated(a, "\303\251", 255); }
CHANGE(log_guid_too_long) { d->log_guid = repeated(a, "x", 256); }
CHANGE(root_fs_longest) { d->root_fs = arena_printf(a, "x:%s", repeated(a, "y", 1022)); }
CHANGE(root_fs_too_long) { d->root_fs = arena_printf(a, "x:%s", repeated(a, "y", 1023)); }
CHANGE(setup_bad) { d->setup = NEW(a, Models__Action, models__action); }
CHANGE(no_action) { (void)a; d->action = NULL; }
CHANGE(action_empty) { d->action = NEW(a, Models__Action, models__action); }
CHANGE(action_run_empty)
{
    d->action->run_action = NEW(a, Models__RunAction, models__run_action);
}
CHANGE(monitor_bad) { d->monitor = NEW(a, Models__Action, models__action); }
CHANGE(environment)
{
    d->n_environment_variables = 2;
    d->environment_variables = ARENA_ARRAY(a, 2, Models__EnvironmentVariable *);
    d->environment_variables[0] =
        NEW(a, Models__EnvironmentVariable, models__environment_variable);
    d->environment_variables[1] =
        NEW(a, Models__EnvironmentVariable, models__environment_variable);
    d->environment_variables[1]->name = TEXT("N");
}
CHANGE(egress)
{
    d->n_egress_rules = 1;
    d->egress_rules = ARENA_ARRAY(a, 1, Models__SecurityGroupRule *);
    d->egress_rules[0] = NEW(a, Models__SecurityGroupRule, models__security_group_rule);
}
CHANGE(dependency)
{
    d->n_cached_dependencies = 1;
    d->cached_dependencies = ARENA_ARRAY(a, 1, Models__CachedDependency *);
    d->cached_dependencies[0] = NEW(a, Models__CachedDependency, models__cached_dependency);
    d->cached_dependencies[0]->checksum_value = TEXT("x");
}
CHANGE(layer)
{
    d->n_image_layers = 1;
    d->image_layers = ARENA_ARRAY(a, 1, Models__ImageLayer *);
    d->image_layers[0] = NEW(a, Models__ImageLayer, models__image_layer);
}
CHANGE(layer_exclusive)
{
    layer(a, d);
    d->image_layers[0]->url = TEXT("https://x");
    d->image_layers[0]->destination_path = TEXT("/x");
    d->image_layers[0]->layer_type = MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    d->image_layers[0]->media_type = MODELS__IMAGE_LAYER__MEDIA_TYPE__TGZ;
}
CHANGE(layer_exclusive_well)
{
    layer_exclusive(a, d);
    d->image_layers[0]->digest_algorithm = MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA256;
    d->image_layers[0]->digest_value = TEXT("abc");
    d->legacy_download_user = TEXT("vcap");
}
CHANGE(layer_shared_value_only)
{
    layer_exclusive(a, d);
    d->image_layers[0]->layer_type = MODELS__IMAGE_LAYER__TYPE__SHARED;
    d->image_layers[0]->digest_value = TEXT("abc");
}
CHANGE(layer_shared_algorithm_only)
{
    layer_shared_value_only(a, d);
    d->image_layers[0]->digest_value = TEXT("");
    d->image_layers[0]->digest_algorithm = MODELS__IMAGE_LAYER__DIGEST_ALGORITHM__SHA512;
}
CHANGE(layer_unknown_algorithm)
{
    layer_exclusive_well(a, d);
    d->image_layers[0]->digest_algorithm = (Models__ImageLayer__DigestAlgorithm)9;
}
CHANGE(layer_unknown_algorithm_only)
{
    layer_unknown_algorithm(a, d);
    d->image_layers[0]->digest_value = TEXT("");
}
CHANGE(layer_shared_bare)
{
    layer_shared_value_only(a, d);
    d->image_layers[0]->digest_value = TEXT("");
}
CHANGE(sidecar)
{
    d->n_sidecars = 1;
    d->sidecars = ARENA_ARRAY(a, 2, Models__Sidecar *);
    d->sidecars[0] = NEW(a, Models__Sidecar, models__sidecar);
    d->sidecars[0]->memory_mb = -1;
    d->sidecars[0]->disk_mb = -1;
}
CHANGE(sidecar_bad_action)
{
    sidecar(a, d);
    d->sidecars[0]->memory_mb = d->sidecars[0]->disk_mb = 0;
    d->sidecars[0]->action = NEW(a, Models__Action, models__action);
}
CHANGE(sidecars_two_bad)
{
    sidecar_bad_action(a, d);
    d->sidecars[d->n_sidecars++] = NEW(a, Models__Sidecar, models__sidecar);
}
CHANGE(mount)
{
    d->n_volume_mounts = 1;
    d->volume_mounts = ARENA_ARRAY(a, 1, Models__VolumeMount *);
    d->volume_mounts[0] = NEW(a, Models__VolumeMount, models__volume_mount);
    d->volume_mounts[0]->shared = NEW(a, Models__SharedDevice, models__shared_device);
}
CHANGE(mount_well)
{
    mount(a, d);
    d->volume_mounts[0]->driver = TEXT("nfs");
    d->volume_mounts[0]->mode = TEXT("rw");
    d->volume_mounts[0]->shared->volume_id = TEXT("v");
}
CHANGE(username_only) { d->image_username = TEXT("u"); }
CHANGE(password_only) { d->image_password = TEXT("p"); }

static Models__Check *add_check(struct arena *a, Models__DesiredLRP *d)
{
    Models__Check *c = NEW(a, Models__Check, models__check);
    d->check_definition = NEW(a, Models__CheckDefinition, models__check_definition);
    d->check_definition->n_checks = 1;
    d->check_definition->checks = ARENA_ARRAY(a, 1, Models__Check *);
    d->check_definition->checks[0] = c;
    return c;
}

static void set_ports(struct arena *a, Models__Check *c, uint32_t tcp, uint32_t http)
{
    if (tcp) {
        c->tcp_check = NEW(a, Models__TCPCheck, models__tcpcheck);
        c->tcp_check->port = tcp;
    }
    if (http) {
        c->http_check = NEW(a, Models__HTTPCheck, models__httpcheck);
        c->http_check->port = http;
    }
}

CHANGE(check_none) { add_check(a, d); }
CHANGE(check_both) { set_ports(a, add_check(a, d), 80, 80); }
CHANGE(check_both_ports) { set_ports(a, add_check(a, d), 80, 65536); }
CHANGE(check_port) { set_ports(a, add_check(a, d), 65536, 0); }
CHANGE(policies_unknown)
{
    (void)a;
    d->on_cell_loss = (Models__OnCellLoss)2;
    d->on_evacuate = (Models__OnEvacuate)-1;
}
CHANGE(policies_well)
{
    (void)a;
    d->on_cell_loss = MODELS__ON_CELL_LOSS__HOLD;
    d->on_evacuate = MODELS__ON_EVACUATE__STAY;
}
CHANGE(check_well) { set_ports(a, add_check(a, d), 0, 65535); }
CHANGE(readiness_check)
{
    check_port(a, d);
    d->check_definition->readiness_checks = d->check_definition->checks;
    d->check_definition->n_readiness_checks = 1;
    d->check_definition->n_checks = 0;
}

static void desire(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    static const struct {
        change_desired *change;
        const char *text; /* "" = all is well */
    } rows[] = {
        {nothing, ""},
        {everything, "Invalid field: domain, Invalid field: rootfs, Invalid field: rootfs, "
                     "Invalid field: metric_tags, Invalid field: domain, "
                     "Invalid field: process_guid, invalid action type"},
        {pool_tag, OF_POOLS},
        {pool_like_tags, ""},
        {no_domain, "Invalid field: domain, Invalid field: domain"},
        {no_root_fs, "Invalid field: rootfs, Invalid field: rootfs"},
        {root_fs_without_scheme, FIELD("rootfs")},
        {root_fs_path, FIELD("rootfs")},
        {root_fs_empty_scheme, FIELD("rootfs")},
        {root_fs_bad_port, FIELD("rootfs")},
        {root_fs_bad_escape, FIELD("rootfs")},
        {root_fs_control, FIELD("rootfs")},
        {root_fs_layer, ""},
        {root_fs_docker, ""},
        {root_fs_host, ""},
        {instances, FIELD("instances")},
        {instances_most, ""},
        {instances_too_many, FIELD("instances")},
        {memory, FIELD("memory_mb")},
        {cpu_max, FIELD("cpu_max_percent")},
        {cpu_max_most, ""},
        {disk, FIELD("disk_mb")},
        {log_rate, FIELD("log_rate_limit_bytes_per_second") ", " FIELD("log_rate_limit")},
        {log_rate_unlimited, ""},
        {annotation_longest, ""},
        {annotation_too_long, FIELD("annotation")},
        {max_pids, FIELD("max_pids")},
        {routes_longest, ""},
        {routes_too_long, FIELD("routes")},
        {routes_no_json, INVALID},
        {routes_empty, INVALID},
        {routes_scalar, ""},
        {routes_large_integer, ""},
        {routes_large_real, ""},
        {routes_half_pair, ""},
        {routes_deepest, ""},
        {routes_too_deep, INVALID},
        {routes_too_long_and_no_json, FIELD("routes")},
        {no_tags, FIELD("metric_tags")},
        {tag_empty, FIELD("metric_tags") ", " FIELD("static") ", " FIELD("dynamic")},
        {tag_both, FIELD("metric_tags") ", " FIELD("static") ", " FIELD("dynamic")},
        {tag_unknown_dynamic, FIELD("metric_tags") ", " FIELD("static") ", " FIELD("dynamic")},
        {tag_no_value, FIELD("metric_tags") ", " FIELD("static") ", " FIELD("dynamic")},
        {tag_two_bad, FIELD("metric_tags") ", " FIELD("static") ", " FIELD("dynamic") ", " FIELD(
                          "static") ", " FIELD("dynamic")},
        {tag_dynamic, ""},
        {metrics_guid_other,
         FIELD("metric_tags") ", " FIELD("source_id should match metrics_guid")},
        {metrics_guid_no_source,
         FIELD("metric_tags") ", " FIELD("source_id should match metrics_guid")},
        {metrics_guid_same, ""},
        {tag_bad_and_no_source, FIELD("metric_tags") ", " FIELD("static") ", " FIELD(
                                    "dynamic") ", " FIELD("source_id should match metrics_guid")},
        {guid_slash, FIELD("process_guid")},
        {guid_space, FIELD("process_guid")},
        {guid_dot, FIELD("process_guid")},
        {guid_letter, FIELD("process_guid")},
        {guid_empty, FIELD("process_guid")},
        {guid_longest, ""},
        {guid_too_long, INVALID},
        {domain_too_long, INVALID},
        {domain_of_long_characters, ""},
        {log_guid_too_long, INVALID},
        {root_fs_longest, ""},
        {root_fs_too_long, INVALID},
        {setup_bad, FIELD("setup") ", " FIELD("inner-action")},
        {no_action, "invalid action type"},
        {action_empty, FIELD("action") ", " FIELD("inner-action")},
        {action_run_empty, FIELD("action") ", " FIELD("path") ", " FIELD("user")},
        {monitor_bad, FIELD("monitor") ", " FIELD("inner-action")},
        {environment, "invalid field: name cannot be blank"},
        {egress, FIELD("egress_rules") ", " FIELD("protocol") ", " FIELD(
                     "destinations [ Must have at least 1 destination ]")},
        {dependency, FIELD("cached_dependency") ", " FIELD("from") ", " FIELD("to") ", " FIELD(
                         "checksum algorithm")},
        {layer, FIELD("image_layer") ", " FIELD("url") ", " FIELD("destination_path") ", " FIELD(
                    "layer_type") ", " FIELD("media_type")},
        {layer_exclusive, FIELD("image_layer") ", " FIELD("digest_algorithm") ", " FIELD(
                              "digest_value") ", " FIELD("legacy_download_user")},
        {layer_exclusive_well, ""},
        {layer_shared_value_only, FIELD("image_layer") ", " FIELD("digest_algorithm") ", " FIELD(
                                      "digest_algorithm")},
        {layer_shared_algorithm_only, FIELD("image_layer") ", " FIELD("digest_value")},
        {layer_unknown_algorithm, FIELD("image_layer") ", " FIELD("digest_algorithm")},
        {layer_unknown_algorithm_only, FIELD("image_layer") ", " FIELD("digest_value")},
        {layer_shared_bare, ""},
        {sidecar, FIELD("sidecars") ", invalid action type, " FIELD("memory_mb") ", " FIELD(
                      "disk_mb")},
        {sidecar_bad_action, FIELD("sidecars") ", " FIELD("action") ", " FIELD("inner-action")},
        {sidecars_two_bad, FIELD("sidecars") ", " FIELD("action") ", " FIELD(
                               "inner-action") ", invalid action type"},
        {mount, "invalid volume_mount driver, invalid volume_mount mode, "
                "invalid volume_mount volume id"},
        {mount_well, ""},
        {username_only, FIELD("image_password")},
        {password_only, FIELD("image_username")},
        {check_none, FIELD("check_definition") ", " FIELD("port")},
        {check_both, FIELD("check_definition") ", " FIELD("check")},
        {check_both_ports, FIELD("check_definition") ", " FIELD("check")},
        {check_port, FIELD("check_definition") ", " FIELD("port")},
        {readiness_check, FIELD("check_definition") ", " FIELD("port")},
        {check_well, ""},
        {policies_unknown, FIELD("on_cell_loss") ", " FIELD("on_evacuate")},
        {policies_well, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        Models__DesiredLRP *d = valid(a);
        rows[i].change(a, d);
        valid_desire(&v, d);
        assert_string_equal(said(a, &v), rows[i].text);
    }
    struct validation v = {0};
    valid_desire(&v, NULL);
    assert_string_equal(said(a, &v), FIELD("desired_lrp"));
}

/* ---- update ---------------------------------------------------------------------------------- */

static const char *update_text(struct arena *a, const Models__UpdateDesiredLRPRequest *r)
{
    struct validation v = {0};
    valid_update(&v, r);
    return said(a, &v);
}

static void update(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    Models__UpdateDesiredLRPRequest r = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPUpdate u = MODELS__DESIRED_LRPUPDATE__INIT;
    assert_string_equal(update_text(a, &r), FIELD("process_guid"));
    r.process_guid = TEXT("not/matched against the pattern");
    assert_string_equal(update_text(a, &r), "");
    r.update = &u;
    assert_string_equal(update_text(a, &r), "");
    u.optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    u.instances = -1;
    assert_string_equal(update_text(a, &r), FIELD("instances"));
    u.instances = 0;
    assert_string_equal(update_text(a, &r), "");
    u.optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    u.annotation = repeated(a, "x", 10241);
    assert_string_equal(update_text(a, &r), FIELD("annotation"));
    u.annotation = repeated(a, "x", 10240);
    assert_string_equal(update_text(a, &r), "");
    Models__DesiredLRP with_routes = MODELS__DESIRED_LRP__INIT;
    routes_too_long(a, &with_routes);
    u.routes = with_routes.routes;
    assert_string_equal(update_text(a, &r), FIELD("routes"));
    with_routes.routes = NULL;
    routes_no_json(a, &with_routes);
    u.routes = with_routes.routes;
    assert_string_equal(update_text(a, &r), INVALID);
    u.routes = NULL;
    u.on_cell_loss = (Models__OnCellLoss)2; /* not asked */
    assert_string_equal(update_text(a, &r), "");
    u.optional_on_cell_loss_case =
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_CELL_LOSS_ON_CELL_LOSS;
    u.optional_on_evacuate_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE;
    u.on_evacuate = (Models__OnEvacuate)2;
    assert_string_equal(update_text(a, &r), FIELD("on_cell_loss") ", " FIELD("on_evacuate"));
    u.on_cell_loss = MODELS__ON_CELL_LOSS__HOLD;
    u.on_evacuate = MODELS__ON_EVACUATE__STAY;
    assert_string_equal(update_text(a, &r), "");
    Models__DesiredLRPUpdate__MetricTagsEntry entry =
        MODELS__DESIRED_LRPUPDATE__METRIC_TAGS_ENTRY__INIT;
    Models__DesiredLRPUpdate__MetricTagsEntry *entries[] = {&entry};
    u.metric_tags = entries;
    u.n_metric_tags = 1;
    assert_string_equal(update_text(a, &r),
                        FIELD("metric_tags") ", " FIELD("static") ", " FIELD("dynamic"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(desire),
        TEST(update),
    };
    return cmocka_run_group_tests_name("validate desired", tests, NULL, NULL);
}
