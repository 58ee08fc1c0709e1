/* What clients and CRMs may say to a centre: each bound, and one beyond it (bbs/edge/catalogue.h,
 * bbs/edge/said.h). */
#include "bbs/edge/catalogue.h"
#include "bbs/edge/said.h"
#include "common/codec/json.h"
#include "common/model/moves.h"
#include "edge_api.pb-c.h"
#include "test/tool/cmocka.h"

#include <string.h>

static struct arena arena;

static const ProtobufCMessage *message(const ProtobufCMessageDescriptor *d, const char *text)
{
    ProtobufCMessage *m;
    struct err err;
    char *json = arena_strdup(&arena, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    if (json_decode(&arena, d, bytes_of(json), CODEC_OWN | CODEC_STRICT | CODEC_SNAKE_CASE, &m,
                    &err) < 0) {
        fail_msg("%s: %s", err.text, text);
    }
    return m;
}

static const char *of_app(const char *text)
{
    struct validation v = {0};
    valid_edge_app(&v, (const Board__EdgeAppRevisionRecord *)message(
                           &board__edge_app_revision_record__descriptor, text));
    const char *why = validation_ok(&v) ? "" : arena_strdup(&arena, validation_text(&v));
    validation_done(&v);
    return why;
}

static const char *of_move(const char *text)
{
    struct validation v = {0};
    Board__Move *m = move_new(&arena, "report", "appinst/acme/paris/dev/web/dev/shop/1.0");
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = (Board__EdgeMove *)(uintptr_t)message(&board__edge_move__descriptor, text);
    edge_valid(&v, m);
    const char *why = validation_ok(&v) ? "" : arena_strdup(&arena, validation_text(&v));
    validation_done(&v);
    return why;
}

static const char *xs(size_t count)
{
    char *filler = arena_alloc(&arena, count + 1);
    memset(filler, 'x', count);
    filler[count] = 0;
    return filler;
}

static const char *times(const char *what, int count)
{
    const char *all = what;
    for (int i = 1; i < count; i++) {
        all = arena_printf(&arena, "%s,%s", all, what);
    }
    return all;
}

#define RUNS "'definition':{'rootfs':'preloaded:x','action':{'run':{'path':'/p','user':'u'}}%s}"

static const char *app_with(const char *ports, const char *more)
{
    return arena_printf(&arena,
                        "{'name':'dev/shop/1.0','spec':{'flavor':'small','ports':[%s]}," RUNS "}",
                        ports, more);
}

static void ports_of_an_app(void **state)
{
    static const struct {
        const char *ports, *why;
    } rows[] = {
        {"{'internal':1}", ""},
        {"{'internal':65535}", ""},
        {"{'internal':23,'last':65535}", ""},
        {"{'internal':80},{'internal':80,'protocol':'UDP'}", ""},
        {"{'internal':80,'last':90},{'internal':91}", ""},
        {"{'internal':0}", "ports: 0, must be from 1 to 65535"},
        {"{'internal':65536}", "ports: 65536, must be from 1 to 65535"},
        {"{'internal':9,'last':8}", "ports: 9 to 8, must rise, and be from 1 to 65535"},
        {"{'internal':1,'last':65536}", "ports: 1 to 65536, must rise, and be from 1 to 65535"},
        {"{'internal':22}", "ports: 22 is not for apps"},
        {"{'internal':21,'last':22}", "ports: 22 is not for apps"},
        {"{'internal':22,'last':23}", "ports: 22 is not for apps"},
        {"{'internal':80},{'internal':80}", "ports: 80 is said twice"},
        {"{'internal':80,'last':90},{'internal':90}", "ports: 90 is said twice"},
    };
    const char *all = "{'internal':1001}";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(of_app(app_with(rows[i].ports, "")), rows[i].why);
    }
    for (int i = 2; i <= 16; i++) {
        all = arena_printf(&arena, "%s,{'internal':%d}", all, 1000 + i);
    }
    assert_string_equal(of_app(app_with(all, "")), "");
    all = arena_printf(&arena, "%s,{'internal':9}", all);
    assert_string_equal(of_app(app_with(all, "")), "ports: 17, at most 16");
}

/* What the centre says is not the client's, and what no site takes is refused here. */
static void definitions_of_an_app(void **state)
{
    static const char centres[] = "definition: process_guid, domain, owner, instances, memory, "
                                  "disk, routes and slice are the centre's to say";
    static const struct {
        const char *more, *why;
    } rows[] = {
        {"", ""},
        {",'max_pids':5", ""},
        {",'process_guid':'x'", centres},
        {",'domain':'x'", centres},
        {",'instances':1", centres},
        {",'memory_mb':1", centres},
        {",'disk_mb':1", centres},
        {",'slice':'x'", centres},
        {",'max_pids':-1", "Invalid field: max_pids"},
        {",'image_username':'u'", "Invalid field: image_password"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(of_app(app_with("", rows[i].more)), rows[i].why);
    }
    assert_string_equal(of_app("{'name':'dev/shop/1.0','spec':{'flavor':'small'}}"),
                        "definition: what does it run?");
    assert_string_equal(of_app(arena_printf(&arena, "{'name':'dev/shop/1.0'," RUNS "}", "")),
                        "flavor: which one?");
}

/* Values are sealed by a board alone: one that a client brings was sealed for another place. */
static void a_sealed_value_is_refused(void **state)
{
    struct validation v = {0};
    Board__EdgeAppRevisionRecord *r = (Board__EdgeAppRevisionRecord *)(uintptr_t)message(
        &board__edge_app_revision_record__descriptor,
        app_with("", ",'env':[{'name':'A'}]"));
    r->definition->environment_variables[0]->sealed =
        arena_message(&arena, &models__sealed__descriptor);
    valid_edge_app(&v, r);
    assert_non_null(strstr(validation_text(&v), "secrets are of systems"));
    validation_done(&v);
}

static void an_app_has_a_mebibyte(void **state)
{
    struct validation v = {0};
    Board__EdgeAppRevisionRecord *r = (Board__EdgeAppRevisionRecord *)(uintptr_t)message(
        &board__edge_app_revision_record__descriptor,
        app_with("", ",'env':[{'name':'A','value':'x'}]"));
    enum { MOST = 1024 * 1024 - 64 };
    size_t without = board__edge_app_revision_record__get_packed_size(r);
    r->definition->environment_variables[0]->value = (char *)(uintptr_t)xs(MOST - without - 16);
    size_t with = board__edge_app_revision_record__get_packed_size(r);
    size_t value = strlen(r->definition->environment_variables[0]->value) + MOST - with;
    r->definition->environment_variables[0]->value = (char *)(uintptr_t)xs(value);
    assert_int_equal(board__edge_app_revision_record__get_packed_size(r), MOST);
    valid_edge_app(&v, r);
    assert_true(validation_ok(&v));
    r->definition->environment_variables[0]->value = (char *)(uintptr_t)xs(value + 1);
    valid_edge_app(&v, r);
    assert_string_equal(validation_text(&v), "app dev/shop/1.0 has 1048513 bytes: at most 1048512");
    validation_done(&v);
}

static const char *quoted(size_t size)
{
    return arena_printf(&arena, "'%s'", xs(size));
}

/* What a CRM says, between head and tail: the most that is taken, and one more. */
static void what_a_crm_says(void **state)
{
    const struct {
        const char *head, *most, *more, *tail, *why;
    } rows[] = {
        {"{'uid':", quoted(256), quoted(257), "}", "uid: 257 bytes, at most 256"},
        {"{'version':", quoted(256), quoted(257), "}", "version: 257 bytes, at most 256"},
        {"{'identity':", quoted(256), quoted(257), "}", "identity: 257 bytes, at most 256"},
        {"{'error':", quoted(4096), quoted(4097), "}", "error: 4097 bytes, at most 4096"},
        {"{'errors':[", times("'e'", 16), times("'e'", 17), "]}", "errors: 17, at most 16"},
        {"{'errors':['e',", quoted(512), quoted(513), "]}", "errors: 513 bytes, at most 512"},
        {"{'step':{'text':", quoted(512), quoted(513), "}}", "step: 513 bytes, at most 512"},
        {"{'step':{", "'step':1000,'steps':1000", "'step':1,'steps':1001", "}}",
         "step: 1 of 1001, at most 1000 of as many"},
        {"{'step':{", "'step':2,'steps':2", "'step':3,'steps':2", "}}",
         "step: 3 of 2, at most 1000 of as many"},
        {"{'totals':{'memory_mb':", "0", "-1", "}}",
         "totals: memory, disk and containers are not below 0"},
        {"{'cluster_report':{'used':{'containers':", "0", "-1", "}}}",
         "used: memory, disk and containers are not below 0"},
        {"{'cluster_report':{'cells':[", times("'c'", 60), times("'c'", 61), "]}}",
         "cells: 61, at most 60"},
        {"{'cluster_report':{'health':", quoted(256), quoted(257), "}}",
         "health: 257 bytes, at most 256"},
        {"{'instance_report':{'endpoints':[", times("'a:1'", 64), times("'a:1'", 65), "]}}",
         "endpoints: 65, at most 64"},
        {"{'instance_report':{'runtime_ids':[", times("'a'", 64), times("'a'", 65), "]}}",
         "runtime_ids: 65, at most 64"},
        {"{'override':", "4", "5", "}", "override: there is no 5, only 0 to 4"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(
            of_move(arena_printf(&arena, "%s%s%s", rows[i].head, rows[i].most, rows[i].tail)), "");
        assert_string_equal(
            of_move(arena_printf(&arena, "%s%s%s", rows[i].head, rows[i].more, rows[i].tail)),
            rows[i].why);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_of_an_app),           cmocka_unit_test(definitions_of_an_app),
        cmocka_unit_test(a_sealed_value_is_refused), cmocka_unit_test(an_app_has_a_mebibyte),
        cmocka_unit_test(what_a_crm_says),
    };
    int failed = cmocka_run_group_tests_name("edge valid", tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
