/* Targets: requests to the other roles, each right after its start. */
#include "auctioneer/auctioneer.h"
#include "common/contract/moment.h"
#include "converger/converger.h"
#include "rep/rep.h"
#include "test/fuzz/fuzz.h"

static void start(struct role *r)
{
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    struct event ev = {
        .kind = EVENT_START,
        .now = {.mono_ns = 1000 * SECOND_NS, .wall_ns = 1767225600 * SECOND_NS},
        .entropy = {3, 4},
    };
    role_step(r, &ev, &out);
}

struct path {
    const char *method;
    const char *path;
    bool later; /* it may be answered in a later step: the driver is asked first */
};

/* Up to a few requests, one after the other. */
static void requests(struct role *r, const struct path *paths, size_t count, struct bytes in)
{
    enum { REQUESTS_MAX = 8 };
    start(r);
    for (unsigned i = 0; i < REQUESTS_MAX && in.size > 0; i++) {
        const struct path *path = &paths[fuzz_byte(&in) % count];
        bool answered = fuzz_request(r, path->method, path->path, fuzz_piece(&in));
        FUZZ_REQUIRE(answered || path->later);
    }
    role_free(r);
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

void fuzz_rep(struct bytes in)
{
    static const char *const names[] = {"busybox", NULL}, *const none[] = {NULL};
    static const struct path paths[] = {
        {"POST", "/work"},
        {"GET", "/state"},
        {"GET", "/container_metrics", .later = true},
        {"PUT", "/v2/lrps/a/instances/b"},
        {"PUT", "/v1/lrps/a/instances/b"},
        {"POST", "/v1/lrps/a/instances/b/stop"},
        {"POST", "/v1/lrps/%61%00/instances/%zz/stop"},
        {"POST", "/v1/tasks/t/cancel"},
        {"POST", "/sim/reset"},
        {"GET", "/v1/logs/b", .later = true},
        {"GET", "/ping"},
        {"DELETE", "/state"},
        {"GET", "/nowhere"},
    };
    requests(rep_new(&(struct rep_config){.cell_id = "cell-1",
                                          .identity = "identity-1",
                                          .incarnation = 7,
                                          .zone = "z1",
                                          .boards = "https://a:1",
                                          .url = "https://cell-1:1801",
                                          .address = "10.0.0.1",
                                          .memory_mb = 1000,
                                          .disk_mb = 1000,
                                          .containers = 16,
                                          .rootfs_names = names,
                                          .placement_tags = none,
                                          .optional_placement_tags = none,
                                          .port_low = 61000,
                                          .port_high = 61100}),
             paths, COUNT(paths), in);
}

void fuzz_auctioneer(struct bytes in)
{
    static const struct path paths[] = {
        {"POST", "/v1/lrps"}, {"POST", "/v1/tasks"}, {"GET", "/state"},
        {"GET", "/why"},      {"POST", "/state"},    {"GET", "/nowhere"},
    };
    requests(auctioneer_new(&(struct auctioneer_config){.name = "auctioneer-1",
                                                        .boards = "https://a:1",
                                                        .url = "https://auctioneer-1:1",
                                                        .zones = "",
                                                        .scoring = "default",
                                                        .backlog_max = 1024}),
             paths, COUNT(paths), in);
}

void fuzz_converger(struct bytes in)
{
    static const struct path paths[] = {
        {"POST", "/once"}, {"GET", "/plan"}, {"GET", "/state"}, {"POST", "/state"}, {"GET", "/x"},
    };
    requests(converger_new(&(struct converger_config){.name = "converger-1",
                                                      .boards = "https://a:1",
                                                      .url = "https://converger-1:1"}),
             paths, COUNT(paths), in);
}
