/* Settings of the cluster (common/model/settings.def; common/lifecycle/setting.def): an operator
 * sets and unsets them, decisions read them (in_force.h). Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"
#include "common/model/setting_record.h"

/* Board__SetSettingRequest, Board__UnsetSettingRequest. */
extern const struct op_row set_setting_row;
extern const struct op_row unset_setting_row;

/* A name that this version does not know may be unset, for a newer one may have set it. */
void valid_set_setting(struct validation *v, const Board__SetSettingRequest *request);
void valid_unset_setting(struct validation *v, const Board__UnsetSettingRequest *request);

struct setting_snapshot {
    const Board__SettingRecord *record; /* as it stands; NULL = none */
};

/* All settings by name, those that this version does not know behind, in the view's arena. Gives
 * their number. */
size_t settings_list(struct view *v, Board__Setting ***ret_list);

/* Those in force, as the records of the board say it: each is noted as read. */
const struct settings *settings_read(struct view *v);
