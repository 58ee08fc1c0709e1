#include "test/api/grpc_rig.h"

#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <stdlib.h>
#include <string.h>

void grpc_rig_begin_with(struct grpc_rig *f, struct grpc_times times, unsigned connections_max)
{
    grpc_echo_start(&f->echo, &(struct grpc_server_config){.tls = f->server,
                                                           .times = times,
                                                           .connections_max = connections_max});
    /* On a slow machine a short time for the handshake may be over before it is done: once more. */
    for (struct patience p = {0}; !h2_open(&f->c, f->echo.port, &f->client);) {
        h2_close(&f->c);
        assert_true(patience(&p));
    }
}

void grpc_rig_begin(struct grpc_rig *f)
{
    grpc_rig_begin_with(f, (struct grpc_times){0}, 0);
}

int grpc_rig_setup(void **state)
{
    struct grpc_rig *f = test_calloc(1, sizeof(*f));
    certs_init(&f->certs);
    f->server = certs_make(&f->certs, "server", "bbs", "server", 3600);
    f->client = certs_make(&f->certs, "client", "operators", "ada", 3600);
    *state = f;
    return 0;
}

int grpc_rig_teardown(void **state)
{
    struct grpc_rig *f = *state;
    certs_done(&f->certs);
    test_free(f);
    return 0;
}

void grpc_rig_end(struct grpc_rig *f)
{
    h2_close(&f->c);
    assert_true(grpc_echo_stop(&f->echo));
}

void grpc_rig_answered(struct grpc_rig *f, uint32_t stream, const char *text)
{
    struct h2_answer a;
    assert_true(h2_answer(&f->c, stream, &a));
    assert_int_equal(a.http_status, 200);
    assert_int_equal(a.grpc_status, 0);
    assert_true(a.body.size >= 5);
    assert_int_equal(a.body.size - 5, strlen(text));
    assert_memory_equal(a.body.data + 5, text, strlen(text));
    h2_answer_done(&a);
}

void grpc_rig_refused(struct grpc_rig *f, uint32_t stream, int status, const char *text)
{
    struct h2_answer a;
    assert_true(h2_answer(&f->c, stream, &a));
    if (a.grpc_status != status || strcmp(a.message, text) != 0 || a.body.size) {
        fail_msg("expected %d \"%s\", got %d \"%s\" (http %d, reset %lld, goaway %lld, closed %d)",
                 status, text, a.grpc_status, a.message, a.http_status, (long long)a.reset,
                 (long long)a.goaway, a.closed);
    }
    h2_answer_done(&a);
}

void grpc_rig_goaway(struct grpc_rig *f, uint32_t code)
{
    struct h2_answer a;
    assert_true(h2_answer(&f->c, 0x7fffffff, &a));
    assert_int_equal(a.goaway, code);
    h2_answer_done(&a);
    assert_true(client_closed(&f->c.tls, CLIENT_WAIT_MS));
}

unsigned grpc_rig_stat(struct grpc_rig *f, const char *name)
{
    struct h2_client c;
    struct h2_answer a;
    assert_true(h2_open(&c, f->echo.port, &f->client));
    assert_true(h2_call(&c, 1, "/echo.Echo/Stats", "", 0));
    assert_true(h2_answer(&c, 1, &a));
    assert_int_equal(a.grpc_status, 0);
    const char *at = strstr(buf_string(&a.body) + 5, name);
    assert_non_null(at);
    unsigned value = (unsigned)strtoul(at + strlen(name) + 1, NULL, 10);
    h2_answer_done(&a);
    h2_close(&c);
    return value;
}

void grpc_rig_await(struct grpc_rig *f, const char *name, unsigned value)
{
    unsigned is = grpc_rig_stat(f, name);
    for (struct patience p = {0}; is != value && patience(&p);) {
        is = grpc_rig_stat(f, name);
    }
    if (is != value) {
        fail_msg("%s is %u and not %u", name, is, value);
    }
}

void grpc_rig_call(struct buf *all, const char *path, uint8_t data_flags, const char *timeout)
{
    struct buf block, body;
    buf_init(&block);
    buf_init(&body);
    h2_call_headers(&block, path);
    if (timeout) {
        h2_header(&block, "grpc-timeout", timeout);
    }
    h2_message(&body, "hello", 5);
    uint8_t head[] = {0, 0, (uint8_t)block.size, H2_HEADERS, H2_END_HEADERS, 0, 0, 0, 1};
    uint8_t data[] = {0, 0, (uint8_t)body.size, H2_DATA, data_flags, 0, 0, 0, 1};
    buf_append(all, head, sizeof(head));
    buf_append(all, block.data, block.size);
    buf_append(all, data, sizeof(data));
    buf_append(all, body.data, body.size);
    buf_done(&block);
    buf_done(&body);
}
