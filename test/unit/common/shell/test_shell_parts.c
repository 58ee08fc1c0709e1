/* The pure parts of the shells: id_table, event_queue; and the log's lines, over a pipe. */
#include "common/shell/event_queue.h"
#include "common/shell/id_table.h"
#include "common/shell/listen_io.h"
#include "common/shell/log_io.h"
#include "common/base/random.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_table_finds_what_is_in_it_and_nothing_else(void **state)
{
    enum { IDS = 500, ROUNDS = 20000 };
    struct id_table t;
    struct random r;
    static int values[IDS];
    bool in[IDS] = {false};
    size_t count = 0;
    id_table_init(&t);
    random_seed(&r, (uint64_t[2]){1, 2});
    assert_null(id_table_get(&t, 7));
    assert_null(id_table_remove(&t, 7));
    for (int i = 0; i < ROUNDS; i++) {
        size_t at = random_below(&r, IDS);
        uint64_t id = at % 2 ? at : at << 40; /* low and high bits alike */
        if (in[at]) {
            assert_ptr_equal(id_table_remove(&t, id), &values[at]);
            count--;
        } else {
            id_table_add(&t, id, &values[at]);
            count++;
        }
        in[at] = !in[at];
        size_t other = random_below(&r, IDS);
        assert_ptr_equal(id_table_get(&t, other % 2 ? other : other << 40),
                         in[other] ? &values[other] : NULL);
        assert_int_equal(t.count, count);
    }
    id_table_done(&t);
}

static void a_queued_event_has_copies_of_all_it_points_to(void **state)
{
    struct event_queue q;
    struct event *out;
    char path[] = "/path", body[] = "body", text[] = "text", guid[] = "guid", note[] = "note";
    Etcd__ResponseHeader header = ETCD__RESPONSE_HEADER__INIT;
    Etcd__WatchResponse watch = ETCD__WATCH_RESPONSE__INIT;
    struct container_status status = {.guid = guid, .text = text, .note = {(uint8_t *)note, 4}};
    event_queue_init(&q);
    header.revision = 42;
    watch.header = &header;
    event_queue_push(&q, &(struct event){.kind = EVENT_REQUEST,
                                         .request = {.id = 1, .method = "GET", .path = path,
                                                     .body = {(uint8_t *)body, 4}}});
    event_queue_push(&q, &(struct event){.kind = EVENT_WATCH,
                                         .watch = {.id = 2, .response = &watch, .text = text}});
    event_queue_push(&q, &(struct event){.kind = EVENT_VERB,
                                         .verb = {.id = 3, .guid = guid, .text = text,
                                                  .containers = &status, .container_count = 1}});
    event_queue_push(&q, &(struct event){.kind = EVENT_STORE,
                                         .store = {.id = 4, .text = text,
                                                   .message = &header.base}});
    event_queue_push(&q, &(struct event){.kind = EVENT_LAUNCHED,
                                         .launched = {.id = 5, .status = 1, .text = text}});
    event_queue_push(&q, &(struct event){.kind = EVENT_STOP});
    memset(path, 'x', 5);
    memset(body, 'x', 4);
    memset(text, 'x', 4);
    memset(guid, 'x', 4);
    memset(note, 'x', 4);
    header.revision = 0;

    struct queued_event *e = event_queue_pop(&q, &out);
    assert_string_equal(out->request.path, "/path");
    assert_memory_equal(out->request.body.data, "body", 4);
    assert_null(out->request.trace_id);
    queued_free(e);
    e = event_queue_pop(&q, &out);
    assert_int_equal(out->watch.response->header->revision, 42);
    queued_free(e);
    e = event_queue_pop(&q, &out);
    assert_string_equal(out->verb.containers[0].guid, "guid");
    assert_memory_equal(out->verb.containers[0].note.data, "note", 4);
    queued_free(e);
    e = event_queue_pop(&q, &out);
    assert_int_equal(((const Etcd__ResponseHeader *)out->store.message)->revision, 42);
    assert_string_equal(out->store.text, "text");
    queued_free(e);
    e = event_queue_pop(&q, &out);
    assert_string_equal(out->launched.text, "text");
    queued_free(e);
    assert_int_equal(q.count, 1);
    event_queue_done(&q); /* frees what is left */
}

/* ---- The log ------------------------------------------------------------------------------- */

struct logged {
    struct log *log;
    int ends[2];
    char text[65536];
};

static void open_log(struct logged *l, enum log_level level)
{
    assert_int_equal(pipe2(l->ends, O_CLOEXEC | O_NONBLOCK), 0);
    l->log = log_new("bbs-1", level, l->ends[1]);
}

/* Everything written since the last call. */
static const char *read_log(struct logged *l)
{
    ssize_t n = read(l->ends[0], l->text, sizeof(l->text) - 1);
    l->text[n > 0 ? n : 0] = 0;
    return l->text;
}

static void close_log(struct logged *l)
{
    log_free(l->log);
    close(l->ends[0]);
    close(l->ends[1]);
}

static void a_line_has_time_level_process_message_and_data(void **state)
{
    struct logged l;
    open_log(&l, LOG_INFO_LEVEL);
    log_printf(l.log, LOG_WARN_LEVEL, "etcd does not answer", "tries=%d", 3);
    const char *line = read_log(&l);
    int year, month, day, hour, minute, second, ms, end = 0;
    assert_int_equal(sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ %n", &year, &month, &day, &hour,
                            &minute, &second, &ms, &end), 7);
    assert_int_equal(end, 25);
    assert_string_equal(line + end, "warn bbs-1 \"etcd does not answer\" tries=3\n");
    log_printf(l.log, LOG_DEBUG_LEVEL, "too fine", "x=%d", 1);
    assert_string_equal(read_log(&l), "");
    log_printf(l.log, LOG_INFO_LEVEL, "no data", "%s", "");
    assert_string_equal(read_log(&l) + end, "info bbs-1 \"no data\"\n");
    close_log(&l);
}

static void nothing_from_outside_breaks_a_line(void **state)
{
    struct logged l;
    char *huge = malloc(100000);
    memset(huge, 'h', 99999);
    huge[99999] = 0;
    open_log(&l, LOG_INFO_LEVEL);
    log_printf(l.log, LOG_ERROR_LEVEL, "bad", "name=\"%s\"", "a\nforged line\x1b[2J\r\x7f\xc3\xa9");
    assert_string_equal(read_log(&l) + 25,
                        "error bbs-1 \"bad\" name=\"a\\nforged line\\x1b[2J\\x0d\\x7f\xc3\xa9\"\n");
    log_put(l.log, &(struct log_line){.level = LOG_ERROR_LEVEL, .message = "huge", .data = huge});
    const char *line = read_log(&l);
    assert_int_equal(strlen(line), LOG_LINE_BYTES);
    assert_string_equal(line + LOG_LINE_BYTES - 5, "h...\n");
    free(huge);
    close_log(&l);
}

static size_t lines(const char *text)
{
    size_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

/* Logs more of one message than are told in a second, and another one. False when the machine took
 * so long for it that the second is over. */
static bool burst(struct logged *l)
{
    int64_t begun_ms = patience_now_ms();
    for (int i = 0; i < LOG_BURST + 30; i++) {
        log_printf(l->log, LOG_INFO_LEVEL, "again", "i=%d", i);
    }
    log_printf(l->log, LOG_INFO_LEVEL, "another", "%s", "");
    size_t told = lines(read_log(l));
    bool more = log_tick(l->log);
    const char *after = read_log(l);
    if (patience_now_ms() - begun_ms >= 1000) {
        return false;
    }
    assert_int_equal(told, LOG_BURST + 1);
    assert_true(more); /* its second is not over */
    assert_string_equal(after, "");
    return true;
}

/* What is told of single things has a bound of its own, at which they are counted like others. */
static void single_things_are_not_lost_in_a_burst(void **state)
{
    struct logged l;
    struct log_line line = {.level = LOG_INFO_LEVEL, .message = "runs", .data = "", .single = true};
    size_t told;
    for (struct patience p = {0};;) {
        int64_t begun_ms = patience_now_ms();
        open_log(&l, LOG_INFO_LEVEL);
        told = 0;
        for (int i = 0; i < LOG_SINGLES + 30; i++) {
            log_put(l.log, &line);
            told += lines(read_log(&l)); /* each at once: the pipe holds less than all */
        }
        if (patience_now_ms() - begun_ms < 1000) {
            break;
        }
        close_log(&l);
        assert_true(patience(&p));
    }
    assert_int_equal(told, LOG_SINGLES);
    usleep(1010 * 1000);
    assert_false(log_tick(l.log));
    assert_string_equal(read_log(&l) + 25, "info bbs-1 \"runs\" suppressed=30\n");
    close_log(&l);
}

static void a_burst_is_counted_and_summarised(void **state)
{
    struct logged l;
    open_log(&l, LOG_INFO_LEVEL);
    for (struct patience p = {0}; !burst(&l);) {
        close_log(&l);
        assert_true(patience(&p));
        open_log(&l, LOG_INFO_LEVEL);
    }
    usleep(1010 * 1000);
    assert_false(log_tick(l.log));
    assert_string_equal(read_log(&l) + 25, "info bbs-1 \"again\" suppressed=30\n");
    log_printf(l.log, LOG_INFO_LEVEL, "again", "%s", "");
    assert_int_equal(lines(read_log(&l)), 1);
    /* More messages than are told apart: the oldest gives way, nothing is lost. */
    for (int i = 0; i < 3 * LOG_MESSAGES; i++) {
        char message[32];
        snprintf(message, sizeof(message), "message %d", i);
        log_printf(l.log, LOG_INFO_LEVEL, message, "%s", "");
    }
    assert_int_equal(lines(read_log(&l)), 3 * LOG_MESSAGES);
    close_log(&l);
}

/* Whoever reads a process's stderr may stop reading (a stopped pager, a supervisor that hangs): the
 * process goes on, and tells later how many lines there is no room for. */
static void a_log_that_nobody_reads_stops_nobody(void **state)
{
    enum { LINES = 300 };
    struct logged l;
    open_log(&l, LOG_INFO_LEVEL);
    assert_int_equal(fcntl(l.ends[1], F_SETFL, 0), 0);
    assert_true(fcntl(l.ends[1], F_SETPIPE_SZ, 16384) >= 0);
    alarm(60); /* instead of waiting for ever */
    for (int i = 0; i < LINES; i++) {
        char message[200];
        snprintf(message, sizeof(message), "%0150d", i);
        log_printf(l.log, LOG_WARN_LEVEL, message, "%s", "");
    }
    alarm(0);
    size_t told = lines(read_log(&l));
    assert_in_range(told, 1, LINES - 1);
    log_printf(l.log, LOG_INFO_LEVEL, "read again", "%s", "");
    char wanted[100];
    snprintf(wanted, sizeof(wanted), "warn bbs-1 \"log lines are lost\" count=%zu\n", LINES - told);
    const char *lost = read_log(&l);
    assert_memory_equal(lost + 25, wanted, strlen(wanted));
    assert_string_equal(lost + 25 + strlen(wanted) + 25, "info bbs-1 \"read again\"\n");
    log_printf(l.log, LOG_INFO_LEVEL, "and again", "%s", "");
    assert_int_equal(lines(read_log(&l)), 1);
    close_log(&l);
}

static void levels_have_names_both_ways(void **state)
{
    for (enum log_level i = LOG_DEBUG_LEVEL; i <= LOG_ERROR_LEVEL; i++) {
        enum log_level level;
        assert_int_equal(log_level_of(log_level_name(i), &level), 0);
        assert_int_equal(level, i);
    }
    enum log_level untouched = LOG_WARN_LEVEL;
    assert_int_equal(log_level_of("loud", &untouched), -1);
    assert_int_equal(untouched, LOG_WARN_LEVEL);
}

static void only_a_loopback_address_is_of_this_machine_alone(void **state)
{
    static const struct {
        const char *address;
        bool loopback;
    } rows[] = {
        {"127.0.0.1:1800", true},  {"127.9.8.7:0", true},   {"[::1]:1800", true},
        {"0.0.0.0:1800", false},   {"[::]:1800", false},    {"10.0.0.1:1800", false},
        {"128.0.0.1:1800", false}, {"[::2]:1800", false},   {"[fe80::1]:1800", false},
        {"127.0.0.1", false},      {"localhost:1800", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (listen_is_loopback(rows[i].address) != rows[i].loopback) {
            fail_msg("%s", rows[i].address);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_loopback_address_is_of_this_machine_alone),
        cmocka_unit_test(a_table_finds_what_is_in_it_and_nothing_else),
        cmocka_unit_test(a_queued_event_has_copies_of_all_it_points_to),
        cmocka_unit_test(a_line_has_time_level_process_message_and_data),
        cmocka_unit_test(nothing_from_outside_breaks_a_line),
        cmocka_unit_test(a_burst_is_counted_and_summarised),
        cmocka_unit_test(single_things_are_not_lost_in_a_burst),
        cmocka_unit_test(a_log_that_nobody_reads_stops_nobody),
        cmocka_unit_test(levels_have_names_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
