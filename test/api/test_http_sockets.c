/* The HTTP server shell: whose connections are served, how their bytes go out, and what happens
 * when descriptors run out. */
#include "test/api/echo_rig.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct certs strange_certs;

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
    struct echo_rig w;
    echo_begin(&w);
    struct tls_files none = {.ca = echo_tls.client.ca};
    struct tls_files expired = certs_make(&echo_tls.certs, "expired", "rep", "cell-1", -60);
    struct tls_files strange = certs_make(&strange_certs, "strange", "rep", "cell-1", 3600);
    strange.ca = echo_tls.client.ca;
    assert_true(served(w.server.port, &echo_tls.client));
    assert_false(served(w.server.port, &none));
    assert_false(served(w.server.port, &expired));
    assert_false(served(w.server.port, &strange));
    assert_int_equal(echo_number(&w, "/counts", "requests"), 2);
    echo_end(&w);
}

/* Who waits for a rep that does not come finds in the log which machine it is and what it lacks. */
static void a_refused_certificate_is_reported_with_its_fault(void **state)
{
    struct echo_server server;
    struct http_server_config config = {.tls = echo_tls.server};
    struct tls_files expired = certs_make(&echo_tls.certs, "expired", "rep", "cell-1", -60);
    char text[4096];
    FILE *log = tmpfile();
    assert_non_null(log);
    echo_server_start(&server, &config, 0, fileno(log));
    assert_false(served(server.port, &expired));
    assert_true(echo_server_stop(&server));
    rewind(log);
    text[fread(text, 1, sizeof(text) - 1, log)] = '\0';
    fclose(log);
    assert_non_null(strstr(text,
                           "\"no TLS with a peer\" address=127.0.0.1 reason=\"certificate verify "
                           "failed: certificate has expired\""));
}

static void plain_text_is_refused(void **state)
{
    struct echo_rig w;
    echo_begin(&w);
    struct tls_client c;
    assert_true(client_open(&c, w.server.port, NULL, 0));
    assert_true(client_print(&c, "GET /counts HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(client_closed(&c, CLIENT_WAIT_MS));
    assert_true(c.input.size < 8); /* at most a TLS alert */
    client_close(&c);
    echo_end(&w);
}

static SSL *no_ssl(SSL_CTX *ctx)
{
    return NULL;
}

static void a_connection_that_gets_no_tls_is_refused(void **state)
{
    struct http_server_config config = {.tls = echo_tls.server, .ssl_new = no_ssl};
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
    /* The certificates of a local cluster, as its script makes them. */
    char dir[80], ca[96], cert[96], key[96], command[200];
    snprintf(dir, sizeof(dir), "%s.script", echo_tls.certs.dir);
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
            SCOPED_BUF(body);
            assert_int_equal(client_ask(&c, "GET", "/who", "", 0, &body), 200);
            assert_memory_equal(buf_string(&body), "rep|cell-1|", 11);
        }
        client_close(&c);
    }
    assert_true(echo_server_stop(&server));
    snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---- Sockets ------------------------------------------------------------------------------- */

/* Without TCP_NODELAY an answer in two writes waits for the peer's delayed acknowledgement: 40 ms
 * each, 23 a second (design.md 8). However slow the machine, some answers do not take that long;
 * those that wait take it all, but for the first ones of a connection. */
static void answers_do_not_wait_for_acknowledgements(void **state)
{
    enum { DELAY_MS = 35, FIRST = 50, QUICK = 50 };
    struct echo_rig w;
    echo_begin(&w);
    int quick = 0, asked = 0;
    for (struct patience p = {0}; quick < QUICK && patience_lasts(&p); asked++) {
        int64_t from_ms = patience_now_ms();
        assert_int_equal(echo_ask(&w, "GET", "/chunks?10", ""), 200);
        quick += asked >= FIRST && patience_now_ms() - from_ms < DELAY_MS;
    }
    print_message("%d of %d answers were quick\n", quick, asked - FIRST);
    assert_int_equal(quick, QUICK);
    echo_end(&w);
}

static void accepting_stops_below_the_descriptor_limit_and_resumes(void **state)
{
    enum { FILES = 64, ROOM = FILES - HTTP_SPARE_FILES, CLIENTS = 2 * FILES };
    struct http_server_config config = {.tls = echo_tls.server};
    struct echo_server server;
    struct tls_client clients[CLIENTS];
    SCOPED_BUF(body);
    echo_server_start(&server, &config, FILES, -1);
    for (int i = 0; i < ROOM; i++) {
        assert_true(client_open(&clients[i], server.port, &echo_tls.client, 0));
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
    assert_true(client_open(&late, server.port, &echo_tls.client, 0));
    assert_int_equal(client_ask(&late, "GET", "/counts", "", 0, &body), 200);
    client_close(&late);
    client_close(&clients[0]);
    assert_true(echo_server_stop(&server));
}

/* Descriptors that others in the process hold are not counted: accept() itself fails. */
/* A connection from this address that says nothing. */
static int silent_from(int port, const char *from)
{
    struct sockaddr_in at = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(inet_pton(AF_INET, from, &at.sin_addr), 1);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)port);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static bool cut_off(int fd)
{
    char c;
    ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

/* Silent connections hold all places. The oldest of the address that has most of them yields;
 * whoever has done its handshake stays, though it says nothing either. */
static void silent_connections_yield(void **state)
{
    enum { PLACES = 8, MANY = PLACES - 3 };
    struct http_server_config config = {.tls = echo_tls.server,
                                        .times = {.handshake_ms = 4 * PATIENCE_MS},
                                        .connections_max = PLACES};
    struct echo_rig w;
    struct tls_client quiet, newcomer;
    int many[MANY];
    echo_begin_with(&w, &config); /* one that is used */
    assert_int_equal(echo_ask(&w, "POST", "/small", "x"), 200);
    echo_connect(&w, &quiet); /* one that is kept warm */
    int alone = silent_from(w.server.port, "127.0.0.3");
    for (int i = 0; i < MANY; i++) {
        many[i] = silent_from(w.server.port, "127.0.0.2");
    }
    echo_connect(&w, &newcomer);
    SCOPED_BUF(answer);
    assert_int_equal(client_ask(&newcomer, "POST", "/small", "x", 1, &answer), 200);
    assert_true(cut_off(many[0]));
    assert_false(cut_off(many[MANY - 1]));
    assert_false(cut_off(alone));
    assert_int_equal(echo_ask(&w, "POST", "/small", "x"), 200);
    assert_int_equal(client_ask(&quiet, "POST", "/small", "x", 1, &answer), 200);
    client_close(&quiet);
    client_close(&newcomer);
    close(alone);
    for (int i = 0; i < MANY; i++) {
        close(many[i]);
    }
    echo_end(&w);
}

static void accepting_pauses_when_descriptors_run_out(void **state)
{
    enum { FILES = 128, WAITING = 5 };
    struct http_server_config config = {.tls = echo_tls.server};
    struct echo_server server;
    struct tls_client first, waiting[WAITING];
    SCOPED_BUF(body);
    long cpu_ms = 0, before_ms = 0;
    echo_server_start(&server, &config, FILES, -1);
    assert_true(client_open(&first, server.port, &echo_tls.client, 0));
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
    assert_int_equal(sscanf(buf_string(&body), "connections=%*d heap_kb=%*d cpu_ms=%ld", &cpu_ms),
                     1);
    struct tls_client late;
    assert_true(client_open(&late, server.port, &echo_tls.client, 0));
    assert_int_equal(client_ask(&late, "GET", "/counts", "", 0, &body), 200);
    assert_true(cpu_ms - before_ms < 200); /* it did not spin for the half second */
    client_close(&late);
    client_close(&first);
    for (int i = 0; i < WAITING; i++) {
        client_close(&waiting[i]);
    }
    assert_true(echo_server_stop(&server));
}
/* ---- All of it ----------------------------------------------------------------------------- */

static int setup(void **state)
{
    certs_init(&strange_certs);
    return echo_rig_setup(state);
}

static int teardown(void **state)
{
    certs_done(&strange_certs);
    return echo_rig_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_certificates_of_our_ca_are_served),
        cmocka_unit_test(a_refused_certificate_is_reported_with_its_fault),
        cmocka_unit_test(plain_text_is_refused),
        cmocka_unit_test(a_connection_that_gets_no_tls_is_refused),
        cmocka_unit_test(versions_below_1_2_are_refused_and_1_2_serves_rsa),
        cmocka_unit_test(answers_do_not_wait_for_acknowledgements),
        cmocka_unit_test(accepting_stops_below_the_descriptor_limit_and_resumes),
        cmocka_unit_test(silent_connections_yield),
        cmocka_unit_test(accepting_pauses_when_descriptors_run_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
