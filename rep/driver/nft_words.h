/* What the packet filter is told, as nft(8) reads it: texts, each of which is one transaction.
 * Pure; who says them is rep/network.
 *
 * A cell has one table of its own, "corkboard-<hash>". In it stand:
 *   ports      a map: host port to the container's address and port
 *   egress     a verdict map: address of a container to its chain
 *   addresses  a set: all addresses of containers of this cell
 *   i-<guid>   a chain a container: its egress rules, then a refusal
 * and four chains at the kernel's hooks. Egress is judged before a destination is translated, hence
 * by what the container asked for, whether that is another machine, this one or a container. Who
 * asks is told by the address, so what comes over a container's link with an address that is not
 * the container's own is dropped before: programs there may write the headers of their packets
 * themselves. So is IPv6, which the kernel speaks on each link, and which no rule of egress is
 * about. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/contract/driver.h"

/* The group of the interfaces at the machine's end of containers' links (rtnetlink, IFLA_GROUP). */
enum { NFT_LINK_GROUP = 25451 };

/* The table and its hooks, made anew where they are there; what stands for containers stays.
 * `subnet`: of the cell's own network ("10.254.0.0/22"), whose traffic leaves under the machine's
 * address; NULL: the network's plugins see to that. */
void nft_base(const char *table, const char *subnet, struct buf *out);

/* The table with all that is in it. Also when it is not there. */
void nft_drop(const char *table, struct buf *out);

/* The egress rules of one container, a line each without the chain's name: nft_attach() puts it
 * before. What goes to one of the resolvers, port 53, comes first; `group` is of the kernel's log.
 * -ERR_INVALID or -ERR_TOO_LARGE with err when a rule cannot be obeyed. */
int nft_egress(const struct container_spec *spec, const char *guid,
               const char *const *resolvers, unsigned group, struct buf *out, struct err *err);

/* Of a container in the filter. */
struct nft_container {
    const char *table;
    const char *guid;
    const char *address;
    const struct port_pair *ports; /* those that the filter shall translate */
    size_t port_count;
    const char *egress;            /* of nft_egress(); for nft_attach() */
};

/* All of it, or nothing: one transaction each. nft_detach() does not mind what is not there. */
void nft_attach(const struct nft_container *c, struct buf *out);
void nft_detach(const struct nft_container *c, struct buf *out);
