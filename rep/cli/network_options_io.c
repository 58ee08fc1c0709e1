#include "rep/cli/network_options_io.h"

#include "common/base/arena.h"
#include "rep/driver/resolver_words.h"
#include "rep/driver/subnet.h"

#include <string.h>

const struct cli_option rep_network_options[] = {
    {.name = "network",
     .value = "auto|cni|host",
     .help = "containers have a network of their own (cni), or the machine's (host); auto: the "
             "former where it works",
     .fallback = "auto"},
    {.name = "subnet",
     .value = "BLOCK",
     .help = "addresses of containers, of all cells of the machine",
     .fallback = NETWORK_SUBNET},
    {.name = "cni-config",
     .value = "FILE",
     .help = "a list of network plugins (a .conflist) instead of the cell's own network"},
    {.name = "cni-plugins",
     .value = "DIRS",
     .help = "where the plugins are",
     .fallback = NETWORK_PLUGINS},
    {.name = "dns",
     .value = "IP",
     .help = "name server of containers; by default the machine's own",
     .repeated = true},
    {.name = "host",
     .value = "NAME=IP",
     .help = "one more name in the hosts file of containers",
     .repeated = true},
    {.name = "advertise",
     .value = "host|instance",
     .help = "the address that routers prefer: the cell's, or the container's own",
     .fallback = "host"},
    {0},
};

/* Each must read as an address, and as a name with one. */
static int check(const struct invocation *call, const struct driver_network_config *n,
                 struct err *err)
{
    struct subnet unused;
    for (const char *const *d = n->dns; *d; d++) {
        if (!address_valid(*d)) {
            return err_set(err, ERR_INVALID, "--dns must be an address, not \"%.60s\"", *d);
        }
    }
    for (const char *const *h = n->hosts; *h; h++) {
        if (!host_valid(*h)) {
            return err_set(err, ERR_INVALID, "--host must be NAME=IP, not \"%.60s\"", *h);
        }
    }
    return subnet_parse(cli_text(call, "subnet"), &unused, err);
}

static int choose(const struct invocation *call, struct driver_config *config, const char *asked,
                  struct network_choice *choice, struct err *err)
{
    struct err why;
    if (strcmp(asked, "host") == 0) {
        choice->text = "host, as asked";
        return 0;
    }
    int r = network_probe(&config->network, config->state_dir, &why);
    if (r < 0 && strcmp(asked, "cni") == 0) {
        return err_set(err, why.code, "--network cni does not work here: %s", why.text);
    }
    choice->own = config->network.own = r == 0;
    choice->text = r < 0 ? arena_printf(call->arena, "host, for cni does not work: %s", why.text)
                         : config->network.config
                               ? arena_printf(call->arena, "cni, by %s", config->network.config)
                               : arena_printf(call->arena, "cni, %s", config->network.subnet);
    return 0;
}

int network_from(const struct invocation *call, struct driver_config *config,
                 struct network_choice *ret_choice, struct err *err)
{
    const char *asked = "host", *advertise = "host";
    struct driver_network_config *n = &config->network;
    *ret_choice = (struct network_choice){0};
    n->subnet = cli_text(call, "subnet");
    n->config = cli_text(call, "cni-config");
    n->plugins = cli_text(call, "cni-plugins");
    n->dns = cli_list(call, "dns");
    n->hosts = cli_list(call, "host");
    int r = cli_choice(call, "network", &asked, err);
    r = r < 0 ? r : cli_choice(call, "advertise", &advertise, err);
    r = r < 0 ? r : check(call, n, err);
    ret_choice->advertise_instance = strcmp(advertise, "instance") == 0;
    if (r == 0 && config->kind == DRIVER_PROCESS) {
        ret_choice->text = "host: plain processes have no other";
        return strcmp(asked, "cni") == 0
                   ? err_set(err, ERR_INVALID, "--network cni needs --driver oci")
                   : 0;
    }
    return r < 0 ? r : choose(call, config, asked, ret_choice, err);
}
