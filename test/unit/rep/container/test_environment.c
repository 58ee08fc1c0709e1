/* What a program finds in its environment: a row for each rule of environment.h. */
#include "rep/container/environment.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 4 };

/* Variables are "NAME=VALUE"; ports are a container port and a host port; what is expected is the
 * whole environment in its order, a line each. */
struct row {
    const char *name;
    bool task, own_network;
    const char *address;
    struct port_pair ports[2];
    size_t port_count;
    const char *definition[WORDS_MAX], *step[WORDS_MAX];
    const char *expected;
};

#define INSTANCE \
    "INSTANCE_GUID=i-1\nINSTANCE_INDEX=3\nCF_INSTANCE_GUID=i-1\nCF_INSTANCE_INDEX=3\n"
#define NO_PORTS "CF_INSTANCE_PORT=\nCF_INSTANCE_ADDR=\nCF_INSTANCE_PORTS=[]\n"
#define ONE_PORT \
    "CF_INSTANCE_PORT=61000\nCF_INSTANCE_ADDR=10.0.0.1:61000\n" \
    "CF_INSTANCE_PORTS=[{\"external\":61000,\"internal\":8080}]\n"
#define AT_HOST "CF_INSTANCE_IP=10.0.0.1\nCF_INSTANCE_INTERNAL_IP=10.0.0.1\n"
#define AT_OWN "CF_INSTANCE_IP=10.0.0.1\nCF_INSTANCE_INTERNAL_IP=\n"

static const struct row rows[] = {
    {"an instance without ports", false, false, "10.0.0.1", {{0}}, 0, {0}, {0},
     INSTANCE AT_HOST NO_PORTS},
    {"a task", true, false, "10.0.0.1", {{0}}, 0, {0}, {0}, AT_HOST NO_PORTS},
    {"a task with its own network", true, true, "10.0.0.1", {{0}}, 0, {0}, {0}, AT_OWN NO_PORTS},
    {"a task's words", true, false, "10.0.0.1", {{0}}, 0, {"A=1", "B=1"}, {"B=2"},
     "A=1\nB=2\n" AT_HOST NO_PORTS},
    {"the host's network", false, false, "10.0.0.1", {{8080, 61000}}, 1, {0}, {0},
     INSTANCE "PORT=61000\nPORT_8080=61000\n" AT_HOST ONE_PORT},
    {"its own network", false, true, "10.0.0.1", {{8080, 61000}}, 1, {0}, {0},
     INSTANCE "PORT=8080\n" AT_OWN ONE_PORT},
    {"two ports", false, true, "10.0.0.1", {{8080, 61000}, {2222, 61001}}, 2, {0}, {0},
     INSTANCE "PORT=8080\n" AT_OWN
     "CF_INSTANCE_PORT=61000\nCF_INSTANCE_ADDR=10.0.0.1:61000\n"
     "CF_INSTANCE_PORTS=[{\"external\":61000,\"internal\":8080},"
     "{\"external\":61001,\"internal\":2222}]\n"},
    {"the first without a host port", false, true, "10.0.0.1", {{8080, 0}, {2222, 61001}}, 2, {0},
     {0},
     INSTANCE "PORT=8080\n" AT_OWN
     "CF_INSTANCE_PORT=\nCF_INSTANCE_ADDR=\n"
     "CF_INSTANCE_PORTS=[{\"internal\":8080},{\"external\":61001,\"internal\":2222}]\n"},
    {"an address of version 6", false, false, "fd00::1", {{8080, 61000}}, 1, {0}, {0},
     INSTANCE "PORT=61000\nPORT_8080=61000\nCF_INSTANCE_IP=fd00::1\n"
     "CF_INSTANCE_INTERNAL_IP=fd00::1\nCF_INSTANCE_PORT=61000\n"
     "CF_INSTANCE_ADDR=[fd00::1]:61000\n"
     "CF_INSTANCE_PORTS=[{\"external\":61000,\"internal\":8080}]\n"},
    {"1 < 3: the definition's guid", false, false, "10.0.0.1", {{0}}, 0, {"CF_INSTANCE_GUID=own"},
     {0},
     "INSTANCE_GUID=i-1\nINSTANCE_INDEX=3\nCF_INSTANCE_GUID=own\nCF_INSTANCE_INDEX=3\n"
     AT_HOST NO_PORTS},
    {"2 < 3: the definition's PORT", false, true, "10.0.0.1", {{8080, 61000}}, 1, {"PORT=7"}, {0},
     INSTANCE "PORT=7\n" AT_OWN ONE_PORT},
    {"3 < 4: the allotted PORT", false, false, "10.0.0.1", {{8080, 61000}}, 1, {"PORT=7"}, {0},
     INSTANCE "PORT=61000\nPORT_8080=61000\n" AT_HOST ONE_PORT},
    {"4 < 5: the step's PORT", false, false, "10.0.0.1", {{8080, 61000}}, 1, {0}, {"PORT=7"},
     INSTANCE "PORT=7\nPORT_8080=61000\n" AT_HOST ONE_PORT},
    {"3 < 5: the step's word, in the place of the first", false, false, "10.0.0.1", {{0}}, 0,
     {"A=1", "B=1"}, {"C=2", "A=2"}, INSTANCE "A=2\nB=1\nC=2\n" AT_HOST NO_PORTS},
    {"twice in one list", false, false, "10.0.0.1", {{0}}, 0, {"A=1", "A=2"}, {0},
     INSTANCE "A=2\n" AT_HOST NO_PORTS},
    {"5 < 6: where it is nobody else says", false, false, "10.0.0.1", {{0}}, 0,
     {"CF_INSTANCE_PORTS=own"}, {"CF_INSTANCE_IP=own"},
     INSTANCE "CF_INSTANCE_PORTS=[]\nCF_INSTANCE_IP=10.0.0.1\nCF_INSTANCE_INTERNAL_IP=10.0.0.1\n"
     "CF_INSTANCE_PORT=\nCF_INSTANCE_ADDR=\n"},
    {"a value may be empty", false, false, "10.0.0.1", {{0}}, 0, {"A=1"}, {"A="},
     INSTANCE "A=\n" AT_HOST NO_PORTS},
};

static struct variable_list variables(struct arena *a, const char *const words[WORDS_MAX])
{
    Models__EnvironmentVariable **list = ARENA_ARRAY(a, WORDS_MAX, Models__EnvironmentVariable *);
    size_t count = 0;
    for (; count < WORDS_MAX && words[count]; count++) {
        char *name = arena_strdup(a, words[count]), *value = strchr(name, '=');
        *value = '\0';
        list[count] = ARENA_NEW(a, Models__EnvironmentVariable);
        models__environment_variable__init(list[count]);
        list[count]->name = name;
        list[count]->value = value + 1;
    }
    return (struct variable_list){list, count};
}

static Rep__Note *note_of(struct arena *a, const struct row *r)
{
    Rep__Note *note = ARENA_NEW(a, Rep__Note);
    rep__note__init(note);
    note->own_network = r->own_network;
    if (!r->task) {
        note->key = ARENA_NEW(a, Models__ActualLRPKey);
        models__actual_lrpkey__init(note->key);
        note->key->index = 3;
        note->instance_guid = (char *)"i-1";
    }
    note->ports = ARENA_ARRAY(a, r->port_count + 1, Models__PortMapping *);
    note->n_ports = r->port_count;
    for (size_t i = 0; i < r->port_count; i++) {
        note->ports[i] = ARENA_NEW(a, Models__PortMapping);
        models__port_mapping__init(note->ports[i]);
        note->ports[i]->container_port = r->ports[i].container_port;
        note->ports[i]->host_port = r->ports[i].host_port;
    }
    return note;
}

static void each_row_gives_its_environment(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        SCOPED_BUF(text);
        const struct row *r = &rows[i];
        const struct environment_facts facts = {.about = note_of(&a, r),
                                                .address = r->address,
                                                .definition = variables(&a, r->definition),
                                                .step = variables(&a, r->step)};
        const struct name_value *list;
        size_t count = environment_make(&a, &facts, &list);
        for (size_t k = 0; k < count; k++) {
            buf_printf(&text, "%s=%s\n", list[k].name, list[k].value);
        }
        if (strcmp(buf_string(&text), r->expected) != 0) {
            fail_msg("%s: it is\n%s and not\n%s", r->name, buf_string(&text), r->expected);
        }
    }
}

/* The proxy's ports stand there as soon as a mapping has them. */
static void ports_of_the_proxy_are_listed(void **state)
{
    SCOPED_ARENA(a);
    const struct row r = {.ports = {{8080, 61000}}, .port_count = 1};
    const struct environment_facts facts = {.about = note_of(&a, &r), .address = "10.0.0.1"};
    const struct name_value *list;
    facts.about->ports[0]->container_tls_proxy_port = 61002;
    facts.about->ports[0]->host_tls_proxy_port = 61003;
    size_t count = environment_make(&a, &facts, &list);
    assert_string_equal(list[count - 1].name, "CF_INSTANCE_PORTS");
    assert_string_equal(list[count - 1].value,
                        "[{\"external\":61000,\"internal\":8080,\"external_tls_proxy\":61003,"
                        "\"internal_tls_proxy\":61002}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_gives_its_environment),
        cmocka_unit_test(ports_of_the_proxy_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
