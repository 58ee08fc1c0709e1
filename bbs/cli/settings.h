/* What the bbs command line shows of settings. Pure: messages in, text out. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/model/settings.h"

#include "setting.pb-c.h"

/* The table of `bbs settings`: what is in force, beside default and range, and since when. */
void settings_table(struct arena *a, Board__Setting *const *list, size_t count, int64_t now_ns,
                    struct buf *out);

/* `bbs settings NAME`: all of one. */
void setting_show(struct arena *a, const Board__Setting *setting, int64_t now_ns, struct buf *out);

/* The one of this name; ERR_NOT_FOUND with the nearest, or with all. `verb`: of the group, that may
 * have been meant; NULL = none. */
int setting_named(const Board__SettingsResponse *all, const char *name, const char *verb,
                  const Board__Setting **ret_setting, struct err *err);

/* "90s" or "3" as the value of this setting; the range is the bbs's to judge. ERR_INVALID. */
int setting_value_read(const Board__Setting *setting, const char *text, int64_t *ret_value,
                       struct err *err);

/* Those in force, as a bbs tells them; what this version does not know is left out. */
void settings_of(const Board__SettingsResponse *all, struct settings *ret);

/* "crash_first_wait is 5s" */
const char *setting_sentence(struct arena *a, const Board__Setting *setting, int64_t value);
