/* The settings in force, as a decision reads them (common/model/settings.def). Pure. */
#pragma once

#include "bbs/board/view.h"
#include "common/model/settings.h"

/* For gather: noted as read, so that a decision lands by the settings that then stand. */
const struct settings *settings_gather(struct view *v);
