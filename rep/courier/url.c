#include "rep/courier/url.h"

#include "common/base/query.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static bool begins(const char *url, const char *with)
{
    return strncasecmp(url, with, strlen(with)) == 0;
}

enum url_way url_way(const char *url)
{
    return begins(url, "http://") || begins(url, "https://") ? URL_HTTP
           : begins(url, "file:")                            ? URL_FILE
                                                             : URL_UNKNOWN;
}

int url_file_path(struct arena *a, const char *url, const char **ret_path, struct err *err)
{
    assert(url_way(url) == URL_FILE);
    const char *path = url + strlen("file:");
    if (begins(path, "//localhost/")) {
        path += strlen("//localhost");
    } else if (begins(path, "///")) {
        path += strlen("//");
    }
    if (path[0] != '/' || path[1] == '/') {
        return err_set(err, ERR_INVALID, "a file's URL must be file:///PATH");
    }
    *ret_path = percent_decoded(a, path, strlen(path));
    return 0;
}
