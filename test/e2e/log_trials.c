/* The lines of a container's log: whose they are, when they came, which of them are given, and what
 * limits them. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include "rep/shim/log_form.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* What is given of it, until no more comes now; static. */
static const char *given(struct rig *r, struct output_request wanted)
{
    static struct buf texts[2];
    static unsigned turn;
    struct buf *text = &texts[turn++ % 2];
    struct reply reply = rig_output(r, &wanted);
    assert_int_equal(reply.status, 200);
    buf_done(text);
    buf_init(text);
    while (cursor_fill(reply.cursor, text, CURSOR_CHUNK_BYTES) == CURSOR_MORE) {
    }
    cursor_free(reply.cursor);
    return buf_string(text);
}

static const char *all(struct rig *r, const char *guid)
{
    return given(r, (struct output_request){.guid = guid, .lines = -1});
}

/* A script to its end, as a container whose lines have this source. */
static void run(struct rig *r, const char *guid, const char *script,
                const struct container_spec *like)
{
    SCOPED_ARENA(a);
    const char *args[4];
    struct container_spec spec = rig_shell(r, script, args);
    spec.source = like->source;
    spec.mute = like->mute;
    spec.log_limited = like->log_limited;
    spec.log_rate = like->log_rate;
    rig_done(subject_prepare(&r->subject, &a, guid, &spec));
    rig_done(subject_plain(&r->subject, &a, VERB_START, guid));
    subject_await_end(&r->subject, guid);
}

static void say(struct rig *r, const char *guid, const char *source, const char *text)
{
    SCOPED_ARENA(a);
    rig_done(subject_verb(&r->subject, &a,
                          (struct verb_call){.verb = VERB_SAY,
                                             .guid = guid,
                                             .source = source,
                                             .text = text,
                                             .to_stderr = true}));
}

/* In the order in which they came, with what the log has of each. */
void trial_log_lines(void **state)
{
    struct rig *r = *state;
    int64_t before = wall_ns();
    run(r, "lines", "echo one; sleep 0.1; echo two >&2; sleep 0.1; printf three",
        &(struct container_spec){.source = "APP/WEB 1"});
    say(r, "lines", "HEALTH", "Container became healthy");
    say(r, "lines", NULL, "who");
    int64_t after = wall_ns();
    assert_string_equal(all(r, "lines"), "one\ntwo\nthree\nContainer became healthy\nwho\n");
    char file[1000], first[LOG_TIME_SIZE + 1], last[LOG_TIME_SIZE + 1];
    snprintf(file, sizeof(file), "%s", rig_text_of(rig_path(r, "lines", "log/output")));
    log_time_print(before, first);
    log_time_print(after, last);
    static const char *const ends[] = {
        "stdout F APP/WEB_1 one", "stderr F APP/WEB_1 two", "stdout F APP/WEB_1 three",
        "stderr F HEALTH Container became healthy", "stderr F LOG who"};
    char *save = NULL, *line = strtok_r(file, "\n", &save);
    for (size_t i = 0; i < 5; i++, line = strtok_r(NULL, "\n", &save)) {
        assert_non_null(line);
        assert_string_equal(line + LOG_TIME_SIZE + 1, ends[i]);
        assert_true(strncmp(first, line, LOG_TIME_SIZE) <= 0);
        assert_true(strncmp(line, last, LOG_TIME_SIZE) <= 0);
        memcpy(first, line, LOG_TIME_SIZE);
    }
    assert_null(line);
    assert_string_equal(given(r, (struct output_request){
                                  .guid = "lines", .lines = -1, .sources = true, .tail = 3}),
                        "APP/WEB_1 three\nHEALTH Container became healthy\nLOG who\n");
    subject_remove(&r->subject, "lines");
}

/* By stream, source, number and time. */
void trial_log_choice(void **state)
{
    struct rig *r = *state;
    run(r, "choice",
        "i=0; while [ $i -lt 5000 ]; do echo out $i; i=$((i+1)); done; sleep 0.3; "
        "echo bad one >&2; sleep 0.3; echo last; echo bad two >&2",
        &(struct container_spec){.source = "APP"});
    say(r, "choice", "CELL", "said");
    struct output_request wanted = {.guid = "choice", .lines = 2};
    assert_string_equal(given(r, wanted), "out 4999\nlast\nbad two\nsaid\n");
    wanted.stream = OUTPUT_STDERR;
    assert_string_equal(given(r, wanted), "bad two\nsaid\n");
    wanted.lines = 4; /* more than there are */
    assert_string_equal(given(r, wanted), "bad one\nbad two\nsaid\n");
    wanted.source = "APP";
    assert_string_equal(given(r, wanted), "bad one\nbad two\n");
    wanted = (struct output_request){.guid = "choice", .lines = -1, .tail = 4};
    assert_string_equal(given(r, wanted), "bad one\nlast\nbad two\nsaid\n");
    wanted.tail = 1;
    wanted.source = "APP";
    wanted.stream = OUTPUT_STDOUT;
    assert_string_equal(given(r, wanted), "last\n");
    /* From the time of one line on. */
    struct output_request timed = {
        .guid = "choice", .lines = -1, .tail = 4, .times = true, .sources = true};
    const char *text = given(r, timed);
    assert_string_equal(text + LOG_TIME_SIZE, strstr(text, " APP bad one\n"));
    struct tm t = {0};
    assert_non_null(strptime(text, "%Y-%m-%dT%H:%M:%S", &t));
    wanted = (struct output_request){.guid = "choice", .lines = -1};
    wanted.since_ns = timegm(&t) * SECOND_NS + atoll(text + 20);
    assert_string_equal(given(r, wanted), "bad one\nlast\nbad two\nsaid\n");
    wanted.since_ns++;
    assert_string_equal(given(r, wanted), "last\nbad two\nsaid\n");
    wanted.lines = 1;
    assert_string_equal(given(r, wanted), "last\nsaid\n");
    wanted = (struct output_request){.guid = "choice", .lines = -1, .since_ns = 1};
    assert_int_equal(strncmp(given(r, wanted), "out 0\nout 1\n", 12), 0);
    wanted.since_ns = wall_ns();
    assert_string_equal(given(r, wanted), "");
    subject_remove(&r->subject, "choice");
}

/* A line of any length is one line; what has no end yet is shown, too. */
void trial_log_long_lines(void **state)
{
    enum { LONG = 40000, LINES = LONG + 1 + LOG_PART_SIZE + 1 };
    struct rig *r = *state;
    char script[400];
    snprintf(script, sizeof(script),
             "head -c %d /dev/zero | tr '\\0' x; echo; head -c %d /dev/zero | tr '\\0' y; echo; "
             "printf 'what now? '; while :; do sleep 0.1; done",
             LONG, LOG_PART_SIZE);
    rig_begin_shell(r, "long", script);
    const char *text = "";
    for (struct patience p = {0}; !strstr(text, "now") && patience(&p);) {
        text = all(r, "long");
    }
    assert_int_equal(strlen(text), LINES + 11);
    assert_int_equal(strspn(text, "x"), LONG);
    assert_string_equal(text + LINES, "what now? \n");
    assert_string_equal(given(r, (struct output_request){.guid = "long", .tail = 1}),
                        "what now? \n");
    text = given(r, (struct output_request){.guid = "long", .tail = 2});
    assert_int_equal(strspn(text, "y"), LOG_PART_SIZE);
    subject_remove(&r->subject, "long");
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text++) {
        count++;
    }
    return count;
}

/* However far back they are. */
void trial_log_last_lines(void **state)
{
    enum { LINES = 60000, LINE = 100 };
    struct rig *r = *state;
    rig_begin_shell(r, "far",
                    "i=0; while [ $i -lt 60000 ]; do printf '%099d\\n' $i; i=$((i + 1)); done");
    subject_await_end(&r->subject, "far");
    struct output_request wanted = {.guid = "far", .lines = LINES};
    assert_int_equal(strlen(given(r, wanted)), LINES * LINE);
    wanted = (struct output_request){.guid = "far", .lines = -1, .tail = LINES - 1};
    assert_int_equal(strlen(given(r, wanted)), (LINES - 1) * LINE);
    subject_remove(&r->subject, "far");
}

/* A second's bytes at once, then as many a second; the log says so, and lines stay whole. */
void trial_log_limit(void **state)
{
    enum { LINE = 100, RATE = 1000 };
    static const char said[] = "app instance exceeded log rate limit (1000 bytes/sec)\n";
    struct rig *r = *state;
    char script[300];
    snprintf(script, sizeof(script),
             "line=$(head -c %d /dev/zero | tr '\\0' x); i=0; "
             "while [ $i -lt 300 ]; do echo $line; i=$((i+1)); sleep 0.01; done",
             LINE);
    int64_t began = wall_ns();
    run(r, "limited", script,
        &(struct container_spec){.source = "APP", .log_limited = true, .log_rate = RATE});
    double seconds = (double)(wall_ns() - began) / (double)SECOND_NS;
    const char *text = all(r, "limited");
    size_t lines = count_of(text, "x\n"), told = count_of(text, said);
    assert_true(lines >= 20); /* it wrote for three seconds */
    assert_true((double)lines * LINE <= RATE * (seconds + 1) + 1);
    assert_true(told >= 2 && (double)told <= seconds + 1);
    assert_int_equal(strlen(text), lines * (LINE + 1) + told * (sizeof(said) - 1));
    subject_remove(&r->subject, "limited");
    run(r, "none", "echo one; echo two >&2", &(struct container_spec){.log_limited = true});
    assert_string_equal(all(r, "none"), ""); /* and not a word of it */
    /* What is longer than a second's bytes never comes, no more than the rest of a line. */
    run(r, "longer", "head -c 40000 /dev/zero | tr '\\0' x; echo; echo short",
        &(struct container_spec){.log_limited = true, .log_rate = 20000});
    text = all(r, "longer");
    assert_int_equal(strspn(text, "x"), LOG_PART_SIZE);
    assert_string_equal(text + LOG_PART_SIZE,
                        "\napp instance exceeded log rate limit (20000 bytes/sec)\nshort\n");
    subject_remove(&r->subject, "none");
    subject_remove(&r->subject, "longer");
}

/* The process's own output is dropped, and nothing else. */
void trial_log_mute(void **state)
{
    struct rig *r = *state;
    run(r, "mute", "echo one; echo two >&2; exit 7", &(struct container_spec){.mute = true});
    say(r, "mute", "APP", "Exit status 7");
    assert_string_equal(all(r, "mute"), "Exit status 7\n");
    subject_remove(&r->subject, "mute");
}

static void append(struct rig *r, const char *guid, const char *name, const char *text)
{
    int fd = open(rig_path(r, guid, name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* A shim of an earlier version writes a file for each stream; a rep of this one adopts it. */
void trial_log_of_before(void **state)
{
    struct rig *r = *state;
    rig_begin_shell(r, "old", "while :; do sleep 0.1; done");
    rig_suspend(r);
    append(r, "old", "log/stdout.1", "zero\n");
    append(r, "old", "log/stdout", "one\ntwo\nthr");
    append(r, "old", "log/stderr", "bad\n");
    rig_resume(r);
    say(r, "old", "APP", "said");
    assert_string_equal(all(r, "old"), "zero\none\ntwo\nthr\nbad\nsaid\n");
    struct output_request wanted = {.guid = "old", .lines = 2};
    assert_string_equal(given(r, wanted), "two\nthr\nbad\nsaid\n");
    wanted = (struct output_request){.guid = "old", .lines = 1, .stream = OUTPUT_STDOUT};
    wanted.times = wanted.sources = true;
    assert_string_equal(given(r, wanted), "- - thr\n");
    wanted = (struct output_request){.guid = "old", .lines = -1, .follow = true};
    struct reply follow = rig_output(r, &wanted);
    SCOPED_BUF(text);
    while (cursor_fill(follow.cursor, &text, CURSOR_CHUNK_BYTES) == CURSOR_MORE) {
    }
    append(r, "old", "log/stdout", "ee\nfour\n");
    while (cursor_fill(follow.cursor, &text, CURSOR_CHUNK_BYTES) == CURSOR_MORE) {
    }
    assert_string_equal(buf_string(&text), "zero\none\ntwo\nbad\nsaid\nthree\nfour\n");
    cursor_free(follow.cursor);
    subject_remove(&r->subject, "old");
}
