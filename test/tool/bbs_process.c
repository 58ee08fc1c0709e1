#include "test/tool/bbs_process.h"

#include "bbs/bbs.h"
#include "common/base/arena.h"
#include "common/codec/json_text.h"
#include "models/events.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process ---- */

static int serve(const char *name, const struct etcd_server *etcd, const struct tls_files *server)
{
    struct host_config config = {
        .name = name,
        .listen = "127.0.0.1:0",
        .health = "127.0.0.1:0",
        .stall_ms = 10 * PATIENCE_MS, /* readers that take nothing outlive their test */
        .tls = *server,
        .etcd = etcd->endpoint,
        .etcd_tls = {.ca = etcd->ca, .cert = etcd->cert, .key = etcd->key},
    };
    struct err err;
    struct role *role = bbs_new(&(struct bbs_config){.url = "https://127.0.0.1", .name = name});
    int r = host_run(role, &config, &err);
    if (r < 0) {
        dprintf(STDERR_FILENO, "failed: %s\n", err.text);
    }
    role_free(role);
    return r < 0 ? 100 : r;
}

void bbs_process_start(struct bbs_process *s, const char *dir, const char *name,
                      const struct etcd_server *etcd, const struct tls_files *server,
                      const struct tls_files *client)
{
    s->client = *client;
    snprintf(s->log_path, sizeof(s->log_path), "%s/%s.log", dir, name);
    int fd = open(s->log_path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        dup2(fd, STDERR_FILENO);
        exit(serve(name, etcd, server));
    }
    close(fd);
    s->port = patience_port_in_log(s->log_path, "\"listens\"");
    s->health_port = patience_port_in_log(s->log_path, "\"health listens\"");
}

void bbs_process_wait_ready(const struct bbs_process *s)
{
    int status;
    struct patience p = {0};
    do {
        status = bbs_process_ask(s, "POST", "/v1/ping", NULL, (struct bytes){0}, NULL, NULL);
    } while (status != 200 && patience(&p));
    assert_int_equal(status, 200);
}

/* What it said last goes to the test's own output: a test that failed is understood by it. */
static void tell_log(const struct bbs_process *s)
{
    char text[4096];
    int fd = open(s->log_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n =
        pread(fd, text, sizeof(text), size < (off_t)sizeof(text) ? 0 : size - (off_t)sizeof(text));
    close(fd);
    print_message("---- the end of %s:\n%.*s\n", strrchr(s->log_path, '/') + 1, n > 0 ? (int)n : 0,
                  text);
}

int bbs_process_end(struct bbs_process *s)
{
    int status = 0;
    kill(s->pid, SIGTERM);
    for (struct patience p = {0}; waitpid(s->pid, &status, WNOHANG) == 0 && patience(&p);) {
    }
    tell_log(s);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (code == 0) {
        unlink(s->log_path);
    }
    return code;
}

int bbs_process_ask(const struct bbs_process *s, const char *method, const char *path,
                   const char *trace_id, struct bytes body, struct buf *head, struct buf *answer)
{
    struct tls_client c;
    if (head) {
        buf_clear(head);
    }
    if (answer) {
        buf_clear(answer);
    }
    int status = 0;
    if (client_open(&c, s->port, &s->client, 0) &&
        client_print(&c, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
                         "X-Vcap-Request-Id: %s\r\n\r\n",
                     method, path, body.size, trace_id ? trace_id : "")) {
        client_write(&c, body.data, body.size);
        status = client_answer(&c, head, answer, strcmp(method, "HEAD") == 0);
    }
    client_close(&c);
    return status;
}

void bbs_process_post(const struct bbs_process *s, const char *path, const ProtobufCMessage *m,
                     struct buf *answer)
{
    SCOPED_BUF(body);
    buf_message(&body, m);
    assert_int_equal(bbs_process_ask(s, "POST", path, NULL, buf_bytes(&body), NULL, answer), 200);
}

/* ---- subscribers ---- */

/* The head, which comes before any event. */
static void read_head(struct subscriber *s)
{
    void *end = NULL;
    for (struct patience p = {0}; !end && patience(&p);) {
        client_read(&s->client, CLIENT_WAIT_MS);
        struct bytes input = buf_bytes(&s->client.input);
        end = input.size ? memmem(input.data, input.size, "\r\n\r\n", 4) : NULL;
        if (s->client.ended) {
            break;
        }
    }
    if (end) {
        size_t size = (size_t)((uint8_t *)end - s->client.input.data) + 4;
        buf_append(&s->head, s->client.input.data, size);
        buf_consume(&s->client.input, size);
        sscanf(buf_string(&s->head), "HTTP/1.1 %d", &s->status);
    }
}

static void subscribe(struct subscriber *s, const struct bbs_process *server, const char *method,
                      const char *path, struct bytes body, int receive_bytes)
{
    *s = (struct subscriber){.status = 0};
    buf_init(&s->head);
    buf_init(&s->text);
    assert_true(client_open(&s->client, server->port, &server->client, receive_bytes));
    assert_true(client_print(&s->client, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                             method, path, body.size));
    client_write(&s->client, body.data, body.size);
    read_head(s);
}

void subscriber_open(struct subscriber *s, const struct bbs_process *server, const char *method,
                     const char *path, const char *cell_id, int receive_bytes)
{
    SCOPED_BUF(body);
    if (cell_id) {
        Models__EventsByCellId filter = MODELS__EVENTS_BY_CELL_ID__INIT;
        filter.cell_id = (char *)(size_t)cell_id;
        buf_message(&body, &filter.base);
    }
    subscribe(s, server, method, path, buf_bytes(&body), receive_bytes);
    for (struct patience p = {0}; s->status == 503 && patience(&p);) {
        subscriber_close(s);
        subscribe(s, server, method, path, buf_bytes(&body), receive_bytes);
    }
}

void subscriber_close(struct subscriber *s)
{
    client_close(&s->client);
    buf_done(&s->head);
    buf_done(&s->text);
}

/* Joins the chunks that have come whole. */
static void join_chunks(struct subscriber *s)
{
    struct buf *in = &s->client.input;
    uint8_t *line;
    while (!s->ended && in->size && (line = memmem(in->data, in->size, "\r\n", 2))) {
        size_t head = (size_t)(line - in->data) + 2;
        size_t size = strtoul((const char *)in->data, NULL, 16);
        if (in->size < head + size + 2) {
            break;
        }
        buf_append(&s->text, in->data + head, size);
        buf_consume(in, head + size + 2);
        s->ended = size == 0;
    }
}

bool subscriber_read(struct subscriber *s, int wait_ms)
{
    bool open = client_read(&s->client, wait_ms);
    join_chunks(s);
    return open;
}

/* One event out of the text: "id: N", "event: NAME", "data: BASE64" and an empty line. */
static bool take_event(struct subscriber *s, struct stream_item *item)
{
    uint8_t *end = s->text.size ? memmem(s->text.data, s->text.size, "\n\n", 2) : NULL;
    if (!end) {
        return false;
    }
    SCOPED_ARENA(a);
    size_t size = (size_t)(end - s->text.data);
    char *text = arena_strndup(&a, (const char *)s->text.data, size);
    int data = 0;
    assert_int_equal(
        sscanf(text, "id: %ld\nevent: %63[a-z_]\ndata: %n", &item->id, item->name, &data), 2);
    assert_true(data > 0 && !strchr(text + data, '\n'));
    struct bytes payload;
    assert_int_equal(base64_decode(&a, bytes_of(text + data), &payload, NULL), 0);
    buf_clear(&item->payload);
    buf_append(&item->payload, payload.data, payload.size);
    buf_consume(&s->text, size + 2);
    return true;
}

bool subscriber_next(struct subscriber *s, int wait_ms, struct stream_item *item)
{
    enum { SLICE_MS = 20 };
    int64_t end_ms = patience_now_ms() + wait_ms;
    if (!item->payload.base.append) {
        buf_init(&item->payload);
    }
    while (!take_event(s, item)) {
        if (patience_now_ms() >= end_ms || (!subscriber_read(s, SLICE_MS) && !s->text.size)) {
            return false;
        }
    }
    return true;
}
