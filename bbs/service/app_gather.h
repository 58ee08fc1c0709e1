/* What a request of a client about a service reads, and what it may say. Pure. */
#pragma once

#include "bbs/service/app.h"

/* The columns of service_row. */
const char *app_target(struct arena *a, const struct op_input *in);
void app_gather(struct view *v, const struct op_input *in, void *snapshot);

/* The service of a new app, without a revision. */
Board__ServiceRecord *app_new(struct arena *a, const char *name, const struct op_input *in);
