/* Options that several verbs have, and what they open. */
#include "rep/courier/paths_io.h"
#include "rep/courier/verbs_io.h"

#include <fcntl.h>

enum { CA_BYTES = 1 << 20 };

const struct cli_option courier_http_options[] = {
    {"url-file", "FILE", "its first line is the URL", .required = true},
    {"idle", "TIME", "gives up an attempt after so long without a byte", "30s"},
    {"redirects", "N", "follows so many redirects", "10"},
    {"attempts", "N", "tries so often", "3"},
    {"fetch-ca", "FILE", "believes these CAs, beside the system's"},
    {0},
};

const struct cli_option courier_cache_options[] = {
    {"cache", "DIR", "the cell's cache", .required = true},
    {"cache-bytes", "N", "all of it together has at most so many bytes", "10000000000"},
    {0},
};

int job_http_limits(const struct courier_job *job, struct http_limits *ret, struct err *err)
{
    int64_t redirects = 0, attempts = 0;
    const char *ca = cli_text(job->call, "fetch-ca");
    struct http_limits l = {.end_ms = job->end_ms};
    int rc = cli_duration_ms(job->call, "idle", &l.idle_ms, err);
    if (rc == 0 && ca) {
        rc = small_read(job->arena, AT_FDCWD, ca, CA_BYTES, &l.ca, err);
    }
    if (rc == 0) {
        rc = cli_number(job->call, "redirects", 0, 100, &redirects, err);
    }
    if (rc == 0) {
        rc = cli_number(job->call, "attempts", 1, 100, &attempts, err);
    }
    l.redirects = (int)redirects;
    l.attempts = (int)attempts;
    *ret = l;
    return rc;
}

int job_cache(struct courier_job *job, struct cache_dir *ret, struct err *err)
{
    int64_t bytes = 0;
    int rc = cli_number(job->call, "cache-bytes", 0, INT64_MAX / 4, &bytes, err);
    job->begun = rc == 0;
    return rc ? rc : cache_open(cli_text(job->call, "cache"), bytes, ret, err);
}

int64_t job_left_ms(const struct courier_job *job)
{
    int64_t left = job->end_ms - errand_now_ms();
    return left > 1 ? left : 1;
}

int courier_sweep(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    struct cache_dir cache;
    int rc = job_cache(job, &cache, err);
    if (rc) {
        return rc;
    }
    rc = cache_sweep(&cache, err);
    if (rc == 0) {
        rc = cache_make_room(&cache, 0, 0, err);
    }
    cache_close(&cache);
    *ret = (struct courier_answer){.done = true};
    return rc;
}
