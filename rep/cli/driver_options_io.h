/* The container driver's part of `rep serve` and `rep destroy`. */
#pragma once

#include "common/cli/options.h"
#include "rep/driver/driver_io.h"

/* Fills kind, shim and runtime from the options; `state_dir` is the open directory's path. */
int driver_config_from(const struct invocation *call, const char *state_dir,
                       struct driver_config *ret_config, struct err *err);

/* How files and images come to containers, by the options of `rep serve`; texts are the call's. */
int driver_files_from(const struct invocation *call, struct driver_files *ret_files,
                      struct err *err);

/* Of a driver of this kind, whose state is in `state_dir`. */
int driver_images_from(const struct invocation *call, enum driver_kind kind, const char *state_dir,
                       struct driver_image_config *ret_images, struct err *err);
