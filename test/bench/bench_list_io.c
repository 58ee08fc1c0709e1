/* One long answer, read as it comes. */
#include <assert.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/effect.h"
#include "common/shell/http_client_io.h"
#include "test/bench/bench_io.h"

struct reading {
    struct event_base *loop;
    int64_t at_ns;
    struct bench_answer answer;
};

static double ms_since(int64_t at_ns)
{
    return (double)(bench_now_ns() - at_ns) / 1e6;
}

static void on_stream(void *context, const struct stream_event *event)
{
    struct reading *r = context;
    if (event->status != 200) {
        fprintf(stderr, "bench: a list was answered %d %s\n", event->status, event->text);
        exit(1);
    }
    if (event->data.size > 0 && r->answer.bytes == 0) {
        r->answer.first_ms = ms_since(r->at_ns);
    }
    r->answer.bytes += (double)event->data.size;
    if (event->closed) {
        r->answer.last_ms = ms_since(r->at_ns);
        event_base_loopbreak(r->loop);
    }
}

static void no_response(void *context, const struct response *response)
{
}

struct bench_answer bench_read(const char *path, const ProtobufCMessage *m)
{
    struct tls_files files = {bench_needed("CA_CERT_FILE"), bench_needed("CLIENT_CERT_FILE"),
                              bench_needed("CLIENT_KEY_FILE")};
    const char *urls = bench_needed("BENCH_BBS_URLS");
    struct reading r = {.loop = event_base_new()};
    struct http_client_handlers handlers = {no_response, on_stream, &r};
    struct http_client *client = http_client_new(&files, r.loop, &handlers);
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    assert(client);
    const char *url = arena_printf(&a, "%.*s%s", (int)strcspn(urls, ","), urls, path);
    effects_call_message(&out, 1, url, "", m, NEVER_NS);
    r.at_ns = bench_now_ns();
    http_client_subscribe(client, &out.list[0].call);
    struct timeval limit = {.tv_sec = BENCH_ANSWER_MS / 1000};
    event_base_loopexit(r.loop, &limit);
    event_base_loop(r.loop, EVLOOP_NO_EXIT_ON_EMPTY);
    if (r.answer.last_ms == 0) {
        fprintf(stderr, "bench: %s did not end within %d s\n", path, BENCH_ANSWER_MS / 1000);
        exit(1);
    }
    http_client_free(client);
    event_base_free(r.loop);
    return r.answer;
}
