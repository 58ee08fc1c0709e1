#include "bbs/setting/setting.h"

#include "common/lifecycle/setting.h"

#include <assert.h>

/* ---- What is asked --------------------------------------------------------------------------- */

static const Board__SetSettingRequest *asked_set(const struct op_input *in)
{
    return (const Board__SetSettingRequest *)in->request;
}

static const char *set_target(struct arena *a, const struct op_input *in)
{
    return key_setting(a, asked_set(in)->name);
}

static const char *unset_target(struct arena *a, const struct op_input *in)
{
    return key_setting(a, ((const Board__UnsetSettingRequest *)in->request)->name);
}

void valid_set_setting(struct validation *v, const Board__SetSettingRequest *request)
{
    const struct setting_row *row = setting_row_named(request->name);
    struct arena a;
    arena_init(&a);
    if (!row) {
        say(v, setting_unknown(&a, request->name));
    } else if (!setting_allows(row, request->value)) {
        say(v, setting_refusal(&a, row, setting_text(&a, row, request->value)));
    }
    arena_done(&a);
}

void valid_unset_setting(struct validation *v, const Board__UnsetSettingRequest *request)
{
    if (!request->name[0]) {
        say_field(v, "name");
    }
    check_length(v, request->name, NAME_CHARACTERS_MAX);
}

/* ---- What is decided ------------------------------------------------------------------------- */

static void gather(struct view *v, const char *key, struct setting_snapshot *s)
{
    s->record = view_message(v, key);
}

static void set_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    gather(v, set_target(view_arena(v), in), snapshot);
}

static void unset_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    gather(v, unset_target(view_arena(v), in), snapshot);
}

static int led_to(const struct setting_snapshot *s, const struct op_input *in, int trigger)
{
    return lifecycle_transition(&setting_lifecycle, s->record ? SETTING_SET : SETTING_NONE,
                                in->actor, trigger, SETTING_IF_ALLOWED);
}

/* 1. It has this value: nothing, who set it and when stay.
 * 2. The value is set by the caller now; the time never falls. */
static void set_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct setting_snapshot *s = snapshot;
    if (s->record && s->record->value == asked_set(in)->value) { /* 1 */
        return;
    }
    int to = led_to(s, in, SETTING_TRIGGER_SET);
    assert(to == SETTING_SET); /* the route lets nobody else, and no other value, so far */
    (void)to;
    Board__SettingRecord *after = ARENA_NEW(p->arena, Board__SettingRecord); /* 2 */
    board__setting_record__init(after);
    after->name = asked_set(in)->name;
    after->value = asked_set(in)->value;
    after->set_at = in->now.wall_ns;
    if (s->record && s->record->set_at > after->set_at) {
        after->set_at = s->record->set_at;
    }
    after->set_by = arena_strdup(p->arena, in->peer_name);
    plan_put(p, key_setting(p->arena, after->name), "set", in->actor, &after->base);
}

/* 1. Nobody has set it: nothing.
 * 2. The record goes. */
static void unset_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct setting_snapshot *s = snapshot;
    if (s->record && led_to(s, in, SETTING_TRIGGER_UNSET) == SETTING_NONE) { /* 2; otherwise 1 */
        plan_delete(p, unset_target(p->arena, in), "unset", in->actor);
    }
}

const struct op_row set_setting_row = {
    .name = "set setting",
    .target = set_target,
    .gather = set_gather,
    .decide = set_decide,
    .snapshot_size = sizeof(struct setting_snapshot),
};

const struct op_row unset_setting_row = {
    .name = "unset setting",
    .target = unset_target,
    .gather = unset_gather,
    .decide = unset_decide,
    .snapshot_size = sizeof(struct setting_snapshot),
};
