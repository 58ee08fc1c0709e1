/* The health listener: plain HTTP, 200 without body to any path and method (behaviour.md 3). It says
 * no more than that the process's loop turns. */
#ifndef COMMON_SHELL_HEALTH_IO_H
#define COMMON_SHELL_HEALTH_IO_H

#include "common/base/err.h"

struct event_base;
struct health;

/* Listens on "IP:PORT". IO when that is taken. */
int health_new(const char *address, struct event_base *base, struct health **ret_health,
               struct err *err);

/* Accepts NULL. */
void health_free(struct health *h);

int health_port(const struct health *h);

#endif
