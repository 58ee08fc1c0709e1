/* What network plugins are told and what they say (CNI specification 0.4.0): JSON. Pure; who runs
 * them is rep/network. */
#pragma once

#include "common/base/err.h"
#include "common/contract/driver.h"
#include "rep/driver/subnet.h"

#include <jansson.h>

/* Most plugins in a list. */
enum { CNI_PLUGINS_MAX = 16 };

/* The cell's own network: a pair of interfaces a container (plugin "ptp"), which gets this address.
 * A list of plugins, as in a .conflist; a new reference. */
json_t *cni_list(const struct subnet *s, const char *address);

/* Looks through somebody else's list, or single plugin, which becomes a list. A new reference; NULL
 * with err. */
json_t *cni_read(const char *text, struct err *err);

/* Whether a plugin of the list translates ports itself (capability portMappings). */
bool cni_maps_ports(const json_t *list);

size_t cni_count(const json_t *list); /* plugins in it */

/* The program of a plugin; "" when it is none that may be looked for in a directory. */
const char *cni_program(const json_t *list, size_t plugin);

/* What a plugin gets on its standard input: its part of the list, what the one before said (NULL:
 * nothing yet), and the ports if it translates some. A new reference. */
json_t *cni_input(const json_t *list, size_t plugin, json_t *before, const struct port_pair *ports,
                  size_t port_count);

/* The container's first IPv4 address, without its prefix; false: there is none. */
bool cni_address(const json_t *result, char out[ADDRESS_TEXT_BYTES]);

/* Its interfaces on the machine's side: the n-th, or NULL when there are no more. */
const char *cni_host_interface(const json_t *result, size_t n);

/* Why a plugin failed, by what it wrote: its message and details, or the beginning of that. One
 * line, in `out`. */
void cni_failure(const char *said, char *out, size_t size);
