#include "rep/state_dir_io.h"

#include "common/base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 300 };
#define INCARNATION_MAX UINT64_C(999999999999999999) /* of 18 digits, which are read again */

static int io_error(struct err *err, const char *what, const char *path)
{
    return err_set(err, ERR_IO, "cannot %s %.150s: %s", what, path, strerror(errno));
}

static void join(const struct state_dir *s, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s", s->path, name);
}

/* Makes the directories on the way as well, for this user alone. */
static int make_directory(const char *path, struct err *err)
{
    char part[PATH_MAX];
    if (strlen(path) >= STATE_PATH_MAX) {
        return err_set(err, ERR_INVALID, "the path of the state directory is too long");
    }
    for (const char *at = path; at; at = strchr(at + 1, '/')) {
        size_t size = at == path ? 0 : (size_t)(at - path);
        memcpy(part, path, size);
        part[size] = 0;
        if (size && mkdir(part, 0700) < 0 && errno != EEXIST) {
            return io_error(err, "make", part);
        }
    }
    return mkdir(path, 0700) < 0 && errno != EEXIST ? io_error(err, "make", path) : 0;
}

static int lock(struct state_dir *s, struct err *err)
{
    char path[PATH_MAX];
    join(s, "lock", path);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock < 0) {
        return io_error(err, "open", path);
    }
    if (flock(s->lock, LOCK_EX | LOCK_NB) < 0) {
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_CONFLICT, "another rep runs with the state directory %.150s",
                             s->path)
                   : io_error(err, "lock", path);
    }
    return 0;
}

/* The first line of a file; ERR_NOT_FOUND when there is none, ERR_INVALID when it is no whole line.
 * */
static int read_whole_line(const struct state_dir *s, const char *name, char text[TEXT_MAX],
                           struct err *err)
{
    char path[PATH_MAX];
    join(s, name, path);
    FILE *f = fopen(path, "re");
    if (!f) {
        return errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "no %.150s", path)
                               : io_error(err, "read", path);
    }
    bool good = fgets(text, TEXT_MAX, f) && strchr(text, '\n');
    fclose(f);
    if (!good) {
        return err_set(err, ERR_INVALID, "%.150s is damaged", path);
    }
    text[strcspn(text, "\n")] = 0;
    return 0;
}

/* The same with ERR_IO for what is damaged. */
static int read_line(const struct state_dir *s, const char *name, char text[TEXT_MAX],
                     struct err *err)
{
    int r = read_whole_line(s, name, text, err);
    return r == -ERR_INVALID ? err_set(err, ERR_IO, "%.150s/%s is damaged", s->path, name) : r;
}

static int sync_directory(const struct state_dir *s, struct err *err)
{
    int fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) < 0 ? io_error(err, "sync", s->path) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return r;
}

/* Writes beside, syncs, renames, syncs the directory: after a power cut there is the old line or
 * the new one. */
static int write_line(const struct state_dir *s, const char *name, const char *text,
                      struct err *err)
{
    char path[PATH_MAX], beside[PATH_MAX + 8], line[TEXT_MAX + 2];
    join(s, name, path);
    snprintf(beside, sizeof(beside), "%s.new", path);
    size_t size = (size_t)snprintf(line, sizeof(line), "%s\n", text);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return io_error(err, "write", beside);
    }
    errno = ENOSPC; /* what a short write means */
    int r = write(fd, line, size) != (ssize_t)size || fsync(fd) < 0 ? io_error(err, "write", beside)
                                                                    : 0;
    close(fd);
    if (r == 0 && rename(beside, path) < 0) {
        r = io_error(err, "rename", beside);
    }
    return r < 0 ? r : sync_directory(s, err);
}

static int draw_identity(char out[STATE_IDENTITY_BYTES], struct err *err)
{
    struct random random;
    uint64_t seed[2];
    if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
        return io_error(err, "draw", "an identity");
    }
    random_seed(&random, seed);
    random_guid(&random, out);
    return 0;
}

static int open_cell(const struct state_dir *s, const char *cell_id, struct err *err)
{
    char text[TEXT_MAX];
    int r = read_line(s, "cell", text, err);
    if (r == -ERR_NOT_FOUND) {
        return cell_id ? write_line(s, "cell", cell_id, err) : 0;
    }
    if (r == 0 && cell_id && strcmp(text, cell_id) != 0) {
        return err_set(err, ERR_CONFLICT, "the state directory %.100s is of cell %.60s, not %.60s",
                       s->path, text, cell_id);
    }
    return r;
}

static int open_identity(struct state_dir *s, bool make, struct err *err)
{
    char text[TEXT_MAX];
    int r = read_line(s, "identity", text, err);
    if (r == -ERR_NOT_FOUND) {
        r = make ? draw_identity(s->identity, err) : 0;
        return r < 0 || !make ? r : write_line(s, "identity", s->identity, err);
    }
    if (r == 0 && strlen(text) != STATE_IDENTITY_BYTES - 1) {
        return err_set(err, ERR_IO, "%.150s/identity is damaged", s->path);
    }
    if (r == 0) {
        memcpy(s->identity, text, STATE_IDENTITY_BYTES);
    }
    return r;
}

/* ---- The evacuation -------------------------------------------------------------------------- */

static int write_evacuation(const struct state_dir *s, const struct kept_evacuation *e,
                            uint64_t incarnation, struct err *err)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRIu64 " %" PRId64 " %" PRId64 " %s", incarnation,
             e->until_wall_ns, e->until_mono_ns, *e->boot_id ? e->boot_id : "-");
    return write_line(s, "evacuation", text, err);
}

static int drop_evacuation(const struct state_dir *s, struct err *err)
{
    char path[PATH_MAX];
    join(s, "evacuation", path);
    if (unlink(path) < 0 && errno != ENOENT) {
        return io_error(err, "remove", path);
    }
    return sync_directory(s, err);
}

/* A number that fits and what separates it from the next; false: it is not one. */
static bool take_number(const char **at, int64_t *ret)
{
    char *end;
    if (**at < '0' || **at > '9') {
        return false;
    }
    errno = 0;
    *ret = strtoll(*at, &end, 10);
    bool good = errno == 0 && *end == ' ';
    *at = end + good;
    return good;
}

static bool boot_fits(const char *boot)
{
    size_t size = strlen(boot);
    return size < STATE_BOOT_BYTES && strcspn(boot, " \t\r\n") == size;
}

static bool parse_evacuation(struct state_dir *s, const char *text)
{
    struct kept_evacuation *e = &s->evacuation;
    int64_t incarnation;
    const char *at = text;
    if (!take_number(&at, &incarnation) || !take_number(&at, &e->until_wall_ns) ||
        !take_number(&at, &e->until_mono_ns) || !*at || !boot_fits(at)) {
        return false;
    }
    memcpy(s->boot, strcmp(at, "-") == 0 ? "" : at, strcmp(at, "-") == 0 ? 1 : strlen(at) + 1);
    e->boot_id = s->boot;
    /* Of the incarnation before this start's; a higher one when its raise was cut short. */
    e->handed_on = (uint64_t)incarnation >= s->incarnation;
    e->on = true;
    return true;
}

/* Before the incarnation is raised: `s->incarnation` is the last rep's. */
static int open_evacuation(struct state_dir *s, struct err *err)
{
    char text[TEXT_MAX];
    int r = read_whole_line(s, "evacuation", text, err);
    if (r == -ERR_NOT_FOUND || (r == 0 && parse_evacuation(s, text))) {
        return 0;
    }
    if (r < 0 && r != -ERR_INVALID) {
        return r;
    }
    return err_set(err, ERR_IO,
                   "%.130s/evacuation is damaged: remove it, and ask again (rep evacuate) if this "
                   "cell is to be emptied",
                   s->path);
}

int state_dir_keep(struct state_dir *s, const struct kept_evacuation *e, struct err *err)
{
    if (e->on && (e->until_wall_ns < 0 || e->until_mono_ns < 0 || !boot_fits(e->boot_id))) {
        return err_set(err, ERR_INVALID,
                       "cannot keep an evacuation until %" PRId64 " ns: a clock of "
                       "this machine is far off, or its boot id is longer than %d letters",
                       e->until_wall_ns, STATE_BOOT_BYTES - 1);
    }
    int r = e->on ? write_evacuation(s, e, s->incarnation, err) : drop_evacuation(s, err);
    if (r == 0) {
        s->evacuation = *e;
        s->evacuation.boot_id = s->boot;
        snprintf(s->boot, sizeof(s->boot), "%s", e->on ? e->boot_id : "");
    }
    return r;
}

/* ---- The incarnation ------------------------------------------------------------------------- */

static int write_incarnation(const struct state_dir *s, uint64_t incarnation, struct err *err)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof(text), "%" PRIu64, incarnation);
    return write_line(s, "incarnation", text, err);
}

static int open_incarnation(struct state_dir *s, struct err *err)
{
    char text[TEXT_MAX] = "0";
    int r = read_line(s, "incarnation", text, err);
    size_t digits = strspn(text, "0123456789");
    if (r < 0 && r != -ERR_NOT_FOUND) {
        return r;
    }
    if (digits == 0 || digits > 18 || text[digits]) {
        return err_set(err, ERR_IO, "%.150s/incarnation is damaged", s->path);
    }
    s->incarnation = strtoull(text, NULL, 10);
    return 0;
}

int state_dir_raise(struct state_dir *s, uint64_t incarnation, struct err *err)
{
    if (incarnation <= s->incarnation || incarnation > INCARNATION_MAX) {
        return err_set(err, ERR_CONFLICT, "incarnation %" PRIu64 " cannot follow %" PRIu64,
                       incarnation, s->incarnation);
    }
    /* The evacuation first: should only the incarnation be raised, the next start took it for one
     * of long ago. */
    int r = s->evacuation.on ? write_evacuation(s, &s->evacuation, incarnation, err) : 0;
    r = r < 0 ? r : write_incarnation(s, incarnation, err);
    s->incarnation = r < 0 ? s->incarnation : incarnation;
    return r;
}

int state_dir_open(struct state_dir *s, const char *path, const char *cell_id, struct err *err)
{
    *s = (struct state_dir){.lock = -1};
    int r = cell_id ? make_directory(path, err) : 0;
    char real[PATH_MAX];
    if (r == 0 && !realpath(path, real)) {
        r = errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "no state directory %.150s", path)
                            : io_error(err, "use", path);
    }
    if (r == 0 && strlen(real) >= STATE_PATH_MAX) {
        r = err_set(err, ERR_INVALID, "the path of the state directory is too long");
    }
    if (r < 0) {
        return r;
    }
    memcpy(s->path, real, strlen(real) + 1);
    r = lock(s, err);
    r = r < 0 ? r : open_cell(s, cell_id, err);
    r = r < 0 ? r : open_identity(s, cell_id != NULL, err);
    r = r < 0 ? r : open_incarnation(s, err);
    r = r < 0 || !cell_id ? r : open_evacuation(s, err);
    if (r == 0 && cell_id) {
        r = write_incarnation(s, ++s->incarnation, err);
    }
    if (r < 0) {
        state_dir_close(s);
    }
    return r;
}

void state_dir_close(struct state_dir *s)
{
    if (s->lock >= 0) {
        close(s->lock);
        s->lock = -1;
    }
}
