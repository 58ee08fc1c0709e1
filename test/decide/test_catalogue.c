/* Flavors and apps of sites: each request about them (bbs/edge/catalogue.h), row by row. What each
 * comes to, with what is compared, stands in test/decide/expected/catalogue.txt; `test_catalogue
 * print` prints it. */
#include "bbs/edge/catalogue.h"
#include "test/decide/edge_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include "edge_api.pb-c.h"

#include <stdio.h>
#include <string.h>

#define EXPECTED "test/decide/expected/catalogue.txt"

#define SMALL                                                                                      \
    "flavor/small {'name':'small','size':{'memory_mb':512,'disk_mb':1024,'containers':16},"        \
    "'since':5}\n"
#define USED(what, by) "use/" what "/" by " {}\n"
#define BY(n) "appinst%2Facme%2Fparis%2Fdev%2Fweb%2Fdev%2Fshop%2F" n
#define RUNS "'definition':{'rootfs':'preloaded:x','action':{'run':{'path':'/p','user':'u'}}}"
#define APPLY(ports) "{'name':'dev/shop/1','spec':{'flavor':'small','ports':[" ports "]}," RUNS "}"
#define APP(n, digest)                                                                             \
    "app/dev/shop/1 {'name':'dev/shop/1','uid':'U','revision':" n ",'digest':'" digest "'}\n"
#define DEF(n) "appdef/dev/shop/1/00000000" n " {'name':'dev/shop/1','revision':" n "}\n"
#define DEFS                                                                                       \
    DEF("11") DEF("12") DEF("13") DEF("14") DEF("15") DEF("16") DEF("17") DEF("18") DEF("19")      \
        DEF("20") DEF("21") DEF("22") DEF("23") DEF("24") DEF("25") DEF("26")

static const struct edge_row set[] = {
    {"a flavor", "", "", "{'name':'small','size':{'memory_mb':512,'disk_mb':1024}}"},
    {"the same", SMALL, "", "{'name':'small','size':{'memory_mb':512,'disk_mb':1024}}"},
    {"another", SMALL, "",
     "{'name':'small','size':{'memory_mb':9,'disk_mb':1024,'placement_tags':['gpu']}}"},
    {"no size", "", "", "{'name':'small'}"},
    {"no name", "", "", "{'size':{'memory_mb':1,'disk_mb':1}}"},
    {"below 0", "", "", "{'name':'a b','size':{'memory_mb':-1,'disk_mb':-1,'containers':-1}}"},
};

static const struct edge_row remove_flavor[] = {
    {"goes", SMALL, "", "{'name':'small'}"},
    {"is not there", "", "", "{'name':'small'}"},
    {"is used", SMALL USED("flavor%2Fsmall", BY("1")), "", "{'name':'small'}"},
    {"is used by an app", SMALL USED("flavor%2Fsmall", "app%2Fdev%2Fshop%2F1"), "",
     "{'name':'small'}"},
    {"is used by many", SMALL USED("flavor%2Fsmall", BY("1")) USED("flavor%2Fsmall", BY("2"))
         USED("flavor%2Fsmall", BY("3")) USED("flavor%2Fsmall", BY("4"))
         USED("flavor%2Fsmall", BY("5")), "", "{'name':'small'}"},
};

static const struct edge_row apply[] = {
    {"an app", SMALL, "", APPLY("{'internal':8080}")},
    {"another revision", SMALL APP("1", "other"), "", APPLY("{'internal':8080}")},
    {"the same one", SMALL APP("1", "0a58451370979461"), "", APPLY("{'internal':8080}")},
    {"older ones go, but for what is used",
     SMALL APP("26", "other") "appdef/dev/shop/1/0000000009 {'revision':9}\n"
         DEF("10") DEFS USED("appdef%2Fdev%2Fshop%2F1%2F0000000010", BY("1")), "", APPLY("")},
    {"of another flavor", SMALL APP("1", "other")
     "appdef/dev/shop/1/0000000001 {'revision':1,'spec':{'flavor':'large'}}\n"
     USED("flavor%2Flarge", "app%2Fdev%2Fshop%2F1"), "", APPLY("")},
    {"of the same flavor", SMALL APP("1", "other")
     "appdef/dev/shop/1/0000000001 {'revision':1,'spec':{'flavor':'small'}}\n"
     USED("flavor%2Fsmall", "app%2Fdev%2Fshop%2F1"), "", APPLY("")},
    {"without its flavor", "", "", APPLY("")},
    {"port 0", SMALL, "", APPLY("{'internal':0}")},
    {"port 65536", SMALL, "", APPLY("{'internal':65536}")},
    {"port 22", SMALL, "", APPLY("{'internal':22}")},
    {"a range over it", SMALL, "", APPLY("{'internal':20,'last':30}")},
    {"a range backwards", SMALL, "", APPLY("{'internal':30,'last':29}")},
    {"a port twice", SMALL, "", APPLY("{'internal':80},{'internal':79,'last':81}")},
    {"of two protocols", SMALL, "", APPLY("{'internal':80},{'internal':80,'protocol':'UDP'}")},
    {"17 ports", SMALL, "",
     APPLY("{'internal':1},{'internal':2},{'internal':3},{'internal':4},{'internal':5},"
           "{'internal':6},{'internal':7},{'internal':8},{'internal':9},{'internal':10},"
           "{'internal':11},{'internal':12},{'internal':13},{'internal':14},{'internal':15},"
           "{'internal':16},{'internal':17}")},
    {"nothing to run", SMALL, "", "{'name':'dev/shop/1','spec':{'flavor':'small'}}"},
    {"no flavor", SMALL, "", "{'name':'dev/shop/1'," RUNS "}"},
    {"a name that is none", SMALL, "", "{'name':'shop','spec':{'flavor':'small'}," RUNS "}"},
    {"what is the centre's to say", SMALL, "",
     "{'name':'dev/shop/1','spec':{'flavor':'small'},'definition':{'rootfs':'x','instances':2,"
     "'action':{'run':{'path':'/p','user':'u'}}}}"},
};

static const struct edge_row remove_app[] = {
    {"goes, with its revisions", APP("2", "d") DEF("11") DEF("12"), "", "{'name':'dev/shop/1'}"},
    {"goes, and lets its flavor go",
     APP("1", "d") "appdef/dev/shop/1/0000000001 {'revision':1,'spec':{'flavor':'small'}}\n"
     USED("flavor%2Fsmall", "app%2Fdev%2Fshop%2F1"), "", "{'name':'dev/shop/1'}"},
    {"is not there", "", "", "{'name':'dev/shop/1'}"},
    {"is used", APP("2", "d") USED("app%2Fdev%2Fshop%2F1", BY("1")), "", "{'name':'dev/shop/1'}"},
};

static void valid_set(struct validation *v, const void *request)
{
    valid_flavor(v, request);
}

static void valid_apply(struct validation *v, const void *request)
{
    valid_edge_app(v, request);
}

static void valid_any(struct validation *v, const void *request)
{
}

#define TRY(op, type, valid, rows)                                                                 \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) {                                \
        edge_row_try(op, &type##__descriptor, valid, &(rows)[i], out);                             \
    }

static void try_and_print(struct buf *out)
{
    TRY(&set_flavor_row, board__flavor_record, valid_set, set)
    TRY(&remove_flavor_row, board__edge_remove_request, valid_any, remove_flavor)
    TRY(&apply_edge_app_row, board__edge_app_revision_record, valid_apply, apply)
    TRY(&remove_edge_app_row, board__edge_remove_request, valid_any, remove_app)
}

static void each_request_is_decided_by_its_row(void **state)
{
    SCOPED_BUF(out);
    try_and_print(&out);
    page_equals(EXPECTED, buf_string(&out), "test_catalogue print > " EXPECTED);
}

/* A definition of 1 MiB less 64 bytes is taken, one byte more is not. */
static void an_app_has_a_bound(void **state)
{
    SCOPED_ARENA(a);
    for (int more = 0; more < 2; more++) {
        Board__EdgeAppRevisionRecord r = BOARD__EDGE_APP_REVISION_RECORD__INIT;
        Board__EdgeAppSpec spec = BOARD__EDGE_APP_SPEC__INIT;
        Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
        Models__Action action = MODELS__ACTION__INIT;
        Models__RunAction run = MODELS__RUN_ACTION__INIT;
        Models__EnvironmentVariable env = MODELS__ENVIRONMENT_VARIABLE__INIT, *list[] = {&env};
        struct validation v = {0};
        r.name = arena_strdup(&a, "dev/shop/1");
        spec.flavor = arena_strdup(&a, "small");
        run.path = arena_strdup(&a, "/p");
        run.user = arena_strdup(&a, "u");
        action.run_action = &run;
        d.action = &action;
        d.root_fs = arena_strdup(&a, "preloaded:x");
        d.environment_variables = list;
        d.n_environment_variables = 1;
        env.name = arena_strdup(&a, "A");
        r.spec = &spec;
        r.definition = &d;
        /* Until the whole has the size. */
        size_t size = APP_BYTES_MAX + (size_t)more, value = size - 200;
        env.value = arena_alloc(&a, size + 1);
        memset(env.value, 'x', value);
        do {
            env.value[value++] = 'x';
        } while (protobuf_c_message_get_packed_size(&r.base) < size);
        assert_int_equal(protobuf_c_message_get_packed_size(&r.base), size);
        valid_edge_app(&v, &r);
        assert_int_equal(validation_ok(&v), !more);
        assert_true(!more || strstr(validation_text(&v), "has 1048513 bytes: at most 1048512"));
        validation_done(&v);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(out);
        try_and_print(&out);
        fputs(buf_string(&out), stdout);
        return 0;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_decided_by_its_row),
        cmocka_unit_test(an_app_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
