/* Output that outlives its container. All that is known of it is its directory's name, so that a
 * full disk cannot keep it from being kept: to rename needs no room. */
#include "rep/driver/output_parts.h"

#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/codec/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct kept_log {
    char name[256];
    char guid[80];
    char label[KEPT_LABEL_MAX + 1]; /* "" = not in the name */
    unsigned long long hash;
    long long wall_s;
    int64_t bytes;
};

/* FNV-1a: small, and the same at every start. Two labels of one hash show each other's output. */
static unsigned long long hash_of(const char *text)
{
    unsigned long long h = 0xcbf29ce484222325ULL;
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 0x100000001b3ULL;
    }
    return h;
}

static void exchange(char *text, char from, char to)
{
    for (; *text; text++) {
        *text = *text == from ? to : *text;
    }
}

char *kept_name(const char *label, const char *guid, int64_t wall_s)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_./";
    size_t size = strlen(label);
    bool fits = size <= KEPT_LABEL_MAX && strspn(label, letters) == size;
    char *name = mem_printf("%016llx-%012lld-%s%s%s", hash_of(label), (long long)wall_s, guid,
                            fits ? "=" : "", fits ? label : "");
    exchange(name, '/', '=');
    return name;
}

static bool read_name(const char *name, struct kept_log *ret)
{
    struct kept_log k = {.bytes = 0};
    int used = 0;
    if (strlen(name) >= sizeof(k.name) ||
        sscanf(name, "%16llx-%12lld-%n", &k.hash, &k.wall_s, &used) != 2 || used == 0) {
        return false;
    }
    const char *guid = name + used;
    size_t size = strcspn(guid, "=");
    const char *label = guid[size] ? guid + size + 1 : "";
    if (size >= sizeof(k.guid) || strlen(label) >= sizeof(k.label)) {
        return false;
    }
    strcpy(k.name, name);
    memcpy(k.guid, guid, size);
    strcpy(k.label, label);
    exchange(k.label, '=', '/');
    *ret = k;
    return true;
}

static int open_dir(int parent, const char *path)
{
    return openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Only files lie in it. */
static void each_file(int parent, const char *name, bool delete, int64_t *bytes)
{
    struct stat st;
    int fd = open_dir(parent, name);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (delete) {
            unlinkat(fd, e->d_name, 0);
        } else if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
            *bytes += st.st_blocks * 512;
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (delete) {
        unlinkat(parent, name, AT_REMOVEDIR);
    }
}

static int newest_first(const void *left, const void *right)
{
    const struct kept_log *a = *(struct kept_log *const *)left,
                          *b = *(struct kept_log *const *)right;
    if (a->wall_s != b->wall_s) {
        return a->wall_s > b->wall_s ? -1 : 1;
    }
    return strcmp(a->guid, b->guid);
}

/* Sorted, the newest first. What lies beyond KEPT_MAX is not seen before others are deleted. */
static size_t read_all(const char *path, struct arena *a, struct kept_log ***ret_list)
{
    struct kept_log **list = ARENA_ARRAY(a, KEPT_MAX, struct kept_log *), one = {.bytes = 0};
    size_t count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && count < KEPT_MAX && (e = readdir(dir));) {
        if (read_name(e->d_name, &one)) {
            list[count++] = arena_copy(a, &one, sizeof(one));
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (count > 0) {
        qsort(list, count, sizeof(*list), newest_first);
    }
    *ret_list = list;
    return count;
}

static int64_t bytes_to_spare(int fd)
{
    struct statvfs fs;
    return fstatvfs(fd, &fs) == 0 ? (int64_t)(fs.f_bavail * fs.f_frsize) : INT64_MAX;
}

/* How many of its label are newer. */
static int newer_ones(struct kept_log *const *list, size_t place)
{
    int count = 0;
    for (size_t i = 0; i < place; i++) {
        count += list[i]->hash == list[place]->hash;
    }
    return count;
}

void kept_prune(const char *path, int64_t wall_s, const atomic_bool *ending)
{
    SCOPED_ARENA(a);
    struct kept_log **list;
    int64_t bytes = 0;
    int fd = open_dir(AT_FDCWD, path);
    if (fd < 0) {
        return;
    }
    size_t count = read_all(path, &a, &list);
    for (size_t i = 0; i < count && !atomic_load(ending); i++) {
        each_file(fd, list[i]->name, false, &list[i]->bytes);
        bool old = wall_s - list[i]->wall_s > KEPT_S || list[i]->wall_s - wall_s > KEPT_S;
        if (old || newer_ones(list, i) >= KEPT_A_LABEL_MAX ||
            bytes + list[i]->bytes > KEPT_BYTES_MAX || i >= KEPT_MAX / 2) {
            each_file(fd, list[i]->name, true, NULL);
            list[i]->bytes = 0;
        }
        bytes += list[i]->bytes;
    }
    for (size_t i = count; i > 0 && !atomic_load(ending) && bytes_to_spare(fd) < KEPT_FREE_BYTES;
         i--) {
        each_file(fd, list[i - 1]->name, true, NULL);
    }
    close(fd);
}

void kept_clear(const char *path)
{
    SCOPED_ARENA(a);
    struct kept_log **list;
    size_t count;
    int fd = open_dir(AT_FDCWD, path);
    while (fd >= 0 && (count = read_all(path, &a, &list)) > 0) {
        for (size_t i = 0; i < count; i++) {
            each_file(fd, list[i]->name, true, NULL);
        }
        struct stat st;
        if (fstatat(fd, list[0]->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            break; /* it cannot be deleted */
        }
    }
    if (fd >= 0) {
        close(fd);
        rmdir(path);
    }
}

int kept_open(const char *path, const char *guid)
{
    SCOPED_ARENA(a);
    struct kept_log **list;
    int found = -1, fd = open_dir(AT_FDCWD, path);
    int error = fd < 0 ? errno : ENOENT;
    size_t count = fd < 0 ? 0 : read_all(path, &a, &list);
    for (size_t i = 0; found < 0 && i < count; i++) {
        if (strcmp(list[i]->guid, guid) == 0) {
            found = open_dir(fd, list[i]->name);
            error = errno;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return found;
}

static bool is_listed(const struct kept_log *k, const char *label, bool begins)
{
    if (begins) {
        return *k->label && strncmp(k->label, label, strlen(label)) == 0;
    }
    return *k->label ? strcmp(k->label, label) == 0 : k->hash == hash_of(label);
}

static void list_one(const struct kept_log *k, const char *label, struct buf *out)
{
    const char *slash = strrchr(label, '/');
    buf_append_string(out, "{\"instance_guid\":");
    json_string_text(bytes_of(k->guid), out);
    if (slash) {
        buf_append_string(out, ",\"process_guid\":");
        json_string_text((struct bytes){(const uint8_t *)label, (size_t)(slash - label)}, out);
        buf_printf(out, ",\"index\":%ld", strtol(slash + 1, NULL, 10));
    }
    buf_printf(out, ",\"removed_at\":%lld000000000}", k->wall_s);
}

void kept_list(const char *path, const char *label, bool begins, struct buf *out)
{
    SCOPED_ARENA(a);
    struct kept_log **list;
    const char *between = "";
    size_t count = read_all(path, &a, &list);
    buf_append_string(out, "[");
    for (size_t i = 0; i < count; i++) {
        if (is_listed(list[i], label, begins)) {
            buf_append_string(out, between);
            list_one(list[i], begins ? list[i]->label : label, out);
            between = ",";
        }
    }
    buf_append_string(out, "]\n");
}
