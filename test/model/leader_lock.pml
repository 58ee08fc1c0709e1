/* One leader a role (docs/design.md 6, Fencing): candidates, the lock lead/<role> in etcd,
 * heartbeats through a bbs, and moves that carry board generation and term. Checked by
 * test/model/test_model.
 *
 * What it models                          follows
 *   a candidate                           common/client/leader.c, common/client/heartbeat_sender.c
 *   the decision of a bbs about the lock bbs/leader_lock/leader_lock.c, rules 1 to 5; its
 *                                        transitions are those of common/lifecycle/leader_lock.def
 *   displacing in two ops                 bbs/route/own.c, leader_lock_done() and acquire()
 *   whether a leader may speak            bbs/board/speaker.c, leader_refused()
 *   gather, commit, gather again         bbs/board/op.c: a transaction compares all that was read.
 *                                        Here an op that has gathered falls back to its beginning
 *                                        when something that it compares is written, for etcd
 *                                        would refuse it then
 *   heartbeats, silence                  bbs/route/own.c, route_heartbeat();
 *                                        bbs/board/heartbeat.c; common/client/liveness_report.c
 *   restore                              docs/restore.md: another board generation, revisions turn
 *                                        back
 *
 * Faults, FAULTS of any kind: a candidate is killed, is asked to stop, or pauses and believes that
 * it leads still; a standby hears no heartbeat that was sent; a bbs dies with what it heard; an
 * answer does not come, and what was asked may land late or never; the board is restored. A move
 * of a leader is on its way for any time, and may land twice or never.
 *
 * Time is a tick of 2 s: it passes only when nobody has anything to do at once. What takes long
 * does so by a fault.
 *
 * Held: S2 and S10 (a write that is accepted is the leader's of the term that stands), S12 (what
 * the lock goes by), and that a leader comes back when faults stop.
 *
 * -DBUG_... leaves out a compare, a guard or a fence; test_model expects each to be found. */

#ifndef CANDIDATES
#define CANDIDATES 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
/* Moves that leaders send, and how many are on their way at one time. */
#ifndef WRITES
#define WRITES 2
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
/* LEADER_SILENCE_NS is 6 s and HEARTBEAT_INTERVAL_NS 2 s: 3. With 2 a heartbeat comes in time,
 * too. */
#ifndef SILENCE_TICKS
#define SILENCE_TICKS 2
#endif
#define NOBODY 0

/* ---- The board ------------------------------------------------------------------------------- */

typedef LeaderLock {
    byte holder; /* the id of a candidate's life; NOBODY = the key is absent */
    byte term;   /* its create-revision */
};
LeaderLock lock;       /* lead/<role> */
byte revision;         /* etcd's, which only a new lock raises here */
byte board_generation; /* epoch/<id> */

/* ---- On their way ---------------------------------------------------------------------------- */

#define GONE     0 /* there is none */
#define SENT     1 /* on its way, or about to gather (again) */
#define GATHERED 2 /* a bbs has read and decided, and commits what it decided */
#define ANSWERED 3

#define PLAN_RELEASE  1
#define PLAN_ACQUIRE  2
#define PLAN_DISPLACE 3

/* Board__LeaderLockRequest and its answer. One for each candidate; the last is one that nobody
 * waits for any more. */
typedef LockCall {
    byte stage;
    byte id;       /* who asks */
    byte displace; /* the term that it did not hear of; 0 = it wants the free lock */
    byte release;  /* the term that it gives back; 0 = none */
    byte plan;
    byte holder;   /* answered: the record as it stands, and its term */
    byte term;
    byte generation;
};
#define LATE CANDIDATES
LockCall call[CANDIDATES + 1];

/* A Board__Move of a leader. */
typedef Write {
    byte stage;
    byte id;
    byte term;
    byte generation;
    bit again; /* it may land a second time */
};
Write write[SLOTS];

byte heard; /* the term whose heartbeat a bbs takes to the board with its next put; 0 = none */

/* ---- Candidates ------------------------------------------------------------------------------ */

typedef Candidate {
    byte id; /* drawn at its start; NOBODY = it is down */
    bit paused;
    bit leads;
    byte term;       /* while it leads */
    byte generation; /* of the term */
    bit asked;       /* LEADER_RETRY_NS is not over */
    bit due;         /* a heartbeat is to be sent */
    /* As its feed shows the board. */
    bit stale;       /* the board has changed since */
    byte holder;     /* of the lock */
    byte held_term;
    byte fed;        /* the feed's board generation */
    byte silence;    /* ticks without a heartbeat of the holder */
};
Candidate candidate[CANDIDATES];
byte lives;

byte faults = FAULTS, writes = WRITES;
bit calm; /* faults have stopped */

#define UP(c) (candidate[c].id != NOBODY && !candidate[c].paused)
#define LED_BY(c)                                                                                 \
    (UP(c) && candidate[c].leads && lock.holder == candidate[c].id &&                             \
     lock.term == candidate[c].term && board_generation == candidate[c].generation)
#if CANDIDATES == 2
#define LED (LED_BY(0) || LED_BY(1))
#define ANOTHER_UP(c) UP(1 - c)
#else
#define LED (LED_BY(0) || LED_BY(1) || LED_BY(2))
#define ANOTHER_UP(c) ((c != 0 && UP(0)) || (c != 1 && UP(1)) || (c != 2 && UP(2)))
#endif

byte i; /* of loops within one step, and 0 between steps */

/* Who compares the lock when it is written; the board generation everybody compares. */
#ifdef BUG_LOCK_OP_COMPARES_NOTHING
#define CALL_COMPARES(restored) (restored)
#else
#define CALL_COMPARES(restored) 1
#endif
#ifdef BUG_LOCK_NOT_COMPARED
#define WRITE_COMPARES(restored) (restored)
#else
#define WRITE_COMPARES(restored) 1
#endif

/* The lock or the board generation was written: who compares it is refused and gathers again, and
 * feeds bring it. */
inline written(restored)
{
    i = 0;
    do
    :: i <= CANDIDATES ->
        if
        :: CALL_COMPARES(restored) && call[i].stage == GATHERED ->
            call[i].stage = SENT;
            call[i].plan = 0
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < SLOTS ->
        if
        :: WRITE_COMPARES(restored) && write[i].stage == GATHERED -> write[i].stage = SENT
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < CANDIDATES ->
        if
        :: candidate[i].id != NOBODY -> candidate[i].stale = 1
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

inline set_lock(who, create_revision)
{
    lock.holder = who;
    lock.term = create_revision;
    written(0)
}

/* ---- A bbs: the lock (bbs/leader_lock/leader_lock.c) ----------------------------------------- */

inline forget_call(k)
{
    call[k].stage = GONE;
    call[k].id = NOBODY;
    call[k].displace = 0;
    call[k].release = 0;
    call[k].plan = 0;
    call[k].holder = NOBODY;
    call[k].term = 0;
    call[k].generation = 0
}

inline answer(k)
{
    if
    :: k == LATE -> forget_call(k)
    :: else ->
        call[k].stage = ANSWERED;
        call[k].holder = lock.holder;
        call[k].term = lock.term;
        call[k].generation = board_generation;
        call[k].plan = 0
    fi
}

#ifdef BUG_DISPLACES_ANY_TERM
#define DISPLACES(k) (call[k].displace != 0)
#else
#define DISPLACES(k) (call[k].displace != 0 && call[k].displace == lock.term) /* term_matches */
#endif
#ifdef BUG_RELEASES_ANY_TERM
#define RELEASES(k) (lock.holder != NOBODY)
#else
#define RELEASES(k) (lock.holder == call[k].id && lock.term == call[k].release)
#endif

/* leader_lock_decide(), with its numbers. What commits nothing is answered as it is confirmed
 * (bbs/board/confirm.c). */
inline leader_lock_decide(k)
{
    if
    :: call[k].release != 0 && RELEASES(k) -> /* 1 */
        call[k].plan = PLAN_RELEASE;
        call[k].stage = GATHERED
    :: call[k].release == 0 && lock.holder == NOBODY -> /* 2 */
        call[k].plan = PLAN_ACQUIRE;
        call[k].stage = GATHERED
    :: call[k].release == 0 && lock.holder == call[k].id -> /* 3 */
        answer(k)
    :: call[k].release == 0 && lock.holder != NOBODY && lock.holder != call[k].id &&
       DISPLACES(k) -> /* 4 */
        call[k].plan = PLAN_DISPLACE;
        call[k].stage = GATHERED
    :: else -> /* 5; 1, of another term */
        answer(k)
    fi
}

/* The transaction. Its compares hold, or the op would have fallen back. It is no longer GATHERED
 * when it writes, so that its own write does not turn it back. */
inline leader_lock_commit(k)
{
    call[k].stage = ANSWERED;
    if
    :: call[k].plan == PLAN_ACQUIRE ->
        assert(lock.holder == NOBODY); /* S12 acquire: none to HELD */
        revision++;
        set_lock(call[k].id, revision);
        answer(k)
    :: call[k].plan == PLAN_RELEASE ->
        assert(lock.holder == call[k].id && lock.term == call[k].release); /* S12 release */
        set_lock(NOBODY, 0);
        answer(k)
    :: call[k].plan == PLAN_DISPLACE ->
        assert(lock.holder != NOBODY && lock.term == call[k].displace); /* S12 displace */
#ifdef BUG_TAKES_OVER_BY_PUT
        set_lock(call[k].id, lock.term); /* the key keeps its create-revision */
        answer(k)
#else
        set_lock(NOBODY, 0);
        /* own.c, acquire(): the route sends the second step, which wants the free lock. */
        call[k].stage = SENT;
        call[k].displace = 0;
        call[k].plan = 0
#endif
    fi
}

/* ---- A bbs: a move of a leader --------------------------------------------------------------- */

/* speaker.c, leader_refused(): the term and the board generation that the move carries. */
#ifdef BUG_TERM_NOT_LOOKED_AT
#define TERM_STANDS(w) (lock.holder != NOBODY)
#else
#define TERM_STANDS(w) (lock.holder != NOBODY && lock.term == write[w].term)
#endif
#ifdef BUG_GENERATION_NOT_LOOKED_AT
#define GENERATION_STANDS(w) 1
#else
#define GENERATION_STANDS(w) (board_generation == write[w].generation)
#endif

inline forget_write(w)
{
    write[w].stage = GONE;
    write[w].id = NOBODY;
    write[w].term = 0;
    write[w].generation = 0;
    write[w].again = 0
}

/* S2, S10: it is the leader's of the term that stands. As terms only rise within a board
 * generation, no two terms overlap. */
inline accepted(w)
{
    assert(board_generation == write[w].generation); /* S2 */
    assert(lock.holder == write[w].id && lock.term == write[w].term) /* S10 */
}

/* ---- A candidate (common/client/leader.c) ---------------------------------------------------- */

inline depose(c)
{
    candidate[c].leads = 0;
    candidate[c].term = 0;
    candidate[c].generation = 0;
    candidate[c].due = 0;
    candidate[c].asked = 1
}

/* maybe_ask(): the lock is free, ours by an answer that was lost, or held by somebody unheard of.
 * */
#ifdef BUG_SILENCE_NOT_COUNTED
#define UNHEARD(c) 0
#else
#define UNHEARD(c)                                                                                \
    (candidate[c].holder != NOBODY && candidate[c].holder != candidate[c].id &&                   \
     candidate[c].silence >= SILENCE_TICKS)
#endif
#define ASKS(c)                                                                                   \
    (UP(c) && !candidate[c].leads && call[c].stage == GONE && !candidate[c].asked &&              \
     !candidate[c].stale &&                                                                       \
     (candidate[c].holder == NOBODY || candidate[c].holder == candidate[c].id || UNHEARD(c)))

/* Something of it is to be done before time passes. */
#define BUSY(c)                                                                                   \
    ((UP(c) && (candidate[c].stale || candidate[c].due || call[c].stage == ANSWERED ||           \
                ASKS(c))) ||                                                                     \
     call[c].stage == SENT || call[c].stage == GATHERED)
#if CANDIDATES == 2
#define ALL_QUIET (!BUSY(0) && !BUSY(1))
#else
#define ALL_QUIET (!BUSY(0) && !BUSY(1) && !BUSY(2))
#endif

/* on_leader_lock(), on_leader_lock_gone(), on_current() and the reset of leader_change(): the feed
 * brings the board as it is, whatever it was meanwhile. An older lock changes nothing. */
inline follow(c)
{
    candidate[c].stale = 0;
    if
    :: candidate[c].held_term != lock.term || candidate[c].holder != lock.holder ->
        candidate[c].silence = 0; /* liveness_report_expect(): its window begins */
        if
        :: lock.holder == NOBODY && !candidate[c].leads -> candidate[c].asked = 0
        :: else
        fi
    :: else
    fi;
    candidate[c].holder = lock.holder;
    candidate[c].held_term = lock.term;
    candidate[c].fed = board_generation;
    if
    :: candidate[c].leads && (candidate[c].generation != board_generation ||
                              lock.holder == NOBODY || lock.term > candidate[c].term) ->
        depose(c)
    :: else
    fi
}

/* on_answer(): an answer of another board generation than the feed's elects nobody. */
#ifdef BUG_ANSWER_OF_ANY_GENERATION
#define OF_THIS_GENERATION(c) 1
#else
#define OF_THIS_GENERATION(c) (call[c].generation == candidate[c].fed)
#endif

/* on_answer(), elected() */
inline hear_answer(c)
{
    if
    :: call[c].holder == candidate[c].id && !candidate[c].leads && OF_THIS_GENERATION(c) ->
        candidate[c].leads = 1;
        candidate[c].term = call[c].term;
        candidate[c].generation = call[c].generation;
        candidate[c].due = 1
    :: else /* somebody else holds it: the feed tells the rest */
    fi;
    forget_call(c)
}

/* What it had under way goes on without it, if there is room to look at it; else it is lost. */
inline give_up_call(c)
{
    if
    :: call[c].stage != GONE && call[c].stage != ANSWERED && call[LATE].stage == GONE ->
        call[LATE].stage = SENT;
        call[LATE].id = call[c].id;
        call[LATE].displace = call[c].displace
    :: else
    fi;
    forget_call(c)
}

inline end_life(c)
{
    depose(c);
    candidate[c].id = NOBODY;
    candidate[c].paused = 0;
    candidate[c].asked = 0;
    candidate[c].stale = 0;
    candidate[c].holder = NOBODY;
    candidate[c].held_term = 0;
    candidate[c].fed = 0;
    candidate[c].silence = 0
}

inline start(c)
{
    lives++;
    candidate[c].id = lives;
    candidate[c].stale = 1
}

#if SLOTS == 1
#define FREE_SLOT 0
#else
#define FREE_SLOT (write[0].stage == GONE -> 0 : 1)
#endif

proctype Life(byte c)
{
end:
    do
    :: d_step { UP(c) && candidate[c].stale -> follow(c) }
    :: d_step {
        ASKS(c) ->
        call[c].stage = SENT;
        call[c].id = candidate[c].id;
        if
        :: UNHEARD(c) -> call[c].displace = candidate[c].held_term
        :: else
        fi;
        candidate[c].asked = 1
       }
    :: d_step { UP(c) && call[c].stage == ANSWERED -> hear_answer(c) }
    /* A heartbeat. The bbs counts it by its copy as it is; a refusal passes the read barrier
     * (own.c, route_heartbeat()), and ends the term (HEARTBEAT_REJECTED). */
    :: d_step {
        UP(c) && candidate[c].due ->
        candidate[c].due = 0;
        if
        :: lock.holder != NOBODY && lock.term == candidate[c].term -> heard = candidate[c].term
        :: else -> depose(c)
        fi
       }
    :: d_step { /* by a copy that is behind */
        !calm && UP(c) && candidate[c].due && lock.term != candidate[c].term ->
        candidate[c].due = 0;
        heard = candidate[c].term
       }
    /* A move: leader_term() goes with it. */
    :: d_step {
        UP(c) && candidate[c].leads && writes > 0 && write[FREE_SLOT].stage == GONE ->
        writes--;
        i = FREE_SLOT;
        write[i].stage = SENT;
        write[i].id = candidate[c].id;
        write[i].term = candidate[c].term;
        write[i].generation = candidate[c].generation;
        write[i].again = 1;
        i = 0
       }
    od
}

/* ---- What lies between them ------------------------------------------------------------------ */

/* The lock's ops, at any bbs. */
proctype Locks(byte k)
{
end:
    do
    :: d_step { call[k].stage == SENT -> leader_lock_decide(k) }
    :: d_step { call[k].stage == GATHERED -> leader_lock_commit(k) }
    od
}

/* A move: a bbs gathers and decides, the transaction lands, and the same once more; or it is lost.
 * */
proctype Moves(byte w)
{
end:
    do
    :: d_step {
        write[w].stage == SENT ->
        if
        :: TERM_STANDS(w) && GENERATION_STANDS(w) -> write[w].stage = GATHERED
        :: else -> forget_write(w) /* ResourceConflict */
        fi
       }
    :: d_step {
        write[w].stage == GATHERED ->
        accepted(w);
        if
        :: write[w].again -> write[w].again = 0; write[w].stage = SENT
        :: else -> forget_write(w)
        fi
       }
    :: d_step { write[w].stage == SENT -> forget_write(w) }
    od
}

/* A bbs puts what it heard (heartbeat.c), and the feeds bring it: liveness_report_heartbeat()
 * counts what names the term that is expected. */
proctype Heartbeats()
{
end:
    do
    :: d_step {
        heard != 0 ->
        i = 0;
        do
        :: i < CANDIDATES ->
            if
            :: candidate[i].id != NOBODY && candidate[i].held_term == heard ->
                candidate[i].silence = 0
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0;
        heard = 0
       }
    od
}

/* 2 s pass. */
proctype Time()
{
end:
    do
    :: d_step {
        ALL_QUIET && heard == 0 ->
        i = 0;
        do
        :: i < CANDIDATES ->
            candidate[i].asked = 0;
            candidate[i].due = candidate[i].leads;
            if
            :: candidate[i].holder != NOBODY && candidate[i].holder != candidate[i].id &&
               !candidate[i].paused && candidate[i].silence < SILENCE_TICKS ->
                candidate[i].silence++
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0
       }
    od
}

/* Of a candidate; one is always there, or nobody could lead. */
proctype Faults(byte c)
{
end:
    do
    :: d_step {
        faults > 0 && candidate[c].id != NOBODY && ANOTHER_UP(c) ->
        faults--;
        give_up_call(c);
        end_life(c)
       }
    :: d_step { candidate[c].id == NOBODY -> start(c) }
    /* leader_stop(): it gives the lock back, and ends whether that lands or not. */
    :: d_step {
        faults > 0 && UP(c) && candidate[c].leads && ANOTHER_UP(c) && call[LATE].stage == GONE ->
        faults--;
        call[LATE].stage = SENT;
        call[LATE].id = candidate[c].id;
        call[LATE].release = candidate[c].term;
        end_life(c)
       }
    :: d_step { faults > 0 && UP(c) && ANOTHER_UP(c) -> faults--; candidate[c].paused = 1 }
    :: d_step { candidate[c].paused -> candidate[c].paused = 0 }
    :: d_step {
        faults > 0 && UP(c) && candidate[c].holder != NOBODY &&
        candidate[c].holder != candidate[c].id && candidate[c].silence < SILENCE_TICKS ->
        faults--;
        candidate[c].silence = SILENCE_TICKS
       }
    :: d_step { faults > 0 && UP(c) && call[c].stage != GONE -> faults--; give_up_call(c) }
    od
}

inline restored()
{
    faults--;
    board_generation++;
    written(1)
}

proctype Disasters()
{
end:
    do
    /* A bbs dies with what it heard. */
    :: d_step { faults > 0 && heard != 0 -> faults--; heard = 0 }
    /* bbs restore: of a backup that was made before the lock as it stands, or after. */
    :: d_step {
        faults > 0 && lock.holder != NOBODY ->
        revision = lock.term - 1;
        lock.holder = NOBODY;
        lock.term = 0;
        restored()
       }
    :: d_step { faults > 0 -> restored() }
    /* A call that nobody waits for may never land. */
    :: d_step { call[LATE].stage == SENT -> forget_call(LATE) }
    /* Faults stop. */
    :: d_step { !calm -> calm = 1; faults = 0; writes = 0 }
    od
}

init {
    atomic {
        byte c = 0;
        do
        :: c < CANDIDATES -> start(c); run Life(c); run Faults(c); c++
        :: else -> break
        od;
        c = 0;
        do
        :: c <= CANDIDATES -> run Locks(c); c++
        :: else -> break
        od;
        c = 0;
        do
        :: c < SLOTS -> run Moves(c); c++
        :: else -> break
        od;
        c = 0;
        run Heartbeats();
        run Time();
        run Disasters()
    }
}

/* When faults stop, somebody leads, and nothing changes that any more. */
ltl a_leader_comes_back { (<> calm) -> (<> [] LED) }
