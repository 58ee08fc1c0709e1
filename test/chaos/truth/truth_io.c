/* Which containers run, by the kernel: the first process of each pid namespace below ours whose
 * environment has the variables that the workload gives its apps and tasks. The reps are not asked.
 */
#include "test/chaos/chaos.h"
#include "test/chaos/truth/proc_text.h"
#include "test/chaos/workload/recorder_io.h"
#include "test/chaos/workload/target_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PID_MAX = 4 << 20,
    CONTAINERS_MAX = 4096,
    LOOK_MS = 250,
    TELL_S = 5,           /* a line at least so often, though nothing changed */
    ENVIRON_MAX = 64 * 1024,
};

struct container {
    int pid;
    int64_t begun; /* clock ticks */
    char guid[64], process[96], task[96], index[12], address[48];
};

struct look {
    struct container containers[CONTAINERS_MAX];
    int count;
    bool left_out;
};

static atomic_bool ended;
static int64_t *seen; /* by pid: when it began, if it can never be one of ours */

static void on_signal(int signal)
{
    (void)signal;
    atomic_store(&ended, true);
}

static ssize_t slurp(int pid, const char *name, char *to, size_t size)
{
    char file[64];
    snprintf(file, sizeof(file), "/proc/%d/%s", pid, name);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    ssize_t n = read(fd, to, size - 1);
    close(fd);
    to[n > 0 ? n : 0] = 0;
    return n;
}

static void word(struct bytes words, const char *name, char *to, size_t size)
{
    const char *found = environ_word(words, name);
    snprintf(to, size, "%s", found ? found : "");
}

enum kind {
    KIND_GONE,    /* nothing can be read any more */
    KIND_NEVER,   /* no first process of a namespace: that never changes */
    KIND_NOT_YET, /* without the variables: its exec may be to come, on a busy machine after long */
    KIND_OURS,
};

/* What it is by its namespace and its environment; of one of the workload's, `c`. */
static enum kind read_container(int pid, struct container *c)
{
    static char text[ENVIRON_MAX];
    if (slurp(pid, "status", text, sizeof(text)) <= 0) {
        return KIND_GONE;
    }
    if (!status_is_first(text)) {
        return KIND_NEVER;
    }
    ssize_t n = slurp(pid, "environ", text, sizeof(text));
    struct bytes words = {(const uint8_t *)text, n > 0 ? (size_t)n : 0};
    word(words, "CHAOS_PROCESS", c->process, sizeof(c->process));
    word(words, "CHAOS_TASK", c->task, sizeof(c->task));
    word(words, "CF_INSTANCE_GUID", c->guid, sizeof(c->guid));
    word(words, "CF_INSTANCE_INDEX", c->index, sizeof(c->index));
    word(words, "CF_INSTANCE_IP", c->address, sizeof(c->address));
    return c->process[0] || c->task[0] ? KIND_OURS : KIND_NOT_YET;
}

static void look_at(struct look *look, int pid)
{
    char stat[1024];
    struct container c = {.pid = pid};
    if (pid >= PID_MAX || slurp(pid, "stat", stat, sizeof(stat)) <= 0 || stat_has_ended(stat)) {
        return;
    }
    c.begun = stat_begun(stat);
    if (seen[pid] == c.begun) {
        return;
    }
    enum kind kind = read_container(pid, &c);
    if (kind == KIND_NEVER) {
        seen[pid] = c.begun;
    } else if (kind == KIND_OURS && look->count < CONTAINERS_MAX) {
        look->containers[look->count++] = c;
    } else if (kind == KIND_OURS) {
        look->left_out = true;
    }
}

static int by_pid(const void *a, const void *b)
{
    const struct container *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static void look_around(struct look *look)
{
    DIR *proc = opendir("/proc");
    memset(look, 0, sizeof(*look));
    for (struct dirent *d; proc && (d = readdir(proc));) {
        int pid = atoi(d->d_name);
        if (pid > 1) {
            look_at(look, pid);
        }
    }
    if (proc) {
        closedir(proc);
    }
    qsort(look->containers, (size_t)look->count, sizeof(look->containers[0]), by_pid);
}

/* The cell that has this address for itself. */
static const char *cell_of(const json_t *cells, const char *address)
{
    const char *found = "";
    size_t i;
    json_t *cell;
    json_array_foreach((json_t *)cells, i, cell)
    {
        const char *its = json_string_value(json_object_get(cell, "address"));
        if (its && strcmp(its, address) == 0) {
            if (found[0]) {
                return ""; /* several share it */
            }
            found = json_string_value(json_object_get(cell, "name"));
        }
    }
    return found ? found : "";
}

static json_t *told(const struct container *c, const json_t *cells)
{
    json_t *one = json_pack("{s:s, s:i, s:I, s:s}", "instance", c->guid, "pid", c->pid, "begun",
                            (json_int_t)(c->begun * (1000000000 / sysconf(_SC_CLK_TCK))), "cell",
                            cell_of(cells, c->address));
    if (c->process[0]) {
        json_object_set_new(one, "process", json_string(c->process));
        json_object_set_new(one, "index", json_integer(atoi(c->index)));
    }
    if (c->task[0]) {
        json_object_set_new(one, "task", json_string(c->task));
    }
    return one;
}

static void tell(struct recorder *to, const struct look *look, const json_t *cells, int64_t begin)
{
    json_t *list = json_array();
    for (int i = 0; i < look->count; i++) {
        json_array_append_new(list, told(&look->containers[i], cells));
    }
    json_t *line = json_pack("{s:s, s:I, s:I, s:o}", "kind", "truth", "at", (json_int_t)begin,
                             "end", (json_int_t)chaos_now_ns(), "containers", list);
    if (look->left_out) {
        json_object_set_new(line, "left_out", json_true());
    }
    record(to, line);
}

static bool same(const struct look *a, const struct look *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++) {
        same = a->containers[i].pid == b->containers[i].pid &&
               a->containers[i].begun == b->containers[i].begun;
    }
    return same;
}

/* Each look that found something new is a line, and so is the one before it, for when it still was
 * as before. */
static void watch(struct recorder *to, const json_t *cells)
{
    static struct look looks[2];
    int64_t told_ns = 0;
    for (unsigned n = 0; !atomic_load(&ended); n++) {
        struct look *now = &looks[n & 1], *before = &looks[~n & 1];
        int64_t begin = chaos_now_ns();
        look_around(now);
        if (n == 0 || !same(now, before) || begin - told_ns > TELL_S * (int64_t)1000000000) {
            tell(to, now, cells, begin);
            told_ns = begin;
        }
        chaos_sleep_ms(LOOK_MS);
    }
}

int chaos_truth(int argc, char **argv)
{
    struct err err = {0};
    struct target target;
    char file[4096];
    if (argc != 2 || argv[1][0] == '-') {
        bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
        fprintf(asked ? stdout : stderr,
                "chaos truth DIR\n\nRecords into DIR/history which containers of the workload run "
                "on this machine, by the\nkernel, %d times a second as far as it changes, until "
                "TERM.\n",
                1000 / LOOK_MS);
        return asked ? CHAOS_GOOD : CHAOS_USAGE;
    }
    if (target_read(argv[1], &target, &err) < 0) {
        fprintf(stderr, "chaos truth: %s\n", err.text);
        return CHAOS_USAGE;
    }
    snprintf(file, sizeof(file), "%s/target.json", argv[1]);
    json_t *root = json_load_file(file, 0, NULL);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    seen = calloc(PID_MAX, sizeof(*seen));
    struct recorder *to = recorder_open(argv[1], "truth");
    watch(to, json_object_get(root, "cells"));
    recorder_close(to);
    json_decref(root);
    free(seen);
    return CHAOS_GOOD;
}
