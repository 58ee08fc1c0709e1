/* The lifecycle of a deploy: deploy.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* DEPLOY_<STATE>, DEPLOY_TRIGGER_<TRIGGER>, DEPLOY_IF_<GUARD>. */
#define LIFECYCLE_PREFIX DEPLOY
#define LIFECYCLE_DEF "common/lifecycle/deploy.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle deploy_lifecycle;
