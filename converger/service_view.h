/* What runs of a service, by index: of each process that is a revision of it the records of each
 * index, which class the index is in, and the counts; kept up with each change, in no time. Up to
 * three records of an index are one instance. Pure.
 *
 * An index of a process of which `desired` instances are desired is, by the first that holds:
 *   - nothing: it has no record
 *   - terminating: it is not desired, or all its records are marked stopping
 *   - live; and then available, if one of its records is RUNNING, routable, not stopping, not on a
 *     cell that is absent (SUSPECT), and was so for ready_s
 *
 * For how long is asked twice. `available`, which people are shown, goes by sighting.h: what stood
 * there before this process counts as its stamp says. `sure`, by which instances are taken away,
 * goes by what this process itself has seen, so that no clock makes an instance ready early. One
 * that may be available, for all that this process has seen, is not taken away as one that is not:
 * it is `costly`. After its start a process is sure of none, and all that are ready are costly. */
#pragma once

#include "common/client/feed_client.h"
#include "common/contract/moment.h"
#include "common/model/crash_policy.h"
#include "common/model/sighting.h"
#include "models/actual_lrp.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records beyond this index are ignored: nobody desires them. */
enum { SEAT_INDEX_MAX = 1000000, SEAT_PRESENCES = 3 };

/* By what the classes go, beside the records. */
struct seat_rules {
    int32_t desired;
    int64_t ready_ns;
    const struct crash_policy *policy;
};

/* A record. */
struct seat_record {
    bool is;
    bool ready; /* RUNNING, routable, not SUSPECT */
    bool stopping;
    bool crashed, running;
    int32_t crash_count;
    int64_t since_ns;     /* wall clock: of its state */
    int64_t known_ns;     /* monotonic: this process knows it since then in this state */
    int64_t stamp_ns;     /* wall clock: ready since then */
    struct sighting seen; /* ready, by this process */
};

struct seat {
    struct seat_record of[SEAT_PRESENCES];
    bool live, terminating, available, sure;
    int64_t costly_ns; /* monotonic: it may be available from then on, for all that is known */
    bool spent;   /* crashed for good */
    bool waiting; /* only time keeps it from being available, or sure */
    int64_t ready_ns; /* monotonic: while waiting, when it is looked at again */
    int64_t retired_for; /* restart_at of the restart that it was retired for; 0 = of none */
};

struct seat_counts {
    int32_t live, terminating, available, sure, spent, waiting;
    int32_t records;
};

struct seats {
    struct seat *list;
    size_t size; /* of the list: one more than the highest index that was ever seen */
    struct seat_rules rules;
    struct seat_counts counts;
    int64_t now_ns;  /* monotonic: of the last wake */
    int64_t next_ns; /* monotonic: no seat that waits is due before; NEVER_NS = none waits */
    char crash[160]; /* the last that a record told of: "/0 crashed 3 times: ..."; "" = none */
};

void seats_init(struct seats *s);
void seats_done(struct seats *s);

/* The record at this index; NULL = it is gone. An index out of bounds is ignored. */
void seats_change(struct seats *s, int32_t index, int presence, const Models__ActualLRP *record,
                  struct sighting seen, struct moment now);

/* Other rules: all is looked at again if they differ. */
void seats_rule(struct seats *s, struct seat_rules rules, struct moment now);

/* All is looked at again if `now` may have made a seat available, at most once a second; or if
 * `all`: what the rules point to may have changed. What is asked then is of this moment. */
void seats_wake(struct seats *s, struct moment now, bool all);

/* The seat at an index; NULL = it never had a record. */
const struct seat *seats_at(const struct seats *s, int32_t index);

/* Whether an index may be available, as roll.h asks: `of` is a struct seats. */
bool seats_costly(const void *of, int32_t index);

/* A restart of the service. */
struct seat_restart {
    int64_t at_ns;    /* wall clock: restart_at of the record */
    int64_t known_ns; /* monotonic: this process knows of it since then */
};

/* The first index that the restart has to replace: its instance runs since before the restart, as
 * this process saw it or as its stamp says, and was not retired for it. -1 = none. */
int32_t seats_to_retire(const struct seats *s, struct seat_restart restart);

/* It was, so that no clock has it retired twice. */
void seats_retired(struct seats *s, int32_t index, struct seat_restart restart);
