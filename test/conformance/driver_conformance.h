/* What every container driver answers, the model included (design.md 3.4): a program of verbs whose
 * answers are judged with cmocka's asserts. A subject is one driver under test. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/event.h"

/* What a container's process does. */
enum program {
    PROGRAM_SLEEPS,      /* until told to end; ends at SIGTERM */
    PROGRAM_EXITS,       /* soon, with code 3 */
    PROGRAM_IS_STUBBORN, /* ignores SIGTERM */
    PROGRAM_IS_MISSING,  /* cannot be started */
    PROGRAM_SAYS,        /* over RUN_OUTPUT_MAX bytes, "end" last, and exits soon, with code 3 */
    PROGRAM_LEAVES,      /* "left behind" in the subject's file, and exits soon, with code 0 */
    PROGRAM_COUNT
};

struct subject {
    const char *name;
    void (*call)(struct subject *s, const struct verb_call *call);
    /* The next event within `wait_ns` of the subject's time; lives in `arena`. */
    bool (*next)(struct subject *s, int64_t wait_ns, struct arena *arena, struct event *ret);
    int64_t (*now_ns)(struct subject *s);
    void (*restart)(struct subject *s); /* the rep is killed and comes back */
    /* Fills in path and args of a container that shall do this. */
    void (*program)(struct subject *s, const char *guid, enum program program,
                    struct container_spec *spec);
    const char *rootfs; /* one that is there */
    bool knows_rootfs;  /* and refuses others */
    bool has_ids;       /* and user namespaces */
    const char *file;   /* where PROGRAM_LEAVES leaves it; absolute */
    uint64_t ids;       /* given out by subject_call() */
    /* Events of containers that came while something else was awaited. */
    struct ended {
        char guid[65];
        int exit_code, exit_signal;
        bool oom_killed, disk_full;
    } ended[64];
    size_t ended_count;
    size_t facts_told; /* events of containers that have not ended: more facts of their steps */
};

/* One verb and its answer, which lives in `arena`. Waits at most 20 s. */
struct verb_answer subject_verb(struct subject *s, struct arena *arena, struct verb_call call);

/* Shorthands. PREPARE uses the guid as the note. */
struct verb_answer subject_prepare(struct subject *s, struct arena *arena, const char *guid,
                                   const struct container_spec *spec);
struct verb_answer subject_plain(struct subject *s, struct arena *arena, enum verb verb,
                                 const char *guid);
struct verb_answer subject_signal(struct subject *s, struct arena *arena, const char *guid,
                                  int number);

/* PREPARE and START of such a program; asserts both DONE. */
void subject_begin(struct subject *s, const char *guid, enum program program);

/* Waits for EVENT_CONTAINER of this guid; asserts that it comes. */
struct ended subject_await_end(struct subject *s, const char *guid);

/* Its line in LIST; guid NULL when it has none. */
struct container_status subject_find(struct subject *s, struct arena *arena, const char *guid);

/* REMOVE; asserts DONE, and that LIST has lost it. */
void subject_remove(struct subject *s, const char *guid);

/* The whole program; leaves no container. */
void driver_conformance(struct subject *s);

/* steps_conformance.c: the part of it about steps. `program` is asked for "GUID/STEP" there. */
void steps_conformance(struct subject *s);
/* runs_conformance.c: another program, about runs; `program` is asked for "GUID/NUMBER" there. */
void runs_conformance(struct subject *s);
