/* Whether the first program of an oci container is there. The init would start well and then fail
 * to run it, which looks like a crash of it; so that is found before. */
#include "rep/driver/driver_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The place behind a mount's destination; NULL: the path is not there. */
static const char *behind(const char *path, const char *destination)
{
    size_t size = strlen(destination);
    while (size > 0 && destination[size - 1] == '/') {
        size--;
    }
    if (strncmp(path, destination, size) != 0 || (path[size] != '/' && path[size] != '\0')) {
        return NULL;
    }
    return path + size;
}

int open_place(const struct places *p, const char *path)
{
    const char *source = NULL, *rest = path;
    size_t i;
    json_t *mount;
    json_array_foreach(p->mounts, i, mount) {
        const char *type = json_string_value(json_object_get(mount, "type"));
        const char *below =
            behind(path, json_string_value(json_object_get(mount, "destination")));
        if (below && strcmp(type, "bind") == 0 && strlen(below) < strlen(rest)) {
            source = json_string_value(json_object_get(mount, "source"));
            rest = below;
        }
    }
    int base = source ? open(source, O_PATH | O_CLOEXEC) : p->root;
    int fd = base < 0 ? -1 : open_inside(base, rest[0] ? rest : ".", O_PATH);
    if (source) {
        fd_close(base);
    }
    return fd;
}

static bool runnable(const struct places *p, const char *dir, const char *program)
{
    char path[4096];
    struct stat st;
    int n = program[0] == '/' || dir[0] == '\0'
                ? snprintf(path, sizeof(path), "%s", program)
                : snprintf(path, sizeof(path), "%s/%s", dir, program);
    int fd = n < (int)sizeof(path) ? open_place(p, path) : -1;
    bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
    fd_close(fd);
    return good;
}

static bool found_in(const struct places *p, const char *search, const char *program)
{
    char dir[1024];
    while (*search) {
        size_t n = strcspn(search, ":");
        snprintf(dir, sizeof(dir), "%.*s", (int)n, search);
        if (n > 0 && runnable(p, dir, program)) {
            return true;
        }
        search += n + (search[n] == ':');
    }
    return false;
}

static const char *search_path(const json_t *process)
{
    const char *found = PATH_DEFAULT;
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(process, "env"), i, line) {
        if (strncmp(json_string_value(line), "PATH=", 5) == 0) {
            found = json_string_value(line) + 5;
        }
    }
    return found;
}

/* One that is not there is the runtime's to make. */
static int check_cwd(const struct places *p, const char *cwd, struct err *err)
{
    struct stat st;
    int fd = open_place(p, cwd);
    bool other = fd >= 0 && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode);
    fd_close(fd);
    return other ? err_set(err, ERR_INVALID,
                           "its directory %s is no directory in the root filesystem", cwd)
                 : 0;
}

int program_check(const char *dir, struct err *err)
{
    enum { PROGRAM = 2 }; /* after the init and "--" */
    json_t *config = json_read(dir, "config.json", err);
    const json_t *process = json_object_get(config, "process");
    if (!config) {
        return -err->code;
    }
    if (json_array_size(json_object_get(process, "args")) <= PROGRAM) {
        json_decref(config);
        return 0; /* the init alone */
    }
    const char *cwd = json_string_value(json_object_get(process, "cwd"));
    const char *program =
        json_string_value(json_array_get(json_object_get(process, "args"), PROGRAM));
    int parent = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct places p = {
        .root = openat(parent, "rootfs", O_PATH | O_DIRECTORY | O_CLOEXEC),
        .mounts = json_object_get(config, "mounts"),
    };
    bool good = strchr(program, '/') ? runnable(&p, cwd, program)
                                     : found_in(&p, search_path(process), program);
    int result = good ? check_cwd(&p, cwd, err)
                      : err_set(err, ERR_NOT_FOUND,
                                "no program %s in the root filesystem, or not executable", program);
    fd_close(p.root);
    fd_close(parent);
    json_decref(config);
    return result;
}
