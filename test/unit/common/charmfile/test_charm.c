/* Charm files: what is read, and how each mistake is told, with line and key; and configurations.
 */
#include "common/charmfile/charm.h"

#include "common/appfile/node.h"
#include "common/base/message.h"
#include "common/charmfile/charm_key.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"
#include "test/tool/page.h"

#include <stdlib.h>
#include <string.h>

#define LEAST "name: web\nrootfs: preloaded:busybox\ncommand: sleep 9\n" /* 3 lines */

static struct charm parsed(struct fixture *f, const char *file, const char *text)
{
    struct charm c = {.name = NULL};
    if (charm_parse(&f->arena, file, bytes_of(text), &c, &f->err) < 0) {
        fail_msg("%s\n%s", text, f->err.text);
    }
    return c;
}

static void a_whole_charm_is_read(void **state)
{
    struct fixture *f = *state;
    struct charm c =
        parsed(f, "web.yaml",
               LEAST "memory: 64M\n"
                     "requires: {info: {interface: juju-info, scope: container},\n"
                     "  db: {interface: kv}}\n"
                     "provides: {www: {interface: http, scope: global}}\n"
                     "peers: {ring: {interface: gossip}}\n"
                     "subordinate: true\n"
                     "config: {b: {default: ''}, a: {default: hello, description: x}}\n"
                     "hooks: {install: 'true', db-relation-joined: {path: /opt/j}}\n");
    static const char *const names[] = {"db", "info", "ring", "www"};
    assert_string_equal(c.name, "web");
    assert_true(c.subordinate);
    assert_int_equal(c.endpoint_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(c.endpoints[i].name, names[i]);
        assert_int_equal(c.endpoints[i].container, i == 1);
        assert_ptr_equal(charm_endpoint_named(&c, names[i]), &c.endpoints[i]);
    }
    assert_int_equal(charm_endpoint_named(&c, "www")->role, CHARM_PROVIDES);
    assert_int_equal(charm_endpoint_named(&c, "ring")->role, CHARM_PEERS);
    assert_string_equal(charm_endpoint_named(&c, "db")->interface, "kv");
    assert_null(charm_endpoint_named(&c, "d"));
    assert_int_equal(c.config_count, 2);
    assert_string_equal(c.config[0].key, "a");
    assert_string_equal(c.config[0].value, "hello");
    assert_string_equal(c.config[1].value, "");
    assert_int_equal(c.hook_count, 2);
    assert_string_equal(charm_hook_named(&c, "install")->script, "true");
    assert_string_equal(charm_hook_named(&c, "db-relation-joined")->path, "/opt/j");
    assert_null(charm_hook_named(&c, "stop"));
    assert_int_equal(c.container->memory_mb, 64);
    assert_int_equal(c.container->disk_mb, 256);
    assert_int_equal(c.container->n_ports, 0); /* a subordinate has its principal's */
    struct charm listens = parsed(f, "web.yaml", LEAST "ports: [8080]\n");
    assert_int_equal(listens.container->n_ports, 1);
    assert_string_equal(c.container->root_fs, "preloaded:busybox");
    assert_string_equal(c.container->action->run_action->args[1], "sleep 9");
}

/* JSON says the same as YAML. */
static void a_charm_may_be_json(void **state)
{
    struct fixture *f = *state;
    struct charm c = parsed(f, "web.json",
                            "{\"name\": \"web\", \"image\": \"busybox:1\", \"args\": [\"x\"],\n"
                            "\"provides\": {\"a\": {\"interface\": \"i\"}},\n"
                            "\"hooks\": {\"a-relation-broken\": \"exit 0\"}}");
    assert_int_equal(c.endpoint_count, 1);
    assert_string_equal(c.hooks[0].script, "exit 0");
    assert_true(c.container->action->run_action->from_image);
    assert_int_equal(charm_parse(&f->arena, "web.json",
                                 bytes_of("{\"name\": \"web\",\n\"name\": 1}"), &c, &f->err),
                     -ERR_INVALID);
    assert_string_equal(f->err.text, "web.json:2: not valid JSON: duplicate object key near "
                                     "'\"name\"'");
    assert_int_equal(charm_parse(&f->arena, "web.json",
                                 bytes_of("{\n\"hooks\": {\"start\": \"a\\u0000b\"}}"), &c,
                                 &f->err),
                     -ERR_INVALID);
    assert_non_null(strstr(f->err.text, "web.json:2: not valid JSON: \\u0000 is not allowed"));
}

static void a_hook_has_time(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parsed(f, "f", LEAST).hook_timeout_s, 300);
    assert_int_equal(parsed(f, "f", LEAST "hook_timeout: 1s").hook_timeout_s, 1);
    assert_int_equal(parsed(f, "f", LEAST "hook_timeout: 1h").hook_timeout_s, 3600);
}

/* A record says what the file said. */
static void a_record_has_all_of_a_charm(void **state)
{
    struct fixture *f = *state;
    struct charm c = parsed(f, "f",
                            LEAST "requires: {info: {interface: juju-info, scope: container}}\n"
                                  "provides: {www: {interface: http}}\n"
                                  "peers: {ring: {interface: gossip}}\n"
                                  "subordinate: true\n"
                                  "config: {a: {default: hello}}\n"
                                  "hook_timeout: 9s\n"
                                  "hooks: {stop: x, install: {path: /opt/j}}\n");
    Board__Charm *m = charm_message(&f->arena, &c);
    struct charm back = charm_of_message(&f->arena, m);
    assert_true(message_equal(&charm_message(&f->arena, &back)->base, &m->base));
    assert_int_equal(back.endpoint_count, 3);
    assert_string_equal(back.endpoints[0].name, "info");
    assert_true(back.endpoints[0].container);
    assert_int_equal(back.endpoints[1].role, CHARM_PEERS);
    assert_int_equal(m->endpoints[2]->role, BOARD__ENDPOINT__ROLE__PROVIDER);
    assert_string_equal(back.hooks[1].script, "x");
    assert_string_equal(back.config[0].value, "hello");
    assert_int_equal(back.hook_timeout_s, 9);
    assert_true(back.subordinate);
    assert_string_equal(back.container->root_fs, "preloaded:busybox");
    m->hook_timeout_s = 0; /* as a record has it that says nothing */
    assert_int_equal(charm_of_message(&f->arena, m).hook_timeout_s, CHARM_HOOK_TIMEOUT_S);
}

/* What is wrong below LEAST, which ends at line 3, and how that is told behind "f:". */
static const struct mistake {
    const char *keys, *text;
} mistakes[] = {
    {"requries: {}", "4: requries: unknown key; did you mean \"requires\"?"},
    {"instances: 3", "4: instances: unknown key; docs/units.md, A charm, has all"},
    {"name: web", "4: name: stands here twice"},
    {"memory: 64", "4: memory: needs a unit: K, M, G or T, as in 64M"},
    {"ports: [0]", "4: ports: must be numbers from 1 to 65535"},
    {"dir: srv", "4: dir: \"srv\" is no absolute path: it must begin with /"},
    {"subordinate: yes", "4: subordinate: must be true or false"},
    {"subordinate: true",
     "4: subordinate: needs an endpoint in requires with scope: container, by which its units come "
     "to their principals, for example info: {interface: juju-info, scope: container}"},
    {"subordinate: true\nprovides: {a: {interface: i, scope: container}}",
     "4: subordinate: needs an endpoint in requires with scope: container, by which its units come "
     "to their principals, for example info: {interface: juju-info, scope: container}"},
    {"subordinate: true\nports: 80\nrequires: {a: {interface: i, scope: container}}",
     "5: ports: are its principal's, whose network a subordinate shares: leave them out"},
    {"hook_timeout: 90", "4: hook_timeout: must be a time from 1s to 1h, like 90s or 5m"},
    {"hook_timeout: 0s", "4: hook_timeout: must be a time from 1s to 1h, like 90s or 5m"},
    {"hook_timeout: 3601s", "4: hook_timeout: must be a time from 1s to 1h, like 90s or 5m"},
    {"hook_timeout: 99999999999999999999h",
     "4: hook_timeout: must be a time from 1s to 1h, like 90s or 5m"},
    {"hook_timeout: [1s]", "4: hook_timeout: must be a time from 1s to 1h, like 90s or 5m"},
    {"provides: [db]", "4: provides: must be a map, like {db: {interface: kv}}"},
    {"requires: {db: kv}", "4: requires.db: must be a map"},
    {"requires: {db: {}}", "4: requires.db.interface: is missing"},
    {"requires:\n  db:\n    interface: 5",
     "6: requires.db.interface: must be a text: put it between quotes"},
    {"requires: {db: {interface: [kv]}}", "4: requires.db.interface: must be a text"},
    {"requires: {db: {interface: kv, interfce: kv}}",
     "4: requires.db.interfce: unknown key; did you mean \"interface\"?"},
    {"requires: {db: {interface: kv, scope: local}}",
     "4: requires.db.scope: must be global or container"},
    {"requires: {Db: {interface: kv}}", "4: requires.Db: " CHARM_NAME_RULE},
    {"requires: {db: {interface: k_v}}", "4: requires.db.interface: " CHARM_NAME_RULE},
    {"peers: {ring: {interface: g, scope: container}}",
     "4: peers.ring.scope: must be global: a container has one unit of a service, which has no "
     "peers there"},
    {"provides: {a: {interface: i}}\nrequires:\n  a: {interface: i}",
     "6: requires.a: stands in provides already; hooks are called by the name, so give it another"},
    {"provides: {juju-info: {interface: i}}",
     "4: provides.juju-info: every service provides juju-info by itself; what requires it has a "
     "name of its own"},
    {"provides: {a: {interface: juju-info}}",
     "4: provides.a: every service provides juju-info by itself; what requires it has a name of "
     "its own"},
    {"config: greeting", "4: config: must be a map, like {greeting: {default: hi}}"},
    {"config: {greeting: hi}", "4: config.greeting: must be a map"},
    {"config: {greeting: {}}", "4: config.greeting.default: is missing"},
    {"config: {port: {default: 80}}",
     "4: config.port.default: must be a text: put it between quotes"},
    {"config: {port: {default: true}}",
     "4: config.port.default: must be a text: put it between quotes"},
    {"config: {port: {default: [a]}}", "4: config.port.default: must be a text"},
    {"config: {port: {default: a, type: int}}",
     "4: config.port.type: unknown key; docs/units.md, A "
     "charm, has all"},
    {"config: {a b: {default: a}}", "4: config: the key \"a b\" " CHARM_VALUE_KEY_RULE},
    {"hooks: [install]", "4: hooks: must be a map, like {install: SCRIPT}"},
    {"hooks:\n  instal: 'true'",
     "5: hooks.instal: there is no such hook; did you mean \"install\"?"},
    {"hooks: {reboot: 'true'}",
     "4: hooks.reboot: there is no such hook: there are install, start, stop, upgrade, "
     "config-changed, and ENDPOINT-relation-joined, changed, departed, broken"},
    {"hooks: {database-relation-joined: 'true'}",
     "4: hooks.database-relation-joined: the charm has no endpoint \"database\": declare it in "
     "provides, requires or peers"},
    {"requires: {db: {interface: kv}}\nhooks: {db-relation-chnged: 'true'}",
     "5: hooks.db-relation-chnged: there is no such hook; did you mean \"db-relation-changed\"?"},
    {"hooks: {install: }", "4: hooks.install: must be a script, or {path: /of/the/rootfs}"},
    {"hooks: {install: 5}", "4: hooks.install: must be a script, or {path: /of/the/rootfs}"},
    {"hooks: {install: {}}", "4: hooks.install.path: is missing"},
    {"hooks: {install: {script: x}}",
     "4: hooks.install.script: unknown key; docs/units.md, A charm, has all"},
    {"hooks: {install: {path: opt/x}}",
     "4: hooks.install.path: must be a program of the root filesystem: begin with /, have no . or "
     ".. and at most 1024 bytes"},
    {"hooks: {install: {path: /opt/../x}}",
     "4: hooks.install.path: must be a program of the root filesystem: begin with /, have no . or "
     ".. and at most 1024 bytes"},
    {"hooks: {install: \"a\\0b\"}", "4: a zero byte cannot stand in a text"},
    {"hooks: {\"install\\0\": x}", "4: a zero byte cannot stand in a text"},
    {"hooks: {install: \"\xff\"}", "4: not valid YAML: invalid leading UTF-8 octet"},
    {"--- {name: other}", "4: charm: a file holds one; this is a second"},
};

static void mistakes_are_told_where_they_are(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct charm c = {.name = NULL};
        const char *text = arena_printf(&f->arena, LEAST "%s\n", mistakes[i].keys);
        int r = charm_parse(&f->arena, "f", bytes_of(text), &c, &f->err);
        const char *expected = arena_printf(&f->arena, "f:%s", mistakes[i].text);
        expected = arena_strndup(&f->arena, expected, strnlen(expected, sizeof(f->err.text) - 1));
        if (r != -ERR_INVALID || strcmp(f->err.text, expected) != 0) {
            fail_msg("%s\n%d %s, not\n%s", text, r, r < 0 ? f->err.text : "is taken", expected);
        }
        assert_null(c.name); /* it stays untouched */
    }
}

static void refuse(struct fixture *f, const char *text, const char *expected)
{
    struct charm c;
    assert_true(charm_parse(&f->arena, "f", bytes_of(text), &c, &f->err) < 0);
    assert_string_equal(f->err.text, expected);
}

static void a_charm_is_a_map_with_a_name(void **state)
{
    struct fixture *f = *state;
    refuse(f, "", "f: holds no charm");
    refuse(f, "---\n---\n", "f: holds no charm");
    refuse(f, "[web]", "f:1: charm: must be a map");
    refuse(f, "rootfs: preloaded:b", "f:1: name: is missing: what is the charm called?");
    refuse(f, "name: [web]", "f:1: name: " CHARM_NAME_RULE);
    refuse(f, "name: web_1", "f:1: name: " CHARM_NAME_RULE);
    refuse(f, "name: web", "f:1: rootfs: is missing, for example preloaded:busybox, or image");
}

/* Its units run hooks alone. Who runs as somebody, or with words, runs something. */
static void a_charm_may_have_no_command(void **state)
{
    struct fixture *f = *state;
    struct charm c = parsed(f, "f", "name: web\nrootfs: preloaded:b\nhooks: {install: 'true'}\n");
    assert_null(c.container->action);
    const Board__Charm *m = charm_message(&f->arena, &c);
    assert_null(charm_message_fault(&f->arena, m));
    assert_null(charm_of_message(&f->arena, m).container->action);
    refuse(f, "name: web\nrootfs: preloaded:b\nuser: root",
           "f:3: user: goes with command; say it in the action");
    c = parsed(f, "f", "name: web\nimage: busybox\n");
    assert_true(c.container->action->run_action->from_image);
}

static const char *repeated(struct fixture *f, char c, size_t count)
{
    char *text = memset(arena_alloc(&f->arena, count + 1), c, count);
    text[count] = 0;
    return text;
}

static void names_have_a_form(void **state)
{
    struct fixture *f = *state;
    static const char *const good[] = {"a", "web", "a1", "a-b", "a-1b", "a-b1-c2", "juju-info"};
    static const char *const bad[] = {"",      "A",   "1a",  "-a",  "a-",       "a--b", "a-1",
                                      "a-1-b", "a_b", "a.b", "a b", "\xc3\xa4", "a/b",  "a:b"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(charm_name_is_valid(good[i]));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(charm_name_is_valid(bad[i]));
    }
    assert_true(charm_name_is_valid(repeated(f, 'a', CHARM_NAME_MAX)));
    assert_false(charm_name_is_valid(repeated(f, 'a', CHARM_NAME_MAX + 1)));
}

static const char *with_script(struct fixture *f, size_t size)
{
    return arena_printf(&f->arena, LEAST "hooks: {install: %s}\n", repeated(f, 'x', size));
}

static void a_script_and_a_file_have_bounds(void **state)
{
    struct fixture *f = *state;
    struct charm c = parsed(f, "f", with_script(f, CHARM_SCRIPT_BYTES_MAX));
    assert_int_equal(strlen(c.hooks[0].script), CHARM_SCRIPT_BYTES_MAX);
    refuse(f, with_script(f, CHARM_SCRIPT_BYTES_MAX + 1),
           "f:4: hooks.install: a script has 65536 bytes at most; put it into the root filesystem "
           "and say {path: ...}");
    const char *least = LEAST;
    size_t room = CHARM_BYTES_MAX - strlen(least) - 1;
    parsed(f, "f", arena_printf(&f->arena, "%s#%s", least, repeated(f, 'x', room)));
    refuse(f, arena_printf(&f->arena, "%s#%s", least, repeated(f, 'x', room + 1)),
           "f: larger than 256 KiB; put long scripts into the root filesystem and say {path: ...}");
    const char *slash = arena_printf(&f->arena, "/%s", repeated(f, 'x', CHARM_PATH_BYTES_MAX - 1));
    parsed(f, "f", arena_printf(&f->arena, LEAST "hooks: {stop: {path: %s}}", slash));
    refuse(
        f, arena_printf(&f->arena, LEAST "hooks: {stop: {path: %sx}}", slash),
        "f:4: hooks.stop.path: must be a program of the root filesystem: begin with /, have no . "
        "or .. and at most 1024 bytes");
}

/* "name: " and a map with so many members of that form, of which %d is the number. */
static const char *with_many(struct fixture *f, const char *name, size_t count, const char *member)
{
    buf_clear(&f->out);
    buf_printf(&f->out, LEAST "%s:\n", name);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&f->out, "  k%zu%s\n", i, member);
    }
    return arena_strdup(&f->arena, buf_string(&f->out));
}

static void lists_have_bounds(void **state)
{
    struct fixture *f = *state;
    struct charm c =
        parsed(f, "f", with_many(f, "provides", CHARM_ENDPOINTS_MAX, ": {interface: i}"));
    assert_int_equal(c.endpoint_count, CHARM_ENDPOINTS_MAX);
    refuse(f, with_many(f, "provides", CHARM_ENDPOINTS_MAX + 1, ": {interface: i}"),
           "f:21: provides.k16: a charm has 16 endpoints at most");
    c = parsed(f, "f", with_many(f, "config", CHARM_VALUES_MAX, ": {default: x}"));
    assert_int_equal(c.config_count, CHARM_VALUES_MAX);
    refuse(f, with_many(f, "config", CHARM_VALUES_MAX + 1, ": {default: x}"),
           "f:4: config: 65 keys; there can be 64 at most");
    refuse(f, with_many(f, "hooks", CHARM_HOOKS_MAX + 1, ": x"),
           "f:4: hooks: 71 of them; a charm has 70 at most");
    refuse(f, with_many(f, "hooks", CHARM_HOOKS_MAX, ": x"),
           "f:5: hooks.k0: there is no such hook: there are install, start, stop, upgrade, "
           "config-changed, and ENDPOINT-relation-joined, changed, departed, broken");
}

/* Each alias counts each time: nine of nine of nine lists are 9^9 values. */
static void a_bomb_of_aliases_is_refused(void **state)
{
    struct fixture *f = *state;
    struct charm c;
    const char *bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; i++) {
        bomb =
            arena_printf(&f->arena,
                         "%sa%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, "
                         "*a%d, *a%d]\n",
                         bomb, i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    assert_int_equal(charm_parse(&f->arena, "f", bytes_of(bomb), &c, &f->err), -ERR_TOO_LARGE);
    assert_non_null(strstr(f->err.text, "more than 20000 values"));
}

static void configurations_are_merged(void **state)
{
    struct fixture *f = *state;
    struct charm c =
        parsed(f, "f", LEAST "config: {greeting: {default: hello}, title: {default: ''}}\n");
    const struct charm_value given[] = {{"title", "x"}, {"title", "y"}};
    const struct charm_value *values;
    size_t count;
    assert_int_equal(charm_configuration(&f->arena, &c, given, 2, &values, &count, &f->err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(values[0].key, "greeting");
    assert_string_equal(values[0].value, "hello");
    assert_string_equal(values[1].value, "y");  /* the last word counts */
    assert_string_equal(c.config[1].value, ""); /* the charm stays as it was */
    static const struct {
        struct charm_value given;
        const char *text;
    } bad[] = {
        {{"greting", "x"}, "the charm web has no option \"greting\"; did you mean \"greeting\"?"},
        {{"colour", "x"}, "the charm web has no option \"colour\""},
        {{"title", "\xff"}, "configuration of web: the value of title is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(
            charm_configuration(&f->arena, &c, &bad[i].given, 1, &values, &count, &f->err),
            -ERR_INVALID);
        assert_string_equal(f->err.text, bad[i].text);
    }
    struct charm none = parsed(f, "f", LEAST);
    assert_int_equal(charm_configuration(&f->arena, &none, given, 1, &values, &count, &f->err),
                     -ERR_INVALID);
    assert_string_equal(f->err.text, "the charm web has no option \"title\"; it has none at all");
}

static void values_have_bounds(void **state)
{
    struct fixture *f = *state;
    struct charm_value one = {"k", repeated(f, 'x', CHARM_VALUES_BYTES_MAX - 1)};
    assert_null(charm_values_fault(&f->arena, &one, 1));
    one.value = repeated(f, 'x', CHARM_VALUES_BYTES_MAX);
    assert_string_equal(charm_values_fault(&f->arena, &one, 1),
                        "65537 bytes of keys and values; there can be 65536 at most");
    assert_true(charm_value_key_is_valid(repeated(f, 'k', CHARM_VALUE_KEY_MAX)));
    assert_false(charm_value_key_is_valid(repeated(f, 'k', CHARM_VALUE_KEY_MAX + 1)));
    assert_true(charm_value_key_is_valid("Az0_.-"));
    assert_false(charm_value_key_is_valid("a=b"));
    assert_false(charm_value_key_is_valid(""));
}

/* As docs/units.md has a key in the table. */
static const char *key_row(struct arena *a, const struct charm_key *k)
{
    return k->meaning ? arena_printf(a, "| `%s` | %s | %s | %s |\n", k->name, k->value,
                                     k->otherwise, k->meaning)
                      : arena_printf(a, "| `%s` | as in [app files](app-file.md) | | |\n", k->name);
}

static void the_page_has_each_key(void **state)
{
    struct fixture *f = *state;
    size_t count;
    const struct charm_key *keys = charm_keys(&count);
    char *page = page_read("docs/units.md");
    assert_non_null(page);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(page, key_row(&f->arena, &keys[i]))) {
            fail_msg("docs/units.md, A charm, lacks this row:\n%s", key_row(&f->arena, &keys[i]));
        }
    }
    free(page);
}

/* The example of the page is a charm. */
static void the_page_has_a_good_charm(void **state)
{
    struct fixture *f = *state;
    char *page = page_read("docs/units.md");
    assert_non_null(page);
    const char *begin = strstr(page, "```yaml\n") + strlen("```yaml\n");
    size_t size = (size_t)(strstr(begin, "```\n") - begin);
    struct charm c = parsed(f, "units.md", arena_strndup(&f->arena, begin, size));
    assert_string_equal(c.name, "web");
    assert_int_equal(c.hook_count, 2);
    free(page);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_charm_is_read),
        TEST(a_charm_may_be_json),
        TEST(a_hook_has_time),
        TEST(a_record_has_all_of_a_charm),
        TEST(mistakes_are_told_where_they_are),
        TEST(a_charm_is_a_map_with_a_name),
        TEST(a_charm_may_have_no_command),
        TEST(names_have_a_form),
        TEST(a_script_and_a_file_have_bounds),
        TEST(lists_have_bounds),
        TEST(a_bomb_of_aliases_is_refused),
        TEST(configurations_are_merged),
        TEST(values_have_bounds),
        TEST(the_page_has_each_key),
        TEST(the_page_has_a_good_charm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
