/* The HTTP server shell: requests and answers, bad input, bounds, time-outs and hang-ups, over real
 * sockets. */
#include "test/api/echo_rig.h"
#include "test/tool/cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- Answers ------------------------------------------------------------------------------- */

static void an_answer_has_the_headers_of_the_api(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    assert_true(client_print(&w.client, "POST /echo?q=1 HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: 5\r\n\r\nhello"));
    assert_int_equal(client_answer(&w.client, &w.head, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "hello");
    const char *head = buf_string(&w.head);
    assert_memory_equal(head, "HTTP/1.1 200 OK\r\n", 17);
    assert_non_null(strstr(head, "\r\nContent-Type: application/x-echo\r\n"));
    assert_non_null(strstr(head, "\r\nContent-Length: 5\r\n"));
    assert_non_null(strstr(head, "\r\nETag: tag\r\n"));
    assert_non_null(strstr(head, "\r\nDate: "));
    assert_null(strstr(head, "Connection:"));
    assert_null(strstr(head, "Server:"));
    buf_clear(&w.head);
    assert_true(client_print(&w.client, "GET /status?503 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, &w.head, &w.body, false), 503);
    head = buf_string(&w.head);
    assert_non_null(strstr(head, "\r\nContent-Length: 0\r\n"));
    assert_non_null(strstr(head, "\r\nRetry-After: 1\r\n"));
    assert_null(strstr(head, "Content-Type"));
    buf_clear(&w.head);
    assert_true(client_print(&w.client, "GET /status?304 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, &w.head, NULL, true), 304);
    assert_null(strstr(buf_string(&w.head), "Content-Length"));
    assert_int_equal(echo_ask(&w, "GET", "/nowhere", ""), 404);
    assert_string_equal(buf_string(&w.body), "404 page not found\n");
    echo_end(&w);
}

static void the_role_learns_who_asks_for_what(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    assert_true(client_print(&w.client,
                             "GET /who?a=b&c HTTP/1.1\r\nHost: x\r\nx-vcap-request-id: t-1\r\n"
                             "ACCEPT: text/x\r\nContent-Type: text/y; charset=utf-8\r\n"
                             "If-None-Match: v1\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "rep|cell-1|GET|/who|a=b&c|t-1|text/x|text/y|v1");
    echo_end(&w);
}

static void every_method_reaches_the_role(void **state)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};
    struct echo_rig w;
    char want[64];
    echo_begin(&w);
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        assert_int_equal(echo_ask(&w, methods[i], "/who", "body"), 200);
        snprintf(want, sizeof(want), "rep|cell-1|%s|/who|||||", methods[i]);
        assert_string_equal(buf_string(&w.body), want);
    }
    /* evhttp keeps no word that it does not know; the role answers 405 to any. */
    assert_true(client_print(&w.client, "BREW /who HTTP/1.1\r\nHost: x\r\n\r\n"));
    buf_clear(&w.body);
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "rep|cell-1|UNKNOWN|/who|||||");
    /* HEAD: the length, no body, and the connection goes on. */
    assert_true(client_print(&w.client, "HEAD /list?70 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, &w.head, NULL, true), 200);
    assert_non_null(strstr(buf_string(&w.head), "\r\nContent-Length: 70\r\n"));
    assert_true(client_print(&w.client, "HEAD /counts HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, true), 200);
    assert_int_equal(echo_ask(&w, "POST", "/echo", "still here"), 200);
    assert_string_equal(buf_string(&w.body), "still here");
    echo_end(&w);
}

static void the_body_of_a_get_is_read(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    assert_int_equal(echo_ask(&w, "GET", "/echo", "with a body"), 200);
    assert_string_equal(buf_string(&w.body), "with a body");
    echo_end(&w);
}

static void bodies_come_in_any_pieces(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    char *large = malloc(ECHO_BODY_BYTES);
    for (size_t i = 0; i < ECHO_BODY_BYTES; i++) {
        large[i] = (char)(i * 7 + i / 251);
    }
    /* All sizes around the watermark, where OpenSSL keeps decrypted bytes back. */
    for (size_t size = HTTP_INPUT_BYTES - 600; size < HTTP_INPUT_BYTES + 40000; size += 3137) {
        assert_int_equal(client_ask(&w.client, "POST", "/echo", large, size, &w.body), 200);
        assert_int_equal(w.body.size, size);
        assert_memory_equal(w.body.data, large, size);
    }
    assert_int_equal(client_ask(&w.client, "POST", "/echo", large, ECHO_BODY_BYTES, &w.body), 200);
    assert_int_equal(w.body.size, ECHO_BODY_BYTES);
    assert_memory_equal(w.body.data, large, ECHO_BODY_BYTES);
    /* In chunks of all sizes, one of them as large as allowed. */
    for (size_t chunk = 1; chunk <= ECHO_BODY_BYTES; chunk = chunk * 5 + 3) {
        size_t total = chunk < 1000 ? chunk * 9 : ECHO_BODY_BYTES;
        assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                            "Transfer-Encoding: chunked\r\n\r\n"));
        for (size_t at = 0; at < total; at += chunk) {
            size_t size = total - at < chunk ? total - at : chunk;
            assert_true(client_print(&w.client, "%zx\r\n", size));
            assert_true(client_write(&w.client, large + at, size));
            assert_true(client_print(&w.client, "\r\n"));
        }
        assert_true(client_print(&w.client, "0\r\n\r\n"));
        buf_clear(&w.body);
        assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
        assert_int_equal(w.body.size, total);
        assert_memory_equal(w.body.data, large, total);
    }
    /* One byte at a time. */
    static const char slow[] = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
    for (size_t i = 0; i < sizeof(slow) - 1; i++) {
        assert_true(client_write(&w.client, slow + i, 1));
    }
    buf_clear(&w.body);
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "abc");
    free(large);
    echo_end(&w);
}

static void a_thousand_requests_on_one_connection(void **state)
{
    struct echo_rig w;
    char text[32];
    echo_begin(&w);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "request %d", i);
        if (i % 3 == 2) { /* an answer in chunks between */
            assert_int_equal(echo_ask(&w, "GET", "/chunks?30", ""), 200);
            assert_int_equal(w.body.size, 30);
        } else {
            assert_int_equal(echo_ask(&w, "POST", "/echo", text), 200);
            assert_string_equal(buf_string(&w.body), text);
        }
    }
    assert_int_equal(echo_number(&w, "/stats", "connections"), 2);
    echo_end(&w);
}

/* Many answers in one turn of the loop: evhttp's own work for the later ones is put off to the next
 * turn, and the peers' next requests have come by then. */
static void answers_to_many_at_once_meet_their_next_requests(void **state)
{
    enum { PEERS = 64, ROUNDS = 60 };
    static struct tls_client peers[PEERS];
    struct echo_rig w;
    echo_begin(&w);
    for (int i = 0; i < PEERS; i++) {
        assert_true(client_open(&peers[i], w.server.port, &echo_tls.client, 0));
    }
    for (int round = 0; round < ROUNDS; round++) {
        kill(w.server.pid, SIGSTOP); /* so that all requests stand there at once */
        for (int i = 0; i < PEERS; i++) {
            assert_true(client_print(&peers[i], "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
        }
        kill(w.server.pid, SIGCONT);
        for (int again = 0; again < 2; again++) {
            for (int i = PEERS - 1; i >= 0; i--) { /* the later ones first */
                assert_int_equal(client_answer(&peers[i], &w.head, &w.body, false), 200);
                assert_true(again || client_print(&peers[i], "GET /echo HTTP/1.1\r\n"
                                                             "Host: a\r\n\r\n"));
            }
        }
    }
    for (int i = 0; i < PEERS; i++) {
        client_close(&peers[i]);
    }
    echo_end(&w);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct echo_rig w;
    char text[32];
    enum { REQUESTS = 3000 };
    echo_begin(&w);
    for (int i = 0; i < REQUESTS; i++) {
        int size = snprintf(text, sizeof(text), "pipelined %d", i);
        assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                            "Content-Length: %d\r\n\r\n%s", size, text));
    }
    for (int i = 0; i < REQUESTS; i++) {
        snprintf(text, sizeof(text), "pipelined %d", i);
        buf_clear(&w.body);
        assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
        assert_string_equal(buf_string(&w.body), text);
    }
    echo_end(&w);
}

static void what_comes_after_an_open_request_is_held_within_a_bound(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    long before_kb = echo_number(&w, "/stats", "heap_kb");
    char *junk = malloc(1 << 20);
    memset(junk, 'x', 1 << 20);
    struct timeval quickly = {.tv_usec = 300 * 1000};
    setsockopt(w.client.fd, SOL_SOCKET, SO_SNDTIMEO, &quickly, sizeof(quickly));
    assert_true(client_print(&w.client, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"));
    int written = 0;
    while (written < 64 && client_write(&w.client, junk, 1 << 20)) {
        written++;
    }
    assert_in_range(written, 0, 20); /* the sockets' buffers, no more */
    assert_true(echo_number(&w, "/stats", "heap_kb") - before_kb < 8 * 1024);
    free(junk);
    echo_end(&w);
}

static void http_1_0_and_connection_close(void **state)
{
    static const struct {
        const char *request;
        bool closes;
    } rows[] = {
        {"GET /counts HTTP/1.0\r\n\r\n", true},
        {"GET /counts HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
        {"GET /counts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", true},
        {"GET /counts HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", false},
        {"GET /counts HTTP/1.1\r\nHost: x\r\n\r\n", false},
        {"GET /list?100000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", true},
        {"GET /chunks?100000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", true},
        {"GET https://x/counts HTTP/1.1\r\nHost: x\r\n\r\n", false},
    };
    struct echo_rig w;
    echo_begin(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        echo_again(&w);
        assert_true(client_print(&w.client, "%s", rows[i].request));
        assert_int_equal(client_answer(&w.client, NULL, NULL, false), 200);
        assert_int_equal(client_closed(&w.client, rows[i].closes ? CLIENT_WAIT_MS : 50),
                         rows[i].closes);
        assert_false(w.client.reset);
        if (!rows[i].closes) {
            assert_int_equal(echo_ask(&w, "POST", "/echo", "goes on"), 200);
        }
    }
    /* HTTP/1.0 has no chunks: the end of the connection is the end of the answer. */
    echo_again(&w);
    assert_true(client_print(&w.client, "GET /chunks?300000 HTTP/1.0\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, true), 200);
    assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
    assert_int_equal(w.client.input.size, 300000);
    echo_end(&w);
}

/* ---- Bad input ----------------------------------------------------------------------------- */

static void malformed_requests_get_400_and_the_connection_ends(void **state)
{
    static const char *const bad[] = {
        "rubbish\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /counts HTTP/1.1\r\nno colon here\r\n\r\n",
        " GET /counts HTTP/1.1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\nabc",
    };
    struct echo_rig w;
    echo_begin(&w);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        echo_again(&w);
        print_message("%s\n", bad[i]);
        assert_true(client_print(&w.client, "%sGET /counts HTTP/1.1\r\nHost: x\r\n\r\n", bad[i]));
        assert_int_equal(client_answer(&w.client, NULL, NULL, false), 400);
        assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
        assert_int_equal(w.client.input.size, 0); /* what follows is not a request */
        assert_false(w.client.reset);
    }
    echo_again(&w);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n"
                                        "Content-Length: 2\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, false), 417);
    assert_int_equal(echo_number(&w, "/counts", "requests"), 1); /* none reached the role */
    echo_end(&w);
}

static void a_head_beyond_its_bound_gets_400(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    char *many = malloc(4 << 20);
    memset(many, 'h', 4 << 20);
    for (int in_line = 0; in_line < 2; in_line++) {
        echo_again(&w);
        assert_true(client_print(&w.client, in_line ? "GET /" : "GET / HTTP/1.1\r\nX: "));
        client_write(&w.client, many, 4 << 20);
        assert_int_equal(client_answer(&w.client, NULL, NULL, false), 400);
        assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
    }
    free(many);
    /* Just below it is fine. */
    echo_again(&w);
    assert_true(client_print(&w.client, "GET /counts HTTP/1.1\r\nX: %030000d\r\n\r\n", 1));
    assert_int_equal(client_answer(&w.client, NULL, NULL, false), 200);
    echo_end(&w);
}

static void a_body_beyond_its_bound_reaches_the_role_as_too_large(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    /* The bound itself is allowed, one more is not. */
    assert_int_equal(echo_ask(&w, "POST", "/small", "sixteen bytes ok"), 200);
    assert_string_equal(buf_string(&w.body), "sixteen bytes ok");
    assert_int_equal(echo_ask(&w, "POST", "/small", "seventeen bytes !"), 200);
    assert_string_equal(buf_string(&w.body), "too large");
    assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
    assert_false(w.client.reset);
    /* A writer that writes all before it reads still gets its answer, and memory stays. */
    enum { PART = 1 << 20, PARTS = 40 };
    char *part = calloc(1, PART);
    long before_kb = echo_number(&w, "/stats", "heap_kb");
    echo_again(&w);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: %d\r\n\r\n", PART * PARTS));
    for (int i = 0; i < PARTS; i++) {
        assert_true(client_write(&w.client, part, PART));
    }
    buf_clear(&w.body);
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "too large");
    assert_true(echo_number(&w, "/stats", "heap_kb") - before_kb < 8 * 1024);
    /* In chunks: known only when it is reached, even inside one announced chunk. */
    for (int one = 0; one < 2; one++) {
        echo_again(&w);
        assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                            "Transfer-Encoding: chunked\r\n\r\n"));
        for (int i = 0; i < 8; i++) {
            if (!one || !i) {
                assert_true(client_print(&w.client, "%x\r\n", one ? 8 * PART : PART / 2));
            }
            assert_true(client_write(&w.client, part, one ? PART : PART / 2));
            if (!one) {
                assert_true(client_print(&w.client, "\r\n"));
            }
        }
        buf_clear(&w.body);
        assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
        assert_string_equal(buf_string(&w.body), "too large");
    }
    /* One who asks before sending is told at once. */
    echo_again(&w);
    assert_true(client_print(&w.client, "POST /small HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: 17\r\nExpect: 100-continue\r\n\r\n"));
    buf_clear(&w.body);
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "too large");
    free(part);
    echo_end(&w);
}

static void an_endless_body_ends_the_connection(void **state)
{
    struct echo_rig w;
    struct http_server_config config = {.tls = echo_tls.server,
                                        .times = {.linger_ms = PATIENCE_MS}};
    echo_begin_with(&w, &config);
    enum { PART = 1 << 20 };
    char *part = calloc(1, PART);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: 999999999999\r\n\r\n"));
    size_t written = 0;
    while (written < 4 * (size_t)HTTP_DRAIN_BYTES && client_write(&w.client, part, PART)) {
        written += PART;
    }
    assert_in_range(written, HTTP_DRAIN_BYTES / 2, 2 * (size_t)HTTP_DRAIN_BYTES);
    free(part);
    echo_end(&w);
}

static void an_expectation_is_met(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, true), 100);
    assert_true(client_print(&w.client, "hello"));
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "hello");
    assert_int_equal(echo_ask(&w, "POST", "/echo", "goes on"), 200);
    echo_end(&w);
}

/* A word's worth of every byte, at every place of a request: never a crash, always an answer or an
 * end. */
static void mutilated_requests_never_end_the_server(void **state)
{
    static const char good[] =
        "POST /echo?a=b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        "\r\n5\r\nhello\r\n0\r\n\r\n";
    struct http_server_config config = echo_quick();
    struct echo_rig w;
    unsigned seed = 1;
    echo_begin_with(&w, &config);
    for (int i = 0; i < 400; i++) {
        char bad[sizeof(good)];
        memcpy(bad, good, sizeof(good));
        for (int j = 0; j <= i % 3; j++) {
            bad[(size_t)rand_r(&seed) % (sizeof(good) - 1)] = (char)rand_r(&seed);
        }
        echo_again(&w);
        size_t size = i % 7 ? sizeof(good) - 1 : (size_t)rand_r(&seed) % sizeof(good);
        client_write(&w.client, bad, size);
        if (i % 7 == 0) {
            continue; /* hangs up in the middle */
        }
        client_read(&w.client, 20);
    }
    assert_int_equal(echo_ask_again(&w, "POST", "/echo", "still here"), 200);
    echo_end(&w);
}

/* ---- Time-outs and hang-ups ---------------------------------------------------------------- */

static void slow_peers_are_left(void **state)
{
    static const struct {
        const char *what, *first, *then;
    } rows[] = {
        {"a head that trickles", "GET /counts HTTP/1.1\r\n", "X: y\r\n"},
        {"a body that trickles", "POST /echo HTTP/1.1\r\nContent-Length: 1000\r\n\r\n", "a"},
        {"chunks that trickle", "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "1\r\na\r\n"},
        {"a chunk size without end", "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "0"},
        {"a silent body", "POST /echo HTTP/1.1\r\nContent-Length: 1000\r\n\r\n", ""},
        {"an idle connection", "", ""},
        {"an idle one after a request", "GET /counts HTTP/1.1\r\n\r\n", ""},
    };
    struct http_server_config config = echo_quick();
    struct echo_rig w;
    echo_begin_with(&w, &config);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        print_message("%s\n", rows[i].what);
        int64_t from_ms = patience_now_ms(); /* the server counts from its connection, or later */
        echo_again(&w);
        client_print(&w.client, "%s", rows[i].first);
        bool closed = false;
        for (struct patience p = {0}; !closed && patience_lasts(&p);) {
            closed = client_closed(&w.client, 50);
            if (!closed && *rows[i].then) {
                client_print(&w.client, "%s", rows[i].then);
            }
        }
        assert_true(closed);
        assert_true(patience_now_ms() - from_ms >= 400);
    }
    /* A peer that never begins its handshake. */
    struct tls_client plain;
    int64_t from_ms = patience_now_ms();
    assert_true(client_open(&plain, w.server.port, NULL, 0));
    assert_true(client_closed(&plain, CLIENT_WAIT_MS));
    assert_true(patience_now_ms() - from_ms >= 400);
    client_close(&plain);
    echo_end(&w);
}

static void a_peer_that_hangs_up_is_reported_to_the_role(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    assert_true(client_print(&w.client, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"));
    echo_becomes(&w, "/counts", "hangups", 0);
    client_close(&w.client);
    echo_becomes(&w, "/counts", "hangups", 1);
    /* Half-closed: it will not hear an answer either. */
    assert_true(client_open(&w.client, w.server.port, &echo_tls.client, 0));
    assert_true(client_print(&w.client, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"));
    SSL_shutdown(w.client.ssl);
    shutdown(w.client.fd, SHUT_WR);
    echo_becomes(&w, "/counts", "hangups", 2);
    client_close(&w.client);
    /* The reader of a stream; its cursor goes too. */
    assert_true(client_open(&w.client, w.server.port, &echo_tls.client, 0));
    assert_true(client_print(&w.client, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"));
    echo_becomes(&w, "/counts", "cursors", 1);
    client_close(&w.client);
    echo_becomes(&w, "/counts", "cursors", 0);
    echo_becomes(&w, "/counts", "hangups", 3);
    echo_becomes(&w, "/stats", "connections", 1);
    /* An answered request is none that anybody hangs up on. */
    assert_true(client_open(&w.client, w.server.port, &echo_tls.client, 0));
    assert_int_equal(echo_ask(&w, "POST", "/echo", "x"), 200);
    client_close(&w.client);
    echo_becomes(&w, "/stats", "connections", 1);
    assert_int_equal(echo_number(&w, "/counts", "hangups"), 3);
    echo_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_has_the_headers_of_the_api),
        cmocka_unit_test(the_role_learns_who_asks_for_what),
        cmocka_unit_test(every_method_reaches_the_role),
        cmocka_unit_test(the_body_of_a_get_is_read),
        cmocka_unit_test(bodies_come_in_any_pieces),
        cmocka_unit_test(a_thousand_requests_on_one_connection),
        cmocka_unit_test(answers_to_many_at_once_meet_their_next_requests),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(what_comes_after_an_open_request_is_held_within_a_bound),
        cmocka_unit_test(http_1_0_and_connection_close),
        cmocka_unit_test(malformed_requests_get_400_and_the_connection_ends),
        cmocka_unit_test(a_head_beyond_its_bound_gets_400),
        cmocka_unit_test(a_body_beyond_its_bound_reaches_the_role_as_too_large),
        cmocka_unit_test(an_endless_body_ends_the_connection),
        cmocka_unit_test(an_expectation_is_met),
        cmocka_unit_test(mutilated_requests_never_end_the_server),
        cmocka_unit_test(slow_peers_are_left),
        cmocka_unit_test(a_peer_that_hangs_up_is_reported_to_the_role),
    };
    return cmocka_run_group_tests(tests, echo_rig_setup, echo_rig_teardown);
}
