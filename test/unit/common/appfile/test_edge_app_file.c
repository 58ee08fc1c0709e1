/* App files of a centre of sites: what they give, and mistakes told with line and key. */
#include "bbs/board/validation.h"
#include "bbs/edge/catalogue.h"
#include "common/appfile/app.h"
#include "common/appfile/edge_app.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

#define LEAST                                                                                      \
    "organization: dev\nname: shop\nversion: 1.10\nflavor: small\nrootfs: preloaded:busybox\n"     \
    "command: sleep 9\n"

static struct edge_app *parsed_apps;
static size_t parsed_count;

static const Board__EdgeAppRevisionRecord *parsed(struct fixture *f, const char *text)
{
    parsed_apps = NULL;
    parsed_count = 0;
    if (edge_app_parse(&f->arena, "a.yaml", bytes_of(text), &parsed_apps, &parsed_count, &f->err) <
        0) {
        fail_msg("%s\n%s", text, f->err.text);
    }
    return parsed_apps[0].revision;
}

/* What a bbs holds against it; "" = nothing. */
static const char *fault_of(struct fixture *f, const Board__EdgeAppRevisionRecord *r)
{
    struct validation v = {0};
    valid_edge_app(&v, r);
    const char *text = validation_ok(&v) ? "" : arena_strdup(&f->arena, validation_text(&v));
    validation_done(&v);
    return text;
}

static void the_least_one(void **state)
{
    struct fixture *f = *state;
    const Board__EdgeAppRevisionRecord *r = parsed(f, LEAST);
    assert_int_equal(parsed_count, 1);
    assert_string_equal(r->name, "dev/shop/1.10"); /* as written: 1.1 is another one */
    assert_string_equal(r->spec->flavor, "small");
    assert_int_equal(r->spec->n_ports, 0);
    assert_false(r->spec->scale_with_cluster || r->spec->auto_delete);
    assert_string_equal(r->definition->root_fs, "preloaded:busybox");
    assert_string_equal(r->definition->log_guid, "shop");
    assert_string_equal(fault_of(f, r), "");
}

static void all_that_it_may_say(void **state)
{
    struct fixture *f = *state;
    const Board__EdgeAppRevisionRecord *r =
        parsed(f, LEAST "public_ports: [8080, 53/udp, 8000-8010, 9000-9001/tcp]\n"
                        "scale_with_cluster: true\nauto_delete: true\nenv: {A: 1}\n");
    assert_int_equal(r->spec->n_ports, 4);
    assert_int_equal(r->spec->ports[0]->internal, 8080);
    assert_int_equal(r->spec->ports[0]->last, 0);
    assert_int_equal(r->spec->ports[1]->protocol, BOARD__EDGE_PORT__PROTOCOL__UDP);
    assert_int_equal(r->spec->ports[2]->internal, 8000);
    assert_int_equal(r->spec->ports[2]->last, 8010);
    assert_int_equal(r->spec->ports[3]->protocol, BOARD__EDGE_PORT__PROTOCOL__TCP);
    assert_true(r->spec->scale_with_cluster && r->spec->auto_delete);
    assert_int_equal(r->definition->n_environment_variables, 1);
    assert_string_equal(fault_of(f, r), "");
    assert_int_equal(parsed(f, LEAST "public_ports: 80\n")->spec->ports[0]->internal, 80);
}

static void several_in_a_file(void **state)
{
    struct fixture *f = *state;
    parsed(f, LEAST "---\norganization: dev\nname: shop\nversion: 2\nflavor: small\n"
                    "rootfs: preloaded:busybox\ncommand: sleep 9\n---\n");
    assert_int_equal(parsed_count, 2);
    assert_int_equal(parsed_apps[1].line, 8);
    parsed(f, "apps:\n- {organization: a, name: b, version: c, flavor: d, image: e}\n");
    assert_int_equal(parsed_count, 1);
    assert_string_equal(parsed_apps[0].revision->name, "a/b/c");
}

static void mistakes_have_line_and_key(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"name: shop\n", "a.yaml:1: organization: is missing: whose app is it?"},
        {"organization: dev\nversion: 1\n", "a.yaml:1: name: is missing: what is the app called?"},
        {"organization: dev\nname: a\n", "a.yaml:1: version: is missing: which version is it?"},
        {"organization: dev\nname: a\nversion: 1\n", "a.yaml:1: flavor: is missing: how large is "
                                                     "it?"},
        {"organization: dev\nname: [a]\n", "a.yaml:2: name: must be a text"},
        {LEAST "memory: 1G\n", "a.yaml:7: memory: is the flavor's to say"},
        {LEAST "instances: 2\n", "a.yaml:7: instances: is the centre's to say: one, or with "
                                 "scale_with_cluster one a node"},
        {LEAST "domain: x\n", "a.yaml:7: domain: is the site's to say"},
        {LEAST "routes: {}\n", "a.yaml:7: routes: is the centre's to say: public_ports names what "
                               "is opened"},
        {LEAST "flavour: x\n", "a.yaml:7: flavour: unknown key; did you mean \"flavor\"?"},
        {LEAST "public_port: 80\n", "a.yaml:7: public_port: unknown key; did you mean "
                                    "\"public_ports\"?"},
        {LEAST "comand: x\n", "a.yaml:7: comand: unknown key; did you mean \"command\"?"},
        {LEAST "auto_delete: 1\n", "a.yaml:7: auto_delete: must be true or false"},
        {LEAST "public_ports: [80, x]\n",
         "a.yaml:7: public_ports: must be a port or a list of ports, like 8080, 53/udp or "
         "8000-8010, from 1 to 65535"},
        {LEAST "public_ports: [[80]]\n",
         "a.yaml:7: public_ports: must be a port or a list of ports, like 8080, 53/udp or "
         "8000-8010, from 1 to 65535"},
        {"", "a.yaml: holds no app"},
        {"- a\n", "a.yaml:1: app: must be a map with the keys of an app"},
        {"apps: 1\n", "a.yaml:1: apps: must be a list of apps, with nothing beside"},
        {LEAST "---\n" LEAST, "a.yaml:8: name: dev/shop/1.10 stands at line 1 already"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(edge_app_parse(&f->arena, "a.yaml", bytes_of(rows[i].text), &parsed_apps,
                                        &parsed_count, &f->err),
                         -ERR_INVALID);
        assert_string_equal(f->err.text, rows[i].error);
    }
}

static void wrong_ports(void **state)
{
    struct fixture *f = *state;
    static const char *const wrong[] = {"0",     "80/",        "80/sctp",      "80-",
                                        "80-80", "80-79",      "-80",          "100000",
                                        "8 0",   "80/udp/tcp", "8000/udp-8010"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *text = arena_printf(&f->arena, LEAST "public_ports: ['%s']\n", wrong[i]);
        if (edge_app_parse(&f->arena, "a.yaml", bytes_of(text), &parsed_apps, &parsed_count,
                           &f->err) != -ERR_INVALID) {
            fail_msg("%s is taken", wrong[i]);
        }
    }
}

/* The rule of names is the centre's own; where it is broken the file's line is told. */
static void names_are_checked_here(void **state)
{
    struct fixture *f = *state;
    static const char text[] = "organization: dev\nname: sh op\nversion: 1\nflavor: small\n";
    assert_int_equal(
        edge_app_parse(&f->arena, "a.yaml", bytes_of(text), &parsed_apps, &parsed_count, &f->err),
        -ERR_INVALID);
    assert_memory_equal(f->err.text, "a.yaml:2: name: ", strlen("a.yaml:2: name: "));
}

static void as_many_as_may_be(void **state)
{
    struct fixture *f = *state;
    for (size_t most = APPS_MAX; most <= APPS_MAX + 1; most++) {
        buf_clear(&f->out);
        buf_append_string(&f->out, "apps:\n");
        for (size_t i = 0; i < most; i++) {
            buf_printf(&f->out,
                       "- {organization: a, name: n%zu, version: c, flavor: d, image: e}\n", i);
        }
        int r = edge_app_parse(&f->arena, "a.yaml", buf_bytes(&f->out), &parsed_apps, &parsed_count,
                               &f->err);
        assert_int_equal(r, most == APPS_MAX ? 0 : -ERR_TOO_LARGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_least_one, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(all_that_it_may_say, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(several_in_a_file, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(mistakes_have_line_and_key, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(wrong_ports, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(names_are_checked_here, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(as_many_as_may_be, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("app files of a centre", tests, NULL, NULL);
}
