/* Lists of settings: what a unit tells the others of a relation, and what a unit service is
 * configured with. They are in byte order of their keys, each of them once. Their bounds are those
 * of common/charmfile/charm.h. Pure. */
#pragma once

#include "common/base/arena.h"

#include "units.pb-c.h"

#include <stddef.h>

/* Where a unit is reached, which its rep tells in each relation, unless a hook of it does. */
#define UNIT_SETTING_ADDRESS "private-address"
#define UNIT_SETTING_PORT "port" /* on the cell, of the first port of its charm */

/* Keys and values together. */
size_t unit_settings_bytes(Board__UnitSetting *const *list, size_t count);

/* The value of the key; NULL = it is not there. */
const char *unit_setting(Board__UnitSetting *const *list, size_t count, const char *key);

/* The list with the key set, or taken away ("" or NULL). Shares what did not change; *ret_list may
 * have one more than before. Gives the count. */
size_t unit_setting_put(struct arena *a, Board__UnitSetting *const *list, size_t count,
                        const char *key, const char *value, Board__UnitSetting ***ret_list);
