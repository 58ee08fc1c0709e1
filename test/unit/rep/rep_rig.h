/* A rep under test: its role driven on virtual time, with the bbs, the feed and the driver played
 * by hand. Calls, verbs, replies and the exit are kept until the test takes them, oldest first. */
#pragma once

#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "common/model/moves.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "rep/rep.h"
#include "rep_note.pb-c.h"
#include "test/unit/drive.h"

enum { RIG_KEPT_MAX = 4096 };

#define RIG_CELL "cell-1"
#define RIG_BOOT "boot-1"
#define RIG_BOARD_GENERATION "generation-1"
#define RIG_DEFINITION "definition-1"
#define RIG_TASK_CREATED 900 /* created_at of its tasks, ns */

struct rep_rig {
    struct drive d;
    struct role *role;
    struct rep_config config;
    struct arena arena; /* of what is kept */
    struct call calls[RIG_KEPT_MAX];
    size_t call_count;
    struct verb_call verbs[RIG_KEPT_MAX];
    size_t verb_count;
    struct probe probes[RIG_KEPT_MAX];
    size_t probe_count;
    struct reply replies[RIG_KEPT_MAX];
    size_t reply_count;
    struct output_request output; /* the last one */
    size_t output_count;
    size_t logs;
    size_t step_bytes; /* the most that one step took of its arena */
    struct buf said; /* the log: "level message data" a line */
    uint64_t incarnation; /* to be kept; 0 = none */
    /* The disk keeps of an evacuation what it is asked to, at once; or it does nothing, and the
     * test answers (rep_rig_kept). */
    bool slow_disk;
    uint64_t keeping;            /* the question that waits; 0 = none */
    struct kept_evacuation kept; /* as it was last asked */
    size_t kept_count;           /* how often */
    bool exited;
    int exit_code;
    uint64_t request_id;
    uint64_t feed_id;
    int64_t revision; /* of the board played by hand */
};

/* A cell of 1,000 MB, 1,000 MB, 4 containers, ports 61000 to 61003, root filesystem "busybox". Not
 * started yet: the test may change rig->config before rep_rig_start(). */
void rep_rig_init(struct rep_rig *g);
void rep_rig_done(struct rep_rig *g);

/* Declares a rig, ready, that is done where its block ends. */
#define SCOPED_REP_RIG(name)                                                                       \
    struct rep_rig name __attribute__((cleanup(rep_rig_done)));                                    \
    rep_rig_init(&name)

/* EVENT_START only. */
void rep_rig_start(struct rep_rig *g);

/* The incarnation that the rep asks to be kept, once; 0 = it does not ask. Answered by hand. */
uint64_t rep_rig_take_incarnation(struct rep_rig *g);

/* The slow disk's answer: "" = done, else why not. */
void rep_rig_kept(struct rep_rig *g, const char *text);

/* Starts, answers the incarnation, the feed (empty snapshot) and the listing (these containers). */
void rep_rig_open(struct rep_rig *g, const struct container_status *list, size_t count);

/* The same in parts. */
void rep_rig_answer_incarnation(struct rep_rig *g);
void rep_rig_answer_incarnation_board_generation(struct rep_rig *g, const char *board_generation);
void rep_rig_feed_open(struct rep_rig *g);
void rep_rig_feed_open_board_generation(struct rep_rig *g, const char *board_generation);
void rep_rig_answer_list(struct rep_rig *g, const struct container_status *list, size_t count);

/* Takes the oldest kept one; fails the test when there is none. A call by a part of its url. */
struct call rep_rig_take_call(struct rep_rig *g, const char *part);
struct verb_call rep_rig_take_verb(struct rep_rig *g, enum verb verb);
struct reply rep_rig_take_reply(struct rep_rig *g);
struct probe rep_rig_take_probe(struct rep_rig *g);

/* The end of a probe. */
void rep_rig_probed(struct rep_rig *g, struct probe probe, enum probe_outcome outcome, int status);

/* How many are kept. Verbs of a kind; calls by a part of the url. */
size_t rep_rig_calls(const struct rep_rig *g, const char *part);
size_t rep_rig_verbs(const struct rep_rig *g, enum verb verb);

/* How many lines of the log hold this. */
size_t rep_rig_said(struct rep_rig *g, const char *part);

/* Time, with feed heartbeats each second. */
void rep_rig_advance(struct rep_rig *g, int64_t ms);

/* The kept apply, decoded into the rig's arena; fails unless its one move has this name. If the rep
 * asks first who holds the ports of what ended so soon, and the test has not answered: nobody else
 * does. */
struct rep_rig_move {
    uint64_t id;
    const Board__ApplyRequest *request;
    const Board__Move *move;
};
struct rep_rig_move rep_rig_take_move(struct rep_rig *g, const char *name);

/* Ends of it: done or refused with this record standing there (NULL = none). */
void rep_rig_move_done(struct rep_rig *g, struct rep_rig_move m, const Models__ActualLRP *record);
void rep_rig_move_refused(struct rep_rig *g, struct rep_rig_move m, Models__Error__Type type,
                      const Models__ActualLRP *record);

/* A record of index 0 of `process_guid` in the rig's arena. */
Models__ActualLRP *rep_rig_record(struct rep_rig *g, const char *process_guid, const char *state,
                              const char *guid, const char *cell_id);

/* The board changes; the feed tells it. */
void rep_rig_feed_put(struct rep_rig *g, const Models__ActualLRP *record);
void rep_rig_feed_delete(struct rep_rig *g, const Models__ActualLRP *record);

/* A setting, a duration in seconds, or -1: it is unset. The other: of drain. */
void rep_rig_set(struct rep_rig *g, const char *setting, int64_t value);
void rep_rig_set_drain(struct rep_rig *g, int64_t seconds);

/* The same, of a record that a later version of the software has written. */
void rep_rig_feed_later_version(struct rep_rig *g, const char *key);

/* ---- tasks ---- */

/* POST /work for this task; true if it was taken. */
bool rep_rig_task_work(struct rep_rig *g, const char *task_guid, int32_t memory_mb);

/* The task in this state on a cell by an attempt, with a run action and this result file, in the
 * rig's arena. */
Models__Task *rep_rig_task(struct rep_rig *g, const char *task_guid, Models__Task__State state,
                           const char *cell_id, const char *attempt);

/* Ends of a move about a task: done (0), or refused with an error of this type; what stands there
 * (NULL = none). */
void rep_rig_task_answer(struct rep_rig *g, struct rep_rig_move m, Models__Error__Type type,
                         const Models__Task *task);

void rep_rig_task_put(struct rep_rig *g, const Models__Task *task);
void rep_rig_task_delete(struct rep_rig *g, const Models__Task *task);

/* A status as the driver's listing gives it, with the note of this task's attempt. */
struct container_status rep_rig_task_status(struct rep_rig *g, const char *task_guid,
                                            const char *attempt, bool executing,
                                            enum container_state state);

/* HTTP; the reply is kept. */
void rep_rig_request(struct rep_rig *g, const char *unit, const char *method, const char *path,
                 const char *type, struct bytes body);

/* POST /work for index 0; gives how many LRPs came back. */
size_t rep_rig_work(struct rep_rig *g, const char *process_guid, int32_t memory_mb);
/* The same with this root filesystem. */
size_t rep_rig_work_of(struct rep_rig *g, const char *process_guid, int32_t memory_mb,
                       const char *rootfs);

/* A DesiredLRP with a run action and these ports, in the rig's arena. */
Models__DesiredLRP *rep_rig_desired(struct rep_rig *g, const char *process_guid,
                                    const uint32_t *ports, size_t port_count);

/* Answers the kept fetch. */
void rep_rig_answer_desired(struct rep_rig *g, const Models__DesiredLRP *lrp);

/* The end of a verb, and of a container's process. */
void rep_rig_verb(struct rep_rig *g, struct verb_call call, enum verb_outcome outcome,
                  const char *text);
void rep_rig_exited(struct rep_rig *g, const char *guid, int code);

/* From /work to RUNNING on both sides; gives the instance guid. */
const char *rep_rig_run(struct rep_rig *g, const char *process_guid);

/* A status as the driver's listing gives it, with a note of index 0 of this process. */
struct container_status rep_rig_status(struct rep_rig *g, const char *guid,
                                       const char *process_guid, enum container_state state);
