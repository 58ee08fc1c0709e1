/* Requests over a unix socket, as they come in pieces (common/shell/local_request.h). */
#include "common/shell/local_request.h"

#include "common/base/arena.h"
#include "test/tool/cmocka.h"

#include <string.h>

static enum local_parse parse(const char *text, struct local_request *ret)
{
    return local_request_parse(bytes_of(text), 8, ret);
}

static void one_is_whole_with_its_last_byte(void **state)
{
    static const char text[] = "POST /v1/x HTTP/1.1\r\nHost: rep\r\ncontent-length:  4\r\n\r\nbody";
    struct local_request q;
    for (size_t size = 0; size < sizeof(text) - 1; size++) {
        assert_int_equal(local_request_parse((struct bytes){(const uint8_t *)text, size}, 8, &q),
                         LOCAL_MORE);
    }
    assert_int_equal(parse(text, &q), LOCAL_WHOLE);
    assert_string_equal(q.path, "/v1/x");
    assert_true(bytes_equal(q.body, bytes_of("body")));
    assert_int_equal(parse("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", &q), LOCAL_WHOLE);
    assert_int_equal(q.body.size, 0);
}

static void what_is_malformed_is_told(void **state)
{
    static const char *const rows[] = {
        "GET /v1/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
        "POST v1/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1 /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "POST  HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nContent-Length: \r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nContent-Length: 1x\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nContent-Length: 10000000000\r\n\r\n",
        "POST /v1/x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /v1/x HTTP/1.1\r\nContent-Length: 1\r\n\r\nab",
        "\r\n\r\n",
    };
    struct local_request q;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(parse(rows[i], &q), LOCAL_MALFORMED);
    }
}

static void paths_heads_and_bodies_have_bounds(void **state)
{
    SCOPED_ARENA(a);
    struct local_request q;
    char path[LOCAL_PATH_BYTES + 1] = "/";
    memset(path + 1, 'p', LOCAL_PATH_BYTES - 2);
    path[LOCAL_PATH_BYTES - 1] = '\0';
    const char *tail = "HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    assert_int_equal(parse(arena_printf(&a, "POST %s %s", path, tail), &q), LOCAL_WHOLE);
    assert_int_equal(parse(arena_printf(&a, "POST %sp %s", path, tail), &q), LOCAL_MALFORMED);
    const char *eight = "POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n12345678";
    assert_int_equal(parse(eight, &q), LOCAL_WHOLE);
    assert_int_equal(parse("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", &q), LOCAL_TOO_LARGE);
    char *head = arena_array(&a, LOCAL_HEAD_BYTES + 1, 1);
    memset(head, 'x', LOCAL_HEAD_BYTES);
    assert_int_equal(parse(head, &q), LOCAL_MALFORMED);
    head[LOCAL_HEAD_BYTES - 1] = '\0';
    assert_int_equal(parse(head, &q), LOCAL_MORE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_whole_with_its_last_byte),
        cmocka_unit_test(what_is_malformed_is_told),
        cmocka_unit_test(paths_heads_and_bodies_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
