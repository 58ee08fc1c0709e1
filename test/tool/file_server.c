#include "test/tool/file_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One request: of its number, from 1, since the server was told what to serve. */
struct visit {
    struct file_server_shared *shared;
    int fd, number;
    char *request;
};

/* ---- saying ---- */

static void say(const struct visit *v, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(v->fd, at, size, MSG_NOSIGNAL);
        if (n <= 0) {
            _exit(0);
        }
        at += n;
        size -= (size_t)n;
    }
}

static void say_text(const struct visit *v, const char *text)
{
    say(v, text, strlen(text));
}

static void say_content(const struct visit *v, size_t from, size_t to)
{
    atomic_fetch_add(&v->shared->sent, (long long)(to - from));
    say(v, v->shared->content + from, to - from);
}

static void say_head(const struct visit *v, const char *status, const char *etag, size_t length)
{
    char head[512];
    snprintf(head, sizeof(head),
             "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s%s%s", status, length,
             etag[0] ? "ETag: " : "", etag, etag[0] ? "\r\n" : "");
    say_text(v, head);
}

static void say_status(const struct visit *v, const char *status)
{
    say_head(v, status, "", 0);
    say_text(v, "\r\n");
}

static void wait_for_ever(void)
{
    for (;;) {
        pause();
    }
}

/* The value of a header of the request, up to its line's end; NULL. */
static char *header(const struct visit *v, const char *name)
{
    char line[64];
    snprintf(line, sizeof(line), "\r\n%s: ", name);
    char *at = strcasestr(v->request, line);
    return at ? at + strlen(line) : NULL;
}

static bool header_is(const struct visit *v, const char *name, const char *value)
{
    char *at = header(v, name);
    size_t n = strlen(value);
    return at && n > 0 && strncmp(at, value, n) == 0 && at[n] == '\r';
}

/* ---- how it behaves ---- */

/* 200, 304 or 206, as asked. */
static void well_as(const struct visit *v, const char *etag)
{
    size_t size = v->shared->size, from = 0;
    char line[128];
    char *range = header(v, "Range");
    if (header_is(v, "If-None-Match", etag)) {
        say_head(v, "304 Not Modified", etag, 0);
        say_text(v, "\r\n");
        return;
    }
    if (range && header_is(v, "If-Range", etag)) {
        from = strtoul(range + strlen("bytes="), NULL, 10);
        say_head(v, "206 Partial Content", etag, size - from);
        snprintf(line, sizeof(line), "Content-Range: bytes %zu-%zu/%zu\r\n\r\n", from, size - 1,
                 size);
        say_text(v, line);
    } else {
        say_head(v, "200 OK", etag, size);
        say_text(v, "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n");
    }
    say_content(v, from, size);
}

static void well(const struct visit *v)
{
    well_as(v, v->shared->etag);
}

static void half_as(const struct visit *v, const char *etag)
{
    say_head(v, "200 OK", etag, v->shared->size);
    say_text(v, "\r\n");
    say_content(v, 0, v->shared->size / 2);
}

static void half(const struct visit *v)
{
    half_as(v, v->shared->etag);
}

static void cut(const struct visit *v)
{
    (v->number == 1 ? half : well)(v);
}

static void cut_weak(const struct visit *v)
{
    if (v->number == 1) {
        half_as(v, "W/\"weak\"");
    } else {
        well_as(v, "W/\"weak\"");
    }
}

/* The second time it says what nobody asked for: a range of content by another ETag. */
static void cut_changed(const struct visit *v)
{
    size_t size = v->shared->size;
    char line[128];
    if (v->number != 2) {
        (v->number == 1 ? half : well)(v);
        return;
    }
    say_head(v, "206 Partial Content", "\"another\"", size - size / 2);
    snprintf(line, sizeof(line), "Content-Range: bytes %zu-%zu/%zu\r\n\r\n", size / 2, size - 1,
             size);
    say_text(v, line);
    say_content(v, 0, size - size / 2);
}

static void more(const struct visit *v)
{
    well(v);
    say_content(v, 0, v->shared->size / 2);
}

static void late(const struct visit *v)
{
    if (v->number == 1) {
        say_status(v, "500 Internal Server Error");
    } else {
        well(v);
    }
}

static void unavailable(const struct visit *v)
{
    say_status(v, "503 Service Unavailable");
}

static void not_found(const struct visit *v)
{
    say_status(v, "404 Not Found");
}

static void redirect(const struct visit *v, const char *to)
{
    say_head(v, "302 Found", "", 0);
    say_text(v, "Location: ");
    say_text(v, to);
    say_text(v, "\r\n\r\n");
}

static void redirect_well(const struct visit *v)
{
    redirect(v, "/content");
}

static void redirect_ring(const struct visit *v)
{
    redirect(v, "/redirect-ring");
}

static void redirect_file(const struct visit *v)
{
    redirect(v, "file:///etc/passwd");
}

static void headers(const struct visit *v)
{
    say_text(v, "HTTP/1.1 200 OK\r\n");
    for (int i = 0;; i++) {
        char line[1024];
        snprintf(line, sizeof(line), "X-%d: %0900d\r\n", i, i);
        say_text(v, line);
    }
}

static void hang(const struct visit *v)
{
    (void)v;
    wait_for_ever();
}

static void hang_half(const struct visit *v)
{
    half(v);
    wait_for_ever();
}

static void drip(const struct visit *v)
{
    say_text(v, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (;;) {
        say(v, "x", 1);
        usleep(10 * 1000);
    }
}

static void endless(const struct visit *v)
{
    say_text(v, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (;;) {
        say(v, v->shared->content, FILE_SERVER_BYTES);
    }
}

static void no_http(const struct visit *v)
{
    say_text(v, "SSH-2.0-OpenSSH_9.2\r\n");
}

/* ---- uploads ---- */

static void take_upload(const struct visit *v)
{
    char *body = strstr(v->request, "\r\n\r\n") + 4, *length = header(v, "Content-Length");
    size_t size = length ? strtoul(length, NULL, 10) : 0;
    size_t have = strlen(body); /* tests send texts */
    size = size < FILE_SERVER_BYTES ? size : FILE_SERVER_BYTES;
    memcpy(v->shared->upload, body, have);
    while (have < size) {
        ssize_t n = recv(v->fd, v->shared->upload + have, size - have, 0);
        if (n <= 0) {
            _exit(0);
        }
        have += (size_t)n;
    }
    atomic_store(&v->shared->upload_size, have);
}

static void upload(const struct visit *v)
{
    take_upload(v);
    say_status(v, "200 OK");
}

static void upload_late(const struct visit *v)
{
    take_upload(v);
    say_status(v, v->number == 1 ? "500 Internal Server Error" : "200 OK");
}

static void upload_404(const struct visit *v)
{
    take_upload(v);
    not_found(v);
}

static const struct row {
    const char *path;
    void (*behave)(const struct visit *v);
} rows[] = {
    {"/content", well},
    {"/redirect", redirect_well},
    {"/cut", cut},
    {"/cut-weak", cut_weak},
    {"/cut-changed", cut_changed},
    {"/cut-always", half},
    {"/more", more},
    {"/500-then-well", late},
    {"/503", unavailable},
    {"/404", not_found},
    {"/redirect-ring", redirect_ring},
    {"/redirect-file", redirect_file},
    {"/headers", headers},
    {"/hang", hang},
    {"/hang-half", hang_half},
    {"/drip", drip},
    {"/endless", endless},
    {"/no-http", no_http},
    {"/upload", upload},
    {"/upload-late", upload_late},
    {"/upload-404", upload_404},
};

/* ---- serving ---- */

static bool read_request(int fd, char *request)
{
    size_t size = 0;
    while (size < FILE_SERVER_REQUEST - 1) {
        ssize_t n = recv(fd, request + size, FILE_SERVER_REQUEST - 1 - size, 0);
        if (n <= 0) {
            return false;
        }
        size += (size_t)n;
        request[size] = '\0';
        if (strstr(request, "\r\n\r\n")) {
            return true;
        }
    }
    return false;
}

static void visit(struct file_server_shared *shared, int fd)
{
    char request[FILE_SERVER_REQUEST];
    struct visit v = {.shared = shared, .fd = fd, .request = request};
    if (!read_request(fd, request)) {
        return;
    }
    memcpy(shared->request, request, sizeof(request));
    v.number = atomic_fetch_add(&shared->requests, 1) + 1;
    const char *path = strchr(request, ' ') + 1;
    size_t n = strcspn(path, " ?");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strlen(rows[i].path) == n && strncmp(path, rows[i].path, n) == 0) {
            rows[i].behave(&v);
            shutdown(fd, SHUT_WR);
            return;
        }
    }
    not_found(&v);
}

/* A process a connection; all of the server's process group. */
_Noreturn static void serve(struct file_server_shared *shared, int listener)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(listener);
            visit(shared, fd);
            _exit(0);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
}

static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

void file_server_start(struct file_server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(listener >= 0 && bind(listener, (struct sockaddr *)&address, size) == 0 &&
             listen(listener, 64) == 0 &&
             getsockname(listener, (struct sockaddr *)&address, &size) == 0,
         "file server");
    s->port = ntohs(address.sin_port);
    s->shared =
        mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(s->shared != MAP_FAILED, "file server");
    s->pid = fork();
    must(s->pid >= 0, "file server");
    if (s->pid == 0) {
        serve(s->shared, listener);
    }
    setpgid(s->pid, s->pid);
    close(listener);
}

void file_server_stop(struct file_server *s)
{
    kill(-s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    munmap(s->shared, sizeof(*s->shared));
}

void file_server_serve(struct file_server *s, size_t size, const char *etag)
{
    for (size_t i = 0; i < FILE_SERVER_BYTES; i++) {
        s->shared->content[i] = (uint8_t)(i * 7 + i / 251);
    }
    s->shared->size = size;
    snprintf(s->shared->etag, sizeof(s->shared->etag), "%s", etag);
    atomic_store(&s->shared->requests, 0);
    atomic_store(&s->shared->sent, 0);
    atomic_store(&s->shared->upload_size, 0);
    s->shared->request[0] = '\0';
}
