/* App files: shorthands, defaults, the guid of a definition, and mistakes told with line and key.
 */
#include "bbs/lrp/validate.h"
#include "common/appfile/app.h"
#include "common/appfile/app_file_io.h"
#include "common/codec/json.h"

#include "common/base/random.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <string.h>

/* What was parsed last. */
static struct app *parsed_apps;
static size_t parsed_count;

static const struct app *parsed(struct fixture *f, const char *file, const char *text)
{
    parsed_apps = NULL;
    parsed_count = 0;
    if (appfile_parse(&f->arena, file, bytes_of(text), &parsed_apps, &parsed_count, &f->err) < 0) {
        fail_msg("%s\n%s", text, f->err.text);
    }
    return parsed_apps;
}

static const char *as_json(struct fixture *f, const struct app *app)
{
    buf_clear(&f->out);
    assert_int_equal(json_encode(&app->lrp->base, CODEC_OWN, &f->out, &f->err), 0);
    return buf_string(&f->out);
}

static void least_app_gets_defaults(void **state)
{
    struct fixture *f = *state;
    const struct app *app =
        parsed(f, "a.yaml", "name: web\nrootfs: preloaded:busybox\ncommand: sleep 9\n");
    assert_int_equal(parsed_count, 1);
    assert_string_equal(app->name, "web");
    assert_string_equal(
        as_json(f, app),
        arena_printf(
            &f->arena,
            "{\"process_guid\":\"%s\",\"domain\":\"default\",\"rootfs\":\"preloaded:busybox\","
            "\"instances\":1,\"env\":null,\"action\":{\"run\":{\"path\":\"/bin/sh\",\"args\":["
            "\"-c\",\"sleep 9\"],\"user\":\"root\",\"suppress_log_output\":false}},"
            "\"disk_mb\":256,\"memory_mb\":128,\"cpu_weight\":0,\"privileged\":false,"
            "\"log_source\":\"\",\"log_guid\":\"web\",\"metrics_guid\":\"\",\"annotation\":\"\","
            "\"egress_rules\":[{\"protocol\":\"all\",\"destinations\":[\"0.0.0.0/0\"],"
            "\"log\":false}],"
            "\"start_timeout_ms\":0,\"max_pids\":0,\"metric_tags\":{\"source_id\":{\"static\":"
            "\"web\"}},\"owner\":{\"kind\":\"cli\",\"uid\":\"web\"}}",
            app->lrp->process_guid));
}

static void images_say_what_runs(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *keys, *run, *image;
    } rows[] = {
        {"image: busybox:1", "from_image: true, user: '', args: []", "docker:///busybox#1"},
        {"rootfs: 'docker:///b'", "from_image: true", "docker:///b"},
        {"image: h:1/b\nargs: [-x, 5]\nuser: u\ndir: /d",
         "from_image: true, args: [-x, '5'], user: u, dir: /d", "docker://h:1/b"},
        {"image: oci:///b#c\ncommand: [x]", "path: x, user: root", "oci:///b#c"},
        {"image: b\naction: {run: {from_image: true, args: [x]}}", "from_image: true, args: [x]",
         "docker:///b"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *said = arena_printf(&f->arena, "name: web\nrootfs: '%s'\naction: {run: {%s}}\n",
                                        rows[i].image, rows[i].run);
        const char *api = arena_strdup(&f->arena, as_json(f, parsed(f, "a.yaml", said)));
        const char *file = arena_printf(&f->arena, "name: web\n%s\n", rows[i].keys);
        assert_string_equal(as_json(f, parsed(f, "a.yaml", file)), api);
    }
}

static void shorthands_and_api_names_say_the_same(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"memory: 64M", "memory_mb: 64"},
        {"memory: 1.5 GiB", "memory_mb: 1536"},
        {"memory: 4000k", "memory_mb: 4"},
        {"memory: 4M", "memory_mb: 4"},
        {"memory: 0", "memory_mb: 0"},
        {"disk: 0", "disk_mb: 0"},
        {"disk: 100k", "disk_mb: 1"},
        /* What asks for nothing is not refused. */
        {"monitor: null", "setup: ~"},
        {"sidecars: []", "log_source: ''"},
        {"deprecated_timeout_ns: 0", "network: null"},
        {"disk: 2g", "disk_mb: 2048"},
        {"egress: all", ""},
        {"image_layers: [{url: 'http://x', destination_path: /x, media_type: null}]",
         "image_layers: [{url: 'http://x', destination_path: /x, layer_type: SHARED, "
         "media_type: TGZ}]"},
        {"egress: none", "egress_rules: []"},
        {"egress: [{protocol: tcp, destinations: [10.0.0.1], ports: [80]}]",
         "egress_rules: [{protocol: tcp, destinations: [10.0.0.1], ports: [80]}]"},
        {"cpu: 1", "cpu_weight: 1"},
        {"cpu: 100", "cpu_weight: 100"},
        {"cpu_max: 250", "cpu_max_percent: 250"},
        {"env: [{name: A, value: 1.10}, {name: B, value: true}]",
         "env: [{name: A, value: '1.10'}, {name: B, value: 'true'}]"},
        {"placement_tags: [1.10, 2, true, x]", "placement_tags: ['1.10', '2', 'true', x]"},
        {"env: {A: 1, B: yes, C: }",
         "env: [{name: A, value: '1'}, {name: B, value: 'yes'}, {name: C}]"},
        {"ports: 8080", "ports: [8080]"},
        {"metric_tags: {source_id: x}", "metric_tags: {source_id: {static: x}}"},
        {"log_guid: web",
         "instances: 7"}, /* the default; instances are no part of the definition */
        {"start_timeout_ms: 0", "routes: {cf-router: [{hostnames: [a.b], port: 8080}]}"},
        {"annotation: x", "annotation: y"},
        {"on_cell_loss: hold", "on_evacuate: stay"}, /* nor are policies */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *guids[2];
        for (int k = 0; k < 2; k++) {
            guids[k] = parsed(f, "a.yml",
                              arena_printf(&f->arena,
                                           "name: web\nrootfs: preloaded:b\n"
                                           "command: [x]\n%s\n",
                                           rows[i][k]))
                           ->lrp->process_guid;
        }
        assert_string_equal(guids[0], guids[1]);
    }
}

static void every_change_of_the_definition_changes_the_guid(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[] = {
        "",
        "memory: 65M",
        "disk: 9M",
        "env: {A: b}",
        "ports: [1]",
        "domain: other",
        "user: vcap",
        "dir: /x",
        "max_pids: 5",
        "placement_tags: [a]",
        "privileged: true",
        "cpu: 3",
        "log_guid: x",
        "egress: none",
        "check_definition: {checks: [{tcp_check: {port: 1}}]}",
        "start_timeout_ms: 5",
        "monitor: {run: {path: x, user: y}}",
    };
    enum { COUNT = sizeof(rows) / sizeof(rows[0]) };
    const char *guids[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        guids[i] =
            parsed(f, "a.yaml",
                   arena_printf(&f->arena, "name: web\nrootfs: preloaded:b\ncommand: [x]\n%s\n",
                                rows[i]))
                ->lrp->process_guid;
        assert_int_equal(strlen(guids[i]), strlen("web-0123456789"));
        assert_memory_equal(guids[i], "web-", 4);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(guids[i], guids[k]);
        }
    }
    /* The guid is the same tomorrow and on another machine: running apps depend on it. */
    assert_string_equal(guids[0], "web-b5da1fb47c");
}

static void several_apps(void **state)
{
    struct fixture *f = *state;
    parsed(
        f, "a.yaml",
        "---\nname: a\nrootfs: preloaded:x\ncommand: [x]\n---\n---\nname: b\nrootfs: preloaded:x\n"
        "command: [y]\n");
    assert_int_equal(parsed_count, 2);
    assert_string_equal(parsed_apps[1].name, "b");
    assert_int_equal(parsed_apps[1].line, 7);
    parsed(f, "a.yaml",
           "domain: d\napps:\n- &one {name: a, rootfs: 'preloaded:x', command: [x]}\n"
           "- {name: b, rootfs: 'preloaded:x', command: [x], domain: e}\n");
    assert_int_equal(parsed_count, 2);
    assert_string_equal(parsed_apps[0].lrp->domain, "d");
    assert_string_equal(parsed_apps[1].lrp->domain, "e");
}

static void json_and_yaml_say_the_same(void **state)
{
    struct fixture *f = *state;
    const char *yaml =
        as_json(f, parsed(f, "a.yaml",
                          "name: a\nrootfs: preloaded:x\ncommand: [sh, -c, \"a\\nb \xc3\xa4\"]\n"
                          "env:\n  A: 1.50\nroutes:\n  r: [1, 2.5, true, null, {x: y}]\n"));
    yaml = arena_strdup(&f->arena, yaml);
    const struct app *app =
        parsed(f, "a.json",
               "{\"name\":\"a\", \"rootfs\":\"preloaded:x\", \"command\":[\"sh\",\"-c\","
               "\"a\\nb \\u00e4\"],\n \"env\":{\"A\":\"1.50\"},\n"
               "\"routes\":{\"r\":[1,2.5,true,null,{\"x\":\"y\"}]}}");
    assert_string_equal(as_json(f, app), yaml);
}

#define GOOD "name: a\nrootfs: preloaded:x\ncommand: [x]\n"

/* An empty "instances:" asks for no instances as little as an empty "memory_mb:" asks for no limit.
 */
static void a_key_without_a_value_is_as_left_out(void **state)
{
    struct fixture *f = *state;
    static const char *const keys[] = {
        "instances",  "memory",       "memory_mb",   "disk",           "disk_mb",    "env",
        "ports",      "user",         "dir",         "cpu",            "cpu_weight", "max_pids",
        "cpu_max",    "cpu_max_percent",
        "privileged", "domain",       "metric_tags", "placement_tags", "log_guid",   "routes",
        "annotation", "on_cell_loss", "on_evacuate", "action",
    };
    const char *without = arena_strdup(&f->arena, as_json(f, parsed(f, "a.yaml", GOOD)));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct app *app = parsed(f, "a.yaml", arena_printf(&f->arena, GOOD "%s:\n", keys[i]));
        assert_string_equal(as_json(f, app), without);
        assert_false(app->instances_given);
    }
}

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DESTINATION                                                                                \
    " must be an address, a block like 10.0.0.0/8 or a range like 10.0.0.1-10.0.0.9"

static const struct {
    const char *file, *text, *mistake;
} mistakes[] = {
    {"a.yaml", "", "a.yaml: holds no app"},
    {"a.yaml", "- a\n", "a.yaml:1: app: must be a map with the keys of an app"},
    {"a.yaml", "\nrootfs: x\n", "a.yaml:2: name: is missing: what is the app called?"},
    {"a.yaml", "name:\nrootfs: x\n", "a.yaml:1: name: is missing: what is the app called?"},
    {"a.yaml", GOOD "instancse:\n",
     "a.yaml:4: instancse: unknown key; did you mean \"instances\"?"},
    {"a.yaml", "name: a b\n",
     "a.yaml:1: name: must be letters, digits, - and _, not - first, at most 200"},
    {"a.yaml", "name: -web\n",
     "a.yaml:1: name: must be letters, digits, - and _, not - first, at most 200"},
    {"a.yaml", "name: a\n",
     "a.yaml:1: rootfs: is missing, for example preloaded:busybox, or image"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\n",
     "a.yaml:1: command: is missing: what should run?"},
    {"a.yaml", GOOD "memroy: 5\n", "a.yaml:4: memroy: unknown key; did you mean \"memory\"?"},
    {"a.yaml", GOOD "\n\ninstancse: 5\n",
     "a.yaml:6: instancse: unknown key; did you mean \"instances\"?"},
    {"a.yaml", GOOD "result_file: /x\n",
     "a.yaml:4: result_file: stands in a task, which bbs run takes; this is an app"},
    {"a.yaml", GOOD "owner: {kind: x}\n", "a.yaml:4: owner: unknown key; see bbs apply --help"},
    {"a.yaml", GOOD "qqqqqqq: 5\n", "a.yaml:4: qqqqqqq: unknown key; see bbs apply --help"},
    /* Another tool's word for it; what is only spelt alike is no help. */
    {"a.yaml", GOOD "cmd: x\n", "a.yaml:4: cmd: unknown key; did you mean \"command\"?"},
    {"a.yaml", GOOD "Entrypoint: x\n",
     "a.yaml:4: Entrypoint: unknown key; did you mean \"command\"?"},
    {"a.yaml", GOOD "environment: {A: b}\n",
     "a.yaml:4: environment: unknown key; did you mean \"env\"?"},
    {"a.yaml", GOOD "replicas: 2\n",
     "a.yaml:4: replicas: unknown key; did you mean \"instances\"?"},
    {"a.yaml", GOOD "working_dir: /\n",
     "a.yaml:4: working_dir: unknown key; did you mean \"dir\"?"},
    {"a.yaml", GOOD "volumes: [x]\n", "a.yaml:4: volumes: unknown key; see bbs apply --help"},
    {"a.yaml", GOOD "restart: always\n",
     "a.yaml:4: restart: unknown key; see bbs apply --help"},
    {"a.yaml", GOOD "memory: lots\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: -5\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: 64X\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    /* One way to write a number. */
    {"a.yaml", GOOD "memory: 1e3M\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: 0x40M\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: 1.M\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: .5G\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: 1.2.3G\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: [64M]\n",
     "a.yaml:4: memory: must be a size, like 64M or 1G (K, M, G or T)"},
    {"a.yaml", GOOD "memory: 64\n", "a.yaml:4: memory: needs a unit: K, M, G or T, as in 64M"},
    {"a.yaml", GOOD "disk: 1.5\n", "a.yaml:4: disk: needs a unit: K, M, G or T, as in 64M"},
    {"a.json", "{\"name\":\"a\",\"rootfs\":\"preloaded:x\",\n\"memory\":64}",
     "a.json:2: memory: needs a unit: K, M, G or T, as in 64M"},
    {"a.yaml", GOOD "memory: 1M\n",
     "a.yaml:4: memory: must be 4 MB at least, which a container needs to begin, or 0 for no "
     "limit"},
    {"a.yaml", GOOD "memory_mb: 3\n",
     "a.yaml:4: memory_mb: must be 4 MB at least, which a container needs to begin, or 0 for "
     "no limit"},
    {"a.yaml", GOOD "memory_mb: -1\n", "a.yaml:4: memory_mb: must not be negative"},
    {"a.yaml", GOOD "memory_mb: 2147483648\n",
     "a.yaml:4: memory_mb: must be 2147483647 at most"},
    {"a.yaml", GOOD "cpu_weight: 101\n", "a.yaml:4: cpu_weight: must be 100 at most"},
    {"a.yaml", GOOD "memory: 64M\nmemory_mb: 64\n",
     "a.yaml:5: memory_mb: is said already, by another key"},
    {"a.yaml", GOOD "cpu: 0\n", "a.yaml:4: cpu: must be a whole number from 1 to 100"},
    {"a.yaml", GOOD "cpu: 101\n", "a.yaml:4: cpu: must be a whole number from 1 to 100"},
    {"a.yaml", GOOD "cpu: -1\n", "a.yaml:4: cpu: must be a whole number from 1 to 100"},
    {"a.yaml", GOOD "cpu: 1.5\n", "a.yaml:4: cpu: must be a whole number from 1 to 100"},
    {"a.yaml", GOOD "cpu: half\n", "a.yaml:4: cpu: must be a whole number from 1 to 100"},
    {"a.yaml", GOOD "cpu: [5]\n", "a.yaml:4: cpu: must be a whole number from 1 to 100"},
    {"a.yaml", GOOD "cpu_max: 100001\n", "a.yaml:4: cpu_max: must be 100000 at most"},
    {"a.yaml", GOOD "cpu: 5\ncpu_weight: 5\n",
     "a.yaml:5: cpu_weight: is said already, by another key"},
    {"a.yaml", GOOD "instances: three\n", "a.yaml:4: instances: must be a whole number"},
    {"a.yaml", GOOD "instances: -3\n", "a.yaml:4: instances: must not be negative"},
    {"a.yaml", GOOD "instances: 2000000\n", "a.yaml:4: instances: must be 1000000 at most"},
    {"a.yaml", GOOD "on_cell_loss: wait\n", "a.yaml:4: on_cell_loss: must be replace or hold"},
    {"a.yaml", GOOD "on_evacuate: [stay]\n", "a.yaml:4: on_evacuate: must be move or stay"},
    {"a.yaml", GOOD "on_cell_los: hold\n",
     "a.yaml:4: on_cell_los: unknown key; did you mean \"on_cell_loss\"?"},
    {"a.yaml", GOOD "env: A=b\n", "a.yaml:4: env: must be a map, like {KEY: value}"},
    {"a.yaml", GOOD "env: [A=b]\n", "a.yaml:4: env: must be a map, like {KEY: value}"},
    {"a.yaml", GOOD "env:\n\tA: b\n",
     "a.yaml:5: not valid YAML: a tab; indent with spaces"},
    {"a.yaml", GOOD "annotation: \"\xff\"\n",
     "a.yaml:4: not valid YAML: invalid leading UTF-8 octet"},
    {"a.yaml", GOOD "ports: [80, 70000]\n", "a.yaml:4: ports: must be numbers from 1 to 65535"},
    {"a.yaml", GOOD "ports: [80,\n  http]\n",
     "a.yaml:5: ports: must be numbers from 1 to 65535"},
    {"a.yaml", GOOD "ports: [80, 81,\n  80]\n", "a.yaml:5: ports: 80 stands here twice"},
    {"a.yaml", GOOD "name: b\n", "a.yaml:4: name: stands here twice"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  run:\n    path: x\n    usr: y\n",
     "a.yaml:6: action.run.usr: unknown key; did you mean \"user\"?"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\naction:\n  run:\n    path: x\n    args:\n    - a\n    - 1\n",
     "a.yaml:8: action.run.args[1]: must be a text"},
    {"a.yaml", GOOD "check_definition:\n  checks:\n  - {}\n",
     "a.yaml:6: check_definition.checks[0]: must have http_check or tcp_check"},
    {"a.yaml",
     GOOD "check_definition:\n  checks: []\n  readiness_checks:\n  - http_check: {port: 0}\n",
     "a.yaml:7: check_definition.readiness_checks[0]: port must be from 1 to 65535"},
    {"a.yaml",
     GOOD "monitor:\n  try: {action: {download: {from: 'http://x', to: /x, user: y}}}\n",
     "a.yaml:5: monitor.try.action: a monitor cannot have a download or an upload"},
    {"a.yaml", GOOD "setup: {run: {path: x, user: y}, try: {action: {run: {path: x, user: y}}}}\n",
     "a.yaml:4: setup: says several actions; serial, parallel and codependent have a list"},
    {"a.yaml", GOOD "network: {properties: {join: 'instance:x'}}\n",
     "a.yaml:4: network: can be said by the API alone: cell.md, Join"},
    {"a.yaml", GOOD "monitor:\n  timeout: {action: {run: {path: x, user: y}}}\n",
     "a.yaml:5: monitor.timeout: timeout_ms must be more than 0"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\naction:\n  serial:\n    actions:\n    - run: {path: x}\n",
     "a.yaml:6: action.serial.actions[0].run: user is missing: whom it runs as"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  serial:\n    actions: []\n",
     "a.yaml:4: action.serial: actions are missing: what is done"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\ncommand: x\nsetup:\n  timeout: {action: {}}\n",
     "a.yaml:5: setup.timeout: timeout_ms must be more than 0"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\ncommand: x\nsidecars:\n- action: {try: {action: {}}}\n",
     "a.yaml:5: sidecars[0].action.try.action: must have run, download or upload, or serial, "
     "parallel, codependent, try, timeout or emit_progress"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\ncommand: x\nsetup:\n  serial:\n    actions:\n    - "
     "download: {from: x}\n",
     "a.yaml:7: setup.serial.actions[0].download: to is missing: where it goes"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\ncommand: x\nsetup:\n  upload:\n    from: /a\n    to: y\n"
     "    user: u\n",
     "a.yaml:7: setup.upload.to: must be a URL: https://..., http:// or file://"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\ncommand: x\n"
     "setup: {download: {from: ftp://h/x, to: /, user: u}}\n",
     "a.yaml:4: setup.download.from: must be a URL: https://..., http:// or file://"},
    {"a.yaml", /* the API's decoder does not mind, so neither does the refusal */
     "name: a\nrootfs: preloaded:x\ncommand: x\n"
     "sidecars: [{action: {Run: {path: x, user: u}}, Memory_Mb: 5}]\n",
     "a.yaml:4: sidecars[0].Memory_Mb: no cell can do it yet: the app's memory is for all that "
     "runs in it"},
    {"a.yaml", "name: a\nimage: Busybox\ncommand: [x]\n",
     "a.yaml:2: image: the image's repository \"Busybox\" is none"},
    {"a.yaml", "name: a\nimage: busybox:a:b\n", "a.yaml:2: image: the image's tag \"a:b\" is none"},
    {"a.yaml", "name: a\nimage: preloaded:/x\n", "a.yaml:2: image: is no image; say rootfs"},
    {"a.yaml", "name: a\nimage: [busybox]\n",
     "a.yaml:2: image: must be [HOST/]REPOSITORY[:TAG][@DIGEST], as in busybox:1.36"},
    {"a.yaml", "name: a\nimage: b\nrootfs: preloaded:x\n",
     "a.yaml:3: rootfs: is said already, by another key"},
    {"a.yaml", "name: a\nimage: b\nargs: x\n", "a.yaml:3: args: must be a list of texts"},
    {"a.yaml", "name: a\nimage: b\nargs:\n- x\n- [y]\n",
     "a.yaml:5: args: must be a list of texts"},
    {"a.yaml", GOOD "args: [x]\n",
     "a.yaml:4: args: goes with an image that says what runs: without command and action"},
    {"a.yaml", "name: a\nimage: b\naction: {run: {path: x, from_image: true}}\n",
     "a.yaml:3: action.run: path and from_image both say what runs; leave one out"},
    {"a.yaml", GOOD "env:\n  A: x\n  B: [1]\n", "a.yaml:6: env.B: must be a text"},
    {"a.yaml", GOOD "placement_tags:\n- x\n- [1]\n",
     "a.yaml:6: placement_tags[1]: must be a text"},
    {"a.yaml", GOOD "placement_tags:\n- x\n-\n", "a.yaml:6: placement_tags[1]: must be a text"},
    {"a.yaml", GOOD "placement_tags: 1\n",
     "a.yaml:4: placement_tags: must be a list of texts, like [ssd, zone-1]"},
    {"a.yaml", GOOD "env:\n- name: A\n- nmae: B\n",
     "a.yaml:6: env[1].nmae: unknown key; did you mean \"name\"?"},
    {"a.yaml", GOOD "env:\n  A: x\n  \"\": y\n", "a.yaml:6: env: a name must not be empty"},
    {"a.yaml", GOOD "env:\n  A: x\n  A=B: y\n", "a.yaml:6: env: \"A=B\": a name can have no ="},
    {"a.yaml", GOOD "env:\n- name: A\n- name: =\n",
     "a.yaml:6: env: \"=\": a name can have no ="},
    {"a.yaml", GOOD "env:\n- name: A\n- value: x\n", "a.yaml:6: env: a name must not be empty"},
    {"a.yaml",
     "name: a\nrootfs: preloaded:x\naction:\n  run:\n    path: x\n    user: u\n    env:\n"
     "    - name: A=\n",
     "a.yaml:8: action.run.env: \"A=\": a name can have no ="},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  run:\n    path: x\n",
     "a.yaml:4: action.run: user is missing: whom it runs as"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  run: {user: u}\n",
     "a.yaml:4: action.run: path is missing: the program"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction: {}\n",
     "a.yaml:3: action: must have run, download or upload, or serial, parallel, "
     "codependent, try, timeout or "
     "emit_progress"},
    {"a.yaml", GOOD "metric_tags:\n  a: {}\n",
     "a.yaml:5: metric_tags.a: must be a text that is not empty, or {dynamic: INDEX} or "
     "{dynamic: INSTANCE_GUID}"},
    {"a.yaml", GOOD "metric_tags:\n  a: {dynamic: DynamicValueInvalid}\n",
     "a.yaml:5: metric_tags.a: must be a text that is not empty, or {dynamic: INDEX} or "
     "{dynamic: INSTANCE_GUID}"},
    {"a.yaml", GOOD "metric_tags:\n  b: c\n  a: ''\n",
     "a.yaml:6: metric_tags.a: must be a text that is not empty, or {dynamic: INDEX} or "
     "{dynamic: INSTANCE_GUID}"},
    {"a.yaml", GOOD "metric_tags:\n  a: {static: x, dynamic: INDEX}\n",
     "a.yaml:5: metric_tags.a: must be a text that is not empty, or {dynamic: INDEX} or "
     "{dynamic: INSTANCE_GUID}"},
    /* Egress rules: by both of their names. */
    {"a.yaml", GOOD "egress:\n- {protocol: all, destinations: [0.0.0.0/0]}\n- protocol: tpc\n",
     "a.yaml:6: egress[1].protocol: must be tcp, udp, icmp or all"},
    {"a.yaml", GOOD "egress_rules:\n- protocol: tpc\n",
     "a.yaml:5: egress_rules[0].protocol: must be tcp, udp, icmp or all"},
    {"a.yaml", GOOD "egress:\n- destinations: [10.0.0.1]\n",
     "a.yaml:5: egress[0]: protocol is missing: tcp, udp, icmp or all"},
    {"a.yaml", GOOD "egress:\n- protocol: all\n",
     "a.yaml:5: egress[0]: destinations are missing: what may be reached, as in [10.0.0.0/8]"},
    {"a.yaml", GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - example.org\n",
     "a.yaml:8: egress[0].destinations[1]: \"example.org\"" DESTINATION},
    {"a.yaml", GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - 10.0.0.0/33\n",
     "a.yaml:8: egress[0].destinations[1]: \"10.0.0.0/33\"" DESTINATION},
    {"a.yaml", GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - 10.0.0\n",
     "a.yaml:8: egress[0].destinations[1]: \"10.0.0\"" DESTINATION},
    {"a.yaml", GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - ::/129\n",
     "a.yaml:8: egress[0].destinations[1]: \"::/129\"" DESTINATION},
    {"a.yaml",
     GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - 10.0.0.9-10.0.0.1\n",
     "a.yaml:8: egress[0].destinations[1]: \"10.0.0.9-10.0.0.1\"" DESTINATION},
    {"a.yaml",
     GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - 10.0.0.1 - 10.0.0.9\n",
     "a.yaml:8: egress[0].destinations[1]: \"10.0.0.1 - 10.0.0.9\"" DESTINATION},
    {"a.yaml", GOOD "egress:\n- protocol: all\n  destinations:\n  - 10.0.0.1\n  - ''\n",
     "a.yaml:8: egress[0].destinations[1]: \"\"" DESTINATION},
    {"a.yaml", GOOD "egress:\n- protocol: all\n  destinations: ['10.0.0.1,10.0.0.x']\n",
     "a.yaml:6: egress[0].destinations[0]: \"10.0.0.x\"" DESTINATION},
    {"a.yaml", GOOD "egress:\n- {protocol: tcp, destinations: [10.0.0.1]}\n",
     "a.yaml:5: egress[0]: ports are missing: ports: [443], or port_range: {start: 1, end: 9}"},
    {"a.yaml", GOOD "egress:\n- {protocol: tcp, destinations: [10.0.0.1], ports: [1, 0]}\n",
     "a.yaml:5: egress[0].ports[1]: must be from 1 to 65535"},
    {"a.yaml", GOOD "egress:\n- {protocol: udp,\n   ports: [65536]}\n",
     "a.yaml:6: egress[0].ports[0]: must be from 1 to 65535"},
    {"a.yaml",
     GOOD "egress:\n- {protocol: tcp, ports: [1],\n   port_range: {start: 1, end: 2}}\n",
     "a.yaml:6: egress[0].port_range: ports say it already; leave one out"},
    {"a.yaml", GOOD "egress:\n- {protocol: tcp, port_range: {\n   start: 1}}\n",
     "a.yaml:5: egress[0].port_range.end: must be from 1 to 65535"},
    {"a.yaml", GOOD "egress:\n- {protocol: tcp, port_range: {\n   start: 70000, end: 2}}\n",
     "a.yaml:6: egress[0].port_range.start: must be from 1 to 65535"},
    {"a.yaml", GOOD "egress:\n- {protocol: tcp, port_range: {start: 3, end: 2}}\n",
     "a.yaml:5: egress[0].port_range: its end is before its start"},
    {"a.yaml", GOOD "egress:\n- {protocol: all, ports: [80]}\n",
     "a.yaml:5: egress[0].ports: goes with tcp and udp, not with all"},
    {"a.yaml", GOOD "egress:\n- {protocol: icmp, port_range: {start: 1, end: 2}}\n",
     "a.yaml:5: egress[0].port_range: goes with tcp and udp, not with icmp"},
    {"a.yaml", GOOD "egress:\n- {protocol: icmp, destinations: [10.0.0.1]}\n",
     "a.yaml:5: egress[0]: icmp_info is missing: {type: 8, code: 0}; -1 is any"},
    {"a.yaml", GOOD "egress:\n- {protocol: all, icmp_info: {type: 8, code: 0}}\n",
     "a.yaml:5: egress[0].icmp_info: goes with icmp alone"},
    {"a.yaml", GOOD "egress:\n- protocol: icmp\n  icmp_info: {type: 8,\n    code: 256}\n",
     "a.yaml:7: egress[0].icmp_info.code: must be from 0 to 255, or -1 for any"},
    {"a.yaml", GOOD "egress:\n- {protocol: all, destinations: [10.0.0.1], log: maybe}\n",
     "a.yaml:5: egress[0].log: must be true or false"},
    {"a.yaml", GOOD "cpu_max: lots\n", "a.yaml:4: cpu_max: must be a whole number"},
    /* What is brought in, volumes and what stands alone. */
    {"a.yaml",
     GOOD "user: ''\n",
     "a.yaml:4: user: must not be empty; left out, it is root"},
    {"a.yaml",
     GOOD "dir: foo\n",
     "a.yaml:4: dir: \"foo\" is no absolute path: it must begin with /"},
    {"a.yaml", "name: a\nimage: x\ndir: ~/foo\n",
     "a.yaml:3: dir: \"~/foo\" is no absolute path: it must begin with /"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  run: {path: x, user: u,\n    dir: foo}\n",
     "a.yaml:5: action.run.dir: \"foo\" is no absolute path: it must begin with /"},
    {"a.yaml",
     GOOD "image_username: u\n",
     "a.yaml:4: image_username: needs its image_password beside it"},
    {"a.yaml",
     GOOD "image_username: ''\nimage_password: p\n",
     "a.yaml:5: image_password: needs its image_username beside it"},
    {"a.yaml",
     GOOD "log_rate_limit:\n  bytes_per_second: -2\n",
     "a.yaml:5: log_rate_limit.bytes_per_second: must not be negative, but for -1: no limit"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  download: {from: http://h, to: x, "
    "user: u,\n   checksum_value: abc}\n",
     "a.yaml:4: action.download: checksum_algorithm is missing: md5, sha1 or sha256"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  download: {from: http://h, to: x, "
    "user: u,\n   checksum_algorithm: md5}\n",
     "a.yaml:4: action.download: checksum_value is missing: the hex digits"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  download: {from: http://h, to: x, "
    "user: u,\n   checksum_algorithm: sha512}\n",
     "a.yaml:5: action.download.checksum_algorithm: must be md5, sha1 or sha256"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\naction:\n  download: {from: http://h, to: x, "
    "user: u,\n   checksum_algorithm: MD5, checksum_value: abc}\n",
     "a.yaml:5: action.download.checksum_value: must be the 32 hex digits of md5"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {to: /x}\n",
     "a.yaml:5: cached_dependencies[0]: from is missing: the archive's URL"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {from: http://h}\n",
     "a.yaml:5: cached_dependencies[0]: to is missing: the directory where it is seen"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {from: h.tgz, to: /x}\n",
     "a.yaml:5: cached_dependencies[0].from: must be a URL: https://..., http:// or file://"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {from: http://h, to: /x, checksum_value: a}\n",
     "a.yaml:5: cached_dependencies[0]: checksum_algorithm is missing: md5, sha1 or sha256"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {from: http://h, to: /x, checksum_algorithm: sha1,\n   "
     "checksum_value: 0123456789012345678901234567890123456789a}\n",
     "a.yaml:6: cached_dependencies[0].checksum_value: must be the 40 hex digits of sha1"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {from: http://h, to: /x, checksum_algorithm: md5,\n   "
     "checksum_value: 0123456789abcdef0123456789abcdeg}\n",
     "a.yaml:6: cached_dependencies[0].checksum_value: must be the 32 hex digits of md5"},
    {"a.yaml",
     GOOD "cached_dependencies:\n- {from: http://h,\n   to: /}\n",
     "a.yaml:6: cached_dependencies[0].to: nothing can be mounted at \"/\": the root "
     "filesystem is there"},
    {"a.yaml",
     GOOD "image_layers:\n- {destination_path: /x}\n",
     "a.yaml:5: image_layers[0]: url is missing: the archive's"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h}\n",
     "a.yaml:5: image_layers[0]: destination_path is missing: the directory where it is seen"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: h, destination_path: /x}\n",
     "a.yaml:5: image_layers[0].url: must be a URL: https://..., http:// or file://"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /x,\n   layer_type: "
     "LayerTypeInvalid}\n",
     "a.yaml:6: image_layers[0].layer_type: must be SHARED or EXCLUSIVE"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /x,\n   media_type: "
     "MediaTypeInvalid}\n",
     "a.yaml:6: image_layers[0].media_type: must be TGZ, TAR or ZIP"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /x,\n   digest_value: ab}\n",
     "a.yaml:5: image_layers[0]: digest_algorithm is missing: SHA256 or SHA512"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /x,\n   digest_algorithm: SHA256}\n",
     "a.yaml:5: image_layers[0]: digest_value is missing: the hex digits"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /x,\n   digest_algorithm: "
     "SHA512, digest_value: ab}\n",
     "a.yaml:6: image_layers[0].digest_value: must be the 128 hex digits of sha512"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /x,\n   layer_type: EXCLUSIVE}\n",
     "a.yaml:5: image_layers[0]: digest_algorithm is missing, which an EXCLUSIVE layer needs: "
     "SHA256 or SHA512"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h, destination_path: /, layer_type: EXCLUSIVE,\n"
     "   digest_algorithm: SHA256, digest_value: " HEX64 "}\n",
     "a.yaml:1: legacy_download_user: is missing: whose the files of EXCLUSIVE image_layers are"},
    {"a.yaml",
     GOOD "image_layers:\n- {url: http://h,\n   destination_path: /proc/x}\n",
     "a.yaml:6: image_layers[0].destination_path: nothing can be mounted at \"/proc/x\": the "
     "container has its own /proc"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {mode: r}\n",
     "a.yaml:5: volume_mounts[0]: driver is missing: bind or tmpfs"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs}\n",
     "a.yaml:5: volume_mounts[0]: container_dir is missing: where it is in the container"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs, container_dir: /x}\n",
     "a.yaml:5: volume_mounts[0]: mode is missing: r or rw"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs, container_dir: /x,\n   mode: ro}\n",
     "a.yaml:6: volume_mounts[0].mode: must be r or rw"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: bind, container_dir: /x, mode: r}\n",
     "a.yaml:5: volume_mounts[0]: shared is missing: {volume_id: NAME}, of a rep's --volume "
     "NAME=DIR"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs, container_dir: /x, mode: r,\n   shared: "
     "{mount_config: size=1M}}\n",
     "a.yaml:6: volume_mounts[0].shared: volume_id is missing: any text, of memory"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs, mode: rw,\n   container_dir: x}\n",
     "a.yaml:6: volume_mounts[0].container_dir: \"x\" is no absolute path: it must begin with /"},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs, mode: rw,\n   container_dir: /x/}\n",
     "a.yaml:6: volume_mounts[0].container_dir: \"/x/\" must not end with a / nor have an "
     "empty step, . or .."},
    {"a.yaml",
     GOOD "volume_mounts:\n- {driver: tmpfs, mode: rw,\n   container_dir: /sys/fs}\n",
     "a.yaml:6: volume_mounts[0].container_dir: nothing can be mounted at \"/sys/fs\": the "
     "container has its own /sys"},
    {"a.yaml", GOOD "metric_tags: {}\n",
     "a.yaml:4: metric_tags: must not be empty; left out, it is source_id: the name"},
    {"a.yaml", GOOD "metric_tags: {source_id: x}\nmetrics_guid: y\n",
     "a.yaml:5: metrics_guid: must be what metric_tags say as source_id"},
    {"a.yaml", GOOD "domain: ''\n", "a.yaml:4: domain: must not be empty"},
    {"a.yaml", "domain: ''\napps:\n- {name: a, rootfs: 'preloaded:x', command: x}\n",
     "a.yaml:1: domain: must not be empty"},
    {"a.yaml", GOOD "metric_tags:\n  a: {dynamic: INDX}\n",
     "a.yaml:5: metric_tags.a.dynamic: knows no value \"INDX\"; did you mean \"INDEX\"?"},
    {"a.yaml", "name: a\nrootfs: busybox\ncommand: [x]\n",
     "a.yaml:2: rootfs: must be preloaded:NAME, of a NAME in bbs cells, or the name of an "
     "image, as in image: busybox:1.36"},
    {"a.yaml", "name: a\nrootfs: 'preloaded:'\ncommand: [x]\n",
     "a.yaml:2: rootfs: must be preloaded:NAME, of a NAME in bbs cells, or the name of an "
     "image, as in image: busybox:1.36"},
    {"a.yaml", "name: a\nrootfs: docker:///Busybox\ncommand: [x]\n",
     "a.yaml:2: rootfs: the image's repository \"Busybox\" is none"},
    {"a.yaml", "name: a\nrootfs: preloaded+layer:x\ncommand: [x]\n",
     "a.yaml:2: rootfs: preloaded+layer needs layer, layer_path and layer_digest"},
    {"a.yaml", GOOD "process_guid: x\n",
     "a.yaml:4: process_guid: is made by corkboard; give the app a \"name\""},
    {"a.yaml", "name: a\nrootfs: preloaded:x\nuser: u\naction: {run: {path: x, user: u}}\n",
     "a.yaml:3: user: goes with command; say it in the action"},
    {"a.yaml", "name: a\nrootfs: preloaded:x\ncommand: []\n",
     "a.yaml:3: command: must be a text or a list of texts"},
    {"a.yaml", GOOD "---\n" GOOD, "a.yaml:5: name: a stands at line 1 already"},
    {"a.yaml", "apps: {}\n", "a.yaml:1: apps: must be a list of apps"},
    {"a.yaml", "apps: []\nname: x\n", "a.yaml:2: name: only domain may stand beside apps"},
    {"a.yaml", "name: [a\n",
     "a.yaml:2: not valid YAML: did not find expected ',' or ']', while "
     "parsing a flow sequence"},
    {"a.yaml", "name: \"a\\0b\"\n", "a.yaml:1: a zero byte cannot stand in a text"},
    {"a.yaml", "? [a]\n: b\n", "a.yaml:1: a key must be a single word"},
    {"a.json",
     "{\n\"name\":\"a\",\n\"rootfs\" : \"preloaded:x\",\n\"command\":\n[\"x\"],"
     "\"env\":[\n{}, {\"name\":\"}\\\"{\"},\n{\"name\":3}\n]}",
     "a.json:7: env[2].name: must be a text"},
    {"a.json", "{\"name\":\"a\",\n \"memroy\":1}",
     "a.json:2: memroy: unknown key; did you mean \"memory\"?"},
    {"a.json", "{\"name\":\"a\",\n}",
     "a.json:2: not valid JSON: string or '}' expected near '}'"},
};

static void mistakes_name_file_line_and_key(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        parsed_apps = NULL;
        int r = appfile_parse(&f->arena, mistakes[i].file, bytes_of(mistakes[i].text), &parsed_apps,
                              &parsed_count, &f->err);
        if (r == 0) {
            fail_msg("row %zu passed: %s", i, mistakes[i].text);
        }
        assert_string_equal(f->err.text, mistakes[i].mistake);
        assert_null(parsed_apps);
    }
}

/* A bbs does not know the line: what it would refuse is refused before. */
static void what_is_taken_is_taken_by_a_bbs(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *key;
        char fill;
        size_t most; /* letters of its value */
    } rows[] = {
        {"domain", 'd', NAME_CHARACTERS_MAX},     {"log_guid", 'l', NAME_CHARACTERS_MAX},
        {"annotation", 'a', ANNOTATION_BYTES_MAX}, {"rootfs", 'r', ROOT_FS_CHARACTERS_MAX - 10},
        {"routes", 'r', ROUTES_BYTES_MAX - 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t over = 0; over < 2; over++) {
            bool routes = strcmp(rows[i].key, "routes") == 0;
            bool rootfs = strcmp(rows[i].key, "rootfs") == 0;
            char *value = arena_alloc(&f->arena, rows[i].most + over + 1);
            memset(value, rows[i].fill, rows[i].most + over);
            value[rows[i].most + over] = 0;
            const char *text = arena_printf(
                &f->arena, "name: a\n%scommand: x\n%s: %s%s%s\n",
                rootfs ? "" : "rootfs: preloaded:x\n", rows[i].key,
                routes   ? "{k: "
                : rootfs ? "preloaded:"
                         : "",
                value, routes ? "}" : "");
            struct validation v;
            int r = appfile_parse(&f->arena, "a.yaml", bytes_of(text), &parsed_apps, &parsed_count,
                                  &f->err);
            if (over) {
                assert_int_equal(r, -ERR_INVALID);
                assert_string_equal(f->err.text,
                                    arena_printf(&f->arena, "a.yaml:%d: %s: is longer than %zu %s",
                                                 rootfs ? 3 : 4, rows[i].key,
                                                 rows[i].most + (routes   ? 2
                                                                 : rootfs ? 10
                                                                          : 0),
                                                 routes || rows[i].fill == 'a' ? "bytes"
                                                                               : "characters"));
                continue;
            }
            assert_int_equal(r, 0);
            v = (struct validation){0};
            valid_desire(&v, parsed_apps[0].lrp);
            if (!validation_ok(&v)) {
                fail_msg("%s: %s", rows[i].key, validation_text(&v));
            }
            validation_done(&v);
        }
    }
}

/* Neither a file's own check nor a bbs has anything against it. */
static void what_is_right_is_taken_by_both(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[] = {
        "egress: all\n",
        "egress: none\n",
        "egress:\n- {protocol: all, destinations: [0.0.0.0/0, '::/0', '::1-::2'], log: true}\n"
        "- {protocol: tcp, destinations: ['10.0.0.1,10.0.0.3-10.0.0.3'], ports: [1, 65535]}\n"
        "- {protocol: udp, destinations: [10.0.0.1/32], port_range: {start: 1, end: 65535}}\n"
        "- {protocol: icmp, destinations: [10.0.0.1], icmp_info: {type: -1, code: 255}}\n",
        "user: u\ndir: /\n",
        "dir: ''\nlog_rate_limit: {bytes_per_second: -1}\n",
        "image_username: u\nimage_password: p\n",
        "cached_dependencies:\n- {from: http://h, to: x}\n- {from: FILE:///x, to: /x/proc,"
        " checksum_algorithm: SHA256, checksum_value: " HEX64 "}\n",
        "legacy_download_user: u\nimage_layers:\n- {url: http://h, destination_path: /dev/x}\n"
        "- {url: http://h, destination_path: /, layer_type: EXCLUSIVE, digest_algorithm: SHA512,"
        " digest_value: " HEX64 HEX64 "}\n",
        "volume_mounts:\n- {driver: tmpfs, container_dir: /dev/shm, mode: rw}\n"
        "- {driver: bind, container_dir: /x, mode: r, shared: {volume_id: data}}\n"
        "- {driver: nfs, container_dir: /y, mode: r}\n",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = arena_printf(&f->arena, GOOD "%s", rows[i]);
        struct validation v = {0};
        valid_desire(&v, parsed(f, "a.yaml", text)->lrp);
        if (!validation_ok(&v)) {
            fail_msg("%s: %s", rows[i], validation_text(&v));
        }
        validation_done(&v);
    }
}

static void hostile_files_are_bounded(void **state)
{
    struct fixture *f = *state;
    SCOPED_BUF(text);
    /* Each level uses the one before nine times. */
    buf_append_string(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 12; i++) {
        buf_printf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    assert_int_equal(
        appfile_parse(&f->arena, "a.yaml", buf_bytes(&text), &parsed_apps, &parsed_count, &f->err),
        -ERR_TOO_LARGE);
    assert_string_equal(f->err.text,
                        "a.yaml:1: more than 20000 values; divide it into several files");
    assert_int_equal(appfile_parse(&f->arena, "a.yaml", bytes_of("name: &a [*a]\n"), &parsed_apps,
                                   &parsed_count, &f->err),
                     -ERR_TOO_LARGE);
    buf_clear(&text);
    for (int i = 0; i < 50000; i++) {
        buf_append_string(&text, "[");
    }
    /* Told by the depth, and not by what is missing at the end: it was not read to there. */
    assert_true(appfile_parse(&f->arena, "a.yaml", buf_bytes(&text), &parsed_apps, &parsed_count,
                              &f->err) < 0);
    assert_string_equal(f->err.text, "a.yaml:1: nested more than 64 deep");
    assert_true(appfile_parse(&f->arena, "a.json", buf_bytes(&text), &parsed_apps, &parsed_count,
                              &f->err) < 0);
    buf_clear(&text);
    for (int i = 0; i < NODE_DOCUMENTS_MAX; i++) {
        buf_append_string(&text, "--- a\n");
    }
    assert_int_equal(
        appfile_parse(&f->arena, "a.yaml", buf_bytes(&text), &parsed_apps, &parsed_count, &f->err),
        -ERR_TOO_LARGE);
    assert_string_equal(f->err.text,
                        "a.yaml: more than 255 documents; divide it into several files");
    buf_clear(&text);
    buf_append_string(&text, "apps:\n");
    for (int i = 0; i <= APPS_MAX; i++) {
        buf_printf(&text, "- {name: a%d, rootfs: 'preloaded:x', command: [x]}\n", i);
    }
    assert_int_equal(
        appfile_parse(&f->arena, "a.yaml", buf_bytes(&text), &parsed_apps, &parsed_count, &f->err),
        -ERR_TOO_LARGE);
    assert_string_equal(f->err.text, "a.yaml: more than 256 apps; divide it into several files");
    buf_reserve(&text, APPFILE_MAX_BYTES + 1);
    memset(text.data, '#', APPFILE_MAX_BYTES + 1);
    text.size = APPFILE_MAX_BYTES + 1;
    assert_int_equal(
        appfile_parse(&f->arena, "a.yaml", buf_bytes(&text), &parsed_apps, &parsed_count, &f->err),
        -ERR_TOO_LARGE);
    assert_string_equal(f->err.text, "a.yaml: larger than 1 MiB; divide it into several files");
}

/* `count` times `each` between `begin` and `end`; a number in the place of its "#". */
static int parse_yaml(struct fixture *f, const char *begin, const char *each, size_t count,
                      const char *end)
{
    SCOPED_BUF(text);
    struct node **nodes;
    size_t n;
    buf_append_string(&text, begin);
    for (size_t i = 0; i < count; i++) {
        const char *number = strchr(each, '#');
        buf_append(&text, each, number ? (size_t)(number - each) : strlen(each));
        if (number) {
            buf_printf(&text, "%zu%s", i, number + 1);
        }
    }
    buf_append_string(&text, end);
    return node_parse_yaml(&f->arena, "a.yaml", buf_bytes(&text), &nodes, &n, &f->err);
}

static void each_bound_of_a_file_is_met(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *begin, *each, *end;
        size_t most;
    } rows[] = {
        {"", "- ", "x", NODE_DEPTH_MAX - 1}, /* the text is the innermost value */
        {"a:\n", "- x\n", "", NODES_MAX - 3}, /* the map, its key, the list */
        {"", "- &a# x\n", "", NODE_ANCHORS_MAX},
        {"", "--- x\n", "", NODE_DOCUMENTS_MAX - 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t over = 0; over < 2; over++) {
            int r = parse_yaml(f, rows[i].begin, rows[i].each, rows[i].most + over, rows[i].end);
            if ((r < 0) != (over > 0)) {
                fail_msg("row %zu, %zu times: %d", i, rows[i].most + over, r);
            }
        }
    }
}

static void random_damage_is_survived(void **state)
{
    struct fixture *f = *state;
    struct random r;
    random_seed(&r, (uint64_t[2]){5, 6});
    static const char seed[] = GOOD "memory: 64M\nenv: {A: b}\nports: [80]\nmetric_tags:\n  run:\n"
                                    "    static: x\nroutes: {a: [1, \"x\"]}\n";
    unsigned good = 0;
    for (int i = 0; i < 5000; i++) {
        char text[sizeof(seed)];
        memcpy(text, seed, sizeof(seed));
        for (uint64_t n = random_below(&r, 4); n > 0; n--) {
            text[random_below(&r, sizeof(seed) - 1)] = (char)random_next(&r);
        }
        arena_reset(&f->arena);
        f->err.text[0] = 0;
        int e =
            appfile_parse(&f->arena, "a", (struct bytes){(const uint8_t *)text, sizeof(seed) - 1},
                          &parsed_apps, &parsed_count, &f->err);
        good += e == 0;
        assert_true(e == 0 || strlen(f->err.text) > 5);
    }
    assert_in_range(good, 500, 4500);
}

/* Whoever gives a wrong name is told so, and in the same way whatever it is that is wrong with it.
 */
static void a_file_that_cannot_be_read_is_a_wrong_use(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"/no/such/file.yaml", "cannot read /no/such/file.yaml: No such file or directory"},
        {"/", "/ is a directory: name a file in it"},
        {"/dev/null/app.yaml", "cannot read /dev/null/app.yaml: Not a directory"},
    };
    struct bytes text;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(app_file_read(&f->arena, rows[i][0], &text, &f->err), -ERR_INVALID);
        assert_string_equal(f->err.text, rows[i][1]);
    }
    assert_int_equal(app_file_read(&f->arena, "/dev/null", &text, &f->err), 0);
    assert_int_equal(text.size, 0);
    assert_int_equal(app_file_read(&f->arena, "/dev/zero", &text, &f->err), -ERR_TOO_LARGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_that_cannot_be_read_is_a_wrong_use),
        TEST(least_app_gets_defaults),
        TEST(shorthands_and_api_names_say_the_same),
        TEST(images_say_what_runs),
        TEST(every_change_of_the_definition_changes_the_guid),
        TEST(several_apps),
        TEST(json_and_yaml_say_the_same),
        TEST(a_key_without_a_value_is_as_left_out),
        TEST(mistakes_name_file_line_and_key),
        TEST(what_is_taken_is_taken_by_a_bbs),
        TEST(what_is_right_is_taken_by_both),
        TEST(hostile_files_are_bounded),
        TEST(each_bound_of_a_file_is_met),
        TEST(random_damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
