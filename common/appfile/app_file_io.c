#include "common/appfile/app_file_io.h"

#include "common/appfile/app.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int app_file_read(struct arena *a, const char *file, struct bytes *ret_text, struct err *err)
{
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    if (!from) {
        return err_set(err, ERR_INVALID, "cannot read %.150s: %s", file, strerror(errno));
    }
    char *text = arena_alloc(a, APPFILE_MAX_BYTES + 1);
    errno = 0;
    size_t size = fread(text, 1, APPFILE_MAX_BYTES + 1, from);
    int failed = ferror(from) ? errno : 0;
    if (from != stdin) {
        fclose(from);
    }
    if (failed) {
        /* A directory can be opened, and cannot be read. */
        return failed == EISDIR
                   ? err_set(err, ERR_INVALID, "%.150s is a directory: name a file in it", file)
                   : err_set(err, ERR_IO, "cannot read %.150s: %s", file, strerror(failed));
    }
    if (size > APPFILE_MAX_BYTES) {
        return err_set(err, ERR_TOO_LARGE, "%.150s: larger than %d MiB" NODE_DIVIDE, file,
                       APPFILE_MAX_BYTES >> 20);
    }
    *ret_text = (struct bytes){(const uint8_t *)text, size};
    return 0;
}
