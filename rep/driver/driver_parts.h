/* What the files of the drivers share: the driver, its containers, and the table of functions in
 * which oci and process differ. */
#pragma once

#include "common/base/map.h"
#include "rep/driver/command.h"
#include "rep/driver/driver_io.h"
#include "rep/driver/egress_line.h"
#include "rep/driver/job_io.h"
#include "rep/driver/oci_spec.h"
#include "rep/driver/rootfs.h"
#include "rep/driver/status.h"
#include "rep/driver/volumes.h"
#include "rep/driver/worker_io.h"
#include "rep/shim/identity.h"

enum { NOTE_BYTES_MAX = 1024 * 1024 };

/* In which boot of the machine a container was made. Not synced: it is of no use in this one. */
#define BOOT_FILE "boot"

struct driver;
struct delivery;
struct outputs;

/* Every function adds the words of a shim's command line to `c`, whose first ones (shim, verb) are
 * there, and may write files into the container's directory `dir`. -code with err: the verb
 * fails. */
struct driver_ops {
    const char *name;
    const char *root; /* what a container sees as "/", from its directory */
    int (*prepare)(struct driver *d, const char *guid, const char *dir,
                   const struct container_spec *spec, struct command *c, struct err *err);
    int (*start)(struct driver *d, const char *guid, const char *dir, struct command *c,
                 struct err *err);
    /* These words; with NULL what runs as this step. */
    int (*exec)(struct driver *d, const char *guid, const char *dir, const char *const *argv,
                uint32_t step, uint64_t number, struct command *c, struct err *err);
    /* What is to run as a step, from its own directory, where process.json is. */
    int (*step)(struct driver *d, const char *guid, const char *dir, struct command *c,
                struct err *err);
    /* For RUN: writes the process.json of one into steps/N of the container's directory. */
    int (*run)(struct driver *d, const char *guid, const char *dir, const struct step_process *run,
               struct err *err);
    /* Also for directories that were never finished. */
    void (*remove)(struct driver *d, const char *guid, struct command *c);
    /* The path of its control groups, below their roots; NULL: they have none. */
    void (*group)(const struct driver *d, const char *guid, char *out, size_t size);
};

extern const struct driver_ops oci_driver, process_driver;

struct rootfs {
    char *name, *path;
};

struct driver_images {
    char *dir, *registries, *registry_certs, *oci_root; /* the last three may be NULL */
    int64_t bytes;
    struct driver_jobs *pulls; /* NULL: it pulls none */
};

struct pull_op;

struct driver {
    struct driver_shell shell;
    const struct driver_ops *ops;
    struct event_base *loop;
    struct driver_owner owner;
    char *state_dir, *containers_dir, *notes_dir, *runtime_dir, *shim;
    char *courier, *cache_dir, *fetch_ca, *file_root; /* the last two may be NULL */
    int64_t cache_bytes;
    struct rootfs *rootfs;
    size_t rootfs_count;
    struct volume_source *volumes; /* directories that may be volumes, by name */
    size_t volume_count;
    int64_t log_bytes;
    int log_files;
    struct driver_choice choice;
    struct oci_facts facts;
    bool limits_said; /* that what a container wants is cut to the hard limit */
    json_t *seccomp; /* of containers that are not privileged; NULL: see seccomp_why */
    struct err seccomp_why;
    uint32_t trial_ids; /* of the probe's trials, once these have user namespaces */
    uint32_t hash; /* of the state directory: names control groups */
    struct driver_jobs *jobs;
    struct driver_images images;
    struct pull_op *pulling; /* under way */
    struct worker *worker;
    bool looking; /* for directories of containers that are not known here */
    size_t unread; /* of them, by the last look, those that could not be read for want of means */
    struct map containers; /* by guid */
    struct map notes;      /* by guid: struct blob, of containers that are gone (notes_io.c) */
    uint64_t execs;
    struct verb_op *open_execs;
    struct delivery *deliveries, **deliveries_end; /* to be delivered from the loop */
    struct event *flush;
    struct driver_network network;
    struct egress_log *egress_log; /* NULL: there is none */
    struct event *sweep; /* of what the network has of nobody */
    bool sweeping, sweep_again; /* the cache */
    struct outputs *outputs;
};

/* Processor time of a container at two MEASUREs, the earlier one for comparing. */
struct cpu_mark {
    uint64_t from_ns, ns;
    int64_t from_at_ns, at_ns; /* monotonic; at_ns 0 = none yet */
};

struct driver_steps;

struct driver_container {
    struct driver *driver;
    char *guid, *dir;
    enum container_state state;
    struct ending ending; /* once EXITED */
    struct blob *note;
    char *join;            /* the container whose network it shares; NULL: none */
    struct id_range ids;   /* first 0: it has no user namespace */
    struct identity first; /* pid 0: not known */
    struct egress_limit egress; /* of what its log says of that */
    char address[ADDRESS_TEXT_BYTES]; /* its own; "": not known, or the host's network */
    int shim;              /* pidfd; -1: none lives */
    struct event *shim_ended;
    struct cpu_mark cpu;
    struct driver_steps *steps; /* NULL: its first process is all there is to it */
    bool plain;                 /* and that is known */
    bool boot_known;            /* whether the next is */
    bool rebooted;              /* it was made in an earlier boot of the machine */
    bool starting; /* our START is under way: its answer tells, not an event */
    bool removing; /* our REMOVE is: its end is expected */
    bool burying;  /* a container without a shim is being ended */
};

/* container_io.c: one container, as its directory tells. */

/* Reads it again; makes, changes or drops the record in d->containers, watches its shim, has it
 * buried if the shim was killed, and tells of its end. NULL: there is no such container. */
struct driver_container *container_load(struct driver *d, const char *guid);
/* Its own, once it was started; NULL: none, or the host's network. Borrowed from it. */
const char *container_address(struct driver_container *c);
void container_drop(struct driver_container *c); /* the record; what runs runs on */
struct id_range ids_read(const char *dir); /* as its PREPARE wrote them */
/* Whether nothing is left of the container of this directory, but what others share of it. */
bool container_is_gone(const char *dir);
/* For PREPARE: the boot of the machine in which it is made. */
int boot_write(const char *dir, struct err *err);
bool guid_valid(const char *guid);        /* [A-Za-z0-9_-]{1,64} */

/* files_io.c */
void fd_close(int fd); /* accepts -1 */
int file_read(const char *dir, const char *name, size_t limit, struct buf *out,
              struct err *err); /* with errno */
/* Whole or not at all, whenever the rep dies: NAME.part becomes NAME. Not synced. */
int file_write(const char *dir, const char *name, struct bytes data, struct err *err);
int json_write(const char *dir, const char *name, json_t *value, struct err *err); /* takes value */
json_t *json_read(const char *dir, const char *name, struct err *err);
int dir_make(const char *path, struct err *err); /* EEXIST is well */
/* A path as the container sees it: links do not lead out of its root. -1 with errno. */
int open_inside(int root, const char *path, int flags);

/* program_io.c: where the container sees its files, when nothing is mounted for it yet or any more:
 * in a directory that is bound there, the deepest, or in the root filesystem. An O_PATH
 * descriptor, or -1 with errno. */
struct places {
    int root;
    const json_t *mounts; /* of its config.json; NULL: none */
};
int open_place(const struct places *p, const char *path);

/* Whether the first program that config.json in this directory names is there, in the
 * root filesystem or in a directory that is bound into it, and its directory is one. -code with
 * err. */
int program_check(const char *dir, struct err *err);

/* driver_io.c: events for the owner, delivered from the loop; the event's payload is copied. */
void driver_answer(struct driver *d, const struct verb_answer *answer);
void driver_tell(struct driver_container *c);
struct container_status container_status_of(struct driver_container *c, struct arena *arena);

/* notes_io.c: a file's name for a note that a child is to give its container, unlike that of any
 * other, also of an earlier driver. And none in this directory becomes a note any more: a child
 * that a killed rep left may still be at work, and what it has not done by now it never does. -1
 * with errno: the directory cannot be read. */
void note_name_new(char *name, size_t size);
int notes_withdraw(const char *dir);

/* Notes that outlive their containers. All that are there; that of a container which
 * is gone; none of it any more; where it is, freed by the caller; what LIST tells of one; for a
 * map. */
void notes_load(struct driver *d);
void note_learn(struct driver *d, const char *guid);
void note_drop(struct driver *d, const char *guid);
char *note_kept_path(const struct driver *d, const char *guid);
struct container_status note_status(const struct map_node *n, struct arena *a);
void notes_free(void *note);

/* read_io.c: READ, likewise. */
void verb_read(struct driver *d, const struct verb_call *call);

/* ports_io.c: PORTS, likewise. Whether a server could not bind the port because it is in use;
 * whether a process that lives has it. */
void verb_ports(struct driver *d, const struct verb_call *call);
bool port_is_taken(uint32_t port);
bool port_is_held(uint32_t port);

/* verbs_io.c: all verbs but LIST, MEASURE, READ and PORTS, of a valid guid; answered by
 * driver_answer(). */
void verb_begin(struct driver *d, const struct verb_call *call);
/* exec_io.c: the container has ended, and so does whatever EXEC runs in it. */
void execs_end(struct driver *d, const char *guid);

/* Removes a directory that was never finished; nobody waits for it. */
void verb_clear(struct driver *d, const char *guid, int64_t deadline_ns);

/* steps_io.c: the steps of a container, as its directory tells. */

/* Reads what is new of them; watches the shims of those that run. True: there are more facts. */
bool steps_load(struct driver_container *c);
void steps_free(struct driver_steps *s); /* accepts NULL; what runs runs on */
/* The facts so far, copied, by time. */
void steps_facts(const struct driver_container *c, struct arena *arena,
                 struct container_status *ret);
/* For PREPARE: makes steps/N in the container's directory; the container's spec with what the step
 * says otherwise, borrowed. */
int step_dir_make(const char *dir, uint32_t step, struct err *err);
struct container_spec step_spec(const struct container_spec *spec, const struct step_process *step);
/* Whether one of them begins: then its job looks after its shim. */
void steps_beginning(struct driver_container *c, uint32_t step, bool begins);
/* Whether this is a step of it that has not begun. */
bool steps_may_begin(const struct driver_container *c, uint32_t step);
/* Sends a shim's signal to the shim of a step that runs. -1 with errno. */
int steps_signal(struct driver_container *c, uint32_t step, int number);
/* The container's shim was killed: a fact of its whole, before any of its steps is ended for it. */
void steps_lost(struct driver_container *c);
/* The container has ended: whatever of its steps runs is killed. */
void steps_end(struct driver_container *c);
/* Makes a fact of it, if it is none yet; -code with err. */
int steps_cut(struct driver_container *c, uint32_t step, enum cut_why why, struct err *err);

/* Whether a step, or a run, of this number has begun, or is about to; how many runs have. */
bool steps_knows(const struct driver_container *c, uint32_t step);
size_t steps_runs(const struct driver_container *c);
/* The container may have runs from now on. */
void steps_take_runs(struct driver_container *c);
/* The facts and files of a run go; -code with err while it runs. */
int steps_forget(struct driver_container *c, uint32_t run, struct err *err);

/* run_io.c: whether a step's number is a run's. */
bool run_number(uint32_t step);
/* Writes the words of a run. `p`: as whom, and what the driver adds to its environment. `home`: the
 * directory that it starts in where it says none, "" = none, of a plain process; NULL: of an oci
 * one. -code with err. */
int run_write(const char *dir, const struct step_process *run, const struct oci_params *p,
              const char *home, struct err *err);
/* Its directory goes, in one move; one that is not there has gone. -code with err. */
int run_delete(const char *dir, uint32_t number, struct err *err);
/* The last that it wrote, appended. -code with err. */
int run_output(const struct driver_container *c, uint32_t number, struct buf *out,
               struct err *err);

/* given_io.c: for PREPARE: writes the files that are given, for this owner, and with `links` a link
 * to each bind. -code with err: too many, two of one name, not there. */
int given_make(const char *dir, const struct container_spec *spec, uint32_t owner, bool links,
               struct err *err);
/* The mounts of all of them, a new reference; and where one is, or all are (NULL), malloced. */
json_t *given_mounts(const char *dir, const struct container_spec *spec);
char *given_path(const char *dir, const char *path);

/* transfer_io.c: steps that bring or send files; a courier does it, below a shim like a program. */

/* For PREPARE: makes steps/N of one whose files belong to this user; `home`, below the container's
 * directory, is where its paths begin, NULL: its root. */
int transfer_prepare(const char *dir, const struct step_process *step, const struct user *user,
                     const char *home, struct err *err);
/* Whether a step is one; and one that is bound into the container before it starts. */
bool transfer_is(const char *dir, uint32_t step);
bool transfer_is_bound(const char *dir, uint32_t step);
/* The rest of the shim's command line, for the step's directory. */
int transfer_command(struct driver *d, const char *guid, const char *dir, struct command *c,
                     struct err *err);
/* What the courier answered, into the fact of its end; texts live in the arena. */
void transfer_told(const char *dir, struct step_fact *fact, struct arena *a);
/* Those that are bound: where each is to be seen, and where it is; by destination, so that what
 * lies below another comes after it. -code with err when one was not brought. */
struct bound_tree {
    const char *to, *from;
};
int transfer_bound(struct driver *d, const char *dir, struct arena *a, struct bound_tree **ret_list,
                   size_t *ret_count, struct err *err);
/* At the start: the cache is cleared of what killed couriers and containers left. And when a
 * container has gone: of what its couriers left, if there is anything in part/. */
void transfers_sweep(struct driver *d);
void transfers_left(struct driver *d);
/* The file that says what of the cache a container uses; it goes with the container. */
char *transfer_uses(const struct driver *d, const char *guid); /* malloced */

/* driver_io.c: the shim's command line so far: the program and its verb. */
void shim_command(struct driver *d, struct command *c, const char *verb);

/* log_options_io.c: what the log of a container is to be like: written by PREPARE; and the words
 * for the shim of its first process (-1), or of a step. */
int log_options_write(const char *dir, const struct container_spec *spec, struct err *err);
void log_options_add(const struct driver *d, const char *dir, int64_t step, struct command *c);

/* Likewise, what the call of a run says. */
void run_options_add(const struct step_process *run, struct command *c);

/* The line in the log of the container of this directory. -errno. */
int log_say(const char *dir, const char *source, bool to_stderr, const char *text);

/* egress_log_io.c: what egress rules let through is said in the logs of containers, as far as the
 * kernel tells of it; the rep's log says if it does not. */
void egress_log_begin(struct driver *d);
void egress_log_end(struct driver *d);

/* usage_io.c: MEASURE, likewise. */
void verb_measure(struct driver *d, const struct verb_call *call);

/* output_io.c: what containers wrote, while they are there and for a while after. So many read at
 * once, one more is answered 503; each holds so many descriptors. */
enum { OUTPUT_READERS_MAX = 128, OUTPUT_READER_FILES = 5 };
void outputs_init(struct driver *d);
void outputs_done(struct driver *d);
/* Answered by the owner's reply, now or later. */
void outputs_answer(struct driver *d, const struct output_request *wanted);

/* For a container that is being removed: where its log is to go, from its own directory; malloced,
 * NULL when nowhere. Then, when it has gone there. */
char *outputs_keep(struct driver *d, const char *label, const char *guid);
void outputs_kept(struct driver *d);

/* pull_io.c: PULL, likewise. Ends what is under way for a container; lets go of its image. */
void verb_pull(struct driver *d, const struct verb_call *call);
void pulls_cancel(struct driver *d, const char *guid);
void pulls_unpin(const struct driver *d, const char *guid);
/* At the start: what killed couriers left of their jobs, among it passwords, and the images of
 * containers that are not there. */
void images_sweep(struct driver *d);
void images_init(struct driver *d, const struct driver_config *config);
void images_done(struct driver *d);

/* setup_io.c */
int settings_init(struct driver *d, const struct driver_config *config, struct err *err);
int driver_init(struct driver *d, const struct driver_config *config, struct err *err);
void driver_done(struct driver *d); /* what these two took */

/* The directory of a NAME that is preloaded (common/model/image_name.h); NULL with err. */
const char *rootfs_path(struct driver *d, const char *rootfs, struct err *err);

/* probe_io.c */
void facts_gather(struct oci_facts *ret);
bool kernel_runs_x32(void);

/* process_limits_io.c: says once, in the log of the rep, that a spec wants more than can be had. */
void limits_say(struct driver *d, const struct container_spec *spec);
