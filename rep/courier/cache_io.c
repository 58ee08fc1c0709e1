#include "rep/courier/cache_io.h"

#include "rep/courier/errand_io.h"
#include "rep/courier/paths_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LOCK_PAUSE_MS = 50, USES_BYTES = 1 << 20, KEY_BYTES = 8192 };

/* ---- opening ---- */

static int directory(int parent, const char *name, int *ret, struct err *err)
{
    if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST) {
        return err_set(err, ERR_IO, "cannot make the cache's directory %.100s: %s", name,
                       strerror(errno));
    }
    *ret = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret >= 0 ? 0
                     : err_set(err, ERR_IO, "cannot open the cache's directory %.100s: %s", name,
                               strerror(errno));
}

int cache_open(const char *dir, int64_t bytes_max, struct cache_dir *ret, struct err *err)
{
    struct cache_dir c = {-1, -1, -1, -1, -1, -1, -1, bytes_max};
    int rc = directory(AT_FDCWD, dir, &c.fd, err);
    const struct {
        const char *name;
        int *fd;
    } rows[] = {{"objects", &c.objects}, {"trees", &c.trees}, {"keys", &c.keys},
                {"part", &c.part},       {"uses", &c.uses},   {"turns", &c.turns}};
    for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        rc = directory(c.fd, rows[i].name, rows[i].fd, err);
    }
    if (rc) {
        cache_close(&c);
        return rc;
    }
    *ret = c;
    return 0;
}

void cache_close(struct cache_dir *c)
{
    const int all[] = {c->fd, c->objects, c->trees, c->keys, c->part, c->uses, c->turns};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i] >= 0) {
            close(all[i]);
        }
    }
    *c = (struct cache_dir){-1, -1, -1, -1, -1, -1, -1, 0};
}

/* ---- what is under way ---- */

/* Waits for a lock by looking again and again: one that waits in the kernel has no limit. */
static int lock_until(int fd, int64_t end_ms, struct err *err)
{
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return err_set(err, ERR_IO, "cannot lock a file of the cache: %s", strerror(errno));
        }
        if (errand_now_ms() >= end_ms) {
            return err_set(err, ERR_TIMEOUT, "another courier had the same thing all the time");
        }
        usleep(LOCK_PAUSE_MS * 1000);
    }
    return 0;
}

/* Whether the name still is that file: who held it may have moved or removed it. */
static bool still(int dir, const char *name, int fd)
{
    struct stat named, held;
    return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &held) == 0 &&
           named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

static int part_open(struct cache_dir *c, const char *name, bool tree)
{
    int flags = O_CLOEXEC | O_NOFOLLOW | (tree ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT);
    if (tree && mkdirat(c->part, name, 0700) < 0 && errno != EEXIST) {
        return -1;
    }
    return openat(c->part, name, flags, 0600);
}

/* Opens, making it if need be, until what was opened is locked and still has its name. */
static int part_take(struct cache_dir *c, const char *name, bool tree, int64_t end_ms, int *ret_fd,
                     struct err *err)
{
    for (;;) {
        int fd = part_open(c, name, tree);
        if (fd < 0 && tree && errno == ENOENT) {
            continue; /* it was moved between being made and being opened */
        }
        if (fd < 0) {
            return err_set(err, ERR_IO, "cannot make a file of the cache: %s", strerror(errno));
        }
        int rc = lock_until(fd, end_ms, err);
        if (rc == 0 && still(c->part, name, fd)) {
            *ret_fd = fd;
            return 0;
        }
        close(fd);
        if (rc) {
            return rc;
        }
    }
}

int cache_part_file(struct cache_dir *c, const char *name, int64_t end_ms, int *ret_fd,
                    struct err *err)
{
    int rc = part_take(c, name, false, end_ms, ret_fd, err);
    if (rc == 0 && ftruncate(*ret_fd, 0) < 0) {
        rc = err_set(err, ERR_IO, "cannot empty a file of the cache: %s", strerror(errno));
        close(*ret_fd);
    }
    return rc;
}

int cache_part_tree(struct cache_dir *c, const char *name, int64_t end_ms, int *ret_fd,
                    struct err *err)
{
    int rc = part_take(c, name, true, end_ms, ret_fd, err);
    if (rc == 0 && (!remove_whole(*ret_fd, "root") || mkdirat(*ret_fd, "root", 0755) < 0)) {
        rc = err_set(err, ERR_IO, "cannot empty a directory of the cache: %s", strerror(errno));
        close(*ret_fd);
    }
    return rc;
}

void cache_part_drop(struct cache_dir *c, const char *name, int fd)
{
    if (still(c->part, name, fd)) { /* else it was kept, and the next one's may have that name */
        remove_whole(c->part, name);
    }
}

/* One of the turns that nobody has now; -1: none. */
static int turn_now(struct cache_dir *c, int64_t count)
{
    char name[32];
    for (int64_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%lld", (long long)i);
        int fd = openat(c->turns, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    return -1;
}

int cache_turn(struct cache_dir *c, int64_t count, int64_t end_ms, int *ret_fd, struct err *err)
{
    while ((*ret_fd = turn_now(c, count)) < 0) {
        if (errand_now_ms() >= end_ms) {
            return err_set(err, ERR_TIMEOUT, "other couriers were at work all the time");
        }
        usleep(LOCK_PAUSE_MS * 1000);
    }
    return 0;
}

/* ---- what is there ---- */

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Items or keys, as they are found. */
struct found {
    struct arena *a;
    struct cache_dir *c;
    const struct cache_uses *uses;
    struct cache_item *items;
    struct cache_key *keys;
    size_t count, capacity;
};

static int64_t time_ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int64_t tree_size(struct cache_dir *c, const char *digest)
{
    SCOPED_ARENA(a);
    struct bytes file;
    const char *path = arena_printf(&a, "%s/size", digest);
    if (small_read(&a, c->trees, path, 32, &file, NULL) < 0) {
        return 0;
    }
    return atoll(arena_strndup(&a, (const char *)file.data, file.size));
}

static void add_item(struct found *f, const char *name, enum cache_kind kind)
{
    struct stat st;
    int dir = kind == CACHE_TREE ? f->c->trees : f->c->objects;
    if (!cache_digest_valid(name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return;
    }
    f->items[f->count++] = (struct cache_item){
        .kind = kind,
        .digest = arena_strdup(f->a, name),
        .size = kind == CACHE_TREE ? tree_size(f->c, name) : st.st_size,
        .used_ns = time_ns(&st.st_mtim),
        .in_use = kind == CACHE_TREE && cache_uses_has(f->uses, name),
    };
}

static void add_tree(struct found *f, const char *name)
{
    add_item(f, name, CACHE_TREE);
}

static void add_object(struct found *f, const char *name)
{
    add_item(f, name, CACHE_OBJECT);
}

static void add_key(struct found *f, const char *name)
{
    struct stat st;
    struct cache_record r = {0};
    if (fstatat(f->c->keys, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        bool known = cache_key_read(f->c, name, &r);
        f->keys[f->count++] =
            (struct cache_key){arena_strdup(f->a, name), arena_strdup(f->a, known ? r.digest : ""),
                               time_ns(&st.st_mtim)};
    }
}

static void grow(struct found *f, void **list, size_t size)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 64;
        void *all = arena_array(f->a, f->capacity, size);
        if (f->count > 0) {
            memcpy(all, *list, f->count * size);
        }
        *list = all;
    }
}

static int each(struct found *f, int dir, void **list, size_t size,
                void (*add)(struct found *f, const char *name), struct err *err)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        return err_set(err, ERR_IO, "cannot list the cache: %s", strerror(errno));
    }
    for (struct dirent *e; (e = readdir(d));) {
        grow(f, list, size);
        if (!is_dots(e->d_name)) {
            add(f, e->d_name);
        }
    }
    closedir(d);
    return 0;
}

/* What all that stand in uses/ use, together. */
static int read_uses(struct arena *a, struct cache_dir *c, struct cache_uses *ret, struct err *err)
{
    SCOPED_BUF(all);
    int fd = openat(c->uses, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        return err_set(err, ERR_IO, "cannot list the cache: %s", strerror(errno));
    }
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        struct bytes one = {0};
        if (!is_dots(e->d_name)) {
            rc = small_read(a, c->uses, e->d_name, USES_BYTES, &one, err);
            rc = rc == -ERR_NOT_FOUND ? 0 : rc; /* its user has just gone */
            buf_append(&all, one.data, one.size);
        }
    }
    closedir(d);
    struct bytes text = {arena_copy(a, all.data, all.size), all.size};
    return rc ? rc : cache_uses_parse(a, text, ret, err);
}

/* Keys are many small files, so they are looked at only where it counts. */
static int list_cache(struct arena *a, struct cache_dir *c, bool with_keys, struct cache_facts *ret,
                      struct err *err)
{
    struct statvfs disk;
    struct cache_uses uses;
    struct found items = {a, c, &uses}, keys = {a, c, &uses};
    void **all = (void **)&items.items;
    int rc = read_uses(a, c, &uses, err);
    if (rc == 0) {
        rc = each(&items, c->objects, all, sizeof(struct cache_item), add_object, err);
    }
    if (rc == 0) {
        rc = each(&items, c->trees, all, sizeof(struct cache_item), add_tree, err);
    }
    if (rc == 0 && with_keys) {
        rc = each(&keys, c->keys, (void **)&keys.keys, sizeof(struct cache_key), add_key, err);
    }
    if (rc == 0 && fstatvfs(c->fd, &disk) < 0) {
        rc = err_set(err, ERR_IO, "cannot ask the cache's disk for its room: %s", strerror(errno));
    }
    if (rc == 0) {
        *ret = (struct cache_facts){items.items,
                                    items.count,
                                    keys.keys,
                                    keys.count,
                                    (int64_t)(disk.f_blocks * disk.f_frsize),
                                    (int64_t)(disk.f_bavail * disk.f_frsize)};
    }
    return rc;
}

/* ---- room ---- */

/* A change of what the cache has: begun under its lock, ended without it. */
struct change_of {
    struct arena arena;
    struct cache_facts facts;
    struct cache_plan plan;
};

static int change_begin(struct cache_dir *c, struct change_of *change, struct err *err)
{
    *change = (struct change_of){0};
    while (flock(c->fd, LOCK_EX) < 0) {
        if (errno != EINTR) {
            return err_set(err, ERR_IO, "cannot lock the cache: %s", strerror(errno));
        }
    }
    return 0;
}

/* In part/, of a tree that this process removes. */
static const char *gone_name(struct arena *a, const char *digest)
{
    return arena_printf(a, "gone-%d-%s", (int)getpid(), digest);
}

/* A tree leaves its place at once, so that nobody finds a part of it. */
static void carry_out(struct cache_dir *c, struct change_of *change)
{
    for (size_t i = 0; i < change->plan.item_count; i++) {
        const struct cache_item *item = &change->facts.items[change->plan.items[i]];
        if (item->kind == CACHE_OBJECT) {
            unlinkat(c->objects, item->digest, 0);
        } else {
            renameat(c->trees, item->digest, c->part, gone_name(&change->arena, item->digest));
        }
    }
    for (size_t i = 0; i < change->plan.key_count; i++) {
        unlinkat(c->keys, change->facts.keys[change->plan.keys[i]].name, 0);
    }
}

/* Trees take their time to delete, for which nobody need wait. */
static void change_end(struct cache_dir *c, struct change_of *change)
{
    flock(c->fd, LOCK_UN);
    for (size_t i = 0; i < change->plan.item_count; i++) {
        const struct cache_item *item = &change->facts.items[change->plan.items[i]];
        if (item->kind == CACHE_TREE) {
            remove_whole(c->part, gone_name(&change->arena, item->digest));
        }
    }
    arena_done(&change->arena);
}

/* Within a change. Of the bytes that come so many are on the disk already. */
static int make_room(struct cache_dir *c, struct change_of *change, int64_t more, int64_t here,
                     bool with_keys, struct err *err)
{
    struct arena *a = &change->arena;
    int rc = list_cache(a, c, with_keys, &change->facts, err);
    if (rc == 0) {
        change->facts.disk_free += here;
        rc = cache_plan(a, &change->facts, c->bytes_max, more, &change->plan, err);
    }
    if (rc == 0) {
        carry_out(c, change);
    }
    return rc;
}

int cache_make_room(struct cache_dir *c, int64_t more, int64_t here, struct err *err)
{
    struct change_of change;
    int rc = change_begin(c, &change, err);
    if (rc == 0) {
        rc = make_room(c, &change, more, here, more == 0, err);
        change_end(c, &change);
    }
    return rc;
}

/* ---- keeping ---- */

static int unkept(struct err *err)
{
    return err_set(err, ERR_IO, "cannot keep it in the cache: %s", strerror(errno));
}

static int keep(struct cache_dir *c, const char *part, int part_fd, int to, const char *digest,
                int64_t size, struct err *err)
{
    struct change_of change;
    int rc = change_begin(c, &change, err);
    if (rc) {
        return rc;
    }
    if (utimensat(to, digest, NULL, AT_SYMLINK_NOFOLLOW) == 0) {
        cache_part_drop(c, part, part_fd); /* it is there */
    } else {
        rc = make_room(c, &change, size, size, true, err);
        if (rc == 0 && renameat(c->part, part, to, digest) < 0) {
            rc = unkept(err);
        }
    }
    change_end(c, &change);
    return rc;
}

/* Without the sync a crash of the machine could leave an empty object by that name. */
int cache_keep_object(struct cache_dir *c, const char *part, int part_fd, const char *digest,
                      int64_t size, struct err *err)
{
    return fdatasync(part_fd) < 0 ? unkept(err)
                                  : keep(c, part, part_fd, c->objects, digest, size, err);
}

int cache_keep_tree(struct cache_dir *c, const char *part, int part_fd, const char *digest,
                    int64_t size, struct err *err)
{
    SCOPED_BUF(text);
    buf_printf(&text, "%lld\n", (long long)size);
    int rc = small_write(part_fd, "size", buf_bytes(&text), err);
    if (rc == 0 && syncfs(part_fd) < 0) { /* all of its files at once */
        rc = unkept(err);
    }
    if (rc == 0) {
        utimensat(c->part, part, NULL, AT_SYMLINK_NOFOLLOW);
        rc = keep(c, part, part_fd, c->trees, digest, size, err);
    }
    return rc;
}

/* ---- using ---- */

int cache_object(struct cache_dir *c, const char *digest, int *ret_fd, int64_t *ret_size,
                 struct err *err)
{
    struct stat st;
    int fd = openat(c->objects, digest, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
        return err_set(err, ERR_NOT_FOUND, "the cache does not have it any more");
    }
    if (fd < 0 || fstat(fd, &st) < 0) {
        int error = errno;
        if (fd >= 0) {
            close(fd);
        }
        return err_set(err, ERR_IO, "cannot read the cache: %s", strerror(error));
    }
    futimens(fd, NULL);
    *ret_fd = fd;
    *ret_size = st.st_size;
    return 0;
}

bool cache_tree(struct cache_dir *c, const char *digest, int64_t *ret_size)
{
    if (utimensat(c->trees, digest, NULL, AT_SYMLINK_NOFOLLOW) < 0) {
        return false;
    }
    *ret_size = tree_size(c, digest);
    return true;
}

bool cache_name_valid(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return n > 0 && n <= 64 && name[n] == '\0';
}

/* Within a change, so that nobody removes it meanwhile. A line that was not written to its end is
 * ended first. */
static int add_use(struct cache_dir *c, const char *name, const char *digest, struct err *err)
{
    char line[CACHE_DIGEST_BYTES + 2];
    int n = snprintf(line, sizeof(line), "%s\n", digest);
    if (utimensat(c->trees, digest, NULL, AT_SYMLINK_NOFOLLOW) < 0) {
        return err_set(err, ERR_NOT_FOUND, "the cache does not have it any more");
    }
    int fd = openat(c->uses, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    off_t at = size - (size > 0 ? size % n : 0); /* all lines are as long */
    bool written = fd >= 0 && pwrite(fd, line, (size_t)n, at) == n;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    return written ? 0
                   : err_set(err, ERR_IO, "cannot note that the tree is in use: %s",
                             strerror(error));
}

int cache_use(struct cache_dir *c, const char *name, const char *digest, struct err *err)
{
    struct change_of change;
    int rc = change_begin(c, &change, err);
    if (rc == 0) {
        rc = add_use(c, name, digest, err);
        change_end(c, &change);
    }
    return rc;
}

bool cache_key_read(struct cache_dir *c, const char *name, struct cache_record *ret)
{
    SCOPED_ARENA(a);
    struct bytes file;
    return small_read(&a, c->keys, name, KEY_BYTES, &file, NULL) == 0 &&
           cache_record_parse(file, ret, NULL) == 0;
}

/* Not durable: a key that a crash of the machine lost, or cut, costs a download. */
int cache_key_write(struct cache_dir *c, const char *name, const struct cache_record *r,
                    struct err *err)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    const char *part = arena_printf(&a, "key-%d-%s", (int)getpid(), name);
    cache_record_print(r, &text);
    int rc = small_write(c->part, part, buf_bytes(&text), err);
    if (rc == 0 && renameat(c->part, part, c->keys, name) < 0) {
        rc = err_set(err, ERR_IO, "cannot write a key of the cache: %s", strerror(errno));
    }
    if (rc) {
        unlinkat(c->part, part, 0);
    }
    return rc;
}

/* What somebody holds is under way still. */
static void sweep_one(struct cache_dir *c, const char *name)
{
    int fd = openat(c->part, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool mine = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && still(c->part, name, fd);
    if (mine || (fd < 0 && errno != ENOENT)) {
        remove_whole(c->part, name);
    }
    if (fd >= 0) {
        close(fd);
    }
}

int cache_sweep(struct cache_dir *c, struct err *err)
{
    int fd = openat(c->part, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        return err_set(err, ERR_IO, "cannot list the cache: %s", strerror(errno));
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (!is_dots(e->d_name)) {
            sweep_one(c, e->d_name);
        }
    }
    closedir(d);
    return 0;
}
