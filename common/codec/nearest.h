/* The known word that somebody probably meant. */
#pragma once

#include <stddef.h>

/* Looks for the word nearest to a mistyped one: the fewest letters changed, dropped, added or
 * swapped with their neighbour, at most a third of its letters and always one, or its beginning,
 * without regard to case; the first of equals. */
struct nearest {
    const char *word; /* mistyped */
    const char *best; /* NULL = none is near enough */
    size_t distance;
};

/* `word` is borrowed until the end of the search. */
void nearest_begin(struct nearest *n, const char *word);

/* Considers `known`, which must outlive the search. NULL is ignored. */
void nearest_consider(struct nearest *n, const char *known);
