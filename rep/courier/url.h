/* URLs of downloads and uploads: which way they go, and the path of a file's. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

enum url_way { URL_HTTP, URL_FILE, URL_UNKNOWN };

/* By its scheme, in letters of either case. */
enum url_way url_way(const char *url);

/* The absolute path of "file:///PATH" or "file://localhost/PATH", its escapes undone, in the arena.
 * -ERR_INVALID, without the URL in its text: another machine's, no absolute path. */
int url_file_path(struct arena *a, const char *url, const char **ret_path, struct err *err);
