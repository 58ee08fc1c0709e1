/* The steps of a container that has some: steps/N/ of its directory. `begun` and `status` of each
 * are its shim's word, a fact each; steps/facts has the driver's own: cuts, and what was lost. */
#include "common/base/memory.h"
#include "rep/driver/driver_parts.h"
#include "rep/shim/shim.h"
#include "rep/steps/fact.h"

#include <dirent.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* One that has begun, or is about to. */
struct running_step {
    struct running_step *next;
    struct driver_container *container;
    uint32_t step;
    bool beginning; /* its BEGIN is under way: its job looks after its shim */
    bool over;
    bool transfer;           /* it may be lost and begun anew */
    unsigned begins, losses; /* that were read */
    size_t begun_size;       /* how much of its `begun` was */
    int shim; /* pidfd, also of a process that outlived its shim; -1: none is watched */
    struct event *shim_ended;
};

static bool runs(const struct running_step *r)
{
    return !r->over && r->begins > r->losses;
}

struct driver_steps {
    struct arena arena; /* of the facts' texts */
    struct step_fact *facts;
    size_t count, capacity;
    size_t own_size; /* how much of steps/facts was read */
    struct running_step *first;
};

/* ---- Facts ----------------------------------------------------------------------------------- */

static void add_facts(struct driver_steps *s, const struct step_fact *facts, size_t count)
{
    if (s->count + count > s->capacity) {
        s->capacity = 2 * (s->count + count);
        s->facts = mem_resized(s->facts, s->capacity, sizeof(*s->facts));
    }
    for (size_t i = 0; i < count; i++) {
        s->facts[s->count] = facts[i];
        s->facts[s->count++].text = arena_strdup(&s->arena, facts[i].text);
    }
}

/* Those of a file, from `from` on, which is moved behind them; how many, 0 if it is not there or
 * cannot be read. */
static size_t read_facts(struct driver_container *c, const char *name, size_t *from)
{
    enum { FACTS_BYTES_MAX = (STEPS_MAX + RUNS_MAX) * FACTS_OF_A_STEP_MAX * FACT_LINE_MAX };
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    struct step_fact *facts;
    size_t count, skip = from ? *from : 0;
    if (file_read(c->dir, name, FACTS_BYTES_MAX, &text, NULL) < 0 || text.size <= skip) {
        return 0;
    }
    struct bytes rest = {text.data + skip, text.size - skip};
    if (facts_parse_all(&a, rest, &facts, &count, NULL) < 0) {
        return 0;
    }
    add_facts(c->steps, facts, count);
    if (from) {
        *from = text.size;
    }
    return count;
}

static int by_time(const void *a, const void *b)
{
    const struct step_fact *x = a, *y = b;
    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return x->step != y->step ? (x->step < y->step ? -1 : 1) : (int)x->kind - (int)y->kind;
}

void steps_facts(const struct driver_container *c, struct arena *arena,
                 struct container_status *ret)
{
    const struct driver_steps *s = c->steps;
    if (!s || s->count == 0) {
        return;
    }
    struct step_fact *facts = ARENA_ARRAY(arena, s->count, struct step_fact);
    for (size_t i = 0; i < s->count; i++) {
        facts[i] = s->facts[i];
        facts[i].text = arena_strdup(arena, facts[i].text);
    }
    qsort(facts, s->count, sizeof(*facts), by_time);
    ret->facts = facts;
    ret->fact_count = s->count;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* Where the last line feed ends: what stands behind it was written by a driver that was killed. */
static off_t whole_lines(int fd)
{
    char chunk[FACT_LINE_MAX];
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > (off_t)sizeof(chunk) ? size - (off_t)sizeof(chunk) : 0;
    ssize_t n = pread(fd, chunk, sizeof(chunk), from);
    while (n > 0 && chunk[n - 1] != '\n') {
        n--;
    }
    return n < 0 ? -1 : from + n;
}

/* A line of the driver's own, whole or not at all. Not synced: it means something only as long as
 * the machine runs. */
static int append_fact(struct driver_container *c, const struct step_fact *fact, struct err *err)
{
    char *path = mem_printf("%s/steps/facts", c->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    SCOPED_BUF(line);
    fact_print(fact, &line);
    off_t at = fd < 0 ? -1 : whole_lines(fd);
    bool written = at >= 0 && ftruncate(fd, at) == 0 &&
                   pwrite(fd, line.data, line.size, at) == (ssize_t)line.size;
    int result = written ? 0 : err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (!written && at >= 0 && ftruncate(fd, at) < 0) {
        err_prefix(err, "and what was written of it stays");
    }
    fd_close(fd);
    free(path);
    return result;
}

/* ---- Before they begin ----------------------------------------------------------------------- */

int step_dir_make(const char *dir, uint32_t step, struct err *err)
{
    char *all = mem_printf("%s/steps", dir), *one = mem_printf("%s/%u", all, step);
    int result = dir_make(all, err);
    result = result < 0 ? result : dir_make(one, err);
    free(all);
    free(one);
    return result;
}

struct container_spec step_spec(const struct container_spec *spec, const struct step_process *step)
{
    struct container_spec own = *spec;
    own.path = step->path;
    own.args = step->args;
    own.env = step->env;
    own.env_count = step->env_count;
    own.dir = step->dir;
    own.user = step->user;
    own.nofile = step->nofile;
    own.nproc = step->nproc;
    return own;
}

/* ---- One that runs --------------------------------------------------------------------------- */

static void stop_watching(struct running_step *r)
{
    if (r->shim_ended) {
        event_free(r->shim_ended);
        r->shim_ended = NULL;
    }
    if (r->shim >= 0) {
        close(r->shim);
        r->shim = -1;
    }
}

static void reap(int pidfd)
{
    siginfo_t info;
    waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
}

static void on_shim_ended(evutil_socket_t fd, short what, void *step)
{
    struct running_step *r = step;
    (void)what;
    reap(fd);
    stop_watching(r);
    container_load(r->container->driver, r->container->guid);
}

/* The descriptor of its directory; -1 with errno. */
static int open_step(const struct driver_container *c, uint32_t step)
{
    char *path = mem_printf("%s/steps/%u", c->dir, step);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int saved = errno;
    free(path);
    errno = saved;
    return fd;
}

static void watch(struct running_step *r, int pidfd)
{
    r->shim = pidfd;
    r->shim_ended = event_new(r->container->driver->loop, pidfd, EV_READ, on_shim_ended, r);
    event_add(r->shim_ended, NULL);
}

static bool has_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* What outlived its shim goes, before anybody says that it is over. False: it is killed, and the
 * next look comes when it has ended. */
static bool end_process(struct running_step *r, int dir)
{
    struct identity id;
    int fd = identity_read(dir, "pid", &id) < 0 ? -1 : identity_open(&id);
    if (fd < 0) {
        return true;
    }
    kill((pid_t)-id.pid, SIGKILL);
    identity_signal(fd, SIGKILL);
    if (!has_ended(fd)) {
        watch(r, fd);
        return false;
    }
    close(fd);
    return true;
}

/* Whether its shim has ended for certain; else it is watched from now on. */
static bool shim_has_ended(struct running_step *r, int dir)
{
    struct identity id;
    if (r->shim >= 0) {
        return false;
    }
    int shim = identity_read(dir, "shim.pid", &id) < 0 ? -1 : identity_open(&id);
    if (shim < 0) {
        return !identity_untold(errno);
    }
    if (has_ended(shim)) {
        reap(shim);
        close(shim);
        return true;
    }
    watch(r, shim);
    return false;
}

/* Its status is looked for after its shim, which writes the one before it ends. In another boot of
 * the machine that is all: what has none ended with the machine. While the container is being
 * removed nobody asks, and a fact of it would stand in the way of its directory's end. */
static void judge(struct running_step *r)
{
    struct driver_container *c = r->container;
    char name[64];
    int dir = open_step(c, r->step);
    if (dir < 0) {
        return;
    }
    bool alone = !c->rebooted && !c->removing && shim_has_ended(r, dir);
    snprintf(name, sizeof(name), "steps/%u/status", r->step);
    r->over = read_facts(c, name, NULL) > 0;
    if (r->over) {
        transfer_told(c->dir, &c->steps->facts[c->steps->count - 1], &c->steps->arena);
    }
    if (!r->over && alone && faccessat(dir, "status", F_OK, 0) < 0 && !identity_untold(errno)) {
        struct step_fact lost = {FACT_LOST, r->step, now_ns(), .text = ""};
        if (end_process(r, dir)) {
            append_fact(c, &lost, NULL); /* else the next look tries again */
        }
    }
    close(dir);
    if (r->over) {
        stop_watching(r);
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static struct running_step *find(const struct driver_container *c, uint32_t step)
{
    struct running_step *r = c->steps ? c->steps->first : NULL;
    while (r && r->step != step) {
        r = r->next;
    }
    return r;
}

static struct running_step *find_or_add(struct driver_container *c, uint32_t step)
{
    struct running_step *r = find(c, step);
    if (!r) {
        r = mem_zeroed(sizeof(*r));
        *r = (struct running_step){c->steps->first, c, step, .shim = -1};
        r->transfer = transfer_is(c->dir, step);
        c->steps->first = r;
    }
    return r;
}

/* Whether it has begun by now. */
static void look_for(struct driver_container *c, uint32_t step)
{
    char name[64];
    struct running_step *r = find(c, step);
    size_t from = r ? r->begun_size : 0;
    snprintf(name, sizeof(name), "steps/%u/begun", step);
    size_t count = r && (runs(r) || r->beginning || r->over) ? 0 : read_facts(c, name, &from);
    if (count > 0) {
        r = find_or_add(c, step);
        r->begun_size = from;
        r->begins += (unsigned)count;
    }
}

static void look_for_all(struct driver_container *c)
{
    char *path = mem_printf("%s/steps", c->dir);
    DIR *all = opendir(path);
    for (struct dirent *e; all && (e = readdir(all));) {
        char *end;
        unsigned long step = strtoul(e->d_name, &end, 10);
        bool numbered = end > e->d_name && *end == '\0' && step <= RUN_LAST;
        if (numbered && (step < STEPS_MAX || run_number((uint32_t)step))) {
            look_for(c, (uint32_t)step);
        }
    }
    if (all) {
        closedir(all);
    }
    free(path);
}

static void read_own(struct driver_container *c)
{
    struct driver_steps *s = c->steps;
    size_t before = s->count;
    read_facts(c, "steps/facts", &s->own_size);
    for (size_t i = before; i < s->count; i++) {
        struct running_step *r = find(c, s->facts[i].step);
        if (s->facts[i].kind == FACT_LOST && r) {
            r->losses++;
            r->over = !r->transfer || r->losses >= TRANSFER_BEGINS_MAX;
            stop_watching(r);
        }
    }
}

void steps_take_runs(struct driver_container *c)
{
    if (!c->steps) {
        c->steps = mem_zeroed(sizeof(*c->steps));
        arena_init(&c->steps->arena);
    }
    c->plain = false;
}

static bool has_steps(struct driver_container *c)
{
    char *path = mem_printf("%s/steps", c->dir);
    if (!c->steps && !c->plain && access(path, F_OK) == 0) {
        steps_take_runs(c);
    }
    c->plain = !c->steps;
    free(path);
    return c->steps != NULL;
}

bool steps_load(struct driver_container *c)
{
    if (!has_steps(c)) {
        return false;
    }
    size_t before = c->steps->count;
    look_for_all(c);
    read_own(c);
    for (struct running_step *r = c->steps->first; r; r = r->next) {
        if (runs(r)) {
            judge(r);
        }
    }
    read_own(c);
    return c->steps->count > before;
}

void steps_free(struct driver_steps *s)
{
    while (s && s->first) {
        struct running_step *r = s->first;
        s->first = r->next;
        stop_watching(r);
        free(r);
    }
    if (s) {
        free(s->facts);
        arena_done(&s->arena);
        free(s);
    }
}

void steps_beginning(struct driver_container *c, uint32_t step, bool begins)
{
    find_or_add(c, step)->beginning = begins;
}

bool steps_knows(const struct driver_container *c, uint32_t step)
{
    const struct running_step *r = find(c, step);
    return r && (r->begins > 0 || r->beginning);
}

size_t steps_runs(const struct driver_container *c)
{
    size_t count = 0;
    for (struct running_step *r = c->steps ? c->steps->first : NULL; r; r = r->next) {
        count += run_number(r->step) && (r->begins > 0 || r->beginning);
    }
    return count;
}

bool steps_may_begin(const struct driver_container *c, uint32_t step)
{
    const struct running_step *r = find(c, step);
    int dir = open_step(c, step);
    fd_close(dir);
    return dir >= 0 && !(r && (runs(r) || r->beginning || r->over));
}

int steps_signal(struct driver_container *c, uint32_t step, int number)
{
    const struct running_step *r = find(c, step);
    if (!r || r->over || r->shim < 0) {
        errno = ESRCH;
        return -1;
    }
    return identity_signal(r->shim, number);
}

void steps_end(struct driver_container *c)
{
    for (struct running_step *r = c->steps ? c->steps->first : NULL; r; r = r->next) {
        if (runs(r) && r->shim >= 0) {
            identity_signal(r->shim, SHIM_END_SIGNAL);
        }
    }
}

/* Whether a fact of this kind has been made of the step; "stuck" is one beside any other cut. */
static bool is_fact(const struct driver_container *c, const struct step_fact *wanted)
{
    for (size_t i = 0; i < c->steps->count; i++) {
        const struct step_fact *f = &c->steps->facts[i];
        if (f->kind == wanted->kind && f->step == wanted->step &&
            (f->why == CUT_STUCK) == (wanted->why == CUT_STUCK)) {
            return true;
        }
    }
    return false;
}

/* One that cannot be written is none: then the steps tell how they ended, and nothing is kept
 * waiting. */
void steps_lost(struct driver_container *c)
{
    struct step_fact lost = {FACT_LOST, 0, now_ns(), .text = ""};
    if (c->steps && !is_fact(c, &lost)) {
        append_fact(c, &lost, NULL);
    }
}

int steps_cut(struct driver_container *c, uint32_t step, enum cut_why why, struct err *err)
{
    struct step_fact cut = {FACT_CUT, step, now_ns(), why, .text = ""};
    if (!c->steps || step >= STEPS_MAX) {
        return err_set(err, ERR_NOT_FOUND, "the container has no step %u", step);
    }
    return is_fact(c, &cut) ? 0 : append_fact(c, &cut, err);
}

/* ---- Runs that are forgotten ----------------------------------------------------------------- */

/* Of the driver's own facts, those of others. They are on the disk before the run is deleted: who
 * is killed between finds one that is lost once more. */
static int drop_own(struct driver_container *c, uint32_t run, struct err *err)
{
    struct driver_steps *s = c->steps;
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    SCOPED_BUF(kept);
    struct step_fact *facts;
    size_t count, dropped = 0;
    if (file_read(c->dir, "steps/facts", s->own_size, &text, NULL) < 0 ||
        facts_parse_all(&a, buf_bytes(&text), &facts, &count, NULL) < 0) {
        return 0; /* it has none */
    }
    for (size_t i = 0; i < count; i++) {
        dropped += facts[i].step == run;
        if (facts[i].step != run) {
            fact_print(&facts[i], &kept);
        }
    }
    int result = dropped > 0 ? file_write(c->dir, "steps/facts", buf_bytes(&kept), err) : 0;
    s->own_size = result == 0 && dropped > 0 ? kept.size : s->own_size;
    return result;
}

static void drop_facts(struct driver_steps *s, uint32_t run)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->facts[i].step != run) {
            s->facts[kept++] = s->facts[i];
        }
    }
    s->count = kept;
}

static void drop(struct driver_steps *s, uint32_t run)
{
    struct running_step **at = &s->first;
    while (*at && (*at)->step != run) {
        at = &(*at)->next;
    }
    struct running_step *r = *at;
    if (r) {
        *at = r->next;
        stop_watching(r);
        free(r);
    }
}

int steps_forget(struct driver_container *c, uint32_t run, struct err *err)
{
    const struct running_step *r = find(c, run);
    if (r && (r->beginning || (runs(r) && !c->rebooted))) {
        return err_set(err, ERR_CONFLICT, "it runs");
    }
    int result = c->steps ? drop_own(c, run, err) : 0;
    result = result < 0 ? result : run_delete(c->dir, run, err);
    if (result == 0 && c->steps) {
        drop_facts(c->steps, run);
        drop(c->steps, run);
    }
    return result;
}
