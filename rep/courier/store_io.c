#include "rep/courier/store_io.h"

#include "rep/container/cache_plan.h"
#include "rep/container/image_plan.h"
#include "rep/courier/errand_io.h"
#include "rep/courier/image_words.h"
#include "rep/courier/paths_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RECORD_BYTES = 8 << 20,
    WORDS_BYTES = 16 * 1024,
    TOOL_BYTES = 256 << 20,
};

/* ---- The directory ---- */

static const char *path_of(struct image_store *s, const char *folder, const char *name)
{
    return arena_printf(s->arena, "%s/%s/%s", s->dir, folder, name);
}

static int make(const char *path, mode_t mode, struct err *err)
{
    return mkdir(path, mode) < 0 && errno != EEXIST
               ? err_set(err, ERR_IO, "cannot make %.100s: %s", path, strerror(errno))
               : 0;
}

int store_open(struct image_store *s, struct err *err)
{
    static const char *const folders[] = {"store", "run", "tmp", "images", "tags", "pins"};
    int rc = make(s->dir, 0711, err);
    for (size_t i = 0; rc == 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
        rc = make(arena_printf(s->arena, "%s/%s", s->dir, folders[i]), 0711, err);
    }
    const char *settings = arena_printf(
        s->arena,
        "[storage]\ndriver = \"overlay\"\ngraphroot = \"%s/store\"\nrunroot = \"%s/run\"\n",
        s->dir, s->dir);
    return rc ? rc
              : small_replace(arena_printf(s->arena, "%s/storage.conf", s->dir),
                              (struct bytes){(const uint8_t *)settings, strlen(settings)}, err);
}

int store_lock(struct image_store *s, const char *name, struct err *err)
{
    enum { PAUSE_MS = 20 };
    int fd = open(path_of(s, "tags", arena_printf(s->arena, ".%s", name)),
                  O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || errand_now_ms() >= s->end_ms) {
            close(fd);
            return err_set(err, ERR_TIMEOUT, "another pull of the image does not end");
        }
        poll(NULL, 0, PAUSE_MS);
    }
    return fd >= 0 ? fd : err_set(err, ERR_IO, "cannot lock an image: %s", strerror(errno));
}

/* ---- Records ---- */

static bool read_record(struct image_store *s, const char *path, struct bytes *ret)
{
    return small_read(s->arena, AT_FDCWD, path, RECORD_BYTES, ret, NULL) == 0;
}

static int write_record(struct image_store *s, const char *path, const ProtobufCMessage *m,
                        struct err *err)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    uint8_t *packed = arena_array(s->arena, size, 1);
    protobuf_c_message_pack(m, packed);
    return small_replace(path, (struct bytes){packed, size}, err);
}

bool store_tag_read(struct image_store *s, const char *key, Rep__ImageTag **ret)
{
    struct bytes file;
    *ret = read_record(s, path_of(s, "tags", key), &file)
               ? rep__image_tag__unpack(NULL, file.size, file.data)
               : NULL;
    return *ret != NULL;
}

int store_tag_write(struct image_store *s, const char *key, const Rep__ImageTag *tag,
                    struct err *err)
{
    return write_record(s, path_of(s, "tags", key), &tag->base, err);
}

static bool layers_there(struct image_store *s, const Rep__Image *image)
{
    for (size_t i = 0; i < image->n_layers; i++) {
        if (access(arena_printf(s->arena, "%s/store/overlay/%s/diff", s->dir,
                                image->layers[i]->id),
                   F_OK) < 0) {
            return false;
        }
    }
    return image->n_layers > 0;
}

Rep__Image *store_image_read(struct image_store *s, const char *id)
{
    struct bytes file;
    Rep__Image *image = id[0] && read_record(s, path_of(s, "images", id), &file)
                            ? rep__image__unpack(NULL, file.size, file.data)
                            : NULL;
    if (image && !layers_there(s, image)) {
        rep__image__free_unpacked(image, NULL);
        image = NULL;
    }
    return image;
}

int store_image_write(struct image_store *s, const Rep__Image *image, struct err *err)
{
    return write_record(s, path_of(s, "images", image->id), &image->base, err);
}

/* ---- Pins ---- */

static const char *pinned_by(struct image_store *s, const char *guid)
{
    struct bytes id;
    return read_record(s, path_of(s, "pins", guid), &id)
               ? arena_strndup(s->arena, (const char *)id.data, id.size)
               : "";
}

int store_pin(struct image_store *s, const char *guid, const char *id, struct err *err)
{
    int lock = store_lock(s, "room", err);
    if (lock < 0) {
        return lock;
    }
    Rep__Image *there = store_image_read(s, id);
    int rc = there ? small_replace(path_of(s, "pins", guid),
                                   (struct bytes){(const uint8_t *)id, strlen(id)}, err)
                   : err_set(err, ERR_NOT_FOUND, "the image went to make room for another");
    utimensat(AT_FDCWD, path_of(s, "images", id), NULL, 0);
    if (there) {
        rep__image__free_unpacked(there, NULL);
    }
    close(lock);
    return rc;
}

/* A pin is a container's as long as that has a directory; before, for a while. */
static bool pin_holds(struct image_store *s, const char *guid)
{
    struct stat st;
    return access(arena_printf(s->arena, "%s/%s", s->containers, guid), F_OK) == 0 ||
           (stat(path_of(s, "pins", guid), &st) == 0 &&
            st.st_mtime + IMAGE_PIN_GRACE_S > time(NULL));
}

struct pins {
    const char **ids;
    size_t count;
};

static struct pins read_pins(struct image_store *s)
{
    struct dirent **names = NULL;
    int count = scandir(arena_printf(s->arena, "%s/pins", s->dir), &names, NULL, alphasort);
    struct pins p = {ARENA_ARRAY(s->arena, count > 0 ? (size_t)count : 0, const char *), 0};
    for (int i = 0; i < count; i++) {
        const char *guid = arena_strdup(s->arena, names[i]->d_name);
        free(names[i]);
        if (guid[0] == '.') {
            continue;
        }
        if (pin_holds(s, guid)) {
            p.ids[p.count++] = pinned_by(s, guid);
        } else {
            unlink(path_of(s, "pins", guid));
        }
    }
    free(names);
    return p;
}

static bool is_pinned(const struct pins *p, const char *id)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->ids[i], id) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Room ---- */

struct stored {
    struct stored_image *list;
    size_t count;
};

static struct stored read_images(struct image_store *s)
{
    struct dirent **names = NULL;
    struct pins pins = read_pins(s);
    int count = scandir(arena_printf(s->arena, "%s/images", s->dir), &names, NULL, alphasort);
    struct stored all = {
        ARENA_ARRAY(s->arena, count > 0 ? (size_t)count : 0, struct stored_image), 0,
    };
    for (int i = 0; i < count; i++) {
        struct stat st;
        struct bytes file;
        const char *path = path_of(s, "images", names[i]->d_name);
        Rep__Image *image = names[i]->d_name[0] != '.' && stat(path, &st) == 0 &&
                                    read_record(s, path, &file)
                                ? rep__image__unpack(NULL, file.size, file.data)
                                : NULL;
        if (image) {
            int64_t used_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
            all.list[all.count++] = (struct stored_image){image, used_ns,
                                                          is_pinned(&pins, image->id)};
        }
        free(names[i]);
    }
    free(names);
    return all;
}

static void free_images(struct stored *all)
{
    for (size_t i = 0; i < all->count; i++) {
        rep__image__free_unpacked((Rep__Image *)(uintptr_t)all->list[i].image, NULL);
    }
}

/* Its record goes first: whoever reads it finds its layers, or asks anew. */
static int remove_image(struct image_store *s, const char *id, struct err *err)
{
    SCOPED_BUF(out);
    const char *const words[] = {"delete-image", id, NULL};
    unlink(path_of(s, "images", id));
    return store_tool(s, words, &out, err);
}

static int carry_out(struct image_store *s, const struct stored *all, int64_t more,
                     struct err *err)
{
    size_t *go, count;
    int rc = image_plan(s->arena, all->list, all->count, s->bytes_max, more, &go, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = remove_image(s, all->list[go[i]].image->id, err);
    }
    return rc;
}

int store_make_room(struct image_store *s, int64_t more, struct err *err)
{
    int lock = store_lock(s, "room", err);
    if (lock < 0) {
        return lock;
    }
    struct stored all = read_images(s);
    int rc = carry_out(s, &all, more, err);
    free_images(&all);
    close(lock);
    return rc;
}

/* ---- Programs ---- */

static void set_environment(const struct image_store *s)
{
    const char *path = getenv("PATH");
    char *keep = strdup(path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
    clearenv();
    setenv("PATH", keep, 1);
    setenv("HOME", arena_printf(s->arena, "%s/tmp", s->dir), 1);
    setenv("XDG_RUNTIME_DIR", arena_printf(s->arena, "%s/run", s->dir), 1);
    setenv("TMPDIR", arena_printf(s->arena, "%s/tmp", s->dir), 1);
    setenv("CONTAINERS_STORAGE_CONF", arena_printf(s->arena, "%s/storage.conf", s->dir), 1);
    free(keep);
}

_Noreturn static void child(const struct image_store *s, const char *const *argv, int out, int err,
                            pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDONLY);
    if (getppid() != parent || nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(err, 2) < 0) {
        _exit(127);
    }
    if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        dprintf(2, "cannot make a mount namespace: %s\n", strerror(errno));
        _exit(127);
    }
    set_environment(s);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* The file system of the images keeps some of its room. */
static bool is_full(const struct image_store *s)
{
    struct statvfs v;
    return statvfs(s->dir, &v) == 0 &&
           (double)v.f_bavail < (double)v.f_blocks * CACHE_FREE_PERCENT / 100 / 2;
}

struct program_output {
    struct buf *to;
    size_t most;
    bool tail; /* the last bytes are kept, else it is too much */
};

/* False at its end. */
static bool take(int fd, const struct program_output *to, bool *too_much)
{
    buf_reserve(to->to, 16384);
    ssize_t n = read(fd, to->to->data + to->to->size, 16384);
    if (n <= 0) {
        return n < 0 && errno == EINTR;
    }
    to->to->size += (size_t)n;
    if (to->to->size > to->most && to->tail) {
        buf_consume(to->to, to->to->size - to->most);
    }
    *too_much = *too_much || to->to->size > to->most;
    return true;
}

static int hear(struct image_store *s, int fds[2], const struct program_output streams[2],
                struct err *err)
{
    struct pollfd p[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
    bool too_much = false;
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        int64_t left = s->end_ms - errand_now_ms();
        if (left <= 0) {
            return err_set(err, ERR_TIMEOUT, "it took longer than it may");
        }
        if (is_full(s)) {
            return err_set(err, ERR_TOO_LARGE, "the cell's disk is nearly full");
        }
        if (poll(p, 2, left < 1000 ? (int)left : 1000) <= 0) {
            continue;
        }
        for (int i = 0; i < 2; i++) {
            if (p[i].fd >= 0 && p[i].revents && !take(p[i].fd, &streams[i], &too_much)) {
                p[i].fd = -1;
            }
        }
        if (too_much) {
            return err_set(err, ERR_TOO_LARGE, "the answer is too large");
        }
    }
    return 0;
}

int store_run(struct image_store *s, const char *const *argv, struct buf *out, size_t most,
              struct buf *words, struct err *err)
{
    int a[2] = {-1, -1}, b[2] = {-1, -1}, status = 0;
    pid_t self = getpid();
    if (pipe2(a, O_CLOEXEC) < 0 || pipe2(b, O_CLOEXEC) < 0) {
        return err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        child(s, argv, a[1], b[1], self);
    }
    close(a[1]);
    close(b[1]);
    int fds[2] = {a[0], b[0]};
    const struct program_output streams[2] = {{out, most, false}, {words, WORDS_BYTES, true}};
    int rc = pid < 0 ? err_set(err, ERR_IO, "cannot start a process: %s", strerror(errno))
                     : hear(s, fds, streams, err);
    if (rc && pid > 0) {
        kill(pid, SIGKILL);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(a[0]);
    close(b[0]);
    if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        rc = err_set(err, ERR_UNAVAILABLE, "%s", pull_failure(s->arena, buf_bytes(words)));
    }
    return rc;
}

int store_tool(struct image_store *s, const char *const *words, struct buf *out, struct err *err)
{
    const char *argv[16] = {
        "containers-storage", "--graph", arena_printf(s->arena, "%s/store", s->dir), "--run",
        arena_printf(s->arena, "%s/run", s->dir), "--storage-driver", "overlay",
    };
    SCOPED_BUF(said);
    size_t n = 7;
    for (size_t i = 0; words[i] && n < 15; i++) {
        argv[n++] = words[i];
    }
    return store_run(s, argv, out, TOOL_BYTES, &said, err);
}
