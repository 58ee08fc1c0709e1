/* Records of systems as their clients see them (proto/rest.proto). Each takes a record of its kind
 * and gives what is shown of it, in the arena; texts are borrowed. Pure. */
#pragma once

#include "bbs/rest/answer.h"

rest_show show_system;
rest_show show_build;
rest_show show_deploy;
rest_show show_teardown;
rest_show show_service;
rest_show show_job;
rest_show show_pool;

/* A time as RFC 3339, in the arena; of 0 "". */
char *show_time(struct arena *a, int64_t wall_ns);
