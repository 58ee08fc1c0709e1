/* The container driver's part of `rep serve` and `rep destroy`. */
#pragma once

#include "common/cli/options.h"
#include "rep/driver/driver_io.h"

/* Fills kind, shim and runtime from the options; `state_dir` is the open directory's path. */
int driver_config_from(const struct invocation *call, const char *state_dir,
                       struct driver_config *ret_config, struct err *err);
