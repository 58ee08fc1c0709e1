#include "rep/courier/sink_io.h"

#include "common/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 * 1024 };

void sink_anew(struct sink *s)
{
    s->have = 0;
    summing_begin(&s->sha256, CHECKSUM_SHA256);
    if (s->wanted) {
        summing_begin(&s->sum, s->wanted->kind);
    }
    if (ftruncate(s->fd, 0) < 0) {
        s->rc = err_set(&s->err, ERR_IO, "cannot empty the file: %s", strerror(errno));
    }
}

static void too_large(struct sink *s)
{
    s->rc =
        err_set(&s->err, ERR_TOO_LARGE, "it is larger than %lld bytes", (long long)s->bytes_max);
}

void sink_expect(struct sink *s, int64_t more)
{
    s->total = more >= 0 ? s->have + more : -1;
    if (s->rc == 0 && s->total > s->bytes_max) {
        too_large(s);
    }
}

static void store(struct sink *s, const char *data, size_t size)
{
    for (size_t done = 0; s->rc == 0 && done < size;) {
        ssize_t n = pwrite(s->fd, data + done, size - done, s->have + (off_t)done);
        if (n < 0 && errno != EINTR) {
            s->rc = err_set(&s->err, ERR_IO, "cannot write the content: %s", strerror(errno));
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

void sink_take(struct sink *s, const void *data, size_t size)
{
    if (s->rc == 0 && (int64_t)size > s->bytes_max - s->have) {
        too_large(s);
    }
    store(s, data, size);
    if (s->rc) {
        return;
    }
    summing_add(&s->sha256, data, size);
    if (s->wanted) {
        summing_add(&s->sum, data, size);
    }
    s->have += (int64_t)size;
    s->moved += (int64_t)size;
    errand_moved(s->tell, s->have, s->total);
}

void sink_take_file(struct sink *s, int fd)
{
    char *chunk = mem_array(CHUNK_BYTES, 1);
    struct stat st;
    ssize_t n = 1;
    sink_expect(s, fstat(fd, &st) == 0 ? st.st_size : -1);
    while (s->rc == 0 && n != 0) {
        n = read(fd, chunk, CHUNK_BYTES);
        if (n > 0) {
            sink_take(s, chunk, (size_t)n);
        } else if (n < 0 && errno != EINTR) {
            s->rc = err_set(&s->err, ERR_IO, "cannot read the file: %s", strerror(errno));
        }
    }
    free(chunk);
}

static int compare(struct sink *s, struct err *err)
{
    struct checksum found = summing_end(&s->sum);
    char has[CHECKSUM_TEXT_BYTES + 1], should[CHECKSUM_TEXT_BYTES + 1];
    if (checksum_equal(&found, s->wanted)) {
        return 0;
    }
    checksum_print(&found, ':', has);
    checksum_print(s->wanted, ':', should);
    return err_set(err, ERR_INVALID, "its checksum is %.71s, not %.64s", has,
                   strchr(should, ':') + 1);
}

int sink_end(struct sink *s, struct courier_answer *answer, struct err *err)
{
    struct checksum digest = summing_end(&s->sha256);
    char text[CHECKSUM_TEXT_BYTES + 1];
    int rc = s->wanted ? compare(s, err) : 0;
    summing_done(&s->sha256);
    summing_done(&s->sum);
    if (rc) {
        return rc;
    }
    checksum_print(&digest, '-', text);
    snprintf(answer->digest, sizeof(answer->digest), "%.71s", text);
    answer->size = s->have;
    answer->moved = s->moved;
    return 0;
}
