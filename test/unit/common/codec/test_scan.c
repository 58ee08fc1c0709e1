/* The scan before unpacking: what it refuses, and that it never counts less than unpacking takes.
 */
#include "common/codec/scan.h"

#include "common/base/random.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/ping.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { MIB = 1024 * 1024, BOUND = 16 * MIB };

static struct bytes from_hex(struct arena *a, const char *hex)
{
    size_t size = strlen(hex) / 2;
    uint8_t *data = arena_alloc(a, size);
    for (size_t i = 0; i < size; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        data[i] = (uint8_t)value;
    }
    return (struct bytes){data, size};
}

/* The vectors of behaviour.md 2: what the original sends decodes, and we send the same bytes. */
static void golden_vectors_round_trip(void **state)
{
    static const struct {
        const ProtobufCMessageDescriptor *descriptor;
        const char *hex;
    } rows[] = {
        {&models__actual_lrp__descriptor, "0a0012001a004a00"},
        {&models__desired_lrpscheduling_info__descriptor, "0a0022002a003200"},
        {&models__actual_lrp__descriptor,
         "0a070a0270671a016412001a003209554e434c41494d454440054a006800"},
        {&models__desired_lrpupdate__descriptor, "080012001a00"},
        {&models__actual_lrps_request__descriptor, "2000"},
        {&models__actual_lrps_request__descriptor, ""},
        {&models__desired_lrplifecycle_response__descriptor,
         "0a1c08041218496e76616c6964206669656c643a207461736b5f67756964"},
        {&models__ping_response__descriptor, "0801"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct err err;
        SCOPED_BUF(out);
        struct bytes in = from_hex(&a, rows[i].hex);
        ProtobufCMessage *m;
        assert_int_equal(scan_and_unpack(&a, rows[i].descriptor, in, BOUND, &m, &err), 0);
        buf_message(&out, m);
        assert_int_equal(out.size, in.size);
        assert_true(bytes_equal(buf_bytes(&out), in));
    }
}

/* A oneof that holds zero is sent; a oneof that is not set is not (behaviour.md 2). */
static void a_set_oneof_is_sent_even_when_zero(void **state)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    Models__ModificationTag tag = MODELS__MODIFICATION_TAG__INIT;
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    lrp.actual_lrp_key = &key;
    lrp.actual_lrp_instance_key = &instance;
    lrp.actual_lrp_net_info = &net;
    lrp.modification_tag = &tag;
    uint8_t out[16];
    assert_int_equal(models__actual_lrp__pack(&lrp, out), 8);
    assert_memory_equal(out, "\x0a\0\x12\0\x1a\0\x4a\0", 8);
    lrp.optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
    assert_int_equal(models__actual_lrp__pack(&lrp, out), 10);
    assert_memory_equal(out, "\x0a\0\x12\0\x1a\0\x4a\0\x68\0", 10);
}

static void bad_wire_format_is_invalid(void **state)
{
    static const char *const rows[] = {
        "0a",                     /* tag without length */
        "0a05",                   /* length beyond the end */
        "0a020a05",               /* inner length beyond the outer end */
        "00",                     /* tag 0 */
        "0800",                   /* desired_lrp as varint */
        "0a0420ffffff",           /* unterminated varint */
        "0a022200",               /* instances with a length: not packable */
        "0b0c",                   /* a group */
        "0a0b0b0c",               /* a group within */
        "0affffffff7f",           /* length over 2 GiB */
        "f8ffffffffffffffff7f01", /* tag over 29 bits */
        "0a030a0100",             /* zero byte in process_guid */
        "0a0372017f00",           /* trailing half of a tag */
        "0a0372018f",             /* packed ports, last one unterminated */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct err err = {0};
        ProtobufCMessage *m = NULL;
        int r = scan_and_unpack(&a, &models__desire_lrprequest__descriptor, from_hex(&a, rows[i]),
                                BOUND, &m, &err);
        if (r != -ERR_INVALID) {
            fail_msg("row %zu (%s) gave %d", i, rows[i], r);
        }
        assert_null(m);
        assert_true(strlen(err.text) > 10);
    }
}

static void odd_but_legal_input_passes(void **state)
{
    static const struct {
        const char *hex;
        size_t ports;
        const char *domain;
    } rows[] = {
        {"0a06700170027003", 3, ""},              /* ports unpacked */
        {"0a0a7203010203720104700a", 5, ""},      /* packed, twice, and unpacked */
        {"0a0272000a0412026464", 0, "dd"},        /* empty packed array; two parts merged */
        {"0a021200f2ff0301630a0312017a", 0, "z"}, /* unknown field between two parts */
        {"0a0412028081", 0, "\x80\x81"},          /* invalid UTF-8 */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct err err = {.text = ""};
        ProtobufCMessage *m;
        int r = scan_and_unpack(&a, &models__desire_lrprequest__descriptor,
                                from_hex(&a, rows[i].hex), BOUND, &m, &err);
        if (r != 0) {
            fail_msg("row %zu: %s", i, err.text);
        }
        const Models__DesiredLRP *d = ((Models__DesireLRPRequest *)m)->desired_lrp;
        assert_int_equal(d->n_ports, rows[i].ports);
        assert_string_equal(d->domain, rows[i].domain);
    }
}

/* `levels` actions, each the only member of a parallel action. */
static struct bytes nested_actions(struct arena *a, unsigned levels)
{
    struct buf in, out;
    buf_init(&in);
    for (unsigned i = 0; i < levels; i++) {
        buf_init(&out);
        buf_append(&out, i % 2 ? "\x3a" : "\x0a", 1); /* parallel_action, actions */
        buf_varint(&out, in.size);
        buf_append(&out, in.data, in.size);
        buf_done(&in);
        in = out;
    }
    struct bytes result = {arena_copy(a, in.data, in.size), in.size};
    buf_done(&in);
    return result;
}

static void deep_nesting_is_refused(void **state)
{
    SCOPED_ARENA(a);
    struct err err;
    ProtobufCMessage *m;
    const ProtobufCMessageDescriptor *type = &models__action__descriptor;
    assert_int_equal(scan_and_unpack(&a, type, nested_actions(&a, SCAN_DEPTH_MAX), BOUND, &m, &err),
                     0);
    assert_int_equal(
        scan_and_unpack(&a, type, nested_actions(&a, SCAN_DEPTH_MAX + 2), BOUND, &m, &err),
        -ERR_TOO_LARGE);
    struct bytes deadly = nested_actions(&a, 9000);
    assert_in_range(deadly.size, 30000, 40000);
    assert_int_equal(scan_and_unpack(&a, type, deadly, BOUND, &m, &err), -ERR_TOO_LARGE);
    assert_string_equal(err.text, "messages nested deeper than 64");
    assert_int_equal(scan_and_unpack_answer(&a, type, nested_actions(&a, SCAN_ANSWER_DEPTH_MAX),
                                            BOUND, &m, &err),
                     0);
    assert_int_equal(scan_and_unpack_answer(&a, type, deadly, BOUND, &m, &err), -ERR_TOO_LARGE);
    assert_string_equal(err.text, "messages nested deeper than 68");
}

static struct bytes repeated_bytes(struct arena *a, const char *unit, size_t size, size_t total)
{
    uint8_t *data = arena_alloc(a, total);
    for (size_t at = 0; at + size <= total; at += size) {
        memcpy(data + at, unit, size);
    }
    return (struct bytes){data, total / size * size};
}

static void small_bodies_that_grow_are_refused(void **state)
{
    static const struct {
        const char *what;
        const ProtobufCMessageDescriptor *type;
        const char *unit;
        size_t size;
    } rows[] = {
        {"empty sub-messages", &models__desired_lrps_response__descriptor, "\x12\0", 2},
        {"unknown fields", &models__ping_response__descriptor, "\x10\0", 2},
        {"one scalar again and again", &models__ping_response__descriptor, "\x08\0", 2},
        {"merged arrays", &models__desire_lrprequest__descriptor, "\x0a\2\x70\1", 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct err err = {0};
        struct bytes body = repeated_bytes(&a, rows[i].unit, rows[i].size, MIB);
        size_t before = a.used;
        ProtobufCMessage *m;
        if (scan_and_unpack(&a, rows[i].type, body, BOUND, &m, &err) != -ERR_TOO_LARGE) {
            fail_msg("%s passed", rows[i].what);
        }
        assert_int_equal(a.used, before);
    }
}

static void the_bound_is_exact(void **state)
{
    SCOPED_ARENA(a);
    struct err err;
    struct bytes body = from_hex(&a, "0a070a0270671a0164");
    const ProtobufCMessageDescriptor *type = &models__actual_lrp__descriptor;
    size_t decoded = 0;
    assert_int_equal(scan_message(type, body, BOUND, &decoded, &err), 0);
    assert_int_equal(scan_message(type, body, decoded, NULL, &err), 0);
    assert_int_equal(scan_message(type, body, decoded - 1, NULL, &err), -ERR_TOO_LARGE);
}

static struct bytes mutated(struct arena *a, struct random *r, const struct buf *seed)
{
    bool longer = random_below(r, 3) == 0;
    size_t size = seed->size + (longer ? random_below(r, 40) : 0);
    uint8_t *data = arena_alloc(a, size);
    for (size_t i = 0; i < size; i++) {
        data[i] = i < seed->size ? seed->data[i] : seed->data[random_below(r, seed->size)];
    }
    for (uint64_t n = random_below(r, 4); n > 0; n--) {
        data[random_below(r, size)] = (uint8_t)random_next(r);
    }
    return (struct bytes){data, size - (longer ? random_below(r, 8) : 0)};
}

static void seed_message(struct buf *out)
{
    Models__EnvironmentVariable var = MODELS__ENVIRONMENT_VARIABLE__INIT, *env[] = {&var, &var};
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT, *both[] = {&action, &action};
    Models__SerialAction serial = MODELS__SERIAL_ACTION__INIT;
    Models__Action outer = MODELS__ACTION__INIT;
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    Models__DesireLRPRequest request = MODELS__DESIRE_LRPREQUEST__INIT;
    static char path[] = "/bin/x", name[] = "A";
    uint32_t ports[] = {80, 8080, 70000};
    var.name = name;
    run.path = path;
    run.n_env = 2;
    run.env = env;
    action.run_action = &run;
    serial.n_actions = 2;
    serial.actions = both;
    outer.serial_action = &serial;
    lrp.action = &outer;
    lrp.setup = &action;
    lrp.n_ports = 3;
    lrp.ports = ports;
    request.desired_lrp = &lrp;
    buf_message(out, &request.base);
    buf_message(out, &request.base); /* merged */
}

/* Whatever passes the scan unpacks, and takes at most what the scan counted. */
static void what_passes_unpacks_within_the_count(void **state)
{
    struct random r;
    random_seed(&r, (uint64_t[2]){4, 2});
    SCOPED_BUF(seed);
    seed_message(&seed);
    unsigned passed = 0;
    for (unsigned i = 0; i < 20000; i++) {
        struct arena a, decoded;
        arena_init(&a);
        arena_init(&decoded);
        struct bytes body = mutated(&a, &r, &seed);
        struct err err;
        size_t count = 0;
        ProtobufCMessage *m;
        const ProtobufCMessageDescriptor *type = &models__desire_lrprequest__descriptor;
        if (scan_message(type, body, BOUND, &count, &err) == 0) {
            passed++;
            assert_int_equal(scan_and_unpack(&decoded, type, body, BOUND, &m, &err), 0);
            assert_true(decoded.used <= count);
        }
        arena_done(&a);
        arena_done(&decoded);
    }
    assert_in_range(passed, 500, 19500);
}

/* The first length-prefixed field of a number, past fields of every wire type. */
static void a_field_is_found_without_decoding(void **state)
{
    static const struct {
        const char *hex;
        uint32_t number;
        const char *value; /* NULL = not there */
    } rows[] = {
        {"", 1, NULL},
        {"0a0161", 1, "61"},
        {"0a00", 1, ""},
        {"0a0161", 2, NULL},
        {"0a01610a0162", 1, "61"},
        {"0805" "0a0161", 1, "61"},                   /* a varint of the same number before it */
        {"08ffffffffffffffffff01" "120161", 2, "61"}, /* after a negative one */
        {"090102030405060708" "120161", 2, "61"},
        {"0d01020304" "120161", 2, "61"},
        {"920203616263" "9a02026465", 35, "6465"},
        {"0a05616263", 1, NULL}, /* truncated */
        {"0a", 1, NULL},
        {"0b0a0161", 1, NULL}, /* a group: not ours */
        {"ff", 1, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct bytes value = {0};
        bool found = message_field(from_hex(&a, rows[i].hex), rows[i].number, &value);
        bool expected = rows[i].value != NULL;
        if (found != expected ||
            (found && !bytes_equal(value, from_hex(&a, rows[i].value)))) {
            fail_msg("%s, field %u", rows[i].hex, rows[i].number);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_vectors_round_trip),
        cmocka_unit_test(a_set_oneof_is_sent_even_when_zero),
        cmocka_unit_test(bad_wire_format_is_invalid),
        cmocka_unit_test(odd_but_legal_input_passes),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(small_bodies_that_grow_are_refused),
        cmocka_unit_test(the_bound_is_exact),
        cmocka_unit_test(what_passes_unpacks_within_the_count),
        cmocka_unit_test(a_field_is_found_without_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
