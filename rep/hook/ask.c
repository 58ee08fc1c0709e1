/* HTTP/1.1 over the rep's socket, a connection a request. */
#include "rep/hook/answer.h"
#include "rep/hook/hook_program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TRY_S = 10 };

static const struct timespec pause_between = {.tv_nsec = 200L * 1000 * 1000};

int hook_words_add(struct hook_words *w, const char *word)
{
    size_t size = strlen(word) + 1;
    if (size > HOOK_BODY_MAX - w->size) {
        return -1;
    }
    char *data = realloc(w->data, w->size + size);
    if (!data) {
        return -1;
    }
    memcpy(data + w->size, word, size);
    w->data = data;
    w->size += size;
    return 0;
}

void hook_words_done(struct hook_words *w)
{
    free(w->data);
    *w = (struct hook_words){0};
}

int hook_path(char path[HOOK_PATH_BYTES], const char *name)
{
    const char *dir = getenv(HOOK_DIR_VARIABLE);
    int n = snprintf(path, HOOK_PATH_BYTES, "%s/%s", dir && *dir ? dir : HOOK_DIR, name);
    if (n < 0 || n >= HOOK_PATH_BYTES) {
        hook_say("the path %s/%s is too long", dir, name);
        return -1;
    }
    return 0;
}

/* ---- The connection -------------------------------------------------------------------------- */

/* A socket's path has 107 bytes at most: that of the process driver is reached from its directory.
 */
static int connect_to(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const struct timeval limit = {.tv_sec = TRY_S};
    char dir[HOOK_PATH_BYTES];
    const char *name = path;
    const char *slash = strrchr(path, '/');
    if (strlen(path) >= sizeof(at.sun_path) && slash) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
        name = slash + 1;
        if (chdir(dir) < 0) {
            return -1;
        }
    }
    if (strlen(name) >= sizeof(at.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, name, strlen(name) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
                    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
                    connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static bool send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* All that comes until the end; a zero byte behind it. NULL: an error, or too much. */
static char *receive_all(int fd, size_t *ret_size)
{
    size_t size = 0, room = 4096;
    char *data = malloc(room + 1);
    while (data) {
        ssize_t n = recv(fd, data + size, room - size, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 || room > HOOK_ANSWER_MAX) {
            break;
        }
        if (n == 0) {
            data[size] = '\0';
            *ret_size = size;
            return data;
        }
        size += (size_t)n;
        if (size == room) {
            char *more = realloc(data, 2 * room + 1);
            if (!more) {
                break;
            }
            data = more;
            room *= 2;
        }
    }
    free(data);
    return NULL;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static int ask_once(const char *socket_path, const char *path, const struct hook_words *words,
                    char **ret_body, size_t *ret_size, const char **ret_why)
{
    char head[512];
    int fd = connect_to(socket_path), status = -1;
    int n = snprintf(head, sizeof(head),
                     "POST %s HTTP/1.1\r\nHost: rep\r\nContent-Type: application/octet-stream\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     path, words->size);
    *ret_why = strerror(errno);
    if (fd < 0 || n < 0 || (size_t)n >= sizeof(head)) {
        return -1;
    }
    *ret_why = "it broke off";
    if (send_all(fd, head, (size_t)n) && send_all(fd, words->data, words->size)) {
        *ret_body = receive_all(fd, ret_size);
        status = *ret_body ? hook_read_http(*ret_body, ret_size) : -1;
    }
    close(fd);
    if (status < 0) {
        free(*ret_body);
        *ret_body = NULL;
    }
    return status;
}

static int64_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

int hook_ask(const char *path, const struct hook_words *words, char **ret_body, size_t *ret_size)
{
    char socket_path[HOOK_PATH_BYTES];
    const char *why = "";
    int64_t until = now_s() + HOOK_PATIENCE_S;
    *ret_body = NULL;
    if (hook_path(socket_path, "socket/rep") < 0) {
        return -1;
    }
    for (;;) {
        int status = ask_once(socket_path, path, words, ret_body, ret_size, &why);
        if (status >= 0 && status != 503) {
            return status;
        }
        if (now_s() >= until) {
            hook_say("the cell's rep has not answered for %d s: %s", HOOK_PATIENCE_S,
                     status == 503 ? *ret_body : why);
            free(*ret_body);
            *ret_body = NULL;
            return -1;
        }
        free(*ret_body);
        *ret_body = NULL;
        nanosleep(&pause_between, NULL);
    }
}
