/* What the moves about deploys rest on, as it is read. Pure. */
#pragma once

#include "bbs/system/parts.h"

/* Bits of a row's `reads`. */
enum {
    READ_TARGET = 1,   /* of one that is pending, whether it can be accepted */
    READ_BUILD = 2,    /* its build */
    READ_START = 4,    /* its build, what that needs, what it undoes */
    READ_SERVICES = 8, /* those under its path, if it may be over */
    READ_WITNESS = 16,
    READ_KEPT = 32,
};

/* What the record is that a move gives as a reason. */
enum witness {
    WITNESS_NONE,    /* none is given, or it is not so any more */
    WITNESS_START,   /* its build failed, is gone, or has too many services; what it undoes is
                        gone; a secret is not set */
    WITNESS_SERVICES, /* one that it told has failed, or a node pool there, or one that it is to
                         tell lacks a secret */
};

struct deploy_snapshot {
    struct speaker by;
    struct system_facts of;
    const Board__DeployRecord *deploy;
    const Board__HoldRecord *hold;
    const Board__HeadRecord *head;
    const Board__BuildRecord *build;
    const Board__DeployRecord *undone; /* of READ_START */
    const char *target_fault;          /* of READ_TARGET; NULL = it can be deployed */
    bool build_over;                   /* of READ_START: what it is to put is there */
    size_t services; /* of READ_START: that the system would have; 0 = it is not known */
    struct secret_lack lack;           /* of READ_START */
    bool settled;                      /* of READ_SERVICES */
    enum witness witness;
    bool kept_enough;
};

/* Reads what a move rests on: these bits. */
void deploy_facts_gather(struct view *v, const struct op_input *in, unsigned reads,
                         struct deploy_snapshot *s);

/* "/api needs secret /api:key: bbs secrets set shop /api:key". */
const char *secret_lack_text(struct arena *a, const char *system, struct secret_lack lack);
