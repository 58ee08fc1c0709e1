/* The DesiredLRP that an app instance is at its site (crm/app_lrp.h). */
#include "common/base/bytes.h"
#include "crm/app_lrp.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct arena arena;
    Models__DesiredLRP definition;
    Board__NodeSize size;
    Board__EdgePort ports[3], *port_list[3];
    Board__AppInstSpec spec;
    Board__AppInstRecord instance;
    struct buf text;
};

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    models__desired_lrp__init(&x->definition);
    board__node_size__init(&x->size);
    board__app_inst_spec__init(&x->spec);
    board__app_inst_record__init(&x->instance);
    for (int i = 0; i < 3; i++) {
        board__edge_port__init(&x->ports[i]);
        x->port_list[i] = &x->ports[i];
    }
    x->definition.root_fs = text("docker:///shop");
    x->size.memory_mb = 64;
    x->size.disk_mb = 128;
    x->spec.size = &x->size;
    x->spec.instances = 2;
    x->spec.ports = x->port_list;
    x->instance.spec = &x->spec;
    x->instance.uid = text("u-1");
    x->instance.digest = text("d1");
    x->instance.cluster_uid = text("c-1");
    x->instance.uri = text("shop.web.paris");
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    buf_done(&x->text);
    arena_done(&x->arena);
    free(x);
    return 0;
}

static Models__EnvironmentVariable *variable(struct fixture *x, const char *name, const char *value)
{
    Models__EnvironmentVariable *v =
        arena_message(&x->arena, &models__environment_variable__descriptor);
    v->name = text(name);
    v->value = text(value);
    return v;
}

/* What is not of the definition, and the lists that both have. */
static const char *made(struct fixture *x)
{
    const Models__DesiredLRP *lrp = app_lrp(&x->arena, &x->instance, &x->definition);
    buf_clear(&x->text);
    buf_printf(&x->text, "%s in %s of %s %s slice %s: %d x %d/%d", lrp->process_guid, lrp->domain,
               lrp->owner->kind, lrp->owner->uid, lrp->slice, lrp->instances, lrp->memory_mb,
               lrp->disk_mb);
    for (size_t i = 0; i < lrp->n_placementtags; i++) {
        buf_printf(&x->text, " tag %s", lrp->placementtags[i]);
    }
    for (size_t i = 0; i < lrp->n_environment_variables; i++) {
        buf_printf(&x->text, " %s=%s", lrp->environment_variables[i]->name,
                   lrp->environment_variables[i]->value);
    }
    for (size_t i = 0; i < lrp->n_ports; i++) {
        buf_printf(&x->text, " port %u", lrp->ports[i]);
    }
    for (size_t i = 0; i < lrp->routes->n_routes; i++) {
        const Models__ProtoRoutes__RoutesEntry *e = lrp->routes->routes[i];
        buf_printf(&x->text, " %s %.*s", e->key, (int)e->value.len, (const char *)e->value.data);
    }
    assert_string_equal(lrp->root_fs, "docker:///shop");
    return buf_string(&x->text);
}

#define HEAD "a-u-1-d1 in edge.c-1 of appinst u-1 slice c-1: 2 x 64/128"

static void what_the_instance_says(void **state)
{
    struct fixture *x = *state;
    char *tags[] = {text("gpu")}, *own[] = {text("arm")};
    x->definition.memory_mb = x->definition.disk_mb = 1;
    assert_string_equal(made(x), HEAD);
    x->size.placement_tags = tags;
    x->size.n_placement_tags = 1;
    x->definition.placementtags = own;
    x->definition.n_placementtags = 1;
    assert_string_equal(made(x), HEAD " tag arm tag gpu");
    x->spec.size = NULL; /* of a later version */
    assert_non_null(strstr(made(x), ": 2 x 1/1 tag arm"));
}

static void variables_of_the_instance_win(void **state)
{
    struct fixture *x = *state;
    Models__EnvironmentVariable *given[] = {variable(x, "A", "app"), variable(x, "B", "app")};
    Models__EnvironmentVariable *own[] = {variable(x, "B", "instance"), variable(x, "C", "own")};
    x->definition.environment_variables = given;
    x->definition.n_environment_variables = 2;
    x->spec.env = own;
    x->spec.n_env = 2;
    assert_string_equal(made(x), HEAD " A=app B=instance C=own");
    assert_int_equal(x->definition.n_environment_variables, 2); /* the app's stays as it is */
}

static void ports_and_routes(void **state)
{
    struct fixture *x = *state;
    uint32_t open[] = {8080, 22};
    x->definition.ports = open;
    x->definition.n_ports = 2;
    x->spec.n_ports = 1;
    x->ports[0] = (Board__EdgePort)BOARD__EDGE_PORT__INIT;
    x->ports[0].protocol = BOARD__EDGE_PORT__PROTOCOL__UDP; /* no router has these */
    x->ports[0].internal = 53;
    x->ports[0].public_ = 30053;
    assert_string_equal(made(x), HEAD " port 8080 port 22 port 53");
    x->spec.n_ports = 3;
    x->ports[1].internal = 8080; /* is open already */
    x->ports[1].public_ = 30000;
    x->ports[2].internal = 9000;
    x->ports[2].last = 9001;
    x->ports[2].public_ = 31000;
    assert_string_equal(made(x),
                        HEAD " port 8080 port 22 port 53 port 9000 port 9001 cf-router "
                             "[{\"hostnames\":[\"shop.web.paris\"],\"port\":8080}] tcp-router "
                             "[{\"external_port\":30000,\"container_port\":8080},"
                             "{\"external_port\":31000,\"container_port\":9000},"
                             "{\"external_port\":31001,\"container_port\":9001}]");
    x->instance.uri = text("");
    assert_null(strstr(made(x), "cf-router"));
}

static void guids_tell_life_and_digest(void **state)
{
    struct fixture *x = *state;
    const char *uid, *digest;
    assert_string_equal(app_lrp_guid(&x->arena, "u-1", "d1"), "a-u-1-d1");
    assert_true(app_lrp_parse(&x->arena, "a-u-1-d1", &uid, &digest));
    assert_string_equal(uid, "u-1");
    assert_string_equal(digest, "d1");
    static const char *const others[] = {"", "a-", "a-u", "a--d", "a-u-", "b-u-1-d1", "web"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(app_lrp_parse(&x->arena, others[i], &uid, &digest));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_the_instance_says),
        TEST(variables_of_the_instance_win),
        TEST(ports_and_routes),
        TEST(guids_tell_life_and_digest),
    };
    return cmocka_run_group_tests_name("crm: app instances as DesiredLRPs", tests, NULL, NULL);
}
