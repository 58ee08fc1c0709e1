/* The words of a gRPC call, and its body. */
#include "common/contract/moment.h"
#include "common/shell/grpc_call.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void timeouts(void **state)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1 = refused */
    } rows[] = {
        {"1S", SECOND_NS},
        {"10H", 36000 * SECOND_NS},
        {"3M", 180 * SECOND_NS},
        {"250m", 250 * MILLISECOND_NS},
        {"7u", 7 * MICROSECOND_NS},
        {"99999999n", 99999999},
        {"0S", 0},
        {"25H", 24 * 3600 * SECOND_NS},
        {"99999999H", 24 * 3600 * SECOND_NS},
        {"", -1},
        {"S", -1},
        {"1", -1},
        {"123456789S", -1},
        {"-1S", -1},
        {"1 S", -1},
        {"1s", -1},
        {"1Sx", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ns = -1;
        bool good = grpc_timeout_parse(bytes_of(rows[i].text), &ns);
        if (good != (rows[i].ns >= 0) || (good && ns != rows[i].ns)) {
            fail_msg("\"%s\": %d, %lld", rows[i].text, good, (long long)ns);
        }
    }
    int64_t ns;
    assert_false(
        grpc_timeout_parse((struct bytes){.data = (const uint8_t *)"1\0", .size = 2}, &ns));
}

struct head_row {
    const char *name;
    const char *headers[8]; /* name, value, ... beside those of a good call, and later */
    enum grpc_status status;
    int http_status;
};

static void heads(void **state)
{
    static const struct head_row rows[] = {
        {"good", {0}, GRPC_OK, 200},
        {"proto", {"content-type", "application/grpc+proto"}, GRPC_OK, 200},
        {"with a parameter", {"content-type", "application/grpc;charset=utf-8"}, GRPC_OK, 200},
        {"no compression", {"grpc-encoding", "identity"}, GRPC_OK, 200},
        {"json", {"content-type", "application/grpc+json"}, GRPC_INTERNAL, 415},
        {"no gRPC", {"content-type", "application/grpcx"}, GRPC_INTERNAL, 415},
        {"no gRPC at all", {"content-type", "text/html"}, GRPC_INTERNAL, 415},
        {"no type", {"content-type", ""}, GRPC_INTERNAL, 415},
        {"GET", {":method", "GET"}, GRPC_INTERNAL, 405},
        {"a time limit", {"grpc-timeout", "1S"}, GRPC_OK, 200},
        {"no time limit", {"grpc-timeout", "soon"}, GRPC_INTERNAL, 400},
        {"gzip", {"grpc-encoding", "gzip"}, GRPC_UNIMPLEMENTED, 200},
        {"unknown ones", {"x-a", "b", "user-agent", "grpc-go/1.60"}, GRPC_OK, 200},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct grpc_head h = {0};
        grpc_head_add(&h, bytes_of(":method"), bytes_of("POST"));
        grpc_head_add(&h, bytes_of(":path"), bytes_of("/a.B/C"));
        grpc_head_add(&h, bytes_of("content-type"), bytes_of("application/grpc"));
        for (size_t k = 0; rows[i].headers[k]; k += 2) {
            grpc_head_add(&h, bytes_of(rows[i].headers[k]), bytes_of(rows[i].headers[k + 1]));
        }
        struct grpc_fault f = grpc_head_fault(&h);
        if (f.status != rows[i].status || f.http_status != rows[i].http_status) {
            fail_msg("%s: %d %d %s", rows[i].name, (int)f.status, f.http_status, f.text);
        }
        assert_string_equal(h.path, "/a.B/C");
        grpc_head_done(&h);
    }
}

/* At the bound it is taken, one byte beyond it nothing more is kept. */
static void headers_are_bounded(void **state)
{
    for (size_t more = 0; more < 2; more++) {
        struct grpc_head h = {0};
        char value[GRPC_HEAD_BYTES];
        memset(value, 'x', sizeof(value));
        grpc_head_add(&h, bytes_of(":method"), bytes_of("POST"));
        grpc_head_add(&h, bytes_of("content-type"), bytes_of("application/grpc"));
        size_t left = GRPC_HEAD_BYTES - h.bytes - GRPC_HEADER_OVERHEAD - strlen(":path") + more;
        grpc_head_add(&h, bytes_of(":path"),
                      (struct bytes){.data = (const uint8_t *)value, .size = left});
        assert_int_equal(grpc_head_fault(&h).status, more ? GRPC_RESOURCE_EXHAUSTED : GRPC_OK);
        assert_int_equal(h.path == NULL, more);
        grpc_head_done(&h);
    }
}

static void bodies(void **state)
{
    enum { BOUND = 4 };
    static const struct {
        const char *name;
        uint8_t bytes[16];
        size_t size;
        enum grpc_status early, whole; /* as soon as it is seen; at the end */
    } rows[] = {
        {"nothing", {0}, 0, GRPC_OK, GRPC_INTERNAL},
        {"a part of the prefix", {0, 0, 0}, 3, GRPC_OK, GRPC_INTERNAL},
        {"an empty message", {0, 0, 0, 0, 0}, 5, GRPC_OK, GRPC_OK},
        {"a message", {0, 0, 0, 0, 2, 'h', 'i'}, 7, GRPC_OK, GRPC_OK},
        {"at the bound", {0, 0, 0, 0, 4, 'a', 'b', 'c', 'd'}, 9, GRPC_OK, GRPC_OK},
        {"cut off", {0, 0, 0, 0, 2, 'h'}, 6, GRPC_OK, GRPC_INTERNAL},
        {"compressed", {1}, 1, GRPC_UNIMPLEMENTED, GRPC_UNIMPLEMENTED},
        {"a flag that nobody knows", {2, 0, 0, 0, 0}, 5, GRPC_UNIMPLEMENTED, GRPC_UNIMPLEMENTED},
        {"too large", {0, 0, 0, 0, 5}, 5, GRPC_RESOURCE_EXHAUSTED, GRPC_RESOURCE_EXHAUSTED},
        {"far too large",
         {0, 0xff, 0xff, 0xff, 0xff},
         5,
         GRPC_RESOURCE_EXHAUSTED,
         GRPC_RESOURCE_EXHAUSTED},
        {"two messages", {0, 0, 0, 0, 1, 'a', 0, 0, 0, 0, 0}, 11, GRPC_INTERNAL, GRPC_INTERNAL},
        {"more than it says", {0, 0, 0, 0, 1, 'a', 'b'}, 7, GRPC_INTERNAL, GRPC_INTERNAL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bytes body = {.data = rows[i].bytes, .size = rows[i].size}, message;
        struct grpc_fault early = grpc_body_fault(body, BOUND);
        struct grpc_fault whole = grpc_body_message(body, BOUND, &message);
        if (early.status != rows[i].early || whole.status != rows[i].whole) {
            fail_msg("%s: %d, %d", rows[i].name, (int)early.status, (int)whole.status);
        }
        if (whole.status == GRPC_OK) {
            assert_int_equal(message.size, rows[i].size - 5);
            assert_ptr_equal(message.data, rows[i].bytes + 5);
        }
    }
}

static void texts(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"lock-collision", "lock-collision"},
        {"50% of\n", "50%25 of%0A"},
        {"\x7f~ \x1f", "%7F~ %1F"},
        {"gr\xc3\xbc\xc3\x9f", "gr%C3%BC%C3%9F"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_BUF(out);
        grpc_message_encode(&out, rows[i][0]);
        assert_string_equal(buf_string(&out), rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts), cmocka_unit_test(heads), cmocka_unit_test(headers_are_bounded),
        cmocka_unit_test(bodies),   cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests_name("gRPC calls", tests, NULL, NULL);
}
