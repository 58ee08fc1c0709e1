/* Reads an app file from the disk or from standard input. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

/* The bytes of `file`, "-" for standard input, in the arena. ERR_INVALID, a wrong use of the
 * command, for a file that is not there, may not be read or is a directory; ERR_TOO_LARGE beyond
 * APPFILE_MAX_BYTES. */
int app_file_read(struct arena *a, const char *file, struct bytes *ret_text, struct err *err);
