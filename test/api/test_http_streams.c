/* The HTTP server shell: answers that come from cursors, and their readers: woken, stalled, slow.
 */
#include "test/api/echo_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void a_list_comes_from_a_cursor_with_its_length(void **state)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 3 << 20};
    struct echo_rig w;
    char target[64];
    echo_begin(&w);
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
        size_t size = sizes[i / 2];
        snprintf(target, sizeof(target), "/%s?%zu", i % 2 ? "chunks" : "list", size);
        assert_int_equal(echo_ask(&w, "GET", target, ""), 200);
        assert_int_equal(w.body.size, size);
        for (size_t j = 0; j < size; j += 997) {
            assert_int_equal(w.body.data[j], 'a' + j % 26);
        }
    }
    assert_int_equal(echo_number(&w, "/counts", "cursors"), 0);
    /* One that gives less than it announced breaks the connection, so that the reader knows. */
    assert_int_equal(echo_ask(&w, "GET", "/short?1000", ""), 0);
    assert_true(w.client.ended);
    assert_int_equal(echo_number(&w, "/counts", "cursors"), 0);
    echo_end(&w);
}

/* Counts TLS records of the application that are read (of TLS 1.3). */
static void count_records(int write, int version, int content_type, const void *data, size_t size,
                          SSL *ssl, void *count)
{
    (void)version, (void)ssl;
    if (!write && content_type == SSL3_RT_INNER_CONTENT_TYPE && size == 1 &&
        *(const uint8_t *)data == SSL3_RT_APPLICATION_DATA) {
        ++*(int *)count;
    }
}

static void a_waiting_cursor_is_woken(void **state)
{
    enum { ROUNDS = 3 };
    int records = 0;
    struct http_server_config config = echo_quick(); /* a stream outlives all time-outs */
    struct echo_rig w;
    echo_begin_with(&w, &config);
    struct tls_client readers[5];
    for (int i = 0; i < 5; i++) {
        SCOPED_BUF(head);
        echo_connect(&w, &readers[i]);
        /* The head comes before any event. */
        for (struct patience p = {0};
             !client_print(&readers[i], "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n") ||
             client_answer(&readers[i], &head, NULL, true) != 200;) {
            assert_true(patience(&p));
            client_close(&readers[i]);
            echo_connect(&w, &readers[i]);
        }
        assert_non_null(strstr(buf_string(&head),
                               "\r\nContent-Type: text/event-stream; charset=utf-8\r\n"));
        assert_non_null(strstr(buf_string(&head),
                               "\r\nCache-Control: no-cache, no-store, must-revalidate\r\n"));
        assert_non_null(strstr(buf_string(&head), "\r\nTransfer-Encoding: chunked\r\n"));
    }
    usleep(1500 * 1000);
    SSL_set_msg_callback(readers[1].ssl, count_records);
    SSL_set_msg_callback_arg(readers[1].ssl, &records);
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(echo_ask_again(&w, "POST", "/publish", "news!"), 200);
        for (int i = 0; i < 5; i++) {
            for (struct patience p = {0}; readers[i].input.size < 10 && patience_lasts(&p);) {
                client_read(&readers[i], 20);
            }
            assert_int_equal(readers[i].input.size, 10);
            assert_memory_equal(readers[i].input.data, "5\r\nnews!\r\n", 10);
            buf_clear(&readers[i].input);
        }
    }
    /* A chunk with its length is one record, and so one write. */
    assert_int_equal(records, ROUNDS);
    /* Bytes from a reader end its stream (behaviour.md 16.1), the others stay. */
    assert_true(client_print(&readers[0], "x"));
    assert_true(client_closed(&readers[0], CLIENT_WAIT_MS));
    echo_becomes(&w, "/counts", "cursors", 4);
    /* CURSOR_CUT breaks off, without the chunk that would end the answer well. */
    assert_int_equal(echo_ask_again(&w, "POST", "/cut", ""), 200);
    for (int i = 1; i < 5; i++) {
        assert_true(client_closed(&readers[i], CLIENT_WAIT_MS));
        assert_int_equal(readers[i].input.size, 0);
    }
    echo_becomes(&w, "/counts", "cursors", 0);
    assert_int_equal(echo_number(&w, "/counts", "hangups"), 5);
    for (int i = 0; i < 5; i++) {
        client_close(&readers[i]);
    }
    echo_end(&w);
}

/* What a stalled reader may cost: what waits for it (HTTP_OUTPUT_BYTES and a chunk), its TLS record
 * and incarnation. */
enum { READER_KB = 256 };

static void a_stalled_reader_costs_no_copies(void **state)
{
    enum { READERS = 40, STABLE = 10 };
    struct http_server_config config = {.tls = echo_tls.server,
                                        .times = {.stall_ms = 10 * PATIENCE_MS}};
    struct echo_rig w;
    echo_begin_with(&w, &config);
    long before_kb = echo_number(&w, "/stats", "heap_kb");
    struct tls_client readers[READERS];
    for (int i = 0; i < READERS; i++) {
        assert_true(client_open(&readers[i], w.server.port, &echo_tls.client, 4096));
        assert_true(client_print(&readers[i], "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    echo_becomes(&w, "/counts", "cursors", READERS);
    /* Until the sockets' buffers are full: then nobody is asked while they stall. */
    long fills = -1;
    struct patience p = {0};
    for (int same = 0; same < STABLE && patience_lasts(&p); same++) {
        long now = echo_number(&w, "/counts", "fills");
        same = now == fills ? same : -1;
        fills = now;
        usleep(50 * 1000);
    }
    assert_true(patience_lasts(&p));
    long grown_kb = echo_number(&w, "/stats", "heap_kb") - before_kb;
    print_message("%ld KB and %ld chunks for each stalled reader\n", grown_kb / READERS,
                  fills / READERS);
    assert_true(grown_kb / READERS < READER_KB);
    assert_int_equal(echo_number(&w, "/counts", "cursors"), READERS);
    for (int i = 0; i < READERS; i++) {
        client_close(&readers[i]);
    }
    echo_becomes(&w, "/counts", "cursors", 0);
    echo_end(&w);
}

static void a_stalled_reader_is_freed(void **state)
{
    enum { READERS = 10 };
    struct http_server_config config = {.tls = echo_tls.server, .times = {.stall_ms = 500}};
    struct echo_rig w;
    echo_begin_with(&w, &config);
    struct tls_client readers[READERS];
    for (int i = 0; i < READERS; i++) {
        assert_true(client_open(&readers[i], w.server.port, &echo_tls.client, 4096));
        assert_true(client_print(&readers[i], "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    echo_becomes(&w, "/counts", "hangups", READERS);
    echo_becomes(&w, "/counts", "cursors", 0);
    for (int i = 0; i < READERS; i++) {
        client_close(&readers[i]);
    }
    echo_end(&w);
}

/* Reads a little at a time, for five times as long as a stall is allowed to last. Gives whether the
 * stream went on, and the longest time that the reader took nothing. */
static bool read_slowly(int stall_ms, int64_t *ret_pause_ms)
{
    struct http_server_config config = {.tls = echo_tls.server, .times = {.stall_ms = stall_ms}};
    struct echo_rig w;
    echo_begin_with(&w, &config);
    struct tls_client reader;
    assert_true(client_open(&reader, w.server.port, &echo_tls.client, 4096));
    bool goes_on = client_print(&reader, "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
    size_t taken = 0;
    int64_t from_ms = patience_now_ms(), last_ms = from_ms;
    *ret_pause_ms = 0;
    while (goes_on && last_ms - from_ms < 5 * stall_ms) {
        usleep(2000);
        goes_on = client_read(&reader, CLIENT_WAIT_MS);
        taken += reader.input.size;
        buf_clear(&reader.input);
        int64_t now_ms = patience_now_ms();
        *ret_pause_ms = now_ms - last_ms > *ret_pause_ms ? now_ms - last_ms : *ret_pause_ms;
        last_ms = now_ms;
    }
    print_message("%zu KB in %lld ms, a pause of %lld ms, %d ms allowed\n", taken / 1024,
                  (long long)(last_ms - from_ms), (long long)*ret_pause_ms, stall_ms);
    client_close(&reader);
    echo_end(&w);
    return goes_on;
}

/* A trial says nothing when the machine itself kept the reader for nearly that long. */
static void a_slow_reader_that_takes_something_stays(void **state)
{
    int stall_ms = 400;
    int64_t pause_ms;
    while (!read_slowly(stall_ms, &pause_ms)) {
        assert_true(pause_ms > stall_ms / 2);
        assert_true(stall_ms < PATIENCE_MS);
        stall_ms *= 2;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_comes_from_a_cursor_with_its_length),
        cmocka_unit_test(a_waiting_cursor_is_woken),
        cmocka_unit_test(a_stalled_reader_costs_no_copies),
        cmocka_unit_test(a_stalled_reader_is_freed),
        cmocka_unit_test(a_slow_reader_that_takes_something_stays),
    };
    return cmocka_run_group_tests(tests, echo_rig_setup, echo_rig_teardown);
}
