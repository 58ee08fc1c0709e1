/* Times of a centre that its bbs and its converger both go by (docs/edge.md). */
#pragma once

#include "common/contract/moment.h"

/* A cluster that was made for an instance and that nobody has had for so long goes. */
#define CLUSTER_IDLE_NS (30 * 60 * SECOND_NS)
/* Of a site that was not heard of for so long in its session nobody knows how it is. */
#define SITE_SILENCE_NS (30 * SECOND_NS)
