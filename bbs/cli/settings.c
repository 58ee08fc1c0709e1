#include "bbs/cli/settings.h"

#include "bbs/cli/record_text.h"
#include "common/cli/table.h"
#include "common/model/setting_record.h"

#include <string.h>

/* As the bbs tells it, which may be of another version: its unit says how a value is written. */
static struct setting_row row_of(const Board__Setting *s)
{
    return (struct setting_row){.name = s->name,
                                .type = *s->unit ? SETTING_DURATION : SETTING_COUNT,
                                .least = s->least,
                                .most = s->most,
                                .preset = s->default_value};
}

static const char *value_text(struct arena *a, const Board__Setting *s, int64_t value)
{
    const struct setting_row row = row_of(s);
    return setting_text(a, &row, value);
}

static bool known(const Board__Setting *s)
{
    return *s->read_by != 0;
}

static const char *range_text(struct arena *a, const Board__Setting *s)
{
    return arena_printf(a, "%s to %s", value_text(a, s, s->least), value_text(a, s, s->most));
}

/* "3m ago by operator"; what was set and is not in force says why. */
static const char *set_text(struct arena *a, const Board__Setting *s, int64_t now_ns)
{
    if (!s->is_set) {
        return "-";
    }
    const char *age = age_text(a, now_ns - s->set_at);
    return arena_printf(a, "%s ago by %s%s%s", age, *s->set_by ? s->set_by : "?",
                        *s->ignored ? "; ignored: " : "", s->ignored);
}

void settings_table(struct arena *a, Board__Setting *const *list, size_t count, int64_t now_ns,
                    struct buf *out)
{
    struct table t;
    table_init(&t, a, 6,
               (const char *[]){"NAME", "VALUE", "DEFAULT", "RANGE", "READ BY", "SET"});
    for (size_t i = 0; i < count; i++) {
        const Board__Setting *s = list[i];
        bool is = known(s);
        table_add(&t, (const char *[]){s->name, is ? value_text(a, s, s->value) : NULL,
                                       is ? value_text(a, s, s->default_value) : NULL,
                                       is ? range_text(a, s) : NULL, is ? s->read_by : NULL,
                                       set_text(a, s, now_ns)});
    }
    table_print(&t, out);
}

void setting_show(struct arena *a, const Board__Setting *s, int64_t now_ns, struct buf *out)
{
    if (known(s)) {
        buf_printf(out, "%s: %s\n", s->name, s->text);
        buf_printf(out, "  in force: %s\n  default:  %s\n  range:    %s\n  read by:  %s\n",
                   value_text(a, s, s->value), value_text(a, s, s->default_value),
                   range_text(a, s), s->read_by);
    } else {
        buf_printf(out, "%s\n", s->name);
    }
    buf_printf(out, "  set:      %s\n", s->is_set ? set_text(a, s, now_ns) : "no");
}

int setting_named(const Board__SettingsResponse *all, const char *name, const char *verb,
                  const Board__Setting **ret_setting, struct err *err)
{
    for (size_t i = 0; i < all->n_settings; i++) {
        if (strcmp(all->settings[i]->name, name) == 0) {
            *ret_setting = all->settings[i];
            return 0;
        }
    }
    struct arena a;
    arena_init(&a);
    int r = verb ? err_set(err, ERR_NOT_FOUND,
                           "there is no setting \"%.60s\"; did you mean \"bbs settings %.40s\"?",
                           name, verb)
                 : err_set(err, ERR_NOT_FOUND, "%s", setting_unknown(&a, name));
    arena_done(&a);
    return r;
}

int setting_value_read(const Board__Setting *setting, const char *text, int64_t *ret_value,
                       struct err *err)
{
    const struct setting_row row = row_of(setting);
    if (setting_read(&row, text, ret_value)) {
        return 0;
    }
    struct arena a;
    arena_init(&a);
    int r = err_set(err, ERR_INVALID, "%s", setting_refusal(&a, &row, text));
    arena_done(&a);
    return r;
}

void settings_of(const Board__SettingsResponse *all, struct settings *ret)
{
    *ret = SETTINGS_DEFAULT;
    for (size_t i = 0; i < all->n_settings; i++) {
        const struct setting_row *row = setting_row_named(all->settings[i]->name);
        if (row && setting_allows(row, all->settings[i]->value)) {
            settings_put(ret, row, all->settings[i]->value);
        }
    }
}

const char *setting_sentence(struct arena *a, const Board__Setting *setting, int64_t value)
{
    return arena_printf(a, "%s is %s", setting->name, value_text(a, setting, value));
}

const char *record_text_setting(struct arena *a, const ProtobufCMessage *m)
{
    const Board__SettingRecord *r = (const Board__SettingRecord *)m;
    const struct setting_row *row = setting_row_named(r->name);
    return row ? arena_printf(a, "%s by %s", setting_text(a, row, r->value), r->set_by)
               : arena_printf(a, "%lld by %s", (long long)r->value, r->set_by);
}
