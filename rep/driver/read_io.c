/* READ: a file of a container, which may have ended. What a container leaves behind is whatever its
 * program liked: links out of its root, pipes, devices, files without an end. */
#include "rep/driver/driver_parts.h"

#include <sys/stat.h>

/* Of a container's directory, what says how its program was begun. */
struct begun {
    json_t *config;
    bool own_root;
    const char *dir;
    uid_t uid;
    gid_t gid;
};

static int begun_read(const char *dir, struct begun *b, struct err *err)
{
    b->config = json_read(dir, "config.json", err);
    if (!b->config) {
        return -err->code;
    }
    const json_t *process = json_object_get(b->config, "process");
    const json_t *user = json_object_get(process, "user");
    const char *cwd = json_string_value(json_object_get(process, "cwd"));
    b->dir = cwd ? cwd : "/";
    b->uid = (uid_t)json_integer_value(json_object_get(user, "uid"));
    b->gid = (gid_t)json_integer_value(json_object_get(user, "gid"));
    return 0;
}

/* The rep may read more than the program may; where the root is everybody's, that matters. All
 * that a root of its own has is the container's, whichever of its users left it. */
static bool is_readable(const struct begun *b, const struct stat *st)
{
    return b->own_root || b->uid == 0 || (st->st_mode & S_IROTH) ||
           (st->st_uid == b->uid && (st->st_mode & S_IRUSR)) ||
           (st->st_gid == b->gid && (st->st_mode & S_IRGRP));
}

static int refused(struct err *err, const char *path, const char *why)
{
    return err_set(err, ERR_IO, "cannot read %s: %s", path, why);
}

/* To open a device may be to use it, so it is looked at before. */
static int open_plain(int root, const struct begun *b, const char *path, struct err *err)
{
    char whole[4096], again[40];
    struct stat st;
    int n = path[0] == '/' ? snprintf(whole, sizeof(whole), "%s", path)
                           : snprintf(whole, sizeof(whole), "%s/%s", b->dir, path);
    if (n >= (int)sizeof(whole)) {
        return refused(err, path, "its name is too long");
    }
    struct places p = {root, json_object_get(b->config, "mounts")};
    int at = open_place(&p, whole);
    if (at < 0 || fstat(at, &st) < 0) {
        int result = refused(err, path, strerror(errno));
        fd_close(at);
        return result;
    }
    int fd = -1, result = 0;
    snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
    if (!S_ISREG(st.st_mode)) {
        result = refused(err, path, "not a file");
    } else if (!is_readable(b, &st)) {
        result = refused(err, path, strerror(EACCES));
    } else if ((fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0) {
        result = refused(err, path, strerror(errno));
    }
    close(at);
    return result < 0 ? result : fd;
}

static int read_whole(int fd, const char *path, struct buf *out, struct err *err)
{
    uint8_t chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        if (out->size + (size_t)n > VERB_READ_BYTES_MAX) {
            return refused(err, path, "it is too large");
        }
        buf_append(out, chunk, (size_t)n);
    }
    return n < 0 ? refused(err, path, strerror(errno)) : 0;
}

static int read_file(const struct driver_container *c, const char *path, struct buf *out,
                     struct err *err)
{
    struct begun b = {.own_root = strcmp(c->driver->ops->root, "/") != 0};
    int parent = open(c->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int root = openat(parent, c->driver->ops->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int result = root < 0 ? refused(err, path, strerror(errno)) : begun_read(c->dir, &b, err);
    if (result == 0) {
        int fd = result = open_plain(root, &b, path, err);
        if (fd >= 0) {
            result = read_whole(fd, path, out, err);
            close(fd);
        }
        json_decref(b.config);
    }
    fd_close(root);
    fd_close(parent);
    return result;
}

void verb_read(struct driver *d, const struct verb_call *call)
{
    struct driver_container *c = map_get(&d->containers, call->guid);
    struct err err;
    SCOPED_BUF(data);
    int result = c && call->step ? run_output(c, call->step, &data, &err)
                 : c             ? read_file(c, call->path, &data, &err)
                   : err_set(&err, ERR_NOT_FOUND, "there is no such container");
    driver_answer(d, &(struct verb_answer){
                         .id = call->id,
                         .verb = VERB_READ,
                         .guid = call->guid,
                         .outcome = result < 0 ? VERB_FAILED : VERB_DONE,
                         .text = result < 0 ? err.text : "",
                         .data = result < 0 ? (struct bytes){0} : buf_bytes(&data),
                     });
}
