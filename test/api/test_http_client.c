/* The HTTP client shell against servers that behave and servers that do not. */
#include "common/shell/http_client_io.h"
#include "common/shell/names_io.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"
#include "test/tool/echo_server.h"
#include "test/tool/patience.h"
#include "test/tool/slow_name.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct certs certs, strange_certs;
static struct tls_files server_files, client_files;

/* Events of one id, as they came. */
struct told {
    size_t responses, events, closes;
    struct response response; /* strings and body are not kept */
    char type[64], etag[64], text[256];
    int status;
    struct buf data;
    size_t largest;
    char target[64], body[32]; /* of one that is to be answered; empty: of any other */
};

enum { IDS = 256, STEP_MS = 5 };

struct world {
    struct echo_server server;
    struct event_base *base;
    struct http_client *client;
    struct told told[IDS];
    uint64_t cancel_on_data; /* cancels this one when its first data come */
    bool calling; /* inside a function of the client: events would be wrong now */
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int64_t in_ms(int64_t ms)
{
    return now_ns() + ms * MILLISECOND_NS;
}

static void on_response(void *context, const struct response *r)
{
    struct world *w = context;
    struct told *t = &w->told[r->id];
    assert_false(w->calling);
    t->responses++;
    t->response = *r;
    snprintf(t->type, sizeof(t->type), "%s", r->content_type);
    snprintf(t->etag, sizeof(t->etag), "%s", r->etag);
    snprintf(t->text, sizeof(t->text), "%s", r->text);
    buf_append(&t->data, r->body.data, r->body.size);
}

static void on_stream(void *context, const struct stream_event *n)
{
    struct world *w = context;
    struct told *t = &w->told[n->id];
    assert_false(w->calling);
    t->events++;
    t->status = n->status;
    t->closes += n->closed;
    snprintf(t->text, sizeof(t->text), "%s", n->text);
    buf_append(&t->data, n->data.data, n->data.size);
    t->largest = n->data.size > t->largest ? n->data.size : t->largest;
    if (n->data.size && w->cancel_on_data == n->id) {
        w->cancel_on_data = 0;
        http_client_cancel(w->client, n->id);
    }
}

static void begin(struct world *w)
{
    struct http_server_config config = {.tls = server_files};
    *w = (struct world){0};
    for (int i = 0; i < IDS; i++) {
        buf_init(&w->told[i].data);
    }
    echo_server_start(&w->server, &config, 0, -1);
    struct http_client_handlers handlers = {
        .on_response = on_response, .on_stream = on_stream, .context = w};
    w->base = event_base_new();
    w->client = http_client_new(&client_files, w->base, &handlers);
}

static void end(struct world *w)
{
    http_client_free(w->client);
    event_base_free(w->base);
    for (int i = 0; i < IDS; i++) {
        buf_done(&w->told[i].data);
    }
    assert_true(echo_server_stop(&w->server));
}

static void turn(struct world *w)
{
    struct timeval tv = {.tv_usec = STEP_MS * 1000};
    event_base_loopexit(w->base, &tv);
    event_base_dispatch(w->base);
}

static void call(struct world *w, uint64_t id, const char *target, const char *body);

/* Turns the loop until the response (the close, for a subscription) of this id has come. On a
 * machine that is too slow for a handshake within HTTP_CONNECT_MS, what is to be answered is asked
 * again: nothing of it was sent. */
static void await(struct world *w, uint64_t id)
{
    struct told *t = &w->told[id];
    for (struct patience p = {0}; patience_lasts(&p);) {
        if (t->responses && *t->target && t->response.outcome == CALL_REFUSED) {
            /* It may have come while others were awaited. */
            print_message("asked again: %s\n", t->text);
            t->responses = 0;
            call(w, id, t->target, t->body);
        }
        if (t->responses || t->closes) {
            break;
        }
        turn(w);
    }
    assert_int_equal(t->responses + t->closes, 1);
}

static void call_at(struct world *w, uint64_t id, const char *url, const char *body,
                    int64_t deadline_ns)
{
    struct call c = {.id = id, .method = *body ? "POST" : "GET", .url = url,
                     .content_type = *body ? "application/x-test" : "", .accept = "text/a",
                     .if_none_match = "\"v1\"", .trace_id = "trace", .body = bytes_of(body),
                     .deadline_ns = deadline_ns};
    w->calling = true;
    http_client_call(w->client, &c);
    w->calling = false;
}

static void call(struct world *w, uint64_t id, const char *target, const char *body)
{
    char url[256];
    struct told *t = &w->told[id];
    memmove(t->target, target, strlen(target) + 1);
    memmove(t->body, body, strlen(body) + 1);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d%s", w->server.port, target);
    call_at(w, id, url, body, in_ms(PATIENCE_MS));
}

static void subscribe(struct world *w, uint64_t id, const char *target)
{
    char url[256];
    snprintf(url, sizeof(url), "https://127.0.0.1:%d%s", w->server.port, target);
    struct call c = {.id = id, .method = "POST", .url = url, .content_type = "", .accept = "",
                     .if_none_match = "", .trace_id = "", .deadline_ns = NEVER_NS};
    w->calling = true;
    http_client_subscribe(w->client, &c);
    w->calling = false;
}

static void is(struct told *t, enum call_outcome outcome)
{
    if (t->response.outcome != outcome) {
        print_message("%s\n", t->text);
    }
    assert_int_equal(t->response.outcome, outcome);
}

/* ---- Calls --------------------------------------------------------------------------------- */

static void a_call_is_answered(void **state)
{
    struct world w;
    begin(&w);
    call(&w, 1, "/echo", "hello");
    await(&w, 1);
    is(&w.told[1], CALL_ANSWERED);
    assert_int_equal(w.told[1].response.status, 200);
    assert_string_equal(buf_string(&w.told[1].data), "hello");
    assert_string_equal(w.told[1].type, "application/x-echo");
    assert_string_equal(w.told[1].etag, "tag");
    call(&w, 2, "/who?x=1", "");
    await(&w, 2);
    assert_string_equal(buf_string(&w.told[2].data),
                        "bbs|bbs-1|GET|/who|x=1|trace|text/a||\"v1\"");
    call(&w, 3, "/who", "b");
    await(&w, 3);
    assert_string_equal(buf_string(&w.told[3].data),
                        "bbs|bbs-1|POST|/who||trace|text/a|application/x-test|\"v1\"");
    call(&w, 4, "/status?503", "b");
    await(&w, 4);
    is(&w.told[4], CALL_ANSWERED);
    assert_int_equal(w.told[4].response.status, 503);
    call(&w, 5, "/chunks?3000000", "");
    await(&w, 5);
    is(&w.told[5], CALL_ANSWERED);
    assert_int_equal(w.told[5].data.size, 3000000);
    end(&w);
}

static void many_calls_share_few_connections(void **state)
{
    struct world w;
    begin(&w);
    for (uint64_t id = 1; id < 200; id++) {
        call(&w, id, "/echo", "x");
    }
    for (uint64_t id = 1; id < 200; id++) {
        await(&w, id);
        is(&w.told[id], CALL_ANSWERED);
    }
    call(&w, 200, "/stats", "");
    await(&w, 200);
    long connections = 0;
    assert_int_equal(sscanf(buf_string(&w.told[200].data), "connections=%ld", &connections), 1);
    assert_in_range(connections, 1, HTTP_PEER_CONNECTIONS);
    end(&w);
}

static void a_dead_server_refuses_and_a_silent_one_leaves_it_unknown(void **state)
{
    struct world w;
    begin(&w);
    char url[64];
    int port = w.server.port;
    /* Nobody listens. */
    call_at(&w, 1, "https://127.0.0.1:1/x", "b", in_ms(PATIENCE_MS));
    await(&w, 1);
    is(&w.told[1], CALL_REFUSED);
    assert_true(*w.told[1].text);
    /* Listens and never answers a handshake: nothing was sent of the request. */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/x", ntohs(at.sin_port));
    int64_t from_ns = now_ns();
    call_at(&w, 2, url, "b", in_ms(300));
    call_at(&w, 3, url, "b", NEVER_NS); /* ended by the connect time-out */
    await(&w, 2);
    is(&w.told[2], CALL_REFUSED);
    assert_true(now_ns() - from_ns >= 290 * MILLISECOND_NS);
    await(&w, 3);
    is(&w.told[3], CALL_REFUSED);
    assert_true(now_ns() - from_ns >= (HTTP_CONNECT_MS - 100) * MILLISECOND_NS);
    close(fd);
    /* Takes the request and does not answer. The deadline must leave time to send it. */
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/never", port);
    uint64_t id = 10;
    for (int64_t limit_ms = 300; limit_ms < PATIENCE_MS; limit_ms *= 2) {
        from_ns = now_ns();
        call_at(&w, ++id, url, "b", in_ms(limit_ms));
        await(&w, id);
        assert_true(w.told[id].response.outcome == CALL_REFUSED ||
                    now_ns() - from_ns >= (limit_ms - 10) * MILLISECOND_NS);
        if (w.told[id].response.outcome != CALL_REFUSED) {
            break;
        }
    }
    is(&w.told[id], CALL_UNKNOWN);
    assert_string_equal(w.told[id].text, "no answer before the deadline");
    /* A deadline that has passed. */
    call_at(&w, 5, url, "b", in_ms(-1000));
    await(&w, 5);
    is(&w.told[5], CALL_REFUSED);
    /* Breaks in the middle of an answer. */
    call(&w, 6, "/short?100000", "");
    await(&w, 6);
    is(&w.told[6], CALL_UNKNOWN);
    end(&w);
}

/* ---- Names --------------------------------------------------------------------------------- */

/* A name server that is away keeps libcurl's thread for half a minute: the loop does not wait for
 * it. */
static void a_name_that_is_looked_up_holds_nobody_up(void **state)
{
    struct world w;
    begin(&w);
    slow_name_begin();
    call_at(&w, 1, "https://" SLOW_NAME "/x", "b", in_ms(100));
    await(&w, 1);
    is(&w.told[1], CALL_REFUSED);
    assert_int_equal(slow_name_sought(), 1);
    call_at(&w, 2, "https://" SLOW_NAME "/x", "", in_ms(PATIENCE_MS));
    turn(&w);
    http_client_cancel(w.client, 2);
    call(&w, 3, "/echo", "b");
    await(&w, 3);
    is(&w.told[3], CALL_ANSWERED);
    call_at(&w, 4, "https://" SLOW_NAME "/x", "b", in_ms(PATIENCE_MS));
    end(&w);
    assert_int_equal(slow_name_ended(), 0);
    slow_name_end();
}

/* Many calls to one name share a lookup; many names have so many threads and no more, and those
 * that nobody waits for any more have none. */
static void a_dead_name_server_costs_few_threads(void **state)
{
    enum { MANY = 40 };
    char url[100];
    struct world w;
    begin(&w);
    slow_name_begin();
    for (uint64_t i = 1; i <= MANY; i++) {
        call_at(&w, i, "https://" SLOW_NAME "/x", "", in_ms(200));
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        await(&w, i);
        is(&w.told[i], CALL_REFUSED);
    }
    assert_int_equal(slow_name_sought(), 1);
    for (int i = 1; i <= MANY; i++) {
        snprintf(url, sizeof(url), "https://%d." SLOW_NAME "/x", i);
        call_at(&w, (uint64_t)(MANY + i), url, "", in_ms(200));
    }
    for (uint64_t i = MANY + 1; i <= 2 * MANY; i++) {
        await(&w, i);
        is(&w.told[i], CALL_REFUSED);
    }
    for (struct patience p = {0}; slow_name_sought() < NAMES_AT_ONCE && patience_lasts(&p);) {
        turn(&w);
    }
    slow_name_end();
    for (struct patience p = {0}; slow_name_ended() < NAMES_AT_ONCE && patience_lasts(&p);) {
        turn(&w);
    }
    call(&w, 2 * MANY + 1, "/echo", "b"); /* the loop has turned: none of the rest was begun */
    await(&w, 2 * MANY + 1);
    is(&w.told[2 * MANY + 1], CALL_ANSWERED);
    assert_int_equal(slow_name_sought(), NAMES_AT_ONCE);
    end(&w);
}

/* A body that went out on a reused connection that broke is not sent again by itself: the first one
 * may have been carried out. */
static void a_call_is_never_sent_twice(void **state)
{
    struct world w;
    begin(&w);
    call(&w, 1, "/echo", "warm the connection");
    await(&w, 1);
    /* The server cuts the connection before the first byte of its answer. */
    call(&w, 2, "/short?1", "not twice");
    await(&w, 2);
    is(&w.told[2], CALL_UNKNOWN);
    print_message("%s\n", w.told[2].text);
    call(&w, 3, "/counts", "");
    await(&w, 3);
    assert_non_null(strstr(buf_string(&w.told[3].data), "requests=3 "));
    end(&w);
}

static void the_server_must_be_who_it_should_be(void **state)
{
    struct world w;
    begin(&w);
    struct tls_files other_name = certs_make_for(&certs, "other", "bbs", "bbs-1", 3600,
                                                 "DNS:example.com");
    struct tls_files strange = certs_make(&strange_certs, "strange", "bbs", "bbs-1", 3600);
    const struct tls_files *files[] = {&other_name, &strange};
    for (uint64_t i = 0; i < 2; i++) {
        struct http_server_config config = {.tls = *files[i]};
        struct echo_server bad;
        char url[64];
        config.tls.ca = i ? strange_certs.names[0] : certs.names[0];
        echo_server_start(&bad, &config, 0, -1);
        snprintf(url, sizeof(url), "https://127.0.0.1:%d/echo", bad.port);
        call_at(&w, 1 + i, url, "secret", in_ms(PATIENCE_MS));
        await(&w, 1 + i);
        is(&w.told[1 + i], CALL_REFUSED);
        print_message("%s\n", w.told[1 + i].text);
        assert_true(echo_server_stop(&bad));
    }
    call_at(&w, 9, "http://127.0.0.1:1/", "", in_ms(PATIENCE_MS)); /* plain text is not spoken */
    await(&w, 9);
    is(&w.told[9], CALL_REFUSED);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    call(&w, 10, "/echo", "past the proxy");
    await(&w, 10);
    is(&w.told[10], CALL_ANSWERED);
    unsetenv("https_proxy");
    end(&w);
}

static void a_cancelled_call_is_silent(void **state)
{
    struct world w;
    begin(&w);
    call(&w, 1, "/never", "b");
    call(&w, 2, "/echo", "b");
    http_client_cancel(w.client, 2); /* before it began */
    for (int i = 0; i < 40; i++) {
        turn(&w);
    }
    http_client_cancel(w.client, 1);
    http_client_cancel(w.client, 77); /* unknown: let be */
    call(&w, 1, "/echo", "the id is free again");
    await(&w, 1);
    is(&w.told[1], CALL_ANSWERED);
    for (int i = 0; i < 20; i++) {
        turn(&w);
    }
    assert_int_equal(w.told[1].responses, 1);
    assert_int_equal(w.told[2].responses, 0);
    end(&w);
}

/* ---- Subscriptions ------------------------------------------------------------------------- */

static void a_stream_is_told_from_head_to_end(void **state)
{
    struct world w;
    begin(&w);
    subscribe(&w, 1, "/chunks?1000000");
    await(&w, 1);
    struct told *t = &w.told[1];
    assert_int_equal(t->status, 200);
    assert_int_equal(t->data.size, 1000000);
    for (size_t i = 0; i < 1000000; i += 997) {
        assert_int_equal(t->data.data[i], 'a' + i % 26);
    }
    assert_true(t->largest <= HTTP_STREAM_BYTES);
    subscribe(&w, 2, "/status?503");
    await(&w, 2);
    assert_int_equal(w.told[2].status, 503);
    /* The head is told before any data. */
    subscribe(&w, 3, "/stream");
    for (struct patience p = {0}; !w.told[3].events && patience_lasts(&p);) {
        turn(&w);
    }
    assert_int_equal(w.told[3].events, 1);
    assert_int_equal(w.told[3].status, 200);
    assert_int_equal(w.told[3].data.size, 0);
    call(&w, 4, "/publish", "news");
    await(&w, 4);
    for (struct patience p = {0}; w.told[3].data.size < 4 && patience_lasts(&p);) {
        turn(&w);
    }
    assert_string_equal(buf_string(&w.told[3].data), "news");
    /* Its end: broken off, so not at a chunk's end. */
    call(&w, 5, "/cut", "");
    await(&w, 3);
    assert_true(*w.told[3].text);
    subscribe(&w, 6, "/short?100");
    await(&w, 6);
    assert_int_equal(w.told[6].closes, 1);
    end(&w);
}

static void a_stream_can_be_cancelled_while_it_gives(void **state)
{
    struct world w;
    begin(&w);
    w.cancel_on_data = 1;
    subscribe(&w, 1, "/flood");
    for (struct patience p = {0}; !w.told[1].data.size && patience_lasts(&p);) {
        turn(&w);
    }
    size_t size = w.told[1].data.size;
    assert_in_range(size, 1, HTTP_STREAM_BYTES);
    for (int i = 0; i < 20; i++) {
        turn(&w);
    }
    assert_int_equal(w.told[1].data.size, size);
    assert_int_equal(w.told[1].closes, 0);
    /* Its connection is gone too. */
    bool gone = false;
    for (struct patience p = {0}; !gone && patience(&p);) {
        buf_clear(&w.told[10].data);
        w.told[10].responses = 0;
        call(&w, 10, "/counts", "");
        await(&w, 10);
        gone = strstr(buf_string(&w.told[10].data), "cursors=0");
    }
    assert_true(gone);
    end(&w);
}

static void freeing_drops_everything(void **state)
{
    struct world w;
    begin(&w);
    subscribe(&w, 1, "/flood");
    subscribe(&w, 2, "/stream");
    call(&w, 3, "/never", "b");
    for (int i = 0; i < 20; i++) {
        turn(&w);
    }
    call(&w, 4, "/echo", "b");
    end(&w);
    assert_int_equal(w.told[1].closes + w.told[2].closes + w.told[3].responses, 0);
}

static int setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    certs_init(&strange_certs);
    server_files = certs_make(&certs, "server", "bbs", "bbs", 3600);
    client_files = certs_make(&certs, "client", "bbs", "bbs-1", 3600);
    return 0;
}

static int teardown(void **state)
{
    certs_done(&certs);
    certs_done(&strange_certs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_answered),
        cmocka_unit_test(many_calls_share_few_connections),
        cmocka_unit_test(a_dead_server_refuses_and_a_silent_one_leaves_it_unknown),
        cmocka_unit_test(a_name_that_is_looked_up_holds_nobody_up),
        cmocka_unit_test(a_dead_name_server_costs_few_threads),
        cmocka_unit_test(a_call_is_never_sent_twice),
        cmocka_unit_test(the_server_must_be_who_it_should_be),
        cmocka_unit_test(a_cancelled_call_is_silent),
        cmocka_unit_test(a_stream_is_told_from_head_to_end),
        cmocka_unit_test(a_stream_can_be_cancelled_while_it_gives),
        cmocka_unit_test(freeing_drops_everything),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
