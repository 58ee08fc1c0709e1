#include "bbs/cli/name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool read_index(const char *text, int32_t *ret_index)
{
    size_t digits = strspn(text, "0123456789");
    *ret_index = (int32_t)strtol(text, NULL, 10);
    return digits > 0 && digits <= 6 && !text[digits];
}

int target_read(struct arena *a, const char *text, const char *index, const char **ret_name,
                int32_t *ret_index, struct err *err)
{
    const char *slash = strrchr(text, '/');
    *ret_name = slash ? arena_strndup(a, text, (size_t)(slash - text)) : text;
    *ret_index = -1;
    if (slash && (slash == text || !read_index(slash + 1, ret_index))) {
        return err_set(err, ERR_INVALID, "\"%.60s\" is not an app and an index (web, web/0, ...)",
                       text);
    }
    if (slash && index) {
        return err_set(err, ERR_INVALID, "\"%.60s\" has an index already: leave \"%.20s\" out", text,
                       index);
    }
    if (index && !read_index(index, ret_index)) {
        return err_set(err, ERR_INVALID, "\"%.40s\" is not an index (0, 1, ...)", index);
    }
    return 0;
}

const char *target_text(struct arena *a, const char *name, int32_t index)
{
    return index < 0 ? name : arena_printf(a, "%s/%d", name, (int)index);
}
