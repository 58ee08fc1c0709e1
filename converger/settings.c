/* The keeper of settings: those in force, for the keepers behind it, as the records say it. A
 * change calls for a full pass, for what waits for time may wait for another time now. Pure. */
#include "common/model/setting_record.h"
#include "converger/inside.h"

static void reset(void *state)
{
    ((struct kept *)state)->x->settings = SETTINGS_DEFAULT;
}

/* One that this version cannot read is ignored: the default is in force. */
static void change(void *state, const char *key, const struct followed *record)
{
    struct converger *x = ((struct kept *)state)->x;
    struct arena a;
    arena_init(&a);
    const char *name = key_component(&a, key, 1);
    const Board__SettingRecord *setting = message_of(&a, key, record);
    if (setting) {
        settings_take(&x->settings, setting);
    } else if (name) {
        settings_drop(&x->settings, name);
    }
    x->full_ns = 0;
    arena_done(&a);
}

const struct keeper settings_keeper = {
    .state_size = sizeof(struct kept), .reset = reset, .change = change};
