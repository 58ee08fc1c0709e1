#include "rep/cli/tools_dir_io.h"

#include "rep/unit/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "rep-hook"

const char *tools_program(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    return slash ? arena_printf(a, "%.*s/" PROGRAM, (int)(slash - path), path) : NULL;
}

/* For users of containers, who are others to this machine, whatever the umask. */
static int make(const char *path, struct err *err)
{
    if ((mkdir(path, 0755) < 0 && errno != EEXIST) || chmod(path, 0755) < 0) {
        return err_set(err, ERR_IO, "cannot make the directory %.200s: %s", path, strerror(errno));
    }
    return 0;
}

static int copy_bytes(int from, int to)
{
    ssize_t n;
    do {
        n = sendfile(to, from, NULL, 1 << 20);
    } while (n > 0);
    return n < 0 || fchmod(to, 0755) < 0 ? -1 : 0;
}

/* In one move: what is replaced may run in containers. */
static int copy_program(struct arena *a, int from, const char *tools, struct err *err)
{
    const char *path = arena_printf(a, "%s/" PROGRAM, tools);
    const char *part = arena_printf(a, "%s.part", path);
    unlink(part);
    int to = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    int result = to < 0 ? -1 : copy_bytes(from, to);
    if (to >= 0 && close(to) < 0) {
        result = -1;
    }
    return result < 0 || rename(part, path) < 0
               ? err_set(err, ERR_IO, "cannot write %.200s: %s", path, strerror(errno))
               : 0;
}

static int link_tools(struct arena *a, const char *tools, struct err *err)
{
    const char *name;
    for (size_t i = 0; (name = tool_name(i)); i++) {
        const char *path = arena_printf(a, "%s/%s", tools, name);
        if (symlink(PROGRAM, path) < 0 && errno != EEXIST) {
            return err_set(err, ERR_IO, "cannot make %.200s: %s", path, strerror(errno));
        }
    }
    return 0;
}

int tools_directories_make(struct arena *a, const char *state_dir, const char *program,
                           struct tools_directories *ret, struct err *err)
{
    char whole[PATH_MAX];
    *ret = (struct tools_directories){0};
    int from = program ? open(program, O_RDONLY | O_CLOEXEC) : -1;
    if (from < 0) {
        return !program || errno == ENOENT
                   ? 0
                   : err_set(err, ERR_IO, "cannot read %.200s: %s", program, strerror(errno));
    }
    state_dir = realpath(state_dir, whole) ? whole : state_dir; /* binds are absolute */
    const char *tools = arena_printf(a, "%s/tools", state_dir);
    const char *reached = arena_printf(a, "%s/socket", state_dir);
    int r = make(tools, err);
    r = r < 0 ? r : make(reached, err);
    r = r < 0 ? r : copy_program(a, from, tools, err);
    r = r < 0 ? r : link_tools(a, tools, err);
    close(from);
    if (r == 0) {
        *ret = (struct tools_directories){tools, reached};
    }
    return r;
}
