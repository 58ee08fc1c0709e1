#include "test/tool/etcd_server.h"

#include "common/contract/moment.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT "test/tool/etcd-server"

enum { START_TRIES = 5, SERVE_WAIT_S = 120, ASK_MS = 5000 };

bool etcd_server_possible(void)
{
    return access(SCRIPT, X_OK) == 0 && system("command -v etcd openssl >/dev/null 2>&1") == 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port = bind(fd, (struct sockaddr *)&address, size) == 0 &&
                       getsockname(fd, (struct sockaddr *)&address, &size) == 0
                   ? ntohs(address.sin_port)
                   : 0;
    close(fd);
    return port;
}

/* A child that does not outlive this process, whatever happens to it. */
static pid_t spawn(char *const argv[])
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        execv(argv[0], argv);
        _exit(127);
    }
    return pid;
}

static int launch(struct etcd_server *s, struct err *err)
{
    char port[16], peer[16], quota[32];
    snprintf(port, sizeof(port), "%d", s->port);
    snprintf(peer, sizeof(peer), "%d", s->peer_port);
    snprintf(quota, sizeof(quota), "%lld", (long long)s->config.quota_bytes);
    char *argv[] = {(char *)SCRIPT, (char *)"run", s->dir, port, peer, quota, NULL};
    s->pid = spawn(argv);
    return s->pid > 0 ? 0 : err_set(err, ERR_IO, "cannot start %s: %s", SCRIPT, strerror(errno));
}

struct ask {
    struct event_base *base;
    bool answered;
};

static void take_answer(void *context, const struct store_answer *answer)
{
    struct ask *ask = context;
    ask->answered = answer->outcome == STORE_DONE;
    event_base_loopbreak(ask->base);
}

static bool serves(const struct etcd_server *s)
{
    struct ask ask = {.base = event_base_new()};
    struct etcd_handlers handlers = {.on_answer = take_answer, .context = &ask};
    struct etcd_config config = etcd_server_client(s);
    struct etcd *e = NULL;
    if (etcd_new(&config, ask.base, &handlers, &e, NULL) == 0) {
        Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
        range.key = (ProtobufCBinaryData){.len = 1, .data = (uint8_t *)(size_t) "-"};
        struct store_request request = {.id = 1,
                                        .call = STORE_RANGE,
                                        .message = &range.base,
                                        .deadline_ns = now_ns() + ASK_MS * MILLISECOND_NS};
        etcd_call(e, &request);
        event_base_dispatch(ask.base);
    }
    etcd_free(e);
    event_base_free(ask.base);
    return ask.answered;
}

/* The end of its log. */
static const char *last_words(const struct etcd_server *s, char *out, size_t size)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/log", s->dir);
    FILE *log = fopen(path, "r");
    size_t got = 0;
    if (log) {
        fseek(log, -(long)size, SEEK_END);
        got = fread(out, 1, size - 1, log);
        fclose(log);
    }
    out[got] = 0;
    return out;
}

static int wait_until_serving(struct etcd_server *s, struct err *err)
{
    char words[180];
    int64_t limit_ns = now_ns() + SERVE_WAIT_S * SECOND_NS;
    while (now_ns() < limit_ns) {
        int status;
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
            s->pid = 0;
            return err_set(err, ERR_IO, "etcd ended at its start (wait status %d): %s", status,
                           last_words(s, words, sizeof(words)));
        }
        if (serves(s)) {
            return 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20 * MILLISECOND_NS}, NULL);
    }
    return err_set(err, ERR_TIMEOUT, "etcd does not serve after %d s", SERVE_WAIT_S);
}

static int make_certs(struct etcd_server *s, struct err *err)
{
    char *argv[] = {(char *)SCRIPT, (char *)"certs", s->dir, NULL};
    int status = -1;
    pid_t pid = spawn(argv);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        return err_set(err, ERR_IO, "cannot make certificates in %s", s->dir);
    }
    snprintf(s->ca, sizeof(s->ca), "%s/ca.pem", s->dir);
    snprintf(s->cert, sizeof(s->cert), "%s/client.pem", s->dir);
    snprintf(s->key, sizeof(s->key), "%s/client.key", s->dir);
    return 0;
}

/* A port that was free may be taken by another test before etcd binds it, hence the tries. */
int etcd_server_start(const struct etcd_server_config *config, struct etcd_server *ret,
                      struct err *err)
{
    struct etcd_server *s = ret;
    *s = (struct etcd_server){.config = *config, .dir = "/tmp/corkboard-etcd-XXXXXX"};
    if (!mkdtemp(s->dir)) {
        s->dir[0] = 0;
        return err_set(err, ERR_IO, "cannot make a directory in /tmp: %s", strerror(errno));
    }
    int code = config->tls ? make_certs(s, err) : 0;
    for (int try = 0; code == 0 && try < START_TRIES; try++) {
        s->port = free_port();
        s->peer_port = free_port();
        snprintf(s->endpoint, sizeof(s->endpoint), "http%s://127.0.0.1:%d", config->tls ? "s" : "",
                 s->port);
        code = launch(s, err);
        if (code == 0 && (code = wait_until_serving(s, err)) == 0) {
            return 0;
        }
        etcd_server_kill(s);
        code = code == -ERR_IO ? 0 : code;
    }
    etcd_server_done(s);
    return code ? code : -ERR_IO;
}

static void end(struct etcd_server *s, int signal)
{
    if (s->pid > 0) {
        kill(s->pid, signal);
        kill(s->pid, SIGCONT);
        waitpid(s->pid, NULL, 0);
        s->pid = 0;
    }
}

void etcd_server_kill(struct etcd_server *s)
{
    end(s, SIGKILL);
}

int etcd_server_restart(struct etcd_server *s, struct err *err)
{
    int code = launch(s, err);
    return code ? code : wait_until_serving(s, err);
}

void etcd_server_pause(struct etcd_server *s)
{
    kill(s->pid, SIGSTOP);
}

void etcd_server_resume(struct etcd_server *s)
{
    kill(s->pid, SIGCONT);
}

struct etcd_config etcd_server_client(const struct etcd_server *s)
{
    return (struct etcd_config){.endpoints = s->endpoint,
                                .ca = *s->ca ? s->ca : NULL,
                                .cert = *s->cert ? s->cert : NULL,
                                .key = *s->key ? s->key : NULL};
}

void etcd_server_done(struct etcd_server *s)
{
    end(s, SIGKILL);
    if (*s->dir) {
        char *argv[] = {(char *)"/bin/rm", (char *)"-rf", s->dir, NULL};
        pid_t pid = spawn(argv);
        waitpid(pid, NULL, 0);
        s->dir[0] = 0;
    }
}
