/* `bbs why` of systems, their deploys, services and jobs: whose turn it is, since when, and what
 * would end it, in sentences. Pure. */
#pragma once

#include "bbs/cli/system_board.h"
#include "secret_api.pb-c.h"

enum { SYSTEM_WHY_LINES_MAX = 64, SYSTEM_WHY_SERVICES_MAX = 8 };

struct system_why {
    struct arena *arena;
    int64_t now_ns;
    const char *subject; /* "shop", "shop:/store/api" */
    const char *lines[SYSTEM_WHY_LINES_MAX];
    size_t count; /* of lines; those beyond are left out */
    bool well;    /* nothing is under way, and nothing has failed */
};

/* Of the system, of what stands at and below `path` ("/" = all of it), or of the node pool of that
 * name ("/:main"). The view has a system. */
void system_why(struct arena *a, const struct system_view *v, const char *path, int64_t now_ns,
                struct system_why *ret);

/* Adds whether the bbs that was asked has the key by which the system's secrets are sealed. */
void system_why_keys(struct system_why *w, const struct system_view *v,
                     const Board__KeysResponse *keys);

/* Adds the sentence that nothing goes on (leader_lack_text()); nothing to what is well. */
void system_why_lack(struct system_why *w, const char *lack);

/* Of one deploy, build, teardown or run of a job. */
void system_why_deploy(struct arena *a, const struct system_view *v, const Board__DeployRecord *d,
                       int64_t now_ns, struct system_why *ret);
void system_why_build(struct arena *a, const struct system_view *v, const Board__BuildRecord *b,
                      int64_t now_ns, struct system_why *ret);
void system_why_teardown(struct arena *a, const struct system_view *v,
                         const Board__TeardownRecord *t, int64_t now_ns, struct system_why *ret);
void system_why_run(struct arena *a, const struct system_view *v, const Board__JobRunRecord *r,
                    int64_t now_ns, struct system_why *ret);

/* Lines for people, or a JSON object: {"subject","explanation":[...]}. */
void system_why_print(const struct system_why *w, bool json, struct buf *out);
