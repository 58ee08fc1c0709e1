/* download and upload: what a step of a container does, two jobs in one. */
#include "common/base/memory.h"
#include "rep/courier/verbs_io.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 3 };

/* As nobody of the container's: the container is none of the server's business. */
static int fetch(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    uid_t uid = job->uid;
    gid_t gid = job->gid;
    job->uid = COURIER_NOBODY;
    job->gid = COURIER_NOBODY;
    int rc = courier_fetch(job, ret, err);
    job->uid = uid;
    job->gid = gid;
    return rc;
}

static int place(struct courier_job *job, const struct courier_answer *fetched,
                 struct courier_answer *ret, struct err *err)
{
    job->digest = fetched->digest;
    job->end_ms = errand_now_ms() + job->whole_ms;
    int rc = courier_place(job, ret, err);
    ret->size = fetched->size;
    ret->moved = fetched->moved;
    return rc;
}

/* What was fetched may be gone before it is placed, for others need room. */
int courier_download(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    int rc = -ERR_NOT_FOUND;
    job->begun = true; /* whatever is wrong is told in the answer */
    for (int i = 0; rc == -ERR_NOT_FOUND && i < ROUNDS; i++) {
        struct courier_answer fetched = {0};
        job->inside = false;
        rc = fetch(job, &fetched, err);
        if (rc < 0) {
            return rc;
        }
        job->inside = true;
        rc = place(job, &fetched, ret, err);
    }
    return rc;
}

int courier_upload(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    char *file = mem_printf("%s.packed", cli_text(job->call, "answer"));
    struct courier_answer packed = {0};
    job->file = file;
    job->begun = true;
    job->inside = true;
    int rc = courier_pack(job, &packed, err);
    if (rc == 0) {
        job->inside = false;
        job->uid = COURIER_NOBODY;
        job->gid = COURIER_NOBODY;
        job->end_ms = errand_now_ms() + job->whole_ms;
        rc = courier_send(job, ret, err);
    }
    unlink(file);
    free(file);
    job->file = NULL;
    return rc;
}
