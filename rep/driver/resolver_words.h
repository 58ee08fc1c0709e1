/* What containers with a network of their own are told of names: resolv.conf and hosts. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include <stdbool.h>

/* The lines for their resolv.conf: with `dns` those servers, else the machine's own text without
 * servers at a loopback address, which nobody in a container reaches. The servers, in the arena,
 * NULL-terminated; those of IPv6 stand in the text only. */
void resolver_words(struct arena *a, const char *machine, const char *const *dns, struct buf *out,
                    const char *const **ret_servers);

/* The lines for hosts: loopback, what `hosts` says ("NAME=ADDRESS" each), and the container's own;
 * `address` NULL: that comes later. */
void hosts_words(const char *const *hosts, const char *address, const char *guid, struct buf *out);

/* Whether it is "NAME=ADDRESS". */
bool host_valid(const char *words);

/* Whether it is an address, of either family. */
bool address_valid(const char *text);
