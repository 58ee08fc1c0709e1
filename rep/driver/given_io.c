/* Directories of the cell that a container sees, and files that its spec gives it: given/ of its
 * directory has the files, and where nothing can be mounted links to the directories, each under
 * the last name of its path. */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"

#include <sys/stat.h>

#define GIVEN "given"

/* NULL: it has no name that a file could have. */
static const char *last_name(const char *path)
{
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    bool good = slash && slash[1] && strcmp(slash + 1, ".") != 0 && strcmp(slash + 1, "..") != 0;
    return good ? slash + 1 : NULL;
}

static const char *path_of(const struct container_spec *spec, size_t n)
{
    return n < spec->bind_count ? spec->binds[n].path : spec->files[n - spec->bind_count].path;
}

/* Two of one name would be one file. */
static int check_names(const struct container_spec *spec, struct err *err)
{
    size_t count = spec->bind_count + spec->file_count;
    for (size_t i = 0; i < count; i++) {
        const char *name = last_name(path_of(spec, i));
        if (!name) {
            return err_set(err, ERR_INVALID, "%.100s is no path of a bind", path_of(spec, i));
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(name, last_name(path_of(spec, k))) == 0) {
                return err_set(err, ERR_INVALID, "two binds are called %.100s", name);
            }
        }
    }
    return 0;
}

static int check(const struct container_spec *spec, struct err *err)
{
    if (spec->bind_count > CELL_BINDS_MAX || spec->file_count > CELL_BINDS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "a container has %d binds and %d files at most",
                       CELL_BINDS_MAX, CELL_BINDS_MAX);
    }
    for (size_t i = 0; i < spec->file_count; i++) {
        if (spec->files[i].data.size > GIVEN_FILE_BYTES_MAX) {
            return err_set(err, ERR_TOO_LARGE, "the file %.100s has more than %d bytes",
                           spec->files[i].path, GIVEN_FILE_BYTES_MAX);
        }
    }
    for (size_t i = 0; i < spec->bind_count; i++) {
        struct stat st;
        if (spec->binds[i].from[0] != '/' || stat(spec->binds[i].from, &st) < 0 ||
            !S_ISDIR(st.st_mode)) {
            return err_set(err, ERR_NOT_FOUND, "%.100s, to be bound, is no directory of the cell",
                           spec->binds[i].from);
        }
    }
    return check_names(spec, err);
}

static int write_file(const char *dir, const struct given_file *file, uint32_t owner,
                      struct err *err)
{
    char *name = mem_printf(GIVEN "/%s", last_name(file->path));
    char *path = mem_printf("%s/%s", dir, name);
    int result = file_write(dir, name, file->data, err);
    if (result == 0 &&
        ((getuid() == 0 && lchown(path, owner, owner) < 0) || chmod(path, 0400) < 0)) {
        result = err_set(err, ERR_IO, "cannot change %s: %s", path, strerror(errno));
    }
    free(path);
    free(name);
    return result;
}

char *given_path(const char *dir, const char *path)
{
    return path ? mem_printf("%s/" GIVEN "/%s", dir, last_name(path))
                : mem_printf("%s/" GIVEN, dir);
}

static int write_link(const char *dir, const struct cell_bind *bind, struct err *err)
{
    char *path = given_path(dir, bind->path);
    int result = symlink(bind->from, path) < 0
                     ? err_set(err, ERR_IO, "cannot make %s: %s", path, strerror(errno))
                     : 0;
    free(path);
    return result;
}

int given_make(const char *dir, const struct container_spec *spec, uint32_t owner, bool links,
               struct err *err)
{
    if (spec->bind_count + spec->file_count == 0) {
        return 0;
    }
    char *all = given_path(dir, NULL);
    int result = check(spec, err);
    result = result < 0 ? result : dir_make(all, err);
    for (size_t i = 0; result == 0 && i < spec->file_count; i++) {
        result = write_file(dir, &spec->files[i], owner, err);
    }
    for (size_t i = 0; links && result == 0 && i < spec->bind_count; i++) {
        result = write_link(dir, &spec->binds[i], err);
    }
    free(all);
    return result;
}

json_t *given_mounts(const char *dir, const struct container_spec *spec)
{
    json_t *list = json_array();
    for (size_t i = 0; i < spec->bind_count + spec->file_count; i++) {
        bool bound = i < spec->bind_count;
        char *file = bound ? NULL : given_path(dir, path_of(spec, i));
        const char *mode = bound && spec->binds[i].writable ? "rw" : "ro";
        json_array_append_new(list, json_pack("{s:s s:s s:s s:[s s s s]}", "destination",
                                              path_of(spec, i), "type", "bind", "source",
                                              file ? file : spec->binds[i].from, "options", "bind",
                                              mode, "nosuid", "nodev"));
        free(file);
    }
    return list;
}
