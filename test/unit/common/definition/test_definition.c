/* Definitions of systems: templates, references, what they compile to, and each mistake. */
#include "common/definition/answer.h"
#include "common/definition/check.h"
#include "common/definition/compile.h"
#include "common/definition/file_name.h"
#include "common/definition/mistake.h"

#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 8 };

/* What can be read: by url and name; `text` NULL = it needs its key. */
static struct {
    const char *url, *name, *text;
} files[FILES_MAX];
static const char *read_ref; /* what was last asked for, of a repository */

static int read_table(void *context, struct arena *a, const struct definition_ask *ask,
                      struct definition_file *ret, struct err *err)
{
    (void)context;
    const char *url = *ask->url ? ask->url : ask->from->url;
    const char *name = *ask->file ? ask->file : "lattice.yaml";
    read_ref = arena_printf(a, "%s%s%s%s", ask->branch, ask->tag, ask->commit, ask->version);
    for (size_t i = 0; i < FILES_MAX && files[i].name; i++) {
        if (strcmp(files[i].url, url) == 0 && strcmp(files[i].name, name) == 0) {
            *ret = (struct definition_file){.text = bytes_of(files[i].text ? files[i].text : ""),
                                            .name = files[i].name,
                                            .place = {url, *url ? "c0ffee" : "", ""}};
            return files[i].text ? 0 : err_set(err, ERR_DENIED, "no key");
        }
    }
    return err_set(err, ERR_NOT_FOUND, "%s: there is no such file", name);
}

static int no_tags(void *context, struct arena *a, const char *url, const char ***ret_tags,
                   size_t *ret_count, struct err *err)
{
    static const char *const tags[] = {"v1.10.0", "1.9.0", "newest", "2.0.0-rc.1"};
    (void)context, (void)url, (void)err;
    *ret_tags = arena_copy(a, tags, sizeof(tags));
    *ret_count = sizeof(tags) / sizeof(tags[0]);
    return 0;
}

static int fresh(void **state)
{
    memset(files, 0, sizeof(files));
    return fixture_setup(state);
}

static void put_file(const char *url, const char *name, const char *text)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (!files[i].name) {
            files[i].url = url;
            files[i].name = name;
            files[i].text = text;
            return;
        }
    }
    fail();
}

static struct resolved ask(struct fixture *f, struct resolve_request q)
{
    static const struct definition_repositories table = {
        .read = read_table, .tags = no_tags, .system_domain = "local.test"};
    q.system = "shop";
    q.uid = "u1";
    q.tree = "t1";
    return definition_answer(&f->arena, &q, &table);
}

static struct resolved source(struct fixture *f, const char *text)
{
    return ask(f, (struct resolve_request){.what = RESOLVE_SOURCE, .source = bytes_of(text)});
}

static const Board__ComponentRecord *component(const struct resolved *r, const char *path)
{
    assert_string_equal(r->fault, "");
    assert_true(r->done);
    for (size_t i = 0; i < r->component_count; i++) {
        if (strcmp(r->components[i]->path, path) == 0) {
            return r->components[i];
        }
    }
    fail_msg("no component %s", path);
    return NULL;
}

#define POOLS "type: v1/system\nnode_pools: {main: {instance_type: shared}}\n"
#define RUNS "build: {rootfs: preloaded:busybox}, exec: {command: [/bin/web]}"
#define SERVICE "type: v1/service, instance_type: shared, " RUNS

/* A system of one component, `x`. */
static const char *one(struct fixture *f, const char *inside)
{
    return arena_printf(&f->arena, POOLS "components:\n  x: {%s}\n", inside);
}

static void a_whole_definition_compiles(void **state)
{
    struct fixture *f = *state;
    static const char text[] =
        POOLS "components:\n"
              "  store:\n"
              "    type: v1/system\n"
              "    components:\n"
              "      Api:\n"
              "        type: v1/service\n"
              "        description: sells\n"
              "        build: {type: docker_image, registry: reg:5000, repository: demo/api, tag: "
              "\"1.4\"}\n"
              "        exec: {command: [/bin/api, -x], environment: {LOG: 1.10, KEY: {$secret: "
              "key}}}\n"
              "        ports: {8080: {protocol: HTTP, external_access: {public: true}}, 9090: {}}\n"
              "        health_check: {http: {path: /ok, port: 8080}}\n"
              "        resources: {memory: 64Mi, cpu: 500m}\n"
              "        disk: 1G\n"
              "        num_instances: 2\n"
              "        node_pool: \"/:main\"\n"
              "        rolling: {max_surge: 1, max_unavailable: 50%, ready_s: 3, deadline_s: 60}\n"
              "        on_cell_loss: hold\n"
              "        sidecars: {log: {exec: {command: tail -f x}}}\n"
              "  migrate: {type: v1/job, node_pool: \"/:main\", " RUNS "}\n";
    struct resolved r = source(f, text);
    const Board__ComponentRecord *api = component(&r, "/store/Api");
    assert_int_equal(r.component_count, 4);
    assert_string_equal(r.components[0]->path, "/");
    assert_string_equal(r.components[0]->kind, "system");
    assert_string_equal(r.components[0]->node_pools[0]->name, "main");
    assert_string_equal(api->tree, "t1");
    assert_string_equal(api->run->root_fs, "docker://reg:5000/demo/api#1.4");
    assert_string_equal(api->run->action->run_action->path, "/bin/api");
    assert_string_equal(api->run->action->run_action->args[0], "-x");
    assert_string_equal(api->run->action->run_action->user, "root");
    assert_string_equal(api->run->environment_variables[0]->value, "1.10");
    assert_string_equal(api->run->environment_variables[1]->sealed->name, "/store/Api:key");
    assert_int_equal(api->n_secrets, 1);
    assert_string_equal(api->secrets[0], "/store/Api:key");
    assert_int_equal(api->run->memory_mb, 64);
    assert_int_equal(api->run->disk_mb, 1024);
    assert_int_equal(api->run->cpu_max_percent, 50);
    assert_int_equal(api->instances, 2);
    assert_int_equal(api->rolling->deadline_s, 60);
    assert_string_equal(api->rolling->max_unavailable, "50%");
    assert_int_equal(api->run->on_cell_loss, MODELS__ON_CELL_LOSS__HOLD);
    assert_string_equal(api->run->sidecars[0]->action->run_action->args[1], "tail -f x");
    assert_int_equal(api->run->check_definition->n_checks, 1);
    assert_int_equal(api->run->check_definition->readiness_checks[0]->http_check->port, 8080);
    assert_int_equal(api->public_ports[0], 8080);
    assert_string_equal(api->pool, "/:main");
    assert_memory_equal(api->run->routes->routes[0]->value.data,
                        "[{\"hostnames\":[\"api.store.shop.local.test\"],\"port\":8080}]", 56);
    assert_memory_equal(api->run->routes->routes[1]->value.data,
                        "[{\"hostname\":\"api.store.shop.internal\"}]", 41);
    assert_string_equal(component(&r, "/migrate")->task->action->run_action->path, "/bin/web");
    assert_int_equal(r.index->n_entries, 4);
    assert_string_equal(r.index->entries[3]->secrets[0], "/store/Api:key");
    assert_string_equal(r.index->url, "");
}

static void a_service_runs_as_its_component_says(void **state)
{
    struct fixture *f = *state;
    struct resolved r = source(f, one(f, SERVICE ", num_instances: 3"));
    const Board__ComponentRecord *c = component(&r, "/x");
    Models__DesiredLRP *lrp = component_lrp(&f->arena, c, "shop", "u1");
    assert_string_equal(lrp->domain, "system.u1");
    assert_string_equal(lrp->owner->kind, "service");
    assert_string_equal(lrp->owner->uid, "u1/x");
    assert_int_equal(lrp->instances, 3);
    assert_int_equal(strncmp(lrp->process_guid, "shop.x-", 7), 0);
    assert_string_equal(lrp->log_guid, "shop.x");
    /* The number of instances is no other revision; the environment is. */
    struct resolved more = source(f, one(f, SERVICE ", num_instances: 4"));
    assert_string_equal(
        component_lrp(&f->arena, component(&more, "/x"), "shop", "u1")->process_guid,
        lrp->process_guid);
    assert_string_not_equal(component(&more, "/x")->hash, c->hash);
    struct resolved same = source(f, one(f, SERVICE ", num_instances: 3"));
    assert_string_equal(component(&same, "/x")->hash, c->hash);
}

static void a_long_path_has_a_guid_that_fits(void **state)
{
    struct fixture *f = *state;
    char path[513];
    memset(path, 'a', sizeof(path));
    for (size_t i = 0; i < 500; i += 50) {
        path[i] = '/';
    }
    path[500] = 0;
    struct resolved r = source(f, one(f, SERVICE));
    const char *guid = component_guid(&f->arena, "shop", path, component(&r, "/x")->run);
    assert_true(strlen(guid) <= 200);
    path[30] = 'b';
    assert_string_not_equal(component_guid(&f->arena, "shop", path, component(&r, "/x")->run),
                            guid);
}

static void an_image_says_what_runs(void **state)
{
    struct fixture *f = *state;
    struct resolved r =
        source(f, one(f, "type: v1/service, instance_type: shared, build: {type: docker_image, "
                         "repository: demo/api}"));
    const Models__RunAction *run = component(&r, "/x")->run->action->run_action;
    assert_true(run->from_image);
    assert_string_equal(run->user, "");
    assert_string_equal(component(&r, "/x")->run->root_fs, "docker:///demo/api");
}

static void templates_are_filled(void **state)
{
    struct fixture *f = *state;
    put_file("u", "lattice.yaml",
             POOLS "components:\n  api: {type: v1/reference, file: api.yaml, parameters: {n: 2, "
                   "name: web, more: [a, b], key: {$secret: k}, unused: 1}}\n");
    put_file("u", "api.yaml",
             "$parameters:\n  n: {type: number}\n  name: {type: string}\n  more: {type: array}\n"
             "  key: {type: secret}\n  log: {type: bool, default: true}\n"
             "type: v1/service\ninstance_type: shared\nnum_instances: ${n}\n"
             "build: {rootfs: \"preloaded:${name}\"}\n"
             "exec:\n  command: [/bin/sh, \"x-${more}-${log}\", \"$${HOME}\"]\n"
             "  environment: {KEY: \"${key}\"}\n");
    struct resolved r =
        ask(f, (struct resolve_request){.what = RESOLVE_VERSION, .url = "u", .version = "1.0.0"});
    const Board__ComponentRecord *api = component(&r, "/api");
    assert_string_equal(r.version, "1.0.0");
    assert_string_equal(r.commit, "c0ffee");
    assert_int_equal(api->instances, 2);
    assert_string_equal(api->run->root_fs, "preloaded:web");
    assert_string_equal(api->run->action->run_action->args[0], "x-[\"a\",\"b\"]-true");
    assert_string_equal(api->run->action->run_action->args[1], "${HOME}");
    assert_string_equal(api->run->environment_variables[0]->sealed->name, "/api:k");
    assert_string_equal(api->reference, "api.yaml");
    assert_string_equal(api->commit, "c0ffee");
    assert_int_equal(r.index->n_commits, 1);
    assert_string_equal(r.index->commits[0], "u c0ffee");
}

static void a_path_is_cut_out(void **state)
{
    struct fixture *f = *state;
    put_file("u", "lattice.yaml",
             POOLS "components: {a: {" SERVICE "}, ab: {" SERVICE
                   "}, c: {type: v1/reference, git_repository: {url: v, branch: main}}}\n");
    put_file("v", "lattice.yaml", "type: v1/system\ncomponents: {d: {" SERVICE "}}\n");
    struct resolve_request q = {
        .what = RESOLVE_PATH, .url = "u", .commit = "c0ffee", .path = "/a", .version = "1.0.0"};
    struct resolved r = ask(f, q);
    assert_true(r.done);
    assert_int_equal(r.component_count, 1);
    assert_string_equal(r.index->path, "/a");
    q.path = "/c";
    r = ask(f, q);
    assert_int_equal(r.component_count, 2);
    assert_string_equal(component(&r, "/c/d")->reference, "v main");
    assert_string_equal(read_ref, "main");
    assert_int_equal(r.index->n_commits, 2);
    q.path = "/nowhere";
    r = ask(f, q);
    assert_string_equal(r.fault, "/nowhere: there is no such component in the definition");
    q.commit = "";
    assert_false(ask(f, q).done);
}

static void a_path_does_not_wait_for_what_is_beside_it(void **state)
{
    struct fixture *f = *state;
    put_file("u", "lattice.yaml",
             POOLS "components:\n"
                   "  a: {type: v1/reference, git_repository: {url: v}}\n"
                   "  aa: {type: v1/reference, git_repository: {url: gone}}\n"
                   "  b: {type: v1/reference, git_repository: {url: w, ssh_key: {$secret: k}}}\n"
                   "  c: {type: v1/reference, file: gone.yaml}\n");
    put_file("v", "lattice.yaml",
             "type: v1/system\ncomponents:\n"
             "  d: {type: v1/system, components: {e: {" SERVICE "}}}\n"
             "  f: {type: v1/reference, git_repository: {url: gone}}\n");
    put_file("w", "lattice.yaml", NULL);
    struct resolve_request q = {
        .what = RESOLVE_PATH, .url = "u", .commit = "c0ffee", .path = "/a/d", .version = "1.0.0"};
    struct resolved r = ask(f, q);
    assert_int_equal(r.component_count, 2);
    assert_string_equal(component(&r, "/a/d/e")->reference, "v");
    assert_int_equal(r.index->n_commits, 2);
    q.path = "/a";
    assert_non_null(strstr(ask(f, q).fault, "/a/f: "));
    q.path = "/b";
    assert_string_equal(ask(f, q).needs, "/b:k");
    q.path = "/";
    assert_string_equal(ask(f, q).needs, "/b:k");
}

static void a_key_that_lacks_is_asked_for(void **state)
{
    struct fixture *f = *state;
    put_file("git@h:x", "lattice.yaml", NULL);
    struct resolved r = source(f, one(f, "type: v1/reference, git_repository: {url: \"git@h:x\", "
                                         "tag: a, ssh_key: {$secret: deploy}}"));
    assert_false(r.done);
    assert_string_equal(r.needs, "/x:deploy");
}

static void tags_are_sorted_versions(void **state)
{
    struct fixture *f = *state;
    struct resolved r = ask(f, (struct resolve_request){.what = RESOLVE_TAGS, .url = "u"});
    assert_int_equal(r.version_count, 3);
    assert_string_equal(r.versions[0], "1.9.0");
    assert_string_equal(r.versions[1], "v1.10.0");
    assert_string_equal(r.versions[2], "2.0.0-rc.1");
}

static void mistakes_of_local_files_are_a_list(void **state)
{
    struct fixture *f = *state;
    struct definition_checked c;
    struct definition_files table = {.read = read_table};
    put_file("", "shop.yaml",
             POOLS "components:\n"
                   "  a: {type: v1/reference, git_repository: {url: \"http://git/a\"}}\n"
                   "  b: {type: v1/reference, file: b.yaml}\n");
    put_file("", "b.yaml", "");
    definition_check(&f->arena, &table, "shop.yaml", "shop", &c);
    assert_false(c.good);
    assert_int_equal(c.list.count, 2);
    assert_string_equal(c.list.list[0],
                        "/a: shop.yaml:4: git_repository.url: \"http://git/a\": a git repository "
                        "is https://, ssh:// or user@host:path");
    assert_string_equal(c.list.list[1], "/b: b.yaml: is empty: a definition begins with its type");
}

static void local_files_are_joined(void **state)
{
    struct fixture *f = *state;
    put_file("", "shop.yaml",
             POOLS "components:\n  api: {type: v1/reference, file: api.yaml, parameters: {v: "
                   "\"${x}\"}}\n  far: {type: v1/reference, git_repository: {url: u, tag: "
                   "\"1.0\"}}\n");
    files[0].text =
        POOLS "components:\n  api: {type: v1/reference, file: api.yaml}\n"
              "  far: {type: v1/reference, git_repository: {url: \"https://u\", tag: t}}\n";
    put_file(
        "", "api.yaml",
        "$parameters: {v: {type: string, default: \"1\"}}\ntype: v1/service\n"
        "instance_type: shared\nbuild: {rootfs: preloaded:busybox}\n"
        "exec: {command: [sh, \"$${HOME}\", \"${v}\"], environment: {A: 1.10, K: {$secret: k}}}\n");
    struct definition_checked c;
    struct definition_files table = {.read = read_table};
    definition_check(&f->arena, &table, "shop.yaml", "shop", &c);
    assert_string_equal(c.faults, "");
    assert_true(c.good);
    assert_int_equal(c.services, 1);
    assert_int_equal(c.references, 1);
    put_file("https://u", "lattice.yaml", "{" SERVICE "}");
    struct resolved r = ask(f, (struct resolve_request){.what = RESOLVE_SOURCE, .source = c.text});
    const Board__ComponentRecord *api = component(&r, "/api");
    assert_string_equal(api->run->action->run_action->args[0], "${HOME}");
    assert_string_equal(api->run->action->run_action->args[1], "1");
    assert_string_equal(api->run->environment_variables[0]->value, "1.10");
    assert_string_equal(api->run->environment_variables[1]->sealed->name, "/api:k");
    assert_string_equal(component(&r, "/far")->kind, "service");
}

static void mistakes_are_told(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *inside, *fault;
    } rows[] = {
        {"type: v2/service", "\"v2/service\": the only version there is is v1"},
        {"type: v1/thing", "there are system, service, job and reference"},
        {"type: service", "is not VERSION/KIND"},
        {"description: x", "type: is missing"},
        {SERVICE ", memroy: 1", "memroy: unknown key"},
        {SERVICE ", num_instance: 1", "did you mean \"num_instances\"?"},
        {SERVICE ", num_instances: -1", "must be a whole number from 0 to 100000"},
        {SERVICE ", num_instances: 100001", "must be a whole number from 0 to 100000"},
        {SERVICE ", num_instances: two", "must be a whole number"},
        {"type: v1/service, " RUNS, "node_pool: is missing"},
        {"type: v1/service, node_pool: \"/:none\", " RUNS, "there is no pool /:none"},
        {"type: v1/service, node_pool: none, " RUNS, "it is written path:name"},
        {"type: v1/service, node_pool: {instance_type: Big, num_instances: 3}, " RUNS,
         "instance_type must be 1 to 63 of a-z, 0-9 and -"},
        {"type: v1/service, node_pool: {instance_type: big, num_instances: 257}, " RUNS,
         "must be a whole number from 0 to 256"},
        {"type: v1/service, node_pool: {num_instances: 3}, " RUNS, "instance_type is missing"},
        {"type: v1/service, instance_type: b_g, " RUNS, "must be 1 to 63 of a-z, 0-9 and -"},
        {"type: v1/service, instance_type: big, num_instances: 257, " RUNS,
         "gives each instance a cell, and a pool has at most 256: give node_pool"},
        {"type: v1/job, node_pool: {instance_type: big, num_instances: 3}, " RUNS,
         "a job runs in a pool that is shared: say /path:name"},
        {"type: v1/job, node_pool: {instance_type: shared}, " RUNS, "say /path:name"},
        {"type: v1/job, instance_type: shared, " RUNS, "instance_type: unknown key"},
        {"type: v1/job, " RUNS, "node_pool: is missing"},
        {"type: v1/job, node_pool: \"/:main\", sidecars: {}, " RUNS,
         "sidecars of jobs are not supported"},
        {SERVICE ", rolling: {max_surge: 0, max_unavailable: 0%}", "are both 0"},
        {SERVICE ", rolling: {max_surge: 0}", "are both 0"},
        {SERVICE ", rolling: {max_surge: many}", "must be a number, or percent: 25%"},
        {SERVICE ", rolling: {max_surge: 101%}", "must be a number, or percent: 25%"},
        {SERVICE ", rolling: {ready_s: 90, deadline_s: 60}", "ready_s is 90, over deadline_s, 60"},
        {SERVICE ", ports: {0: {}}", "\"0\" is no port: 1 to 65535"},
        {SERVICE ", ports: {65536: {}}", "is no port"},
        {SERVICE ", ports: {80: {}, \"080\": {}}", "80 stands here twice"},
        {SERVICE ", ports: {80: {protocol: UDP}}", "must be HTTP or TCP"},
        {SERVICE ", ports: {80: {external_access: {public: 1}}}", "must be true or false"},
        {SERVICE ", health_check: {http: {port: 80}}", "80 is none of its ports"},
        {SERVICE ", health_check: {tcp: {port: 80}}", "tcp: unknown key"},
        {SERVICE ", resources: {memory: 64}", "must be a size"},
        {SERVICE ", resources: {memory: 1M}", "must be 4 MB at least"},
        {SERVICE ", resources: {cpu: fast}", "must be processors"},
        {SERVICE ", on_cell_loss: die", "must be replace or hold"},
        {SERVICE ", dir: tmp", "must begin with /"},
        {SERVICE ", description: \"a\\x01b\"", "has a control character in it"},
        {SERVICE ", sidecars: {proxy: {build: {rootfs: preloaded:x}}}",
         "sidecar \"proxy\": an image of its own is not supported; leave its build out and it runs "
         "in the service's root filesystem"},
        {"type: v1/service, instance_type: shared", "build: is missing"},
        {"type: v1/service, instance_type: shared, build: {type: command_build}",
         "build type command_build is not supported: build the image elsewhere and name it with "
         "docker_image"},
        {"type: v1/service, instance_type: shared, build: {type: docker_build}",
         "build type docker_build is not supported"},
        {"type: v1/service, instance_type: shared, build: {type: x}", "there are docker_image and"},
        {"type: v1/service, instance_type: shared, build: {rootfs: nothing}", "nothing"},
        {"type: v1/service, instance_type: shared, build: {rootfs: preloaded:busybox}",
         "exec.command: is missing"},
        {SERVICE ", exec: {command: []}", "stands"},
        {"type: v1/service, instance_type: shared, build: {rootfs: preloaded:b}, exec: {command: "
         "[a], environment: {\"A=B\": 1}}",
         "has no ="},
        {"type: v1/service, instance_type: shared, build: {rootfs: preloaded:b}, exec: {command: "
         "[a], environment: {A: {$secret: \"a b\"}}}",
         "a name has letters, digits, - and _ only"},
        {"type: v1/service, instance_type: shared, build: {rootfs: preloaded:b}, exec: {command: "
         "[a], environment: {A: {$secret_ref: key}}}",
         "must be path:name"},
        {"type: v1/service, instance_type: shared, build: {rootfs: preloaded:b}, exec: {command: "
         "[a, \"${HOME}\"]}",
         "${HOME} is no parameter of this file"},
        {"type: v1/reference", "git_repository or file, one of them"},
        {"type: v1/reference, file: a, git_repository: {url: u}", "not both"},
        {"type: v1/reference, git_repository: {url: u, tag: a, branch: b}", "not several"},
        {"type: v1/reference, git_repository: {tag: a}", "git_repository.url: is missing"},
        {"type: v1/reference, git_repository: {url: u, ssh_key: abc}",
         "a key is no text of a file"},
        {"type: v1/reference, file: other.yaml", "beside which no file lies"},
        {"type: v1/reference, git_repository: {url: u, tag: a}", "there is no such file"},
        {"type: v1/system, components: {\"a.b\": {}}", "a name has letters"},
        {"type: v1/system, components: {a: {" SERVICE "}, A: {" SERVICE "}}",
         "differs from a in capitals only"},
        {"type: v1/system, components: [a]", "must be a map from name to component"},
        {"type: v1/system, node_pools: {p: {num_instances: 1}}", "instance_type is missing"},
        {"type: v1/system, node_pools: {p: {instance_type: x y}}",
         "instance_type must be 1 to 63 of a-z, 0-9 and -"},
        {"type: v1/system, node_pools: {p: {instance_type: x, num_instances: -1}}",
         "must be a whole number from 0 to 256"},
        {"type: v1/system, node_pools: {\"p.q\": {instance_type: x}}", "a name has letters"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct resolved r = source(f, one(f, rows[i].inside));
        if (r.done || !strstr(r.fault, rows[i].fault)) {
            fail_msg("{%s}\n%s\nand not: %s", rows[i].inside, r.done ? "is good" : r.fault,
                     rows[i].fault);
        }
    }
}

static void mistakes_say_where(void **state)
{
    struct fixture *f = *state;
    struct resolved r = source(f, POOLS "components:\n  x:\n    type: v1/service\n"
                                        "    instance_type: shared\n    build: {rootfs: "
                                        "preloaded:b}\n    exec: {command: [a]}\n    disk: much\n");
    assert_string_equal(r.fault,
                        "/x: definition:9: disk: must be a size, like 64M or 1G (K, M, G or T)");
}

static void many_mistakes_are_counted(void **state)
{
    struct fixture *f = *state;
    const char *text = POOLS "components:\n";
    for (int i = 0; i < 25; i++) {
        text = arena_printf(&f->arena, "%s  c%d: {type: v1/none}\n", text, i);
    }
    struct resolved r = source(f, text);
    assert_non_null(strstr(r.fault, "; and 5 more"));
    assert_non_null(strstr(r.fault, "/c19: "));
    assert_null(strstr(r.fault, "/c20: "));
}

static void parameters_have_types(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *declared, *given, *fault;
    } rows[] = {
        {"{type: number}", "", "is not given, and has no default"},
        {"{type: number}", "p: many", "must be of type number"},
        {"{type: string}", "p: 1", "must be of type string"},
        {"{type: bool}", "p: 1", "must be of type bool"},
        {"{type: array}", "p: {}", "must be of type array"},
        {"{type: object}", "p: []", "must be of type object"},
        {"{type: secret}", "p: text", "must be of type secret"},
        {"{type: text}", "p: 1", "\"text\" is no type of a parameter"},
        {"{default: 1}", "", "type is missing"},
        {"{type: number, default: x}", "", "must be of type number"},
    };
    put_file("u", "lattice.yaml", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        files[0].text =
            arena_printf(&f->arena, "$parameters: {p: %s}\n" SERVICE "\n", rows[i].declared);
        files[0].text =
            arena_printf(&f->arena, "{$parameters: {p: %s}, " SERVICE "}\n", rows[i].declared);
        struct resolved r =
            source(f, one(f, arena_printf(&f->arena,
                                          "type: v1/reference, git_repository: {url: u}, "
                                          "parameters: {%s}",
                                          rows[i].given)));
        if (r.done || !strstr(r.fault, rows[i].fault)) {
            fail_msg("%s with {%s}\n%s\nand not: %s", rows[i].declared, rows[i].given, r.fault,
                     rows[i].fault);
        }
    }
}

static void references_end(void **state)
{
    struct fixture *f = *state;
    put_file("u", "lattice.yaml", "{type: v1/reference, file: b.yaml}");
    put_file("u", "b.yaml", "{type: v1/reference, file: lattice.yaml}");
    struct resolve_request q = {.what = RESOLVE_VERSION, .url = "u", .version = "1.0.0"};
    assert_non_null(strstr(ask(f, q).fault, "a cycle: lattice.yaml leads to itself"));
    /* It gives itself another parameter each time, and so is never the same again. */
    files[1].text = "{$parameters: {p: {type: string, default: \"\"}}, type: v1/reference, "
                    "file: b.yaml, parameters: {p: \"${p}a\"}}";
    assert_non_null(strstr(ask(f, q).fault, "more than 500 references lead to each other"));
    files[1].text = "{type: v1/system, components: {x: {type: v1/reference, file: b.yaml, "
                    "parameters: {}}}}";
    files[0].text = files[1].text;
    assert_non_null(strstr(ask(f, q).fault, "a cycle"));
}

static void what_grows_is_bounded(void **state)
{
    struct fixture *f = *state;
    put_file("u", "lattice.yaml", "");
    put_file("u", "b.yaml", "");
    struct resolve_request q = {.what = RESOLVE_VERSION, .url = "u", .version = "1.0.0"};
    files[0].text = "{type: v1/reference, file: b.yaml, parameters: {p: a}}";
    files[1].text = "{$parameters: {p: {type: string}}, type: v1/reference, file: b.yaml, "
                    "parameters: {p: \"${p}${p}\"}}";
    assert_non_null(strstr(ask(f, q).fault, "a text is longer than 65536 bytes"));
    files[0].text = "{type: v1/reference, file: b.yaml, parameters: {p: [a]}}";
    files[1].text = "{$parameters: {p: {type: array}}, type: v1/reference, file: b.yaml, "
                    "parameters: {p: [\"${p}\", \"${p}\"]}}";
    assert_non_null(strstr(ask(f, q).fault, "has more than 1000000 values"));
    files[1].text = "{$parameters: {p: {type: array}}, type: v1/reference, file: b.yaml, "
                    "parameters: {p: [\"${p}\"]}}";
    assert_non_null(strstr(ask(f, q).fault, "a parameter is nested deeper than 64"));
}

static void a_tree_is_not_too_deep_nor_too_wide(void **state)
{
    struct fixture *f = *state;
    const char *text = SERVICE;
    for (int i = 0; i < 17; i++) {
        text = arena_printf(&f->arena, "type: v1/system, components: {a: {%s}}", text);
    }
    assert_non_null(strstr(source(f, arena_printf(&f->arena, "{%s}", text)).fault,
                           "a path has at most 16 segments"));
    put_file("u", "lattice.yaml", "");
    SCOPED_BUF(wide);
    buf_append_string(&wide, "{$parameters: {n: {type: number, default: 0}}, type: v1/system, "
                             "components: {");
    for (int i = 0; i < 101; i++) {
        buf_printf(&wide, "c%d: {type: v1/reference, file: b.yaml},", i);
    }
    buf_append_string(&wide, "}}");
    files[0].text = buf_string(&wide);
    SCOPED_BUF(narrow);
    buf_append_string(&narrow, "{type: v1/system, components: {");
    for (int i = 0; i < 100; i++) {
        buf_printf(&narrow, "c%d: {type: v1/system},", i);
    }
    buf_append_string(&narrow, "}}");
    put_file("u", "b.yaml", buf_string(&narrow));
    struct resolve_request q = {.what = RESOLVE_VERSION, .url = "u", .version = "1.0.0"};
    assert_non_null(strstr(ask(f, q).fault, "more than 9999 components"));
}

/* A system of so many components with paths of about 450 bytes. */
static struct resolved ask_wide(struct fixture *f, int count)
{
    SCOPED_BUF(text);
    buf_append_string(&text, "{type: v1/system, components: {");
    for (int level = 0; level < 7; level++) {
        buf_printf(&text, "%063d: {type: v1/system, components: {", level);
    }
    for (int i = 0; i < count; i++) {
        buf_printf(&text, "c%d: {type: v1/system},", i);
    }
    for (int level = 0; level < 8; level++) {
        buf_append_string(&text, "}}");
    }
    return source(f, arena_strdup(&f->arena, buf_string(&text)));
}

/* What is too large for a record is told, and what is just not is let through. */
static void an_index_has_a_bound(void **state)
{
    struct fixture *f = *state;
    int good = 100, bad = 5000;
    size_t size = 0;
    while (good + 1 < bad) {
        int count = (good + bad) / 2;
        struct resolved r = ask_wide(f, count);
        size = r.done ? board__index_record__get_packed_size(r.index) : size;
        *(r.done ? &good : &bad) = count;
    }
    assert_true(size <= DEFINITION_INDEX_BYTES_MAX && size > DEFINITION_INDEX_BYTES_MAX - 1024);
    assert_string_equal(ask_wide(f, bad).fault,
                        "the list of its components is larger than 960 KiB: shorten paths");
}

static int read_any(void *context, struct arena *a, const struct definition_ask *ask,
                    struct definition_file *ret, struct err *err)
{
    (void)context, (void)a, (void)err;
    *ret = (struct definition_file){.text = bytes_of("{" SERVICE "}"),
                                    .name = "lattice.yaml",
                                    .place = {ask->url, "c0ffee", ""}};
    return 0;
}

static void a_list_of_repositories_has_a_bound(void **state)
{
    struct fixture *f = *state;
    for (int count = 255; count <= 265; count += 10) { /* of 1,007 bytes each, with the commit */
        SCOPED_BUF(text);
        buf_append_string(&text, POOLS "components:\n");
        for (int i = 0; i < count; i++) {
            buf_printf(&text, "  c%d: {type: v1/reference, git_repository: ", i);
            buf_printf(&text, "{url: 'https://h/%0990d'}}\n", i);
        }
        struct resolve_request q = {.what = RESOLVE_SOURCE, .source = buf_bytes(&text),
                                    .system = "shop", .uid = "u1", .tree = "t1"};
        struct definition_repositories any = {.read = read_any, .system_domain = ""};
        struct resolved r = definition_answer(&f->arena, &q, &any);
        assert_int_equal(r.done, count == 255);
        assert_true(r.done || strstr(r.fault, "the list of the repositories that it is read from "
                                              "is larger than 256 KiB"));
    }
}

/* Names and addresses are made of the system's. Of tags it need not be known. */
static void a_request_says_of_which_system(void **state)
{
    struct fixture *f = *state;
    struct definition_repositories any = {.read = read_any, .tags = no_tags, .system_domain = ""};
    for (int left_out = 0; left_out < 3; left_out++) {
        struct resolve_request q = {.source = bytes_of("{" SERVICE "}"), .url = "https://h/1",
                                    .version = "1.0.0", .commit = "c0ffee", .tree = "t1",
                                    .system = left_out == 1 ? "" : "shop",
                                    .uid = left_out == 2 ? "" : "u1"};
        for (int what = 0; what < RESOLVE_WHAT_COUNT; what++) {
            q.what = (enum resolve_what)what;
            struct resolved r = definition_answer(&f->arena, &q, &any);
            bool refused = left_out > 0 && what != RESOLVE_TAGS;
            assert_int_equal(
                strcmp(r.fault, "it is not said of which system the definition is") == 0, refused);
            assert_true(!refused || !r.done);
        }
    }
}

/* And a path that is one; none is the whole. */
static void a_request_says_which_path(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {"t", "/a//b", "a/", "/a/"};
    struct definition_repositories any = {.read = read_any, .tags = no_tags, .system_domain = ""};
    struct resolve_request q = {.what = RESOLVE_SOURCE, .source = bytes_of(one(f, SERVICE)),
                                .system = "shop", .uid = "u1", .tree = "t1", .path = ""};
    assert_true(definition_answer(&f->arena, &q, &any).done);
    q.path = NULL;
    assert_true(definition_answer(&f->arena, &q, &any).done);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        q.path = paths[i];
        struct resolved r = definition_answer(&f->arena, &q, &any);
        assert_false(r.done);
        assert_non_null(strstr(r.fault, paths[i]));
    }
}

/* One that leads from https://h/N to https://h/N-1, and so on to a service at https://h/0. */
static int read_next(void *context, struct arena *a, const struct definition_ask *ask,
                     struct definition_file *ret, struct err *err)
{
    int n = 0;
    (void)context, (void)err;
    assert_int_equal(sscanf(ask->url, "https://h/%d", &n), 1);
    const char *next = arena_printf(
        a, "{type: v1/reference, git_repository: {url: 'https://h/%d'}}", n - 1);
    *ret = (struct definition_file){.text = bytes_of(n == 0 ? "{" SERVICE "}" : next),
                                    .name = "lattice.yaml",
                                    .place = {ask->url, "c0ffee", ""}};
    return 0;
}

static struct resolved read_by(struct fixture *f, const char *text, definition_read *read,
                               void *context)
{
    struct resolve_request q = {.what = RESOLVE_SOURCE, .source = bytes_of(text),
                                .system = "shop", .uid = "u1", .tree = "t1"};
    struct definition_repositories all = {.read = read, .context = context, .system_domain = ""};
    return definition_answer(&f->arena, &q, &all);
}

static void a_chain_of_references_has_a_bound(void **state)
{
    struct fixture *f = *state;
    for (int more = 0; more <= 1; more++) {
        const char *text = arena_printf(
            &f->arena,
            POOLS "components: {x: {type: v1/reference, git_repository: {url: 'https://h/%d'}}}\n",
            DEFINITION_CHAIN_MAX - 1 + more);
        struct resolved r = read_by(f, text, read_next, NULL);
        assert_int_equal(r.done, !more);
        assert_true(r.done || strstr(r.fault, "more than 500 references lead to each other"));
    }
}

/* A service that describes itself with so many letters as the number in its URL. */
static int read_wordy(void *context, struct arena *a, const struct definition_ask *ask,
                      struct definition_file *ret, struct err *err)
{
    int letters = 0;
    (void)err;
    assert_int_equal(sscanf(ask->url, "https://h/%d", &letters), 1);
    const char *text =
        arena_printf(a, "{" SERVICE ", description: %.*s}", letters, (const char *)context);
    *ret = (struct definition_file){
        .text = bytes_of(text), .name = "lattice.yaml", .place = {ask->url, "c0ffee", ""}};
    return 0;
}

/* One service of `last` letters, and so many of 60,000 before it. */
static struct resolved ask_wordy(struct fixture *f, int count, int last)
{
    SCOPED_BUF(text);
    char *letters = arena_alloc(&f->arena, DEFINITION_COMPONENT_BYTES_MAX + 1);
    memset(letters, 'x', DEFINITION_COMPONENT_BYTES_MAX);
    letters[DEFINITION_COMPONENT_BYTES_MAX] = 0;
    buf_append_string(&text, POOLS "components:\n");
    for (int i = 0; i <= count; i++) {
        buf_printf(&text, "  c%03d: {type: v1/reference, git_repository: {url: 'https://h/%d'}}\n",
                   i, i < count ? 60000 : last);
    }
    return read_by(f, buf_string(&text), read_wordy, letters);
}

/* As it counts: without what says of which tree it is, and where it was read. */
static size_t own_size(const Board__ComponentRecord *c)
{
    Board__ComponentRecord own = *c;
    own.hash = own.tree = own.reference = own.commit = (char *)"";
    return board__component_record__get_packed_size(&own);
}

static void a_component_has_a_bound(void **state)
{
    struct fixture *f = *state;
    struct resolved r = ask_wordy(f, 0, 60000);
    assert_true(r.done);
    int most = 60000 + DEFINITION_COMPONENT_BYTES_MAX - (int)own_size(r.components[1]);
    r = ask_wordy(f, 0, most);
    assert_true(r.done);
    assert_int_equal(own_size(r.components[1]), DEFINITION_COMPONENT_BYTES_MAX);
    assert_string_equal(ask_wordy(f, 0, most + 1).fault, "/c000: is larger than 64 KiB");
}

static size_t tree_size(const struct resolved *r)
{
    size_t bytes = 0;
    for (size_t i = 0; i < r->component_count; i++) {
        bytes += board__component_record__get_packed_size(r->components[i]);
    }
    return bytes;
}

/* The last service fills what those before it leave. */
static void a_tree_has_a_bound(void **state)
{
    struct fixture *f = *state;
    struct resolved one = ask_wordy(f, 1, 60000), two = ask_wordy(f, 2, 60000);
    size_t each = tree_size(&two) - tree_size(&one);
    int count = (int)(DEFINITION_TREE_BYTES_MAX / each);
    struct resolved r = ask_wordy(f, count, 20000);
    assert_true(r.done);
    int most = 20000 + DEFINITION_TREE_BYTES_MAX - (int)tree_size(&r);
    r = ask_wordy(f, count, most);
    assert_true(r.done);
    assert_int_equal(tree_size(&r), DEFINITION_TREE_BYTES_MAX);
    assert_string_equal(ask_wordy(f, count, most + 1).fault,
                        "the definition is larger than 32 MiB");
}

/* So many tags as the context says, v1.0.0 and up. */
static int many_tags(void *context, struct arena *a, const char *url, const char ***ret_tags,
                     size_t *ret_count, struct err *err)
{
    (void)url, (void)err;
    *ret_count = *(const size_t *)context;
    *ret_tags = ARENA_ARRAY(a, *ret_count, const char *);
    for (size_t i = 0; i < *ret_count; i++) {
        (*ret_tags)[i] = arena_printf(a, "v1.0.%zu", i);
    }
    return 0;
}

/* The highest are kept. */
static void a_list_of_tags_has_a_bound(void **state)
{
    struct fixture *f = *state;
    struct resolve_request q = {.what = RESOLVE_TAGS, .system = "shop", .uid = "u1", .url = "u"};
    for (size_t more = 0; more <= 1; more++) {
        size_t count = RESOLVE_VERSIONS_MAX + more;
        struct definition_repositories all = {.tags = many_tags, .context = &count};
        struct resolved r = definition_answer(&f->arena, &q, &all);
        assert_true(r.done);
        assert_int_equal(r.version_count, RESOLVE_VERSIONS_MAX);
        assert_string_equal(r.versions[0], more ? "v1.0.1" : "v1.0.0");
        assert_string_equal(r.versions[RESOLVE_VERSIONS_MAX - 1], more ? "v1.0.1000" : "v1.0.999");
    }
}

static void requests_are_checked(void **state)
{
    struct fixture *f = *state;
    struct resolve_request q = {.what = RESOLVE_VERSION, .url = "u", .version = "newest"};
    assert_string_equal(ask(f, q).fault, "newest is no version: a tag like 1.2.3 or v1.2.3");
    q = (struct resolve_request){.what = RESOLVE_VERSION, .version = "1.0.0"};
    assert_non_null(strstr(ask(f, q).fault, "the system has no repository"));
    assert_non_null(strstr(source(f, "{" SERVICE "}").fault,
                           "/: a definition is a v1/system, not a v1/service"));
    assert_false(source(f, "").done);
    assert_false(source(f, "a: [").done);
    assert_non_null(strstr(source(f, "--- {}\n--- {}\n").fault, "has 2 documents, not one"));
}

static void names_of_strangers_are_checked(void **state)
{
    struct fixture *f = *state;
    static const char *const good_urls[] = {"https://h/x.git", "ssh://git@h:22/x", "git@h:x/y.git"};
    static const char *const bad_urls[] = {"",
                                           "http://h/x",
                                           "git://h/x",
                                           "ext::sh -c x",
                                           "--upload-pack=x",
                                           "ssh://-oProxyCommand=x/y",
                                           "file:///x",
                                           "/etc",
                                           "../x",
                                           "https://",
                                           "git@-o:x",
                                           "-o@h:x",
                                           "https://h/a b",
                                           "h:x",
                                           "ssh://a@-b/c"};
    static const char *const bad_files[] = {"",     "/etc/passwd", "../x", "a/../b", "-x", "a/-x",
                                            "a//b", ".git/config", "a\nb", "a:b",    "x/"};
    static const char *const bad_refs[] = {"",      "-x", "a..b", "a:b", "a b",
                                           "a@{1}", "/a", "a/",   "a^"};
    for (size_t i = 0; i < sizeof(good_urls) / sizeof(good_urls[0]); i++) {
        assert_null(definition_url_fault(&f->arena, good_urls[i], false));
    }
    assert_null(definition_url_fault(&f->arena, "file:///x", true));
    for (size_t i = 0; i < sizeof(bad_urls) / sizeof(bad_urls[0]); i++) {
        if (!definition_url_fault(&f->arena, bad_urls[i], false)) {
            fail_msg("%s is taken", bad_urls[i]);
        }
    }
    for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
        if (!definition_file_name_fault(&f->arena, bad_files[i])) {
            fail_msg("%s is taken", bad_files[i]);
        }
    }
    for (size_t i = 0; i < sizeof(bad_refs) / sizeof(bad_refs[0]); i++) {
        if (!definition_ref_fault(&f->arena, bad_refs[i])) {
            fail_msg("%s is taken", bad_refs[i]);
        }
    }
    assert_null(definition_ref_fault(&f->arena, "feature/a-b_1.0"));
    assert_null(definition_file_name_fault(&f->arena, "a/b-c.yaml"));
    assert_non_null(definition_commit_fault(&f->arena, "HEAD"));
}

/* As docs/systems.md has a key in the table of its place. */
static const char *key_row(struct arena *a, const struct definition_key *k)
{
    return arena_printf(a, "| `%s` | %s | %s | %s |\n", k->name, k->value, k->otherwise,
                        k->meaning);
}

static void the_page_has_each_key(void **state)
{
    struct fixture *f = *state;
    size_t count;
    const struct definition_key *keys = definition_keys(&count);
    char *page = page_read("docs/systems.md");
    assert_non_null(page);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(page, key_row(&f->arena, &keys[i]))) {
            fail_msg("docs/systems.md, Definitions, lacks this row:\n%s",
                     key_row(&f->arena, &keys[i]));
        }
    }
    free(page);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_definition_compiles),
        TEST(a_service_runs_as_its_component_says),
        TEST(a_long_path_has_a_guid_that_fits),
        TEST(an_image_says_what_runs),
        TEST(templates_are_filled),
        TEST(a_path_is_cut_out),
        TEST(a_path_does_not_wait_for_what_is_beside_it),
        TEST(a_key_that_lacks_is_asked_for),
        TEST(tags_are_sorted_versions),
        TEST(local_files_are_joined),
        TEST(mistakes_of_local_files_are_a_list),
        TEST(mistakes_are_told),
        TEST(mistakes_say_where),
        TEST(many_mistakes_are_counted),
        TEST(parameters_have_types),
        TEST(references_end),
        TEST(what_grows_is_bounded),
        TEST(a_tree_is_not_too_deep_nor_too_wide),
        TEST(an_index_has_a_bound),
        TEST(a_list_of_repositories_has_a_bound),
        TEST(a_request_says_of_which_system),
        TEST(a_request_says_which_path),
        TEST(a_chain_of_references_has_a_bound),
        TEST(a_component_has_a_bound),
        TEST(a_tree_has_a_bound),
        TEST(a_list_of_tags_has_a_bound),
        TEST(requests_are_checked),
        TEST(names_of_strangers_are_checked),
        TEST(the_page_has_each_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
