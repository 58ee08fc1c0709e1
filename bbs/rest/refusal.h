/* Why a request is refused, as status and code (docs/rest.md, Errors). Pure. */
#pragma once

#include "bbs/rest/rest.h"

struct refusal {
    int status;
    const char *code;
    const char *text; /* for people */
};

/* Whether nothing can be done in the system of that id, and why; NULL = there is none. Texts are in
 * the arena. */
bool system_refusal(struct arena *a, const char *id, const Board__SystemRecord *system,
                    struct refusal *ret);

/* Of an op that refused; `record` is the SystemRecord that does not let it, or lacks what it is
 * about; NULL = there is no such system. */
struct refusal op_refusal(struct arena *a, const struct rest *q, const Models__Error *error,
                          const ProtobufCMessage *record);
