#include "converger/resolver/mirrors_io.h"

#include "common/base/memory.h"
#include "converger/resolver/git_io.h"
#include "converger/resolver/program_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MIRRORS_MAX = 4096, WALK_FILES = 16, LOCK_PAUSE_MS = 50 };

const char *mem_path(struct arena *a, const char *dir, const char *name)
{
    return arena_printf(a, "%s/%s", dir, name);
}

/* ---- Walks ----------------------------------------------------------------------------------- */

static int64_t walked_bytes; /* of the walk under way: nftw() has no context */

static int add_size(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path;
    (void)type;
    (void)at;
    walked_bytes += (int64_t)st->st_blocks * 512;
    return 0;
}

static int64_t directory_bytes(const char *dir)
{
    walked_bytes = 0;
    nftw(dir, add_size, WALK_FILES, FTW_PHYS);
    return walked_bytes;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void directory_remove(const char *dir)
{
    nftw(dir, remove_one, WALK_FILES, FTW_PHYS | FTW_DEPTH);
}

/* ---- The directory --------------------------------------------------------------------------- */

/* All that git is told; ownership is not its business, for who may read what is asked by URL. */
static const char configuration[] = "[safe]\n\tdirectory = *\n"
                                    "[core]\n\thooksPath = /dev/null\n\tsymlinks = false\n"
                                    "[gc]\n\tauto = 0\n"
                                    "[protocol \"file\"]\n\tallow = always\n"
                                    "[credential]\n\thelper =\n"
                                    "[transfer]\n\tfsckObjects = false\n";

static int write_configuration(const char *dir, struct err *err)
{
    char *file = mem_printf("%s/config", dir);
    char *next = mem_printf("%s/config.%ld", dir, (long)getpid());
    FILE *f = fopen(next, "we");
    bool good = f && fputs(configuration, f) >= 0;
    good = f && fclose(f) == 0 && good && rename(next, file) == 0;
    int r = good ? 0 : err_set(err, ERR_IO, "%s cannot be written: %s", file, strerror(errno));
    free(next);
    free(file);
    return r;
}

int mirrors_prepare(const char *dir, struct err *err)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return err_set(err, ERR_IO, "%s cannot be made: %s", dir, strerror(errno));
    }
    return write_configuration(dir, err);
}

struct mirror {
    char *dir;
    int64_t bytes;
    time_t used;
};

static int by_use(const void *one, const void *other)
{
    const struct mirror *a = one, *b = other;
    return a->used < b->used ? -1 : a->used > b->used;
}

static size_t list_mirrors(const char *dir, struct mirror *mirrors)
{
    size_t count = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && count < MIRRORS_MAX && (e = readdir(d));) {
        size_t size = strlen(e->d_name);
        struct stat st;
        char *path = mem_printf("%s/%s", dir, e->d_name);
        if (size > 4 && strcmp(e->d_name + size - 4, ".git") == 0 && lstat(path, &st) == 0) {
            mirrors[count++] = (struct mirror){path, directory_bytes(path), st.st_mtime};
        } else {
            free(path);
        }
    }
    if (d) {
        closedir(d);
    }
    return count;
}

void mirrors_make_room(const char *dir, int64_t bytes_max)
{
    struct mirror *mirrors = mem_array(MIRRORS_MAX, sizeof(*mirrors));
    size_t count = list_mirrors(dir, mirrors);
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += mirrors[i].bytes;
    }
    qsort(mirrors, count, sizeof(*mirrors), by_use);
    for (size_t i = 0; i < count; i++) {
        if (total > bytes_max) {
            directory_remove(mirrors[i].dir);
            total -= mirrors[i].bytes;
        }
        free(mirrors[i].dir);
    }
    free(mirrors);
}

/* ---- A mirror -------------------------------------------------------------------------------- */

int mirror_open(const char *dir, const char *url, char **ret_dir, struct err *err)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    char name[2 * 16 + 1];
    SHA256((const unsigned char *)url, strlen(url), hash);
    for (int i = 0; i < 16; i++) {
        snprintf(name + 2 * i, 3, "%02x", hash[i]);
    }
    char *mirror = mem_printf("%s/%s.git", dir, name);
    if (mkdir(mirror, 0700) != 0 && errno != EEXIST) {
        int r = err_set(err, ERR_IO, "%s cannot be made: %s", mirror, strerror(errno));
        free(mirror);
        return r;
    }
    utimensat(AT_FDCWD, mirror, NULL, 0);
    *ret_dir = mirror;
    return 0;
}

int mirror_lock(const char *mirror, int64_t end_ms, int *ret_lock, struct err *err)
{
    char *file = mem_printf("%s.lock", mirror);
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600), r = 0;
    if (fd < 0) {
        r = err_set(err, ERR_IO, "%s: %s", file, strerror(errno));
    }
    while (r == 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
        if (program_now_ms() >= end_ms) {
            r = err_set(err, ERR_TIMEOUT, "another one reads it and does not end");
        } else {
            nanosleep(&pause, NULL);
        }
    }
    free(file);
    if (r < 0 && fd >= 0) {
        close(fd);
        fd = -1;
    }
    *ret_lock = fd;
    return r;
}

void mirror_unlock(int lock)
{
    if (lock >= 0) {
        close(lock);
    }
}

int64_t mirror_bytes_max(void)
{
    struct rlimit l;
    bool lower = getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur < (rlim_t)GIT_REPOSITORY_BYTES_MAX;
    return lower ? (int64_t)l.rlim_cur : GIT_REPOSITORY_BYTES_MAX;
}

int64_t mirror_bytes(const char *mirror)
{
    return directory_bytes(mirror);
}
