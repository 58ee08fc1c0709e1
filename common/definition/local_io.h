/* Files of a definition on this machine's disk: those beside the definition, and below. */
#pragma once

#include "common/definition/definition.h"

/* A table for definition_check(), in the arena: references are read relative to the directory of
 * `file`, and lead out of it to nowhere. "-" is standard input. */
struct definition_files definition_local_files(struct arena *a, const char *file);
