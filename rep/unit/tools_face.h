/* The face of a rep's requests that hooks have (docs/units.md, Tools): its own paths alone, over
 * one unix socket that is bound into containers of units (common/shell/local_server_io.h). Pure:
 * reads requests, asks the owner of the units about tokens, and answers; what a call has changed is
 * durable before its answer goes out.
 *
 *   POST /v1/hooks/run   the unit's token, and the number of the run that asks
 *   POST /v1/hooks/tool  the hook's token, the tool's name and its arguments
 *
 * The body is words, each with a zero byte behind it; no word has one inside. A run is answered by
 * words, too: the hook's token, the program's path ("" = it is the script), the script, and a
 * "NAME=VALUE" for each variable. A tool is answered by what it prints.
 *
 *   200 done    400 used wrongly    403 no such token    409 refused    413 too large
 *   503 not now: ask again; the others are final */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "rep/unit/tools.h"

enum {
    TOOLS_OPEN_MAX = 256,       /* of a cell, that wait for a disk; one more is answered 503 */
    TOOLS_OPEN_OF_UNIT_MAX = 8, /* likewise, of a unit */
    TOOLS_BODY_MAX = 1024 * 1024,
    TOOLS_TOKEN_MAX = 128,
    TOOLS_GUID_BYTES = 65,
};

/* What a run that asks is to become. */
struct tools_hook {
    const char *token; /* by which it asks for the tools, its own */
    const char *path;  /* a program of the root filesystem; "" = the script is one */
    const char *script;
    const struct name_value *env; /* all of it, but where the tools are and the token */
    size_t env_count;
};

/* LATER: it cannot be told now; who asks is to ask again. */
enum tools_found { TOOLS_NONE, TOOLS_FOUND, TOOLS_LATER };

/* Who knows the units of the cell. */
struct tools_owner {
    void *context;
    /* The hook that begins as this run of the unit with this token, and has not ended; NONE: there
     * is none. Whatever it borrows lives as long as the arena. */
    enum tools_found (*hook)(void *context, const char *token, uint32_t run, struct arena *a,
                             struct tools_hook *ret);
    /* What the hook of this token sees, and whose it is, by the guid of its container; NONE: none
     * runs that has it. */
    enum tools_found (*world)(void *context, const char *token, struct arena *a,
                              struct tool_world *ret, const char **ret_guid);
    /* What a tool has answered: takes the journal, if it gives one, as the unit's present one, and
     * has it written (VERB_NOTE, durable); and the status, the line, the restart. Gives the number
     * of the write that has all of it, to be told by tools_face_written(); 0: nothing is to be
     * waited for. Numbers of a unit rise. */
    uint64_t (*take)(void *context, const char *guid, const struct tool_answer *answer,
                     struct effects *out);
};

/* An answer that waits for the disk. */
struct tools_waiting {
    uint64_t request, write;
    char guid[TOOLS_GUID_BYTES];
    char *text; /* what it will print */
};

struct tools_face {
    struct tools_waiting list[TOOLS_OPEN_MAX]; /* in order */
    size_t count;
};

void tools_face_init(struct tools_face *f);
void tools_face_done(struct tools_face *f);

/* Answers the request, now or by tools_face_written(). `owner` NULL: this cell has no units. */
void tools_face_request(struct tools_face *f, const struct tools_owner *owner,
                        const struct request *q, struct effects *out);

/* The write of this number, and all before it, of this container is on the disk; or could not be
 * written, and `why` says so ("" = it is there). What waits for it is answered. */
void tools_face_written(struct tools_face *f, const char *guid, uint64_t write, const char *why,
                        struct effects *out);

/* Nothing of this container is written any more: what waits is answered 503. */
void tools_face_dropped(struct tools_face *f, const char *guid, struct effects *out);

/* Who asked has gone. */
void tools_face_hangup(struct tools_face *f, uint64_t request);
