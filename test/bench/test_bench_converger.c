/* What a look of the converger costs (design.md 10: a full pass over 100,000 records in 30 ms, work
 * proportional to the change when event-driven), beside a plain loop over decoded structs in the
 * same run. All is well on the board: what is measured is finding that out. What matters is the
 * ratio: a change of a tenth is noise. */
#include "common/model/keys.h"
#include "common/model/system_state.h"
#include "converger/inside.h"
#include "converger/instances.h"
#include "test/unit/drive.h"
#include "test/unit/bbs/board/feed_frames.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PASSES = 5, CHANGES = 1000 };

struct board {
    const char *name;
    int processes, instances; /* of each process */
};

struct bench {
    struct drive drive;
    struct converger *x;
    struct arena arena;
    struct buf sent;
    int64_t revision;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- The board ------------------------------------------------------------------------------- */

static const char *guid_of(struct arena *a, int process)
{
    return arena_printf(a, "process-%08d-0000-0000-0000-000000000000", process);
}

static void put(struct bench *b, const char *key, const ProtobufCMessage *m)
{
    bool snapshot = b->x->life.feed_client.snapshot || !b->x->life.feed_client.current;
    frame_change(&b->sent,
                 snapshot ? BOARD__FEED_FRAME__KIND__RECORD : BOARD__FEED_FRAME__KIND__PUT, key, m,
                 ++b->revision);
}

static void put_desired(struct bench *b, int process, int instances)
{
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.process_guid = arena_strdup(&b->arena, guid_of(&b->arena, process));
    lrp.domain = arena_strdup(&b->arena, "apps");
    lrp.root_fs = arena_strdup(&b->arena, "preloaded:busybox");
    lrp.instances = instances;
    put(b, key_desired(&b->arena, lrp.process_guid), &lrp.base);
}

static void put_actual(struct bench *b, int process, int index)
{
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    Models__PortMapping port = MODELS__PORT_MAPPING__INIT, *ports[] = {&port};
    struct arena *a = &b->arena;
    key.process_guid = arena_strdup(a, guid_of(a, process));
    key.index = index;
    key.domain = arena_strdup(a, "apps");
    instance.instance_guid = arena_printf(a, "%08d-%08d-0000-000000000000", process, index);
    instance.cell_id = arena_printf(a, "cell-%04d", (process * 7 + index) % 1000);
    net.address = arena_strdup(a, "10.0.0.1");
    net.ports = ports;
    net.n_ports = 1;
    port.container_port = 8080;
    port.host_port = 61000;
    lrp.actual_lrp_key = &key;
    lrp.actual_lrp_instance_key = &instance;
    lrp.actual_lrp_net_info = &net;
    lrp.state = arena_strdup(a, "RUNNING");
    lrp.since = b->drive.now.wall_ns;
    put(b, key_actual(a, key.process_guid, index, 0), &lrp.base);
    arena_reset(a);
}

static void send(struct bench *b)
{
    struct buf once = b->sent;
    buf_init(&b->sent);
    drive_stream(&b->drive, b->x->life.feed_client.call_id, buf_bytes(&once));
    buf_done(&once);
}

static void put_cell(struct bench *b, int n)
{
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    presence.cell_id = arena_printf(&b->arena, "cell-%04d", n);
    cell.presence = &presence;
    cell.incarnation = 1;
    put(b, key_cell(&b->arena, presence.cell_id), &cell.base);
}

static void put_domain(struct bench *b)
{
    Board__DomainRecord domain = BOARD__DOMAIN_RECORD__INIT;
    domain.domain = arena_strdup(&b->arena, "apps");
    put(b, key_domain(&b->arena, "apps"), &domain.base);
}

static void elect(struct bench *b)
{
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    leader_lock.holder = b->x->life.leader.id;
    term.role = arena_strdup(&b->arena, "converger");
    term.board_generation = arena_strdup(&b->arena, "e1");
    term.term = 1;
    r.leader_lock = &leader_lock;
    r.term = &term;
    drive_answer(&b->drive, drive_call(&b->drive, "/v1/board/leader_lock", 0)->id, &r.base);
}

/* ---- What is measured ------------------------------------------------------------------------ */

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

/* Steps until nothing is left to do at this time. Nothing may be repaired. */
static void settle(struct bench *b)
{
    const struct instances_keeper *k = (struct instances_keeper *)b->x->keepers[KEEPER_instances];
    do {
        drive_timer(&b->drive);
        if (b->x->mover.count > 0) {
            fprintf(stderr, "the board of the benchmark needs repairs\n");
            exit(1);
        }
    } while (k->work.waiting_count > 0);
}

static double full_pass(struct bench *b)
{
    double best = 1e9;
    for (int i = 0; i < PASSES; i++) {
        double started = seconds();
        b->x->full_ns = 0;
        settle(b);
        double took = seconds() - started;
        best = took < best ? took : best;
    }
    return best;
}

/* One record changes and its process is looked at, the frame of the feed included. */
static double one_change(struct bench *b, const struct board *w)
{
    struct buf frames[CHANGES];
    for (int i = 0; i < CHANGES; i++) {
        put_actual(b, i % w->processes, i * 7 % w->instances);
        frames[i] = b->sent;
        buf_init(&b->sent);
    }
    double started = seconds();
    for (int i = 0; i < CHANGES; i++) {
        drive_stream(&b->drive, b->x->life.feed_client.call_id, buf_bytes(&frames[i]));
    }
    double took = seconds() - started;
    settle(b);
    for (int i = 0; i < CHANGES; i++) {
        buf_done(&frames[i]);
    }
    return took / CHANGES;
}

/* ---- The least that anybody must do ---------------------------------------------------------- */

struct plain {
    int64_t since_ns;
    int32_t process, index, crash_count, cell;
    uint8_t presence, state;
    bool stopping;
};

static double plain_loop(const struct board *w)
{
    size_t count = (size_t)w->processes * (size_t)w->instances;
    struct plain *list = calloc(count, sizeof(*list));
    bool *lost = calloc(1000, sizeof(*lost));
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct plain){.process = (int32_t)(i / (size_t)w->instances),
                                 .index = (int32_t)(i % (size_t)w->instances),
                                 .cell = (int32_t)(i * 7 % 1000),
                                 .state = 3};
    }
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        double started = seconds();
        size_t found = 0;
        for (size_t i = 0; i < count; i++) {
            const struct plain *p = &list[i];
            found += p->index >= w->instances || p->stopping || lost[p->cell] || p->presence ||
                     (p->state == 1 && p->since_ns < pass) || (p->state == 4 && p->crash_count < 3);
        }
        volatile size_t result = found; /* a result that is never looked at is never counted */
        (void)result;
        double took = seconds() - started;
        best = took < best ? took : best;
    }
    free(list);
    free(lost);
    return best;
}

static void run(const struct board *w)
{
    struct bench b = {.revision = 10};
    struct converger_config config = {
        .name = "converger", .boards = "https://a:1,https://b:2", .url = "https://me:9017"};
    arena_init(&b.arena);
    buf_init(&b.sent);
    size_t before = mallinfo2().uordblks;
    b.x = (struct converger *)converger_new(&config);
    drive_init(&b.drive, step, b.x);
    drive_start(&b.drive);
    frame_reset(&b.sent, "e1");
    put_domain(&b);
    for (int i = 0; i < 1000; i++) {
        put_cell(&b, i);
    }
    double started = seconds();
    for (int i = 0; i < w->processes; i++) {
        put_desired(&b, i, w->instances);
        for (int j = 0; j < w->instances; j++) {
            put_actual(&b, i, j);
            if (b.sent.size > 64 * 1024) {
                send(&b);
            }
        }
    }
    frame_current(&b.sent, "e1", b.revision);
    send(&b);
    elect(&b);
    settle(&b);
    double filled = seconds() - started;
    arena_done(&b.drive.arena);
    arena_init(&b.drive.arena);
    size_t held = mallinfo2().uordblks - before;
    double pass = full_pass(&b), change = one_change(&b, w), plain = plain_loop(w);
    int records = w->processes * w->instances;
    printf("%-28s %7d records: full pass %8.2f ms (plain loop %5.2f ms), one change %8.1f us, "
           "snapshot %5.2f s, %4zu bytes a record\n",
           w->name, records, pass * 1e3, plain * 1e3, change * 1e6, filled, held / (size_t)records);
    role_free(&b.x->life.role);
    drive_done(&b.drive);
    buf_done(&b.sent);
    arena_done(&b.arena);
}

/* The state of a system, out of those of its services: read again, and kept up with each change. */
static void aggregate(size_t services)
{
    int *states = calloc(services, sizeof(*states));
    struct system_tally kept = {0};
    int spoken = 0;
    double anew = 1e9, started;
    for (size_t i = 0; i < services; i++) {
        states[i] = SERVICE_STABLE;
        system_tally_add(&kept, states[i]);
    }
    for (int pass = 0; pass < PASSES; pass++) {
        struct system_tally all = {0};
        started = seconds();
        for (size_t i = 0; i < services; i++) {
            system_tally_add(&all, states[i]);
        }
        spoken += system_state_of(&all, true);
        anew = seconds() - started < anew ? seconds() - started : anew;
    }
    started = seconds();
    for (size_t i = 0; i < services; i++) {
        system_tally_take(&kept, states[i]);
        states[i] = SERVICE_UPDATING;
        system_tally_add(&kept, states[i]);
        spoken += system_state_of(&kept, true);
    }
    double change = (seconds() - started) / (double)services;
    volatile int result = spoken; /* as above */
    (void)result;
    printf("state of a system, %zu services: read again %.1f us, kept up %.1f ns a change\n",
           services, anew * 1e6, change * 1e9);
    free(states);
}

int main(void)
{
    static const struct board boards[] = {
        {"10 instances a process", 1000, 10},
        {"1 instance a process", 10000, 1},
        {"one process", 1, 10000},
        {"10 instances a process", 10000, 10},
        {"1 instance a process", 100000, 1},
        {"one process", 1, 100000},
    };
    for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
        run(&boards[i]);
    }
    aggregate(10000);
    return 0;
}
