/* Many sites of one centre, and what is asked of it for all of them. Started by
 * test/bench/test_sites, which takes the figures of the processes; prints "NAME VALUE" a line.
 *
 *   test_bench_sites host N DIR      N CRMs in this process (sites_io.h), certificates by the CA in
 *       DIR. Each time all are READY: "ready MS P50": since the last command, all and half of them.
 *       Commands, a line each: break, restart, restart NUMBER, mark; it ends with its input.
 *   test_bench_sites VERB KIND SITES [CLUSTERS APPS NAME]   create, refresh or delete, of kind
 *       cloudlet, cluster or instance, 64 under
 *       way; the objects are CLUSTERS clusters NAME<c> of
 *       each site, and APPS instances in each of these. Prints, in ms, when the answers came and
 *       when the objects were READY, or gone.
 *   test_bench_sites claims FILE     one claim of an instance after the other, 200 a second at
 * most, until FILE goes: p50 and p99 of them. Nobody else may claim meanwhile. test_bench_sites
 * await STATE COUNT      until so many cloudlets are said to be in this state
 */
#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/model/keys.h"
#include "common/model/record.h"
#include "edge_api.pb-c.h"
#include "test/bench/bench_io.h"
#include "test/bench/bench_requests.h"
#include "test/bench/site_certs_io.h"
#include "test/bench/sites_io.h"

#include <assert.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 256, LINE_BYTES = 64, OBJECTS_MAX = 65536, AWAIT_TRIES = 20 };
/* At one site one after the other: two conflict about what it has given out, and eight are refused
 * in part. */
enum { WIDTH_AT_ONE_SITE = 1 };
enum { WIDTH = 64 }; /* requests under way, each on a connection of its own */
enum { CLAIMS_MAX = 2000, CLAIM_PAUSE_US = 5000 };

static double ms_since(int64_t begun_ns)
{
    return (double)(bench_now_ns() - begun_ns) / 1e6;
}

/* ---- The host -------------------------------------------------------------------------------- */

struct hosting {
    struct event_base *loop;
    struct sites *sites;
    int64_t begun_ns;
    double *ready_ms; /* when so many, less one, were READY last */
    int seen;         /* of these */
};

static void on_change(void *context)
{
    struct hosting *h = context;
    int ready = h->sites ? sites_ready(h->sites) : 0, count = h->sites ? sites_count(h->sites) : 0;
    if (ready > h->seen) {
        h->ready_ms[ready - 1] = ms_since(h->begun_ns);
    }
    if (ready == count && ready > h->seen) {
        printf("ready %.1f %.1f\n", h->ready_ms[count - 1], h->ready_ms[(count - 1) / 2]);
        fflush(stdout);
    }
    h->seen = ready;
}

static void obey(struct hosting *h, const char *line)
{
    int number = -1;
    h->begun_ns = bench_now_ns();
    if (strcmp(line, "break") == 0) {
        printf("broken %d\n", sites_break(h->sites));
    } else if (strcmp(line, "restart") == 0 || sscanf(line, "restart %d", &number) == 1) {
        sites_restart(h->sites, number);
    } else if (strcmp(line, "mark") == 0) {
        printf("marked %d\n", sites_ready(h->sites));
    } else {
        fprintf(stderr, "bench: no such command: %s\n", line);
    }
    fflush(stdout);
}

static void on_command(evutil_socket_t fd, short what, void *context)
{
    (void)what;
    struct hosting *h = context;
    char text[LINE_BYTES + 1], *state = NULL;
    ssize_t size = read(fd, text, LINE_BYTES);
    if (size <= 0) {
        event_base_loopbreak(h->loop);
        return;
    }
    text[size] = 0;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        obey(h, line);
    }
}

static void add_sites(struct hosting *h, int count, const char *dir)
{
    struct site_ca *ca = site_ca_open(dir);
    char(*certs)[PATH_BYTES] = calloc((size_t)count, sizeof(*certs));
    char(*keys)[PATH_BYTES] = calloc((size_t)count, sizeof(*keys));
    assert(certs && keys);
    for (int i = 0; i < count; i++) {
        char cloudlet[LINE_BYTES];
        snprintf(cloudlet, sizeof(cloudlet), "acme/s%d", i);
        snprintf(certs[i], sizeof(certs[i]), "%s/bench-%d.crt", dir, i);
        snprintf(keys[i], sizeof(keys[i]), "%s/bench-%d.key", dir, i);
        site_ca_issue(ca, cloudlet, certs[i], keys[i]);
    }
    h->begun_ns = bench_now_ns();
    for (int i = 0; i < count; i++) {
        sites_add(h->sites, certs[i], keys[i]);
    }
    free(certs);
    free(keys);
    site_ca_close(ca);
}

static int host(int count, const char *dir)
{
    struct hosting h = {.ready_ms = calloc((size_t)count, sizeof(double))};
    signal(SIGPIPE, SIG_IGN);
    h.loop = event_base_new();
    h.sites = sites_new(&(struct sites_config){.loop = h.loop,
                                               .centres = bench_needed("BENCH_BBS_URLS"),
                                               .ca = bench_needed("CA_CERT_FILE"),
                                               .on_change = on_change,
                                               .context = &h});
    add_sites(&h, count, dir);
    struct event *input = event_new(h.loop, STDIN_FILENO, EV_READ | EV_PERSIST, on_command, &h);
    assert(h.ready_ms && input && event_add(input, NULL) == 0);
    event_base_dispatch(h.loop);
    int ended = sites_ended(h.sites);
    event_free(input);
    sites_free(h.sites);
    event_base_free(h.loop);
    free(h.ready_ms);
    return ended > 0;
}

/* ---- What is asked of the centre ------------------------------------------------------------- */

struct asked {
    struct bench *bench;
    const char *verb, *kind, *name;
    int sites, clusters, apps, count;
    enum record_type type;
    struct map indexes; /* key of an object -> its index, from 1 */
    uint64_t *requests; /* that each had before */
    double *done_ms;    /* 0 = not yet */
    int done;
    int64_t begun_ns;
    bool current;
};

static const char *name_of(struct arena *a, const struct asked *x, int unit)
{
    int site = unit % x->sites, cluster = unit / x->sites % x->clusters;
    int app = unit / x->sites / x->clusters;
    if (x->type == RECORD_CLOUDLET) {
        return arena_printf(a, "acme/s%d", site);
    }
    const char *web = arena_printf(a, "acme/s%d/dev/%s%d", site, x->name, cluster);
    return x->type == RECORD_CLUSTERINST ? web : arena_printf(a, "%s/dev/app%d/1.0", web, app);
}

static const ProtobufCMessage *request(void *context, struct arena *a, int unit, int step,
                                       const char **ret_path)
{
    (void)step;
    const struct asked *x = context;
    Board__EdgeRequest *r = arena_message(a, &board__edge_request__descriptor);
    r->name = arena_strdup(a, name_of(a, x, unit));
    r->says = arena_message(a, &board__edge_move__descriptor);
    r->says->force = strcmp(x->verb, "refresh") == 0;
    bool creates = strcmp(x->verb, "create") == 0;
    if (creates && x->type == RECORD_CLOUDLET) {
        r->says->cloudlet = arena_message(a, &board__cloudlet_spec__descriptor);
        r->says->cloudlet->latitude = 48.85;
        r->says->cloudlet->longitude = 2.35;
    } else if (creates && x->type == RECORD_CLUSTERINST) {
        r->says->cluster = arena_message(a, &board__cluster_spec__descriptor);
        r->says->cluster->flavor = arena_strdup(a, "small");
        r->says->cluster->nodes = 1;
    }
    *ret_path = arena_printf(a, "/v1/edge/%s/%s", x->kind, x->verb);
    return &r->base;
}

static void is_done(struct asked *x, size_t index)
{
    if (x->done_ms[index] == 0) {
        x->done_ms[index] = ms_since(x->begun_ns);
        x->done++;
        if (x->done == x->count) {
            bench_done(x->bench);
        }
    }
}

static void see(struct asked *x, size_t index, const char *state, uint64_t request, bool before)
{
    if (before) {
        x->requests[index] = request;
    } else if (strcmp(state, "READY") == 0 && request > x->requests[index]) {
        is_done(x, index);
    }
}

static void on_object(void *context, const Board__FeedFrame *frame)
{
    struct asked *x = context;
    if (frame->kind == BOARD__FEED_FRAME__KIND__CURRENT && !x->current) {
        x->current = true;
        bench_done(x->bench);
    }
    const size_t *known = map_get(&x->indexes, frame->key);
    if (!known) {
        return;
    }
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct bytes record = {frame->record.data, frame->record.len};
    bool gone = frame->kind == BOARD__FEED_FRAME__KIND__DELETE;
    if (gone && strcmp(x->verb, "delete") == 0) {
        is_done(x, *known);
    } else if (!gone && record_decode(&a, x->type, record, &m, NULL) == 0) {
        const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)m;
        const Board__AppInstRecord *i = (const Board__AppInstRecord *)m;
        bool cluster = x->type == RECORD_CLUSTERINST;
        see(x, *known, cluster ? c->state : i->state, cluster ? c->request : i->request,
            !x->current);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A cloudlet is READY when its site comes, which nobody waits for here. */
static int ask(struct asked *x)
{
    struct bench_result r;
    bool awaited = x->type != RECORD_CLOUDLET;
    if (awaited) {
        bench_follow(x->bench, x->type == RECORD_CLUSTERINST ? "clusterinst" : "appinst", on_object,
                     x);
        if (!bench_wait(x->bench)) {
            fprintf(stderr, "bench: no feed\n");
            return 1;
        }
    }
    x->begun_ns = bench_now_ns();
    int width = x->sites > 1 ? WIDTH : WIDTH_AT_ONE_SITE;
    r = bench_load(x->bench, x->count < width ? x->count : width, x->count, 1, request, x);
    printf("answers_s %.3f\nanswer_p50_ms %.2f\nanswer_p99_ms %.2f\n", x->count / r.per_second,
           r.p50_ms, r.p99_ms);
    if (r.failures) {
        fprintf(stderr, "bench: %d of %d were refused\n", r.failures, x->count);
        return 1;
    }
    while (awaited && x->done < x->count) {
        int before = x->done;
        if (!bench_wait(x->bench) && x->done == before) {
            fprintf(stderr, "bench: %d of %d were done\n", x->done, x->count);
            return 1;
        }
    }
    if (awaited) {
        qsort(x->done_ms, (size_t)x->count, sizeof(double), by_value);
        printf("done_p50_ms %.1f\ndone_p99_ms %.1f\ndone_max_ms %.1f\n", x->done_ms[x->count / 2],
               x->done_ms[x->count * 99 / 100], x->done_ms[x->count - 1]);
    }
    return 0;
}

static int ask_all(const char *verb, const char *kind, int sites, int clusters, int apps,
                   const char *name)
{
    struct asked x = {.verb = verb, .kind = kind, .name = name, .sites = sites};
    x.type = strcmp(kind, "cloudlet") == 0  ? RECORD_CLOUDLET
             : strcmp(kind, "cluster") == 0 ? RECORD_CLUSTERINST
                                            : RECORD_APPINST;
    x.clusters = x.type == RECORD_CLOUDLET ? 1 : clusters;
    x.apps = x.type == RECORD_APPINST ? apps : 1;
    x.count = x.sites * x.clusters * x.apps;
    if (x.count < 1 || x.count > OBJECTS_MAX) {
        fprintf(stderr, "bench: %d objects, and not 1 to %d\n", x.count, OBJECTS_MAX);
        return 2;
    }
    SCOPED_ARENA(a);
    map_init(&x.indexes);
    size_t *indexes = calloc((size_t)x.count, sizeof(*indexes));
    x.requests = calloc((size_t)x.count, sizeof(*x.requests));
    x.done_ms = calloc((size_t)x.count, sizeof(*x.done_ms));
    assert(indexes && x.requests && x.done_ms);
    for (int i = 0; i < x.count; i++) {
        indexes[i] = (size_t)i;
        map_put(&x.indexes, key_edge(&a, x.type, name_of(&a, &x, i)), &indexes[i]);
    }
    x.bench = bench_new();
    int r = ask(&x);
    bench_free(x.bench);
    map_done(&x.indexes, NULL);
    free(indexes);
    free(x.requests);
    free(x.done_ms);
    return r;
}

/* ---- Waiting for a state --------------------------------------------------------------------- */

struct awaited {
    struct bench *bench;
    const char *state;
    int count;
    struct map in; /* keys in that state */
    int64_t begun_ns;
    bool first;
};

static void on_info(void *context, const Board__FeedFrame *frame)
{
    struct awaited *x = context;
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct bytes record = {frame->record.data, frame->record.len};
    if (!*frame->key || frame->kind == BOARD__FEED_FRAME__KIND__DELETE ||
        record_decode(&a, RECORD_CLOUDLETINFO, record, &m, NULL) < 0) {
        return;
    }
    map_remove(&x->in, frame->key);
    if (strcmp(((const Board__CloudletInfoRecord *)m)->state, x->state) == 0) {
        map_put(&x->in, frame->key, x);
    }
    if (x->in.count > 0 && !x->first) {
        x->first = true;
        printf("first_ms %.1f\n", ms_since(x->begun_ns));
    }
    if (x->in.count == (size_t)x->count) {
        bench_done(x->bench);
    }
}

static int await(const char *state, int count)
{
    struct awaited x = {.bench = bench_new(), .state = state, .count = count};
    map_init(&x.in);
    x.begun_ns = bench_now_ns();
    bench_follow(x.bench, "cloudletinfo", on_info, &x);
    bool done = false;
    for (int i = 0; i < AWAIT_TRIES && !done; i++) {
        done = bench_wait(x.bench);
    }
    if (done) {
        printf("last_ms %.1f\n", ms_since(x.begun_ns));
    } else {
        fprintf(stderr, "bench: %zu of %d are %s\n", x.in.count, count, state);
    }
    map_done(&x.in, NULL);
    bench_free(x.bench);
    return !done;
}

/* ---- Claims beside that ---------------------------------------------------------------------- */

static const ProtobufCMessage *claim(void *context, struct arena *a, int unit, int step,
                                     const char **ret_path)
{
    (void)unit, (void)step;
    const int *index = context;
    const char *process = arena_printf(a, "bench-%d", (int)getpid());
    struct bench_process p = {process, CLAIMS_MAX, 0, 0};
    return *index < 0
               ? bench_desire(a, &p, ret_path)
               : bench_claim(a, process, *index, arena_printf(a, "guid-%d", *index), ret_path);
}

static const ProtobufCMessage *removal(void *context, struct arena *a, int unit, int step,
                                       const char **ret_path)
{
    (void)context, (void)unit, (void)step;
    return bench_remove(a, arena_printf(a, "bench-%d", (int)getpid()), ret_path);
}

static int claims(const char *file)
{
    struct bench *b = bench_new();
    double *took = calloc(CLAIMS_MAX, sizeof(*took));
    int index = -1, failures = bench_load(b, 1, 1, 1, claim, &index).failures;
    assert(took);
    printf("claiming\n");
    fflush(stdout);
    for (index = 0; index < CLAIMS_MAX && !failures && access(file, F_OK) == 0; index++) {
        struct bench_result r = bench_load(b, 1, 1, 1, claim, &index);
        took[index] = r.p50_ms;
        failures += r.failures;
        usleep(CLAIM_PAUSE_US);
    }
    if (index > 0 && !failures) {
        qsort(took, (size_t)index, sizeof(*took), by_value);
        printf("claims %d\nclaim_p50_ms %.2f\nclaim_p99_ms %.2f\nclaim_max_ms %.2f\n", index,
               took[index / 2], took[index * 99 / 100], took[index - 1]);
    }
    failures += bench_load(b, 1, 1, 1, removal, NULL).failures;
    free(took);
    bench_free(b);
    return failures > 0;
}

static int number(const char *t)
{
    return (int)strtol(t, NULL, 10);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "host") == 0 && number(argv[2]) > 0) {
        return host(number(argv[2]), argv[3]);
    }
    if (argc == 4 && strcmp(argv[1], "await") == 0) {
        return await(argv[2], number(argv[3]));
    }
    if (argc == 3 && strcmp(argv[1], "claims") == 0) {
        return claims(argv[2]);
    }
    if (argc == 4 || argc == 7) {
        bool more = argc == 7;
        return ask_all(argv[1], argv[2], number(argv[3]), more ? number(argv[4]) : 1,
                       more ? number(argv[5]) : 1, more ? argv[6] : "web");
    }
    fprintf(stderr,
            "usage: %s host N DIR | claims FILE | await STATE COUNT | "
            "VERB KIND SITES [CLUSTERS APPS NAME]\n",
            argv[0]);
    return 2;
}
