/* What leaves a shim: reports to the rep, files written whole or not at all. */
#include "rep/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

void report(const char *format, ...)
{
    char text[SHIM_TEXT_BYTES + 64];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n > 0) {
        report_bytes(text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
    }
}

void report_bytes(const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(SHIM_REPORT_FD, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; /* the rep is gone; its successor reads the files */
        }
        data += n;
        size -= (size_t)n;
    }
}

void report_end(void)
{
    close(SHIM_REPORT_FD);
}

static int write_whole(int fd, const char *text, size_t size, bool sync)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pwrite(fd, text + done, size - done, (off_t)done);
        if (n < 0) {
            return -1;
        }
        done += (size_t)n;
    }
    return ftruncate(fd, (off_t)size) < 0 || (sync && fdatasync(fd) < 0) ? -1 : 0;
}

int file_replace(const char *path, const char *text, size_t size, bool sync)
{
    char tmp[64];
    snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    int result = write_whole(fd, text, size, sync);
    int saved = errno;
    close(fd);
    errno = saved;
    return result < 0 ? -1 : rename(tmp, path);
}

int directory_lock(void)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0) {
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

/* What file_replace() will write to. */
static int reserve(const char *tmp, off_t size)
{
    int fd = open(tmp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    int error = posix_fallocate(fd, 0, size);
    close(fd);
    errno = error;
    return error ? -1 : 0;
}

int files_reserve(void)
{
    return reserve("status.tmp", SHIM_TEXT_BYTES + 256) < 0 ? -1 : reserve("pid.tmp", 128);
}

int status_write(const struct outcome *e)
{
    char text[SHIM_TEXT_BYTES + 256];
    int n = snprintf(text, sizeof(text), "code %d\nsignal %d\noom %d\n%stext %.*s\n", e->code,
                     e->signal, e->oom, e->full ? "disk 1\n" : "", SHIM_TEXT_BYTES, e->text);
    return file_replace("status", text, (size_t)n, true);
}
