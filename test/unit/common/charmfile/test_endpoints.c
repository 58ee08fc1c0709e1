/* Ends that fit, row by row, and how it is told when none or several do. */
#include "common/charmfile/endpoints.h"

#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <string.h>

/* Each service has the charm of its name. */
static const struct service {
    const char *name, *keys;
} services[] = {
    {"web", "requires: {db: {interface: kv}, cache: {interface: kv}, amqp: {interface: queue}}\n"
            "provides: {www: {interface: http, scope: container}}\n"},
    {"shop", "requires: {db: {interface: kv}}\n"},
    {"db", "provides: {main: {interface: kv}}\npeers: {ring: {interface: gossip}}\n"},
    {"dbs", "provides: {main: {interface: kv}, spare: {interface: kv}, third: {interface: kv}}\n"},
    {"bare", ""},
    {"logger", "subordinate: true\n"
               "requires: {info: {interface: juju-info, scope: container}}\n"},
    {"sender", "subordinate: true\n"
               "requires: {info: {interface: juju-info, scope: container},\n"
               "  target: {interface: http, scope: container}, sink: {interface: kv}}\n"},
    {"helper", "subordinate: true\n"
               "requires: {x: {interface: y, scope: container}}\n"
               "provides: {logs: {interface: juju-log, scope: container}}\n"},
    {"taker", "subordinate: true\n"
              "requires: {l: {interface: juju-log, scope: container}}\n"},
    {"near", "requires: {l: {interface: juju-log, scope: container}}\n"},
    {"tight", "requires: {db: {interface: kv, scope: container}}\n"},
    {"close", "provides: {main: {interface: kv, scope: container}}\n"},
};

static const struct charm *charm_of(struct fixture *f, const char *name)
{
    struct charm *c = ARENA_NEW(&f->arena, struct charm);
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        if (strcmp(services[i].name, name) == 0) {
            const char *text =
                arena_printf(&f->arena, "name: %s\nrootfs: preloaded:b\ncommand: x\n%s",
                             services[i].name, services[i].keys);
            if (charm_parse(&f->arena, name, bytes_of(text), c, &f->err) < 0) {
                fail_msg("%s", f->err.text);
            }
            return c;
        }
    }
    fail_msg("there is no service %s", name);
    return NULL;
}

/* "web:db" */
static struct charm_end end_of(struct fixture *f, const char *word)
{
    size_t size = strcspn(word, ":");
    const char *service = arena_strndup(&f->arena, word, size);
    return (struct charm_end){service, charm_of(f, service), word[size] ? word + size + 1 : ""};
}

static const struct row {
    const char *x, *y;
    const char *fit;  /* the ends, and "container" if so; NULL = none */
    const char *text; /* of the mistake */
} rows[] = {
    /* one fits, named or not */
    {"shop", "db", "db main", NULL},
    {"db", "shop", "main db", NULL},
    {"web:cache", "db:main", "cache main", NULL},
    {"web:db", "db", "db main", NULL},
    /* several fit */
    {"web", "db", NULL,
     "web and db fit in 2 ways; name the ends: web:cache db:main, web:db db:main"},
    {"web", "dbs", NULL,
     "web and dbs fit in 6 ways; name the ends: web:cache dbs:main, web:cache dbs:spare, web:cache "
     "dbs:third, web:db dbs:main, ..."},
    /* unknown ends */
    {"web:dbb", "db", NULL, "web has no endpoint \"dbb\"; did you mean \"db\"?"},
    {"web", "db:kvstore", NULL, "db has no endpoint \"kvstore\"; it has main, ring and juju-info"},
    {"bare:x", "db", NULL, "bare has no endpoint \"x\"; it has juju-info"},
    {"web", "dbs:forth-and-last", NULL,
     "dbs has no endpoint \"forth-and-last\"; it has main, spare, third and juju-info"},
    {"web:no-such-one", "db", NULL,
     "web has no endpoint \"no-such-one\"; it has amqp, cache, db and 2 more"},
    /* named, and wrong */
    {"web:www", "db:main", NULL,
     "web:www and db:main both provide something: one end provides what the other requires"},
    {"web:db", "shop:db", NULL,
     "web:db and shop:db both require something: one end provides what the other requires"},
    {"web:amqp", "db:main", NULL, "web:amqp and db:main have different interfaces: queue and kv"},
    {"shop:db", "db:ring", NULL,
     "db:ring is for the units of db alone: a relation of peers is made and ends with its service"},
    {"db", "db", NULL,
     "db cannot be related to itself; its units speak by an endpoint in peers, whose relation is "
     "made with the service"},
    /* none fits */
    {"db", "dbs", NULL,
     "nothing of db and dbs fits: one must provide an interface that the other requires, and a "
     "relation of container scope joins a subordinate to another service"},
    {"bare", "shop", NULL,
     "nothing of bare and shop fits: one must provide an interface that the other requires, and a "
     "relation of container scope joins a subordinate to another service"},
    /* what every service provides */
    {"logger", "bare", "info juju-info container", NULL},
    {"db", "logger", "juju-info info container", NULL},
    {"db:juju-info", "logger:info", "juju-info info container", NULL},
    /* what a charm says goes before it */
    {"sender", "web", "target www container", NULL},
    {"web", "sender", "www target container", NULL},
    {"sender:info", "web", "info juju-info container", NULL},
    /* a subordinate may have ends of global scope beside */
    {"sender:sink", "db", "sink main", NULL},
    /* container scope joins a subordinate with another service */
    {"logger", "sender", NULL,
     "nothing of logger and sender fits: one must provide an interface that the other requires, "
     "and a relation of container scope joins a subordinate to another service"},
    {"taker:l", "helper:logs", NULL,
     "taker:l and helper:logs have container scope: one of the services must be subordinate, and "
     "both are"},
    {"tight:db", "close:main", NULL,
     "tight:db and close:main have container scope: one of the services must be subordinate, and "
     "none is"},
    {"near", "helper", "l logs container", NULL},
    /* global against container */
    {"tight:db", "db:main", NULL,
     "tight:db and db:main differ in scope: tight:db is for units of one container, the other for "
     "all"},
    {"shop:db", "close:main", NULL,
     "shop:db and close:main differ in scope: close:main is for units of one container, the other "
     "for all"},
    {"sender:sink", "close", NULL,
     "nothing of sender and close fits: one must provide an interface that the other requires, and "
     "a relation of container scope joins a subordinate to another service"},
};

static void ends_fit_or_it_is_said_why_not(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        const struct charm_end ends[2] = {end_of(f, row->x), end_of(f, row->y)};
        struct charm_fit fit = {.ends = {{.name = NULL}}};
        int r = charm_ends_fit(&f->arena, ends, &fit, &f->err);
        const char *found = r < 0
                                ? f->err.text
                                : arena_printf(&f->arena, "%s %s%s", fit.ends[0].name,
                                               fit.ends[1].name, fit.container ? " container" : "");
        const char *expected = row->fit ? row->fit : row->text;
        expected = arena_strndup(&f->arena, expected, strnlen(expected, sizeof(f->err.text) - 1));
        if ((r < 0) != !row->fit || (r < 0 && r != -ERR_INVALID) || strcmp(found, expected) != 0) {
            fail_msg("%s %s: %s\nand not %s", row->x, row->y, found, expected);
        }
    }
}

static void an_upgrade_keeps_ends_in_use(void **state)
{
    struct fixture *f = *state;
    const struct charm_endpoint db = {.name = "db", .role = CHARM_REQUIRES, .interface = "kv"};
    const struct charm_endpoint info = {
        .name = CHARM_IMPLICIT, .role = CHARM_PROVIDES, .interface = CHARM_IMPLICIT};
    struct charm_endpoint other = db;
    assert_null(charm_lacks_end(&f->arena, charm_of(f, "web"), &db, false));
    assert_null(charm_lacks_end(&f->arena, charm_of(f, "bare"), &info, true));
    /* global against container: an end of global scope takes both */
    assert_null(charm_lacks_end(&f->arena, charm_of(f, "web"), &db, true));
    assert_null(charm_lacks_end(&f->arena, charm_of(f, "tight"), &db, true));
    assert_string_equal(charm_lacks_end(&f->arena, charm_of(f, "tight"), &db, false),
                        "the charm tight has db with container scope, which takes no relation of "
                        "global scope");
    static const char gone[] = "the charm bare does not have db in requires with the interface kv";
    assert_string_equal(charm_lacks_end(&f->arena, charm_of(f, "bare"), &db, false), gone);
    other.interface = "sql";
    assert_non_null(charm_lacks_end(&f->arena, charm_of(f, "web"), &other, false));
    other = db;
    other.role = CHARM_PROVIDES;
    assert_non_null(charm_lacks_end(&f->arena, charm_of(f, "web"), &other, false));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_fit_or_it_is_said_why_not),
        TEST(an_upgrade_keeps_ends_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
