/* The workload's calls against a server of the test: what was sent once is not sent again, whatever
 * libcurl would do by itself. */
#include "models/domain.pb-c.h"
#include "test/chaos/workload/caller_io.h"
#include "test/tool/cmocka.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Answers the first request of a connection, and closes it when the second one comes. */
struct server {
    int listener;
    char url[64];
    pthread_t thread;
    atomic_int requests, connections;
};

/* A request of this test has no body: it ends with an empty line. False when the other end is gone.
 */
static bool take_request(int fd)
{
    char text[4096];
    size_t size = 0;
    ssize_t n = 1;
    while (n > 0 && size < sizeof(text) - 1 &&
           (size < 4 || memcmp(text + size - 4, "\r\n\r\n", 4))) {
        n = read(fd, text + size, sizeof(text) - 1 - size);
        size += n > 0 ? (size_t)n : 0;
    }
    return n > 0;
}

static void *serve(void *server)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct server *s = server;
    int fd;
    while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
        s->connections++;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 2},
                   sizeof(struct timeval));
        if (take_request(fd)) {
            s->requests++;
            (void)!write(fd, answer, strlen(answer));
            s->requests += take_request(fd);
        }
        close(fd);
    }
    return NULL;
}

static int begin(void **state)
{
    static struct server s;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    s = (struct server){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (bind(s.listener, (struct sockaddr *)&at, size) < 0 || listen(s.listener, 8) < 0 ||
        getsockname(s.listener, (struct sockaddr *)&at, &size) < 0) {
        return -1;
    }
    snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%u", ntohs(at.sin_port));
    *state = &s;
    return pthread_create(&s.thread, NULL, serve, &s);
}

static int end(void **state)
{
    struct server *s = *state;
    shutdown(s->listener, SHUT_RDWR);
    close(s->listener);
    return pthread_join(s->thread, NULL);
}

static struct reply post(struct caller *c, struct arena *a, const char *url)
{
    return caller_post(c, a, url, "/", NULL, &models__upsert_domain_response__descriptor);
}

static void what_was_sent_once_is_not_sent_again(void **state)
{
    struct server *s = *state;
    struct target target = {.bbs_count = 0};
    struct caller *c = caller_new(&target, &target.client);
    SCOPED_ARENA(a);
    assert_int_equal(post(c, &a, s->url).outcome, OUTCOME_OK);
    /* On the same connection, which ends without an answer: nobody knows what came of it. */
    assert_int_equal(post(c, &a, s->url).outcome, OUTCOME_UNKNOWN);
    assert_int_equal(s->requests, 2);
    /* The next call is another one. */
    assert_int_equal(post(c, &a, s->url).outcome, OUTCOME_OK);
    assert_int_equal(s->requests, 3);
    caller_free(c);
}

static void what_was_never_sent_has_failed(void **state)
{
    struct server *s = *state;
    struct target target = {.bbs_count = 0};
    struct caller *c = caller_new(&target, &target.client);
    SCOPED_ARENA(a);
    assert_int_equal(post(c, &a, "http://127.0.0.1:1").outcome, OUTCOME_FAILED);
    assert_int_equal(s->connections, 0);
    caller_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_sent_once_is_not_sent_again, begin, end),
        cmocka_unit_test_setup_teardown(what_was_never_sent_has_failed, begin, end),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
