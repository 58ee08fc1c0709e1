/* MEASURE: what running containers use. With a runtime their control groups tell, of version 1 or 2
 * as they are found (a hybrid machine has both); of the process driver's containers, the processes
 * of their sessions. Read beside the loop (worker_io.h). */
#include "common/base/memory.h"
#include "rep/driver/cgroup_files.h"
#include "rep/driver/driver_parts.h"

#include <dirent.h>
#include <event2/event.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#define NS_A_MS ((int64_t)1000000)

/* Bounds of one MEASURE: files looked at below root filesystems that have no limit, and how deep.
 * What lies beyond is not counted. */
enum { WALK_ENTRIES_MAX = 20000, WALK_DEPTH_MAX = 16 };

struct usage_reading {
    uint64_t cpu_ns, memory_bytes;
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* ---- Control groups ---- */

/* Of the version that has its file; 0 when none has. */
static uint64_t figure(const char *group, enum cgroup_figure which)
{
    char path[512], text[8192];
    for (int v = 0; v < CGROUP_VERSION_COUNT; v++) {
        if (cgroup_path((enum cgroup_version)v, which, CGROUP_ROOT, group, path, sizeof(path)) &&
            identity_slurp(AT_FDCWD, path, text, sizeof(text)) > 0) {
            return cgroup_value((enum cgroup_version)v, which, text);
        }
    }
    return 0;
}

static uint64_t without(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

static void read_group(const char *group, struct usage_reading *ret)
{
    ret->cpu_ns = figure(group, CGROUP_CPU_NS);
    ret->memory_bytes = without(figure(group, CGROUP_MEMORY_BYTES),
                                figure(group, CGROUP_CACHE_BYTES));
}

/* ---- Sessions, for the process driver ---- */

struct process_session {
    long id;
    struct usage_reading reading;
};

static int by_id(const void *left, const void *right)
{
    const struct process_session *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* A process's session, its time and that of its children that it has reaped, its memory. */
static bool read_process(const char *pid, struct process_session *ret)
{
    char path[300], text[1024];
    unsigned long long user = 0, system = 0, children_user = 0, children_system = 0;
    long session = 0, pages = 0;
    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    if (identity_slurp(AT_FDCWD, path, text, sizeof(text)) <= 0) {
        return false;
    }
    const char *at = strrchr(text, ')');
    if (!at || sscanf(at + 1,
                      " %*c %*d %*d %ld %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d "
                      "%*d %*d %*u %*u %ld",
                      &session, &user, &system, &children_user, &children_system, &pages) != 6) {
        return false;
    }
    uint64_t ticks = user + system + children_user + children_system;
    ret->id = session;
    ret->reading.cpu_ns = ticks * ((uint64_t)SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
    ret->reading.memory_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* Adds all processes to the sessions, which are sorted. */
static void read_sessions(struct process_session *sessions, size_t count)
{
    DIR *all = count ? opendir("/proc") : NULL;
    for (struct dirent *e; all && (e = readdir(all));) {
        struct process_session one;
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || !read_process(e->d_name, &one)) {
            continue;
        }
        struct process_session *s = bsearch(&one, sessions, count, sizeof(one), by_id);
        if (s) {
            s->reading.cpu_ns += one.reading.cpu_ns;
            s->reading.memory_bytes += one.reading.memory_bytes;
        }
    }
    if (all) {
        closedir(all);
    }
}

/* ---- Disk ---- */

/* Of one MEASURE. */
struct budget {
    int left; /* files to look at */
    const atomic_bool *ending;
};

static uint64_t walk(int parent, const char *name, int depth, struct budget *budget)
{
    struct stat st;
    uint64_t bytes = 0;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; dir && budget->left > 0 && !atomic_load(budget->ending) &&
                            (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            continue;
        }
        budget->left--;
        bytes += (uint64_t)st.st_blocks * 512;
        if (S_ISDIR(st.st_mode) && depth < WALK_DEPTH_MAX) {
            bytes += walk(fd, e->d_name, depth + 1, budget);
        }
    }
    if (dir) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
    return bytes;
}

/* A limited disk is a file system of its own, and tells itself. */
static uint64_t disk_of(const char *path, struct budget *budget)
{
    struct statvfs fs;
    struct stat outside, inside;
    uint64_t bytes = 0;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int disk = openat(dir, "disk", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (disk >= 0 && fstat(dir, &outside) == 0 && fstat(disk, &inside) == 0 &&
        outside.st_dev != inside.st_dev && fstatvfs(disk, &fs) == 0) {
        bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize;
    } else if (dir >= 0) {
        bytes = walk(dir, "upper", 0, budget) + walk(dir, "home", 0, budget); /* it has one */
    }
    fd_close(disk);
    fd_close(dir);
    return bytes;
}

/* ---- In the thread ---- */

/* A container that is measured: all that is needed of it, so that the thread touches no record. */
struct subject {
    const char *guid, *dir;
    const char *group; /* NULL: its session tells */
    long pid;          /* of its first process, whose session it is */
    struct usage_reading reading;
    uint64_t disk_bytes;
};

struct measuring {
    struct driver_work work;
    struct driver *driver;
    uint64_t verb_id;
    struct event *late; /* the deadline; NULL: it has passed, and was reported, or there is none */
    bool answered;
    struct arena arena;
    struct subject *subjects; /* sorted by guid */
    size_t count;
    int64_t at_ns; /* monotonic, of the reading */
};

/* The sessions of those without control groups, in the arena, read. */
static struct process_session *read_all_sessions(struct measuring *m, size_t *ret_count)
{
    struct process_session *list = ARENA_ARRAY(&m->arena, m->count, struct process_session);
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (!m->subjects[i].group) {
            list[count++].id = m->subjects[i].pid;
        }
    }
    if (count > 0) {
        qsort(list, count, sizeof(*list), by_id);
    }
    read_sessions(list, count);
    *ret_count = count;
    return list;
}

static void read_one(struct subject *s, const struct process_session *sessions, size_t count)
{
    struct process_session one = {.id = s->pid};
    if (s->group) {
        read_group(s->group, &s->reading);
    } else {
        const struct process_session *found = bsearch(&one, sessions, count, sizeof(one), by_id);
        s->reading = found ? found->reading : s->reading;
    }
}

static void measure(struct driver_work *work, const atomic_bool *ending)
{
    struct measuring *m = (struct measuring *)work;
    struct budget budget = {WALK_ENTRIES_MAX, ending};
    size_t session_count;
    m->at_ns = now_ns(CLOCK_MONOTONIC);
    const struct process_session *sessions = read_all_sessions(m, &session_count);
    for (size_t i = 0; i < m->count && !atomic_load(ending); i++) {
        read_one(&m->subjects[i], sessions, session_count);
        m->subjects[i].disk_bytes = disk_of(m->subjects[i].dir, &budget);
    }
}

/* ---- In the loop ---- */

/* Of one core, since the last mark that is old enough, else since its first process began. A count
 * that fell (a process of a session ended) is no use: 0. */
static double cpu_fraction(struct driver_container *c, uint64_t cpu_ns, int64_t at_ns)
{
    struct cpu_mark *m = &c->cpu;
    if (m->at_ns == 0) {
        uint64_t tick_ns = (uint64_t)SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
        int64_t age_ns = now_ns(CLOCK_BOOTTIME) - (int64_t)(c->first.start * tick_ns);
        m->from_ns = 0;
        m->from_at_ns = at_ns - (age_ns > NS_A_MS ? age_ns : NS_A_MS);
        m->ns = cpu_ns;
        m->at_ns = at_ns;
    } else if (at_ns - m->at_ns >= MEASURE_INTERVAL_MS * NS_A_MS) {
        m->from_ns = m->ns;
        m->from_at_ns = m->at_ns;
        m->ns = cpu_ns;
        m->at_ns = at_ns;
    }
    int64_t passed_ns = at_ns - m->from_at_ns;
    return passed_ns > 0 && cpu_ns > m->from_ns
               ? (double)(cpu_ns - m->from_ns) / (double)passed_ns
               : 0;
}

static void answer(struct measuring *m, enum verb_outcome outcome, const char *text,
                   const struct container_usage *list, size_t count)
{
    m->answered = true;
    driver_answer(m->driver, &(struct verb_answer){.id = m->verb_id,
                                                   .verb = VERB_MEASURE,
                                                   .outcome = outcome,
                                                   .text = text,
                                                   .usages = list,
                                                   .usage_count = count});
}

static void measuring_free(struct driver_work *work)
{
    struct measuring *m = (struct measuring *)work;
    if (m->late) {
        event_free(m->late);
    }
    arena_done(&m->arena);
    free(m);
}

/* Of those that still run. */
static void measured(struct driver_work *work)
{
    struct measuring *m = (struct measuring *)work;
    struct container_usage *list = ARENA_ARRAY(&m->arena, m->count, struct container_usage);
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct subject *s = &m->subjects[i];
        struct driver_container *c = map_get(&m->driver->containers, s->guid);
        if (c && c->state == CONTAINER_RUNNING && c->first.pid == s->pid) {
            list[count++] = (struct container_usage){
                .guid = s->guid,
                .cpu_fraction = cpu_fraction(c, s->reading.cpu_ns, m->at_ns),
                .memory_bytes = s->reading.memory_bytes,
                .disk_bytes = s->disk_bytes,
            };
        }
    }
    if (!m->answered) {
        answer(m, VERB_DONE, "", list, count);
    }
    measuring_free(work);
}

static void on_late(evutil_socket_t fd, short what, void *measuring)
{
    struct measuring *m = measuring;
    (void)fd;
    (void)what;
    answer(m, VERB_UNCERTAIN, "no answer before the deadline: the disk is slow", NULL, 0);
}

static void set_deadline(struct measuring *m, int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - now_ns(CLOCK_MONOTONIC);
    if (deadline_ns == NEVER_NS) {
        return;
    }
    left_ns = left_ns > 0 ? left_ns : 0;
    struct timeval t = {left_ns / SECOND_NS, left_ns % SECOND_NS / 1000};
    m->late = event_new(m->driver->loop, -1, 0, on_late, m);
    event_add(m->late, &t);
}

static void add_subjects(struct measuring *m)
{
    struct driver *d = m->driver;
    m->subjects = ARENA_ARRAY(&m->arena, d->containers.count, struct subject);
    MAP_EACH(&d->containers, n) {
        const struct driver_container *c = map_value(n);
        if (c->state != CONTAINER_RUNNING || c->first.pid <= 0) {
            continue;
        }
        struct subject *s = &m->subjects[m->count++];
        *s = (struct subject){.guid = arena_strdup(&m->arena, c->guid),
                              .dir = arena_strdup(&m->arena, c->dir),
                              .pid = c->first.pid};
        if (d->ops->group) {
            char group[128];
            d->ops->group(d, c->guid, group, sizeof(group));
            s->group = arena_strdup(&m->arena, group);
        }
    }
}

void verb_measure(struct driver *d, const struct verb_call *call)
{
    struct measuring *m = mem_zeroed(sizeof(*m));
    m->work = (struct driver_work){.run = measure, .done = measured, .drop = measuring_free};
    m->driver = d;
    m->verb_id = call->id;
    arena_init(&m->arena);
    add_subjects(m);
    if (worker_add(d->worker, &m->work)) {
        set_deadline(m, call->deadline_ns);
    } else {
        answer(m, VERB_FAILED, "too much waits for the disk", NULL, 0);
        measuring_free(&m->work);
    }
}
