/* Diego's API, rule by rule: the tables of test/api/diego are sent as bytes over mutual TLS to two
 * running bbs on a real etcd, in turn, and what they answer is decoded by protoc and compared.
 *   test_diego [SEQUENCE...]   only those; --list names them, --print shows every answer */
#include "test/api/diego_protoc.h"
#include "test/api/diego_rows.h"
#include "test/api/diego_stream.h"
#include "test/api/diego_text.h"
#include "test/tool/bbs_process.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BBS_COUNT = 2, STREAMS_MAX = 8, SEQUENCES_MAX = 512 };

/* Who may ask, "" being an ordinary client. */
static const struct {
    const char *who, *unit, *name;
} callers[] = {
    {"", "client", "somebody"},
    {"cell-1", "rep", "cell-1"},
    {"cell-2", "rep", "cell-2"},
    {"auctioneer", "auctioneer", "auctioneer-1"},
    {"converger", "converger", "converger-1"},
};

enum { CALLER_COUNT = sizeof(callers) / sizeof(callers[0]) };

static struct certs certs;
static struct etcd_server etcd;
static struct tls_files server_files, caller_files[CALLER_COUNT];
static struct bbs_process bbs[BBS_COUNT];
static struct tls_client clients[CALLER_COUNT][BBS_COUNT]; /* kept open; fd 0 = not yet */
static unsigned turn;
static bool print_answers;
static size_t rows_run;

struct subscription {
    const char *name;
    struct diego_stream stream;
};

/* A sequence that is being run. */
struct run {
    struct arena arena;
    struct bindings bindings;
    struct subscription streams[STREAMS_MAX];
    size_t stream_count;
    struct buf answer, text, why;
};

/* ---- requests -------------------------------------------------------------------------------- */

static size_t caller_named(const char *who)
{
    for (size_t i = 0; i < CALLER_COUNT; i++) {
        if (strcmp(callers[i].who, who) == 0) {
            return i;
        }
    }
    fail_msg("nobody is called %s", who);
    return 0;
}

static int ask(const struct row *row, struct bytes body, struct buf *answer)
{
    size_t caller = caller_named(row->who), n = turn++ % BBS_COUNT;
    struct tls_client *c = &clients[caller][n];
    buf_clear(answer);
    if (!c->ssl && !client_open(c, bbs[n].port, &caller_files[caller], 0)) {
        return 0;
    }
    client_print(c, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n%s%s%s\r\n", row->method,
                 row->path, body.size, row->trace_id[0] ? "X-Vcap-Request-Id: " : "", row->trace_id,
                 row->trace_id[0] ? "\r\n" : "");
    client_write(c, body.data, body.size);
    int status = client_answer(c, NULL, answer, false);
    if (status == 0) {
        client_close(c);
        c->ssl = NULL;
    }
    return status;
}

/* By an ordinary client. */
static int post(const char *path, struct bytes body, struct buf *answer)
{
    struct row row = {.method = "POST", .path = path, .who = "", .trace_id = ""};
    return ask(&row, body, answer);
}

static void append_hex(struct buf *out, const char *digits)
{
    for (; *digits; digits++) {
        unsigned value;
        if (*digits == ' ') {
            continue;
        }
        assert_int_equal(sscanf(digits, "%2x", &value), 1);
        uint8_t byte = (uint8_t)value;
        buf_append(out, &byte, 1);
        digits++;
    }
}

static const char *hex(struct arena *a, struct bytes b)
{
    char *text = arena_alloc(a, 2 * b.size + 1);
    for (size_t i = 0; i < b.size; i++) {
        sprintf(text + 2 * i, "%02x", b.data[i]);
    }
    return text;
}

static void encode(struct run *r, const struct sequence *s, const struct row *row, struct buf *body)
{
    if (row->hex) {
        append_hex(body, row->request);
        return;
    }
    const char *message = protoc_request(&r->arena, row->path);
    if (!row->request[0]) {
        return;
    }
    if (!message || !message[0]) {
        fail_msg("%s:%d: %s takes no message", s->file, row->line, row->path);
    }
    if (!protoc_encode(message, text_filled(&r->bindings, row->request), body, &r->why)) {
        fail_msg("%s:%d: %s", s->file, row->line, buf_string(&r->why));
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool fits_http(struct run *r, const struct row *row, int status)
{
    const char *body = arena_strdup(&r->arena, buf_string(&r->answer));
    size_t size = strlen(body);
    bool line = size > 0 && body[size - 1] == '\n';
    buf_printf(&r->text, "status %d: %s", status, body);
    return status == row->status && size == strlen(row->answer) + line &&
           strncmp(body, row->answer, strlen(row->answer)) == 0;
}

/* Whether the answer is the expected one; `text` gets it as text, `why` what is wrong. */
static bool fits(struct run *r, const struct row *row, int status)
{
    buf_clear(&r->text);
    buf_clear(&r->why);
    if (row->answer_kind == ANSWER_HTTP) {
        return fits_http(r, row, status);
    }
    if (status != 200) {
        buf_printf(&r->text, "status %d: %s", status, buf_string(&r->answer));
        return false;
    }
    if (row->answer_kind == ANSWER_HEX) {
        SCOPED_BUF(expected);
        append_hex(&expected, row->answer);
        bool same = bytes_equal(buf_bytes(&expected), buf_bytes(&r->answer));
        buf_append_string(&r->text, hex(&r->arena, buf_bytes(&r->answer)));
        return same;
    }
    if (!row->answer[0]) {
        protoc_decode(protoc_response(&r->arena, row->path), buf_bytes(&r->answer), &r->text,
                      &r->why);
        return r->answer.size == 0;
    }
    return protoc_decode(protoc_response(&r->arena, row->path), buf_bytes(&r->answer), &r->text,
                         &r->why) &&
           text_fits(&r->bindings, row->answer, buf_string(&r->text), &r->why);
}

static void tell(struct run *r, const struct sequence *s, const struct row *row, bool good)
{
    const char *text = buf_string(&r->text);
    if (row->answer_kind == ANSWER_TEXT && strncmp(text, "status ", 7) != 0) {
        text = text_compact(&r->arena, text);
    }
    if (!good) {
        fail_msg("%s:%d: %s\n  %s\n  asked     %s\n  expected  %s\n  is        %s\n  %s", s->file,
                 row->line, row->title, row->path, row->request, row->answer, text,
                 buf_string(&r->why));
    } else if (print_answers) {
        printf("%s:%d: %s %s\n    %s\n", s->file, row->line, row->path, row->request, text);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void subscribe(struct run *r, const struct sequence *s, const struct row *row)
{
    SCOPED_BUF(body);
    assert_true(r->stream_count < STREAMS_MAX);
    struct subscription *sub = &r->streams[r->stream_count++];
    sub->name = row->stream;
    if (row->request[0]) {
        assert_true(protoc_encode("models.EventsByCellId", row->request, &body, &r->why));
    }
    int status = diego_stream_open(&sub->stream, bbs[turn++ % BBS_COUNT].port, &caller_files[0],
                                 row->method, row->path, buf_bytes(&body), NULL);
    if (status != 200) {
        fail_msg("%s:%d: status %d", s->file, row->line, status);
    }
}

static struct diego_stream *stream_named(struct run *r, const char *name)
{
    for (size_t i = 0; i < r->stream_count; i++) {
        if (strcmp(r->streams[i].name, name) == 0) {
            return &r->streams[i].stream;
        }
    }
    fail_msg("no stream is called %s", name);
    return NULL;
}

static void expect_event(struct run *r, const char *file, const struct row_event *e)
{
    struct buf name, message, text;
    buf_init(&name);
    buf_init(&message);
    buf_init(&text);
    buf_clear(&r->why);
    bool came = diego_stream_next(stream_named(r, e->stream), &name, &message, &r->why);
    const char *type = came ? protoc_event(buf_string(&name)) : NULL;
    bool good = type && protoc_decode(type, buf_bytes(&message), &text, &r->why) &&
                strcmp(buf_string(&name), e->name) == 0 &&
                text_fits(&r->bindings, e->text, buf_string(&text), &r->why);
    const char *is = text_compact(&r->arena, buf_string(&text));
    const char *named = arena_strdup(&r->arena, buf_string(&name));
    buf_done(&name);
    buf_done(&message);
    buf_done(&text);
    if (!good) {
        fail_msg("%s:%d: event of %s\n  expected  %s %s\n  is        %s %s\n  %s", file, e->line,
                 e->stream, e->name, e->text, named, is, buf_string(&r->why));
    } else if (print_answers) {
        printf("%s:%d: %s %s %s\n", file, e->line, e->stream, named, is);
    }
}

/* No event but the expected ones came: the next is that of something done for this alone. */
static void expect_no_more(struct run *r, const struct sequence *s)
{
    struct buf body, answer;
    if (r->stream_count == 0) {
        return;
    }
    buf_init(&body);
    buf_init(&answer);
    const char *guid = arena_printf(&r->arena, "sentinel-%s", s->name);
    assert_true(protoc_encode(
        "models.DesireLRPRequest",
        arena_printf(&r->arena,
                     "desired_lrp { process_guid: \"%s\" domain: \"sentinel\" root_fs: \"a:b\" "
                     "action { run_action { path: \"p\" user: \"u\" } } "
                     "metric_tags { key: \"k\" value { static: \"v\" } } }",
                     guid),
        &body, &r->why));
    post("/v1/desired_lrp/desire.r2", buf_bytes(&body), &answer);
    assert_int_equal(answer.size, 0);
    buf_clear(&body);
    assert_true(protoc_encode(
        "models.DesireTaskRequest",
        arena_printf(&r->arena,
                     "task_guid: \"%s\" domain: \"sentinel\" task_definition { root_fs: \"a:b\" "
                     "action { run_action { path: \"p\" user: \"u\" } } }",
                     guid),
        &body, &r->why));
    post("/v1/tasks/desire.r2", buf_bytes(&body), &answer);
    assert_int_equal(answer.size, 0);
    buf_done(&body);
    buf_done(&answer);
    for (size_t i = 0; i < r->stream_count; i++) {
        struct buf name, message;
        buf_init(&name);
        buf_init(&message);
        buf_clear(&r->why);
        bool came = diego_stream_next(&r->streams[i].stream, &name, &message, &r->why);
        bool its = came && memmem(message.data, message.size, guid, strlen(guid));
        const char *is = arena_strdup(&r->arena, buf_string(&name));
        buf_done(&name);
        buf_done(&message);
        if (!its) {
            fail_msg("%s: %s has one event more: %s %s", s->name, r->streams[i].name, is,
                     buf_string(&r->why));
        }
    }
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void run_row(struct run *r, const struct sequence *s, const struct row *row)
{
    SCOPED_BUF(body);
    if (row->kind == ROW_STREAM) {
        subscribe(r, s, row);
    } else {
        encode(r, s, row, &body);
        bool good = false;
        struct patience p = {0};
        int status;
        do { /* 503: an etcd that takes its time, as on a slow machine */
            status = ask(row, buf_bytes(&body), &r->answer);
            good = fits(r, row, status);
        } while (!good && (row->wait || status == 503) && patience(&p));
        buf_clear(&body);
        tell(r, s, row, good);
    }
    for (const struct row_event *e = row->events; e; e = e->next) {
        expect_event(r, s->file, e);
    }
    rows_run++;
}

static struct run running;

static int run_begin(void **state)
{
    arena_init(&running.arena);
    bindings_init(&running.bindings);
    buf_init(&running.answer);
    buf_init(&running.text);
    buf_init(&running.why);
    running.stream_count = 0;
    return 0;
}

static int run_end(void **state)
{
    for (size_t i = 0; i < running.stream_count; i++) {
        diego_stream_close(&running.streams[i].stream);
    }
    bindings_done(&running.bindings);
    arena_done(&running.arena);
    buf_done(&running.answer);
    buf_done(&running.text);
    buf_done(&running.why);
    return 0;
}

static void sequence(void **state)
{
    const struct sequence *s = *state;
    for (const struct row *row = s->rows; row; row = row->next) {
        run_row(&running, s, row);
    }
    expect_no_more(&running, s);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int group_setup(void **state)
{
    struct err err;
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    protoc_init(certs.dir);
    server_files = certs_make(&certs, "server", "bbs", "bbs", 3600);
    for (size_t i = 0; i < CALLER_COUNT; i++) {
        caller_files[i] =
            certs_make(&certs, callers[i].name, callers[i].unit, callers[i].name, 3600);
    }
    if (etcd_server_start(&(struct etcd_server_config){.tls = true}, &etcd, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    bbs_process_start(&bbs[0], certs.dir, "bbs-1", &etcd, &server_files, &caller_files[0]);
    bbs_process_start(&bbs[1], certs.dir, "bbs-2", &etcd, &server_files, &caller_files[0]);
    bbs_process_wait_ready(&bbs[0]);
    bbs_process_wait_ready(&bbs[1]);
    return 0;
}

static int group_teardown(void **state)
{
    int codes[BBS_COUNT];
    for (size_t i = 0; i < CALLER_COUNT; i++) {
        for (size_t k = 0; k < BBS_COUNT; k++) {
            if (clients[i][k].ssl) {
                client_close(&clients[i][k]);
            }
        }
    }
    for (int i = 0; i < BBS_COUNT; i++) {
        codes[i] = bbs_process_end(&bbs[i]);
    }
    etcd_server_done(&etcd);
    protoc_done();
    certs_done(&certs);
    printf("%zu rows\n", rows_run);
    return codes[0] == 0 && codes[1] == 0 ? 0 : -1;
}

static bool wanted(const char *name, char **names, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        any |= names[i][0] != '-';
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return !any;
}

static bool has_option(const char *option, char **names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], option) == 0) {
            return true;
        }
    }
    return false;
}

static void read_files(struct arena *a, char **names, int count, struct CMUnitTest *tests,
                       size_t *ret_count)
{
    glob_t files;
    if (glob("test/api/diego/*.rows", 0, NULL, &files) != 0) {
        fprintf(stderr, "test/api/diego/*.rows: nothing there; run it in the root of the tree\n");
        exit(1);
    }
    for (size_t i = 0; i < files.gl_pathc; i++) {
        for (struct sequence *s = rows_read(a, arena_strdup(a, files.gl_pathv[i])); s;
             s = s->next) {
            if (wanted(s->name, names, count) && *ret_count < SEQUENCES_MAX) {
                tests[(*ret_count)++] = (struct CMUnitTest){.name = s->name,
                                                            .test_func = sequence,
                                                            .setup_func = run_begin,
                                                            .teardown_func = run_end,
                                                            .initial_state = s};
            }
        }
    }
    globfree(&files);
}

int main(int argc, char **argv)
{
    SCOPED_ARENA(a);
    size_t count = 0;
    struct CMUnitTest *tests = ARENA_ARRAY(&a, SEQUENCES_MAX, struct CMUnitTest);
    print_answers = has_option("--print", argv + 1, argc - 1);
    read_files(&a, argv + 1, argc - 1, tests, &count);
    int failed = 0;
    if (has_option("--list", argv + 1, argc - 1)) {
        for (size_t i = 0; i < count; i++) {
            printf("%s\n", tests[i].name);
        }
    } else if (!etcd_server_possible()) {
        fprintf(stderr, "no etcd here\n");
        failed = 1;
    } else {
        failed = _cmocka_run_group_tests("diego", tests, count, group_setup, group_teardown);
    }
    return failed;
}
