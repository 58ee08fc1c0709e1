/* What a container shall be, as the OCI runtime specification writes it (config.json). Pure: what
 * the machine and this process permit comes in as facts. */
#pragma once

#include "common/base/err.h"
#include "common/contract/driver.h"
#include "rep/driver/id_range.h"
#include "rep/driver/passwd.h"
#include "rep/driver/volumes.h"

#include <jansson.h>

/* The variable by which the process driver knows its own again; first of the environment. */
#define MARK_VARIABLE "CORKBOARD_CONTAINER"
#define GIVEN_VARIABLE "CORKBOARD_DIR" /* of one without mounts: where its binds are */

/* Searched by a program's name and given to containers that do not say otherwise. */
#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Where the init stands in a container: /dev is a file system of the container's own, so that
 * nothing is left in its upper layer. */
#define INIT_INSIDE "/dev/init"

/* Where the runtime finds the root filesystem of a container with a user namespace. It looks as the
 * root of that, who may not enter the cell's own directories; so the shim mounts it there, for the
 * runtime alone. */
#define ROOT_FOR_RUNTIME "/run/corkboard-rootfs"

/* The word by which the shim, as a container's init, waits for the end of it (rep/shim). */
#define INIT_IDLE "idle"

/* What this process has and this machine permits. */
struct oci_facts {
    uint64_t capabilities; /* one bit each; more cannot be given to a container */
    uint64_t nofile_hard;  /* own hard limits; of nproc UINT64_MAX is none */
    uint64_t nproc_hard;
    int oom_score_adj;     /* own */
    bool limits;           /* control groups work */
    bool swap_limit;       /* they count swap, too */
    bool unified;          /* they are of version 2 alone; else version 1, hybrid included */
    bool fuse;             /* the machine has /dev/fuse */
    bool resolv_conf;      /* /etc/resolv.conf is there, to be shared with the container */
    bool hosts;            /* /etc/hosts likewise */
    bool user_namespaces;  /* containers with a range of ids get one */
};

struct oci_params {
    const char *guid;
    const char *cgroup; /* path of the control group */
    const char *init;   /* program that becomes PID 1, on the host; without a program the shim */
    const char *mark;   /* value of MARK_VARIABLE; NULL: none */
    const char *given;  /* value of GIVEN_VARIABLE; NULL: none */
    const json_t *binds; /* mounts beside those that all have; NULL: none. Borrowed */
    struct user user;
    struct id_range ids; /* first 0: no user namespace */
    const char *dir;    /* of the container, absolute: its bind volumes are below it */
    const struct volume_plan *volumes;
    size_t volume_count;
    const json_t *seccomp; /* which system calls it may make (seccomp.h); NULL: all. Borrowed */
    struct oci_facts facts;
    const char *network; /* its directory, if it has a network of its own: what rep-network needs is
                          * there, and its resolv.conf and hosts; NULL: the host's network */
    const char *join;    /* path of the network namespace that it shares instead of getting one of
                          * its own; the user namespace stands in its directory. NULL: none */
    const char *network_program; /* rep-network */
    const char *address;         /* its own; NULL: the host's, or not known yet */
};

/* The "process" object: what runs, as whom, with which rights. `with_init`: behind the small PID 1,
 * or, without a path, that alone. A new reference; like the next, NULL or impossible to dump when a
 * word is not UTF-8. */
json_t *oci_process(const struct container_spec *spec, const struct oci_params *p, bool with_init);

/* The whole config.json of a container. A new reference. */
json_t *oci_config(const struct container_spec *spec, const struct oci_params *p);
