/* The HTTP server shell: every rule of common/shell/http_server_io.h, over real sockets. */
#include "common/shell/http_server_io.h"
#include "test/tool/certs.h"
#include "test/tool/echo_role.h"
#include "test/tool/echo_server.h"
#include "test/tool/patience.h"
#include "test/tool/tls_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct certs certs, strange_certs;
static struct tls_files server_files, client_files;

/* What most tests need: a server with short times, one client, a place for answers. */
struct world {
    struct echo_server server;
    struct tls_client client;
    struct buf head, body;
};

static struct http_server_config quick(void)
{
    return (struct http_server_config){
        .tls = server_files,
        .times = {.handshake_ms = 1000, .head_ms = 500, .body_ms = 700, .idle_ms = 1000,
                  .stall_ms = 1000, .linger_ms = 1000}};
}

/* On a slow machine the short times of some servers end a connection before it is used: once more. */
static void connect_to(struct world *w, struct tls_client *c)
{
    struct patience p = {0};
    while (!client_open(c, w->server.port, &client_files, 0)) {
        client_close(c);
        assert_true(patience(&p));
    }
}

static void begin_with(struct world *w, const struct http_server_config *config)
{
    buf_init(&w->head);
    buf_init(&w->body);
    echo_server_start(&w->server, config, 0, -1);
    connect_to(w, &w->client);
}

static void begin(struct world *w)
{
    struct http_server_config config = {.tls = server_files};
    begin_with(w, &config);
}

static void end(struct world *w)
{
    client_close(&w->client);
    buf_done(&w->head);
    buf_done(&w->body);
    assert_true(echo_server_stop(&w->server));
}

static void again(struct world *w)
{
    client_close(&w->client);
    connect_to(w, &w->client);
}

static int ask(struct world *w, const char *method, const char *target, const char *data)
{
    return client_ask(&w->client, method, target, data, strlen(data), &w->body);
}

/* The same on a connection of its own, again until it was answered. */
static int ask_anew(struct world *w, const char *method, const char *target, const char *data)
{
    int status = 0;
    for (struct patience p = {0}; !status && patience(&p);) {
        again(w);
        status = ask(w, method, target, data);
    }
    return status;
}

/* Asks on a connection of its own for a number that stands behind NAME= in /counts or /stats. */
static long number(struct world *w, const char *target, const char *name)
{
    struct tls_client c;
    struct buf body;
    buf_init(&body);
    connect_to(w, &c);
    for (struct patience p = {0}; client_ask(&c, "GET", target, "", 0, &body) != 200;) {
        assert_true(patience(&p));
        client_close(&c);
        connect_to(w, &c);
    }
    const char *at = strstr(buf_string(&body), name);
    assert_non_null(at);
    long n = strtol(at + strlen(name) + 1, NULL, 10);
    client_close(&c);
    buf_done(&body);
    return n;
}

/* Waits (bounded) until it has this value. */
static void becomes(struct world *w, const char *target, const char *name, long value)
{
    for (struct patience p = {0}; number(w, target, name) != value && patience(&p);) {
    }
    assert_int_equal(number(w, target, name), value);
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void an_answer_has_the_headers_of_the_api(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
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
    assert_int_equal(ask(&w, "GET", "/nowhere", ""), 404);
    assert_string_equal(buf_string(&w.body), "404 page not found\n");
    end(&w);
}

static void the_role_learns_who_asks_for_what(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    assert_true(client_print(&w.client,
                             "GET /who?a=b&c HTTP/1.1\r\nHost: x\r\nx-vcap-request-id: t-1\r\n"
                             "ACCEPT: text/x\r\nContent-Type: text/y; charset=utf-8\r\n"
                             "If-None-Match: v1\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "rep|cell-1|GET|/who|a=b&c|t-1|text/x|text/y|v1");
    end(&w);
}

static void every_method_reaches_the_role(void **state)
{
    (void)state;
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};
    struct world w;
    char want[64];
    begin(&w);
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        assert_int_equal(ask(&w, methods[i], "/who", "body"), 200);
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
    assert_int_equal(ask(&w, "POST", "/echo", "still here"), 200);
    assert_string_equal(buf_string(&w.body), "still here");
    end(&w);
}

static void the_body_of_a_get_is_read(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    assert_int_equal(ask(&w, "GET", "/echo", "with a body"), 200);
    assert_string_equal(buf_string(&w.body), "with a body");
    end(&w);
}

static void bodies_come_in_any_pieces(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
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
    end(&w);
}

static void a_thousand_requests_on_one_connection(void **state)
{
    (void)state;
    struct world w;
    char text[32];
    begin(&w);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "request %d", i);
        if (i % 3 == 2) { /* an answer in chunks between */
            assert_int_equal(ask(&w, "GET", "/chunks?30", ""), 200);
            assert_int_equal(w.body.size, 30);
        } else {
            assert_int_equal(ask(&w, "POST", "/echo", text), 200);
            assert_string_equal(buf_string(&w.body), text);
        }
    }
    assert_int_equal(number(&w, "/stats", "connections"), 2);
    end(&w);
}

/* Many answers in one turn of the loop: evhttp's own work for the later ones is put off to the next
 * turn, and the peers' next requests have come by then. */
static void answers_to_many_at_once_meet_their_next_requests(void **state)
{
    (void)state;
    enum { PEERS = 64, ROUNDS = 60 };
    static struct tls_client peers[PEERS];
    struct world w;
    begin(&w);
    for (int i = 0; i < PEERS; i++) {
        assert_true(client_open(&peers[i], w.server.port, &client_files, 0));
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
    end(&w);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct world w;
    char text[32];
    enum { REQUESTS = 3000 };
    begin(&w);
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
    end(&w);
}

static void what_comes_after_an_open_request_is_held_within_a_bound(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    long before_kb = number(&w, "/stats", "heap_kb");
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
    assert_true(number(&w, "/stats", "heap_kb") - before_kb < 8 * 1024);
    free(junk);
    end(&w);
}

static void http_1_0_and_connection_close(void **state)
{
    (void)state;
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
    struct world w;
    begin(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        again(&w);
        assert_true(client_print(&w.client, "%s", rows[i].request));
        assert_int_equal(client_answer(&w.client, NULL, NULL, false), 200);
        assert_int_equal(client_closed(&w.client, rows[i].closes ? CLIENT_WAIT_MS : 50), rows[i].closes);
        assert_false(w.client.reset);
        if (!rows[i].closes) {
            assert_int_equal(ask(&w, "POST", "/echo", "goes on"), 200);
        }
    }
    /* HTTP/1.0 has no chunks: the end of the connection is the end of the answer. */
    again(&w);
    assert_true(client_print(&w.client, "GET /chunks?300000 HTTP/1.0\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, true), 200);
    assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
    assert_int_equal(w.client.input.size, 300000);
    end(&w);
}

/* ---- Bad input ----------------------------------------------------------------------------- */

static void malformed_requests_get_400_and_the_connection_ends(void **state)
{
    (void)state;
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
    struct world w;
    begin(&w);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        again(&w);
        print_message("%s\n", bad[i]);
        assert_true(client_print(&w.client, "%sGET /counts HTTP/1.1\r\nHost: x\r\n\r\n", bad[i]));
        assert_int_equal(client_answer(&w.client, NULL, NULL, false), 400);
        assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
        assert_int_equal(w.client.input.size, 0); /* what follows is not a request */
        assert_false(w.client.reset);
    }
    again(&w);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n"
                                        "Content-Length: 2\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, false), 417);
    assert_int_equal(number(&w, "/counts", "requests"), 1); /* none reached the role */
    end(&w);
}

static void a_head_beyond_its_bound_gets_400(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    char *many = malloc(4 << 20);
    memset(many, 'h', 4 << 20);
    for (int in_line = 0; in_line < 2; in_line++) {
        again(&w);
        assert_true(client_print(&w.client, in_line ? "GET /" : "GET / HTTP/1.1\r\nX: "));
        client_write(&w.client, many, 4 << 20);
        assert_int_equal(client_answer(&w.client, NULL, NULL, false), 400);
        assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
    }
    free(many);
    /* Just below it is fine. */
    again(&w);
    assert_true(client_print(&w.client, "GET /counts HTTP/1.1\r\nX: %030000d\r\n\r\n", 1));
    assert_int_equal(client_answer(&w.client, NULL, NULL, false), 200);
    end(&w);
}

static void a_body_beyond_its_bound_reaches_the_role_as_too_large(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    /* The bound itself is allowed, one more is not. */
    assert_int_equal(ask(&w, "POST", "/small", "sixteen bytes ok"), 200);
    assert_string_equal(buf_string(&w.body), "sixteen bytes ok");
    assert_int_equal(ask(&w, "POST", "/small", "seventeen bytes !"), 200);
    assert_string_equal(buf_string(&w.body), "too large");
    assert_true(client_closed(&w.client, CLIENT_WAIT_MS));
    assert_false(w.client.reset);
    /* A writer that writes all before it reads still gets its answer, and memory stays. */
    enum { PART = 1 << 20, PARTS = 40 };
    char *part = calloc(1, PART);
    long before_kb = number(&w, "/stats", "heap_kb");
    again(&w);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: %d\r\n\r\n", PART * PARTS));
    for (int i = 0; i < PARTS; i++) {
        assert_true(client_write(&w.client, part, PART));
    }
    buf_clear(&w.body);
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "too large");
    assert_true(number(&w, "/stats", "heap_kb") - before_kb < 8 * 1024);
    /* In chunks: known only when it is reached, even inside one announced chunk. */
    for (int one = 0; one < 2; one++) {
        again(&w);
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
    again(&w);
    assert_true(client_print(&w.client, "POST /small HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: 17\r\nExpect: 100-continue\r\n\r\n"));
    buf_clear(&w.body);
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "too large");
    free(part);
    end(&w);
}

static void an_endless_body_ends_the_connection(void **state)
{
    (void)state;
    struct world w;
    struct http_server_config config = {.tls = server_files, .times = {.linger_ms = PATIENCE_MS}};
    begin_with(&w, &config);
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
    end(&w);
}

static void an_expectation_is_met(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    assert_true(client_print(&w.client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                        "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    assert_int_equal(client_answer(&w.client, NULL, NULL, true), 100);
    assert_true(client_print(&w.client, "hello"));
    assert_int_equal(client_answer(&w.client, NULL, &w.body, false), 200);
    assert_string_equal(buf_string(&w.body), "hello");
    assert_int_equal(ask(&w, "POST", "/echo", "goes on"), 200);
    end(&w);
}

/* A word's worth of every byte, at every place of a request: never a crash, always an answer or an
 * end. */
static void mutilated_requests_never_end_the_server(void **state)
{
    (void)state;
    static const char good[] = "POST /echo?a=b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                               "\r\n5\r\nhello\r\n0\r\n\r\n";
    struct http_server_config config = quick();
    struct world w;
    unsigned seed = 1;
    begin_with(&w, &config);
    for (int i = 0; i < 400; i++) {
        char bad[sizeof(good)];
        memcpy(bad, good, sizeof(good));
        for (int j = 0; j <= i % 3; j++) {
            bad[(size_t)rand_r(&seed) % (sizeof(good) - 1)] = (char)rand_r(&seed);
        }
        again(&w);
        size_t size = i % 7 ? sizeof(good) - 1 : (size_t)rand_r(&seed) % sizeof(good);
        client_write(&w.client, bad, size);
        if (i % 7 == 0) {
            continue; /* hangs up in the middle */
        }
        client_read(&w.client, 20);
    }
    assert_int_equal(ask_anew(&w, "POST", "/echo", "still here"), 200);
    end(&w);
}

/* ---- Time-outs and hang-ups ---------------------------------------------------------------- */

static void slow_peers_are_left(void **state)
{
    (void)state;
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
    struct http_server_config config = quick();
    struct world w;
    begin_with(&w, &config);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        print_message("%s\n", rows[i].what);
        int64_t from_ms = patience_now_ms(); /* the server counts from its connection, or later */
        again(&w);
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
    end(&w);
}

static void a_peer_that_hangs_up_is_told_to_the_role(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    assert_true(client_print(&w.client, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"));
    becomes(&w, "/counts", "hangups", 0);
    client_close(&w.client);
    becomes(&w, "/counts", "hangups", 1);
    /* Half-closed: it will not hear an answer either. */
    assert_true(client_open(&w.client, w.server.port, &client_files, 0));
    assert_true(client_print(&w.client, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"));
    SSL_shutdown(w.client.ssl);
    shutdown(w.client.fd, SHUT_WR);
    becomes(&w, "/counts", "hangups", 2);
    client_close(&w.client);
    /* The reader of a stream; its cursor goes too. */
    assert_true(client_open(&w.client, w.server.port, &client_files, 0));
    assert_true(client_print(&w.client, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"));
    becomes(&w, "/counts", "cursors", 1);
    client_close(&w.client);
    becomes(&w, "/counts", "cursors", 0);
    becomes(&w, "/counts", "hangups", 3);
    becomes(&w, "/stats", "connections", 1);
    /* An answered request is none that anybody hangs up on. */
    assert_true(client_open(&w.client, w.server.port, &client_files, 0));
    assert_int_equal(ask(&w, "POST", "/echo", "x"), 200);
    client_close(&w.client);
    becomes(&w, "/stats", "connections", 1);
    assert_int_equal(number(&w, "/counts", "hangups"), 3);
    end(&w);
}

/* ---- TLS ----------------------------------------------------------------------------------- */

static bool served(int port, const struct tls_files *files)
{
    struct tls_client c;
    /* TLS 1.3: the client learns only with the first answer that it was refused. */
    bool good = client_open(&c, port, files, 0) &&
                client_ask(&c, "GET", "/counts", "", 0, NULL) == 200;
    client_close(&c);
    return good;
}

static void only_certificates_of_our_ca_are_served(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    struct tls_files none = {.ca = client_files.ca};
    struct tls_files expired = certs_make(&certs, "expired", "rep", "cell-1", -60);
    struct tls_files strange = certs_make(&strange_certs, "strange", "rep", "cell-1", 3600);
    strange.ca = client_files.ca;
    assert_true(served(w.server.port, &client_files));
    assert_false(served(w.server.port, &none));
    assert_false(served(w.server.port, &expired));
    assert_false(served(w.server.port, &strange));
    assert_int_equal(number(&w, "/counts", "requests"), 2);
    end(&w);
}

static void plain_text_is_refused(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    struct tls_client c;
    assert_true(client_open(&c, w.server.port, NULL, 0));
    assert_true(client_print(&c, "GET /counts HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(client_closed(&c, CLIENT_WAIT_MS));
    assert_true(c.input.size < 8); /* at most a TLS alert */
    client_close(&c);
    end(&w);
}

static SSL *no_ssl(SSL_CTX *ctx)
{
    (void)ctx;
    return NULL;
}

static void a_connection_that_gets_no_tls_is_refused(void **state)
{
    (void)state;
    struct http_server_config config = {.tls = server_files, .ssl_new = no_ssl};
    struct echo_server server;
    struct tls_client c;
    echo_server_start(&server, &config, 0, -1);
    for (int i = 0; i < 20; i++) {
        assert_true(client_open(&c, server.port, NULL, 0));
        client_print(&c, "GET /counts HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(client_closed(&c, CLIENT_WAIT_MS));
        assert_int_equal(c.input.size, 0);
        client_close(&c);
    }
    assert_true(echo_server_stop(&server));
}

static void versions_below_1_2_are_refused_and_1_2_serves_rsa(void **state)
{
    (void)state;
    /* The certificates of a local cluster, as its script makes them. */
    char dir[80], ca[96], cert[96], key[96], command[200];
    snprintf(dir, sizeof(dir), "%s.script", certs.dir);
    snprintf(command, sizeof(command), "deploy/local/make-certs %s --cells 1", dir);
    assert_int_equal(system(command), 0);
    snprintf(ca, sizeof(ca), "%s/ca.crt", dir);
    snprintf(cert, sizeof(cert), "%s/cell-1.crt", dir);
    snprintf(key, sizeof(key), "%s/cell-1.key", dir);
    struct stat key_stat;
    assert_int_equal(stat(key, &key_stat), 0);
    assert_int_equal(key_stat.st_mode & 0777, 0600);
    struct tls_files files = {.ca = ca, .cert = cert, .key = key};
    struct http_server_config config = {.tls = files};
    struct echo_server server;
    echo_server_start(&server, &config, 0, -1);
    static const struct {
        int version;
        const char *ciphers;
        bool good;
    } rows[] = {{TLS1_3_VERSION, NULL, true},
                {TLS1_2_VERSION, "ECDHE-RSA-AES256-GCM-SHA384", true},
                {TLS1_2_VERSION, "ECDHE-RSA-AES128-GCM-SHA256", true},
                {TLS1_2_VERSION, "AES128-SHA", false},
                {TLS1_1_VERSION, "ALL:@SECLEVEL=0", false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct tls_client c;
        assert_true(client_open(&c, server.port, NULL, 0));
        c.ctx = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_min_proto_version(c.ctx, rows[i].version);
        SSL_CTX_set_max_proto_version(c.ctx, rows[i].version);
        assert_int_equal(SSL_CTX_use_certificate_file(c.ctx, cert, SSL_FILETYPE_PEM), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey_file(c.ctx, key, SSL_FILETYPE_PEM), 1);
        assert_int_equal(!rows[i].ciphers || SSL_CTX_set_cipher_list(c.ctx, rows[i].ciphers), 1);
        c.ssl = SSL_new(c.ctx);
        SSL_set_fd(c.ssl, c.fd);
        assert_int_equal(SSL_connect(c.ssl) == 1, rows[i].good);
        if (rows[i].good) {
            struct buf body;
            buf_init(&body);
            assert_int_equal(client_ask(&c, "GET", "/who", "", 0, &body), 200);
            assert_memory_equal(buf_string(&body), "rep|cell-1|", 11);
            buf_done(&body);
        }
        client_close(&c);
    }
    assert_true(echo_server_stop(&server));
    snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---- Sockets ------------------------------------------------------------------------------- */

/* Without TCP_NODELAY an answer in two writes waits for the peer's delayed acknowledgement: 40 ms
 * each, 23 a second (DESIGN 8). However slow the machine, some answers do not take that long; those
 * that wait take it all, but for the first ones of a connection. */
static void answers_do_not_wait_for_acknowledgements(void **state)
{
    (void)state;
    enum { DELAY_MS = 35, FIRST = 50, QUICK = 50 };
    struct world w;
    begin(&w);
    int quick = 0, asked = 0;
    for (struct patience p = {0}; quick < QUICK && patience_lasts(&p); asked++) {
        int64_t from_ms = patience_now_ms();
        assert_int_equal(ask(&w, "GET", "/chunks?10", ""), 200);
        quick += asked >= FIRST && patience_now_ms() - from_ms < DELAY_MS;
    }
    print_message("%d of %d answers were quick\n", quick, asked - FIRST);
    assert_int_equal(quick, QUICK);
    end(&w);
}

static void accepting_stops_below_the_descriptor_limit_and_resumes(void **state)
{
    (void)state;
    enum { FILES = 64, ROOM = FILES - HTTP_SPARE_FILES, CLIENTS = 2 * FILES };
    struct http_server_config config = {.tls = server_files};
    struct echo_server server;
    struct tls_client clients[CLIENTS];
    struct buf body;
    buf_init(&body);
    echo_server_start(&server, &config, FILES, -1);
    for (int i = 0; i < ROOM; i++) {
        assert_true(client_open(&clients[i], server.port, &client_files, 0));
    }
    /* More than there are descriptors: they wait in the kernel's queue. */
    for (int i = ROOM; i < CLIENTS; i++) {
        assert_true(client_open(&clients[i], server.port, NULL, 0));
    }
    assert_int_equal(client_ask(&clients[0], "GET", "/stats", "", 0, &body), 200);
    long connections = 0, heap = 0, cpu_ms = 0, later_ms = 0;
    assert_int_equal(sscanf(buf_string(&body), "connections=%ld heap_kb=%ld cpu_ms=%ld",
                            &connections, &heap, &cpu_ms), 3);
    assert_int_equal(connections, ROOM);
    usleep(500 * 1000);
    assert_int_equal(client_ask(&clients[0], "GET", "/stats", "", 0, &body), 200);
    assert_int_equal(sscanf(buf_string(&body), "connections=%ld heap_kb=%ld cpu_ms=%ld",
                            &connections, &heap, &later_ms), 3);
    assert_int_equal(connections, ROOM);
    assert_true(later_ms - cpu_ms < 150); /* it does not spin */
    /* When some end, those that waited are served. */
    for (int i = 1; i < CLIENTS; i++) {
        client_close(&clients[i]);
    }
    struct tls_client late;
    assert_true(client_open(&late, server.port, &client_files, 0));
    assert_int_equal(client_ask(&late, "GET", "/counts", "", 0, &body), 200);
    client_close(&late);
    client_close(&clients[0]);
    assert_true(echo_server_stop(&server));
    buf_done(&body);
}

/* Descriptors that others in the process hold are not counted: accept() itself fails. */
static void accepting_pauses_when_descriptors_run_out(void **state)
{
    (void)state;
    enum { FILES = 128, WAITING = 5 };
    struct http_server_config config = {.tls = server_files};
    struct echo_server server;
    struct tls_client first, waiting[WAITING];
    struct buf body;
    long cpu_ms = 0, before_ms = 0;
    buf_init(&body);
    echo_server_start(&server, &config, FILES, -1);
    assert_true(client_open(&first, server.port, &client_files, 0));
    assert_int_equal(client_ask(&first, "GET", "/stats", "", 0, &body), 200);
    assert_int_equal(sscanf(buf_string(&body), "connections=%*d heap_kb=%*d cpu_ms=%ld",
                            &before_ms), 1);
    assert_int_equal(client_ask(&first, "GET", "/hold", "", 0, &body), 200);
    for (int i = 0; i < WAITING; i++) {
        assert_true(client_open(&waiting[i], server.port, NULL, 0));
    }
    usleep(500 * 1000);
    assert_int_equal(client_ask(&first, "GET", "/release", "", 0, &body), 200);
    assert_int_equal(client_ask(&first, "GET", "/stats", "", 0, &body), 200);
    assert_int_equal(sscanf(buf_string(&body), "connections=%*d heap_kb=%*d cpu_ms=%ld", &cpu_ms), 1);
    struct tls_client late;
    assert_true(client_open(&late, server.port, &client_files, 0));
    assert_int_equal(client_ask(&late, "GET", "/counts", "", 0, &body), 200);
    assert_true(cpu_ms - before_ms < 200); /* it did not spin for the half second */
    client_close(&late);
    client_close(&first);
    for (int i = 0; i < WAITING; i++) {
        client_close(&waiting[i]);
    }
    assert_true(echo_server_stop(&server));
    buf_done(&body);
}

/* ---- Streams ------------------------------------------------------------------------------- */

static void a_list_comes_from_a_cursor_with_its_length(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 3 << 20};
    struct world w;
    char target[64];
    begin(&w);
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
        size_t size = sizes[i / 2];
        snprintf(target, sizeof(target), "/%s?%zu", i % 2 ? "chunks" : "list", size);
        assert_int_equal(ask(&w, "GET", target, ""), 200);
        assert_int_equal(w.body.size, size);
        for (size_t j = 0; j < size; j += 997) {
            assert_int_equal(w.body.data[j], 'a' + j % 26);
        }
    }
    assert_int_equal(number(&w, "/counts", "cursors"), 0);
    /* One that gives less than it announced breaks the connection, so that the reader knows. */
    assert_int_equal(ask(&w, "GET", "/short?1000", ""), 0);
    assert_true(w.client.ended);
    assert_int_equal(number(&w, "/counts", "cursors"), 0);
    end(&w);
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
    (void)state;
    enum { ROUNDS = 3 };
    int records = 0;
    struct http_server_config config = quick(); /* a stream outlives all time-outs */
    struct world w;
    begin_with(&w, &config);
    struct tls_client readers[5];
    for (int i = 0; i < 5; i++) {
        struct buf head;
        buf_init(&head);
        connect_to(&w, &readers[i]);
        /* The head comes before any event. */
        for (struct patience p = {0};
             !client_print(&readers[i], "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n") ||
             client_answer(&readers[i], &head, NULL, true) != 200;) {
            assert_true(patience(&p));
            client_close(&readers[i]);
            connect_to(&w, &readers[i]);
        }
        assert_non_null(strstr(buf_string(&head),
                               "\r\nContent-Type: text/event-stream; charset=utf-8\r\n"));
        assert_non_null(strstr(buf_string(&head),
                               "\r\nCache-Control: no-cache, no-store, must-revalidate\r\n"));
        assert_non_null(strstr(buf_string(&head), "\r\nTransfer-Encoding: chunked\r\n"));
        buf_done(&head);
    }
    usleep(1500 * 1000);
    SSL_set_msg_callback(readers[1].ssl, count_records);
    SSL_set_msg_callback_arg(readers[1].ssl, &records);
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(ask_anew(&w, "POST", "/publish", "news!"), 200);
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
    becomes(&w, "/counts", "cursors", 4);
    /* CURSOR_CUT breaks off, without the chunk that would end the answer well. */
    assert_int_equal(ask_anew(&w, "POST", "/cut", ""), 200);
    for (int i = 1; i < 5; i++) {
        assert_true(client_closed(&readers[i], CLIENT_WAIT_MS));
        assert_int_equal(readers[i].input.size, 0);
    }
    becomes(&w, "/counts", "cursors", 0);
    assert_int_equal(number(&w, "/counts", "hangups"), 5);
    for (int i = 0; i < 5; i++) {
        client_close(&readers[i]);
    }
    end(&w);
}

/* What a stalled reader may cost: what waits for it (HTTP_OUTPUT_BYTES and a slice), its TLS record and
 * session. */
enum { READER_KB = 256 };

static void a_stalled_reader_costs_no_copies(void **state)
{
    (void)state;
    enum { READERS = 40, STABLE = 10 };
    struct http_server_config config = {.tls = server_files, .times = {.stall_ms = 10 * PATIENCE_MS}};
    struct world w;
    begin_with(&w, &config);
    long before_kb = number(&w, "/stats", "heap_kb");
    struct tls_client readers[READERS];
    for (int i = 0; i < READERS; i++) {
        assert_true(client_open(&readers[i], w.server.port, &client_files, 4096));
        assert_true(client_print(&readers[i], "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    becomes(&w, "/counts", "cursors", READERS);
    /* Until the sockets' buffers are full: then nobody is asked while they stall. */
    long fills = -1;
    struct patience p = {0};
    for (int same = 0; same < STABLE && patience_lasts(&p); same++) {
        long now = number(&w, "/counts", "fills");
        same = now == fills ? same : -1;
        fills = now;
        usleep(50 * 1000);
    }
    assert_true(patience_lasts(&p));
    long grown_kb = number(&w, "/stats", "heap_kb") - before_kb;
    print_message("%ld KB and %ld slices for each stalled reader\n", grown_kb / READERS,
                  fills / READERS);
    assert_true(grown_kb / READERS < READER_KB);
    assert_int_equal(number(&w, "/counts", "cursors"), READERS);
    for (int i = 0; i < READERS; i++) {
        client_close(&readers[i]);
    }
    becomes(&w, "/counts", "cursors", 0);
    end(&w);
}

static void a_stalled_reader_is_freed(void **state)
{
    (void)state;
    enum { READERS = 10 };
    struct http_server_config config = {.tls = server_files, .times = {.stall_ms = 500}};
    struct world w;
    begin_with(&w, &config);
    struct tls_client readers[READERS];
    for (int i = 0; i < READERS; i++) {
        assert_true(client_open(&readers[i], w.server.port, &client_files, 4096));
        assert_true(client_print(&readers[i], "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    becomes(&w, "/counts", "hangups", READERS);
    becomes(&w, "/counts", "cursors", 0);
    for (int i = 0; i < READERS; i++) {
        client_close(&readers[i]);
    }
    end(&w);
}

/* Reads a little at a time, for five times as long as a stall is allowed to last. Gives whether the
 * stream went on, and the longest time that the reader took nothing. */
static bool read_slowly(int stall_ms, int64_t *ret_pause_ms)
{
    struct http_server_config config = {.tls = server_files, .times = {.stall_ms = stall_ms}};
    struct world w;
    begin_with(&w, &config);
    struct tls_client reader;
    assert_true(client_open(&reader, w.server.port, &client_files, 4096));
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
    end(&w);
    return goes_on;
}

/* A trial says nothing when the machine itself kept the reader for nearly that long. */
static void a_slow_reader_that_takes_something_stays(void **state)
{
    (void)state;
    int stall_ms = 400;
    int64_t pause_ms;
    while (!read_slowly(stall_ms, &pause_ms)) {
        assert_true(pause_ms > stall_ms / 2);
        assert_true(stall_ms < PATIENCE_MS);
        stall_ms *= 2;
    }
}

/* ---- All of it ----------------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    certs_init(&strange_certs);
    server_files = certs_make(&certs, "server", "bbs", "bbs", 3600);
    client_files = certs_make(&certs, "client", "rep", "cell-1", 3600);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    certs_done(&certs);
    certs_done(&strange_certs);
    return 0;
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
        cmocka_unit_test(a_peer_that_hangs_up_is_told_to_the_role),
        cmocka_unit_test(only_certificates_of_our_ca_are_served),
        cmocka_unit_test(plain_text_is_refused),
        cmocka_unit_test(a_connection_that_gets_no_tls_is_refused),
        cmocka_unit_test(versions_below_1_2_are_refused_and_1_2_serves_rsa),
        cmocka_unit_test(answers_do_not_wait_for_acknowledgements),
        cmocka_unit_test(accepting_stops_below_the_descriptor_limit_and_resumes),
        cmocka_unit_test(accepting_pauses_when_descriptors_run_out),
        cmocka_unit_test(a_list_comes_from_a_cursor_with_its_length),
        cmocka_unit_test(a_waiting_cursor_is_woken),
        cmocka_unit_test(a_stalled_reader_costs_no_copies),
        cmocka_unit_test(a_stalled_reader_is_freed),
        cmocka_unit_test(a_slow_reader_that_takes_something_stays),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
