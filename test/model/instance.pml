/* One index of a DesiredLRP, two cells, the converger (docs/design.md 5 and 6, docs/instances.md):
 * claim, start, crash, loss of a cell, evacuation, removal. Checked by test/model/test_model.
 *
 * What it models                          follows
 *   what a bbs decides                    bbs/lrp/, which decides here as it ships (decisions.h);
 *                                         the transitions are those of
 *                                         common/lifecycle/actual_lrp.def
 *   what a rep makes of it                rep/container/harmonise.c, as it ships (decisions.h)
 *   gather, commit, gather again          bbs/board/op.c: a transaction compares all that was read
 *   who may speak                         bbs/board/speaker.c
 *   a cell's record                       bbs/cell/cell.c, bbs/cell/lose.c,
 *                                         common/lifecycle/cell.def
 *   a rep's incarnation                   rep/board/incarnation.c
 *   a rep's steps                         rep/instance/instance.c, rep/instance/offer.c,
 *                                         rep/board/moves.c, common/lifecycle/container.def
 *   what a rep knows                      rep/board/knowledge.c: the feed shows what names its
 *                                         cell; an answer counts until the feed has passed it
 *   an evacuation                         rep/drain/drain.c
 *   removal                               bbs/lrp/remove_desired.c, bbs/lrp/instances.c
 *   the converger                         converger/passes.def. A bbs decides its moves by the
 *                                         board, so that the converger's own view does not matter:
 *                                         here any of its moves may come at any time that a bbs
 *                                         takes it
 *
 * Faults, FAULTS of any kind: a cell is lost, whether it lives or not; a rep restarts, as the next
 * incarnation, and its containers run on or are gone; a process ends unasked; a cell is to be
 * emptied; the index is not desired any more; an answer does not come, and what was asked may land
 * late, twice or never; an op stands between gather and commit while others commit.
 *
 * Held: S1, S2, S8 and S12 as below; and when faults stop all ends as it should (L1, L3, S13),
 * whatever the order: a search without a cycle, in which each end is looked at, is a proof of
 * that.
 *
 * -DBUG_... leaves out a compare, a guard or a row each; test_model expects each to be found. */

#ifndef FAULTS
#define FAULTS 2
#endif

c_decl {
\#include "bbs/lrp/move.h"
\#include "common/contract/plan.h"
\#include "test/model/decisions.h"
}

/* ---- The board ------------------------------------------------------------------------------- */

typedef Record {
    byte state; /* ACTUAL_LRP_... */
    byte who;   /* the instance: 1 and 2 are of cell 0, 3 and 4 of cell 1; 0 = none */
    bit stopping;
};
#define ORDINARY   0
#define EVACUATING 1
#define SUSPECT    2
#define NO_RECORD  3
Record at[3]; /* actual/<process_guid>/<index>/<presence> */

#define CELL_IS_NONE    0
#define CELL_IS_PRESENT 1
#define CELL_IS_LOST    2
typedef Cell {
    byte state;
    byte incarnation;
};
Cell cell[2]; /* cell/<cell_id> */

bit desired = 1; /* desired/<process_guid> */
bit removed;     /* removal/<process_guid>/<definition id> */

/* ---- A cell ---------------------------------------------------------------------------------- */

/* A container, by the phase of container.def and what its end counts as
 * (rep/container/container.h). What is COMPLETED and DISOWNED, or deleted, is gone at once. */
#define NONE      0
#define RESERVED  1
#define STARTING  2 /* INITIALIZING and CREATED */
#define LAUNCHING 3 /* CREATED; the verb that starts it is under way */
#define RUNNING   4
#define STOPPING  5 /* RUNNING, END_SHUTDOWN */
#define LEAVING   6 /* RUNNING, END_DISOWNED */
#define CRASHED   7 /* COMPLETED, END_ITS_OWN */
#define SHUTDOWN  8 /* COMPLETED, END_SHUTDOWN */

#define GONE     0
#define SENT     1
#define ANSWERED 2

#define REFUSED 2 /* PLAN_REFUSE */

/* A call of a rep: a move by enum harmony_action, or these. */
#define OPEN  100
#define LEAVE 101

typedef Call {
    byte stage;
    byte what;
    byte who;
    byte presence;    /* of the record that it is about, as far as the rep knows */
    byte incarnation;
    bit blind;        /* the rep saw no record of its own */
    bit immediate;    /* of a crash: the count so far is low */
    /* The answer. */
    byte verdict;     /* PLAN_... */
    byte type;        /* of a refusal */
    bit keep;
    byte shown;       /* presence of the record shown; NO_RECORD = none */
    Record record;
    bit old;          /* the feed has passed it */
    bit moved;        /* the board has moved since */
};

typedef Rep {
    bit up;
    bit open;         /* the board has taken its incarnation */
    bit reconciled;   /* and all was as the board says, since */
    bit draining;
    byte incarnation; /* in its state directory */
    byte container[2];
    byte newest;      /* the slot of the newest container */
    bit waits[3];     /* a container, and a record without one: what it would ask was answered, and
                         neither the board nor the feed has moved since */
    /* What it knows of the records. */
    bit known;        /* the ORDINARY one is known, or that there is none */
    Record ordinary;
    byte suspect;     /* its own instance that is SUSPECT; 0 = none */
    byte evacuating;
    bit evacuating_stopping;
    Call call;
};
Rep rep[2];

/* A call that its rep waits for no more: it may land this often still. */
typedef Late {
    byte left;
    byte cell;
    byte what;
    byte who;
    byte presence;
    byte incarnation;
};
Late late;

/* An op between gather and commit. */
#define BY_REP       0
#define BY_CONVERGER 1
#define BY_CLIENT    2
typedef Held {
    bit on;
    byte by;
    byte cell;        /* of a rep; what it reads of cells, in bits */
    byte cells;
    bit reads_desired;
    bit reads_evacuating;
    byte what;
    byte who;
    byte presence;
    byte incarnation;
    bit immediate;
    byte writes;
    Record to[3];
};
Held held;

byte faults = FAULTS;
bit begun;     /* a cell has reserved, or is to be emptied; till then they are alike: 0 is first */
bit disturbed; /* more has failed than processes */

c_code {
extern int readtrail; /* pan follows a trail */
static struct model_question question_of(int move, int who, int presence, int current,
                                         int immediate)
{
    struct model_question q;
    memset(&q, 0, sizeof(q));
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        q.at[p] = (struct model_record){now.at[p].state, now.at[p].who, now.at[p].stopping};
    }
    for (int c = 0; c < MODEL_CELLS; c++) {
        q.cell[c] = now.cell[c].state;
    }
    q.desired = now.desired;
    q.removed = now.removed;
    q.move = move;
    q.who = who;
    q.presence = presence;
    q.current = current;
    q.immediate = immediate;
    return q;
}

/* A rep names the presence of its record when it removes it (rep/instance/moves.c). */
static struct model_question question_of_rep(int cell, int move, int who, int presence,
                                             int incarnation, int immediate)
{
#ifdef BUG_INCARNATION_NOT_LOOKED_AT
    int current = 1;
#else
    int current = now.cell[cell].incarnation == incarnation;
#endif
    return question_of(move, who, move == HARMONY_REMOVE ? presence : 0, current, immediate);
}

static const struct model_answer *asked(int c)
{
    struct model_question q =
        question_of_rep(c, now.rep[c].call.what, now.rep[c].call.who, now.rep[c].call.presence,
                        now.rep[c].call.incarnation, now.rep[c].call.immediate);
#ifdef BUG_EVACUATION_TAKES_CLAIMED_FOR_RUNNING
    if (now.rep[c].call.what == HARMONY_EVACUATE_RUNNING &&
        q.at[ORDINARY].state == ACTUAL_LRP_CLAIMED) {
        q.at[ORDINARY].state = ACTUAL_LRP_RUNNING;
    }
#endif
    return model_decide(&q);
}

static const struct model_answer *repair(int move)
{
    struct model_question q = question_of(move, 0, 0, 1, 0);
#ifdef BUG_SUSPECTS_THE_PRESENT
    if (move == MODEL_SUSPECT) { /* CELL_ABSENT */
        q.cell[0] = q.cell[1] = CELL_LOST;
    }
#endif
    return model_decide(&q);
}

static int commits(int move)
{
    return repair(move)->verdict == PLAN_COMMIT;
}

/* ---- The board is written ---- */

static void forget_held(void)
{
    memset(&now.held, 0, sizeof(now.held));
}

/* Whoever has an answer from before must ask again, and reps that waited for it do. */
static void moved(void)
{
    for (int c = 0; c < MODEL_CELLS; c++) {
        for (int s = 0; s < 3; s++) {
            now.rep[c].waits[s] = 0;
        }
        now.rep[c].call.moved = now.rep[c].call.stage == ANSWERED;
    }
}

/* The index: each move reads the range of its records (gather_records()). */
static void wrote_index(int presences)
{
#ifdef BUG_INDEX_NOT_COMPARED
    (void)presences;
#else
    int unread = now.held.by == BY_CLIENT && !now.held.reads_evacuating ? 1 << EVACUATING : 0;
    if (presences & ~unread) {
        forget_held();
    }
#endif
    moved();
}

static void wrote_cell(int cell)
{
#ifndef BUG_CELL_NOT_COMPARED
    if (now.held.cells & 1 << cell) {
        forget_held();
    }
#endif
    moved();
}

static void write_records(int writes, const struct model_record *to)
{
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        if (writes & 1 << p) {
            now.at[p].state = to[p].state;
            now.at[p].who = to[p].who;
            now.at[p].stopping = to[p].stopping;
        }
    }
    wrote_index(writes);
}

/* ---- What a rep knows (knowledge.c) ---- */

static int is_of(int who, int c)
{
    return who != MODEL_NOBODY && model_cell_of(who) == c;
}

struct shown {
    int known, suspect, evacuating, evacuating_stopping;
    struct model_record ordinary;
};

/* As the feed shows it: what names the cell. */
static struct shown feed_of(int c)
{
    struct shown f;
    memset(&f, 0, sizeof(f));
    if (is_of(now.at[ORDINARY].who, c)) {
        f.known = 1;
        f.ordinary = (struct model_record){now.at[ORDINARY].state, now.at[ORDINARY].who,
                                           now.at[ORDINARY].stopping};
    }
    f.suspect = is_of(now.at[SUSPECT].who, c) ? now.at[SUSPECT].who : 0;
    f.evacuating = is_of(now.at[EVACUATING].who, c) ? now.at[EVACUATING].who : 0;
    f.evacuating_stopping = f.evacuating && now.at[EVACUATING].stopping;
    return f;
}

static int is_fed(int c)
{
    struct shown f = feed_of(c);
    return now.rep[c].known == f.known && now.rep[c].suspect == f.suspect &&
           now.rep[c].evacuating == f.evacuating &&
           now.rep[c].evacuating_stopping == f.evacuating_stopping &&
           now.rep[c].ordinary.state == f.ordinary.state &&
           now.rep[c].ordinary.who == f.ordinary.who &&
           now.rep[c].ordinary.stopping == f.ordinary.stopping;
}

static void feed(int c)
{
    struct shown f = feed_of(c);
    now.rep[c].known = f.known;
    now.rep[c].suspect = f.suspect;
    now.rep[c].evacuating = f.evacuating;
    now.rep[c].evacuating_stopping = f.evacuating_stopping;
    now.rep[c].ordinary.state = f.ordinary.state;
    now.rep[c].ordinary.who = f.ordinary.who;
    now.rep[c].ordinary.stopping = f.ordinary.stopping;
    if (now.rep[c].call.stage == ANSWERED) { /* the record that it shows counts no more */
        now.rep[c].call.old = 1;
        now.rep[c].call.shown = NO_RECORD;
        memset(&now.rep[c].call.record, 0, sizeof(now.rep[c].call.record));
    }
    for (int s = 0; s < 3; s++) {
        now.rep[c].waits[s] = 0;
    }
}

/* look(), harmony_record_of(): the record that bears the instance counts, else the ORDINARY one. */
static enum harmony_record record_of(int c, int who)
{
    int own = now.rep[c].known && now.rep[c].ordinary.who == who;
    if (!own && now.rep[c].suspect == who) {
        return RECORD_IS_SUSPECT_BY_A;
    }
    if (!own && now.rep[c].evacuating == who) {
        return now.rep[c].evacuating_stopping ? RECORD_IS_STOPPING_BY_A : RECORD_IS_EVACUATING_BY_A;
    }
    if (!now.rep[c].known) {
        return RECORD_IS_UNSEEN;
    }
    if (own && now.rep[c].ordinary.stopping) {
        return RECORD_IS_STOPPING_BY_A;
    }
    switch (now.rep[c].ordinary.state) {
    case ACTUAL_LRP_NONE:
        return RECORD_IS_NONE;
    case ACTUAL_LRP_UNCLAIMED:
        return RECORD_IS_UNCLAIMED;
    case ACTUAL_LRP_CLAIMED:
        return own ? RECORD_IS_CLAIMED_BY_A : RECORD_IS_CLAIMED_BY_O;
    case ACTUAL_LRP_RUNNING:
        return own ? RECORD_IS_RUNNING_ON_A : RECORD_IS_RUNNING_ON_O;
    default:
        return RECORD_IS_CRASHED;
    }
}

/* Of the record that bears the instance; ORDINARY if none does. */
static int presence_of(int c, int who)
{
    int own = now.rep[c].known && now.rep[c].ordinary.who == who;
    return own                            ? ORDINARY
           : now.rep[c].suspect == who    ? SUSPECT
           : now.rep[c].evacuating == who ? EVACUATING
                                          : ORDINARY;
}

/* instance_learn() */
static void learn(int c)
{
    int shown = now.rep[c].call.shown, tells = now.rep[c].call.verdict != PLAN_REFUSE;
    switch (now.rep[c].call.type) { /* tells_of_absence() */
    case MODELS__ERROR__TYPE__ResourceNotFound:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeStarted:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeRemoved:
    case MODELS__ERROR__TYPE__ActualLRPCannotBeUnclaimed:
        tells = 1;
    }
    if (shown == NO_RECORD && (now.rep[c].call.blind || !tells)) {
        return;
    }
    int presence = shown == NO_RECORD ? now.rep[c].call.presence : shown;
    int who = shown == NO_RECORD || !is_of(now.rep[c].call.record.who, c)
                  ? 0
                  : now.rep[c].call.record.who;
    if (presence == SUSPECT) {
        now.rep[c].suspect = who;
    } else if (presence == EVACUATING) {
        now.rep[c].evacuating = who;
        now.rep[c].evacuating_stopping = who && now.rep[c].call.record.stopping;
    } else {
        now.rep[c].known = 1;
        now.rep[c].ordinary.state = shown == NO_RECORD ? 0 : now.rep[c].call.record.state;
        now.rep[c].ordinary.who = shown == NO_RECORD ? 0 : now.rep[c].call.record.who;
        now.rep[c].ordinary.stopping = shown == NO_RECORD ? 0 : now.rep[c].call.record.stopping;
    }
}

/* ---- What a rep wants (rep/instance/instance.c) ---- */

static int who_in(int c, int s)
{
    return 1 + MODEL_SLOTS * c + s;
}

/* side_of() */
static enum harmony_container side_of(int c, int s)
{
    switch (now.rep[c].container[s]) {
    case RESERVED:
        return WITH_RESERVED;
    case STARTING:
        return WITH_STARTING;
    case RUNNING:
        return WITH_RUNNING;
    case CRASHED:
        return WITH_CRASHED;
    default:
        return WITH_SHUTDOWN;
    }
}

/* look_at(), as far as instance_judge() tells: what is under way is not looked at. */
static int wanted(int c, int s)
{
    switch (now.rep[c].container[s]) {
    case NONE:
    case LAUNCHING:
    case STOPPING:
    case LEAVING:
        return HARMONY_NOTHING;
    case RESERVED:
        return now.rep[c].draining ? HARMONY_DELETE : HARMONY_CLAIM;
    }
    int action = model_judge(now.rep[c].draining, side_of(c, s), record_of(c, who_in(c, s)));
#ifdef BUG_ROW_14_KEEPS
    if (now.rep[c].container[s] == RUNNING &&
        record_of(c, who_in(c, s)) == RECORD_IS_RUNNING_ON_O) {
        action = HARMONY_KEEP;
    }
#endif
    return action;
}

static int wants_move(int c, int s)
{
    return now.rep[c].up && now.rep[c].open && now.rep[c].call.stage == GONE &&
           !now.rep[c].waits[s] && harmony_is_move(wanted(c, s));
}

/* Whether its answer is what the container waits for. */
static int is_busy(int c, int s)
{
    return now.rep[c].call.stage != GONE && now.rep[c].call.who == who_in(c, s);
}

static int wants_local(int c, int s, int action)
{
    return now.rep[c].up && !is_busy(c, s) && wanted(c, s) == action;
}

/* judge_stray(): a record of the cell's that has no container. Gives its presence; NO_RECORD. */
static int stray_of(int c)
{
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        int who = p == ORDINARY   ? (now.rep[c].known ? now.rep[c].ordinary.who : 0)
                  : p == SUSPECT ? now.rep[c].suspect
                                 : now.rep[c].evacuating;
        if (is_of(who, c) && now.rep[c].container[(who - 1) % MODEL_SLOTS] == NONE) {
            return p;
        }
    }
    return NO_RECORD;
}

static int stray_who(int c, int presence)
{
    return presence == ORDINARY  ? now.rep[c].ordinary.who
           : presence == SUSPECT ? now.rep[c].suspect
                                 : now.rep[c].evacuating;
}

static int wants_stray(int c)
{
#ifdef BUG_ROW_30_DOES_NOTHING
    if (stray_of(c) == ORDINARY && now.rep[c].ordinary.state == ACTUAL_LRP_CLAIMED &&
        !now.rep[c].ordinary.stopping) {
        return 0;
    }
#endif
    return now.rep[c].up && now.rep[c].open && now.rep[c].call.stage == GONE &&
           !now.rep[c].waits[2] && stray_of(c) != NO_RECORD;
}

static void send(int c, int what, int who, int presence, int blind)
{
    now.rep[c].call.stage = SENT;
    now.rep[c].call.what = what;
    now.rep[c].call.who = who;
    now.rep[c].call.presence = presence;
    now.rep[c].call.blind = blind;
    now.rep[c].call.incarnation = now.rep[c].incarnation;
}

/* instance_move() */
static void send_move(int c, int s, int immediate)
{
    int who = who_in(c, s), what = wanted(c, s);
    enum harmony_record seen = record_of(c, who);
    int evacuation = what == HARMONY_EVACUATE_CLAIMED || what == HARMONY_EVACUATE_CRASHED ||
                     what == HARMONY_EVACUATE_STOPPED || what == HARMONY_EVACUATE_RUNNING;
    int own = harmony_record_is_own(seen);
    int presence = own && (evacuation || what == HARMONY_REMOVE) ? presence_of(c, who) : 0;
    send(c, what, who, presence, evacuation && !own);
    now.rep[c].call.immediate = immediate;
}

/* instance_stray_move() */
static void send_stray(int c)
{
    int presence = stray_of(c), who = stray_who(c, presence);
    send(c, model_judge(0, WITHOUT, record_of(c, who)), who, presence, 0);
}

static void forget_call(int c)
{
    memset(&now.rep[c].call, 0, sizeof(now.rep[c].call));
}

static void end_container(int c, int s)
{
    now.rep[c].container[s] = NONE;
    now.rep[c].waits[s] = 0;
}

/* container_abandon() */
static void abandon(int c, int s)
{
    if (now.rep[c].container[s] == RUNNING) {
        now.rep[c].container[s] = LEAVING;
        now.rep[c].waits[s] = 0;
    } else {
        end_container(c, s);
    }
}

/* settled(), moved(), evacuated(), refused() */
static void settle(int c, int s)
{
    int what = now.rep[c].call.what, phase = now.rep[c].container[s];
    if (now.rep[c].call.verdict == PLAN_REFUSE) {
        int action = model_judge_refused(
            now.rep[c].draining, side_of(c, s), record_of(c, who_in(c, s)),
            (enum harmony_action)what, now.rep[c].call.type);
#ifdef BUG_ROW_14_KEEPS
        if (phase == RUNNING && record_of(c, who_in(c, s)) == RECORD_IS_RUNNING_ON_O) {
            action = HARMONY_KEEP;
        }
#endif
        if (action == HARMONY_GO_ON && phase == RESERVED) {
            now.rep[c].container[s] = STARTING;
        } else if (action == HARMONY_DELETE) {
            abandon(c, s);
        } else if (action == HARMONY_STOP) {
            now.rep[c].container[s] = phase == RUNNING ? STOPPING : SHUTDOWN;
        }
        return;
    }
    switch (what) {
    case HARMONY_CLAIM:
        now.rep[c].container[s] = phase == RESERVED ? STARTING : phase;
        break;
    case HARMONY_EVACUATE_RUNNING:
        if (!now.rep[c].call.keep && phase == RUNNING) {
            abandon(c, s);
        }
        break;
    case HARMONY_CRASH:
    case HARMONY_REMOVE:
    case HARMONY_EVACUATE_CLAIMED:
    case HARMONY_EVACUATE_CRASHED:
    case HARMONY_EVACUATE_STOPPED:
        end_container(c, s);
    }
}

/* It would ask the same again, and the board, which gave that answer, has not moved: an
 * evacuation's kept_until_ns, a back-off. */
static void note_wait(int c, int s)
{
    now.rep[c].waits[s] = !now.rep[c].call.moved && now.rep[c].container[s] != NONE &&
                          wanted(c, s) == now.rep[c].call.what;
}

static void note_stray_wait(int c)
{
    int presence = stray_of(c), who = presence == NO_RECORD ? 0 : stray_who(c, presence);
    now.rep[c].waits[2] = !now.rep[c].call.moved && presence != NO_RECORD &&
                          presence == now.rep[c].call.presence && who == now.rep[c].call.who &&
                          (int)model_judge(0, WITHOUT, record_of(c, who)) == now.rep[c].call.what;
}

/* ---- S1, and the end ---- */

static int is_current(int c)
{
    return now.rep[c].up && now.rep[c].open && now.cell[c].state == CELL_PRESENT &&
           now.cell[c].incarnation == now.rep[c].incarnation;
}

/* It runs, and its rep wants nothing for it. */
static int is_at_rest(int c, int s)
{
    return now.rep[c].container[s] == RUNNING && !is_busy(c, s) &&
           (harmony_is_rest((enum harmony_action)wanted(c, s)) || now.rep[c].waits[s]);
}

static const char *state_name(int state)
{
    return actual_lrp_lifecycle.states[state];
}

/* Of a trail (pan -C): the board, then each cell with what it knows. */
static void show(void)
{
    static const char *const cells[] = {"none", "PRESENT", "LOST"};
    static const char *const phases[] = {"-",        "RESERVED", "STARTING", "LAUNCHING", "RUNNING",
                                         "STOPPING", "LEAVING",  "CRASHED",  "SHUTDOWN"};
    static const char *const stages[] = {"", "sent", "answered"};
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        static const char *const names[] = {"ORDINARY", "EVACUATING", "SUSPECT"};
        if (now.at[p].state != ACTUAL_LRP_NONE) {
            printf("%s=%s/%d%s ", names[p], state_name(now.at[p].state), now.at[p].who,
                   now.at[p].stopping ? "/stopping" : "");
        }
    }
    printf("%s\n", now.desired ? "" : "undesired");
    for (int c = 0; c < MODEL_CELLS; c++) {
        int what = now.rep[c].call.what;
        printf("  cell-%d %s/%d rep=%d%s%s%s [%s, %s] knows %s%s/%d suspect=%d evacuating=%d",
               c, cells[now.cell[c].state], now.cell[c].incarnation, now.rep[c].incarnation,
               now.rep[c].open ? " open" : "", now.rep[c].reconciled ? " reconciled" : "",
               now.rep[c].draining ? " draining" : "", phases[now.rep[c].container[0]],
               phases[now.rep[c].container[1]], now.rep[c].known ? "" : "not ",
               state_name(now.rep[c].ordinary.state), now.rep[c].ordinary.who,
               now.rep[c].suspect, now.rep[c].evacuating);
        if (now.rep[c].call.stage != GONE) {
            printf(" %s %s/%d", stages[now.rep[c].call.stage],
                   what == OPEN    ? "open"
                   : what == LEAVE ? "leave"
                                   : harmony_action_name((enum harmony_action)what),
                   now.rep[c].call.who);
        }
        printf("\n");
    }
}

static void look_at_cell(int c)
{
    int all = is_fed(c) && now.rep[c].call.stage == GONE && stray_of(c) == NO_RECORD;
    for (int s = 0; s < MODEL_SLOTS; s++) {
        all = all && (now.rep[c].container[s] == NONE || is_at_rest(c, s));
    }
    now.rep[c].reconciled = is_current(c) && (now.rep[c].reconciled || all);
    int newest = now.rep[c].container[now.rep[c].newest];
    if (newest == NONE || newest > LAUNCHING) {
        now.rep[c].newest = 0; /* only one that starts is asked for */
    }
}

static void look_around(void)
{
    look_at_cell(0);
    look_at_cell(1);
    if (readtrail) {
        show();
    }
}

/* S1: of each presence, as its rep sees it, at most one container runs that its rep lets be, on
 * cells that have a current incarnation and have reconciled since. And while nothing fails but
 * processes at most one runs at all. (Otherwise two may for a moment: who runs wins over who has
 * only claimed, and the other learns of it when it has started.) */
static int runs_once(void)
{
    int running = 0, resting[MODEL_PRESENCES] = {0};
    for (int c = 0; c < MODEL_CELLS; c++) {
        for (int s = 0; s < MODEL_SLOTS; s++) {
            int phase = now.rep[c].container[s];
            running += phase == RUNNING || phase == STOPPING || phase == LEAVING;
            if (now.rep[c].reconciled && is_at_rest(c, s)) {
                resting[presence_of(c, who_in(c, s))]++;
            }
        }
    }
    return (now.disturbed || running <= 1) && resting[ORDINARY] <= 1 && resting[SUSPECT] <= 1 &&
           resting[EVACUATING] <= 1;
}

/* S2: a rep's write is of the incarnation that the board has. */
static int speaks_for(int c, int incarnation)
{
    return now.cell[c].state == CELL_PRESENT && now.cell[c].incarnation == incarnation;
}

/* S12: what an op that had gathered commits is what would be decided now. */
static int would_be_decided(void)
{
    struct model_question q =
        now.held.by == BY_REP
            ? question_of_rep(now.held.cell, now.held.what, now.held.who, now.held.presence,
                              now.held.incarnation, now.held.immediate)
            : question_of(now.held.what, 0, 0, 1, 0);
    const struct model_answer *a = model_decide(&q);
    int same = a->verdict == PLAN_COMMIT && a->writes == now.held.writes;
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        same = same && a->to[p].state == now.held.to[p].state &&
               a->to[p].who == now.held.to[p].who && a->to[p].stopping == now.held.to[p].stopping;
    }
    return same;
}

/* L1, L3, S13: what is desired runs, once, where its record says; nothing else is there; who was
 * to be emptied has left. */
static int all_is_well(void)
{
    int containers = 0, well = 1;
    for (int c = 0; c < MODEL_CELLS; c++) {
        well = well && (now.rep[c].draining ? !now.rep[c].up && now.cell[c].state == CELL_NONE
                                            : is_current(c));
        for (int s = 0; s < MODEL_SLOTS; s++) {
            containers += now.rep[c].container[s] != NONE;
        }
    }
    well = well && now.at[SUSPECT].state == ACTUAL_LRP_NONE &&
           now.at[EVACUATING].state == ACTUAL_LRP_NONE;
    if (!now.desired) {
        return well && containers == 0 && now.at[ORDINARY].state == ACTUAL_LRP_NONE;
    }
    int who = now.at[ORDINARY].who;
    return well && containers == 1 && now.at[ORDINARY].state == ACTUAL_LRP_RUNNING &&
           !now.at[ORDINARY].stopping &&
           now.rep[model_cell_of(who)].container[(who - 1) % MODEL_SLOTS] == RUNNING;
}

/* ---- A bbs ---- */

static void answer(int c, const struct model_answer *a)
{
    now.rep[c].call.stage = ANSWERED;
    now.rep[c].call.verdict = a->verdict;
    now.rep[c].call.type = a->type;
    now.rep[c].call.keep = a->keep && now.rep[c].call.what == HARMONY_EVACUATE_RUNNING;
    now.rep[c].call.incarnation = now.rep[c].call.immediate = 0; /* it has been said */
    now.rep[c].call.shown = a->shown;
    now.rep[c].call.record.state = a->record.state;
    now.rep[c].call.record.who = a->record.who;
    now.rep[c].call.record.stopping = a->record.stopping;
    now.rep[c].call.moved = now.rep[c].call.old = 0;
}

static void hold(int by, int c, const struct model_question *q, const struct model_answer *a)
{
    now.held.on = 1;
    now.held.by = by;
    now.held.cell = c;
    now.held.cells = (model_reads_cell(q, 0) ? 1 : 0) | (model_reads_cell(q, 1) ? 2 : 0);
    now.held.reads_desired = model_reads_desired(q->move);
    now.held.reads_evacuating = 1;
    now.held.what = q->move;
    now.held.immediate = q->immediate;
    now.held.writes = a->writes;
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        now.held.to[p].state = a->to[p].state;
        now.held.to[p].who = a->to[p].who;
        now.held.to[p].stopping = a->to[p].stopping;
    }
}

static void hold_call(int c)
{
    struct model_question q =
        question_of_rep(c, now.rep[c].call.what, now.rep[c].call.who, now.rep[c].call.presence,
                        now.rep[c].call.incarnation, now.rep[c].call.immediate);
    hold(BY_REP, c, &q, model_decide(&q));
    now.held.who = now.rep[c].call.who;
    now.held.presence = now.rep[c].call.presence;
    now.held.incarnation = now.rep[c].call.incarnation;
}

static void hold_repair(int move)
{
    struct model_question q = question_of(move, 0, 0, 1, 0);
    hold(BY_CONVERGER, 0, &q, repair(move));
}

static void commit_held(void)
{
    struct model_record to[MODEL_PRESENCES];
    int writes = now.held.writes;
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        to[p] = (struct model_record){now.held.to[p].state, now.held.to[p].who,
                                      now.held.to[p].stopping};
    }
    forget_held();
    write_records(writes, to);
}

static struct model_question late_question(void)
{
    return question_of_rep(now.late.cell, now.late.what, now.late.who, now.late.presence,
                           now.late.incarnation, 1);
}

static int late_commits(void)
{
    struct model_question q = late_question();
    return now.late.what < HARMONY_ACTION_COUNT && model_decide(&q)->verdict == PLAN_COMMIT;
}

/* bbs/lrp/instances.c, stop(): of a removal. Gives what is written. */
static int stopping_of(struct model_record *to)
{
    int writes = 0;
    memset(to, 0, MODEL_PRESENCES * sizeof(*to));
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        if (now.at[p].state == ACTUAL_LRP_NONE || now.at[p].stopping) {
            continue;
        }
        writes |= 1 << p;
        if (now.at[p].state == ACTUAL_LRP_CLAIMED || now.at[p].state == ACTUAL_LRP_RUNNING) {
            to[p] = (struct model_record){now.at[p].state, now.at[p].who, 1};
        }
    }
    return writes;
}

static void mark_stopping(void)
{
    struct model_record to[MODEL_PRESENCES];
    int writes = stopping_of(to);
    write_records(writes, to);
}

/* Nothing names this instance any more: its guid may stand for a new one. */
static int is_unknown(int who)
{
    int c = model_cell_of(who);
    int named = now.late.left && now.late.who == who;
    named |= now.held.on && (now.held.who == who);
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        named |= now.at[p].who == who || (now.held.on && now.held.to[p].who == who);
    }
    for (int i = 0; i < MODEL_CELLS; i++) {
        named |= now.rep[i].ordinary.who == who;
        named |= now.rep[i].call.stage != GONE &&
                 (now.rep[i].call.who == who || now.rep[i].call.record.who == who);
    }
    return !named && now.rep[c].suspect != who && now.rep[c].evacuating != who;
}

static int free_slot(int c)
{
    for (int s = 0; s < MODEL_SLOTS; s++) {
        if (now.rep[c].container[s] == NONE && is_unknown(who_in(c, s))) {
            return s;
        }
    }
    return -1;
}

/* instance_reserve(), is_starting_here(); an auctioneer offers what is UNCLAIMED. */
static int reserves(int c)
{
    int newest = now.rep[c].container[now.rep[c].newest];
    return now.rep[c].up && now.rep[c].open && !now.rep[c].draining &&
           (now.begun || c == 0) && now.at[ORDINARY].state == ACTUAL_LRP_UNCLAIMED &&
           newest != RESERVED && newest != STARTING && newest != LAUNCHING && free_slot(c) >= 0;
}

static void reserve(int c)
{
    int s = free_slot(c);
    now.begun = 1;
    now.rep[c].container[s] = RESERVED;
    now.rep[c].newest = s;
}

static void wrote_desired(void)
{
    if (now.held.reads_desired) {
        forget_held();
    }
    moved();
}

/* The removal has read what there is of the EVACUATING record (bbs/lrp/instances.c,
 * is_evacuating()). */
static void hold_removal(void)
{
    forget_held();
    now.held.on = 1;
    now.held.by = BY_CLIENT;
    now.held.reads_desired = 1;
    now.held.reads_evacuating = now.at[EVACUATING].state != ACTUAL_LRP_NONE;
    struct model_record to[MODEL_PRESENCES];
    now.held.writes = stopping_of(to);
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        now.held.to[p].state = to[p].state;
        now.held.to[p].who = to[p].who;
        now.held.to[p].stopping = to[p].stopping;
    }
}

/* Its rep goes on; what it asked may land late, if there is room to look at it; else it is lost. */
static void give_up_call(int c)
{
    if (now.rep[c].call.stage == SENT && !now.late.left) {
        now.late.left = 2;
        now.late.cell = c;
        now.late.what = now.rep[c].call.what;
        now.late.who = now.rep[c].call.who;
        now.late.presence = now.rep[c].call.presence;
        now.late.incarnation = now.rep[c].call.incarnation;
    }
    forget_call(c);
}

static void forget_late_at_last(void)
{
    if (!now.late.left) {
        memset(&now.late, 0, sizeof(now.late));
    }
}

/* S8: of a desired index a cell that is being emptied ends a container only when another instance
 * stands in its place: RUNNING or CRASHED, or EVACUATING as this one would; or when it was to
 * stop. */
static int ends_nobody_early(int c)
{
    const struct model_answer *a = asked(c);
    int who = now.rep[c].call.who, replaced = !now.desired;
    if (now.rep[c].call.what != HARMONY_EVACUATE_RUNNING || a->verdict == PLAN_REFUSE || a->keep) {
        return 1;
    }
    for (int p = 0; p < MODEL_PRESENCES; p++) {
        replaced |= now.at[p].who == who && now.at[p].stopping;
    }
    replaced |= now.at[ORDINARY].state == ACTUAL_LRP_CRASHED;
    replaced |= now.at[ORDINARY].state == ACTUAL_LRP_RUNNING && now.at[ORDINARY].who != who;
    return replaced || (now.at[EVACUATING].who && now.at[EVACUATING].who != who);
}

static int speaks_or_writes_nothing(int c)
{
    return asked(c)->verdict != PLAN_COMMIT || speaks_for(c, now.rep[c].call.incarnation);
}

/* What stands here in numbers is what the code has. */
static void check_numbers(void)
{
    _Static_assert(ORDINARY == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY, "");
    _Static_assert(EVACUATING == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING, "");
    _Static_assert(SUSPECT == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT, "");
    _Static_assert(CELL_IS_NONE == CELL_NONE && CELL_IS_PRESENT == CELL_PRESENT, "");
    _Static_assert(CELL_IS_LOST == CELL_LOST, "");
    _Static_assert(REFUSED == PLAN_REFUSE, "");
    _Static_assert((int)MODEL_MOVES < OPEN, "");
}

/* A loss takes 6 s of silence. Who has not heard from its feed for so long has missed three of its
 * heartbeats (design.md 2, Feed), and has to reconcile again for S1. */
static void lose(int c)
{
    now.cell[c].state = CELL_LOST;
    for (int i = 0; i < MODEL_CELLS; i++) {
        now.rep[i].reconciled = now.rep[i].reconciled && is_fed(i);
    }
    wrote_cell(c);
}

/* A new rep of the same state directory: what ran is adopted, or gone after a reboot. */
static void restart(int c, int reboot)
{
    static const uchar adopted[] = {NONE,    NONE,    NONE,    RUNNING, RUNNING,
                                    RUNNING, RUNNING, CRASHED, CRASHED};
    for (int s = 0; s < MODEL_SLOTS; s++) {
        now.rep[c].container[s] = reboot ? NONE : adopted[now.rep[c].container[s]];
        now.rep[c].waits[s] = 0;
    }
    now.rep[c].waits[2] = 0;
    now.rep[c].newest = 0;
    now.rep[c].up = now.rep[c].open = now.rep[c].reconciled = 0;
    now.rep[c].incarnation++;
}

/* rep/drain/drain.c, nothing_on_board(), look_for_end() */
static int may_leave(int c)
{
    int held_here = now.rep[c].container[0] != NONE || now.rep[c].container[1] != NONE;
    return now.rep[c].up && now.rep[c].open && now.rep[c].draining && !held_here &&
           now.rep[c].call.stage == GONE &&
           !is_of(now.rep[c].known ? now.rep[c].ordinary.who : 0, c) && !now.rep[c].suspect &&
           !now.rep[c].evacuating;
}
}

/* A blank stands before the parentheses within c_expr: spin takes a call for a side effect
 * otherwise. */
#define S1 c_code { look_around(); }; assert(c_expr { runs_once () })

/* ---- A rep ----------------------------------------------------------------------------------- */

proctype Life(byte c)
{
end:
    do
    /* It starts, and its feed brings the board. */
    :: d_step {
        !rep[c].up && !(rep[c].draining && cell[c].state == CELL_IS_NONE) ->
        rep[c].up = 1;
        c_code { feed(PLife->c); };
        S1
       }
    :: d_step { rep[c].up && !c_expr { is_fed (PLife->c) } -> c_code { feed(PLife->c); }; S1 }
    /* incarnation.c: it opens its incarnation, or learns by a heartbeat that it is over. */
    :: d_step {
        rep[c].up && !rep[c].open && rep[c].call.stage == GONE ->
        c_code { send(PLife->c, OPEN, 0, 0, 0); }
       }
    :: d_step {
        rep[c].up && rep[c].open && rep[c].call.what != LEAVE &&
        !(cell[c].state == CELL_IS_PRESENT && cell[c].incarnation == rep[c].incarnation) ->
        rep[c].open = 0;
        S1
       }
    /* offer.c */
    :: d_step { c_expr { reserves (PLife->c) } -> c_code { reserve(PLife->c); } }
    /* drain.c */
    :: d_step { c_expr { may_leave (PLife->c) } -> c_code { send(PLife->c, LEAVE, 0, 0, 0); } }
    /* A record without a container. */
    :: d_step { c_expr { wants_stray (PLife->c) } -> c_code { send_stray(PLife->c); }; S1 }
    /* The answer. */
    :: d_step {
        rep[c].call.stage == ANSWERED && rep[c].up ->
        if
        :: rep[c].call.what == OPEN && rep[c].call.verdict != REFUSED ->
            rep[c].open = 1
        :: rep[c].call.what == OPEN && rep[c].call.verdict == REFUSED ->
            /* raise_incarnation(): the cell was lost, with an incarnation not below ours */
            rep[c].incarnation = rep[c].call.type + 1
        :: rep[c].call.what == LEAVE ->
            rep[c].up = 0;
            rep[c].open = 0
        :: rep[c].call.what != OPEN && rep[c].call.what != LEAVE ->
            c_code {
                int c = PLife->c, s = (now.rep[c].call.who - 1) % MODEL_SLOTS;
                int refused = now.rep[c].call.verdict == PLAN_REFUSE &&
                              now.rep[c].call.type == MODELS__ERROR__TYPE__ResourceConflict;
                if (refused) { /* moves.c, incarnation_refused() */
                    now.rep[c].open = 0;
                } else {
                    if (!now.rep[c].call.old) {
                        learn(c);
                    }
                    if (now.rep[c].container[s] != NONE) {
                        settle(c, s);
                        note_wait(c, s);
                    } else {
                        note_stray_wait(c);
                    }
                }
            }
        fi;
        c_code { forget_call(PLife->c); };
        S1
       }
    od
}

/* A container of its rep (rep/instance/instance.c). */
proctype Container(byte c; byte s)
{
end:
    do
    :: d_step {
        c_expr { wants_move (PContainer->c, PContainer->s) } ->
        c_code { send_move(PContainer->c, PContainer->s, 0); }
       }
    /* It crashed, for the first or second time, to be restarted at once. */
    :: d_step {
        rep[c].container[s] == CRASHED && c_expr { wants_move (PContainer->c, PContainer->s) } ->
        c_code { send_move(PContainer->c, PContainer->s, 1); }
       }
    :: d_step {
        c_expr { wants_local (PContainer->c, PContainer->s, HARMONY_DELETE) } ->
        c_code { abandon(PContainer->c, PContainer->s); }
       }
    :: d_step {
        c_expr { wants_local (PContainer->c, PContainer->s, HARMONY_STOP) } ->
        rep[c].container[s] = (rep[c].container[s] == RUNNING -> STOPPING : SHUTDOWN)
       }
    /* launch_continue(); a verb takes its time. */
    :: d_step {
        rep[c].container[s] == STARTING &&
        c_expr { wants_local (PContainer->c, PContainer->s, HARMONY_GO_ON) } ->
        rep[c].container[s] = LAUNCHING
       }
    :: d_step { rep[c].up && rep[c].container[s] == LAUNCHING -> rep[c].container[s] = RUNNING; S1 }
    :: d_step { rep[c].up && rep[c].container[s] == STOPPING -> rep[c].container[s] = SHUTDOWN }
    :: d_step { rep[c].up && rep[c].container[s] == LEAVING -> rep[c].container[s] = NONE }
    od
}

/* ---- The board's ops ------------------------------------------------------------------------- */

/* The call of a rep, at a bbs. */
proctype Calls(byte c)
{
end:
    do
    /* cell_decide(): a successor takes a PRESENT cell over, a higher incarnation a LOST one. */
    :: d_step {
        rep[c].call.stage == SENT && rep[c].call.what == OPEN ->
        rep[c].call.stage = ANSWERED;
        if
        :: cell[c].state == CELL_IS_LOST && rep[c].call.incarnation <= cell[c].incarnation ->
            rep[c].call.verdict = REFUSED;
            rep[c].call.type = cell[c].incarnation /* the record is shown */
        :: else ->
            assert(cell[c].state != CELL_IS_PRESENT ||
                   rep[c].call.incarnation >= cell[c].incarnation);
            if
            :: cell[c].state != CELL_IS_PRESENT || cell[c].incarnation != rep[c].call.incarnation ->
                cell[c].state = CELL_IS_PRESENT;
                cell[c].incarnation = rep[c].call.incarnation;
                c_code { wrote_cell(PCalls->c); }
            :: else
            fi
        fi;
        S1
       }
    :: d_step {
        rep[c].call.stage == SENT && rep[c].call.what == LEAVE ->
        rep[c].call.stage = ANSWERED;
        if
        :: cell[c].state != CELL_IS_NONE &&
           cell[c].incarnation == rep[c].call.incarnation -> /* OWN */
            cell[c].state = CELL_IS_NONE;
            cell[c].incarnation = 0;
            c_code { wrote_cell(PCalls->c); }
        :: else
        fi
       }
    /* A move: decided and committed, or its answer confirmed, at one revision. */
    :: d_step {
        rep[c].call.stage == SENT && rep[c].call.what < OPEN ->
        assert(c_expr { speaks_or_writes_nothing (PCalls->c) }); /* S2 */
        assert(c_expr { ends_nobody_early (PCalls->c) }); /* S8 */
        c_code {
            const struct model_answer *a = asked(PCalls->c);
            answer(PCalls->c, a);
            if (a->verdict == PLAN_COMMIT) {
                write_records(a->writes, a->to);
                now.rep[PCalls->c].call.moved = 0;
            }
        };
        S1
       }
    /* It stands between gather and commit; the answer does not come. */
    :: d_step {
        faults > 0 && !held.on && rep[c].call.stage == SENT && rep[c].call.what < OPEN &&
        c_expr { asked (PCalls->c)->verdict == PLAN_COMMIT } ->
        faults--;
        disturbed = 1;
        c_code { hold_call(PCalls->c); forget_call(PCalls->c); }
       }
    od
}

proctype Ops()
{
end:
    do
    :: d_step {
        held.on && held.by == BY_REP ->
        assert(c_expr { speaks_for (now.held.cell, now.held.incarnation) }); /* S2 */
        assert(c_expr { would_be_decided () }); /* S12 */
        c_code { commit_held(); };
        S1
       }
    :: d_step {
        held.on && held.by == BY_CONVERGER ->
        assert(c_expr { would_be_decided () }); /* S12 */
        c_code { commit_held(); };
        S1
       }
    :: d_step {
        held.on && held.by == BY_CLIENT ->
        desired = 0;
        removed = 1;
        c_code { commit_held(); };
        S1
       }
    /* Its bbs dies. */
    :: d_step { held.on -> c_code { forget_held(); } }
    /* A call that its rep has given up lands, perhaps twice; or never. */
    :: d_step {
        late.left > 0 && c_expr { late_commits () } ->
        assert(c_expr { speaks_for (now.late.cell, now.late.incarnation) }); /* S2 */
        late.left--;
        c_code {
            struct model_question q = late_question();
            const struct model_answer *a = model_decide(&q);
            write_records(a->writes, a->to);
            forget_late_at_last();
        };
        S1
       }
    :: d_step {
        late.left > 0 && late.what == OPEN && cell[late.cell].state != CELL_IS_PRESENT &&
        late.incarnation > cell[late.cell].incarnation -> /* cell.def: NONE and LOST, open */
        cell[late.cell].state = CELL_IS_PRESENT;
        cell[late.cell].incarnation = late.incarnation;
        c_code { wrote_cell(now.late.cell); now.late.left = 0; forget_late_at_last(); };
        S1
       }
    :: d_step { late.left > 0 -> c_code { now.late.left = 0; forget_late_at_last(); } }
    od
}

/* ---- The converger --------------------------------------------------------------------------- */

#define REPAIR(move)                                                           \
    :: d_step {                                                                \
        c_expr { commits (move) } ->                                           \
        c_code {                                                               \
            const struct model_answer *a = repair(move);                       \
            write_records(a->writes, a->to);                                   \
        };                                                                     \
        S1                                                                     \
       }                                                                       \
    :: d_step {                                                                \
        faults > 0 && !held.on && c_expr { commits (move) } ->                 \
        faults--;                                                              \
        disturbed = 1;                                                         \
        c_code { hold_repair(move); }                                          \
       }

/* converger/passes.def */
proctype Converger()
{
end:
    do
    REPAIR(MODEL_VACATE)
    REPAIR(MODEL_SUSPECT)
    REPAIR(MODEL_CREATE)
    REPAIR(MODEL_RESOLVE)
    REPAIR(MODEL_RESTART)
    REPAIR(MODEL_STOP_UNDESIRED)
    od
}

/* ---- Faults ---------------------------------------------------------------------------------- */

proctype Faults(byte c)
{
end:
    do
    /* lose.c: of the incarnation that the board has; whether it lives or not. */
    :: d_step {
        faults > 0 && cell[c].state == CELL_IS_PRESENT ->
        faults--;
        disturbed = 1;
        c_code { lose(PFaults->c); };
        S1
       }
    :: d_step {
        faults > 0 && rep[c].up && rep[c].call.what != LEAVE ->
        faults--;
        disturbed = 1;
        c_code { give_up_call(PFaults->c); restart(PFaults->c, 0); };
        S1
       }
    :: d_step {
        faults > 0 && rep[c].up && rep[c].call.what != LEAVE ->
        faults--;
        disturbed = 1;
        c_code { give_up_call(PFaults->c); restart(PFaults->c, 1); };
        S1
       }
    /* One that is to be emptied; the other takes what it had. */
    :: d_step {
        faults > 0 && rep[c].up && !rep[0].draining && !rep[1].draining ->
        faults--;
        disturbed = 1;
        begun = 1;
        rep[c].draining = 1;
        rep[c].waits[0] = 0;
        rep[c].waits[1] = 0;
        S1
       }
    /* A process ends, or could not be started. */
    :: d_step {
        faults > 0 && rep[c].up &&
        (rep[c].container[0] == RUNNING || rep[c].container[0] == LAUNCHING) ->
        faults--;
        rep[c].container[0] = CRASHED;
        rep[c].waits[0] = 0
       }
    :: d_step {
        faults > 0 && rep[c].up &&
        (rep[c].container[1] == RUNNING || rep[c].container[1] == LAUNCHING) ->
        faults--;
        rep[c].container[1] = CRASHED;
        rep[c].waits[1] = 0
       }
    :: d_step {
        faults > 0 && rep[c].call.stage != GONE && rep[c].call.what != LEAVE ->
        faults--;
        disturbed = 1;
        c_code { give_up_call(PFaults->c); }
       }
    od
}

proctype Client()
{
end:
    do
    /* remove_desired.c */
    :: d_step {
        faults > 0 && desired ->
        faults--;
        desired = 0;
        removed = 1;
        c_code { wrote_desired(); mark_stopping(); };
        S1
       }
    :: d_step {
        faults > 1 && desired && !held.on ->
        faults = faults - 2;
        disturbed = 1;
        c_code { hold_removal(); }
       }
    :: d_step { faults > 0 -> faults = 0 } /* faults stop */
    od
}

/* Nothing is left to do: L1, L3, S13. */
active proctype Rest()
{
    timeout -> assert(c_expr { all_is_well () })
}

init {
    byte c = 0;
    d_step {
        c_code { check_numbers(); };
        do
        :: c < 2 ->
            rep[c].incarnation = 1;
            rep[c].up = 1;
            rep[c].open = 1;
            cell[c].incarnation = 1;
            cell[c].state = CELL_IS_PRESENT;
            c++
        :: else -> break
        od;
        c = 0
    }
    atomic {
        c = 0;
        do
        :: c < 2 ->
            run Life(c);
            run Container(c, 0);
            run Container(c, 1);
            run Calls(c);
            run Faults(c);
            c++
        :: else -> break
        od;
        c = 0;
        run Ops();
        run Converger();
        run Client()
    }
}
