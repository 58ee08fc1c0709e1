/* Percent-escapes, and the query of a path: "name=value&name=value". Pure. */
#pragma once

#include "common/base/arena.h"

/* The text with its escapes ("%2F") undone, in the arena. What is no escape, and that of NUL,
 * stands for itself. */
char *percent_decoded(struct arena *a, const char *text, size_t size);

/* The text as part of a path or of a query, in the arena: all but unreserved bytes are escaped. */
char *percent_encoded(struct arena *a, const char *text);

/* The first value of a name, with its escapes undone ("+" is a space), in the arena; NULL when it
 * is not there. */
const char *query_value(struct arena *a, const char *query, const char *name);
