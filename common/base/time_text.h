/* Times and durations as people write them. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WALL_TEXT_BYTES = 80 };

/* "2026-01-02T03:04:05.678Z": nanoseconds since 1970 as `text`, which is also what is given. */
const char *wall_text(int64_t wall_ns, char text[WALL_TEXT_BYTES]);

/* "2026-01-02T03:04:05Z", with decimals of the second or without: nanoseconds since 1970. Years
 * 1970 to 2261. False: it is none, and *ret_ns stays untouched; so for the next. */
bool wall_parse(const char *text, int64_t *ret_ns);

/* "10m", "1h30m", "90s", "250ms", "2d", "90" (seconds): numbers with units, of which each is
 * smaller than the one before; at most ten years. */
bool duration_parse(const char *text, int64_t *ret_ns);
