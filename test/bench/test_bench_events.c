/* What event streams cost: memory of idle ones, the time from a start's answer to its event, and
 * what a hundred subscribers take from the rate of desires. Beside bare etcd on the same machine in
 * the same run: the ratios are the result. test_bench_events [--streams N] [--rounds N] Subscribers
 * are in a process of their own. In the last part they take the bytes off their sockets
 * undecrypted, so that not their decryption is measured, which elsewhere is other machines' work.
 */
#include <getopt.h>
#include <openssl/err.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/contract/moment.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "test/bench/bench_figures.h"
#include "test/bench/bench_io.h"
#include "test/bench/bench_requests.h"
#include "test/tool/bbs_process.h"
#include "test/tool/certs.h"

enum {
    STREAMS_DEFAULT = 10000,
    STREAMS_MAX = 16384,
    SUBSCRIBERS = 100,
    STARTS = 500,
    WIDTH = 16,
    UNITS = 2000,
    SETTLE_MS = 2000,
};

static struct certs certs;
static struct etcd_server etcd;
static struct bbs_process bbs;

/* ---- subscribers that only take ---- */

/* Opens one stream and gives its socket, -1 when the bbs refuses. Its TLS is let go of, which the
 * bbs does not notice. */
static int open_stream(SSL_CTX *ctx)
{
    static const char request[] =
        "POST /v1/events/lrp_instances.r1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    struct tls_client c;
    if (!client_open(&c, bbs.port, NULL, 0)) {
        return -1;
    }
    SSL *ssl = SSL_new(ctx);
    char head[1024] = "";
    SSL_set_fd(ssl, c.fd);
    SSL_set_quiet_shutdown(ssl, 1);
    bool good = SSL_connect(ssl) == 1 && SSL_write(ssl, request, sizeof(request) - 1) > 0 &&
                SSL_read(ssl, head, sizeof(head) - 1) > 0 &&
                strncmp(head, "HTTP/1.1 200", 12) == 0;
    SSL_free(ssl);
    return good ? c.fd : -1;
}

static SSL_CTX *client_context(void)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_use_certificate_file(ctx, bbs.client.cert, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(ctx, bbs.client.key, SSL_FILETYPE_PEM) != 1) {
        abort();
    }
    return ctx;
}

static void take_for_ever(int epoll)
{
    static char nothing[256 * 1024];
    struct epoll_event events[64];
    for (;;) {
        int n = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < n; i++) {
            if (recv(events[i].data.fd, nothing, sizeof(nothing), MSG_DONTWAIT) == 0) {
                fprintf(stderr, "bench: a subscriber was cut off\n");
                _exit(1);
            }
        }
    }
}

/* A process with so many streams; gives its id when all are open. */
static pid_t subscribe(int streams)
{
    int ready[2];
    char word = 0;
    if (pipe(ready) < 0) {
        abort();
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        SSL_CTX *ctx = client_context();
        int epoll = epoll_create1(EPOLL_CLOEXEC);
        for (int i = 0; i < streams; i++) {
            struct epoll_event e = {.events = EPOLLIN};
            e.data.fd = open_stream(ctx);
            if (e.data.fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, e.data.fd, &e) < 0) {
                fprintf(stderr, "bench: stream %d of %d was refused\n", i, streams);
                _exit(1);
            }
        }
        if (write(ready[1], "r", 1) == 1) {
            take_for_ever(epoll);
        }
        _exit(1);
    }
    close(ready[1]);
    bool good = read(ready[0], &word, 1) == 1;
    close(ready[0]);
    if (!good) {
        exit(1);
    }
    return pid;
}

static void unsubscribe(pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) { /* it told why */
        exit(1);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    usleep(SETTLE_MS * 1000);
    bbs_process_wait_ready(&bbs); /* it has 10,000 hang-ups to see to first */
}

/* ---- idle streams ---- */

/* Private memory and its share of what it shares, in KiB. */
static double memory_kib(pid_t pid)
{
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f)) {
        sscanf(line, "Pss: %lf", &kib);
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

static void measure_idle(int streams)
{
    char text[80];
    pid_t warm = subscribe(1);
    double before = memory_kib(bbs.pid);
    int64_t at = bench_now_ns();
    pid_t pid = subscribe(streams);
    double took_ms = (double)(bench_now_ns() - at) / 1e6;
    usleep(SETTLE_MS * 1000);
    double each = (memory_kib(bbs.pid) - before) / streams;
    snprintf(text, sizeof(text), "memory of an idle event stream, of %d", streams);
    bench_row(text, each, "KiB", 40, "the budget of docs/design.md");
    bench_row("opening one, with its handshake", took_ms / streams, "ms", 1, "a millisecond");
    unsubscribe(pid);
    unsubscribe(warm);
}

/* ---- from answer to event ---- */

static const ProtobufCMessage *desire_many(void *context, struct arena *a, int unit, int step,
                                           const char **ret_path)
{
    (void)context, (void)unit, (void)step;
    struct bench_process p = {"latency", STARTS, 0};
    return bench_desire(a, &p, ret_path);
}

static void ask(struct tls_client *c, const char *path, const ProtobufCMessage *m)
{
    SCOPED_BUF(body);
    buf_message(&body, m);
    client_print(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", path, body.size);
    client_write(c, body.data, body.size);
}

/* Asks for one move and gives when its answer and when its event came, whichever is first. */
static void one_move(struct tls_client *c, struct subscriber *s, const char *path,
                     const ProtobufCMessage *m, int64_t *ret_answered, int64_t *ret_told)
{
    struct stream_item item = {0};
    int64_t give_up = bench_now_ns() + BENCH_ANSWER_MS * MILLISECOND_NS;
    *ret_answered = *ret_told = 0;
    ask(c, path, m);
    while ((!*ret_answered || !*ret_told) && bench_now_ns() < give_up) {
        struct pollfd fds[] = {{.fd = c->fd, .events = POLLIN},
                               {.fd = s->client.fd, .events = POLLIN}};
        poll(fds, 2, 100);
        if (fds[0].revents && !*ret_answered) {
            *ret_answered = bench_now_ns();
            client_answer(c, NULL, NULL, false);
        }
        if (fds[1].revents && subscriber_next(s, 100, &item) && !*ret_told) {
            *ret_told = bench_now_ns();
        }
    }
    buf_done(&item.payload);
}

static void measure_latency(struct bench *b, double single_ms)
{
    static struct samples late, took;
    struct subscriber s;
    struct tls_client c;
    SCOPED_ARENA(a);
    if (bench_load(b, 1, 1, 1, desire_many, NULL).failures ||
        !client_open(&c, bbs.port, &bbs.client, 0)) {
        exit(1);
    }
    subscriber_open(&s, &bbs, "POST", "/v1/events/lrp_instances.r1", NULL, 0);
    for (int i = 0; i < STARTS; i++) {
        const char *path, *guid = arena_printf(&a, "guid-%d", i);
        int64_t answered, told, at;
        one_move(&c, &s, "/v1/actual_lrps/claim", bench_claim(&a, "latency", i, guid, &path),
                 &answered, &told);
        const ProtobufCMessage *start = bench_start(&a, "latency", i, guid, &path);
        at = bench_now_ns();
        one_move(&c, &s, path, start, &answered, &told);
        bench_add(&late, (double)(told - answered) / 1e6);
        bench_add(&took, (double)(answered - at) / 1e6);
    }
    bench_row("start's answer to its event, p50", bench_percentile(&late, 50), "ms", single_ms,
              "etcd, a single-record txn, mean ms");
    bench_row("start's answer to its event, p99", bench_percentile(&late, 99), "ms", single_ms,
              "etcd, a single-record txn, mean ms");
    bench_row("start, p50", bench_percentile(&took, 50), "ms", single_ms,
              "etcd, a single-record txn, mean ms");
    subscriber_close(&s);
    client_close(&c);
}

/* ---- desires beside subscribers ---- */

static const ProtobufCMessage *desire_one(void *context, struct arena *a, int unit, int step,
                                          const char **ret_path)
{
    const int *round = context;
    struct bench_process p = {arena_printf(a, "rate-%d-%d", *round, unit), 1, 0};
    return bench_desire(a, &p, ret_path);
}

/* How many a second, and what the bbs computes for each. */
static void load(struct bench *b, int width, int name, struct samples *rate, struct samples *us)
{
    double before = bench_processor_us(bbs.pid);
    bench_add(rate, bench_load(b, width, UNITS, 1, desire_one, &name).per_second);
    bench_add(us, (bench_processor_us(bbs.pid) - before) / UNITS);
}

static void measure_rate(struct bench *b, struct etcd_bench *e, int rounds)
{
    static struct samples alone, beside, single, alone_us, beside_us;
    static struct samples one, one_us, one_beside, one_beside_us;
    for (int round = 0; round < 4 * rounds; round += 4) {
        bench_add(&single, etcd_bench_load(e, WIDTH, UNITS, 1).per_second);
        load(b, WIDTH, round, &alone, &alone_us);
        load(b, 1, round + 1, &one, &one_us);
        pid_t pid = subscribe(SUBSCRIBERS);
        load(b, WIDTH, round + 2, &beside, &beside_us);
        load(b, 1, round + 3, &one_beside, &one_beside_us);
        unsubscribe(pid);
    }
    double base = bench_median(&single);
    bench_row("desire, 16 clients, no subscriber", bench_median(&alone), "calls/s", base,
              "etcd, single-record txns/s, 16 in flight");
    bench_row("desire, 16 clients, 100 subscribers", bench_median(&beside), "calls/s", base,
              "etcd, single-record txns/s, 16 in flight");
    bench_row("desire, 16 clients, 100 subscribers", bench_median(&beside), "calls/s",
              bench_median(&alone), "without subscribers");
    bench_row("desire, 16 clients, 100 subscribers: the bbs", bench_median(&beside_us), "us",
              bench_median(&alone_us), "without subscribers");
    bench_row("desire, 1 client, 100 subscribers: the bbs", bench_median(&one_beside_us), "us",
              bench_median(&one_us), "without subscribers");
}

/* ---- all of it ---- */

static void environment(const struct tls_files *client)
{
    char url[80];
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", bbs.port);
    setenv("BENCH_BBS_URLS", url, 1);
    setenv("CA_CERT_FILE", client->ca, 1);
    setenv("CLIENT_CERT_FILE", client->cert, 1);
    setenv("CLIENT_KEY_FILE", client->key, 1);
    setenv("BENCH_ETCD", etcd.endpoint, 1);
    setenv("BENCH_ETCD_CERT", etcd.cert, 1);
    setenv("BENCH_ETCD_KEY", etcd.key, 1);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"streams", required_argument, NULL, 's'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {0}};
    int streams = STREAMS_DEFAULT, rounds = 3, c;
    struct err err;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        *(c == 's' ? &streams : &rounds) = c == '?' ? 0 : atoi(optarg);
    }
    if (rounds < 1 || streams < 1 || streams > STREAMS_MAX) {
        fprintf(stderr, "bench: at least 1 round, 1 to %d streams\n", STREAMS_MAX);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    struct tls_files server = certs_make(&certs, "server", "bbs", "bbs", 36000);
    struct tls_files client = certs_make(&certs, "client", "client", "bench", 36000);
    if (etcd_server_start(&(struct etcd_server_config){.tls = true}, &etcd, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    bbs_process_start(&bbs, certs.dir, "bbs", &etcd, &server, &client);
    bbs_process_wait_ready(&bbs);
    environment(&client);
    struct bench *b = bench_new();
    setenv("CA_CERT_FILE", etcd.ca, 1);
    struct etcd_bench *e = etcd_bench_new();
    double single_ms = 1e3 / etcd_bench_load(e, 1, 500, 1).per_second;
    measure_idle(streams);
    measure_latency(b, single_ms);
    measure_rate(b, e, rounds);
    etcd_bench_free(e);
    bench_free(b);
    if (!freopen("/dev/null", "w", stdout)) { /* its log is for tests; the figures are told */
        return 1;
    }
    int code = bbs_process_end(&bbs);
    etcd_server_done(&etcd);
    certs_done(&certs);
    return code ? 1 : 0;
}
