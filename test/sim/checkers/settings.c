/* Settings: what is in force, for all checkers, as the board says it. No value is out of its range,
 * and no time falls. That operators alone set them is in their table (moves.c). */
#include "common/model/setting_record.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const Board__SettingRecord *setting_of(const struct past *p)
{
    return p && p->message ? (const Board__SettingRecord *)p->message : NULL;
}

static void take(void *context, const struct past *p)
{
    settings_take(context, setting_of(p));
}

/* A story may have a newer version write what this one ignores: nobody of ours makes that. */
static void check_setting(struct checkers *k, const struct past *p)
{
    const Board__SettingRecord *was = setting_of(p->before), *is = setting_of(p);
    if (is && p->cause && setting_ignored(is)) {
        checkers_report(k, "settings", "%s is %lld: %s", p->key, (long long)is->value,
                        setting_ignored(is));
    }
    if (was && is && is->set_at < was->set_at) {
        checkers_report(k, "settings", "%s: its time falls", p->key);
    }
}

/* After the others: what is committed together rests on what stood before. A board that was
 * restored is another one, whether a setting changes or not. */
void check_settings(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    struct settings was = k->settings;
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i]->type == RECORD_SETTING) {
            check_setting(k, p->list[i]);
        }
    }
    k->settings = SETTINGS_DEFAULT;
    history_each(&k->history, "setting/", take, &k->settings);
    if (memcmp(&was, &k->settings, sizeof(was)) != 0) {
        k->settings_ns = world_now(k->cluster->world);
    }
}
