/* The program rep-courier: its command line, and its answer. courier.h is the manual. */
#include "common/cli/cli_io.h"
#include "rep/courier/courier.h"
#include "rep/courier/paths_io.h"
#include "rep/courier/verbs_io.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct cli_option common_options[] = {
    {"answer", "FILE", "becomes the answer, by rename", .required = true},
    {"progress-fd", "N", "gets lines \"BYTES TOTAL\", one a second"},
    {"whole", "TIME", "gives up after so long", "20m"},
    {"max-bytes", "N", "the content has at most so many bytes", "10737418240"},
    {"user", "UID:GID",
     "by root: who touches what others made; for place and pack the container's"},
    {0},
};

static int user_option(const char *text, struct courier_job *job, struct err *err)
{
    long long uid = -1, gid = -1;
    int end = 0;
    if (sscanf(text, "%lld:%lld%n", &uid, &gid, &end) != 2 || text[end] != '\0' || uid < 0 ||
        gid < 0 || uid >= UINT32_MAX || gid >= UINT32_MAX) {
        return err_set(err, ERR_INVALID, "--user must be UID:GID, in numbers");
    }
    job->uid = (uid_t)uid;
    job->gid = (gid_t)gid;
    return 0;
}

static int read_common(struct courier_job *job, struct err *err)
{
    int64_t fd = -1;
    const char *user = cli_text(job->call, "user");
    job->uid = COURIER_NOBODY;
    job->gid = COURIER_NOBODY;
    int rc = user ? user_option(user, job, err) : 0;
    if (rc == 0) {
        rc = cli_number(job->call, "progress-fd", 0, 1 << 20, &fd, err);
    }
    if (rc == 0) {
        rc = cli_duration_ms(job->call, "whole", &job->whole_ms, err);
    }
    if (rc == 0) {
        rc = cli_number(job->call, "max-bytes", 0, INT64_MAX / 4, &job->bytes_max, err);
    }
    job->progress_fd = (int)fd;
    job->end_ms = errand_now_ms() + job->whole_ms;
    return rc;
}

/* Nothing of who started it stays open but what it was given. */
static void close_others(int keep)
{
    int first = STDERR_FILENO + 1;
    if (keep >= first) {
        fcntl(keep, F_SETFD, FD_CLOEXEC);
        if (keep > first) {
            syscall(SYS_close_range, first, keep - 1, 0);
        }
        first = keep + 1;
    }
    syscall(SYS_close_range, first, ~0U, 0);
}

/* Writes the answer, and gives the exit status. */
static int answer(const struct courier_job *job, const struct courier_answer *a, struct err *err)
{
    SCOPED_BUF(text);
    answer_print(a, &text);
    int rc = small_replace(cli_text(job->call, "answer"), buf_bytes(&text), err);
    if (rc) {
        fprintf(stderr, "rep-courier: %s\n", err->text);
        return COURIER_FAILED;
    }
    return a->done       ? COURIER_DONE
           : job->inside ? COURIER_INSIDE
           : strcmp(job->call->command->name, "place") == 0 && a->code == ERR_NOT_FOUND
               ? COURIER_NOT_CACHED
               : COURIER_FAILED;
}

typedef int verb(struct courier_job *job, struct courier_answer *ret, struct err *err);

static int run(const struct invocation *call, struct err *err, verb *does)
{
    struct courier_job job = {.call = call, .arena = call->arena};
    struct courier_answer a = {0};
    int rc = read_common(&job, err);
    if (rc) {
        return rc;
    }
    signal(SIGPIPE, SIG_IGN);
    umask(022);
    close_others(job.progress_fd);
    rc = does(&job, &a, err);
    if (rc < 0 && !job.begun) {
        fprintf(stderr, "rep-courier: %s\n", err->text);
        return COURIER_USAGE;
    }
    if (rc < 0) {
        a = (struct courier_answer){.code = err->code};
        snprintf(a.text, sizeof(a.text), "%s", err->text);
    }
    return answer(&job, &a, err);
}

static int run_fetch(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_fetch);
}

static int run_place(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_place);
}

static int run_pack(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_pack);
}

static int run_send(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_send);
}

static int run_download(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_download);
}

static int run_upload(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_upload);
}

static int run_pull(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_pull);
}

static int run_sweep(const struct invocation *call, struct err *err)
{
    return run(call, err, courier_sweep);
}

static const struct cli_option *const fetch[] = {courier_fetch_options, courier_http_options,
                                                 courier_cache_options, common_options, NULL};
static const struct cli_option *const place[] = {courier_digest_options, courier_place_options,
                                                 courier_cache_options, common_options, NULL};
static const struct cli_option *const pack[] = {courier_pack_options, courier_out_options,
                                                common_options, NULL};
static const struct cli_option *const send_file[] = {courier_send_options, courier_http_options,
                                                     common_options, NULL};
static const struct cli_option *const download[] = {
    courier_fetch_options, courier_place_options, courier_http_options,
    courier_cache_options, common_options,        NULL};
static const struct cli_option *const upload[] = {courier_pack_options, courier_http_options,
                                                  common_options, NULL};
static const struct cli_option *const pull[] = {courier_pull_options, common_options, NULL};
static const struct cli_option *const sweep[] = {courier_cache_options, common_options, NULL};

static const struct cli_command commands[] = {
    {"fetch", "", "brings a URL's content into the cache", NULL, fetch, 0, 0, run_fetch},
    {"place", "", "unpacks an object of the cache into a container, or once for all", NULL, place,
     0, 0, run_place},
    {"pack", "", "copies a file out of a container", NULL, pack, 0, 0, run_pack},
    {"send", "", "sends a file to a URL", NULL, send_file, 0, 0, run_send},
    {"download", "", "fetch and place in one: a step of a container, or what is bound into it",
     NULL, download, 0, 0, run_download},
    {"upload", "", "pack and send in one: a step of a container", NULL, upload, 0, 0, run_upload},
    {"pull", "", "brings an image's layers to the cell", NULL, pull, 0, 0, run_pull},
    {"sweep", "", "removes from the cache what killed couriers left, and what is too much", NULL,
     sweep, 0, 0, run_sweep},
    {0},
};

int main(int argc, char **argv)
{
    static const struct cli_program program = {
        .name = "rep-courier",
        .summary = "moves a cell's bytes; a rep starts it, one process a job",
        .commands = commands,
    };
    return cli_main(&program, argc, argv);
}
