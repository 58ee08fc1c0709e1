/* From the desire of an LRP to RUNNING as the feed tells it, beside bare `runc run --detach` of the
 * same configuration and root filesystem, round by round in one run.
 *   test_bench_start [--rounds N] [--wide-rounds N]
 * Started by test/bench/test_cluster. BENCH_BUNDLES names a directory with the bundles bare-0 to
 * bare-19, mounted; BENCH_CONTAINERS, separated by commas, where the cells keep their containers.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/contract/moment.h"
#include "common/model/record.h"
#include "models/actual_lrp.pb-c.h"
#include "test/bench/bench_figures.h"
#include "test/bench/bench_io.h"
#include "test/bench/bench_requests.h"

enum {
    WIDE = 20,
    LIMITED_DISK_MB = 64,
    POLL_MS = 5,
    SETTLE_MS = 300, /* a TERM that an init just begun does not take costs 10 s, until the KILL */
    EMPTY_MS = 30 * 1000, /* until the last container of a round has gone */
};

struct watched {
    struct bench *bench;
    char guid[64];
    int64_t desired_ns;
    int instances, running, present;
    double took_ms[WIDE];
};

static double ms_since(int64_t at_ns)
{
    return (double)(bench_now_ns() - at_ns) / 1e6;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * MILLISECOND_NS}, NULL);
}

/* ---- Through the cluster ---- */

static void see_put(struct watched *w, const Models__ActualLRP *lrp)
{
    const Models__ActualLRPKey *key = lrp->actual_lrp_key;
    if (!key || strcmp(key->process_guid, w->guid) != 0 || key->index >= w->instances ||
        strcmp(lrp->state, "RUNNING") != 0 || w->took_ms[key->index] > 0) {
        return;
    }
    w->took_ms[key->index] = ms_since(w->desired_ns);
    if (++w->running == w->instances) {
        bench_done(w->bench);
    }
}

static void on_frame(void *context, const Board__FeedFrame *frame)
{
    struct watched *w = context;
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    struct err err;
    if (frame->kind == BOARD__FEED_FRAME__KIND__CURRENT) {
        bench_done(w->bench);
    } else if (frame->kind == BOARD__FEED_FRAME__KIND__PUT &&
               record_decode(&a, RECORD_ACTUAL,
                             (struct bytes){frame->record.data, frame->record.len}, &m,
                             &err) == 0) {
        see_put(w, (const Models__ActualLRP *)m);
    }
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    bool empty = true;
    while (d && (e = readdir(d))) {
        empty = empty && e->d_name[0] == '.';
    }
    if (d) {
        closedir(d);
    }
    return empty;
}

/* Removal is not measured, and must not stand beside what is. */
static void await_empty_cells(void)
{
    char dirs[4096], *state = NULL;
    snprintf(dirs, sizeof(dirs), "%s", bench_needed("BENCH_CONTAINERS"));
    int64_t at = bench_now_ns();
    for (char *d = strtok_r(dirs, ",", &state); d; d = strtok_r(NULL, ",", &state)) {
        while (!is_empty(d)) {
            if (ms_since(at) > EMPTY_MS) {
                fprintf(stderr, "bench: containers are left in %s\n", d);
                exit(1);
            }
            sleep_ms(POLL_MS);
        }
    }
}

static void start_in_cluster(struct watched *w, int instances, int disk_mb, struct samples *to)
{
    static int number;
    SCOPED_ARENA(a);
    const char *path;
    snprintf(w->guid, sizeof(w->guid), "bench-start-%d-%d", (int)getpid(), number++);
    w->instances = instances;
    w->running = 0;
    memset(w->took_ms, 0, sizeof(w->took_ms));
    struct bench_process p = {w->guid, instances, disk_mb};
    const ProtobufCMessage *m = bench_desire(&a, &p, &path);
    w->desired_ns = bench_now_ns();
    bench_call(w->bench, path, m);
    if (!bench_wait(w->bench)) {
        fprintf(stderr, "bench: %d of %d instances run\n", w->running, instances);
        exit(1);
    }
    for (int i = 0; to && i < instances; i++) {
        bench_add(to, w->took_ms[i]);
    }
    sleep_ms(SETTLE_MS);
    m = bench_remove(&a, w->guid, &path);
    bench_call(w->bench, path, m);
    await_empty_cells();
}

/* ---- Bare ---- */

/* The words with which the driver starts a container; output to nowhere. */
static pid_t spawn_runtime(int bundle, bool run)
{
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid > 0) {
        return pid;
    }
    char id[32];
    snprintf(id, sizeof(id), "bare-%d", bundle);
    int null = open("/dev/null", O_RDWR);
    if (chdir(bench_needed("BENCH_BUNDLES")) < 0 || chdir(id) < 0 || null < 0) {
        _exit(126);
    }
    for (int fd = 0; fd < 3; fd++) {
        dup2(null, fd);
    }
    closefrom(3);
    if (run) {
        execlp("runc", "runc", "--root=../runtime", "--log=runtime.log", "--log-format=json", "run",
               "--detach", "--bundle=.", "--pid-file=runtime.pid", id, NULL);
    } else {
        execlp("runc", "runc", "--root=../runtime", "delete", "--force", id, NULL);
    }
    _exit(127);
}

static void await_runtime(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bench: runc failed: see runtime.log in %s/bare-*\n",
                bench_needed("BENCH_BUNDLES"));
        exit(1);
    }
}

/* At most as many at once as there are cores, as the driver does. */
static void start_bare(int instances, struct samples *to)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t at = bench_now_ns();
    int next = 0, open = 0, status;
    while (next < instances || open > 0) {
        if (next < instances && open < cores) {
            spawn_runtime(next++, true);
            open++;
            continue;
        }
        if (wait(&status) < 0 || status != 0) {
            fprintf(stderr, "bench: runc failed: see runtime.log of the bundles\n");
            exit(1);
        }
        if (to) {
            bench_add(to, ms_since(at));
        }
        open--;
    }
    for (int i = 0; i < instances; i++) {
        await_runtime(spawn_runtime(i, false));
    }
}

/* ---- Rounds ---- */

struct figure {
    const char *name;
    int instances, disk_mb;
    struct samples cluster, bare;
};

static void measure(struct watched *w, struct figure *f, int rounds)
{
    for (int i = -1; i < rounds; i++) { /* the first one only warms up */
        start_in_cluster(w, f->instances, f->disk_mb, i < 0 ? NULL : &f->cluster);
        start_bare(f->instances, i < 0 ? NULL : &f->bare);
    }
    for (int percent = 50; percent <= 99; percent += 49) {
        char name[80];
        snprintf(name, sizeof(name), "desire to RUNNING, %s, p%d", f->name, percent);
        bench_row(name, bench_percentile(&f->cluster, percent), "ms",
                  bench_percentile(&f->bare, percent), "runc run --detach");
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'},
        {"wide-rounds", required_argument, NULL, 'w'},
        {0},
    };
    static struct figure one = {.name = "1 instance", .instances = 1};
    static struct figure limited = {
        .name = "1, limited disk", .instances = 1, .disk_mb = LIMITED_DISK_MB};
    static struct figure wide = {.name = "20 instances", .instances = WIDE};
    static struct watched w;
    int rounds = 50, wide_rounds = 5, c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        *(c == 'r' ? &rounds : &wide_rounds) = atoi(optarg);
    }
    if (rounds < 1 || rounds > 1000 || wide_rounds < 1 || wide_rounds > 100) {
        fprintf(stderr, "bench: 1 to 1000 rounds, 1 to 100 wide ones\n");
        return 2;
    }
    w.bench = bench_new();
    bench_follow(w.bench, "actual", on_frame, &w);
    if (!bench_wait(w.bench)) {
        fprintf(stderr, "bench: the feed does not become current\n");
        return 1;
    }
    measure(&w, &one, rounds);
    measure(&w, &limited, (rounds + 3) / 4);
    measure(&w, &wide, wide_rounds);
    bench_free(w.bench);
    return 0;
}
