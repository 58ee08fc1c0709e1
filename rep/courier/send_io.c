/* send: a file to a URL, by POST with its checksums. */
#include "common/base/memory.h"
#include "rep/courier/checksum.h"
#include "rep/courier/confine_io.h"
#include "rep/courier/paths_io.h"
#include "rep/courier/response.h"
#include "rep/courier/url.h"
#include "rep/courier/verbs_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 * 1024, MEMORY_BYTES = 512 << 20, GOOD_BELOW = 400 };

const struct cli_option courier_send_options[] = {
    {"file", "FILE", "what is sent", .required = true},
    {0},
};

struct sending {
    struct courier_job *job;
    const char *url;
    struct http_limits limits;
    int fd;
    int64_t size;
};

/* ---- the child ---- */

struct upload {
    const struct sending *job;
    struct errand_tell *tell;
    struct http http;
    struct server_response head;
    int64_t at, moved;
    bool unreadable;
};

static size_t on_read(char *data, size_t one, size_t count, void *context)
{
    struct upload *u = context;
    ssize_t n = pread(u->job->fd, data, one * count, u->at);
    if (n < 0) {
        u->unreadable = true;
        return CURL_READFUNC_ABORT;
    }
    u->at += n;
    u->moved += n;
    errand_moved(u->tell, u->at, u->job->size);
    return (size_t)n;
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    struct upload *u = context;
    u->at = offset;
    return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK;
}

static size_t on_header(char *data, size_t one, size_t size, void *context)
{
    struct upload *u = context;
    (void)one;
    response_line(&u->head, (struct bytes){(const uint8_t *)data, size});
    return size;
}

static size_t on_body(char *data, size_t one, size_t size, void *context)
{
    struct upload *u = context;
    (void)data;
    (void)one;
    return http_no_interest(&u->http, size);
}

/* Content-MD5 and Content-Digest, of the file as it is. */
static int sums(struct upload *u, struct buf *md5_line, struct buf *digest_line,
                struct courier_answer *answer, struct err *err)
{
    struct summing md5 = {0}, sha256 = {0};
    char text[CHECKSUM_TEXT_BYTES + 1], *chunk = mem_array(CHUNK_BYTES, 1);
    ssize_t n = 1;
    summing_begin(&md5, CHECKSUM_MD5);
    summing_begin(&sha256, CHECKSUM_SHA256);
    for (off_t at = 0; n > 0; at += n) {
        n = pread(u->job->fd, chunk, CHUNK_BYTES, at);
        summing_add(&md5, chunk, n > 0 ? (size_t)n : 0);
        summing_add(&sha256, chunk, n > 0 ? (size_t)n : 0);
    }
    struct checksum first = summing_end(&md5), second = summing_end(&sha256);
    free(chunk);
    summing_done(&md5);
    summing_done(&sha256);
    buf_append_string(md5_line, "Content-MD5: ");
    checksum_base64(&first, md5_line);
    buf_append_string(digest_line, "Content-Digest: sha-256=:");
    checksum_base64(&second, digest_line);
    buf_append_string(digest_line, ":");
    checksum_print(&second, '-', text);
    snprintf(answer->digest, sizeof(answer->digest), "%.71s", text);
    return n < 0 ? err_set(err, ERR_IO, "cannot read the file: %s", strerror(errno)) : 0;
}

/* One attempt: 0, or why not. What status there is may pass, as Diego has it: so each is tried
 * again; what the file itself is wrong with is not. */
static int attempt(struct upload *u, bool *ret_again, struct err *err)
{
    u->at = 0;
    u->head = (struct server_response){0};
    *ret_again = true;
    bool answered = http_attempt(&u->http, ret_again, err);
    if (u->unreadable) {
        *ret_again = false;
        return err_set(err, ERR_IO, "cannot read the file");
    }
    if (!answered) {
        return -(int)err->code;
    }
    return u->head.status > 0 && u->head.status < GOOD_BELOW
               ? 0
               : err_set(err, ERR_UNAVAILABLE, "the server answered with status %d",
                         u->head.status);
}

static int attempts(struct upload *u, struct err *err)
{
    for (int number = 1;; number++) {
        bool again;
        int rc = attempt(u, &again, err);
        if (rc == 0 || !again) {
            return rc;
        }
        if (!http_again(&u->http, number)) {
            return err_prefix(err, "%d attempts failed", number);
        }
    }
}

static void set_up(struct upload *u, struct curl_slist *headers)
{
    curl_easy_setopt(u->http.easy, CURLOPT_POST, 1L);
    curl_easy_setopt(u->http.easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)u->job->size);
    curl_easy_setopt(u->http.easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(u->http.easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(u->http.easy, CURLOPT_READDATA, u);
    curl_easy_setopt(u->http.easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(u->http.easy, CURLOPT_SEEKDATA, u);
    curl_easy_setopt(u->http.easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(u->http.easy, CURLOPT_HEADERDATA, u);
    curl_easy_setopt(u->http.easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(u->http.easy, CURLOPT_WRITEDATA, u);
}

static int upload(struct upload *u, struct courier_answer *answer, struct err *err)
{
    SCOPED_BUF(md5);
    SCOPED_BUF(digest);
    struct curl_slist *headers = NULL;
    int rc = sums(u, &md5, &digest, answer, err);
    if (rc == 0) {
        rc = http_init(&u->http, u->job->url, &u->job->limits, err);
    }
    if (rc) {
        return rc;
    }
    headers = curl_slist_append(headers, "Content-Type: application/octet-stream");
    headers = curl_slist_append(headers, buf_string(&md5));
    headers = curl_slist_append(headers, buf_string(&digest));
    headers = curl_slist_append(headers, "Expect:"); /* else a server that ignores it costs 1 s */
    set_up(u, headers);
    rc = attempts(u, err);
    http_done(&u->http);
    curl_slist_free_all(headers);
    answer->size = u->job->size;
    answer->moved = u->moved;
    return rc;
}

static int work(void *context, struct errand_tell *tell, struct courier_answer *answer,
                struct err *err)
{
    const struct sending *s = context;
    struct upload u = {.job = s, .tell = tell};
    struct confinement c = {s->job->uid, s->job->gid, 0, MEMORY_BYTES, .network = true};
    int rc = confine_drop(&c, err);
    return rc ? rc : upload(&u, answer, err);
}

/* ---- the parent ---- */

static int open_file(struct sending *s, struct err *err)
{
    struct stat st;
    s->fd = open(s->job->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) < 0) {
        return err_set(err, ERR_IO, "cannot open the file: %s", strerror(errno));
    }
    s->size = st.st_size;
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, ERR_INVALID, "it is no regular file");
    }
    return s->size > s->job->bytes_max ? err_set(err, ERR_TOO_LARGE, "it is larger than %lld bytes",
                                                 (long long)s->job->bytes_max)
                                       : 0;
}

int courier_send(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    struct sending s = {.job = job, .fd = -1};
    struct errand e = {work, NULL, NULL, &s, job->progress_fd, job_left_ms(job)};
    char *url = NULL;
    int rc = small_line(job->arena, cli_text(job->call, "url-file"), &url, err);
    job->file = job->file ? job->file : cli_text(job->call, "file");
    if (rc == 0) {
        rc = job_http_limits(job, &s.limits, err);
    }
    if (rc) {
        return rc;
    }
    job->begun = true;
    s.url = url;
    s.limits.redirects = 0; /* a redirect is a status below 400, and so a success */
    rc = url_way(url) == URL_HTTP ? open_file(&s, err)
                                  : err_set(err, ERR_DENIED, "the URL must be http: or https:");
    if (rc == 0) {
        rc = errand_run(&e, ret, err);
    }
    if (s.fd >= 0) {
        close(s.fd);
    }
    return rc;
}
