/* Requests to the apps' instances, round about: what a router would send them. None is repeated. */
#include "test/chaos/workload/work.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

enum { VISIT_LIMIT_MS = 1000, VISIT_ANSWER_MAX = 256 };

struct visit {
    char text[VISIT_ANSWER_MAX];
    size_t size;
};

static size_t on_text(char *data, size_t size, size_t count, void *visit)
{
    struct visit *v = visit;
    size_t room = sizeof(v->text) - 1 - v->size, n = size * count;
    memcpy(v->text + v->size, data, n < room ? n : room);
    v->size += n < room ? n : room;
    return n;
}

static bool get(CURL *curl, const char *address, struct visit *v)
{
    char url[128];
    long status = 0;
    snprintf(url, sizeof(url), "http://%s/", address);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L); /* each has a connection of its own */
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)VISIT_LIMIT_MS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_text);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, v);
    if (curl_easy_perform(curl) != CURLE_OK) {
        return false;
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status == 200;
}

static void visit(struct worker *w, CURL *curl, const struct route *route)
{
    struct visit v = {.size = 0};
    int64_t begin = chaos_now_ns();
    bool ok = get(curl, route->address, &v);
    v.text[strcspn(v.text, " \n")] = 0;
    json_t *line =
        json_pack("{s:s, s:s, s:i, s:s, s:I, s:I, s:b}", "kind", "request", "process",
                  route->process, "index", route->index, "instance", route->instance, "begin",
                  (json_int_t)begin, "end", (json_int_t)chaos_now_ns(), "ok", ok);
    json_object_set_new(line, "answered_by", ok ? json_string(v.text) : NULL);
    record(w->work->recorder, line);
}

void *work_visits(void *worker)
{
    struct worker *w = worker;
    CURL *curl = curl_easy_init();
    for (unsigned long n = (unsigned long)w->number; !atomic_load(&w->work->stop);
         n += WORK_VISITORS) {
        struct route route;
        if (routes_get(w->work->routes, n, &route)) {
            visit(w, curl, &route);
        }
        chaos_sleep_ms(WORK_VISIT_MS);
    }
    curl_easy_cleanup(curl);
    return NULL;
}
