/* Settings of the cluster. */
#include "bbs/route/read.h"
#include "bbs/setting/setting.h"

static const ProtobufCMessage *settings(const struct ask *ask, struct view *v)
{
    (void)ask;
    Board__SettingsResponse *response = ARENA_NEW(view_arena(v), Board__SettingsResponse);
    board__settings_response__init(response);
    response->n_settings = settings_list(v, &response->settings);
    return &response->base;
}

const struct read_row read_settings = {.message = settings};

void route_set_setting(struct ask *ask, struct effects *out)
{
    valid_set_setting(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &set_setting_row, out);
    }
}

void route_unset_setting(struct ask *ask, struct effects *out)
{
    valid_unset_setting(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &unset_setting_row, out);
    }
}
