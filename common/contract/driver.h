/* Containers as a rep sees them: verbs, each with an id and a deadline, each answered exactly once
 * (design.md 3.1a, 7). Real drivers: rep/driver (oci, process); the simulated one: test/sim. */
#pragma once

#include "common/base/bytes.h"
#include "common/contract/step_fact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verb {
    VERB_PREPARE, /* make the container's directory, root filesystem and note durable; before that
                   * each host port of its spec is tried by a bind, as a server of it would */
    VERB_START,   /* create and start it; prepared before */
    VERB_SIGNAL,  /* to the container's first process, or to those of a step, or a run, that runs */
    VERB_REMOVE,  /* kill what runs, unmount and delete everything; unknown guid: done. Its note may
                   * be kept: LIST tells it until the guid is prepared, or removed without that */
    VERB_LIST,    /* every container of this driver: adoption and reconciliation in one path */
    VERB_NOTE,    /* another note for it; fails when it does not exist */
    VERB_EXEC,    /* one more process in a running container: of these words, or what a step of its
                   * spec runs, however often. The answer carries its exit; its deadline, and the
                   * end of who asked, kill it and its process group */
    VERB_MEASURE, /* what each running container uses; without a guid, as LIST */
    VERB_READ,    /* a file of the container, as the container sees it; it may have ended. Of a run
                   * instead, with its number as `step`: the last that it wrote, at most
                   * RUN_OUTPUT_MAX bytes, there when its end is a fact */
    VERB_PORTS,   /* which of these host ports a living process holds; nothing is changed */
    VERB_BEGIN,   /* a step of a running container, once and for all: asked again it fails. That it
                   * began, and that it could not be started, are facts, too. A transfer that was
                   * lost may be begun anew; one that is bound, before the container is started */
    VERB_CUT,     /* that a step is to end becomes a fact, and nothing else; once, however often it
                   * is asked, and once more as stuck */
    VERB_SAY,     /* a line for the container's log */
    VERB_RUN,     /* a run: one more process in a running container, of what the call says, once and
                   * for all: asked again it fails, until it is forgotten. A shim of its own watches
                   * it, so that it outlives who asked, and ends with its container. That it began,
                   * and how it ended or could not be started, are facts as those of a step; so is
                   * FACT_LOST, when its shim was killed: its end is told by nobody, and what was
                   * left of it has been killed */
    VERB_FORGET,  /* a run that has ended: its facts and files go. Fails while it runs; of a run, or
                   * a container, that is not known: done */
    VERB_PULL,    /* bring an image to the cell, for a container that is to be prepared next: until
                   * that one's REMOVE, which also ends a PULL under way, it stays. What is there
                   * already is not brought again */
    VERB_COUNT
};

/* User ids, and group ids, of a container with a user namespace: 0 and up inside are so many from
 * its first one on outside. */
enum { CONTAINER_IDS = 65536 };

struct port_pair {
    uint32_t container_port;
    uint32_t host_port;
};

struct name_value {
    const char *name;
    const char *value;
};

/* What a container with a network of its own may reach (behaviour.md 9). */
struct egress_rule {
    const char *protocol;            /* tcp, udp, icmp or all */
    const char *const *destinations; /* each: addresses, CIDR blocks and first-last, by commas */
    size_t destination_count;
    const uint32_t *ports; /* tcp, udp: these, or else the range */
    size_t port_count;
    uint32_t first_port, last_port;
    int32_t icmp_type, icmp_code; /* icmp: -1 = any */
    bool log;                     /* what it lets through stands in the container's log */
};

/* What a step brings into a container, or sends from it, instead of running a program. */
struct file_transfer {
    enum { TRANSFER_DOWNLOAD, TRANSFER_UPLOAD } way;
    /* Of a download: unpacked once for all containers, and bound read-only at `path` when this one
     * starts. */
    bool bound;
    const char *url;       /* it may hold a secret, and stands in no text */
    const char *path;      /* a directory of the container, or the file that is sent */
    const char *cache_key; /* "" = the URL */
    const char *checksum_algorithm, *checksum_value; /* "" = none is known */
};

/* What a step of a container does; and what a run does, of a number from RUN_FIRST on: with its
 * environment as it stands here, a `path` that is a path, without a transfer, and with the
 * container's own limits. */
struct step_process {
    uint32_t step;
    const char *path;
    const char *const *args; /* without path; NULL-terminated */
    const struct name_value *env;
    size_t env_count;
    const char *dir, *user; /* as of the container */
    uint64_t nofile;        /* likewise, and so is the next */
    uint64_t nproc;
    const char *source;                   /* of its lines in the log; NULL = LOG */
    bool mute;                            /* what it writes is dropped; not what is said of it */
    const struct file_transfer *transfer; /* NULL: it runs a program. Else only `user` counts beside
                                           * it, whose the files are */
};

/* A volume of a container: a directory of the cell, or memory (docs/cell.md, Volumes). */
struct volume {
    const char *driver, *name; /* "bind", "tmpfs"; name = volume_id, "" = none */
    const char *config;        /* of tmpfs: "size=64M", "" = no bound but its memory */
    const char *path;          /* in the container, absolute */
    bool writable;
};

/* A directory of the cell that the container sees at `path`. A driver without mounts makes instead
 * a link to it, under the last name of `path`, in a directory that CORKBOARD_DIR tells to each
 * process of the container; and a run whose program lies below `path` is found where that is. */
struct cell_bind {
    const char *from; /* absolute; it is there */
    const char *path; /* absolute */
    bool writable;
};

/* A file of the container alone, with this in it: read-only, its root's, mode 0400. It is there for
 * the container as a bind is. */
struct given_file {
    const char *path;
    struct bytes data;
};

/* Most of either; and of a given file's bytes. */
enum { CELL_BINDS_MAX = 16, GIVEN_FILE_BYTES_MAX = 4096 };

/* What PULL is to bring. */
struct image_call {
    const char *name; /* a root filesystem's, "docker://..." (common/model/image_name.h) */
    const char *username, *password; /* "" = none */
    bool preloaded; /* the cell's own operator named it: an oci image, wherever it is */
};

struct container_spec {
    const char *rootfs;        /* as in the DesiredLRP: "preloaded:NAME" */
    const char *const *layers; /* of an image that was pulled, the lowest first, by id; instead of
                                * what `rootfs` names */
    size_t layer_count;
    const char *path;        /* NULL: its first process only waits, and its steps run beside it */
    bool idle;               /* so it does, without a path and without steps, too: for runs */
    const char *const *args; /* without path; NULL-terminated */
    const struct name_value *env;
    size_t env_count;
    const char *dir;   /* "" = its user's home; of a plain process: a directory of its own */
    const char *user;  /* "" = root of the container */
    int32_t memory_mb; /* 0 = no limit, likewise the others */
    int32_t disk_mb;
    int32_t max_pids;
    /* 1..100, where 100 is about an ordinary process's; 0 = the kernel's default. */
    uint32_t cpu_weight;
    uint32_t cpu_max_percent; /* of one processor; 0 = no limit */
    uint64_t nofile;          /* open files of each process of it */
    uint64_t nproc; /* processes and threads of its user, in its user namespace or on the cell */
    bool privileged;
    uint32_t ids_first; /* of CONTAINER_IDS that no other container has; 0 = no user namespace */
    const struct port_pair *ports;
    size_t port_count;
    const struct volume *volumes;
    size_t volume_count;
    const struct cell_bind *binds;
    size_t bind_count;
    const struct given_file *files;
    size_t file_count;
    /* Of a container with a network of its own. None: it reaches nobody but who asked it first, and
     * the resolvers. */
    const struct egress_rule *egress;
    size_t egress_count;
    const char *address_variable; /* its value becomes the container's own address, where that is
                                   * known before it is made; NULL: none */
    const char *join; /* the container whose network, user namespace and ids it shares, without
                       * ports and egress of its own: it runs, or others share it already. They are
                       * there until the last of them is removed. NULL: none */
    const struct step_process *steps; /* without path: what may be begun; by number */
    size_t step_count;
    const char *source; /* with path, as of a step; so is the next */
    bool mute;
    bool log_limited; /* what its processes write is, together: */
    int64_t log_rate; /* bytes per second; what is over it is dropped; 0 = all of it */
};

/* Most bytes of what an EXEC wrote that are told. */
enum { EXEC_OUTPUT_MAX = 4096 };

/* The largest file that READ gives: what a task's result may be (rep-auctioneer.md 2.5). */
enum { VERB_READ_BYTES_MAX = 51200 };

struct verb_call {
    uint64_t id; /* chosen by the role, unique among its open verbs */
    enum verb verb;
    const char *guid; /* instance or task guid: [A-Za-z0-9_-]{1,64}; NULL for LIST, MEASURE */
    const struct container_spec *spec; /* for PREPARE */
    const struct image_call *image;    /* for PULL */
    struct bytes note; /* for PREPARE, NOTE: the rep's own words, given back by LIST */
    int signal;        /* for SIGNAL */
    uint64_t exec; /* for SIGNAL: instead, the open EXEC of this id is ended as by its deadline; 0 =
                    * none is meant */
    const char *label; /* for REMOVE: what it wrote is kept for a while under its guid and this
                        * name, which several may have; NULL = it goes with the container */
    bool keep_note;    /* for REMOVE */
    bool durable;      /* for NOTE: DONE only once it would survive the machine */
    const char *const *argv; /* for EXEC; NULL-terminated; NULL = what `step` runs */
    const uint32_t *ports;   /* for PORTS */
    size_t port_count;
    const char *path;               /* for READ; relative: to the program's directory */
    uint32_t step;                  /* for BEGIN, CUT, EXEC, FORGET; for SIGNAL, 0 = the first
                                     * process; for READ, 0 = a file */
    const struct step_process *run; /* for RUN */
    enum cut_why why;               /* for CUT */
    const char *text;               /* for SAY: a line, without line feed */
    const char *source;             /* for SAY: whose line it is, "APP/WEB"; NULL = LOG */
    bool to_stderr;                 /* for SAY */
    int64_t deadline_ns;            /* monotonic; then UNKNOWN */
};

enum verb_outcome {
    VERB_DONE,
    VERB_FAILED,    /* nothing of it remains in force; text says why */
    VERB_UNCERTAIN, /* no answer before the deadline, or an earlier start of it came to light:
                     * LIST tells */
};

enum container_state {
    CONTAINER_PREPARED, /* never started */
    CONTAINER_STARTING, /* start was asked, no process known yet */
    CONTAINER_RUNNING,
    CONTAINER_EXITED,
    CONTAINER_KEPT, /* nothing is there but the note that a REMOVE kept */
};

struct container_status {
    const char *guid;
    enum container_state state;
    int exit_code;   /* for EXITED by itself: 0..255 */
    int exit_signal; /* for EXITED by a signal, else 0 */
    bool oom_killed;
    bool disk_full;   /* for EXITED by itself and badly, while its limited disk had no room */
    const char *text; /* for EXITED without ever running, or when nobody saw its end: why; so, too,
                       * for PREPARED in an earlier boot. Else "" */
    bool rebooted;    /* it was made in an earlier boot of the machine, and nothing of it is left
                       * but its files: it is EXITED, or PREPARED and cannot be started any more */
    int64_t pid;      /* first process, seen from the host; 0 = none */
    const char *address; /* its own, once it has one; NULL: the host's network */
    struct bytes note;
    const struct step_fact *facts; /* of its steps, by time; ever more of them */
    size_t fact_count;
};

/* What a running container uses, as far as the driver can tell; 0 where it cannot. */
struct container_usage {
    const char *guid;
    double cpu_fraction; /* of one core, since an earlier MEASURE at least MEASURE_INTERVAL_MS ago,
                            or since it began */
    uint64_t memory_bytes; /* without the page cache that can go at once */
    uint64_t disk_bytes;   /* written to its root filesystem */
};

/* Two MEASUREs closer than this compare with the same earlier one: a short interval says little. */
enum { MEASURE_INTERVAL_MS = 5000 };

struct verb_answer {
    uint64_t id;
    enum verb verb;
    const char *guid; /* NULL for LIST, MEASURE */
    enum verb_outcome outcome;
    const char *text;                          /* never NULL */
    const struct container_status *containers; /* for LIST, sorted by guid */
    size_t container_count;
    const struct container_usage *usages; /* for MEASURE, sorted by guid */
    size_t usage_count;
    int exit_code; /* for EXEC that is DONE: 0..255, of a signal 128 + its number. The text has the
                    * end of what it wrote, EXEC_OUTPUT_MAX at most, as far as its first NUL. Of one
                    * that FAILED it says why it could not be started */
    const char *address;   /* for START: as in container_status */
    const uint32_t *taken; /* for PORTS: of those asked; for a PREPARE that FAILED because somebody
                            * else has them: of its spec's. Only of TCP: UDP has ports of its own */
    size_t taken_count;
    struct bytes data; /* for READ: the whole file; for PULL: what is known of the image, packed
                        * (rep_image.proto), and the text says why its registry did not answer */
};
