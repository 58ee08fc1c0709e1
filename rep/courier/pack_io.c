/* pack: a file of a container, as its user may read it, to a file of the cell's. */
#include "rep/courier/confine_io.h"
#include "rep/courier/paths_io.h"
#include "rep/courier/sink_io.h"
#include "rep/courier/verbs_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY_BYTES = 256 << 20 };

const struct cli_option courier_pack_options[] = {
    {"root", "DIR", "the container's root filesystem, mounted"},
    {"container", "DIR",
     "instead: its directory; the root is its first process's, with its mounts"},
    {"from", "PATH", "the file, as seen in the container, or a directory with nothing but one",
     .required = true},
    {0},
};

const struct cli_option courier_out_options[] = {
    {"out", "FILE", "becomes it, by rename", .required = true},
    {0},
};

struct pack {
    struct courier_job *job;
    const char *from;
    int root_fd, out_fd;
};

/* ---- the child ---- */

/* The name of a directory's only entry; "" when it has none or several. */
static void only_name(int dir, char ret[256])
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    ret[0] = '\0';
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && ++count == 1) {
            snprintf(ret, 256, "%s", e->d_name);
        }
    }
    if (count > 1) {
        ret[0] = '\0';
    }
    if (d) {
        closedir(d);
    }
}

static int not_readable(const struct pack *p, int error, struct err *err)
{
    return err_set(err, error == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open \"%.100s\": %s",
                   p->from, strerror(error));
}

/* Never waits: a fifo is opened without its writer, and refused. A descriptor, or an error code. */
static int open_source(const struct pack *p, struct err *err)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    struct stat st;
    char name[256];
    int fd = open_rooted(p->root_fd, p->from, flags);
    if (fd < 0) {
        return not_readable(p, errno, err);
    }
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        only_name(fd, name);
        int inner = name[0] ? openat(fd, name, flags | O_NOFOLLOW | O_CLOEXEC) : -1;
        close(fd);
        if (inner < 0 && name[0]) {
            return not_readable(p, errno, err);
        }
        fd = inner;
    }
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        return err_set(err, ERR_INVALID,
                       "\"%.100s\" is neither a regular file nor a directory with nothing but one",
                       p->from);
    }
    return fd;
}

static int copy(int fd, struct sink *s, struct err *err)
{
    sink_anew(s);
    sink_take_file(s, fd);
    if (s->rc) {
        *err = s->err;
    }
    return s->rc;
}

static int work(void *context, struct errand_tell *tell, struct courier_answer *answer,
                struct err *err)
{
    const struct pack *p = context;
    struct confinement c = {p->job->uid, p->job->gid, p->job->bytes_max, MEMORY_BYTES};
    struct sink s = {.fd = p->out_fd, .bytes_max = p->job->bytes_max, .tell = tell, .total = -1};
    int rc = confine_enter(p->root_fd, err);
    if (rc == 0) {
        rc = confine_drop(&c, err);
    }
    int fd = rc ? rc : open_source(p, err);
    if (fd < 0) {
        return fd;
    }
    rc = copy(fd, &s, err);
    if (rc == 0) {
        rc = sink_end(&s, answer, err);
    }
    answer->moved = 0; /* nothing went over a network */
    return rc;
}

/* ---- the parent ---- */

static int run(struct pack *p, const char *out, struct courier_answer *ret, struct err *err)
{
    SCOPED_ARENA(a);
    const char *part = arena_printf(&a, "%s.part", out);
    struct errand e = {work, NULL, NULL, p, p->job->progress_fd, job_left_ms(p->job)};
    p->out_fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (p->out_fd < 0) {
        return err_set(err, ERR_IO, "cannot make %.100s: %s", part, strerror(errno));
    }
    int rc = errand_run(&e, ret, err);
    if (rc == 0 && rename(part, out) < 0) {
        rc = err_set(err, ERR_IO, "cannot make %.100s: %s", out, strerror(errno));
    }
    if (rc) {
        unlink(part);
    }
    close(p->out_fd);
    return rc;
}

int courier_pack(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    const char *root = cli_text(job->call, "root"), *container = cli_text(job->call, "container");
    struct pack p = {.job = job, .from = cli_text(job->call, "from")};
    if (!cli_text(job->call, "user")) {
        return err_set(err, ERR_INVALID, "pack needs --user");
    }
    if (!root == !container) {
        return err_set(err, ERR_INVALID, "pack needs --root or --container");
    }
    job->begun = true;
    p.root_fd = open_root(root, container, err);
    if (p.root_fd < 0) {
        return p.root_fd;
    }
    int rc = run(&p, job->file ? job->file : cli_text(job->call, "out"), ret, err);
    close(p.root_fd);
    return rc;
}
