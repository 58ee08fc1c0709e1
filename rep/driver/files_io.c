/* Small files of a container's directory. */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"

#include <linux/openat2.h>
#include <sys/stat.h>

void fd_close(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static int read_all(int fd, size_t limit, struct buf *out)
{
    uint8_t chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        if (out->size + (size_t)n > limit) {
            errno = EFBIG;
            return -1;
        }
        buf_append(out, chunk, (size_t)n);
    }
    return n < 0 ? -1 : 0;
}

int file_read(const char *dir, const char *name, size_t limit, struct buf *out, struct err *err)
{
    char *path = mem_printf("%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int result = fd < 0 ? -1 : read_all(fd, limit, out);
    int error = result < 0 ? errno : 0;
    if (result < 0) {
        result = err_set(err, error == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot read %s: %s", path,
                         strerror(error));
    }
    fd_close(fd);
    free(path);
    errno = error;
    return result;
}

static int write_all(int fd, struct bytes data)
{
    for (size_t done = 0; done < data.size;) {
        ssize_t n = write(fd, data.data + done, data.size - done);
        if (n < 0) {
            return -1;
        }
        done += (size_t)n;
    }
    return 0;
}

int file_write(const char *dir, const char *name, struct bytes data, struct err *err)
{
    char *path = mem_printf("%s/%s", dir, name);
    char *part = mem_printf("%s.part", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int result = fd < 0 ? -1 : write_all(fd, data);
    if (fd >= 0 && close(fd) < 0) {
        result = -1;
    }
    if (result < 0 || rename(part, path) < 0) {
        result = err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    free(part);
    free(path);
    return result;
}

int json_write(const char *dir, const char *name, json_t *value, struct err *err)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (!text) {
        return err_set(err, ERR_INVALID, "the container's words are not all valid UTF-8");
    }
    int result = file_write(dir, name, bytes_of(text), err);
    free(text);
    return result;
}

int open_inside(int root, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC),
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

json_t *json_read(const char *dir, const char *name, struct err *err)
{
    char *path = mem_printf("%s/%s", dir, name);
    json_error_t error;
    json_t *value = json_load_file(path, 0, &error);
    if (!value) {
        err_set(err, ERR_IO, "cannot read %s: %s", path, error.text);
    }
    free(path);
    return value;
}

int dir_make(const char *path, struct err *err)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        return err_set(err, ERR_IO, "cannot make the directory %s: %s", path, strerror(errno));
    }
    return 0;
}
