/* What is to be done for the network of one container: the file "network.json" in its directory,
 * written before it is made and followed by rep/network, which needs nothing else. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/contract/driver.h"

#include <jansson.h>

#define NETWORK_PLAN_FILE "network.json"
#define NETWORK_ADDRESS_FILE "address"  /* the container's own address, once it is known */
#define NETWORK_RESULT_FILE "network.result" /* what the plugins said */
#define NETWORK_NAMESPACE_FILE "netns"  /* the namespace, bound there while the container is */
#define NETWORK_HOSTS_FILE "hosts"
#define NETWORK_RESOLV_FILE "resolv.conf"
/* Of a container that shares another's network: the guid of that one. */
#define NETWORK_JOIN_FILE "join"
/* Then, where the runtime sees the user namespace of that network. */
#define NETWORK_USERS_FILE "userns"

struct network_plan {
    const char *table; /* of the cell in the packet filter (nft_words.h) */
    const char *guid;
    const char *id;    /* for plugins and leases: "<table>-<guid>" */
    const char *path;  /* directories of plugins, as in PATH */
    json_t *list;      /* the plugins (cni_words.h) */
    const char *address; /* NULL: a plugin chooses it */
    const char *lease;   /* the file that keeps the address its own; NULL: none */
    const struct port_pair *ports; /* without those whose host port is 0 */
    size_t port_count;
    const char *egress;  /* of nft_egress() */
};

/* "<table>-<guid>" in the arena. */
const char *network_id(struct arena *a, const char *table, const char *guid);

/* A new reference. */
json_t *network_plan_pack(const struct network_plan *plan);

/* Strings are in the arena, the list is borrowed from `read`. -ERR_INVALID with err. */
int network_plan_read(struct arena *a, const json_t *read, struct network_plan *ret,
                      struct err *err);
