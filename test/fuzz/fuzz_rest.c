/* Target: requests to a bbs in JSON: each path, its parameters, query and body. The board has a
 * system "shop" with one of each kind that a client can make; the rest is what the input says. */
#include "bbs/rest/rest.h"
#include "common/base/path_pattern.h"
#include "common/codec/json.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_board.h"

#include <string.h>

enum { REQUESTS_MAX = 16, NAMED = 4 };

struct rest_answer {
    int status;
    struct buf body;
};

static void keep(void *context, int status, struct bytes body)
{
    struct rest_answer *answer = context;
    answer->status = status;
    buf_append(&answer->body, body.data, body.size);
}

/* JSON comes back, with one of the codes that docs/rest.md names; but for logs, which are lines. */
static int ask_rest(struct world *w, const char *method, const char *path, struct peer peer,
                    struct bytes body)
{
    SCOPED_BUF(compact);
    struct rest_answer answer = {.status = -1};
    world_send_request(w, FUZZ_BBS_URL,
                       &(struct world_request){.method = method,
                                               .path = path,
                                               .peer = peer,
                                               .content_type = "application/json",
                                               .accept = "",
                                               .trace_id = "t",
                                               .body = body},
                       10 * SECOND_NS, keep, &answer);
    for (unsigned i = 0; answer.status < 0 && i < 1000000; i++) {
        world_step(w, world_now(w) + 11 * SECOND_NS);
    }
    FUZZ_REQUIRE(answer.status == 200 || answer.status == 201 || answer.status == 503 ||
                 (answer.status >= 400 && answer.status < 500));
    FUZZ_REQUIRE(strstr(path, "/logs") || answer.body.size == 0 ||
                 json_compact(buf_bytes(&answer.body), &compact, NULL) == 0);
    buf_done(&answer.body);
    return answer.status;
}

static void fill_board(struct world *w)
{
    static const char *const made[][3] = {
        {"POST", "/v1/systems", "{\"id\":\"shop\",\"definitionUrl\":\"https://h/r.git\"}"},
        {"PATCH", "/v1/systems/shop/secrets/%2Fa:key", "{\"value\":\"v\"}"},
        {"POST", "/v1/systems/shop/builds", "{\"id\":\"b\",\"version\":\"1.0.0\"}"},
        {"POST", "/v1/systems/shop/deploys", "{\"id\":\"d\",\"version\":\"1.0.0\"}"},
        {"POST", "/v1/systems/shop/teardowns", "{\"id\":\"t\"}"},
    };
    const struct peer admin = {.unit = "client", .name = "admin"};
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        int status = ask_rest(w, made[i][0], made[i][1], admin, bytes_of(made[i][2]));
        FUZZ_REQUIRE(status < 500);
    }
}

/* The pattern with its parameters filled: names that are there, or what the input says. */
static const char *fill_pattern(struct arena *a, const char *pattern, struct bytes *in)
{
    static const char *const named[NAMED] = {"shop", "d", "%2Fa:key", "b"};
    SCOPED_BUF(path);
    while (*pattern) {
        size_t plain = strcspn(pattern, "{");
        buf_append(&path, pattern, plain);
        pattern += plain;
        if (*pattern) {
            uint8_t which = fuzz_byte(in);
            buf_append_string(&path, which < 128 ? named[which % NAMED] : fuzz_text(a, in));
            pattern = strchr(pattern, '}') + 1;
        }
    }
    const char *query = fuzz_text(a, in);
    buf_append_string(&path, *query ? "?" : "");
    buf_append_string(&path, query);
    return arena_strndup(a, (const char *)path.data, path.size);
}

void fuzz_rest(struct bytes in)
{
    SCOPED_ARENA(a);
    struct world *w = fuzz_world_with_bbs();
    fill_board(w);
    for (unsigned i = 0; i < REQUESTS_MAX && in.size > 0; i++) {
        const struct path_row *row = path_row_at(&rest_paths, fuzz_byte(&in) % rest_paths.count);
        struct peer peer = fuzz_peer(fuzz_byte(&in));
        const char *path = fill_pattern(&a, row->pattern, &in);
        ask_rest(w, row->method, path, peer, fuzz_piece(&in));
    }
    FUZZ_REQUIRE(ask_rest(w, "GET", "/health", fuzz_peer(0), bytes_of("")) == 200);
    world_free(w);
}
