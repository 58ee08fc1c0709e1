/* What records make of the settings in force, and how people read and write a value. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/model/settings.h"

#include "setting.pb-c.h"

/* Why this version ignores the record, so that the default is in force: a newer version wrote it.
 * NULL = it does not. */
const char *setting_ignored(const Board__SettingRecord *record);

/* The record's value, or the default, becomes the one in force. */
void settings_take(struct settings *s, const Board__SettingRecord *record);

/* The default of the row of this name, if there is one, is in force again. */
void settings_drop(struct settings *s, const char *name);

/* "90s", "16m", "24h", "7d", or "3" of a count. */
const char *setting_text(struct arena *a, const struct setting_row *row, int64_t value);

/* Reads what setting_text() gives, and a duration without a unit as seconds. False: it is none. */
bool setting_read(const struct setting_row *row, const char *text, int64_t *ret_value);

/* "crash_first_wait is 1s to 1h, not 2h" */
const char *setting_refusal(struct arena *a, const struct setting_row *row, const char *value);

/* "there is no setting \"crash_wait\"; did you mean \"crash_limit\"?", or all names. */
const char *setting_unknown(struct arena *a, const char *name);
