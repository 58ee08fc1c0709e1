/* The container drivers of a rep (design.md 7): "oci" (runc or crun, the first that passes a probe)
 * and "process" (own session, no isolation, for trials without privileges). Both carry out the
 * verbs of common/contract/driver.h in the host's loop and never block it: everything that takes
 * time runs in a child process, at most as many runtime calls at once as there are cores, or, if it
 * only reads and deletes directories, in a thread beside the loop (worker_io.h).
 *
 * Each container lives in <state_dir>/containers/<guid>/ and is watched by a process of its own,
 * the shim (rep/shim), which outlives the rep: a new driver over the same state directory adopts
 * what runs, whatever ended the old one. */
#pragma once

#include "common/base/err.h"
#include "common/contract/event.h"
#include "common/shell/host_io.h"
#include "rep/driver/network_io.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;

enum driver_kind { DRIVER_OCI, DRIVER_PROCESS };

/* A preloaded root filesystem: "preloaded:<name>" means the directory `path` (absolute). */
struct driver_rootfs {
    const char *name;
    const char *path;
};

/* A directory of the cell that containers may have as a volume: rep/driver/volumes.h. */
struct volume_source;

/* Log limits where the config says 0: two files of 10 MiB each. */
enum { DRIVER_LOG_BYTES = 10 * 1024 * 1024, DRIVER_LOG_FILES = 2, DRIVER_LOG_FILES_MAX = 10 };

/* How files come to containers (rep/courier/courier.h). */
struct driver_files {
    const char *courier;   /* the program rep-courier; NULL = beside the shim */
    int64_t cache_bytes;   /* what is kept in <state_dir>/cache at most; 0 = DRIVER_CACHE_BYTES */
    const char *fetch_ca;  /* file of CAs that servers are believed by, too; NULL = none */
    const char *file_root; /* directory below which file: URLs may be; NULL = none may */
};

#define DRIVER_CACHE_BYTES INT64_C(10000000000)

#define DRIVER_IMAGE_BYTES INT64_C(20000000000) /* where the config says 0 */

/* Images that the oci driver pulls; texts NULL = not set. */
struct driver_image_config {
    bool on;                    /* else PULL fails */
    const char *registries;     /* containers-registries.conf(5) */
    const char *registry_certs; /* a directory for each registry, with CAs */
    const char *oci_root;       /* where images of oci: names are */
    int64_t bytes;              /* of all layers together, at most */
};

/* Most containers that one driver keeps: DRIVER_CONTAINERS_MAX + 1 fails in PREPARE. */
enum { DRIVER_CONTAINERS_MAX = 4096 };

/* What a probe found out. */
struct driver_choice {
    char runtime[256]; /* path; "" for the process driver */
    char init[256];    /* path; "" for the process driver */
    bool limits;       /* memory, processes and processor weight are enforced */
    bool disk;         /* disk limits are enforced */
    bool seccomp;      /* containers make no other system calls than the profile allows */
    bool user_namespaces;  /* containers get one, if their spec has a range of ids */
    char isolation[512];   /* for people: which isolation is on, and why not what is off */
    char text[1024];   /* for people: what was chosen and why not the others */
};

/* Every string is copied by driver_new() and driver_open(). */
struct driver_config {
    enum driver_kind kind;
    const char *state_dir; /* absolute, this rep's alone; containers/, runtime/ are made in it */
    const char *shim;      /* the program rep-shim; NULL = "rep-shim" beside the running program */
    const char *runtime;   /* oci: path of runc or crun; NULL = try crun, then runc */
    const char *init;      /* oci: the PID 1, static; NULL = try catatonit, then tini-static */
    const struct driver_rootfs *rootfs;
    size_t rootfs_count;
    const struct volume_source *volumes;
    size_t volume_count;
    int64_t log_bytes; /* size at which a log file is rotated; 0 = DRIVER_LOG_BYTES */
    int log_files;     /* the current one included; 0 = DRIVER_LOG_FILES */
    uint32_t ids_first; /* oci: of a range that a trial may take; 0 = no user namespaces */
    const char *seccomp; /* oci: path of a profile (seccomp.h); NULL = SECCOMP_PROFILE, "" = none */
    bool strict;        /* oci: the probe fails where not all of the isolation works */
    struct driver_network_config network; /* oci */
    struct driver_files files;
    struct driver_image_config images;
    const struct driver_choice *choice; /* of driver_probe(); NULL = driver_new() probes itself */
};

/* Finds out which runtime works here by running a trial container with each of the candidates, and
 * takes the first that works; then whether limits do. Blocks, for at most some 20 s a candidate:
 * call it before the loop runs. The process driver always works. Gives 0, or -ERR_UNAVAILABLE with
 * each candidate's reason. */
int driver_probe(const struct driver_config *config, struct driver_choice *ret_choice,
                 struct err *err);

/* For host_config.driver_new; `config` is a struct driver_config. NULL with err when nothing works
 * here, or the state directory cannot be used. */
struct driver_shell *driver_new(void *config, struct host *host, struct err *err);

/* Whom a driver tells, if not a host. Without output requests `reply` and `wake` may be NULL. */
struct driver_owner {
    void *context;
    /* EVENT_VERB and EVENT_CONTAINER, never from inside a call of the driver. */
    void (*deliver)(void *context, const struct event *ev);
    /* The answer to an output request; it may come from inside of the call. As for
     * http_server_reply(): the cursor becomes the owner's, everything else is borrowed. */
    void (*reply)(void *context, const struct reply *reply);
    void (*wake)(void *context, const char *channel); /* of cursors that wait */
};

/* The same for another loop than a host's. */
struct driver_shell *driver_open(const struct driver_config *config, struct event_base *loop,
                                 const struct driver_owner *owner, struct err *err);

/* Once its containers are gone: takes back what the cell itself has on the machine. Blocks, for
 * half a minute at most. -code with err. */
int driver_unmake(struct driver_shell *shell, struct err *err);

/* Of a state directory's real path: as %08x, "corkboard-HASH" is the table of its network, and its
 * control groups are "corkboard-HASH-GUID". */
uint32_t state_dir_hash(const char *path);

/* The program of this name in the directory of the running one; in the arena. */
const char *program_beside(struct arena *a, const char *name);

/* Descriptors that a driver of so many containers may come to hold. */
unsigned driver_files(unsigned containers);

/* A container's log is <state_dir>/containers/<guid>/log/output, in lines of the form of
 * rep/shim/log_form.h; older files of it have ".1", ".2", ... appended. Shims of earlier versions
 * wrote stdout and stderr there instead, as they came; these are read, too. */
