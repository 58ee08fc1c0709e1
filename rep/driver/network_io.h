/* The cell's own network (design.md 7, Network): whether containers have one, and what each is to
 * get. What is done to the machine is done by the program rep-network. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "rep/driver/subnet.h"

#include <jansson.h>
#include <stdbool.h>

struct container_spec;
struct driver;

#define NETWORK_SUBNET "10.254.0.0/22"
#define NETWORK_PLUGINS "/usr/lib/cni:/opt/cni/bin"

/* Strings are copied. */
struct driver_network_config {
    bool own;             /* containers have namespaces of their own; else the host's network */
    const char *program;  /* rep-network; NULL = beside the running program */
    const char *subnet;   /* NULL = NETWORK_SUBNET */
    const char *config;   /* a file with a list of plugins, which then choose the addresses */
    const char *plugins;  /* directories; NULL = NETWORK_PLUGINS */
    const char *const *dns;   /* servers; NULL or none: the machine's own */
    const char *const *hosts; /* "NAME=ADDRESS" */
};

struct driver_network {
    struct arena arena; /* its words */
    bool own;
    const char *program, *table, *plugins;
    const char *subnet_text; /* NULL: plugins choose the addresses */
    struct subnet subnet;
    char leases[128];
    uint32_t cursor;
    json_t *list; /* NULL: cni_list() */
    const char *resolv;  /* text of resolv.conf */
    const char *const *servers, *const *hosts;
    unsigned group; /* of the kernel's log */
    bool no_resolver;
};

/* Reads what there is to be read. -code with err. */
int network_init(struct driver *d, const struct driver_network_config *config, struct err *err);
void network_done(struct driver_network *n);

/* Writes the plan and the files of a container into its directory, and takes an address, which is
 * "" where a plugin chooses it. -code with err; what was taken goes when the directory does. */
int network_prepare(struct driver *d, const char *guid, const char *dir,
                    const struct container_spec *spec, char ret_address[ADDRESS_TEXT_BYTES],
                    struct err *err);

/* The same for a container that shares the network of another one: it has copies of that one's
 * files, and its address. */
int network_join(struct driver *d, const char *guid, const char *dir, const char *join,
                 char ret_address[ADDRESS_TEXT_BYTES], struct err *err);

/* The guid of the container whose network this one shares, malloced; NULL: it shares none. */
char *network_join_read(const char *dir);

/* After a restart of the machine: nobody else gets the address of a container before that is
 * removed, for it goes from the packet filter with it. */
void network_keep(struct driver *d, const char *guid);

/* The path of a bound network namespace of this container: of the one that it joins if it has
 * joined, malloced; NULL: it joins none. -ERR_NOT_FOUND with err when that network is not there. */
int network_joined(struct driver *d, const char *dir, char **ret_space, struct err *err);

/* Tries all of it in a trial namespace, in a driver's state directory. Blocks for some 100 ms, at
 * most half a minute: call it before the loop runs. -code with err: why it does not work here. */
int network_probe(const struct driver_network_config *config, const char *state_dir,
                  struct err *err);

/* Makes the cell's table, and takes back what is there of nobody; blocks as the probe. -code with
 * err. Then, each NETWORK_SWEEP_MS, the latter again, beside the loop. */
enum { NETWORK_SWEEP_MS = 10 * 60 * 1000 };
int network_begin(struct driver *d, struct err *err);
void network_sweep_soon(struct driver *d);

/* Deletes the cell's table, if it ever had one; blocks as the probe. -code with err. */
int network_drop(struct driver *d, struct err *err);
