/* For how long a record has stood as it is, for decisions that wait (design.md 5, Freshness and
 * clocks). Its stamp was written by the wall clock of one process and is judged by another, and
 * either may be hours wrong. So a process goes by its own monotonic clock from when it saw the
 * record written; the stamp counts only for what stood there before the process did. Pure.
 *
 * What waits                  goes by            with a wrong clock, at worst
 * CRASHED, to be restarted    stood              early, once, after the start of bbs and converger
 * the crash count's reset     stood              the same; late by a crash of a bbs
 * a task Resolving or not     stood              asked again early, once
 *   placed, to be asked again
 * the limiter, to be released   stood, or bbs's    as early or as late as the leader's first look
 *                             wall clock
 * a Pending task, to fail     surely             late, by a start of bbs or converger
 * a task of an absent cell    surely             late, by the same
 * an evacuation's limit       the machine's      after its reboot: after a minute
 *                             monotonic clock    at least, a whole limit at most
 * a Completed task, to go,    kept               late, by the same or by the clock; early, if a
 *   or to be awaited no more                     process is a day wrong for an hour
 * a domain, to go             kept               the same
 * a domain, fresh             freshness.h        stale early, or until it is upserted
 * a lock                      freshness.h        held late
 * a job, not before           job.c              early; late by a start of a bbs
 * a restored unit, to be      stood              early, by a start of a bbs
 *   placed
 */
#pragma once

#include "common/contract/moment.h"

/* How this process knows the present revision of a record (or its creation): monotonic. */
struct sighting {
    int64_t since_ns; /* seen first */
    int64_t after_ns; /* written no sooner; 0 = it was there when this process began to look */
};

/* So much of `limit_ns` is left until it has stood for so long; not positive: it has. `stamp_ns`:
 * when it was written, on a wall clock. As soon as both clocks may say so: for what does no harm
 * when it is early, and much when it is never. */
int64_t stood_left_ns(int64_t limit_ns, int64_t stamp_ns, struct sighting seen, struct moment now);

/* The same for what cannot be taken back: this process itself has seen it for so long. */
int64_t surely_left_ns(int64_t limit_ns, struct sighting seen, struct moment now);

/* The same for what is kept longer than any process need live: beyond KEPT_SURE_NS the stamp says
 * so, and this process has known it (`known`: its creation, or as it stands) for that. */
#define KEPT_SURE_NS (60 * 60 * SECOND_NS)
int64_t kept_left_ns(int64_t limit_ns, int64_t stamp_ns, struct sighting seen,
                     struct sighting known, struct moment now);
