/* The settings in force, from the records of the board: for decisions, and for people. */
#include "bbs/setting/setting.h"


/* More records than any version has settings. */
enum { SETTINGS_MAX = 1000 };

const struct settings *settings_read(struct view *v)
{
    const struct seen *list;
    int count = view_range(v, "setting/", SETTINGS_MAX, &list);
    if (count <= 0) {
        return &SETTINGS_DEFAULT;
    }
    struct settings *s = ARENA_NEW(view_arena(v), struct settings);
    *s = SETTINGS_DEFAULT;
    for (int i = 0; i < count; i++) {
        settings_take(s, (const Board__SettingRecord *)list[i].message);
    }
    return s;
}

static Board__Setting *new_setting(struct arena *a, const char *name)
{
    Board__Setting *s = ARENA_NEW(a, Board__Setting);
    board__setting__init(s);
    s->name = arena_strdup(a, name);
    return s;
}

static Board__Setting *of_row(struct arena *a, const struct setting_row *row)
{
    Board__Setting *s = new_setting(a, row->name);
    s->value = s->default_value = row->preset;
    s->least = row->least;
    s->most = row->most;
    s->unit = arena_strdup(a, row->type == SETTING_DURATION ? "s" : "");
    s->read_by = arena_strdup(a, row->readers);
    s->text = arena_strdup(a, row->text);
    return s;
}

static void add_record(struct arena *a, const Board__SettingRecord *record, Board__Setting *s)
{
    const char *ignored = setting_ignored(record);
    s->value = ignored ? s->value : record->value;
    s->is_set = true;
    s->set_at = record->set_at;
    s->set_by = record->set_by;
    s->ignored = arena_strdup(a, ignored ? ignored : "");
}

size_t settings_list(struct view *v, Board__Setting ***ret_list)
{
    struct arena *a = view_arena(v);
    const struct seen *records;
    int count = view_peek_range(v, "setting/", SETTINGS_MAX, &records);
    size_t n = setting_row_count;
    Board__Setting **list = ARENA_ARRAY(a, n + (size_t)(count > 0 ? count : 0), Board__Setting *);
    for (size_t i = 0; i < setting_row_count; i++) {
        list[i] = of_row(a, &setting_rows[i]);
    }
    for (int i = 0; i < count; i++) {
        const Board__SettingRecord *r = (const Board__SettingRecord *)records[i].message;
        const struct setting_row *row = setting_row_named(r->name);
        Board__Setting *s = row ? list[row - setting_rows] : (list[n++] = new_setting(a, r->name));
        add_record(a, r, s);
    }
    *ret_list = list;
    return n;
}
