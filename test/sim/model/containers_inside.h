/* Inside of the model containers, shared by their files. */
#pragma once

#include "common/base/map.h"
#include "common/base/random.h"
#include "test/sim/model/addresses.h"
#include "test/sim/model/containers.h"
#include "test/sim/model/steps.h"

enum { MODEL_SIGTERM = 15, MODEL_SIGKILL = 9, TEXT_BYTES = 120 };

struct box {
    char *guid;
    enum container_state state;
    int exit_code, exit_signal;
    char text[TEXT_BYTES]; /* why it never ran, or who saw no end of it */
    bool rebooted;         /* it is of an earlier boot of the machine */
    struct blob *note;
    uint64_t noted; /* number of the call that wrote it; 0 = it came with the container */
    uint32_t ids_first;
    int64_t pid;
    int64_t ends_at_ns; /* after SIGTERM; NEVER_NS otherwise */
    bool end_untold;    /* EVENT_CONTAINER is still due */
    bool deaf;          /* ignores SIGTERM */
    struct model_answer {
        enum probe_outcome outcome;
        int status;
    } answers[2];       /* to probes: of health, of readiness */
    unsigned deaf_for;  /* so many more of the first are refused */
    struct map files;   /* path -> struct blob: what READ gives */
    struct model_steps *steps; /* NULL: its first process is all there is to it */
    unsigned address;   /* number of its own; 0 = the host's network */
    char *join;         /* whose network it shares; NULL = none */
};

/* A verb under way: done and answered at `at_ns`. */
struct pending {
    struct pending *next;
    int64_t at_ns;
    uint64_t number; /* of the calls, from 1 */
    struct verb_call call;
    char *guid, *path;
    struct blob *note;
    uint32_t *ports; /* of PREPARE's spec, or asked by PORTS */
    size_t port_count;
    struct model_steps *steps; /* of PREPARE's spec; goes to its container */
    uint32_t ids_first; /* likewise */
    struct map given;   /* likewise: files, as those of a box; go to its container */
    bool no_program;    /* likewise: it says none, and does not idle */
    bool bad_volume;    /* one of a driver that is not there */
    bool own_network;          /* likewise */
    char *join;                /* likewise; goes to its container */
    char *image;        /* of PULL: its name */
    bool of_image;      /* of PREPARE's spec: it has layers */
    bool cancelled;     /* a PULL whose container is removed */
    bool hung;
    bool carried; /* out already; what it led to is told first, then this */
    struct verb_answer answer;
    bool mute; /* done, and answered by nobody: the answer was or will be that nobody knows */
    struct arena listed; /* of a LIST that shows how things stood when it was asked */
    struct container_status *list;
    size_t list_count;
};

struct model_containers {
    struct model_containers_pace pace;
    struct map boxes;
    struct map notes; /* guid -> struct blob: those that REMOVEs kept */
    struct pending *pending; /* sorted by time, then by order of arrival */
    struct map pins; /* guid -> name of the image that was pulled for it */
    unsigned fail_starts, fail_prepares, fail_begins, fail_pulls;
    char fail_text[TEXT_BYTES];
    bool hung;
    bool wavers;
    uint64_t calls; /* so many there were */
    struct random random; /* of how */
    unsigned untold;
    int64_t next_pid;
    bool port_held[65536];
    struct model_addresses addresses;
};

/* containers.c: its first process ends now, and with it all steps. */
void model_box_end(struct box *b, int64_t at_ns, int exit_code, int exit_signal);
/* containers_script.c: images of containers that are not there are let go, as a driver does when it
 * begins. */
void model_unpin_unmade(struct model_containers *m);
/* What LIST tells of it, in the arena. */
struct container_status model_box_status(const struct box *b, struct arena *arena);
void model_box_free(void *value);  /* a struct box */
/* One that is there; its address is somebody's again when nobody shares it. */
void model_box_remove(struct model_containers *m, const char *guid);
void model_file_free(void *value); /* one of its files; a note that was kept */
