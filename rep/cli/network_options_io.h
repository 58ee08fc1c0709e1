/* The options of a cell's network, and which one it takes. */
#pragma once

#include "common/cli/options.h"
#include "rep/driver/driver_io.h"

extern const struct cli_option rep_network_options[];

/* What was chosen, for people: the network, and why not the other one. */
struct network_choice {
    bool own;
    bool advertise_instance;
    const char *text; /* in the invocation's arena */
};

/* Reads the options into `config`, whose other members are set, and with "auto" and "cni" tries
 * whether a network of its own works here, which takes some 100 ms. -code with err: a wrong option,
 * or "cni" was asked for and does not work. */
int network_from(const struct invocation *call, struct driver_config *config,
                 struct network_choice *ret_choice, struct err *err);
