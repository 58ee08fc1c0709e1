#include "test/api/echo_rig.h"

#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct echo_tls echo_tls;

int echo_rig_setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    certs_init(&echo_tls.certs);
    echo_tls.server = certs_make(&echo_tls.certs, "server", "bbs", "bbs", 3600);
    echo_tls.client = certs_make(&echo_tls.certs, "client", "rep", "cell-1", 3600);
    return 0;
}

int echo_rig_teardown(void **state)
{
    certs_done(&echo_tls.certs);
    return 0;
}

struct http_server_config echo_quick(void)
{
    return (struct http_server_config){
        .tls = echo_tls.server,
        .times = {.handshake_ms = 1000, .head_ms = 500, .body_ms = 700, .idle_ms = 1000,
                  .stall_ms = 1000, .linger_ms = 1000}};
}

void echo_connect(struct echo_rig *w, struct tls_client *c)
{
    struct patience p = {0};
    while (!client_open(c, w->server.port, &echo_tls.client, 0)) {
        client_close(c);
        assert_true(patience(&p));
    }
}

void echo_begin_with(struct echo_rig *w, const struct http_server_config *config)
{
    buf_init(&w->head);
    buf_init(&w->body);
    echo_server_start(&w->server, config, 0, -1);
    echo_connect(w, &w->client);
}

void echo_begin(struct echo_rig *w)
{
    struct http_server_config config = {.tls = echo_tls.server};
    echo_begin_with(w, &config);
}

void echo_end(struct echo_rig *w)
{
    client_close(&w->client);
    buf_done(&w->head);
    buf_done(&w->body);
    assert_true(echo_server_stop(&w->server));
}

void echo_again(struct echo_rig *w)
{
    client_close(&w->client);
    echo_connect(w, &w->client);
}

int echo_ask(struct echo_rig *w, const char *method, const char *target, const char *data)
{
    return client_ask(&w->client, method, target, data, strlen(data), &w->body);
}

int echo_ask_again(struct echo_rig *w, const char *method, const char *target, const char *data)
{
    int status = 0;
    for (struct patience p = {0}; !status && patience(&p);) {
        echo_again(w);
        status = echo_ask(w, method, target, data);
    }
    return status;
}

long echo_number(struct echo_rig *w, const char *target, const char *name)
{
    struct tls_client c;
    SCOPED_BUF(body);
    echo_connect(w, &c);
    for (struct patience p = {0}; client_ask(&c, "GET", target, "", 0, &body) != 200;) {
        assert_true(patience(&p));
        client_close(&c);
        echo_connect(w, &c);
    }
    const char *at = strstr(buf_string(&body), name);
    assert_non_null(at);
    long n = strtol(at + strlen(name) + 1, NULL, 10);
    client_close(&c);
    return n;
}

void echo_becomes(struct echo_rig *w, const char *target, const char *name, long value)
{
    for (struct patience p = {0}; echo_number(w, target, name) != value && patience(&p);) {
    }
    assert_int_equal(echo_number(w, target, name), value);
}
