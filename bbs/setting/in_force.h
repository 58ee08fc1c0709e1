/* The settings in force, as a decision reads them (common/model/settings.def). Pure. */
#ifndef BBS_SETTING_IN_FORCE_H
#define BBS_SETTING_IN_FORCE_H

#include "bbs/board/view.h"
#include "common/model/settings.h"

/* For gather: noted as read, so that a decision lands by the settings that then stand. */
const struct settings *settings_gather(struct view *v);

#endif
