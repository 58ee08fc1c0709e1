/* What containers write: followed, rotated, kept, bounded; and on a disk that is full. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include "test/tool/patience.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

static struct reply reply_of(struct rig *r, const char *guid, int64_t lines, bool follow)
{
    return rig_output(
        r, &(struct output_request){.guid = guid, .lines = lines, .follow = follow});
}

/* All that the cursor gives until it waits or ends; static. */
static const char *taken(struct cursor *c, enum cursor_state *ret_state)
{
    static struct buf text;
    buf_done(&text);
    buf_init(&text);
    do {
        *ret_state = cursor_fill(c, &text, CURSOR_CHUNK_BYTES);
    } while (*ret_state == CURSOR_MORE);
    return buf_string(&text);
}

static void gives(struct rig *r, const char *guid, int64_t lines, const char *expected)
{
    enum cursor_state end;
    struct reply reply = reply_of(r, guid, lines, false);
    assert_int_equal(reply.status, 200);
    assert_string_equal(taken(reply.cursor, &end), expected);
    assert_int_equal(end, CURSOR_END);
    cursor_free(reply.cursor);
}

/* Waits until this stands in its output. */
static void comes_to_say(struct rig *r, const char *guid, const char *text)
{
    bool says = false;
    for (struct patience p = {0}; !says && patience(&p);) {
        enum cursor_state end;
        struct reply reply = reply_of(r, guid, -1, false);
        says = reply.cursor && strstr(taken(reply.cursor, &end), text);
        if (reply.cursor) {
            cursor_free(reply.cursor);
        }
    }
    assert_true(says);
}

static void signal_shell(struct rig *r, const char *guid)
{
    SCOPED_ARENA(arena);
    rig_done(subject_signal(&r->subject, &arena, guid, SIGUSR1));
}

static void remove_labelled(struct rig *r, const char *guid, const char *label)
{
    SCOPED_ARENA(arena);
    struct verb_answer a =
        subject_verb(&r->subject, &arena,
                     (struct verb_call){.verb = VERB_REMOVE, .guid = guid, .label = label});
    assert_int_equal(a.outcome, VERB_DONE);
}

/* What is kept of a label, or of all that begin so: "GUID PROCESS/INDEX " for each. */
static const char *kept_list_of(struct rig *r, const char *label, bool begins)
{
    static char list[1000];
    struct reply reply =
        rig_output(r, &(struct output_request){.label = label, .label_begins = begins});
    assert_int_equal(reply.status, 200);
    char *text = strndup((const char *)reply.body.data, reply.body.size);
    list[0] = 0;
    for (const char *at = text; (at = strstr(at, "{\"instance_guid\"")); at++) {
        char guid[80], process[200];
        int index;
        assert_int_equal(sscanf(at,
                                "{\"instance_guid\":\"%79[^\"]\",\"process_guid\":\"%199[^\"]\","
                                "\"index\":%d,\"removed_at\":",
                                guid, process, &index),
                         3);
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s %s/%d ", guid, process, index);
    }
    free(text);
    return list;
}

static size_t kept_of(struct rig *r, const char *label)
{
    struct reply reply = rig_output(r, &(struct output_request){.label = label});
    assert_int_equal(reply.status, 200);
    size_t count = 0;
    char *text = strndup((const char *)reply.body.data, reply.body.size);
    for (const char *at = text; (at = strstr(at, "instance_guid")); at++) {
        count++;
    }
    free(text);
    return count;
}

/* The last lines, those that come, and those of a container that has gone. */
void trial_output(void **state)
{
    struct rig *r = *state;
    enum cursor_state end;
    rig_begin_shell(r, "talks",
                    "n=0; trap 'n=$((n + 1))' USR1; echo one; echo two; echo three; echo bad >&2; "
                    "while [ $n -lt 1 ]; do sleep 0.1; done; echo four; printf five; "
                    "while [ $n -lt 2 ]; do sleep 0.1; done; printf six");
    comes_to_say(r, "talks", "three\n");
    comes_to_say(r, "talks", "bad\n");
    gives(r, "talks", -1, "one\ntwo\nthree\nbad\n");
    gives(r, "talks", 2, "two\nthree\nbad\n");
    gives(r, "talks", 0, "");
    assert_int_equal(reply_of(r, "nobody", -1, false).status, 404);
    assert_int_equal(reply_of(r, "../talks", -1, false).status, 404);
    struct reply follow = reply_of(r, "talks", 1, true);
    assert_string_equal(follow.channel, "output");
    assert_string_equal(taken(follow.cursor, &end), "three\nbad\n");
    assert_int_equal(end, CURSOR_WAIT);
    signal_shell(r, "talks");
    comes_to_say(r, "talks", "four\n");
    assert_string_equal(taken(follow.cursor, &end), "four\n"); /* whole lines */
    assert_int_equal(end, CURSOR_WAIT);
    signal_shell(r, "talks");
    subject_await_end(&r->subject, "talks");
    assert_string_equal(taken(follow.cursor, &end), "fivesix\n");
    assert_int_equal(end, CURSOR_END);
    remove_labelled(r, "talks", "app/0");
    cursor_free(follow.cursor);
    gives(r, "talks", 2, "bad\nfour\nfivesix\n");
    assert_int_equal(kept_of(r, "app/0"), 1);
    assert_int_equal(kept_of(r, "app/1"), 0);
    rig_restart(r);
    gives(r, "talks", 1, "bad\nfivesix\n");
}

/* Readers have descriptors, whether they follow or not. */
void trial_output_bounded(void **state)
{
    enum { READERS = 128 };
    struct rig *r = *state;
    struct reply readers[READERS];
    rig_begin_shell(r, "read", "echo one; exec sleep 1000");
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = reply_of(r, "read", -1, i % 2);
        assert_int_equal(readers[i].status, 200);
    }
    assert_int_equal(reply_of(r, "read", -1, false).status, 503);
    assert_int_equal(reply_of(r, "read", -1, true).status, 503);
    cursor_free(readers[0].cursor);
    readers[0] = reply_of(r, "read", -1, false);
    assert_int_equal(readers[0].status, 200);
    for (size_t i = 0; i < READERS; i++) {
        cursor_free(readers[i].cursor);
    }
    /* What cannot be read now is not said to be missing. */
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int status = reply_of(r, "read", -1, false).status;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, 503);
    subject_remove(&r->subject, "read");
}

/* Some 80 lines fill a file of the log. */
static void small_files(struct rig *r)
{
    r->config.log_bytes = 4096;
    r->config.log_files = 3;
    rig_restart(r);
}

/* Of the process driver. A reader who is there before the first line misses none, should they fill
 * a file at once. */
void trial_output_begins(void **state)
{
    struct rig *r = *state;
    small_files(r);
    rig_begin_shell(r, "counts",
                    "while [ ! -e go ]; do sleep 0.01; done; "
                    "i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done; "
                    "exec sleep 1000");
    struct reply follow = reply_of(r, "counts", -1, true);
    enum cursor_state end;
    assert_string_equal(taken(follow.cursor, &end), "");
    FILE *go = fopen(rig_path(r, "counts", "home/go"), "w");
    assert_non_null(go);
    fclose(go);
    for (struct patience p = {0}; access(rig_path(r, "counts", "log/output.1"), F_OK) < 0;) {
        assert_true(patience(&p));
    }
    assert_int_equal(strncmp(taken(follow.cursor, &end), "line 0\nline 1\n", 14), 0);
    cursor_free(follow.cursor);
    subject_remove(&r->subject, "counts");
}

/* A reader goes on across rotations, and says when it was left behind. */
void trial_output_rotates(void **state)
{
    struct rig *r = *state;
    enum cursor_state end;
    small_files(r);
    rig_begin_shell(r, "counts",
                    "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); "
                    "[ $((i % 100)) = 0 ] && sleep 0.05; done; sleep 0.5; "
                    "i=0; while [ $i -lt 3000 ]; do echo more $i; i=$((i+1)); done");
    struct reply follow = reply_of(r, "counts", -1, true);
    int next = 0;
    bool lost = false;
    do {
        rig_pause_ms(20);
        char *save = NULL, *text = strdup(taken(follow.cursor, &end));
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            int number;
            if (sscanf(line, "line %d", &number) == 1) {
                assert_true(number == next || (lost && number > next));
                next = number + 1;
            } else if (strncmp(line, "--", 2) == 0) {
                lost = true; /* a slow machine: the reader did not keep up, and is told */
            } else {
                assert_int_equal(sscanf(line, "more %d", &number), 1);
                next = 3000;
            }
        }
        free(text);
    } while (next < 3000);
    subject_await_end(&r->subject, "counts");
    while (end != CURSOR_END) {
        lost |= strstr(taken(follow.cursor, &end), "-- corkboard: lines were rotated away") != NULL;
        rig_pause_ms(20);
    }
    assert_true(lost);
    cursor_free(follow.cursor);
    subject_remove(&r->subject, "counts");
}

/* Found by the label, and by how it begins; one that fits into no name by all of it. */
void trial_output_labels(void **state)
{
    struct rig *r = *state;
    char longest[200], longer[200];
    snprintf(longest, sizeof(longest), "%0158d/0", 0);
    snprintf(longer, sizeof(longer), "%0159d/0", 0);
    const char *const labels[] = {"web-0123456789/0", "web-0123456789/12", "web-api-9876543210/0",
                                  longest, longer, "web b%/0"};
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        char guid[24];
        snprintf(guid, sizeof(guid), "label-%zu", i);
        rig_begin_shell(r, guid, "echo here");
        subject_await_end(&r->subject, guid);
        remove_labelled(r, guid, labels[i]);
        assert_int_equal(kept_of(r, labels[i]), 1);
        gives(r, guid, -1, "here\n");
    }
    assert_string_equal(kept_list_of(r, labels[1], false), "label-1 web-0123456789/12 ");
    assert_string_equal(kept_list_of(r, labels[5], false), "label-5 web b%/0 ");
    assert_non_null(strstr(kept_list_of(r, "web-", true), "label-0 web-0123456789/0 "));
    assert_non_null(strstr(kept_list_of(r, "web-", true), "label-1 web-0123456789/12 "));
    assert_non_null(strstr(kept_list_of(r, "web-", true), "label-2 web-api-9876543210/0 "));
    assert_null(strstr(kept_list_of(r, "web", true), "label-5"));
    assert_non_null(strstr(kept_list_of(r, "00", true), "label-3 "));
    assert_null(strstr(kept_list_of(r, "00", true), "label-4 "));
    assert_string_equal(kept_list_of(r, "api", true), "");
    rig_restart(r);
    assert_string_equal(kept_list_of(r, labels[2], false), "label-2 web-api-9876543210/0 ");
}

/* Three a label; on a full disk none, but the container goes. */
void trial_output_kept(void **state)
{
    struct rig *r = *state;
    char guid[24], fill[200], command[300];
    rig_suspend(r);
    assert_int_equal(mount("tmpfs", r->state, "tmpfs", 0, "size=100m"), 0);
    rig_resume(r);
    for (int i = 0; i < 5; i++) {
        snprintf(guid, sizeof(guid), "kept-%d", i);
        rig_begin_shell(r, guid, "echo here");
        subject_await_end(&r->subject, guid);
        remove_labelled(r, guid, "app/0");
        rig_pause_ms(1100); /* they are told apart by the second */
    }
    assert_int_equal(kept_of(r, "app/0"), 3);
    gives(r, "kept-4", -1, "here\n");
    gives(r, "kept-2", -1, "here\n");
    assert_int_equal(reply_of(r, "kept-1", -1, false).status, 404);
    rig_begin_shell(r, "silent", "true");
    subject_await_end(&r->subject, "silent");
    remove_labelled(r, "silent", "quiet/0"); /* nothing was written: nothing is kept */
    rig_begin_shell(r, "last", "echo here; sleep 3");
    snprintf(fill, sizeof(fill), "%s/fill", r->state);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=64k 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    remove_labelled(r, "last", "app/0");
    assert_int_equal(kept_of(r, "app/0"), 0);
    unlink(fill);
    rig_suspend(r);
    assert_int_equal(umount2(r->state, MNT_DETACH), 0);
    rig_resume(r);
}

void trial_logs(void **state)
{
    enum { LINES = 100000, LIMIT = 65536, HEAD = 44 };
    struct rig *r = *state;
    char script[200];
    struct event ev;
    SCOPED_ARENA(arena);
    /* Under the limit every line arrives, however fast they come. */
    snprintf(script, sizeof(script),
             "yes 'a line of a log' | head -%d; yes err | head -%d >&2; echo end", LINES, LINES);
    rig_begin_shell(r, "burst", script);
    subject_await_end(&r->subject, "burst");
    assert_int_equal(rig_size_of(rig_path(r, "burst", "log/output")) +
                         rig_size_of(rig_path(r, "burst", "log/output.1")),
                     LINES * (HEAD + 16) + HEAD + 4 + LINES * (HEAD + 4));
    subject_remove(&r->subject, "burst");
    /* Over it the oldest go, whole files at a time, and lines stay whole. */
    r->config.log_bytes = LIMIT;
    r->config.log_files = 3;
    rig_restart(r);
    rig_begin_shell(r, "bounded", script);
    while (r->subject.next(&r->subject, 0, &arena, &ev)) {
        fail_msg("it ended too soon to be looked at");
    }
    subject_await_end(&r->subject, "bounded");
    assert_true(rig_size_of(rig_path(r, "bounded", "log/output")) <= LIMIT);
    assert_true(rig_size_of(rig_path(r, "bounded", "log/output.1")) <= LIMIT);
    assert_true(rig_size_of(rig_path(r, "bounded", "log/output.2")) > LIMIT / 2);
    assert_int_equal(rig_size_of(rig_path(r, "bounded", "log/output.3")), -1);
    const char *last = rig_text_of(rig_path(r, "bounded", "log/output"));
    assert_int_equal(last[strlen(last) - 1], '\n');
    assert_int_equal(rig_text_of(rig_path(r, "bounded", "log/output.1"))[HEAD - 15], 'Z');
    subject_remove(&r->subject, "bounded");
}

/* The state directory on a small disk of its own, and that full: the container runs on, its end is
 * kept, and its log says what it has lost. */
void trial_full_disk(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(arena);
    char fill[200], command[300];
    rig_suspend(r);
    assert_int_equal(mount("tmpfs", r->state, "tmpfs", 0, "size=2m"), 0);
    rig_resume(r);
    rig_begin_shell(r, "noisy", "while true; do printf '%0200d\n' 1; sleep 0.005; done");
    snprintf(fill, sizeof(fill), "%s/fill", r->state);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=4k count=1000 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    rig_pause_ms(1000);
    assert_int_equal(subject_find(&r->subject, &arena, "noisy").state, CONTAINER_RUNNING);
    struct container_spec spec = {.rootfs = r->subject.rootfs, .path = "/bin/true"};
    struct verb_answer a = subject_prepare(&r->subject, &arena, "late", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_non_null(strstr(a.text, "No space left"));
    rig_restart(r); /* adoption needs no space */
    assert_int_equal(subject_find(&r->subject, &arena, "noisy").state, CONTAINER_RUNNING);
    unlink(fill);
    snprintf(command, sizeof(command), "grep -q 'bytes of log were lost here' %s",
             rig_path(r, "noisy", "log/output"));
    int status = system(command);
    for (struct patience p = {0}; status != 0 && patience(&p);) {
        status = system(command);
    }
    assert_int_equal(status, 0);
    snprintf(command, sizeof(command), "dd if=/dev/zero of=%s bs=4k count=1000 2>/dev/null", fill);
    assert_int_not_equal(system(command), 0);
    rig_done(subject_signal(&r->subject, &arena, "noisy", SIGKILL));
    struct ended e = subject_await_end(&r->subject, "noisy");
    assert_true(e.exit_signal == SIGKILL || e.exit_code == 128 + SIGKILL);
    subject_remove(&r->subject, "noisy");
    rig_suspend(r);
    assert_int_equal(umount2(r->state, MNT_DETACH), 0);
    rig_resume(r);
}
