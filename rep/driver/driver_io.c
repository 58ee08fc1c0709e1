/* The driver's shell: verbs in, answers and ends out, LIST. Each verb that takes time is one run of
 * the shim (verbs_io.c, job_io.h); what it led to stands in the container's directory
 * (container_io.c). Directories are read beside the loop (worker_io.h), but when it opens. */
#include "rep/driver/driver_parts.h"
#include "rep/steps/machine.h"

#include <dirent.h>
#include <event2/event.h>

/* One event on its way to the owner, with everything it points to. */
struct delivery {
    struct delivery *next;
    struct arena arena;
    struct event ev;
};

/* ---- Events ---- */

static struct delivery *delivery_new(struct driver *d, enum event_kind kind)
{
    struct delivery *n = calloc(1, sizeof(*n));
    arena_init(&n->arena);
    n->ev.kind = kind;
    *d->deliveries_end = n;
    d->deliveries_end = &n->next;
    event_active(d->flush, EV_TIMEOUT, 0);
    return n;
}

static void flush(evutil_socket_t fd, short what, void *driver)
{
    struct driver *d = driver;
    struct delivery *n = d->deliveries;
    (void)fd;
    (void)what;
    d->deliveries = NULL;
    d->deliveries_end = &d->deliveries;
    while (n) {
        struct delivery *next = n->next;
        d->owner.deliver(d->owner.context, &n->ev);
        arena_done(&n->arena);
        free(n);
        n = next;
    }
}

void driver_answer(struct driver *d, const struct verb_answer *answer)
{
    struct delivery *n = delivery_new(d, EVENT_VERB);
    n->ev.verb = *answer;
    n->ev.verb.guid = answer->guid ? arena_strdup(&n->arena, answer->guid) : NULL;
    n->ev.verb.text = arena_strdup(&n->arena, answer->text);
    n->ev.verb.address = answer->address ? arena_strdup(&n->arena, answer->address) : NULL;
    n->ev.verb.taken =
        arena_copy(&n->arena, answer->taken, answer->taken_count * sizeof(*answer->taken));
    n->ev.verb.data.data = arena_copy(&n->arena, answer->data.data, answer->data.size);
    struct container_usage *usages =
        ARENA_ARRAY(&n->arena, answer->usage_count, struct container_usage);
    for (size_t i = 0; i < answer->usage_count; i++) {
        usages[i] = answer->usages[i];
        usages[i].guid = arena_strdup(&n->arena, usages[i].guid);
    }
    n->ev.verb.usages = usages;
}

struct container_status container_status_of(struct driver_container *c, struct arena *arena)
{
    const char *address = container_address(c);
    bool ended = c->state == CONTAINER_EXITED;
    struct bytes note = blob_bytes(c->note);
    struct container_status s = {
        .guid = arena_strdup(arena, c->guid),
        .state = c->state,
        .exit_code = ended && c->ending.code > 0 ? c->ending.code : 0,
        .exit_signal = ended ? c->ending.signal : 0,
        .oom_killed = ended && c->ending.oom_killed,
        .disk_full = ended && c->ending.disk_full,
        .text = arena_strdup(arena, ended         ? c->ending.text
                                    : c->rebooted ? STEP_MACHINE_TEXT
                                                  : ""),
        .rebooted = c->rebooted,
        .pid = c->state == CONTAINER_RUNNING ? c->first.pid : 0,
        .address = address ? arena_strdup(arena, address) : NULL,
        .note = {arena_copy(arena, note.data, note.size), note.size},
    };
    steps_facts(c, arena, &s);
    return s;
}

void driver_tell(struct driver_container *c)
{
    struct delivery *n = delivery_new(c->driver, EVENT_CONTAINER);
    n->ev.container = container_status_of(c, &n->arena);
}

/* ---- LIST ---- */

/* What has a directory and is not known here: a job that an earlier driver left behind may still
 * have finished it. Looked for beside the loop, so it stands in the next listing. */
struct look {
    struct driver_work work;
    struct driver *driver;
    char *path;
    struct map names;
    bool untold; /* they could not be read */
};

static void read_names(struct driver_work *work, const atomic_bool *ending)
{
    struct look *k = (struct look *)work;
    DIR *all = opendir(k->path);
    k->untold = !all && identity_untold(errno);
    for (struct dirent *e; all && !atomic_load(ending) && (e = readdir(all));) {
        if (guid_valid(e->d_name)) {
            map_put(&k->names, e->d_name, k);
        }
    }
    if (all) {
        closedir(all);
    }
}

static void look_free(struct driver_work *work)
{
    struct look *k = (struct look *)work;
    map_done(&k->names, NULL);
    free(k->path);
    free(k);
}

static void names_read(struct driver_work *work)
{
    struct look *k = (struct look *)work;
    k->driver->looking = false;
    k->driver->unread = k->untold;
    MAP_EACH(&k->names, n) {
        if (!map_get(&k->driver->containers, map_key(n))) {
            container_load(k->driver, map_key(n));
        }
    }
    look_free(work);
}

static struct look *look_new(struct driver *d)
{
    struct look *k = calloc(1, sizeof(*k));
    k->work = (struct driver_work){.run = read_names, .done = names_read, .drop = look_free};
    k->driver = d;
    k->path = strdup(d->containers_dir);
    map_init(&k->names);
    return k;
}

static void look_around(struct driver *d)
{
    struct look *k = d->looking ? NULL : look_new(d);
    if (k && worker_add(d->worker, &k->work)) {
        d->looking = true;
    } else if (k) {
        look_free(&k->work);
    }
}

/* Before the loop runs. */
static void load_all(struct driver *d)
{
    static const atomic_bool never;
    struct look *k = look_new(d);
    read_names(&k->work, &never);
    names_read(&k->work);
}

static void call_list(struct driver *d, const struct verb_call *call)
{
    size_t count = 0;
    MAP_EACH(&d->containers, at) {
        container_load(d, map_key(at)); /* which drops it if it has gone */
    }
    look_around(d);
    if (d->unread > 0) { /* a part is not the whole: what is not named would be taken for gone */
        driver_answer(d, &(struct verb_answer){.id = call->id,
                                               .verb = VERB_LIST,
                                               .outcome = VERB_FAILED,
                                               .text = "this process may open too few files to "
                                                       "read all containers"});
        return;
    }
    struct delivery *n = delivery_new(d, EVENT_VERB);
    struct container_status *list =
        ARENA_ARRAY(&n->arena, d->containers.count + d->notes.count, struct container_status);
    struct map_node *at = map_from(&d->containers, ""), *kept = map_from(&d->notes, "");
    while (at || kept) { /* by guid; what is there has the newer one */
        int order = !at ? 1 : !kept ? -1 : strcmp(map_key(at), map_key(kept));
        list[count++] = order <= 0 ? container_status_of(map_value(at), &n->arena)
                                   : note_status(kept, &n->arena);
        at = order <= 0 ? map_next(at) : at;
        kept = order >= 0 ? map_next(kept) : kept;
    }
    n->ev.verb = (struct verb_answer){
        .id = call->id,
        .verb = VERB_LIST,
        .outcome = VERB_DONE,
        .text = "",
        .containers = list,
        .container_count = count,
    };
}

/* ---- The shell ---- */

unsigned driver_files(unsigned containers)
{
    enum { AT_WORK = 64 }; /* of jobs, the worker, what is opened for a moment */
    return containers + OUTPUT_READERS_MAX * OUTPUT_READER_FILES + AT_WORK;
}

void shim_command(struct driver *d, struct command *c, const char *verb)
{
    command_add(c, "%s", d->shim);
    command_add(c, "%s", verb);
}

static void driver_call(struct driver_shell *shell, const struct verb_call *call)
{
    struct driver *d = (struct driver *)shell;
    if (call->verb == VERB_LIST) {
        call_list(d, call);
    } else if (call->verb == VERB_MEASURE) {
        verb_measure(d, call);
    } else if (!guid_valid(call->guid)) {
        driver_answer(d, &(struct verb_answer){
                             .id = call->id,
                             .verb = call->verb,
                             .guid = call->guid,
                             .outcome = VERB_FAILED,
                             .text = "a container's guid is 1 to 64 letters, digits, - and _",
                         });
    } else if (call->verb == VERB_READ) {
        verb_read(d, call);
    } else if (call->verb == VERB_PULL) {
        verb_pull(d, call);
    } else if (call->verb == VERB_PORTS) {
        verb_ports(d, call);
    } else {
        verb_begin(d, call);
    }
}

static void driver_output(struct driver_shell *shell, const struct output_request *wanted)
{
    outputs_answer((struct driver *)shell, wanted);
}

static void driver_free(struct driver_shell *shell)
{
    struct driver *d = (struct driver *)shell;
    if (!d) {
        return;
    }
    worker_free(d->worker);
    jobs_free(d->jobs);
    MAP_EACH(&d->containers, n) {
        container_drop(map_value(n));
    }
    map_done(&d->containers, NULL);
    map_done(&d->notes, notes_free);
    for (struct delivery *n = d->deliveries; n;) {
        struct delivery *next = n->next;
        arena_done(&n->arena);
        free(n);
        n = next;
    }
    if (d->flush) {
        event_free(d->flush);
    }
    if (d->sweep) {
        event_free(d->sweep);
    }
    outputs_done(d);
    egress_log_end(d);
    driver_done(d);
    free(d);
}

int driver_unmake(struct driver_shell *shell, struct err *err)
{
    return network_drop((struct driver *)shell, err);
}

static const struct driver_shell_ops shell_ops = {
    .call = driver_call, .free = driver_free, .output = driver_output};

/* What was neither finished nor wholly removed is cleared away; nobody waits for it. */
static void clear_leftovers(struct driver *d)
{
    enum { CLEAR_S = 60 };
    struct timespec now;
    DIR *all = opendir(d->containers_dir);
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (struct dirent *e; all && (e = readdir(all));) {
        if (guid_valid(e->d_name) && !map_get(&d->containers, e->d_name)) {
            verb_clear(d, e->d_name, (now.tv_sec + CLEAR_S) * SECOND_NS);
        }
    }
    if (all) {
        closedir(all);
    }
}

struct driver_shell *driver_open(const struct driver_config *config, struct event_base *loop,
                                 const struct driver_owner *owner, struct err *err)
{
    struct driver *d = calloc(1, sizeof(*d));
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    d->shell.ops = &shell_ops;
    d->loop = loop;
    d->owner = *owner;
    d->deliveries_end = &d->deliveries;
    d->flush = event_new(loop, -1, 0, flush, d);
    d->jobs = jobs_new(loop, cores > 0 ? (int)cores : 1);
    map_init(&d->containers);
    map_init(&d->notes);
    if (driver_init(d, config, err) < 0 || network_begin(d, err) < 0) {
        driver_free(&d->shell);
        return NULL;
    }
    d->worker = worker_new(loop);
    outputs_init(d);
    egress_log_begin(d);
    load_all(d);
    notes_load(d);
    clear_leftovers(d);
    transfers_sweep(d);
    images_sweep(d);
    return &d->shell;
}
