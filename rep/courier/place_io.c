/* place: an object of the cache, unpacked into a container's directory, or into a tree of the
 * cache. The parent opens object and root; the child enters, takes the user, and walks the archive
 * twice. */
#include "rep/courier/archive_io.h"
#include "rep/courier/confine_io.h"
#include "rep/courier/paths_io.h"
#include "rep/courier/verbs_io.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_BYTES ((int64_t)1 << 30)

const struct cli_option courier_digest_options[] = {
    {"digest", "sha256-HEX", "the object, as fetch answered", .required = true},
    {0},
};

const struct cli_option courier_place_options[] = {
    {"root", "DIR", "the container's root filesystem, mounted"},
    {"container", "DIR",
     "instead: its directory; the root is its first process's, with its mounts"},
    {"to", "PATH", "the directory, as seen in the container; made if it is missing"},
    {"tree", NULL, "instead of both: into the cache's trees"},
    {"for", "NAME", "the tree is in use until uses/NAME of the cache is removed"},
    {"root-inside", NULL, "the user is root in the container: set-id bits are kept"},
    {0},
};

struct place {
    struct courier_job *job;
    struct cache_dir cache;
    const char *digest, *to;
    bool tree, set_id;
    int object_fd, root_fd;
    int part_fd; /* of a tree */
};

/* ---- the child ---- */

/* On a volume with the container's ids nobody but these ids can make anything, not the cell's root
 * either (EOVERFLOW). There it is made as the user, who must be allowed to. */
static bool make_dir(const struct place *p, int dir, const char *name)
{
    if (mkdirat(dir, name, 0755) == 0) {
        (void)!fchownat(dir, name, p->job->uid, p->job->gid, AT_SYMLINK_NOFOLLOW);
        return true;
    }
    if (errno != EOVERFLOW) {
        return false;
    }
    gid_t gid = (gid_t)setfsgid(p->job->gid);
    uid_t uid = (uid_t)setfsuid(p->job->uid);
    bool made = mkdirat(dir, name, 0755) == 0;
    int error = errno;
    setfsuid(uid);
    setfsgid(gid);
    errno = error;
    return made;
}

/* A directory on the way to the destination, made if it is missing: it is the user's then. */
static int step_into(const struct place *p, int dir, const char *path, struct err *err)
{
    int fd = open_rooted(p->root_fd, path, O_RDONLY | O_DIRECTORY);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (fd < 0 && errno == ENOENT && make_dir(p, dir, name)) {
        fd = open_rooted(p->root_fd, path, O_RDONLY | O_DIRECTORY);
    }
    return fd >= 0 ? fd
                   : err_set(err, ERR_IO, "the destination \"%.100s\": %s", path, strerror(errno));
}

/* The destination, with all that lead to it. A descriptor, or an error code. */
static int destination(const struct place *p, struct err *err)
{
    char path[4096];
    size_t n = strlen(p->to);
    int dir = open_rooted(p->root_fd, ".", O_RDONLY | O_DIRECTORY);
    if (n >= sizeof(path) || dir < 0) {
        return err_set(err, ERR_INVALID, "the destination cannot be opened");
    }
    for (size_t at = 0; dir >= 0 && at < n;) {
        at += strspn(p->to + at, "/");
        at += strcspn(p->to + at, "/");
        snprintf(path, sizeof(path), "%.*s", (int)at, p->to);
        if (path[strspn(path, "/")] != '\0') {
            int next = step_into(p, dir, path, err);
            close(dir);
            dir = next;
        }
    }
    return dir;
}

/* Enters the destination, alone in it as long as it works, and takes the user. */
static int enter(const struct place *p, struct err *err)
{
    struct confinement c = {p->job->uid, p->job->gid, p->job->bytes_max, MEMORY_BYTES};
    int rc = confine_enter(p->root_fd, err);
    int dir = rc ? rc : destination(p, err);
    if (dir < 0) {
        return dir;
    }
    if (flock(dir, LOCK_EX) < 0 || fchdir(dir) < 0) {
        return err_set(err, ERR_IO, "cannot enter the destination: %s", strerror(errno));
    }
    return confine_drop(&c, err);
}

struct telling {
    struct errand_tell *tell;
    int64_t total;
};

static void tell_moved(void *context, int64_t bytes)
{
    struct telling *t = context;
    errand_moved(t->tell, t->total < 0 ? 0 : bytes, t->total);
}

/* Judges all of it, then writes. */
static int unpack(const struct place *p, struct errand_tell *tell, struct courier_answer *answer,
                  struct err *err)
{
    struct telling telling = {tell, -1};
    struct archive_walk w = {.set_id = p->set_id, .moved = tell_moved, .context = &telling};
    judging_init(&w.judging, p->job->bytes_max);
    int rc = archive_walk_file(&w, p->object_fd, err);
    answer->size = telling.total = w.judging.bytes;
    answer->entries = w.judging.entries;
    judging_done(&w.judging);
    if (rc) {
        return rc;
    }
    errand_moved(tell, 0, telling.total);
    w.writer = archive_writer_new();
    if (!w.writer) {
        return err_set(err, ERR_IO, "out of memory");
    }
    judging_init(&w.judging, p->job->bytes_max);
    rc = archive_walk_file(&w, p->object_fd, err);
    judging_done(&w.judging);
    int ended = archive_writer_end(w.writer, rc ? NULL : err);
    return rc ? rc : ended;
}

static int work(void *context, struct errand_tell *tell, struct courier_answer *answer,
                struct err *err)
{
    const struct place *p = context;
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives are UTF-8 or bytes */
    umask(022);
    int rc = enter(p, err);
    return rc ? rc : unpack(p, tell, answer, err);
}

/* ---- the parent ---- */

/* Of a tree: when it is known how large it becomes. */
static int moved(void *context, int64_t bytes, int64_t total, struct err *err)
{
    struct place *p = context;
    return p->tree && total >= bytes ? cache_make_room(&p->cache, total, bytes, err) : 0;
}

static int run(struct place *p, struct courier_answer *ret, struct err *err)
{
    struct errand e = {work, moved, NULL, p, p->job->progress_fd, job_left_ms(p->job)};
    int rc = errand_run(&e, ret, err);
    snprintf(ret->digest, sizeof(ret->digest), "%s", p->digest);
    return rc;
}

static int into_container(struct place *p, struct courier_answer *ret, struct err *err)
{
    const struct invocation *call = p->job->call;
    p->root_fd = open_root(cli_text(call, "root"), cli_text(call, "container"), err);
    return p->root_fd < 0 ? p->root_fd : run(p, ret, err);
}

static int make_tree(struct place *p, const char *part, struct courier_answer *ret, struct err *err)
{
    p->root_fd = openat(p->part_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->root_fd < 0 || fchmod(p->root_fd, 0755) < 0 ||
        (confine_by_root() && fchown(p->root_fd, p->job->uid, p->job->gid) < 0)) {
        return err_set(err, ERR_IO, "cannot make the tree: %s", strerror(errno));
    }
    int rc = run(p, ret, err);
    if (rc == 0) {
        rc = cache_keep_tree(&p->cache, part, p->part_fd, p->digest, ret->size, err);
    }
    return rc;
}

/* Whoever makes the same tree goes first; then it is there already. */
static int into_tree(struct place *p, struct courier_answer *ret, struct err *err)
{
    char part[128];
    snprintf(part, sizeof(part), "tree-%s", p->digest);
    int rc = cache_part_tree(&p->cache, part, p->job->end_ms, &p->part_fd, err);
    if (rc) {
        return rc;
    }
    if (cache_tree(&p->cache, p->digest, &ret->size)) {
        ret->done = true;
        snprintf(ret->digest, sizeof(ret->digest), "%s", p->digest);
    } else {
        rc = make_tree(p, part, ret, err);
    }
    cache_part_drop(&p->cache, part, p->part_fd);
    close(p->part_fd);
    const char *user = cli_text(p->job->call, "for");
    return rc == 0 && user ? cache_use(&p->cache, user, p->digest, err) : rc;
}

static int read_options(struct place *p, struct err *err)
{
    const struct invocation *call = p->job->call;
    bool root = cli_text(call, "root"), container = cli_text(call, "container");
    p->digest = p->job->digest ? p->job->digest : cli_text(call, "digest");
    p->tree = cli_switch(call, "tree");
    p->to = p->tree ? "/" : cli_text(call, "to");
    p->set_id = cli_switch(call, "root-inside");
    if (!cache_digest_valid(p->digest)) {
        return err_set(err, ERR_INVALID, "--digest must be sha256-HEX, not \"%.80s\"", p->digest);
    }
    if (p->tree ? root || container || cli_text(call, "to") : root == container || !p->to) {
        return err_set(err, ERR_INVALID,
                       "place needs --root or --container, and --to, or --tree alone");
    }
    if (cli_text(call, "for") && (!p->tree || !cache_name_valid(cli_text(call, "for")))) {
        return err_set(err, ERR_INVALID, "--for is a name of letters, digits, - and _, for --tree");
    }
    if (!cli_text(call, "user")) {
        return err_set(err, ERR_INVALID, "place needs --user");
    }
    return 0;
}

int courier_place(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    struct place p = {.job = job, .root_fd = -1, .part_fd = -1};
    int64_t size;
    int rc = read_options(&p, err);
    if (rc == 0) {
        rc = job_cache(job, &p.cache, err);
    }
    if (rc) {
        return rc;
    }
    rc = cache_object(&p.cache, p.digest, &p.object_fd, &size, err);
    if (rc == 0) {
        rc = p.tree ? into_tree(&p, ret, err) : into_container(&p, ret, err);
        close(p.object_fd);
    }
    if (p.root_fd >= 0) {
        close(p.root_fd);
    }
    cache_close(&p.cache);
    return rc;
}
