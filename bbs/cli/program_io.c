#include "bbs/cli/commands_io.h"

static const struct cli_group *const groups[] = {
#define GROUP(name) &bbs_##name##_group,
#include "bbs/cli/groups.def"
#undef GROUP
    NULL,
};

const struct cli_program bbs_program = {
    .name = "bbs",
    .summary = "guards the board of a Corkboard cluster, and asks it",
    .groups = groups,
};
