#include "common/model/setting_record.h"

#include "common/codec/nearest.h"

#include <stdlib.h>
#include <string.h>

const char *setting_ignored(const Board__SettingRecord *record)
{
    const struct setting_row *row = setting_row_named(record->name);
    return !row                                  ? "this version does not know it"
           : !setting_allows(row, record->value) ? "out of the range of this version"
                                                 : NULL;
}

void settings_take(struct settings *s, const Board__SettingRecord *record)
{
    if (setting_ignored(record)) {
        settings_drop(s, record->name);
    } else {
        settings_put(s, setting_row_named(record->name), record->value);
    }
}

void settings_drop(struct settings *s, const char *name)
{
    const struct setting_row *row = setting_row_named(name);
    if (row) {
        settings_put(s, row, row->preset);
    }
}

/* ---- Values for people ----------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t s;
} units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

const char *setting_text(struct arena *a, const struct setting_row *row, int64_t value)
{
    if (row->type == SETTING_COUNT) {
        return arena_printf(a, "%lld", (long long)value);
    }
    size_t i = 0;
    while (i < UNITS - 1 && (value % units[i].s != 0 || value == 0)) {
        i++;
    }
    return arena_printf(a, "%lld%s", (long long)(value / units[i].s), units[i].name);
}

bool setting_read(const struct setting_row *row, const char *text, int64_t *ret_value)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 12) {
        return false;
    }
    *ret_value = strtoll(text, NULL, 10);
    if (!text[digits]) {
        return true;
    }
    for (size_t i = 0; row->type == SETTING_DURATION && i < UNITS; i++) {
        if (strcmp(text + digits, units[i].name) == 0) {
            *ret_value *= units[i].s;
            return true;
        }
    }
    return false;
}

const char *setting_refusal(struct arena *a, const struct setting_row *row, const char *value)
{
    return arena_printf(a, "%s is %s to %s, not %.40s", row->name,
                        setting_text(a, row, row->least), setting_text(a, row, row->most), value);
}

const char *setting_unknown(struct arena *a, const char *name)
{
    struct nearest n;
    const char *all = "";
    nearest_begin(&n, name);
    for (size_t i = 0; i < setting_row_count; i++) {
        nearest_consider(&n, setting_rows[i].name);
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", setting_rows[i].name);
    }
    return n.best ? arena_printf(a, "there is no setting \"%.60s\"; did you mean \"%s\"?", name,
                                 n.best)
                  : arena_printf(a, "there is no setting \"%.60s\"; there are %s", name, all);
}
