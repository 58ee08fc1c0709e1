/* What people write on the command line about units. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

#include "board.pb-c.h"

#include <stdbool.h>

/* "web:db" and "web" as an end of a relation; no endpoint: "". Gives a message in the arena. */
Board__UnitEnd *unit_end_read(struct arena *a, const char *text);

/* "KEY=VALUE" words as settings, in the order of their keys. ERR_INVALID: one is none, or a key
 * stands twice. */
int unit_settings_read(struct arena *a, const char *const *words, size_t count,
                       Board__UnitSetting ***ret_settings, struct err *err);

/* The number of a machine; ERR_INVALID. */
int machine_number_read(const char *text, uint32_t *ret_number, struct err *err);

/* After several ends were asked for and some failed: "some were destroyed, 1 of 3 was not", or
 * "none were destroyed". */
const char *units_destroyed_text(struct arena *a, size_t asked, size_t failed);

/* Whether the name stands in the text, as a word. */
bool unit_text_names(const char *text, const char *name);
