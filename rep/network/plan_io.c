#include "rep/network/network.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

json_t *plan_json(const char *dir, const char *name)
{
    SCOPED_ARENA(scratch);
    return json_load_file(arena_printf(&scratch, "%s/%s", dir, name), 0, NULL);
}

/* A machine that lost its power leaves files short or empty: nothing was attached by such a plan
 * since, and what it leased is found by the sweep. */
static bool is_cut(const json_error_t *error)
{
    return json_error_code(error) == json_error_premature_end_of_input;
}

int plan_load(struct arena *a, const char *dir, struct network_plan *ret_plan, json_t **ret_read,
              struct err *err)
{
    const char *path = arena_printf(a, "%s/" NETWORK_PLAN_FILE, dir);
    if (access(path, F_OK) < 0 && errno == ENOENT) {
        return err_set(err, ERR_NOT_FOUND, "%s is not there", path);
    }
    json_error_t error;
    json_t *read = json_load_file(path, 0, &error);
    if (!read) {
        return err_set(err, is_cut(&error) ? ERR_NOT_FOUND : ERR_IO, "cannot read %s: %s", path,
                       error.text);
    }
    int result = network_plan_read(a, read, ret_plan, err);
    if (result < 0) {
        json_decref(read);
        return result;
    }
    *ret_read = read;
    return 0;
}

const char *plan_text(struct arena *a, const char *dir, const char *name)
{
    char text[256];
    int fd = open(arena_printf(a, "%s/%s", dir, name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    if (n <= 0) {
        return NULL;
    }
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return arena_strdup(a, text);
}

int plan_write(const char *dir, const char *name, const char *text, bool append, struct err *err)
{
    SCOPED_ARENA(scratch);
    const char *path = arena_printf(&scratch, "%s/%s", dir, name);
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (append ? O_APPEND : O_TRUNC);
    int fd = open(path, flags, 0644);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int result = written ? 0 : err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    return result;
}
