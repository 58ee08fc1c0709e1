/* Targets: requests to a bbs on a model etcd, by groups of routes. An input is a sequence of
 * requests; each is answered once, in bounded time, and the bbs answers a ping afterwards. */
#include "bbs/bbs.h"
#include "common/lifecycle/actor.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_board.h"
#include "test/sim/model/sealer.h"

#include <string.h>

enum { REQUESTS_MAX = 16 };

struct path {
    const char *method;
    const char *path;
};

static const struct path paths[] = {
#define ROUTE(method_, path_, ...) {.method = method_, .path = path_},
#include "bbs/route/routes.def"
#undef ROUTE
    {"POST", "/models.Locket/Lock"},
    {"POST", "/models.Locket/Release"},
    {"POST", "/models.Locket/Fetch"},
    {"POST", "/models.Locket/FetchAll"},
    {"POST", "/models.Locket/Nothing"},
};

static struct role *make_bbs(void *context, unsigned incarnation)
{
    static const uint32_t keys[] = {1};
    return bbs_new(&(struct bbs_config){.url = FUZZ_BBS_URL,
                                        .name = "bbs-1",
                                        .seal = model_sealer(context, keys, 1)});
}

static void answered(void *context, int status, struct bytes body)
{
    *(int *)context = status;
}

int fuzz_ask(struct world *w, const struct world_request *q)
{
    enum { NOT_YET = -1000 }; /* a gRPC call that is refused gives minus its status */
    int status = NOT_YET;
    world_send_request(w, FUZZ_BBS_URL, q, 10 * SECOND_NS, answered, &status);
    for (unsigned i = 0; status == NOT_YET && i < 1000000; i++) {
        world_step(w, world_now(w) + 11 * SECOND_NS);
    }
    FUZZ_REQUIRE(status != NOT_YET);
    return status;
}

static int ping(struct world *w)
{
    return fuzz_ask(w, &(struct world_request){.method = "POST",
                                               .path = "/v1/ping",
                                               .peer = {.unit = "client", .name = "admin"},
                                               .content_type = "",
                                               .accept = "",
                                               .trace_id = ""});
}

struct world *fuzz_world_with_bbs(void)
{
    static struct arena sealer; /* of the last world; one lives at a time */
    struct world *w = world_new(&(struct world_options){.seed = 1});
    arena_done(&sealer);
    world_start(w, world_add(w, &(struct node_config){.name = "bbs-1",
                                                      .unit = "bbs",
                                                      .certificate_name = "bbs-1",
                                                      .url = FUZZ_BBS_URL,
                                                      .store = world_store(w, "etcd"),
                                                      .make = make_bbs,
                                                      .context = &sealer}));
    for (unsigned i = 0; i < 100 && ping(w) != 200; i++) {
        world_run(w, 100 * MILLISECOND_NS);
    }
    FUZZ_REQUIRE(ping(w) == 200);
    return w;
}

/* The n-th route, counted around, whose path begins with one of these. */
static const struct path *pick(const char *const *prefixes, unsigned n)
{
    const struct path *group[sizeof(paths) / sizeof(paths[0])];
    unsigned count = 0;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        for (const char *const *p = prefixes; *p; p++) {
            if (strncmp(paths[i].path, *p, strlen(*p)) == 0) {
                group[count++] = &paths[i];
                break;
            }
        }
    }
    FUZZ_REQUIRE(count > 0);
    return group[n % count];
}

static void requests(const char *const *prefixes, struct bytes in)
{
    struct world *w = fuzz_world_with_bbs();
    for (unsigned i = 0; i < REQUESTS_MAX && in.size > 0; i++) {
        const struct path *path = pick(prefixes, fuzz_byte(&in));
        struct peer peer = fuzz_peer(fuzz_byte(&in));
        int status = fuzz_ask(w, &(struct world_request){.method = path->method,
                                                         .path = path->path,
                                                         .peer = peer,
                                                         .content_type = "application/x-protobuf",
                                                         .accept = "",
                                                         .trace_id = "t",
                                                         .body = fuzz_piece(&in)});
        bool grpc = strncmp(path->path, "/models.Locket/", 15) == 0;
        FUZZ_REQUIRE((grpc && status < 0) || status == 200 || status == 403 || status == 404 ||
                     status == 500 || status == 503);
    }
    FUZZ_REQUIRE(ping(w) == 200);
    world_free(w);
}

#define GROUP(...) ((const char *const[]){__VA_ARGS__, NULL})

void fuzz_domains(struct bytes in)
{
    requests(GROUP("/v1/ping", "/v1/domains/", "/v1/cells/"), in);
}

void fuzz_desired(struct bytes in)
{
    requests(GROUP("/v1/desired_lrp"), in);
}

void fuzz_actual(struct bytes in)
{
    requests(GROUP("/v1/actual_lrp"), in);
}

void fuzz_tasks(struct bytes in)
{
    requests(GROUP("/v1/tasks/"), in);
}

void fuzz_own(struct bytes in)
{
    requests(GROUP("/v1/board/"), in);
}

void fuzz_events(struct bytes in)
{
    requests(GROUP("/v1/events"), in);
}

void fuzz_locket(struct bytes in)
{
    requests(GROUP("/models.Locket/"), in);
}
