/* Versions as semver.org has them, and ranges of them (docs/systems.md, Definitions). A "v" may
 * lead. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a tag is a version: MAJOR.MINOR.PATCH, with -PRERELEASE and +BUILD behind. */
bool semver_is_valid(const char *text);

/* Below, at or above 0; of valid versions alone. BUILD does not count; where only that, or the "v",
 * differs, the bytes of the texts decide, so that the order is the same everywhere. */
int semver_compare(const char *one, const char *other);

/* Sorts versions ascending. */
void semver_sort(const char **versions, size_t count);

/* Whether a text is a range: comparators with spaces between that must all hold, and "||" between
 * alternatives. A comparator is =, ==, !=, !, >, >=, <, <=, ^ or ~ and a version, whose last
 * numbers may be left out or "x": 1.2.x, 1.2, 1, *, ^1.2.3 (below 2.0.0), ~1.2.3 (below 1.3.0). */
bool semver_range_is_valid(const char *range);

/* Whether a valid version is in a valid range. A prerelease is only in one that names a prerelease.
 */
bool semver_in_range(const char *version, const char *range);

/* The highest of the texts that is a version and in the range; NULL = none is. */
const char *semver_highest(const char *const *tags, size_t count, const char *range);
