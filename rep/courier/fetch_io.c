/* fetch: a URL into the cache. The parent knows the cache; the child streams into a file that it
 * was given. */
#include "rep/courier/checksum.h"
#include "rep/courier/confine_io.h"
#include "rep/courier/paths_io.h"
#include "rep/courier/response.h"
#include "rep/courier/sink_io.h"
#include "rep/courier/url.h"
#include "rep/courier/verbs_io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_BYTES = 512 << 20 };

const struct cli_option courier_fetch_options[] = {
    {"key-file", "FILE", "its first line is the cache key; without it the URL is"},
    {"checksum", "ALG:HEX", "what the content must have: md5, sha1, sha256 or sha512"},
    {"file-root", "DIR", "file: URLs are allowed below this directory"},
    {"at-once", "N", "so many couriers of this cache bring something at once, others wait", "5"},
    {0},
};

struct fetch {
    struct courier_job *job;
    struct cache_dir cache;
    const char *url;
    enum url_way way;
    struct http_limits limits;
    bool checked; /* `checksum` was asked for */
    struct checksum checksum;
    char checksum_text[CHECKSUM_TEXT_BYTES + 1];
    char key[65];              /* hex */
    struct cache_record known; /* what the key stood for; digest "" when nothing is known */
    bool ask;                  /* by a conditional request */
    int part_fd, source_fd;    /* source: of a file: URL */
    struct cache_record found; /* what the child noted */
    bool unchanged;            /* so it noted */
    int64_t room;              /* that was made, for a total that is known */
    int64_t at_once;
};

/* ---- the child: by HTTP ---- */

struct incoming {
    const struct fetch *fetch;
    struct sink sink;
    struct http http;
    struct server_response head;
    struct part_asked asked;
    char etag[CACHE_VALIDATOR_BYTES + 1]; /* of what is here */
    bool decided;                         /* `take` is of this response */
    enum take take;
};

static size_t on_header(char *data, size_t one, size_t size, void *context)
{
    struct incoming *d = context;
    (void)one;
    response_line(&d->head, (struct bytes){(const uint8_t *)data, size});
    return size;
}

/* At the first byte of a body, or when there is none. */
static void decide(struct incoming *d)
{
    curl_off_t length = -1;
    d->decided = true;
    d->take = response_take(&d->head, &d->asked);
    if (d->take == TAKE_ANEW) {
        sink_anew(&d->sink);
        snprintf(d->etag, sizeof(d->etag), "%s", d->head.etag);
    }
    if (d->take != TAKE_NOT) {
        curl_easy_getinfo(d->http.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        sink_expect(&d->sink, length);
    }
}

static size_t on_body(char *data, size_t one, size_t size, void *context)
{
    struct incoming *d = context;
    (void)one;
    if (!d->decided) {
        decide(d);
    }
    if (d->take == TAKE_NOT) {
        return http_no_interest(&d->http, size);
    }
    sink_take(&d->sink, data, size);
    return d->sink.rc ? CURL_WRITEFUNC_ERROR : size;
}

static void header_add(struct curl_slist **list, const char *name, const char *value)
{
    char line[CACHE_VALIDATOR_BYTES + 64];
    if (value[0]) {
        snprintf(line, sizeof(line), "%s: %s", name, value);
        *list = curl_slist_append(*list, line);
    }
}

/* What is asked for: all, all if it changed, or the rest of what is here. */
static struct curl_slist *ask(struct incoming *d)
{
    const struct fetch *f = d->fetch;
    struct curl_slist *headers = NULL;
    char range[64];
    d->asked = (struct part_asked){.etag = d->etag};
    d->head = (struct server_response){.range_start = -1};
    d->decided = false;
    d->take = TAKE_NOT;
    if (d->sink.have > 0 && etag_strong(d->etag)) {
        d->asked.offset = d->sink.have;
        snprintf(range, sizeof(range), "bytes=%lld-", (long long)d->sink.have);
        header_add(&headers, "Range", range);
        header_add(&headers, "If-Range", d->etag);
    } else if (f->ask) {
        d->asked.conditional = true;
        header_add(&headers, "If-None-Match", f->known.etag);
        header_add(&headers, "If-Modified-Since", f->known.modified);
    }
    return headers;
}

/* What came of the content wins over what libcurl says of it. */
static enum fetch_verdict judge(struct incoming *d, bool answered, bool again, struct err *err)
{
    enum fetch_verdict verdict = again ? VERDICT_AGAIN : VERDICT_FAILED;
    if (answered && !d->decided) { /* there was no body */
        decide(d);
    }
    if (d->sink.rc) {
        *err = d->sink.err;
        return VERDICT_FAILED;
    }
    if (answered) {
        verdict = response_verdict(&d->head, &d->asked);
        if (verdict != VERDICT_DONE && verdict != VERDICT_UNCHANGED) {
            err_set(err, ERR_UNAVAILABLE, "the server answered with status %d", d->head.status);
        }
    }
    return verdict;
}

/* One attempt. If it failed err says why. */
static enum fetch_verdict attempt(struct incoming *d, struct err *err)
{
    bool again = false;
    struct curl_slist *headers = ask(d);
    curl_easy_setopt(d->http.easy, CURLOPT_HTTPHEADER, headers);
    bool answered = http_attempt(&d->http, &again, err);
    enum fetch_verdict verdict = judge(d, answered, again, err);
    curl_easy_setopt(d->http.easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return verdict;
}

static enum fetch_verdict attempts(struct incoming *d, struct err *err)
{
    for (int number = 1;; number++) {
        enum fetch_verdict verdict = attempt(d, err);
        if (verdict == VERDICT_ANEW) {
            sink_anew(&d->sink);
        } else if (verdict != VERDICT_AGAIN) {
            return verdict;
        }
        if (!http_again(&d->http, number)) {
            err_prefix(err, "%d attempts failed", number);
            return VERDICT_FAILED;
        }
    }
}

static void note(struct errand_tell *tell, const char *name, const char *value)
{
    char line[CACHE_VALIDATOR_BYTES + 64];
    if (value[0]) {
        snprintf(line, sizeof(line), "%s %s", name, value);
        errand_note(tell, line);
    }
}

static int by_http(struct incoming *d, struct courier_answer *answer, struct err *err)
{
    int rc = http_init(&d->http, d->fetch->url, &d->fetch->limits, err);
    if (rc) {
        return rc;
    }
    curl_easy_setopt(d->http.easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(d->http.easy, CURLOPT_HEADERDATA, d);
    curl_easy_setopt(d->http.easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(d->http.easy, CURLOPT_WRITEDATA, d);
    enum fetch_verdict verdict = attempts(d, err);
    http_done(&d->http);
    if (verdict == VERDICT_UNCHANGED) {
        note(d->sink.tell, "unchanged", "yes");
        return 0;
    }
    if (verdict != VERDICT_DONE) {
        return -(int)err->code;
    }
    note(d->sink.tell, "etag", d->head.etag);
    note(d->sink.tell, "modified", d->head.modified);
    return sink_end(&d->sink, answer, err);
}

/* ---- the child: by a file ---- */

static int by_file(const struct fetch *f, struct sink *s, struct courier_answer *answer,
                   struct err *err)
{
    sink_take_file(s, f->source_fd);
    if (s->rc) {
        *err = s->err;
        return s->rc;
    }
    return sink_end(s, answer, err);
}

static int work(void *context, struct errand_tell *tell, struct courier_answer *answer,
                struct err *err)
{
    const struct fetch *f = context;
    struct incoming d = {.fetch = f};
    struct confinement c = {f->job->uid, f->job->gid, f->job->bytes_max, MEMORY_BYTES,
                            .network = f->way == URL_HTTP};
    int rc = confine_drop(&c, err);
    if (rc) {
        return rc;
    }
    d.sink = (struct sink){.fd = f->part_fd,
                           .bytes_max = f->job->bytes_max,
                           .wanted = f->checked ? &f->checksum : NULL,
                           .tell = tell,
                           .total = -1};
    sink_anew(&d.sink);
    return f->way == URL_FILE ? by_file(f, &d.sink, answer, err) : by_http(&d, answer, err);
}

/* ---- the parent ---- */

/* Room for all of it; as long as nobody knows how much, for what is here. */
static int moved(void *context, int64_t bytes, int64_t total, struct err *err)
{
    struct fetch *f = context;
    bool sure = total > bytes, asked = sure && total == f->room;
    f->room = sure ? total : -1;
    return asked ? 0 : cache_make_room(&f->cache, sure ? total : bytes, bytes, err);
}

static void noted(void *context, const char *line)
{
    struct fetch *f = context;
    const char *value = strchr(line, ' ');
    if (!value || !cache_validator_valid(bytes_of(value + 1))) {
        return;
    }
    if (strncmp(line, "etag ", 5) == 0) {
        snprintf(f->found.etag, sizeof(f->found.etag), "%s", value + 1);
    } else if (strncmp(line, "modified ", 9) == 0) {
        snprintf(f->found.modified, sizeof(f->found.modified), "%s", value + 1);
    } else if (strncmp(line, "unchanged ", 10) == 0) {
        f->unchanged = f->ask;
    }
}

static int open_source(struct fetch *f, struct err *err)
{
    const char *root = cli_text(f->job->call, "file-root"), *path;
    size_t n = root ? strlen(root) : 0;
    int rc = url_file_path(f->job->arena, f->url, &path, err);
    if (rc) {
        return rc;
    }
    while (n > 0 && root[n - 1] == '/') {
        n--;
    }
    if (!root || strncmp(path, root, n) != 0 || path[n] != '/') {
        return err_set(err, ERR_DENIED, "%s",
                       root ? "the file is not below --file-root"
                            : "file: URLs are not allowed (--file-root)");
    }
    f->source_fd = open_below(root, path + n + strspn(path + n, "/"), err);
    return f->source_fd >= 0 ? 0 : f->source_fd;
}

/* An answer without a byte: the object is there. */
static bool answered_by(struct fetch *f, const char *digest, struct courier_answer *ret)
{
    int fd;
    int64_t size;
    if (cache_object(&f->cache, digest, &fd, &size, NULL) < 0) {
        return false;
    }
    close(fd);
    *ret = (struct courier_answer){.done = true, .size = size};
    snprintf(ret->digest, sizeof(ret->digest), "%s", digest);
    return true;
}

/* Writes down what the key stands for now. A key that is lost costs a download, so its failure is
 * not one of the job. */
static void remember(struct fetch *f, const struct courier_answer *answer)
{
    struct cache_record r = f->unchanged ? f->known : f->found;
    snprintf(r.digest, sizeof(r.digest), "%s", answer->digest);
    r.size = answer->size;
    if (f->checked) {
        snprintf(r.checksum, sizeof(r.checksum), "%s", f->checksum_text);
    }
    cache_key_write(&f->cache, f->key, &r, NULL);
}

/* What the key stands for, if its object is there. */
static bool known(struct fetch *f)
{
    int fd;
    int64_t size;
    if (!cache_key_read(&f->cache, f->key, &f->known) ||
        cache_object(&f->cache, f->known.digest, &fd, &size, NULL) < 0) {
        return false;
    }
    close(fd);
    return size == f->known.size;
}

/* Whether nothing need come: by its content's name, or by its key. */
static bool look(struct fetch *f, struct courier_answer *ret)
{
    char digest[CHECKSUM_TEXT_BYTES + 1];
    if (f->checked && f->checksum.kind == CHECKSUM_SHA256) {
        checksum_print(&f->checksum, '-', digest);
        if (answered_by(f, digest, ret)) {
            return true;
        }
    }
    enum cache_way way = cache_way(&f->known, known(f), f->checked ? f->checksum_text : NULL);
    f->ask = way == CACHE_ASK && f->way == URL_HTTP;
    return way == CACHE_USE && answered_by(f, f->known.digest, ret);
}

static int keep(struct fetch *f, const struct courier_answer *got, struct courier_answer *ret,
                struct err *err)
{
    if (f->unchanged) {
        return answered_by(f, f->known.digest, ret)
                   ? 0
                   : err_set(err, ERR_NOT_FOUND, "the cache does not have it any more");
    }
    if (!cache_digest_valid(got->digest)) {
        return err_set(err, ERR_INVALID, "the courier's helper told nonsense");
    }
    *ret = *got;
    return cache_keep_object(&f->cache, f->key, f->part_fd, got->digest, got->size, err);
}

/* Its time begins when it is its turn. */
static int carry(struct fetch *f, struct courier_answer *got, struct err *err)
{
    int turn;
    int rc = cache_turn(&f->cache, f->at_once, f->job->end_ms, &turn, err);
    if (rc) {
        return rc;
    }
    f->limits.end_ms = f->job->end_ms = errand_now_ms() + f->job->whole_ms;
    struct errand e = {work, moved, noted, f, f->job->progress_fd, job_left_ms(f->job)};
    rc = errand_run(&e, got, err);
    close(turn);
    return rc;
}

/* With the part in hand. */
static int bring(struct fetch *f, struct courier_answer *ret, struct err *err)
{
    struct courier_answer got = {0};
    int rc = f->way == URL_FILE ? open_source(f, err) : 0;
    if (rc == 0) {
        rc = carry(f, &got, err);
    }
    if (rc == 0) {
        rc = keep(f, &got, ret, err);
    }
    if (rc == 0) {
        remember(f, ret);
    }
    return rc;
}

/* Whoever has the same key goes first; then it may be there already. */
static int in_turn(struct fetch *f, struct courier_answer *ret, struct err *err)
{
    int rc = cache_part_file(&f->cache, f->key, f->job->end_ms, &f->part_fd, err);
    if (rc) {
        return rc;
    }
    if (!look(f, ret)) {
        rc = bring(f, ret, err);
    }
    cache_part_drop(&f->cache, f->key, f->part_fd);
    close(f->part_fd);
    if (f->source_fd >= 0) {
        close(f->source_fd);
    }
    return rc;
}

static void key_name(const char *text, char ret[65])
{
    struct summing s = {0};
    char whole[CHECKSUM_TEXT_BYTES + 1];
    summing_begin(&s, CHECKSUM_SHA256);
    summing_add(&s, text, strlen(text));
    struct checksum c = summing_end(&s);
    summing_done(&s);
    checksum_print(&c, ':', whole);
    snprintf(ret, 65, "%.64s", whole + strlen("sha256:"));
}

static int read_options(struct fetch *f, struct err *err)
{
    const struct invocation *call = f->job->call;
    const char *checksum = cli_text(call, "checksum"), *key_file = cli_text(call, "key-file");
    char *key = NULL, *url = NULL;
    int rc = small_line(f->job->arena, cli_text(call, "url-file"), &url, err);
    if (rc == 0 && key_file) {
        rc = small_line(f->job->arena, key_file, &key, err);
    }
    if (rc == 0 && checksum) {
        rc = checksum_parse(checksum, &f->checksum, err);
        f->checked = rc == 0;
    }
    if (rc == 0) {
        rc = cli_number(call, "at-once", 1, 1000, &f->at_once, err);
    }
    if (rc == 0) {
        rc = job_http_limits(f->job, &f->limits, err);
    }
    if (rc == 0) {
        f->url = url;
        f->way = url_way(url);
        key_name(key ? key : url, f->key);
    }
    if (f->checked) {
        checksum_print(&f->checksum, ':', f->checksum_text);
    }
    return rc;
}

int courier_fetch(struct courier_job *job, struct courier_answer *ret, struct err *err)
{
    struct fetch f = {.job = job, .part_fd = -1, .source_fd = -1};
    int rc = read_options(&f, err);
    if (rc == 0) {
        rc = job_cache(job, &f.cache, err);
    }
    if (rc == 0) {
        rc = f.way == URL_UNKNOWN
                 ? err_set(err, ERR_DENIED, "the URL must be one of http:, https: or file:")
                 : in_turn(&f, ret, err);
        cache_close(&f.cache);
    }
    return rc;
}
