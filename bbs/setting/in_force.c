#include "bbs/setting/in_force.h"

const struct settings *settings_gather(struct view *v)
{
    (void)v;
    return &SETTINGS_DEFAULT;
}
