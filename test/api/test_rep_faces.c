/* The rep's faces for outside callers, over TLS (rep-auctioneer.md 2): a rep with a real container,
 * which it adopted, and without a bbs. JSON is compared to the byte. */
#include "common/shell/host_io.h"
#include "rep/container/note.h"
#include "rep/driver/driver_io.h"
#include "rep/rep.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"
#include "test/tool/tls_client.h"

#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GUID "12345678-90ab-cdef-1234-5678"

/* That the rep may open, beside those of probes, and its driver of them. */
enum { FILES = 200 + PROBES_MAX, DRIVER_FILES = 100 };

static struct certs certs;
static struct tls_files server_files, client_files, auctioneer_files, bbs_files;
static char state_dir[64], shim[PATH_MAX], log_path[96];
static struct driver_rootfs rootfs = {.name = "busybox", .path = "/"};
static pid_t rep_pid;
static int rep_port;

/* ---- A container that runs before the rep does ---- */

static enum verb_outcome outcome;
static struct event_base *loop;

static void on_event(void *owner, const struct event *ev)
{
    if (ev->kind == EVENT_VERB) {
        outcome = ev->verb.outcome;
        event_base_loopbreak(loop);
    }
}

static struct driver_config driver_config(void)
{
    return (struct driver_config){.kind = DRIVER_PROCESS,
                                  .state_dir = state_dir,
                                  .shim = shim,
                                  .rootfs = &rootfs,
                                  .rootfs_count = 1};
}

static void verb(struct driver_shell *d, struct verb_call call)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    call.id = 1;
    call.guid = GUID;
    call.deadline_ns = now.tv_sec * SECOND_NS + PATIENCE_MS * MILLISECOND_NS;
    d->ops->call(d, &call);
    event_base_loop(loop, EVLOOP_NO_EXIT_ON_EMPTY);
    assert_int_equal(outcome, VERB_DONE);
}

static struct bytes note_of(struct arena *a)
{
    Rep__Note note = REP__NOTE__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)"web";
    key.index = 2;
    key.domain = (char *)"d";
    note.format = NOTE_FORMAT;
    note.key = &key;
    note.instance_guid = (char *)GUID;
    note.root_fs = (char *)"preloaded:busybox";
    note.memory_mb = 100;
    note.disk_mb = 10;
    note.metric_guid = (char *)"web-metrics";
    return note_pack(a, &note);
}

static void container(bool begin)
{
    struct driver_config config = driver_config();
    struct err err = {.text = ""};
    SCOPED_ARENA(a);
    const char *args[] = {"-c", "echo one; echo two; echo bad >&2; exec sleep 100", NULL};
    struct container_spec spec = {.rootfs = "preloaded:busybox", .path = "/bin/sh", .args = args};
    loop = event_base_new();
    struct driver_shell *d =
        driver_open(&config, loop, &(struct driver_owner){.deliver = on_event}, &err);
    if (!d) {
        fail_msg("%s", err.text);
    }
    if (begin) {
        verb(d, (struct verb_call){.verb = VERB_PREPARE, .spec = &spec, .note = note_of(&a)});
        verb(d, (struct verb_call){.verb = VERB_START});
    } else {
        verb(d, (struct verb_call){.verb = VERB_REMOVE});
    }
    d->ops->free(d);
    event_base_free(loop);
}

/* ---- The rep ---- */

static void run_rep(void)
{
    static const char *const names[] = {"busybox", NULL}, *const none[] = {NULL};
    struct driver_config driver = driver_config();
    struct host_config host = {.name = "cell-1",
                               .listen = "127.0.0.1:0",
                               .tls = server_files,
                               .driver_new = driver_new,
                               .driver_config = &driver,
                               .driver_files = DRIVER_FILES};
    struct rlimit files = {FILES, FILES};
    struct rep_config config = {.cell_id = "cell-1",
                                .identity = "i",
                                .incarnation = 1,
                                .zone = "z1",
                                .boards = "https://127.0.0.1:1",
                                .url = "https://cell-1:1801",
                                .address = "10.0.0.1",
                                .memory_mb = 1000,
                                .disk_mb = 1000,
                                .containers = 4,
                                .proxy_memory_mb = 32,
                                .index = 5,
                                .rootfs_names = names,
                                .placement_tags = none,
                                .optional_placement_tags = none,
                                .port_low = 61000,
                                .port_high = 61010};
    struct err err = {.text = ""};
    setrlimit(RLIMIT_NOFILE, &files);
    struct role *role = rep_new(&config);
    int r = host_run(role, &host, &err);
    role_free(role);
    dprintf(STDERR_FILENO, "ended: %s\n", err.text);
    exit(r);
}

static int setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    server_files = certs_make(&certs, "server", "rep", "cell-1", 3600);
    client_files = certs_make(&certs, "client", "client", "admin", 3600);
    auctioneer_files = certs_make(&certs, "auctioneer", "auctioneer", "a", 3600);
    bbs_files = certs_make(&certs, "bbs", "bbs", "b", 3600);
    snprintf(state_dir, sizeof(state_dir), "/tmp/corkboard-faces-XXXXXX");
    assert_non_null(mkdtemp(state_dir));
    ssize_t n = readlink("/proc/self/exe", shim, sizeof(shim) - 1);
    shim[n > 0 ? n : 0] = '\0';
    strcpy(strstr(shim, "/test/api/"), "/bin/rep-shim");
    container(true);
    snprintf(log_path, sizeof(log_path), "%s/log", certs.dir);
    int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    rep_pid = fork();
    if (rep_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(fd, STDERR_FILENO);
        run_rep();
    }
    close(fd);
    rep_port = patience_port_in_log(log_path, "\"listens\"");
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    kill(rep_pid, SIGINT); /* at once: TERM would empty the cell first */
    waitpid(rep_pid, NULL, 0);
    container(false);
    snprintf(command, sizeof(command), "rm -rf %s", state_dir);
    unlink(log_path);
    certs_done(&certs);
    return system(command);
}

/* ---- What it is asked ---- */

static int ask(const struct tls_files *files, const char *method, const char *path,
               const char *text, struct buf *body)
{
    struct tls_client c;
    buf_clear(body);
    assert_true(client_open(&c, rep_port, files, 0));
    int status = client_ask(&c, method, path, text, strlen(text), body);
    client_close(&c);
    return status;
}

static void who_gets_what_status(void **state)
{
    SCOPED_BUF(body);
    static const struct {
        const struct tls_files *who;
        const char *method, *path, *text;
        int status;
        const char *body; /* NULL: any */
    } rows[] = {
        {&client_files, "GET", "/ping", "", 200, ""},
        {&client_files, "GET", "/nothing", "", 404, "404 page not found\n"},
        {&client_files, "POST", "/state", "", 405, "Method Not Allowed\n"},
        {&client_files, "PUT", "/container_metrics", "", 405, "Method Not Allowed\n"},
        {&client_files, "POST", "/sim/reset", "", 500, NULL},
        {&client_files, "POST", "/work", "{}", 403, NULL},
        {&auctioneer_files, "POST", "/work", "{", 400, NULL},
        {&auctioneer_files, "POST", "/work", "{\"cell_id\":\"cell-2\"}", 500, NULL},
        {&auctioneer_files, "POST", "/work", "{\"LRPs\":null,\"Tasks\":null}", 200,
         "{\"LRPs\":null,\"Tasks\":null}"},
        /* Without an incarnation it takes nothing, and gives back all. */
        {&auctioneer_files, "POST", "/work",
         "{\"LRPs\":[{\"process_guid\":\"a\",\"index\":1,\"domain\":\"d\",\"RootFs\":"
         "\"preloaded:busybox\",\"MemoryMB\":1,\"DiskMB\":2,\"PlacementTags\":[\"t\"]}],"
         "\"Tasks\":null,\"cell_id\":\"cell-1\"}",
         200,
         "{\"LRPs\":[{\"instance_guid\":\"\",\"process_guid\":\"a\",\"index\":1,\"domain\":\"d\","
         "\"PlacementTags\":[\"t\"],\"VolumeDrivers\":null,\"RootFs\":\"preloaded:busybox\","
         "\"MemoryMB\":1,\"DiskMB\":2,\"MaxPids\":0,\"state\":\"\"}],\"Tasks\":null}"},
        {&bbs_files, "PUT", "/v2/lrps/web/instances/none", "{}", 500, NULL},
        {&bbs_files, "PUT", "/v1/lrps/other/instances/" GUID, "{}", 500, NULL},
        {&bbs_files, "PUT", "/v2/lrps/web/instances/" GUID, "[]", 400, NULL},
        {&bbs_files, "PUT", "/v2/lrps/web/instances/" GUID,
         "{\"instance_guid\":\"" GUID "\",\"process_guid\":\"web\",\"index\":2,\"domain\":\"d\","
         "\"internal_routes\":[{\"hostname\":\"h\"}],\"metric_tags\":null}",
         202, ""},
        {&bbs_files, "PUT", "/v1/lrps/web/instances/" GUID,
         "{\"internal_routes\":null,\"metric_tags\":{\"a\":\"b\"}}", 202, ""},
        {&client_files, "PUT", "/v1/lrps/web/instances/" GUID, "{}", 403, NULL},
        {&bbs_files, "POST", "/v1/lrps/web/instances/none/stop", "", 500, NULL},
        {&client_files, "GET", "/v1/logs/none", "", 404, NULL},
        {&client_files, "GET", "/v1/logs/" GUID, "", 200, "one\ntwo\nbad\n"},
        {&client_files, "GET", "/v1/logs/" GUID "?lines=1&stream=stdout", "", 200, "two\n"},
        {&client_files, "GET", "/v1/logs?process_guid=web&index=2", "", 200, "[]\n"},
        {&auctioneer_files, "GET", "/v1/logs/" GUID, "", 403, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status = ask(rows[i].who, rows[i].method, rows[i].path, rows[i].text, &body);
        if (status != rows[i].status ||
            (rows[i].body && strcmp(buf_string(&body), rows[i].body) != 0)) {
            fail_msg("row %zu: %s %s: %d %s", i, rows[i].method, rows[i].path, status,
                     buf_string(&body));
        }
    }
}

/* Its own health check fails, for it reaches no bbs: 503, and the state nevertheless. */
static void the_state_to_the_byte(void **state)
{
    SCOPED_BUF(body);
    assert_int_equal(ask(&client_files, "GET", "/state", "", &body), 503);
    assert_string_equal(
        buf_string(&body),
        "{\"rep_url\":\"https://cell-1:1801\",\"cell_id\":\"cell-1\",\"cell_index\":5,"
        "\"RootFSProviders\":{\"preloaded\":{\"type\":\"fixed_set\",\"set\":{\"busybox\":{}}},"
        "\"preloaded+layer\":{\"type\":\"fixed_set\",\"set\":{\"busybox\":{}}}},"
        "\"AvailableResources\":{\"MemoryMB\":868,\"DiskMB\":990,\"Containers\":3},"
        "\"TotalResources\":{\"MemoryMB\":1000,\"DiskMB\":1000,\"Containers\":4},"
        "\"LRPs\":[{\"instance_guid\":\"" GUID "\",\"process_guid\":\"web\",\"index\":2,"
        "\"domain\":\"d\",\"PlacementTags\":null,\"VolumeDrivers\":null,"
        "\"RootFs\":\"preloaded:busybox\",\"MemoryMB\":100,\"DiskMB\":10,\"MaxPids\":0,"
        "\"state\":\"RUNNING\"}],\"Tasks\":null,\"StartingContainerCount\":0,\"Zone\":\"z1\","
        "\"Evacuating\":false,\"VolumeDrivers\":null,\"PlacementTags\":null,"
        "\"OptionalPlacementTags\":[\"cell:cell-1\"],\"ProxyMemoryAllocationMB\":32}");
}

/* Figures of the machine are numbers; all else is to the byte. */
static void the_metrics_but_for_the_figures(void **state)
{
    SCOPED_BUF(body);
    double cpu;
    unsigned long long disk, memory;
    char rest[64];
    assert_int_equal(ask(&client_files, "GET", "/container_metrics", "", &body), 200);
    int n = sscanf(buf_string(&body),
                   "{\"cell_id\":\"cell-1\",\"lrps\":[{\"instance_guid\":\"" GUID "\","
                   "\"process_guid\":\"web\",\"index\":2,\"metric_guid\":\"web-metrics\","
                   "\"cpu_usage_fraction\":%lf,\"disk_usage_bytes\":%llu,"
                   "\"disk_quota_bytes\":10485760,\"memory_usage_bytes\":%llu,"
                   "\"memory_quota_bytes\":104857600}],%63s",
                   &cpu, &disk, &memory, rest);
    if (n != 4) {
        fail_msg("%s", buf_string(&body));
    }
    assert_string_equal(rest, "\"tasks\":null}");
    assert_true(cpu >= 0 && cpu < 2 && memory > 10000 && disk < 10485760);
}

/* Whoever opens connections, and be it without a certificate, takes none of the descriptors that
 * containers need. */
static void connections_leave_descriptors_to_the_driver(void **state)
{
    enum { READERS = 6, STRANGERS = 2 * FILES };
    struct tls_client known, readers[READERS], strangers[STRANGERS];
    SCOPED_BUF(body);
    assert_true(client_open(&known, rep_port, &client_files, 0));
    for (int i = 0; i < READERS; i++) { /* four descriptors each */
        assert_true(client_open(&readers[i], rep_port, &client_files, 0));
        client_print(&readers[i], "GET /v1/logs/" GUID "?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(client_read(&readers[i], CLIENT_WAIT_MS));
    }
    for (int i = 0; i < STRANGERS; i++) {
        assert_true(client_open(&strangers[i], rep_port, NULL, 0));
    }
    for (int i = 0; i < 20; i++) { /* as they are accepted, one after the other */
        assert_int_equal(client_ask(&known, "GET", "/v1/logs/" GUID, "", 0, &body), 200);
        buf_clear(&body);
        usleep(10 * 1000);
    }
    for (int i = 0; i < STRANGERS; i++) {
        client_close(&strangers[i]);
    }
    for (int i = 0; i < READERS; i++) {
        client_close(&readers[i]);
    }
    client_close(&known);
}

static int64_t processor_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &t), 0);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* The shim's parent is this test, which reaps it as little as the init of some machines. The last
 * of the tests: the container ends by it. */
static void a_shim_that_nobody_reaps_costs_nothing(void **state)
{
    char command[200];
    snprintf(command, sizeof(command), "kill -KILL $(cut -d' ' -f1 %s/containers/" GUID "/pid)",
             state_dir);
    assert_int_equal(system(command), 0);
    bool idle = false;
    for (int i = 0; i < 20 && !idle; i++) { /* on a busy machine its end takes a while */
        int64_t before_ns = processor_ns(rep_pid);
        usleep(1000 * 1000);
        idle = processor_ns(rep_pid) - before_ns < SECOND_NS / 5;
    }
    assert_true(idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_gets_what_status),
        cmocka_unit_test(the_state_to_the_byte),
        cmocka_unit_test(the_metrics_but_for_the_figures),
        cmocka_unit_test(connections_leave_descriptors_to_the_driver),
        cmocka_unit_test(a_shim_that_nobody_reaps_costs_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
