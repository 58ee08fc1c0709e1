#include "rep/driver/lease_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_BYTES = 128 };

/* Each level of an absolute path. */
static int make_all(char *path)
{
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char was = *at;
        *at = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST) {
            return -1;
        }
        *at = was;
        if (!was) {
            return 0;
        }
    }
}

int lease_dir(const struct subnet *s, char *out, size_t size, struct err *err)
{
    char base[ADDRESS_TEXT_BYTES];
    subnet_text(s->base, base);
    snprintf(out, size, LEASES_DIR "/%s-%d", base, s->prefix);
    return make_all(out) == 0 ? 0
                              : err_set(err, ERR_IO, "cannot make %s: %s", out, strerror(errno));
}

/* Whoever holds it; false: nobody can be told. */
static bool holder(const char *file, char id[ID_BYTES])
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, id, ID_BYTES - 1);
    if (fd >= 0) {
        close(fd);
    }
    id[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

/* 0, or -1 with errno: EEXIST when it is somebody's. */
static int take_one(const char *file, const char *id)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        return -1;
    }
    bool written = write(fd, id, strlen(id)) == (ssize_t)strlen(id);
    int saved = errno;
    close(fd);
    if (!written) {
        unlink(file);
        errno = saved;
    }
    return written ? 0 : -1;
}

int lease_take(const char *dir, const struct subnet *s, uint32_t *cursor, const char *id,
               char ret_address[ADDRESS_TEXT_BYTES], struct err *err)
{
    char file[512];
    for (uint32_t tried = 0; tried < subnet_size(s); tried++) {
        subnet_text(subnet_address(s, (*cursor)++), ret_address);
        snprintf(file, sizeof(file), "%s/%s", dir, ret_address);
        if (take_one(file, id) == 0) {
            return 0;
        }
        if (errno != EEXIST) {
            return err_set(err, ERR_IO, "cannot write %s: %s", file, strerror(errno));
        }
    }
    return err_set(err, ERR_TOO_LARGE, "all %u addresses of its network are in use",
                   subnet_size(s));
}

void lease_keep(const char *file, const char *id)
{
    take_one(file, id);
}

bool lease_give(const char *file, const char *id)
{
    char held[ID_BYTES];
    if (!holder(file, held)) {
        return errno == ENOENT;
    }
    return strcmp(held, id) != 0 || unlink(file) == 0 || errno == ENOENT;
}

size_t lease_sweep(const char *dir, const char *prefix,
                   bool (*lives)(void *context, const char *guid), void *context)
{
    char file[512], held[ID_BYTES];
    size_t given = 0, size = strlen(prefix);
    DIR *all = opendir(dir);
    for (struct dirent *e; all && (e = readdir(all));) {
        snprintf(file, sizeof(file), "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && holder(file, held) && strncmp(held, prefix, size) == 0 &&
            !lives(context, held + size)) {
            given += unlink(file) == 0;
        }
    }
    if (all) {
        closedir(all);
    }
    return given;
}
