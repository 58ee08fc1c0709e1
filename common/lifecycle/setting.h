/* The lifecycle of a setting: setting.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* SETTING_<STATE>, SETTING_TRIGGER_<TRIGGER>, SETTING_IF_<GUARD>. */
#define LIFECYCLE_PREFIX SETTING
#define LIFECYCLE_DEF "common/lifecycle/setting.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle setting_lifecycle;
