/* What containers write, asked for over HTTP. The step only says which file goes to which peer: the
 * bytes go past it (EFFECT_OUTPUT).
 *
 *   GET /v1/logs/INSTANCE_GUID?lines=N&follow=1&stream=stdout|stderr
 *       The last N lines of each stream (all that is kept when not said), of both unless one is
 *       named, in the order in which they came. Lines stay whole. With follow until the container
 *       has ended. Also of a container that has gone, while its output is kept. Moreover:
 *       tail=N     the last N lines of all that is wanted, instead of lines
 *       since=T    lines from then on: 2026-01-02T03:04:05Z, or how long ago: 10m
 *       source=S   lines of that source alone: APP/WEB
 *       times=1    each line begins with its time, in UTC with nanoseconds, and a space
 *       sources=1  then with its source, and a space
 *       Of lines that a shim of an earlier version wrote neither time nor source is known: they
 *       are of any time, of no source that is asked for, and "-" stands for both.
 *   GET /v1/logs?process_guid=GUID&index=N
 *   GET /v1/logs?process_guid_prefix=TEXT
 *       Which removed containers of that index, or of all processes whose guid begins so, have kept
 *       output: a JSON array of {"instance_guid","process_guid","index","removed_at"} (nanoseconds
 *       since 1970), the newest first. */
#pragma once

#include "common/base/err.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"

enum { OUTPUT_LINES_MAX = 1000000 };

/* Both answer the request, the first one by the wall clock, too; INVALID, and nothing done, for a
 * query that makes no sense. */
int output_ask(const struct request *q, const char *guid, int64_t now_ns, struct effects *out,
               struct err *err);
int output_list(const struct request *q, struct effects *out, struct err *err);
