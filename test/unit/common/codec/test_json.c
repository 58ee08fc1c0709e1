/* Diego's JSON both ways: rows of json.md 2 and rep-auctioneer.md 2, and hostile input.
 */
#include "common/codec/json.h"

#include "auction.pb-c.h"
#include "cell.pb-c.h"
#include "common/base/random.h"
#include "common/codec/json_syntax.h"
#include "common/codec/json_text.h"
#include "common/codec/nearest.h"
#include "models/desired_lrp.pb-c.h"
#include "models/events.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *encoded(struct fixture *f, const void *message, unsigned flags)
{
    buf_clear(&f->out);
    assert_int_equal(json_encode(message, flags, &f->out, &f->err), 0);
    return buf_string(&f->out);
}

static void *decoded(struct fixture *f, const ProtobufCMessageDescriptor *d, const char *text,
                     unsigned flags)
{
    ProtobufCMessage *m = NULL;
    if (json_decode(&f->arena, d, bytes_of(text), flags, &m, &f->err) < 0) {
        fail_msg("%s: %s", text, f->err.text);
    }
    return m;
}

/* Text that decodes and encodes to itself. */
static void texts_round_trip(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const ProtobufCMessageDescriptor *type;
        const char *text;
    } rows[] = {
        {&models__actual_lrp__descriptor,
         "{\"process_guid\":\"pg\",\"index\":0,\"domain\":\"d\",\"instance_guid\":\"\",\"cell_id\":"
         "\"\","
         "\"address\":\"\",\"ports\":null,\"preferred_address\":\"UNKNOWN\",\"crash_count\":0,"
         "\"state\":\"UNCLAIMED\",\"since\":5,\"modification_tag\":{\"epoch\":\"\",\"index\":0},"
         "\"presence\":\"ORDINARY\",\"OptionalRoutable\":{\"routable\":false},"
         "\"availability_zone\":\"\"}"},
        {&models__actual_lrp__descriptor,
         "{\"process_guid\":\"pg\",\"index\":3,\"domain\":\"d\",\"instance_guid\":\"ig\","
         "\"cell_id\":\"c\",\"address\":\"10.0.0.1\",\"ports\":[{\"container_port\":8080,"
         "\"host_port\":61000,\"container_tls_proxy_port\":0,\"host_tls_proxy_port\":0}],"
         "\"instance_address\":\"10.255.0.2\",\"preferred_address\":\"HOST\",\"crash_count\":2,"
         "\"crash_reason\":\"a \\u003c b\",\"state\":\"RUNNING\",\"placement_error\":\"none\","
         "\"since\":1700000000000000000,\"modification_tag\":{\"epoch\":\"e\",\"index\":7},"
         "\"presence\":\"SUSPECT\",\"actual_lrp_internal_routes\":[{\"hostname\":\"h\"}],"
         "\"metric_tags\":{\"a\":\"1\",\"b\":\"2\"},\"OptionalRoutable\":null,"
         "\"availability_zone\":\"z1\"}"},
        {&models__actual_lrpinfo__descriptor,
         "{\"address\":\"\",\"ports\":null,\"preferred_address\":\"UNKNOWN\",\"crash_count\":0,"
         "\"state\":\"\",\"since\":0,\"modification_tag\":{\"epoch\":\"\",\"index\":0},"
         "\"presence\":\"ORDINARY\",\"OptionalRoutable\":{},\"availability_zone\":\"\"}"},
        {&models__actual_lrpinfo__descriptor,
         "{\"address\":\"\",\"ports\":null,\"preferred_address\":\"UNKNOWN\",\"crash_count\":0,"
         "\"state\":\"\",\"since\":0,\"modification_tag\":{\"epoch\":\"\",\"index\":0},"
         "\"presence\":\"ORDINARY\",\"OptionalRoutable\":{\"Routable\":true},"
         "\"availability_zone\":\"\"}"},
        {&models__resource_limits__descriptor, "{\"nofile\":0}"},
        {&models__resource_limits__descriptor, "{}"},
        {&models__desired_lrpupdate__descriptor,
         "{\"instances\":0,\"routes\":{},\"annotation\":\"\"}"},
        {&models__desired_lrpupdate__descriptor,
         "{\"routes\":{\"cf-router\":[{\"hostnames\":[\"a.b\"],\"port\":8080}],\"x\":1.5},"
         "\"metric_tags\":{\"i\":{\"dynamic\":\"INDEX\"},\"s\":{\"static\":\"v\"}}}"},
        {&models__desired_lrp__descriptor,
         "{\"process_guid\":\"p\",\"domain\":\"d\",\"rootfs\":\"preloaded:x\",\"instances\":1,"
         "\"env\":[{\"name\":\"A\",\"value\":\"\"}],\"action\":{\"timeout\":{\"action\":{\"run\":{"
         "\"path\":\"sh\",\"args\":[\"-c\",\"\"],\"resource_limits\":{\"nofile\":10},\"user\":"
         "\"u\","
         "\"suppress_log_output\":false}},\"timeout_ms\":5}},\"disk_mb\":0,\"memory_mb\":64,"
         "\"cpu_weight\":0,\"privileged\":false,\"ports\":[8080,8081],\"routes\":{},"
         "\"log_source\":\"\",\"log_guid\":\"\",\"metrics_guid\":\"\",\"annotation\":\"\","
         "\"start_timeout_ms\":0,\"placement_tags\":[\"t\"],\"max_pids\":0,"
         "\"log_rate_limit\":{\"bytes_per_second\":-1}}"},
        {&models__desired_lrpscheduling_info__descriptor,
         "{\"process_guid\":\"\",\"domain\":\"\",\"log_guid\":\"\",\"annotation\":\"\","
         "\"instances\":0,\"memory_mb\":0,\"disk_mb\":0,\"rootfs\":\"\",\"max_pids\":0,"
         "\"routes\":{},\"epoch\":\"\",\"index\":0}"},
        {&models__task__descriptor,
         "{\"task_guid\":\"t\",\"domain\":\"\",\"created_at\":0,\"updated_at\":0,"
         "\"first_completed_at\":0,\"state\":\"Resolving\",\"cell_id\":\"\",\"result\":\"\","
         "\"failed\":true,\"failure_reason\":\"\",\"rejection_count\":0,\"rejection_reason\":"
         "\"\"}"},
        {&cell__work__descriptor, "{\"LRPs\":null,\"Tasks\":null}"},
        {&cell__work__descriptor,
         "{\"LRPs\":[{\"instance_guid\":\"i\",\"process_guid\":\"p\",\"index\":1,\"domain\":\"d\","
         "\"PlacementTags\":null,\"VolumeDrivers\":null,\"RootFs\":\"preloaded:x\",\"MemoryMB\":1,"
         "\"DiskMB\":2,\"MaxPids\":3,\"state\":\"\"}],\"Tasks\":null,\"cell_id\":\"c\"}"},
        {&cell__cell_state__descriptor,
         "{\"rep_url\":\"u\",\"cell_id\":\"c\",\"cell_index\":0,\"RootFSProviders\":{"
         "\"docker\":{\"type\":\"arbitrary\"},\"preloaded\":{\"type\":\"fixed_set\",\"set\":{"
         "\"busybox\":{},\"x\":{}}}},\"AvailableResources\":{\"MemoryMB\":1,\"DiskMB\":2,"
         "\"Containers\":3},\"TotalResources\":{\"MemoryMB\":0,\"DiskMB\":0,\"Containers\":0},"
         "\"LRPs\":null,\"Tasks\":null,\"StartingContainerCount\":4,\"Zone\":\"z\","
         "\"Evacuating\":false,\"VolumeDrivers\":null,\"PlacementTags\":null,"
         "\"OptionalPlacementTags\":[\"a\"],\"ProxyMemoryAllocationMB\":0}"},
        {&cell__lrpupdate__descriptor,
         "{\"instance_guid\":\"\",\"process_guid\":\"\",\"index\":0,\"domain\":\"\","
         "\"internal_routes\":[{\"hostname\":\"h\"}],\"metric_tags\":null}"},
        {&models__error__descriptor, "{\"type\":\"ResourceNotFound\",\"message\":\"m\"}"},
        {&models__error__descriptor, "{\"type\":23,\"message\":\"a reserved number\"}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const ProtobufCMessage *m = decoded(f, rows[i].type, rows[i].text, CODEC_STRICT);
        assert_string_equal(encoded(f, m, 0), rows[i].text);
        /* What is decoded packs and unpacks to the same. */
        SCOPED_BUF(packed);
        buf_message(&packed, m);
        ProtobufCAllocator allocator = arena_protobuf(&f->arena);
        ProtobufCMessage *again =
            protobuf_c_message_unpack(rows[i].type, &allocator, packed.size, packed.data);
        assert_string_equal(encoded(f, again, 0), rows[i].text);
    }
}

/* A set that is there and empty stays so from JSON to JSON; protobuf cannot tell it. */
static void an_empty_set_is_not_an_absent_one(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"{\"type\":\"fixed_set\",\"set\":{}}",
                                        "{\"type\":\"arbitrary\"}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const ProtobufCMessage *m =
            decoded(f, &cell__root_fsprovider__descriptor, texts[i], CODEC_STRICT);
        assert_string_equal(encoded(f, m, 0), texts[i]);
    }
}

static void absent_parts_look_as_diego_shows_them(void **state)
{
    struct fixture *f = *state;
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    assert_string_equal(
        encoded(f, &lrp, 0),
        "{\"process_guid\":\"\",\"index\":0,\"domain\":\"\",\"instance_guid\":\"\",\"cell_id\":"
        "\"\","
        "\"address\":\"\",\"ports\":null,\"preferred_address\":\"UNKNOWN\",\"crash_count\":0,"
        "\"state\":\"\",\"since\":0,\"modification_tag\":{\"epoch\":\"\",\"index\":0},"
        "\"presence\":\"ORDINARY\",\"OptionalRoutable\":null,\"availability_zone\":\"\"}");
    Models__VolumeMount mount = MODELS__VOLUME_MOUNT__INIT;
    assert_string_equal(encoded(f, &mount, 0),
                        "{\"driver\":\"\",\"container_dir\":\"\",\"mode\":\"\",\"shared\":null}");
    Models__ActualLRPInstanceChangedEvent event = MODELS__ACTUAL_LRPINSTANCE_CHANGED_EVENT__INIT;
    assert_string_equal(encoded(f, &event, 0),
                        "{\"process_guid\":\"\",\"index\":0,\"domain\":\"\",\"instance_guid\":\"\","
                        "\"cell_id\":\"\",\"trace_id\":\"\"}");
}

/* As the command line shows messages, and what of them it takes back. */
static void keys_are_in_snake_case_where_that_is_wanted(void **state)
{
    struct fixture *f = *state;
    const unsigned own = CODEC_OWN | CODEC_SNAKE_CASE;
    const char *wire =
        "{\"cell_id\":\"c\",\"RootFSProviders\":{\"preloaded+Layer\":{\"type\":\"arbitrary\"}},"
        "\"AvailableResources\":{\"MemoryMB\":1,\"DiskMB\":2,\"Containers\":3},\"LRPs\":"
        "[{\"instance_guid\":\"g\",\"MaxPids\":4,\"RootFs\":\"r\"}],\"StartingContainerCount\":5,"
        "\"ProxyMemoryAllocationMB\":6,\"OptionalPlacementTags\":[\"T\"]}";
    const char *snake = arena_strdup(
        &f->arena, encoded(f, decoded(f, &cell__cell_state__descriptor, wire, own), own));
    static const char *const keys[] = {
        "\"root_fs_providers\":{\"preloaded+Layer\":",
        "\"available_resources\":{\"memory_mb\":1,\"disk_mb\":2,\"containers\":3}",
        "\"lrps\":[{",
        "\"max_pids\":4",
        "\"root_fs\":\"r\"",
        "\"starting_container_count\":5",
        "\"proxy_memory_allocation_mb\":6",
        "\"optional_placement_tags\":[\"T\"]",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!strstr(snake, keys[i])) {
            fail_msg("no %s in %s", keys[i], snake);
        }
    }
    const void *again = decoded(f, &cell__cell_state__descriptor, snake, own | CODEC_STRICT);
    assert_string_equal(encoded(f, again, own), snake);
    assert_non_null(strstr(encoded(f, again, 0), "\"ProxyMemoryAllocationMB\":6"));
    /* What Diego puts into a holder. */
    Models__ActualLRP *lrp =
        decoded(f, &models__actual_lrp__descriptor, "{\"routable\":false}", own);
    assert_int_equal(lrp->optional_routable_case, MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE);
    assert_non_null(strstr(encoded(f, lrp, own), "\"presence\":\"ORDINARY\",\"routable\":false,"));
    lrp = decoded(f, &models__actual_lrp__descriptor, "{\"OptionalRoutable\":{\"routable\":true}}",
                  own);
    assert_non_null(strstr(encoded(f, lrp, own), "\"routable\":true"));
    lrp = decoded(f, &models__actual_lrp__descriptor, "{\"OptionalRoutable\":null}", own);
    assert_null(strstr(encoded(f, lrp, own), "outable"));
}

static void own_fields_need_a_flag(void **state)
{
    struct fixture *f = *state;
    const char *text = "{\"TaskGuid\":\"t\",\"attempt\":\"7\"}";
    Cell__Task *t = decoded(f, &cell__task__descriptor, text, 0);
    assert_string_equal(t->attempt, "");
    t = decoded(f, &cell__task__descriptor, text, CODEC_OWN | CODEC_STRICT);
    assert_string_equal(t->attempt, "7");
    assert_null(strstr(encoded(f, t, 0), "attempt"));
    assert_non_null(strstr(encoded(f, t, CODEC_OWN), "\"attempt\":\"7\""));
    ProtobufCMessage *m;
    assert_int_equal(
        json_decode(&f->arena, t->base.descriptor, bytes_of(text), CODEC_STRICT, &m, &f->err),
        -ERR_INVALID);
}

static void keys_match_without_regard_to_case(void **state)
{
    struct fixture *f = *state;
    const Cell__CellState *s =
        decoded(f, &cell__cell_state__descriptor,
                "{\"REP_url\":\"u\",\"availableresources\":{\"memorymb\":5},\"lrps\":[],"
                "\"zone\":\"other\",\"Zone\":\"z\",\"unknown\":[1,{\"a\":null}]}",
                0);
    assert_string_equal(s->rep_url, "u");
    assert_int_equal(s->availableresources->memorymb, 5);
    assert_non_null(s->totalresources); /* never null */
    assert_string_equal(s->zone, "z");
    const Models__ActualLRP *lrp = decoded(
        f, &models__actual_lrp__descriptor,
        "{\"Process_Guid\":\"p\",\"optionalroutable\":{\"ROUTABLE\":true},\"ports\":null}", 0);
    assert_string_equal(lrp->actual_lrp_key->process_guid, "p");
    assert_int_equal(lrp->optional_routable_case, MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE);
    assert_true(lrp->routable);
}

static void letters_are_escaped_as_go_does(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain \xc3\xa4 \xf0\x9f\x98\x80", "\"plain \xc3\xa4 \xf0\x9f\x98\x80\""},
        {"\"\\/\n\r\t\x01\x1f\x7f", "\"\\\"\\\\/\\n\\r\\t\\u0001\\u001f\x7f\""},
        {"<&>", "\"\\u003c\\u0026\\u003e\""},
        {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\""},
        {"a\xff"
         "b\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe2\x80",
         "\"a\\ufffdb\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"
         "\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_clear(&f->out);
        json_string_text(bytes_of(rows[i].in), &f->out);
        assert_string_equal(buf_string(&f->out), rows[i].out);
    }
}

static void routes_are_json_in_json(void **state)
{
    struct fixture *f = *state;
    static char key_b[] = "b", key_a[] = "a", key_c[] = "c";
    static uint8_t list[] = " [ 1 , \"x \\\" y\" , { } ] ", broken[] = "{oops",
                   big[] = "12345678901234567890";
    Models__ProtoRoutes__RoutesEntry b = MODELS__PROTO_ROUTES__ROUTES_ENTRY__INIT, a = b, c = b;
    b.key = key_b;
    b.value = (ProtobufCBinaryData){sizeof(list) - 1, list};
    a.key = key_a;
    a.value = (ProtobufCBinaryData){sizeof(broken) - 1, broken};
    c.key = key_c;
    c.value = (ProtobufCBinaryData){sizeof(big) - 1, big};
    Models__ProtoRoutes__RoutesEntry *entries[] = {&b, &c, &a};
    Models__ProtoRoutes routes = MODELS__PROTO_ROUTES__INIT;
    routes.n_routes = 3;
    routes.routes = entries;
    assert_string_equal(encoded(f, &routes, 0), "{\"a\":\"{oops\",\"b\":[1,\"x \\\" y\",{}],"
                                                "\"c\":12345678901234567890}");
    const Models__ProtoRoutes *r = decoded(f, &models__proto_routes__descriptor,
                                           "{\"z\": [ {\"p\": 1} ], \"n\": null}", CODEC_STRICT);
    assert_int_equal(r->n_routes, 2);
    assert_string_equal(r->routes[0]->key, "n");
    assert_int_equal(r->routes[0]->value.len, 4);
    assert_memory_equal(r->routes[0]->value.data, "null", 4);
    assert_memory_equal(r->routes[1]->value.data, "[{\"p\":1}]", 9);
}

/* Whatever Diego's server takes as a route (Go's json.Valid) is shown as it was written. */
static void routes_are_shown_as_written(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"1e400", "1e400"},
        {"-0.10E+02", "-0.10E+02"},
        {" { \"b\" : 1 ,\n\t\"a\" : 1.50, \"b\":2 } ", "{\"b\":1,\"a\":1.50,\"b\":2}"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"\"\\ud800 \\u00e9 \\/ \\\" \\\\\"", "\"\\ud800 \\u00e9 \\/ \\\" \\\\\""},
        {"\"\xc3\xa9 < \xe2\x80\xa8 \xff\"", "\"\xc3\xa9 \\u003c \\u2028 \\ufffd\""},
        {"[1", "\"[1\""}, /* the board never holds such */
        {"", "\"\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__ProtoRoutes__RoutesEntry entry = MODELS__PROTO_ROUTES__ROUTES_ENTRY__INIT;
        Models__ProtoRoutes__RoutesEntry *entries[] = {&entry};
        Models__ProtoRoutes routes = MODELS__PROTO_ROUTES__INIT;
        char expected[256], key[] = "r";
        entry.key = key;
        entry.value = (ProtobufCBinaryData){strlen(rows[i].in), (uint8_t *)(uintptr_t)rows[i].in};
        routes.routes = entries;
        routes.n_routes = 1;
        snprintf(expected, sizeof(expected), "{\"r\":%s}", rows[i].out);
        assert_string_equal(encoded(f, &routes, 0), expected);
    }
    /* Deeper than our own reader goes. */
    static uint8_t deep[2000];
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    json_as_written((struct bytes){deep, sizeof(deep)}, &f->out);
    assert_memory_equal(f->out.data + f->out.size - sizeof(deep), deep, sizeof(deep));
}

static void compacting_refuses_what_is_not_json(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"", " ", "{", "{\"a\":}", "1 2", "nul", "'a'", "\"\n\""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        buf_clear(&f->out);
        assert_int_equal(json_compact(bytes_of(bad[i]), &f->out, &f->err), -ERR_INVALID);
        assert_int_equal(f->out.size, 0);
    }
    assert_int_equal(json_compact(bytes_of("[ 1.50, \"a\\\\\" , \"<b>\" ]"), &f->out, &f->err), 0);
    assert_string_equal(buf_string(&f->out), "[1.50,\"a\\\\\",\"\\u003cb\\u003e\"]");
}

static void json_by_its_grammar(void **state)
{
    static const struct {
        bool valid;
        const char *text;
    } rows[] = {
        {true, "0"},
        {true, " -0.10e+99999 "},
        {true, "1E5"},
        {true, "123456789012345678901234"},
        {true, "null"},
        {true, "true"},
        {true, "\tfalse\r\n"},
        {true, "\"\""},
        {true, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uDBFF\x7f\x80\""},
        {true, "[]"},
        {true, "{ }"},
        {true, "[[],{},[{}]]"},
        {true, "[1 , \"a\" ,null]"},
        {true, "{\"a\" : [{\"b\":{}}] , \"a\":1}"},
        {false, ""},
        {false, " "},
        {false, "01"},
        {false, "-"},
        {false, "+1"},
        {false, "1."},
        {false, ".5"},
        {false, "1e"},
        {false, "1e+"},
        {false, "0x1"},
        {false, "NaN"},
        {false, "nul"},
        {false, "truee"},
        {false, "1 2"},
        {false, "'a'"},
        {false, "\""},
        {false, "\"\\\""},
        {false, "\"\\x\""},
        {false, "\"\\u12g4\""},
        {false, "\"\\u123"},
        {false, "\"\n\""},
        {false, "["},
        {false, "]"},
        {false, "[1"},
        {false, "[1,"},
        {false, "[1,]"},
        {false, "[,1]"},
        {false, "[1 2]"},
        {false, "[1}"},
        {false, "{"},
        {false, "{1:2}"},
        {false, "{\"a\"}"},
        {false, "{\"a\":}"},
        {false, "{\"a\":1,}"},
        {false, "{\"a\":1]"},
        {false, "{\"a\":[1}"},
        {false, "[]]"},
        {false, "{}{}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (json_syntax_valid(bytes_of(rows[i].text)) != rows[i].valid) {
            fail_msg("%s", rows[i].text);
        }
    }
    assert_false(json_syntax_valid((struct bytes){(const uint8_t *)"\"\0\"", 3}));
    assert_false(json_syntax_valid((struct bytes){(const uint8_t *)"\"\\\0\"", 4}));
    assert_false(json_syntax_valid((struct bytes){NULL, 0}));
}

static void base64_both_ways(void **state)
{
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe", "//4="}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_clear(&f->out);
        base64_encode(bytes_of(rows[i][0]), &f->out);
        assert_string_equal(buf_string(&f->out), rows[i][1]);
        struct bytes got;
        assert_int_equal(base64_decode(&f->arena, bytes_of(rows[i][1]), &got, &f->err), 0);
        assert_true(bytes_equal(got, bytes_of(rows[i][0])));
    }
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "====", "Z===", "Zg==Zg==", "Zm9\x01", "Z-9v"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct bytes got;
        if (base64_decode(&f->arena, bytes_of(bad[i]), &got, &f->err) != -ERR_INVALID) {
            fail_msg("%s passed", bad[i]);
        }
    }
}

static void mistakes_are_named_with_their_path(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *in, *text;
    } rows[] = {
        {"[]", "must be an object"},
        {"{\"memory_mb\":\"64\"}", "memory_mb: must be a whole number"},
        {"{\"memory_mb\":1.0}", "memory_mb: must be a whole number"},
        {"{\"memory_mb\":2147483648}",
         "memory_mb: must be a number from -2147483648 to 2147483647"},
        {"{\"cpu_weight\":-1}", "cpu_weight: must be a number from 0 to 4294967295"},
        {"{\"privileged\":1}", "privileged: must be true or false"},
        {"{\"ports\":8080}", "ports: must be a list"},
        {"{\"ports\":[1,null]}", "ports[1]: must not be null"},
        {"{\"action\":{\"serial\":{\"actions\":[{},{\"run\":{\"args\":[\"a\",2]}}]}}}",
         "action.serial.actions[1].run.args[1]: must be a text"},
        {"{\"memroy_mb\":1}", "memroy_mb: unknown key; did you mean \"memory_mb\"?"},
        {"{\"action\":{\"run\":{\"pth\":\"x\"}}}",
         "action.run.pth: unknown key; did you mean \"path\"?"},
        {"{\"zzzzzz\":1}", "zzzzzz: unknown key"},
        {"{\"metric_tags\":{\"a\":{\"dynamic\":\"INDX\"}}}",
         "metric_tags.a.dynamic: knows no value \"INDX\"; did you mean \"INDEX\"?"},
        {"{\"a\":1,\"a\":2}",
         "not valid JSON, line 1 column 10: duplicate object key near '\"a\"'"},
        {"{\n\"domain\":\n}", "not valid JSON, line 3 column 1: unexpected token near '}'"},
        {"{\"domain\":\"a\\u0000b\"}",
         "not valid JSON, line 1 column 20: \\u0000 is not allowed without JSON_ALLOW_NUL near "
         "'\"a\\u0000b\"'"},
        {"", "not valid JSON, line 1 column 0: '[' or '{' expected near end of file"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ProtobufCMessage *m = NULL;
        assert_int_equal(json_decode(&f->arena, &models__desired_lrp__descriptor,
                                     bytes_of(rows[i].in), CODEC_STRICT, &m, &f->err),
                         -ERR_INVALID);
        assert_string_equal(f->err.text, rows[i].text);
        assert_null(m);
    }
}

static void lists_of_messages(void **state)
{
    struct fixture *f = *state;
    ProtobufCMessage **list;
    size_t count = 9;
    const ProtobufCMessageDescriptor *type = &cell__lrpstart__descriptor;
    assert_int_equal(json_decode_list(&f->arena, type, bytes_of("[]"), 0, &list, &count, &f->err),
                     0);
    assert_int_equal(count, 0);
    assert_int_equal(json_decode_list(&f->arena, type,
                                      bytes_of("[{\"process_guid\":\"a\",\"indices\":[0,2]},"
                                               "{\"RootFs\":\"x:y\",\"MemoryMB\":-1}]"),
                                      0, &list, &count, &f->err),
                     0);
    assert_int_equal(count, 2);
    const Cell__LRPStart *start = (const Cell__LRPStart *)list[0];
    assert_int_equal(start->n_indices, 2);
    assert_int_equal(start->indices[1], 2);
    assert_int_equal(json_decode_list(&f->arena, type, bytes_of("[{},{\"indices\":[\"a\"]}]"), 0,
                                      &list, &count, &f->err),
                     -ERR_INVALID);
    assert_string_equal(f->err.text, "[1].indices[0]: must be a whole number");
    assert_int_equal(json_decode_list(&f->arena, type, bytes_of("{}"), 0, &list, &count, &f->err),
                     -ERR_INVALID);
    assert_int_equal(json_decode_list(&f->arena, type, bytes_of("[7]"), 0, &list, &count, &f->err),
                     -ERR_INVALID);
}

static void deep_and_large_input_is_refused(void **state)
{
    struct fixture *f = *state;
    ProtobufCMessage *m;
    const ProtobufCMessageDescriptor *type = &models__action__descriptor;
    SCOPED_BUF(text);
    for (int i = 0; i < 100000; i++) {
        buf_append_string(&text, "{\"try\":{\"action\":");
    }
    assert_int_equal(json_decode(&f->arena, type, buf_bytes(&text), 0, &m, &f->err),
                     -ERR_TOO_LARGE);
    buf_clear(&text);
    buf_append_string(&text, "{\"x\":[0");
    for (int i = 0; i < JSON_VALUES_MAX; i++) {
        buf_append_string(&text, ",0");
    }
    buf_append_string(&text, "]}");
    assert_int_equal(json_decode(&f->arena, type, buf_bytes(&text), 0, &m, &f->err),
                     -ERR_TOO_LARGE);
    /* A message nested too deep is not printed. */
    Models__Action actions[JSON_DEPTH_MAX];
    Models__TryAction tries[JSON_DEPTH_MAX];
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        models__action__init(&actions[i]);
        models__try_action__init(&tries[i]);
        actions[i].try_action = &tries[i];
        tries[i].action = i + 1 < JSON_DEPTH_MAX ? &actions[i + 1] : NULL;
    }
    buf_clear(&f->out);
    assert_int_equal(json_encode(&actions[0].base, 0, &f->out, &f->err), -ERR_TOO_LARGE);
    assert_int_equal(json_encode(&actions[JSON_DEPTH_MAX / 2].base, 0, &f->out, &f->err), 0);
}

static void pretty_output_is_indented(void **state)
{
    struct fixture *f = *state;
    const void *m =
        decoded(f, &models__desired_lrpupdate__descriptor,
                "{\"instances\":2,\"routes\":{},\"metric_tags\":{\"a\":{\"static\":\"b\"}}}", 0);
    assert_string_equal(encoded(f, m, CODEC_PRETTY),
                        "{\n  \"instances\": 2,\n  \"routes\": {},\n  \"metric_tags\": {\n"
                        "    \"a\": {\n      \"static\": \"b\"\n    }\n  }\n}");
}

/* Whatever bytes come: no crash, and what decodes encodes. */
static void random_damage_is_survived(void **state)
{
    struct fixture *f = *state;
    struct random r;
    random_seed(&r, (uint64_t[2]){11, 12});
    static const char seed[] =
        "{\"process_guid\":\"p\",\"routes\":{\"a\":[1,2.5e3,\"\\u00e4\"]},\"env\":[{\"name\":\"A\"}"
        "],"
        "\"action\":{\"run\":{\"path\":\"sh\",\"args\":[\"-c\"]}},\"ports\":[8080],"
        "\"metric_tags\":{\"x\":{\"dynamic\":\"INDEX\"}},\"memory_mb\":-5,\"privileged\":true}";
    unsigned good = 0;
    for (int i = 0; i < 20000; i++) {
        char text[sizeof(seed)];
        memcpy(text, seed, sizeof(seed));
        for (uint64_t n = random_below(&r, 3); n > 0; n--) {
            text[random_below(&r, sizeof(seed) - 1)] = (char)random_next(&r);
        }
        struct bytes in = {(const uint8_t *)text, sizeof(seed) - 1 - random_below(&r, 2)};
        ProtobufCMessage *m;
        arena_reset(&f->arena);
        if (json_decode(&f->arena, &models__desired_lrp__descriptor, in, 0, &m, &f->err) == 0) {
            good++;
            encoded(f, m, 0);
        }
    }
    assert_in_range(good, 3000, 17000);
}

/* As few digits as tell it from all others: 0.42214, and not 0.42214000000000002. */
static void numbers_are_as_short_as_they_can_be(void **state)
{
    struct fixture *f = *state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.42214, "0.42214"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e300, "1e+300"},
        {-2.5, "-2.5"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Auction__Round round = AUCTION__ROUND__INIT;
        round.duration_ms = rows[i].value;
        buf_clear(&f->out);
        assert_int_equal(json_encode(&round.base, CODEC_OWN, &f->out, &f->err), 0);
        const char *at = strstr(buf_string(&f->out), "\"duration_ms\":");
        assert_non_null(at);
        at += strlen("\"duration_ms\":");
        assert_string_equal(arena_strndup(&f->arena, at, strcspn(at, ",}")), rows[i].text);
        assert_true(strtod(at, NULL) == rows[i].value);
    }
}

static void nearest_word(void **state)
{
    static const char *const known[] = {"memory_mb", "disk_mb", "domain", "ps",
                                        "rm",        "scale",   "routes", "cpu"};
    static const char *const rows[][2] = {{"memroy_mb", "memory_mb"},
                                          {"mem", "memory_mb"},
                                          {"disc_mb", "disk_mb"},
                                          {"DISK", "disk_mb"},
                                          {"sp", "ps"},
                                          {"scael", "scale"},
                                          {"pss", "ps"},
                                          {"xyzzy", NULL},
                                          {"", NULL},
                                          {"dmain", "domain"},
                                          /* A third of the letters, and not one more. */
                                          {"cmd", NULL},
                                          {"volumes", NULL},
                                          {"roxxes", "routes"},
                                          {"roxxxs", NULL},
                                          {"c", NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct nearest n;
        nearest_begin(&n, rows[i][0]);
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
            nearest_consider(&n, known[k]);
        }
        nearest_consider(&n, NULL);
        if (!rows[i][1]) {
            assert_null(n.best);
        } else {
            assert_non_null(n.best);
            assert_string_equal(n.best, rows[i][1]);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static void utf8_is_told_from_other_bytes(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"", true},          {"plain", true},
        {"\xc3\xbc", true},  {"\xf4\x8f\xbf\xbf", true},
        {"\xff", false},     {"a\x80", false},
        {"\xc0\x80", false}, {"\xed\xa0\x80", false},
        {"\xe2\x82", false}, {"\xf4\x90\x80\x80", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(utf8_valid(bytes_of(rows[i].text)), rows[i].valid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_other_bytes),
        TEST(texts_round_trip),
        TEST(numbers_are_as_short_as_they_can_be),
        TEST(an_empty_set_is_not_an_absent_one),
        TEST(absent_parts_look_as_diego_shows_them),
        TEST(keys_are_in_snake_case_where_that_is_wanted),
        TEST(own_fields_need_a_flag),
        TEST(keys_match_without_regard_to_case),
        TEST(letters_are_escaped_as_go_does),
        TEST(routes_are_json_in_json),
        TEST(routes_are_shown_as_written),
        TEST(compacting_refuses_what_is_not_json),
        TEST(json_by_its_grammar),
        TEST(base64_both_ways),
        TEST(mistakes_are_named_with_their_path),
        TEST(lists_of_messages),
        TEST(deep_and_large_input_is_refused),
        TEST(pretty_output_is_indented),
        TEST(random_damage_is_survived),
        TEST(nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
