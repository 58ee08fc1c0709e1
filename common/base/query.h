/* The query of a path: "name=value&name=value". Pure. */
#ifndef COMMON_BASE_QUERY_H
#define COMMON_BASE_QUERY_H

#include "common/base/arena.h"

/* The first value of a name, with its escapes undone, in the arena; NULL when it is not there. */
const char *query_value(struct arena *a, const char *query, const char *name);

#endif
