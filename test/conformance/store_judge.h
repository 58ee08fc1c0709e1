/* Judges a history: calls that were in flight together, under faults, and what a watch told. It
 * knows nothing of the model; its oracle is a map that it replays the events into, one revision
 * after the other. Each answer must be right for exactly the revision that it names, each write be
 * there wholly or not at all. */
#pragma once

#include "test/conformance/store_tester.h"

/* One call of the history. A writing transaction compares that its marker is absent and puts it
 * first in its success branch, so that its landing can be seen and prevented. */
struct judged_call {
    uint64_t id;
    enum store_call call;
    const ProtobufCMessage *message;
    int64_t floor;      /* the highest revision seen when it was sent */
    const char *marker; /* NULL: writes nothing */
    bool voids;         /* puts the marker of another call to keep that from landing */
};

enum { JUDGED_CALLS = 8192 };

struct judge {
    struct tester *tester;
    struct judged_call calls[JUDGED_CALLS];
    size_t count;
    /* Events of all revisions, in order, from the store's first on. */
    const Etcd__Event **events;
    size_t event_count;
    char problem[512]; /* of the first thing that is wrong */
};

#define JUDGE_MARKER_PREFIX "m/"
#define JUDGE_DONE "done"
#define JUDGE_VOID "void"

/* True if all is as it must be; else the problem says what is not. */
bool judge_history(struct judge *j);
