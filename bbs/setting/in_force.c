#include "bbs/setting/in_force.h"
#include "bbs/setting/setting.h"

const struct settings *settings_gather(struct view *v)
{
    return settings_read(v);
}
