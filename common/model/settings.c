#include "common/model/settings.h"

#include "common/contract/moment.h"

#include <assert.h>
#include <string.h>

#define DURATION(n) ((n) * SECOND_NS)
#define COUNT(n) (n)
#define SETTING_ROW(name, field, type, least, most, preset, ...) .field = type(preset),
const struct settings SETTINGS_DEFAULT = {
#include "common/model/settings.def"
};

#define SETTING_ROW(named, at, kind, min, max, given, who, says)                                   \
    {.name = #named,                                                                               \
     .field = offsetof(struct settings, at),                                                       \
     .type = SETTING_##kind,                                                                       \
     .least = (min),                                                                               \
     .most = (max),                                                                                \
     .preset = (given),                                                                            \
     .readers = (who),                                                                             \
     .text = (says)},
const struct setting_row setting_rows[] = {
#include "common/model/settings.def"
};
const size_t setting_row_count = sizeof(setting_rows) / sizeof(setting_rows[0]);

const struct setting_row *setting_row_named(const char *name)
{
    for (size_t i = 0; i < setting_row_count; i++) {
        if (strcmp(setting_rows[i].name, name) == 0) {
            return &setting_rows[i];
        }
    }
    return NULL;
}

bool setting_allows(const struct setting_row *row, int64_t value)
{
    return value >= row->least && value <= row->most;
}

static int64_t unit(const struct setting_row *row)
{
    return row->type == SETTING_DURATION ? SECOND_NS : 1;
}

void settings_put(struct settings *s, const struct setting_row *row, int64_t value)
{
    assert(setting_allows(row, value));
    *(int64_t *)(void *)((char *)s + row->field) = value * unit(row);
}

int64_t settings_value(const struct settings *s, const struct setting_row *row)
{
    return *(const int64_t *)(const void *)((const char *)s + row->field) / unit(row);
}
