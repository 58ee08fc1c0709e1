/* Whether an app instance runs as it should, seen over time (docs/edge.md, What the CRM does).
 * Pure.
 */
#pragma once

#include "common/contract/moment.h"

#include <stdbool.h>
#include <stdint.h>

/* So long fewer instances are RUNNING than wanted before it is told: a restart is no failure. */
#define APP_FAIL_NS (10 * SECOND_NS)

enum app_health_state { APP_UNKNOWN, APP_OK, APP_SERVER_FAIL, APP_HEALTH_COUNT };

/* Zeros: nothing was seen yet. */
struct app_health {
    enum app_health_state is;
    int64_t short_since_ns; /* fewer than wanted since then; 0 = all run */
};

/* What was seen at this time, monotonic and above 0:
 * 1. All run: OK at once.
 * 2. Fewer: SERVER_FAIL when that has lasted for APP_FAIL_NS; until then it stays as it was.
 * True: it has changed. */
bool app_health_see(struct app_health *h, uint32_t running, uint32_t wanted, int64_t now_ns);

/* When it is to be seen again, though nothing changes; NEVER_NS = not. */
int64_t app_health_due_ns(const struct app_health *h);

/* "OK", "SERVER_FAIL", "UNKNOWN"; static. */
const char *app_health_name(enum app_health_state health);
