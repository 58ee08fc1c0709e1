/* From a DesiredLRP to the driver's spec and the rep's note; the capacity's arithmetic. */
#include "rep/container/capacity.h"
#include "rep/container/container.h"
#include "rep/container/note.h"
#include "rep/container/spec.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* A DesiredLRP with a run action, to be changed by the test; all on the test's stack. */
struct desired {
    Models__DesiredLRP lrp;
    Models__Action action;
    Models__RunAction run;
    Models__ModificationTag tag;
};

static void desired_init(struct desired *d)
{
    models__desired_lrp__init(&d->lrp);
    models__action__init(&d->action);
    models__run_action__init(&d->run);
    models__modification_tag__init(&d->tag);
    d->lrp.root_fs = (char *)"preloaded:busybox";
    d->lrp.action = &d->action;
    d->action.run_action = &d->run;
    d->lrp.modification_tag = &d->tag;
    d->tag.epoch = (char *)"e-1";
    d->run.path = (char *)"/bin/sh";
    d->run.user = (char *)"nobody";
}

static void what_no_cell_can_do_is_named(void **state)
{
    struct desired d;
    struct err err;
    desired_init(&d);
    assert_int_equal(spec_check(&d.lrp, &err), 0);

    Models__Action other = MODELS__ACTION__INIT;
    d.lrp.action = &other;
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_INVALID);
    assert_string_equal(err.text, "the definition has no action");
    d.lrp.action = NULL;
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_INVALID);
    assert_string_equal(err.text, "the definition has no action");

    desired_init(&d);
    d.lrp.monitor = &other;
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_INVALID);
    assert_string_equal(err.text, "the definition has no action");
    Models__DownloadAction download = MODELS__DOWNLOAD_ACTION__INIT;
    other.download_action = &download;
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_INVALID);
    assert_string_equal(err.text, "the monitor of the definition has a download or an upload: it "
                                  "can only run programs");
    Models__Action many = MODELS__ACTION__INIT, *all[STEPS_MAX - 4];
    Models__SerialAction serial = MODELS__SERIAL_ACTION__INIT;
    for (size_t i = 0; i < STEPS_MAX - 4; i++) {
        all[i] = &d.action;
    }
    many.serial_action = &serial;
    serial.actions = all;
    d.lrp.monitor = &many;
    serial.n_actions = STEPS_MAX - 4; /* and the serial, the action, and the whole of each tree */
    assert_int_equal(spec_check(&d.lrp, &err), 0);
    d.lrp.setup = &d.action; /* one more step */
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_TOO_LARGE);
    assert_string_equal(err.text, "the definition has more than 1000 steps");
    other.download_action = NULL;
    desired_init(&d);
    d.lrp.setup = &other;
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_INVALID);
    assert_string_equal(err.text, "the definition has no action");
    Models__Action run = MODELS__ACTION__INIT;
    run.run_action = &d.run;
    d.lrp.setup = &run;
    assert_int_equal(spec_check(&d.lrp, &err), 0);
    d.lrp.root_fs = (char *)"preloaded+layer:a?layer=https://h/l";
    assert_int_equal(spec_check(&d.lrp, &err), -ERR_INVALID);
    assert_string_equal(err.text, "preloaded+layer needs layer, layer_path and layer_digest");
}

/* The runtime would say it in words of its own, and without the path. */
static void what_is_bound_has_a_place_of_its_own(void **state)
{
    static const struct {
        const char *to, *text; /* NULL: it is well */
    } rows[] = {
        {"/lifecycle", NULL}, {"name", NULL},     {"/opt/proc", NULL}, {"/dev/shm/x", NULL},
        {"/process", NULL},   {"/tmp/..a", NULL}, {"/a/../b/", NULL},
        {"/", "nothing can be mounted at \"/\": the root filesystem is there"},
        {"", "nothing can be mounted at \"\": the root filesystem is there"},
        {"/a/..", "nothing can be mounted at \"/a/..\": the root filesystem is there"},
        {"/proc", "nothing can be mounted at \"/proc\": the container has its own /proc"},
        {"proc/", "nothing can be mounted at \"proc/\": the container has its own /proc"},
        {"/./a/../../proc//1",
         "nothing can be mounted at \"/./a/../../proc//1\": the container has its own /proc"},
        {"/sys/fs", "nothing can be mounted at \"/sys/fs\": the container has its own /sys"},
        {"//dev/", "nothing can be mounted at \"//dev/\": the container has its own /dev"},
    };
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        struct desired d;
        struct err err = {0};
        Models__CachedDependency dependency = MODELS__CACHED_DEPENDENCY__INIT;
        Models__CachedDependency *dependencies[] = {&dependency};
        Models__ImageLayer layer = MODELS__IMAGE_LAYER__INIT;
        Models__ImageLayer *layers[] = {&layer};
        const char *text = rows[i / 2].text;
        char *to = (char *)(uintptr_t)rows[i / 2].to;
        desired_init(&d);
        Models__TaskDefinition task = MODELS__TASK_DEFINITION__INIT;
        task.root_fs = d.lrp.root_fs;
        task.action = d.lrp.action;
        dependency.to = to;
        layer.destination_path = to;
        layer.layer_type = MODELS__IMAGE_LAYER__TYPE__SHARED;
        d.lrp.cached_dependencies = task.cached_dependencies = dependencies;
        d.lrp.image_layers = task.image_layers = layers;
        *(i % 2 ? &d.lrp.n_cached_dependencies : &d.lrp.n_image_layers) = 1;
        task.n_cached_dependencies = d.lrp.n_cached_dependencies;
        task.n_image_layers = d.lrp.n_image_layers;
        assert_int_equal(spec_check(&d.lrp, &err), text ? -ERR_INVALID : 0);
        assert_string_equal(err.text, text ? text : "");
        err = (struct err){0};
        assert_int_equal(spec_check_task(&task, &err), text ? -ERR_INVALID : 0);
        assert_string_equal(err.text, text ? text : "");
    }
}

static Rep__Note *note_of(struct desired *d, const struct port_pair *ports, size_t count)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)"web";
    key.index = 3;
    key.domain = (char *)"d";
    Rep__Note reserved = REP__NOTE__INIT;
    reserved.format = NOTE_FORMAT;
    reserved.key = &key;
    reserved.instance_guid = (char *)"i-1";
    return spec_note(&reserved, &d->lrp, ports, count);
}

/* Of a root filesystem's name; its files belong to the container's root, who may write them. */
static void the_layer_of_a_name_is_unpacked_first(void **state)
{
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    SCOPED_ARENA(a);
    struct desired d;
    struct container_spec spec;
    desired_init(&d);
    d.lrp.root_fs = (char *)"preloaded+layer:a?layer=https%3A%2F%2Fh%2Fl.tgz&layer_path=%2Fopt"
                            "&layer_digest=sha256:" HEX;
    assert_int_equal(spec_check(&d.lrp, NULL), 0);
    Rep__Note *note = note_of(&d, NULL, 0);
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_int_equal(spec.step_count, 2);
    const struct file_transfer *t = spec.steps[0].transfer;
    assert_non_null(t);
    assert_false(t->bound);
    assert_string_equal(t->url, "https://h/l.tgz");
    assert_string_equal(t->path, "/opt");
    assert_string_equal(t->checksum_algorithm, "sha256");
    assert_string_equal(t->checksum_value, HEX);
    assert_string_equal(spec.steps[0].user, "");
    assert_string_equal(spec.steps[1].path, "/bin/sh");
    rep__note__free_unpacked(note, NULL);
}

/* Who brings what where, and whose it is. */
static void transfers_are_told_the_driver(void **state)
{
    SCOPED_ARENA(a);
    struct desired d;
    struct container_spec spec;
    desired_init(&d);
    Models__DownloadAction download = MODELS__DOWNLOAD_ACTION__INIT;
    Models__UploadAction upload = MODELS__UPLOAD_ACTION__INIT;
    Models__CachedDependency dependency = MODELS__CACHED_DEPENDENCY__INIT;
    Models__CachedDependency *dependencies[] = {&dependency};
    Models__Action first = MODELS__ACTION__INIT, last = MODELS__ACTION__INIT;
    Models__Action *all[] = {&first, &d.action, &last};
    Models__SerialAction serial = MODELS__SERIAL_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    download.from = (char *)"http://d";
    download.to = (char *)"/to";
    download.user = (char *)"vcap";
    download.checksum_algorithm = (char *)"md5";
    download.checksum_value = (char *)"ab";
    upload.from = (char *)"/from";
    upload.to = (char *)"http://u";
    upload.user = (char *)"other";
    dependency.from = (char *)"http://c";
    dependency.to = (char *)"/lifecycle";
    dependency.cache_key = (char *)"key";
    first.download_action = &download;
    last.upload_action = &upload;
    serial.actions = all;
    serial.n_actions = 3;
    action.serial_action = &serial;
    d.run.dir = (char *)"/home";
    d.lrp.action = &action;
    d.lrp.cached_dependencies = dependencies;
    d.lrp.n_cached_dependencies = 1;
    Rep__Note *note = note_of(&d, NULL, 0);
    spec_make(&a, &d.lrp, note, "192.0.2.1", NULL, &spec);
    assert_int_equal(spec.step_count, 4);
    const struct file_transfer *t = spec.steps[0].transfer;
    assert_true(t->bound && t->way == TRANSFER_DOWNLOAD);
    assert_string_equal(t->url, "http://c");
    assert_string_equal(t->path, "/lifecycle");
    assert_string_equal(t->cache_key, "key");
    t = spec.steps[1].transfer;
    assert_true(!t->bound && t->way == TRANSFER_DOWNLOAD);
    assert_string_equal(t->path, "/to");
    assert_string_equal(t->checksum_algorithm, "md5");
    assert_string_equal(t->checksum_value, "ab");
    assert_string_equal(spec.steps[1].user, "vcap");
    assert_null(spec.steps[2].transfer);
    t = spec.steps[3].transfer;
    assert_int_equal(t->way, TRANSFER_UPLOAD);
    assert_string_equal(t->path, "/from");
    assert_string_equal(t->url, "http://u");
    assert_string_equal(spec.steps[3].user, "other");
    assert_string_equal(spec.dir, "/home"); /* the first program's */
    rep__note__free_unpacked(note, NULL);
}

static void the_note_resolves_tags_and_routes(void **state)
{
    struct desired d;
    desired_init(&d);
    Models__MetricTagValue values[3];
    Models__DesiredLRP__MetricTagsEntry entries[3];
    Models__DesiredLRP__MetricTagsEntry *tags[3];
    for (int i = 0; i < 3; i++) {
        models__metric_tag_value__init(&values[i]);
        models__desired_lrp__metric_tags_entry__init(&entries[i]);
        entries[i].key = (char *)(i == 0 ? "source_id" : i == 1 ? "index" : "guid");
        entries[i].value = &values[i];
        tags[i] = &entries[i];
    }
    values[0].static_ = (char *)"s";
    values[1].dynamic = MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INDEX;
    values[2].dynamic = MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__INSTANCE_GUID;
    d.lrp.n_metric_tags = 3;
    d.lrp.metric_tags = tags;

    static char routes[] = "[{\"hostname\":\"a.internal\"},{\"other\":1},{\"hostname\":2},7,"
                           "{\"hostname\":\"b.internal\"}]";
    Models__ProtoRoutes__RoutesEntry entry = MODELS__PROTO_ROUTES__ROUTES_ENTRY__INIT;
    entry.key = (char *)"internal-router";
    entry.value = (ProtobufCBinaryData){.data = (uint8_t *)routes, .len = sizeof(routes) - 1};
    Models__ProtoRoutes__RoutesEntry *list[] = {&entry};
    Models__ProtoRoutes all = MODELS__PROTO_ROUTES__INIT;
    all.n_routes = 1;
    all.routes = list;
    d.lrp.routes = &all;

    Rep__Note *note = note_of(&d, &(struct port_pair){8080, 61000}, 1);
    assert_string_equal(note->definition_id, "e-1");
    assert_string_equal(note->metric_tags[0]->value, "s");
    assert_string_equal(note->metric_tags[1]->value, "3");
    assert_string_equal(note->metric_tags[2]->value, "i-1");
    assert_int_equal(note->n_internal_routes, 2);
    assert_string_equal(note->internal_routes[1]->hostname, "b.internal");
    assert_int_equal(note->ports[0]->host_port, 61000);
    rep__note__free_unpacked(note, NULL);

    entry.value.len = 5; /* not JSON */
    note = note_of(&d, NULL, 0);
    assert_int_equal(note->n_internal_routes, 0);
    rep__note__free_unpacked(note, NULL);
}

/* The step's own, else the definition's, else LOG; nobody reads the log of an empty log_guid. */
static void the_note_knows_the_source_of_its_exit_text(void **state)
{
    static const struct {
        const char *of_step, *of_definition, *log_guid, *expected;
    } rows[] = {
        {"APP/WEB", "APP", "g", "APP/WEB"}, {"", "APP", "g", "APP"}, {"", "", "g", "LOG"},
        {"APP/WEB", "APP", "", "LOG"},      {"APP/WEB", "", "g", "APP/WEB"},
    };
    Rep__TaskNote of_task = REP__TASK_NOTE__INIT;
    Rep__Note reserved = REP__NOTE__INIT;
    reserved.task = &of_task;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct desired d;
        desired_init(&d);
        d.run.log_source = (char *)rows[i].of_step;
        d.lrp.log_source = (char *)rows[i].of_definition;
        d.lrp.log_guid = (char *)rows[i].log_guid;
        Rep__Note *note = note_of(&d, NULL, 0);
        assert_string_equal(note->log_source, rows[i].expected);
        rep__note__free_unpacked(note, NULL);

        Models__TaskDefinition task = MODELS__TASK_DEFINITION__INIT;
        task.action = &d.action;
        task.log_source = (char *)rows[i].of_definition;
        task.log_guid = (char *)rows[i].log_guid;
        note = spec_note_task(&reserved, &task);
        assert_string_equal(note->log_source, rows[i].expected);
        rep__note__free_unpacked(note, NULL);
    }
}

/* What never ran, or went with its shim, is no process's end: the driver's words stand alone. A
 * note of an older version knows no source. */
static void only_the_end_of_a_process_has_a_source(void **state)
{
    SCOPED_ARENA(a);
    struct container_status s = {.exit_code = 3};
    assert_string_equal(exit_text_of(&a, &s, "APP"), "APP: Exited with status 3");
    assert_string_equal(exit_text_of(&a, &s, ""), "LOG: Exited with status 3");
    s = (struct container_status){.exit_signal = 9, .oom_killed = true, .text = ""};
    assert_string_equal(exit_text_of(&a, &s, "APP"), "APP: Exited with status 137 (out of memory)");
    s = (struct container_status){.exit_code = 1, .disk_full = true, .text = ""};
    assert_string_equal(exit_text_of(&a, &s, "APP"), "APP: Exited with status 1 (out of disk)");
    s.text = "its shim was killed, and the container with it";
    assert_string_equal(exit_text_of(&a, &s, "APP"),
                        "its shim was killed, and the container with it");
}

static void later_environment_wins(void **state)
{
    struct desired d;
    desired_init(&d);
    static const char *const given[][2] = {
        {"A", "of the LRP"},
        {"INSTANCE_INDEX", "9"},
        {"PORT", "1"},
        {"A", "of the action"},
        {"PORT_9090", "2"},
        {"CF_INSTANCE_IP", "of the action"},
    };
    Models__EnvironmentVariable variables[6];
    Models__EnvironmentVariable *list[6];
    for (int i = 0; i < 6; i++) {
        models__environment_variable__init(&variables[i]);
        variables[i].name = (char *)given[i][0];
        variables[i].value = (char *)given[i][1];
        list[i] = &variables[i];
    }
    d.lrp.n_environment_variables = 3;
    d.lrp.environment_variables = list;
    d.run.n_env = 3;
    d.run.env = list + 3;
    SCOPED_ARENA(a);
    static const struct port_pair ports[] = {{8080, 61000}, {9090, 61001}};
    Rep__Note *note = note_of(&d, ports, 2);
    struct container_spec spec;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    static const char *const expected[][2] = {
        {"INSTANCE_GUID", "i-1"},   {"INSTANCE_INDEX", "9"}, {"CF_INSTANCE_GUID", "i-1"},
        {"CF_INSTANCE_INDEX", "3"}, {"A", "of the action"},  {"PORT", "61000"},
        {"PORT_8080", "61000"},     {"PORT_9090", "2"},      {"CF_INSTANCE_IP", "10.0.0.1"},
        {"CF_INSTANCE_INTERNAL_IP", "10.0.0.1"},
        {"CF_INSTANCE_PORT", "61000"},
        {"CF_INSTANCE_ADDR", "10.0.0.1:61000"},
        {"CF_INSTANCE_PORTS", "[{\"external\":61000,\"internal\":8080},"
                              "{\"external\":61001,\"internal\":9090}]"},
    };
    assert_int_equal(spec.env_count, 13);
    for (size_t i = 0; i < 13; i++) {
        assert_string_equal(spec.env[i].name, expected[i][0]);
        assert_string_equal(spec.env[i].value, expected[i][1]);
    }
    rep__note__free_unpacked(note, NULL);
}

static void a_program_is_as_its_action_says(void **state)
{
    struct desired d;
    desired_init(&d);
    char *args[] = {(char *)"-c", (char *)"true"};
    d.run.n_args = 2;
    d.run.args = args;
    Models__ResourceLimits limits = MODELS__RESOURCE_LIMITS__INIT;
    limits.optional_nofile_case = MODELS__RESOURCE_LIMITS__OPTIONAL_NOFILE_NOFILE;
    limits.nofile = 512;
    limits.optional_nproc_case = MODELS__RESOURCE_LIMITS__OPTIONAL_NPROC_NPROC;
    limits.nproc = 64;
    d.run.resource_limits = &limits;

    SCOPED_ARENA(a);
    Rep__Note *note = note_of(&d, NULL, 0);
    struct container_spec spec;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(spec.args[1], "true");
    assert_null(spec.args[2]);
    assert_int_equal(spec.nofile, 512);
    assert_int_equal(spec.nproc, 64);
    assert_int_equal(spec.cpu_weight, 0); /* as little is said as the LRP says */
    assert_string_equal(spec.user, "nobody");
    rep__note__free_unpacked(note, NULL);
}

static void its_log_has_a_source_and_a_limit(void **state)
{
    struct desired d;
    desired_init(&d);
    Models__LogRateLimit rate = MODELS__LOG_RATE_LIMIT__INIT;
    rate.bytes_per_second = 16384;
    d.lrp.log_rate_limit = &rate;
    d.lrp.log_guid = (char *)"guid";
    d.lrp.log_source = (char *)"APP";
    d.run.suppress_log_output = true;

    SCOPED_ARENA(a);
    Rep__Note *note = note_of(&d, NULL, 0);
    struct container_spec spec;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(spec.source, "APP");
    assert_true(spec.mute);
    assert_true(spec.log_limited);
    assert_int_equal(spec.log_rate, 16384);
    rate.bytes_per_second = -1;
    d.run.log_source = (char *)"WEB";
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(spec.source, "WEB");
    assert_false(spec.log_limited);
    rate.bytes_per_second = 0; /* nothing of it, and not no limit */
    d.lrp.log_guid = (char *)"";
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(spec.source, "LOG");
    assert_true(spec.log_limited);
    d.lrp.log_rate_limit = NULL;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_false(spec.log_limited);
    rep__note__free_unpacked(note, NULL);
}

static const char *value_of(const struct container_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->env_count; i++) {
        if (strcmp(spec->env[i].name, name) == 0) {
            return spec->env[i].value;
        }
    }
    return "(not set)";
}

/* PORT is ours, and no word of Diego's: what an action says itself of it stands. */
static void an_actions_own_port_wins(void **state)
{
    SCOPED_ARENA(a);
    struct desired d;
    struct container_spec spec;
    desired_init(&d);
    Models__EnvironmentVariable own = MODELS__ENVIRONMENT_VARIABLE__INIT;
    Models__EnvironmentVariable *list[] = {&own};
    own.name = (char *)"PORT";
    own.value = (char *)"3000";
    static const struct port_pair ports[] = {{8080, 61000}};
    Rep__Note *note = note_of(&d, ports, 1);
    d.run.n_env = 1;
    d.run.env = list;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(value_of(&spec, "PORT"), "3000");
    assert_string_equal(value_of(&spec, "PORT_8080"), "61000");
    rep__note__free_unpacked(note, NULL);
}

/* With a network of its own it listens where it said, or where its definition says. */
static void with_its_own_network_the_port_is_its_own(void **state)
{
    SCOPED_ARENA(a);
    struct desired d;
    struct container_spec spec;
    desired_init(&d);
    static const struct port_pair ports[] = {{8080, 61000}, {9090, 61001}};
    Rep__Note *note = note_of(&d, ports, 2);
    note->own_network = true;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(value_of(&spec, "PORT"), "8080");
    assert_string_equal(value_of(&spec, "PORT_8080"), "(not set)");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_ADDR"), "10.0.0.1:61000");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_INTERNAL_IP"), "");
    assert_string_equal(spec.address_variable, "CF_INSTANCE_INTERNAL_IP");

    Models__EnvironmentVariable own = MODELS__ENVIRONMENT_VARIABLE__INIT;
    Models__EnvironmentVariable *list[] = {&own};
    own.name = (char *)"PORT";
    own.value = (char *)"3000";
    d.lrp.n_environment_variables = 1;
    d.lrp.environment_variables = list;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(value_of(&spec, "PORT"), "3000");
    rep__note__free_unpacked(note, NULL);
}

static void egress_rules_go_along(void **state)
{
    SCOPED_ARENA(a);
    struct desired d;
    struct container_spec spec;
    desired_init(&d);
    Models__PortRange range = MODELS__PORT_RANGE__INIT;
    range.start = 80;
    range.end = 90;
    Models__SecurityGroupRule rule = MODELS__SECURITY_GROUP_RULE__INIT;
    Models__SecurityGroupRule *rules[] = {&rule};
    char *destinations[] = {(char *)"10.0.0.0/8"};
    rule.protocol = (char *)"tcp";
    rule.n_destinations = 1;
    rule.destinations = destinations;
    rule.port_range = &range;
    rule.log = true;
    d.lrp.n_egress_rules = 1;
    d.lrp.egress_rules = rules;
    Rep__Note *note = note_of(&d, NULL, 0);
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_int_equal(spec.egress_count, 0); /* the host's network: nothing filters it */
    assert_null(spec.address_variable);
    note->own_network = true;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_int_equal(spec.egress_count, 1);
    assert_string_equal(spec.egress[0].destinations[0], "10.0.0.0/8");
    assert_int_equal(spec.egress[0].first_port, 80);
    assert_int_equal(spec.egress[0].last_port, 90);
    assert_int_equal(spec.egress[0].icmp_type, -1);
    assert_true(spec.egress[0].log);
    rep__note__free_unpacked(note, NULL);
}

/* As Diego's executor: without ports the words are there and say so, for tasks as well. */
static void where_it_is_reached_is_reported(void **state)
{
    SCOPED_ARENA(a);
    struct desired d;
    struct container_spec spec;
    desired_init(&d);
    Rep__Note *note = note_of(&d, NULL, 0);
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(value_of(&spec, "CF_INSTANCE_IP"), "10.0.0.1");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_PORT"), "");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_ADDR"), "");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_PORTS"), "[]");
    assert_string_equal(value_of(&spec, "PORT"), "(not set)");
    rep__note__free_unpacked(note, NULL);

    /* A mapping without host port, and one with a TLS proxy's. */
    static const struct port_pair ports[] = {{8080, 0}, {9090, 61001}};
    note = note_of(&d, ports, 2);
    note->ports[1]->container_tls_proxy_port = 61002;
    note->ports[1]->host_tls_proxy_port = 61003;
    spec_make(&a, &d.lrp, note, "fd00::1", NULL, &spec);
    assert_string_equal(value_of(&spec, "CF_INSTANCE_PORT"), "");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_ADDR"), "");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_PORTS"),
                        "[{\"internal\":8080},{\"external\":61001,\"internal\":9090,"
                        "\"external_tls_proxy\":61003,\"internal_tls_proxy\":61002}]");
    note->ports[0]->host_port = 61000;
    spec_make(&a, &d.lrp, note, "fd00::1", NULL, &spec);
    assert_string_equal(value_of(&spec, "CF_INSTANCE_INTERNAL_IP"), "fd00::1");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_ADDR"), "[fd00::1]:61000");
    rep__note__free_unpacked(note, NULL);

    Rep__TaskNote of_task = REP__TASK_NOTE__INIT;
    Rep__Note reserved = REP__NOTE__INIT;
    Models__TaskDefinition task = MODELS__TASK_DEFINITION__INIT;
    reserved.task = &of_task;
    task.action = &d.action;
    note = spec_note_task(&reserved, &task);
    spec_make_task(&a, &task, note, "10.0.0.1", NULL, &spec);
    assert_string_equal(value_of(&spec, "CF_INSTANCE_IP"), "10.0.0.1");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_INTERNAL_IP"), "10.0.0.1");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_ADDR"), "");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_PORTS"), "[]");
    assert_string_equal(value_of(&spec, "CF_INSTANCE_INDEX"), "(not set)");
    rep__note__free_unpacked(note, NULL);
}

static void a_note_is_read_back_or_refused(void **state)
{
    struct desired d;
    desired_init(&d);
    Rep__Note *note = note_of(&d, NULL, 0), *back = NULL;
    SCOPED_BUF(b);
    struct err err;
    buf_message(&b, &note->base);
    assert_int_equal(note_read(buf_bytes(&b), "i-1", &back, &err), 0);
    assert_string_equal(back->key->process_guid, "web");
    rep__note__free_unpacked(back, NULL);
    back = NULL;
    assert_int_equal(note_read(buf_bytes(&b), "i-2", &back, &err), -ERR_INVALID);
    assert_null(back);
    note->format = NOTE_FORMAT + 1;
    buf_clear(&b);
    buf_message(&b, &note->base);
    assert_int_equal(note_read(buf_bytes(&b), "i-1", &back, &err), -ERR_INVALID);
    assert_int_equal(note_read((struct bytes){0}, "i-1", &back, &err), -ERR_INVALID);
    assert_null(back);
    rep__note__free_unpacked(note, NULL);
}

/* ---- Capacity -------------------------------------------------------------------------------- */

static void reserved_never_exceeds_capacity(void **state)
{
    struct capacity c;
    capacity_init(&c, (struct resources){100, 50, 3}, 5000, 5001);
    assert_true(capacity_take(&c, 100, 10));
    assert_false(capacity_take(&c, 1, 0));
    assert_false(capacity_take(&c, 0, 41));
    assert_false(capacity_take(&c, -1, 0));
    assert_false(capacity_take(&c, 0, -1));
    assert_true(capacity_take(&c, 0, 40));
    assert_true(capacity_take(&c, 0, 0));
    assert_false(capacity_take(&c, 0, 0)); /* no slot */
    capacity_give(&c, 100, 10);
    assert_true(capacity_take(&c, 100, 10));
    /* What runs already is there whatever the settings say; then nothing more is taken. */
    capacity_adopt(&c, 100, 0);
    assert_int_equal(capacity_left(&c).memory_mb, 0);
    assert_int_equal(capacity_left(&c).containers, 0);
    assert_false(capacity_take(&c, 0, 0));
}

static void ports_are_taken_once_and_rest(void **state)
{
    struct capacity c;
    capacity_init(&c, (struct resources){1, 1, 1}, 65533, 65535);
    capacity_port_adopt(&c, 65534);
    capacity_port_adopt(&c, 80); /* out of the range: of no concern */
    assert_int_equal(capacity_port_take(&c), 65533);
    assert_int_equal(capacity_port_take(&c), 65535);
    assert_int_equal(capacity_port_take(&c), 0);
    capacity_port_give(&c, 65535);
    capacity_port_give(&c, 65533);
    capacity_port_give(&c, 80);
    assert_int_equal(capacity_port_take(&c), 65533);
    capacity_port_give(&c, 65533);
    assert_int_equal(capacity_port_take(&c), 65535); /* not the one just given back */
    capacity_init(&c, (struct resources){1, 1, 1}, 0, 0);
    assert_int_equal(capacity_port_take(&c), 0);
    uint32_t next[1];
    assert_int_equal(capacity_ports_next(&c, next, 1), 0);
}

static void held_ports_are_passed_over(void **state)
{
    struct capacity c;
    uint32_t next[4];
    capacity_init(&c, (struct resources){1, 1, 1}, 65532, 65535);
    assert_true(capacity_port_hold(&c, 65533));
    assert_false(capacity_port_hold(&c, 65533)); /* told already */
    assert_false(capacity_port_hold(&c, 80));    /* out of the range: of no concern */
    assert_int_equal(capacity_port_take(&c), 65532);
    assert_int_equal(capacity_ports_next(&c, next, 4), 2);
    assert_int_equal(next[0], 65534);
    assert_int_equal(next[1], 65535);
    assert_int_equal(capacity_ports_next(&c, next, 1), 1);
    assert_int_equal(capacity_port_take(&c), 65534);
    assert_int_equal(capacity_port_take(&c), 65535);
    assert_int_equal(capacity_port_take(&c), 0);
    assert_true(capacity_ports_retry(&c));
    assert_false(capacity_ports_retry(&c));
    assert_int_equal(capacity_port_take(&c), 65533);
    capacity_port_give(&c, 65533);
    assert_false(capacity_port_hold(&c, 65533)); /* it was never found free */
    capacity_port_free(&c, 65533);
    assert_true(capacity_port_hold(&c, 65533));
}

/* A setup as one user, then serial(run run) as another, each with an environment of its own. */
static void each_step_has_its_own_process(void **state)
{
    struct desired d;
    SCOPED_ARENA(a);
    desired_init(&d);
    Models__RunAction runs[2] = {MODELS__RUN_ACTION__INIT, MODELS__RUN_ACTION__INIT};
    Models__EnvironmentVariable variable = MODELS__ENVIRONMENT_VARIABLE__INIT;
    Models__EnvironmentVariable *env[] = {&variable};
    Models__Action list[2] = {MODELS__ACTION__INIT, MODELS__ACTION__INIT};
    Models__Action *actions[] = {&list[0], &list[1]};
    Models__SerialAction serial = MODELS__SERIAL_ACTION__INIT;
    Models__Action both = MODELS__ACTION__INIT, setup = MODELS__ACTION__INIT;
    variable.name = (char *)"OWN";
    variable.value = (char *)"1";
    for (int i = 0; i < 2; i++) {
        runs[i].path = i ? (char *)"/bin/b" : (char *)"/bin/a";
        runs[i].user = (char *)"vcap";
        runs[i].dir = i ? (char *)"/second" : (char *)"/first";
        list[i].run_action = &runs[i];
    }
    runs[1].env = env;
    runs[1].n_env = 1;
    serial.actions = actions;
    serial.n_actions = 2;
    both.serial_action = &serial;
    setup.run_action = &d.run;
    d.lrp.action = &both;
    d.lrp.setup = &setup;
    struct err err;
    assert_int_equal(spec_check(&d.lrp, &err), 0);
    Rep__Note *note = note_of(&d, NULL, 0);
    assert_int_equal(note->n_steps, 5);
    Rep__Note *back;
    assert_int_equal(note_read(note_pack(&a, note), "i-1", &back, NULL), 0);
    assert_int_equal(back->steps[2]->kind, REP__STEP__KIND__SERIAL);
    rep__note__free_unpacked(back, NULL);
    struct container_spec spec;
    spec_make(&a, &d.lrp, note, "10.0.0.1", NULL, &spec);
    assert_null(spec.path);
    assert_int_equal(spec.step_count, 3);
    static const uint32_t numbers[] = {1, 3, 4};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(spec.steps[i].step, numbers[i]);
    }
    assert_string_equal(spec.steps[0].user, "nobody");
    assert_string_equal(spec.steps[2].path, "/bin/b");
    assert_string_equal(spec.dir, "/first"); /* where its result is looked for */
    assert_string_equal(spec.user, "vcap");
    assert_int_equal(spec.steps[2].env_count, spec.steps[1].env_count + 1);
    rep__note__free_unpacked(note, NULL);
    d.lrp.action = &list[0]; /* one program, and no steps */
    d.lrp.setup = NULL;
    note = note_of(&d, NULL, 0);
    assert_int_equal(note->n_steps, 0);
    rep__note__free_unpacked(note, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_cell_can_do_is_named),
        cmocka_unit_test(what_is_bound_has_a_place_of_its_own),
        cmocka_unit_test(each_step_has_its_own_process),
        cmocka_unit_test(the_layer_of_a_name_is_unpacked_first),
        cmocka_unit_test(transfers_are_told_the_driver),
        cmocka_unit_test(the_note_resolves_tags_and_routes),
        cmocka_unit_test(the_note_knows_the_source_of_its_exit_text),
        cmocka_unit_test(only_the_end_of_a_process_has_a_source),
        cmocka_unit_test(later_environment_wins),
        cmocka_unit_test(a_program_is_as_its_action_says),
        cmocka_unit_test(its_log_has_a_source_and_a_limit),
        cmocka_unit_test(an_actions_own_port_wins),
        cmocka_unit_test(where_it_is_reached_is_reported),
        cmocka_unit_test(with_its_own_network_the_port_is_its_own),
        cmocka_unit_test(egress_rules_go_along),
        cmocka_unit_test(a_note_is_read_back_or_refused),
        cmocka_unit_test(reserved_never_exceeds_capacity),
        cmocka_unit_test(ports_are_taken_once_and_rest),
        cmocka_unit_test(held_ports_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
