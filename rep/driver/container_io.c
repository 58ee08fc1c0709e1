/* One container as its directory tells: `note` (whole), `shim.pid` (started), `pid` (its first
 * process is known), `status` (ended), `boot` (of the machine, in which it was made). The same
 * reading serves adoption, answers and ends. */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"
#include "rep/driver/network_io.h"
#include "rep/driver/network_plan.h"
#include "rep/steps/machine.h"

#include <ctype.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

bool guid_valid(const char *guid)
{
    size_t n = guid ? strlen(guid) : 0;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)guid[i]) && guid[i] != '-' && guid[i] != '_') {
            return false;
        }
    }
    return n > 0 && n <= 64;
}

static void stop_watching(struct driver_container *c)
{
    if (c->shim_ended) {
        event_free(c->shim_ended);
        c->shim_ended = NULL;
    }
    if (c->shim >= 0) {
        close(c->shim);
        c->shim = -1;
    }
}

void container_drop(struct driver_container *c)
{
    map_remove(&c->driver->containers, c->guid);
    stop_watching(c);
    steps_free(c->steps);
    blob_unref(c->note);
    free(c->guid);
    free(c->dir);
    free(c->join);
    free(c);
}

/* A shim that we started is our child, an adopted one is not: then there is nothing to reap. */
static void reap(int pidfd)
{
    siginfo_t info;
    waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
}

static void on_shim_ended(evutil_socket_t fd, short what, void *container)
{
    struct driver_container *c = container;
    (void)what;
    reap(fd);
    stop_watching(c);
    container_load(c->driver, c->guid);
}

/* Also of a process that nobody has reaped: there are machines whose init never does. */
static bool has_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* The file is there before its first process is. */
const char *container_address(struct driver_container *c)
{
    SCOPED_BUF(text);
    if (c->address[0] == '\0' && c->state != CONTAINER_PREPARED &&
        file_read(c->dir, NETWORK_ADDRESS_FILE, sizeof(c->address) - 1, &text, NULL) == 0) {
        snprintf(c->address, sizeof(c->address), "%s", buf_string(&text));
    }
    return c->address[0] ? c->address : NULL;
}

/* Finds the shim, if it lives; true: it has ended for certain, or never was. While our START is
 * under way its job looks after it, and only one can reap. */
static bool shim_has_ended(struct driver_container *c, int dir)
{
    struct identity id;
    if (c->shim >= 0 || c->starting) {
        return false;
    }
    if (identity_read(dir, "shim.pid", &id) < 0) {
        return !identity_untold(errno);
    }
    c->shim = identity_open(&id);
    if (c->shim < 0) {
        return !identity_untold(errno);
    }
    if (has_ended(c->shim)) {
        reap(c->shim);
        stop_watching(c);
        return true;
    }
    c->shim_ended = event_new(c->driver->loop, c->shim, EV_READ, on_shim_ended, c);
    event_add(c->shim_ended, NULL);
    return false;
}

/* False with errno. */
static bool read_status(struct driver_container *c, int dir)
{
    char text[2048];
    ssize_t n = identity_slurp(dir, "status", text, sizeof(text));
    struct err err;
    if (n < 0) {
        return false;
    }
    if (status_parse((struct bytes){(const uint8_t *)text, (size_t)n}, &c->ending, &err) < 0) {
        c->ending = (struct ending){.code = -1};
        snprintf(c->ending.text, sizeof(c->ending.text), "%s", err.text);
    }
    return true;
}

static void on_buried(struct driver_job *j, enum job_event event)
{
    struct driver *d = ((struct driver_container *)job_owner(j))->driver;
    struct driver_container *c = job_owner(j);
    if (event == JOB_ENDED) {
        c->burying = false;
        if (job_exit_code(j) == 0) {
            container_load(d, c->guid);
        } /* else the next LIST tries again */
    }
}

/* Without its shim nobody takes the container's output or sees its end: what remains of it is
 * killed, and a status says so. */
static void bury(struct driver_container *c)
{
    enum { BURY_MS = 30000 };
    struct driver *d = c->driver;
    struct command command;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (c->burying || c->removing) {
        return;
    }
    steps_lost(c);
    command_init(&command);
    shim_command(d, &command, "remove");
    command_add(&command, "--bury=" STEP_SHIM_TEXT);
    d->ops->remove(d, c->guid, &command);
    struct job_plan plan = {
        .key = c->guid,
        .dir = c->dir,
        .argv = command.argv.list,
        .deadline_ns = now.tv_sec * SECOND_NS + now.tv_nsec + BURY_MS * MILLISECOND_NS,
        .on_event = on_buried,
        .owner = c,
    };
    c->burying = jobs_add(d->jobs, &plan, NULL) == 0;
    command_done(&command);
}

static void set_state(struct driver_container *c, enum container_state state)
{
    enum container_state before = c->state;
    bool more = steps_load(c);
    c->state = state;
    bool ended = state == CONTAINER_EXITED && before != state && !c->starting;
    if (state == CONTAINER_EXITED) {
        steps_end(c);
        execs_end(c->driver, c->guid);
    }
    if ((ended || more) && !c->removing) {
        driver_tell(c);
    }
}

/* Whether it was made in this boot of the machine; -1 with errno: nobody can tell. A file that a
 * machine without power left empty is of an earlier one. */
static int is_of_this_boot(int dir)
{
    char of[64], now[40];
    struct identity shim;
    if (identity_boot(now) < 0) {
        return -1;
    }
    if (identity_slurp(dir, BOOT_FILE, of, sizeof(of)) >= 0) {
        return strcmp(of, now) == 0;
    }
    if (errno != ENOENT || identity_read(dir, "shim.pid", &shim) < 0) {
        return errno == EINVAL ? 0 : -1;
    }
    return strcmp(shim.boot, now) == 0;
}

/* In which boot it was made; of one that an earlier version made: was started, if it was. False
 * when that cannot be told now. */
static bool learn_boot(struct driver_container *c, int dir)
{
    int same = c->boot_known ? 1 : is_of_this_boot(dir);
    if (same < 0 && identity_untold(errno)) {
        return false;
    }
    if (!c->boot_known && same == 0) {
        c->rebooted = true;
        network_keep(c->driver, c->join ? c->join : c->guid);
    }
    c->boot_known = true;
    return true;
}

/* Its machine was restarted: nothing of it lives, whoever has the ids of its processes now, and
 * nothing of it is mounted. */
static bool judge_rebooted(struct driver_container *c, int dir)
{
    bool ended = read_status(c, dir);
    if (!ended && identity_untold(errno)) {
        return false;
    }
    bool begun = faccessat(dir, "shim.pid", F_OK, 0) == 0;
    if (!begun && identity_untold(errno)) {
        return false;
    }
    if (!ended && begun) {
        c->ending = (struct ending){.signal = SIGKILL};
        snprintf(c->ending.text, sizeof(c->ending.text), "%s", STEP_MACHINE_TEXT);
    }
    set_state(c, ended || begun ? CONTAINER_EXITED : CONTAINER_PREPARED);
    return true;
}

/* The status is looked for after the shim: it writes the one before the other ends. False when its
 * files could not be read for want of means: then it stays as it was known. */
static bool judge(struct driver_container *c, int dir)
{
    if (!learn_boot(c, dir)) {
        return false;
    }
    if (c->rebooted) {
        return judge_rebooted(c, dir);
    }
    bool alone = shim_has_ended(c, dir);
    bool ended = read_status(c, dir);
    if (!ended && identity_untold(errno)) {
        return false;
    }
    bool begun = faccessat(dir, "shim.pid", F_OK, 0) == 0;
    if (!begun && identity_untold(errno)) {
        return false;
    }
    if (!ended && c->first.pid == 0 && identity_read(dir, "pid", &c->first) < 0 &&
        identity_untold(errno)) {
        return false;
    }
    if (ended) {
        set_state(c, CONTAINER_EXITED);
    } else if (!begun) {
        set_state(c, c->starting ? CONTAINER_STARTING : CONTAINER_PREPARED);
    } else {
        set_state(c, c->first.pid ? CONTAINER_RUNNING : CONTAINER_STARTING);
        if (alone) {
            bury(c);
        }
    }
    return true;
}

int boot_write(const char *dir, struct err *err)
{
    char boot[40];
    return identity_boot(boot) < 0
               ? err_set(err, ERR_IO, "cannot read the id of this boot: %s", strerror(errno))
               : file_write(dir, BOOT_FILE, bytes_of(boot), err);
}

struct id_range ids_read(const char *dir)
{
    struct id_range ids = {0};
    SCOPED_BUF(text);
    if (file_read(dir, "ids", 64, &text, NULL) == 0) {
        id_range_parse(buf_bytes(&text), &ids);
    }
    return ids;
}

/* Its note is `kept` where others share its network (rep/shim/joined.c). */
bool container_is_gone(const char *dir)
{
    char kept[4300], note[4300];
    snprintf(kept, sizeof(kept), "%s/kept", dir);
    snprintf(note, sizeof(note), "%s/note", dir);
    if (access(note, F_OK) == 0 || errno != ENOENT) {
        return false;
    }
    return access(kept, F_OK) == 0 || (access(dir, F_OK) < 0 && errno == ENOENT);
}

static struct driver_container *container_new(struct driver *d, const char *guid, const char *dir,
                                       const struct buf *note)
{
    struct driver_container *c = calloc(1, sizeof(*c));
    c->driver = d;
    c->guid = strdup(guid);
    c->dir = strdup(dir);
    c->note = blob_new(note->data, note->size);
    c->join = network_join_read(dir);
    c->ids = ids_read(dir);
    c->shim = -1;
    map_put(&d->containers, guid, c);
    return c;
}

/* The note that this driver goes by from now on. Whoever was told to write another one by an
 * earlier driver has done so, or does not do it any more: it would take the place of what this one
 * writes. -1 with errno. */
static int take_note(const char *path, struct buf *out)
{
    return notes_withdraw(path) < 0 ? -1 : file_read(path, "note", NOTE_BYTES_MAX, out, NULL);
}

/* The record of what is there: kept, made, or dropped with its directory. */
static struct driver_container *record(struct driver *d, const char *guid, const char *path)
{
    struct driver_container *c = map_get(&d->containers, guid);
    SCOPED_BUF(note);
    if (!c && take_note(path, &note) == 0) {
        c = container_new(d, guid, path, &note);
    } else if (!c && identity_untold(errno)) {
        d->unread++;
    } else if (c && !c->removing && !c->burying && container_is_gone(path)) {
        container_drop(c);
        c = NULL;
    }
    return c;
}

struct driver_container *container_load(struct driver *d, const char *guid)
{
    char *path = mem_printf("%s/%s", d->containers_dir, guid);
    bool known = map_get(&d->containers, guid);
    struct driver_container *c = record(d, guid, path);
    int dir = c ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool judged = dir >= 0 ? judge(c, dir) : !identity_untold(errno);
    fd_close(dir);
    /* Nobody knows what it is: as good as a note that could not be read. */
    if (c && !known && !judged) {
        container_drop(c);
        c = NULL;
        d->unread++;
    }
    free(path);
    return c;
}
