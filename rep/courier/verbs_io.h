/* The verbs of rep-courier: what each takes and does. */
#pragma once

#include "common/base/err.h"
#include "common/cli/options.h"
#include "rep/courier/answer.h"
#include "rep/courier/cache_io.h"
#include "rep/courier/http_io.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Who speaks to servers, if root started the courier. */
enum { COURIER_NOBODY = 65534 };

/* What every verb is told. */
struct courier_job {
    const struct invocation *call;
    struct arena *arena;
    int progress_fd;   /* -1: none */
    int64_t whole_ms;  /* so long may it take */
    int64_t end_ms;    /* monotonic: and so until then */
    int64_t bytes_max; /* of the content */
    uid_t uid;         /* who its child becomes, by root */
    gid_t gid;
    /* Of a job within another: what place places, and the file of the cell that pack makes and send
     * sends. NULL: the options say it. */
    const char *digest, *file;
    bool inside; /* it failed at the container's side, not at the server's */
    bool begun; /* the options are right: from here on an error is an answer, before it is usage */
};

/* Their options, beside those that all have (main.c). */
extern const struct cli_option courier_cache_options[], courier_http_options[],
    courier_fetch_options[], courier_place_options[], courier_digest_options[],
    courier_pack_options[], courier_out_options[], courier_send_options[],
    courier_pull_options[];

/* Each gives 0 and the answer, or an error, which is one of usage until job->begun. Download and
 * upload are two jobs in one, fetch and place, pack and send; job->inside tells in which of them
 * they failed. */
int courier_fetch(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_place(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_pack(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_send(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_download(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_upload(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_pull(struct courier_job *job, struct courier_answer *ret, struct err *err);
int courier_sweep(struct courier_job *job, struct courier_answer *ret, struct err *err);

/* The limits by courier_http_options. */
int job_http_limits(const struct courier_job *job, struct http_limits *ret, struct err *err);

/* The cache of courier_cache_options; begins the job. */
int job_cache(struct courier_job *job, struct cache_dir *ret, struct err *err);

/* How long the job may still take. */
int64_t job_left_ms(const struct courier_job *job);
