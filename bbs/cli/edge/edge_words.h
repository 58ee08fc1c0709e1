/* What people write on the command line about a centre and its sites. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

#include "board.pb-c.h"

/* "512M", "1.5G" in MiB, rounded up: K, M, G or T, with B or iB after it. `what` is the option that
 * an error names; ERR_INVALID. */
int edge_size_read(const char *what, const char *text, int32_t *ret_mb, struct err *err);

/* "48.85,2.35": latitude and longitude in degrees. Their bounds are the bbs's to check. */
int edge_location_read(const char *text, double *ret_latitude, double *ret_longitude,
                       struct err *err);

/* "KEY=VALUE" words as environment variables, in their order. ERR_INVALID: one is none. */
int edge_env_read(struct arena *a, const char *const *words,
                  Models__EnvironmentVariable ***ret_list, size_t *ret_count, struct err *err);

/* The words of --override, and what one of them means; NULL means none. */
#define EDGE_OVERRIDES "ignore-errors|ignore-crm|ignore-transient|ignore-crm-and-transient"
Board__EdgeOperation__Override edge_override_read(const char *word);
