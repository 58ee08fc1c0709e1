/* gRPC's frames, trailers and statuses. */
#include "common/contract/store.h"
#include "common/shell/grpc.h"
#include "test/tool/cmocka.h"

static void frames_are_taken_whole(void **state)
{
    Etcd__LeaseRevokeRequest m = ETCD__LEASE_REVOKE_REQUEST__INIT;
    m.id = 300;
    SCOPED_BUF(b);
    grpc_frame_append(&b, &m.base);
    grpc_frame_append(&b, &m.base);
    assert_int_equal(b.size, 2 * (GRPC_FRAME_HEADER_BYTES + 3));
    struct bytes message = {0};
    for (size_t size = 0; size < GRPC_FRAME_HEADER_BYTES + 3; size++) {
        struct bytes part = {.data = b.data, .size = size};
        assert_int_equal(grpc_frame_next(part, 100, &message), 0);
        assert_null(message.data);
    }
    assert_int_equal(grpc_frame_next(buf_bytes(&b), 100, &message), GRPC_FRAME_HEADER_BYTES + 3);
    assert_ptr_equal(message.data, b.data + GRPC_FRAME_HEADER_BYTES);
    assert_int_equal(message.size, 3);
    assert_int_equal(grpc_frame_next(buf_bytes(&b), 3, &message), GRPC_FRAME_HEADER_BYTES + 3);
    assert_int_equal(grpc_frame_next(buf_bytes(&b), 2, &message), -1);
    b.data[0] = 1; /* compressed */
    assert_int_equal(grpc_frame_next(buf_bytes(&b), 100, &message), -1);
}

static void line(struct grpc_trailers *t, const char *text)
{
    grpc_trailers_line(t, bytes_of(text));
}

static void trailers_are_read(void **state)
{
    struct grpc_trailers t;
    grpc_trailers_init(&t);
    line(&t, "HTTP/2 200 \r\n");
    line(&t, "content-type: application/grpc\r\n");
    line(&t, "");
    assert_int_equal(t.status, GRPC_NO_STATUS);
    line(&t, "Grpc-Status: 11\r\n");
    line(&t, "grpc-message: required%20revision %e4%Zz%\r\n");
    assert_int_equal(t.status, 11);
    assert_string_equal(buf_string(&t.text), "required revision \xe4%Zz%");
    line(&t, "grpc-message: a%00b\r\n");
    assert_string_equal(buf_string(&t.text), "a?b");
    static const char *const bad[] = {"grpc-status: \r\n", "grpc-status: -1\r\n",
                                      "grpc-status: 0x0\r\n", "grpc-status: 99999999999\r\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        line(&t, bad[i]);
        assert_int_equal(t.status, GRPC_NO_STATUS);
    }
    line(&t, "grpc-status:0");
    assert_int_equal(t.status, GRPC_OK);
    grpc_trailers_clear(&t);
    assert_int_equal(t.status, GRPC_NO_STATUS);
    grpc_trailers_done(&t);
}

/* All that etcd or the way to it may say after the write was proposed is no refusal. */
static void doubtful_statuses_are_no_refusal(void **state)
{
    static const char refused[17] = {
        [3] = 1, [5] = 1, [6] = 1, [7] = 1, [8] = 1, [9] = 1, [11] = 1, [12] = 1, [16] = 1};
    for (int status = 1; status <= 16; status++) {
        assert_int_equal(grpc_refused(status), refused[status]);
    }
    assert_false(grpc_refused(17));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_taken_whole),
        cmocka_unit_test(trailers_are_read),
        cmocka_unit_test(doubtful_statuses_are_no_refusal),
    };
    return cmocka_run_group_tests_name("grpc", tests, NULL, NULL);
}
