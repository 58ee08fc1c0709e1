/* MEASURE: what running containers use. With a runtime their control groups tell, of version 1 or 2
 * as they are found (a hybrid machine has both); of the process driver's containers, the processes
 * of their sessions. */
#include "rep/driver/driver_parts.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#define CGROUPS "/sys/fs/cgroup"
#define NS_A_MS ((int64_t)1000000)

/* Bounds of one MEASURE: files looked at below root filesystems that have no limit, and how deep.
 * What lies beyond is not counted. */
enum { WALK_ENTRIES_MAX = 20000, WALK_DEPTH_MAX = 16 };

struct reading {
    uint64_t cpu_ns, memory_bytes;
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* ---- Control groups ---- */

static ssize_t slurp(const char *controller, const char *group, const char *file, char *text,
                     size_t size)
{
    char path[512];
    snprintf(path, sizeof(path), CGROUPS "%s%s/%s", controller, group, file);
    return identity_slurp(AT_FDCWD, path, text, size);
}

/* The number behind a name at the begin of a line; 0 when there is none. */
static uint64_t field(const char *text, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, size) == 0 && at[size] == ' ') {
            return strtoull(at + size, NULL, 10);
        }
    }
    return 0;
}

static uint64_t without(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

static void read_group(const char *group, struct reading *ret)
{
    char text[8192];
    *ret = (struct reading){0};
    if (slurp("/cpuacct", group, "cpuacct.usage", text, sizeof(text)) > 0) {
        ret->cpu_ns = strtoull(text, NULL, 10);
    } else if (slurp("", group, "cpu.stat", text, sizeof(text)) > 0) {
        ret->cpu_ns = field(text, "usage_usec") * 1000;
    }
    if (slurp("/memory", group, "memory.usage_in_bytes", text, sizeof(text)) > 0) {
        ret->memory_bytes = strtoull(text, NULL, 10);
        if (slurp("/memory", group, "memory.stat", text, sizeof(text)) > 0) {
            ret->memory_bytes = without(ret->memory_bytes, field(text, "total_inactive_file"));
        }
    } else if (slurp("", group, "memory.current", text, sizeof(text)) > 0) {
        ret->memory_bytes = strtoull(text, NULL, 10);
        if (slurp("", group, "memory.stat", text, sizeof(text)) > 0) {
            ret->memory_bytes = without(ret->memory_bytes, field(text, "inactive_file"));
        }
    }
}

/* ---- Sessions, for the process driver ---- */

struct session {
    long id;
    struct reading reading;
};

static int by_id(const void *left, const void *right)
{
    const struct session *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* A process's session, its time and that of its children that it has reaped, its memory. */
static bool read_process(const char *pid, struct session *ret)
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
static void read_sessions(struct session *sessions, size_t count)
{
    DIR *all = count ? opendir("/proc") : NULL;
    for (struct dirent *e; all && (e = readdir(all));) {
        struct session one;
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || !read_process(e->d_name, &one)) {
            continue;
        }
        struct session *s = bsearch(&one, sessions, count, sizeof(one), by_id);
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

static uint64_t walk(int parent, const char *name, int depth, int *left)
{
    struct stat st;
    uint64_t bytes = 0;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; dir && *left > 0 && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            continue;
        }
        --*left;
        bytes += (uint64_t)st.st_blocks * 512;
        if (S_ISDIR(st.st_mode) && depth < WALK_DEPTH_MAX) {
            bytes += walk(fd, e->d_name, depth + 1, left);
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
static uint64_t disk_of(const struct container *c, int *left)
{
    struct statvfs fs;
    struct stat outside, inside;
    uint64_t bytes = 0;
    int dir = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int disk = openat(dir, "disk", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (disk >= 0 && fstat(dir, &outside) == 0 && fstat(disk, &inside) == 0 &&
        outside.st_dev != inside.st_dev && fstatvfs(disk, &fs) == 0) {
        bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize;
    } else if (dir >= 0) {
        bytes = walk(dir, "upper", 0, left);
    }
    if (disk >= 0) {
        close(disk);
    }
    if (dir >= 0) {
        close(dir);
    }
    return bytes;
}

/* ---- All of them ---- */

/* Of one core, since the last mark that is old enough, else since its first process began. A count
 * that fell (a process of a session ended) is no use: 0. */
static double cpu_fraction(struct container *c, uint64_t cpu_ns, int64_t at_ns)
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

static bool is_measured(const struct container *c)
{
    return c->state == CONTAINER_RUNNING && c->first.pid > 0;
}

/* The sessions of all running containers, in the arena, read. */
static struct session *sessions_of(struct driver *d, struct arena *a, size_t *ret_count)
{
    struct session *list = ARENA_ARRAY(a, d->containers.count, struct session);
    size_t count = 0;
    MAP_EACH(&d->containers, n) {
        const struct container *c = map_value(n);
        if (is_measured(c)) {
            list[count++].id = c->first.pid;
        }
    }
    if (count > 0) {
        qsort(list, count, sizeof(*list), by_id);
    }
    read_sessions(list, count);
    *ret_count = count;
    return list;
}

static struct reading read_one(struct driver *d, const struct container *c,
                               const struct session *sessions, size_t count)
{
    struct session one = {.id = c->first.pid};
    struct reading reading = {0};
    if (d->ops->group) {
        char group[128];
        d->ops->group(d, c->guid, group, sizeof(group));
        read_group(group, &reading);
    } else if (count > 0) {
        const struct session *s = bsearch(&one, sessions, count, sizeof(one), by_id);
        reading = s ? s->reading : reading;
    }
    return reading;
}

const struct container_usage *usage_measure(struct driver *d, struct arena *a, size_t *ret_count)
{
    struct container_usage *list = ARENA_ARRAY(a, d->containers.count, struct container_usage);
    size_t count = 0, session_count = 0;
    int left = WALK_ENTRIES_MAX;
    int64_t at_ns = now_ns(CLOCK_MONOTONIC);
    const struct session *sessions = d->ops->group ? NULL : sessions_of(d, a, &session_count);
    MAP_EACH(&d->containers, n) {
        struct container *c = map_value(n);
        if (!is_measured(c)) {
            continue;
        }
        struct reading reading = read_one(d, c, sessions, session_count);
        list[count++] = (struct container_usage){
            .guid = arena_strdup(a, c->guid),
            .cpu_fraction = cpu_fraction(c, reading.cpu_ns, at_ns),
            .memory_bytes = reading.memory_bytes,
            .disk_bytes = disk_of(c, &left),
        };
    }
    *ret_count = count;
    return list;
}
