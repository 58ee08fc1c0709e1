/* What the bbs command line decides and shows about LRPs. Pure: lists in, plans and tables out. */
#pragma once

#include "bbs/cli/name.h"
#include "board.pb-c.h"
#include "common/appfile/app.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "system_api.pb-c.h"

/* The app that it is of; NULL = it is a client's own. */
const char *lrp_app(const Models__DesiredLRP *lrp);

/* What a bbs made of an app of the files. */
struct application {
    const struct app *app;
    const char *text;   /* for people: "created", "scaled from 2 to 3" */
    int32_t instances;  /* that are to run then */
    const char **old;   /* process_guids of other definitions, which go once this one runs */
    size_t old_count;
    bool done; /* the board has it, reported or not */
    bool ran;  /* it was waited for, and runs alone as far as this apply knows */
};

/* Takes the answer; `again`: an answer may have been lost before it, so that what it calls
 * unchanged may be this apply's own doing. */
void apply_take(struct arena *a, const Board__ServiceResponse *answer, bool again,
                struct application *app);

/* Why the service (NULL = there is none) is not to have so many instances of this process: what
 * somebody else asked for; NULL = it is. Of 0 instances: it is to go. */
const char *apply_other(struct arena *a, const Board__ServiceRecord *service,
                        const char *process_guid, int32_t desired);

/* The same of what the service is to run alone, whatever its number. */
const char *apply_rival(struct arena *a, const Board__ServiceRecord *service,
                        const char *process_guid);

/* Whether a DesiredLRP of this process stands by the service's record. */
bool apply_stands(const Board__ServiceRecord *service, const char *process_guid);

/* How far a process is. */
struct lrp_progress {
    int32_t desired;
    int32_t running;     /* ORDINARY and RUNNING, with an index that is desired */
    int32_t left;        /* records that should go: an index beyond, or marked stopping */
    int64_t newest_ns;   /* wall time since when the youngest of `running` runs; 0 = none does */
    const char *problem; /* a placement error or crash reason of one that does not run, or NULL */
    const char *unheard; /* unheard_text(), or NULL; lrp_progress_of() does not know it */
};

/* An instance counts as come to stay after running for so long: one that crashes as it starts is
 * RUNNING for a moment, too. */
#define LRP_SETTLED_NS ((int64_t)1000 * 1000 * 1000)

/* Of the records of one process. */
void lrp_progress_of(int32_t desired, Models__ActualLRP *const *actuals, size_t count,
                     struct lrp_progress *ret_progress);
bool lrp_progress_done(const struct lrp_progress *p);

/* Whether what is done has come to stay: by the wall clock, or because the caller has seen it
 * unchanged for so long, whatever the clocks of other machines say. */
bool lrp_progress_settled(const struct lrp_progress *p, int64_t wall_ns, int64_t seen_ns);

/* "web: 2 of 3 running (insufficient resources)", "web: all stopped" */
const char *lrp_progress_text(struct arena *a, const char *name, const struct lrp_progress *p);

/* The table of `bbs ps`: a row for each record of the processes, in the order of name, index and
 * presence, and one for each process without any; then the records of others, under their
 * process_guid: what is left of processes that are not desired any more. `cells`: for what cannot
 * be placed, rootfs_problem(), and which cells are silent; NULL = not known. `terminal`: as in
 * table.h. */
void ps_table(struct arena *a, Models__DesiredLRP *const *lrps, size_t count,
              Models__ActualLRP *const *actuals, size_t actual_count,
              const Board__CellsStatus *cells, int64_t now_ns, bool terminal, struct buf *out);

/* What `bbs ps --output json` shows of the processes that have no record, a line each in the order
 * of `lrps`: {"process_guid":"web-1","domain":"default","instances":0}. */
void ps_lines_without_record(struct arena *a, Models__DesiredLRP *const *lrps, size_t count,
                             Models__ActualLRP *const *actuals, size_t actual_count,
                             struct buf *out);

/* Keeps the records that belong to one of the processes; gives how many are left. */
size_t lrps_keep(Models__DesiredLRP *const *lrps, size_t count, Models__ActualLRP **actuals,
                 size_t actual_count);

/* Keeps the records of this index (-1: of all); gives how many are left. */
size_t lrps_keep_index(int32_t index, Models__ActualLRP **actuals, size_t count);

/* "10.0.0.1:61001->8080", "-" without address. */
const char *net_info_text(struct arena *a, const Models__ActualLRPNetInfo *net);

/* "RUNNING", "CRASHED (suspect)", "STOPPING" */
const char *state_text(struct arena *a, const Models__ActualLRP *actual);

/* Why one waits for a cell, or for its next start: the placement error, or the reason of its crash.
 * "" of one in another state, although its record keeps the reason of the last crash. */
const char *lrp_reason(const Models__ActualLRP *actual);
