/* Model containers: a driver of the simulator (design.md 3.4). Answers verbs at virtual times,
 * keeps containers while their rep is down, ends them as a story says. All times are of its
 * machine's monotonic clock, as those of the facts that it tells (step_fact.h). Pure; it passes the
 * conformance program of the drivers as far as that does not need real processes. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/event.h"

struct model_containers;

/* How long verbs take; a container asked to end by SIGTERM needs `term_ns`, 0 = as quick as KILL.
 */
struct model_containers_pace {
    int64_t prepare_ns; /* default 5 ms */
    int64_t start_ns;   /* default 50 ms */
    int64_t signal_ns;  /* default 1 ms */
    int64_t remove_ns;  /* default 10 ms */
    int64_t list_ns;    /* default 1 ms */
    int64_t term_ns;    /* default 20 ms */
    int64_t pull_ns;    /* default 200 ms */
};

struct model_containers *model_containers_new(void);
void model_containers_free(struct model_containers *m); /* accepts NULL */
struct model_containers_pace *model_containers_pace(struct model_containers *m);

/* From now on it tells as little as a driver may (driver.h), drawn from this seed:
 * - LIST may take long, and shows how things stood when it was asked or when it is answered;
 * - a verb without an answer before its deadline was done before it, or is done up to 3 s after it
 * (the runtime's process is being ended then), or never. Later verbs of the container wait for it.
 */
void model_containers_waver(struct model_containers *m, uint64_t seed);

/* Takes a verb at `now_ns`; everything is copied. */
void model_containers_call(struct model_containers *m, int64_t now_ns,
                           const struct verb_call *call);

/* When the next event is due; NEVER_NS if none. */
int64_t model_containers_due(const struct model_containers *m);

/* The next event due at or before `now_ns`: EVENT_VERB or EVENT_CONTAINER, living in `arena`. False
 * if there is none. */
bool model_containers_next(struct model_containers *m, int64_t now_ns, struct arena *arena,
                           struct event *ret_event);

/* How many verbs were done although nobody was told so: by their deadline, or later. */
unsigned model_containers_untold(const struct model_containers *m);

/* The rep died: verbs under way are done but nobody hears of it; ends of containers are kept for
 * LIST. */
void model_containers_orphaned(struct model_containers *m, int64_t now_ns);

/* Scripts. The container's process ends now; false if it does not run. */
bool model_containers_end(struct model_containers *m, int64_t now_ns, const char *guid,
                          int exit_code, int exit_signal);
/* The same of a step of it; `lost`: nobody has seen how. */
bool model_containers_end_step(struct model_containers *m, int64_t now_ns, const char *guid,
                               uint32_t step, int exit_code, int exit_signal, bool lost);
/* As LIST shows it, in the arena; false if it is not there. */
bool model_containers_status(const struct model_containers *m, const char *guid,
                             struct arena *arena, struct container_status *ret);
/* Whether its spec had steps. */
bool model_containers_has_steps(const struct model_containers *m, const char *guid);
/* Notes that outlive their containers. */
unsigned model_containers_notes(const struct model_containers *m);
/* The number of the n-th of the steps that run in it, in order; -1 if there are fewer. */
int64_t model_containers_step(const struct model_containers *m, const char *guid, int n);
/* How it answers probes from now on, of readiness or of health; false if it is not there. A new one
 * refuses the first few, and then answers 200. A path that begins with /ready is asked about
 * readiness. What a step runs by EXEC comes out well while it answers 200 about its health; it runs
 * on while that times out, and cannot be started while that fails. */
bool model_containers_answer(struct model_containers *m, const char *guid, bool readiness,
                             enum probe_outcome outcome, int status);
/* The answer to a probe, which borrows from it. */
struct probed model_containers_probe(struct model_containers *m, const struct probe *probe);
bool model_probe_is_of_readiness(const struct probe *probe);
/* Whether it would pass. */
bool model_containers_answers_well(const struct model_containers *m, const char *guid,
                                   bool readiness);

/* Whether a step of it brings or sends files. */
bool model_containers_is_transfer(const struct model_containers *m, const char *guid,
                                  uint32_t step);
/* What a run of it does (VERB_RUN), until it is forgotten; NULL: there is none of this number. It
 * ends by model_containers_end_step(). */
const struct step_process *model_containers_run(const struct model_containers *m,
                                                const char *guid, uint32_t run);
/* What READ is to tell of its output; false if it is not there. */
bool model_containers_run_wrote(struct model_containers *m, const char *guid, uint32_t run,
                                const char *output);
/* A file that its spec gave it, or model_containers_write() did; NULL data: there is none. */
struct bytes model_containers_file(const struct model_containers *m, const char *guid,
                                   const char *path);
/* A file that READ finds in the container, under exactly this path; false if it is not there. */
bool model_containers_write(struct model_containers *m, const char *guid, const char *path,
                            struct bytes data);
/* Its process ignores SIGTERM from now on; false if it does already, or is not there. */
bool model_containers_deafen(struct model_containers *m, const char *guid);
/* The machine fell and is up again: whatever was started has ended, unseen, and what was made
 * cannot be started any more; or all is gone. */
void model_containers_reboot(struct model_containers *m, bool gone);
/* The next `count` STARTs fail with this text. */
void model_containers_fail_starts(struct model_containers *m, unsigned count, const char *text);
/* The same of BEGIN: the step begins, and ends at once with this text. */
void model_containers_fail_begins(struct model_containers *m, unsigned count, const char *text);
/* The same of PREPARE, which leaves nothing behind. */
void model_containers_fail_prepares(struct model_containers *m, unsigned count, const char *text);
/* The same of PULL. */
void model_containers_fail_pulls(struct model_containers *m, unsigned count, const char *text);
/* The image that was pulled for this container, which may not be made yet; NULL = none. */
const char *model_containers_image(const struct model_containers *m, const char *guid);
/* The n-th container that has one, made or not; NULL if there are fewer. */
const char *model_containers_pinned(const struct model_containers *m, int n);
/* Another program of the machine takes the host port, or gives it back. Until then a PREPARE with
 * it fails, and PORTS names it. */
void model_containers_hold_port(struct model_containers *m, uint32_t port, bool held);
/* A network of its own has so many addresses from now on; 250 at first. A PREPARE beyond them
 * fails. */
void model_containers_addresses(struct model_containers *m, unsigned count);
/* While set, verbs get no answer before their deadline: a hung runtime. They are not done, unless
 * it wavers. */
void model_containers_hang(struct model_containers *m, bool hung);

/* The state of this container, -1 when there is none. */
int model_containers_state(const struct model_containers *m, const char *guid);

/* The container that has some id of the range that begins here; NULL when none has, and for 0. */
const char *model_containers_with_ids(const struct model_containers *m, uint32_t first);

/* Whether this container has the network of `join`: is it, or joined it. */
bool model_containers_share(const struct model_containers *m, const char *guid, const char *join);

/* A verb for this container is under way, but for EXEC, which changes nothing. */
bool model_containers_busy(const struct model_containers *m, const char *guid);

/* A listing is under way. */
bool model_containers_listing(const struct model_containers *m);

/* How many take room: prepared, starting or running; but what was prepared in an earlier boot of
 * the machine never starts. */
unsigned model_containers_held(const struct model_containers *m);

/* How many run; the guid of the n-th of them in order of guid, NULL if there are fewer. */
int model_containers_running(const struct model_containers *m);
const char *model_containers_guid(const struct model_containers *m, int n);

/* The n-th of all that are made, whether they run or not; NULL if there are fewer. */
const char *model_containers_made(const struct model_containers *m, int n);
