#include "test/chaos/workload/work.h"

#include "models/ping.pb-c.h"
#include "test/chaos/chaos.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The rest: what is judged of a calm of 60 s, 30 s after the last fault, is judged at its end
 * (judge/checks.h). */
enum {
    THREADS_MAX = 2 * TARGET_PROCESSES_MAX,
    WORK_TASKS = 3,
    REST_MS = 100000,
    READY_EVERY_MS = 100,
    PING_TIMES = 3,
};

struct threads {
    pthread_t ids[THREADS_MAX];
    struct worker workers[THREADS_MAX];
    int count;
};

static void begin(struct threads *t, struct work *work, void *(*run)(void *),
                  const struct target_process *bbs)
{
    struct worker *w = &t->workers[t->count];
    *w = (struct worker){.work = work,
                         .number = t->count,
                         .bbs = bbs,
                         .caller = caller_new(&work->target, &work->target.client),
                         .random = work->seed + 0x9e3779b97f4a7c15u * (unsigned)(t->count + 1)};
    w->random |= 1;
    pthread_create(&t->ids[t->count++], NULL, run, w);
}

static void begin_all(struct threads *t, struct work *work)
{
    for (size_t i = 0; i < work->target.bbs_count; i++) {
        begin(t, work, work_reads, &work->target.bbs[i]);
    }
    for (int i = 0; i < WORK_CLIENTS; i++) {
        begin(t, work, work_registers, NULL);
    }
    for (int i = 0; i < WORK_VISITORS; i++) {
        begin(t, work, work_visits, NULL);
    }
    for (int i = 0; i < WORK_TASKS; i++) {
        begin(t, work, work_tasks, NULL);
    }
    begin(t, work, work_apps, NULL);
    begin(t, work, work_churn, NULL);
    begin(t, work, work_probes, NULL);
}

static void tell(struct work *work, const char *what)
{
    json_t *line =
        json_pack("{s:s, s:s, s:I, s:s, s:I}", "kind", "work", "what", what, "at",
                  (json_int_t)chaos_now_ns(), "run", work->run, "seed", (json_int_t)work->seed);
    json_t *apps = json_object();
    for (int i = 0; i < WORK_APPS; i++) {
        char guid[128];
        snprintf(guid, sizeof(guid), "%s-%s", work->run, steady_apps[i].name);
        json_object_set_new(apps, guid, json_integer(steady_apps[i].instances));
    }
    json_object_set_new(line, "apps", apps);
    json_object_set_new(line, "stale_domain", json_string(CHAOS_STALE_DOMAIN));
    record(work->recorder, line);
}

static int usage(FILE *to)
{
    fprintf(to,
            "chaos work DIR [--seed N]\n\n"
            "Makes calls to the cluster of DIR/target.json, runs apps and tasks on it, and "
            "records into\nDIR/history, until TERM. Then it changes nothing any more for %d s, "
            "so that the cluster\ncomes to rest, and ends; a second TERM ends it at once. Makes "
            "DIR/ready when its "
            "apps run.\n",
            REST_MS / 1000);
    return to == stdout ? CHAOS_GOOD : CHAOS_USAGE;
}

/* Nobody but this thread gets them. */
static sigset_t signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

static bool apps_run(struct work *work)
{
    for (int i = 0; i < WORK_APPS; i++) {
        char guid[128];
        snprintf(guid, sizeof(guid), "%s-%s", work->run, steady_apps[i].name);
        if (routes_of(work->routes, guid) < steady_apps[i].instances) {
            return false;
        }
    }
    return true;
}

/* Says by a file that the apps run, so that the first fault finds them running. */
static void tell_ready(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/ready", dir);
    FILE *file = fopen(path, "we");
    if (!file || fclose(file) != 0) {
        fprintf(stderr, "chaos work: %s: %s\n", path, strerror(errno));
    }
}

static void wait_and_end(struct work *work, struct threads *t)
{
    sigset_t set = signals();
    int got = -1;
    while (got < 0 && !apps_run(work)) {
        got = sigtimedwait(&set, NULL, &(struct timespec){0, READY_EVERY_MS * 1000000});
    }
    if (got < 0) {
        tell_ready(work->dir);
        sigwait(&set, &got);
    }
    tell(work, "rest");
    atomic_store(&work->rest, true);
    sigtimedwait(&set, NULL, &(struct timespec){REST_MS / 1000, 0});
    tell(work, "end");
    atomic_store(&work->stop, true);
    for (int i = 0; i < t->count; i++) {
        pthread_join(t->ids[i], NULL);
    }
    work_remove_apps(&t->workers[0]);
    for (int i = 0; i < t->count; i++) {
        caller_free(t->workers[i].caller);
    }
}

static int prepare(struct work *work, int argc, char **argv)
{
    struct err err = {0};
    if (getrandom(&work->seed, sizeof(work->seed), 0) < 0) {
        work->seed = (uint64_t)chaos_now_ns();
    }
    work->seed >>= 16;
    if (argc == 4 && strcmp(argv[2], "--seed") == 0) {
        work->seed = strtoull(argv[3], NULL, 10);
    } else if (argc != 2) {
        return usage(stderr);
    }
    work->dir = argv[1];
    if (target_read(work->dir, &work->target, &err) < 0) {
        fprintf(stderr, "chaos work: %s\n", err.text);
        return CHAOS_USAGE;
    }
    snprintf(work->run, sizeof(work->run), "c%x", (unsigned)(chaos_now_ns() / 1000000));
    return CHAOS_GOOD;
}

/* Before anything is done: of a bbs that nobody reaches a history would say nothing but that. */
static bool all_answer(const struct target *target)
{
    bool all = true;
    struct caller *c = caller_new(target, &target->client);
    for (size_t i = 0; all && i < target->bbs_count; i++) {
        const struct target_process *bbs = &target->bbs[i];
        SCOPED_ARENA(a);
        struct reply r = {.answered = false};
        for (int n = 0; n < PING_TIMES && !r.answered; n++) {
            r = caller_post(c, &a, bbs->url, "/v1/ping", NULL, &models__ping_response__descriptor);
        }
        all = r.answered;
        if (!all) {
            fprintf(stderr, "chaos work: %s does not answer at %s: %s\n", bbs->name, bbs->url,
                    r.why);
        }
    }
    caller_free(c);
    return all;
}

int chaos_work(int argc, char **argv)
{
    static struct threads threads;
    struct work work = {.lead_lock = PTHREAD_MUTEX_INITIALIZER};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        return usage(stdout);
    }
    int r = prepare(&work, argc, argv);
    if (r != CHAOS_GOOD) {
        return r;
    }
    sigset_t set = signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (!all_answer(&work.target)) {
        return CHAOS_IMPOSSIBLE;
    }
    work.recorder = recorder_open(work.dir, "work");
    work.routes = routes_new();
    tell(&work, "begin");
    begin_all(&threads, &work);
    wait_and_end(&work, &threads);
    recorder_close(work.recorder);
    free(work.routes);
    return CHAOS_GOOD;
}
