/* The parts of app_check(), each of a kind of mistake. What they hold against the file a bbs or a
 * cell refuses as well, without a word of where it stands. */
#pragma once

#include "common/appfile/app_keys.h"

/* egress, or egress_rules, of which the file has one at most. */
int app_check_egress(const struct app_source *s, const struct node *from,
                     Models__SecurityGroupRule *const *rules, size_t count);
