/* What a driver makes of containers of an earlier boot of its machine. A boot is told apart by its
 * id alone, so a trial ends what there is of the containers, as a restart would, and has their
 * files say that they are of another boot. */
#include "test/e2e/driver_trials.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rep/shim/identity.h"
#include "rep/steps/machine.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#define OTHER_BOOT "00000000-1111-2222-3333-444444444444"

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void kill_noted(struct rig *r, const char *guid, const char *file)
{
    struct identity id;
    int fd = identity_read(AT_FDCWD, rig_path(r, guid, file), &id) < 0 ? -1 : identity_open(&id);
    if (fd >= 0) {
        assert_int_equal(identity_signal(fd, SIGKILL), 0);
        close(fd);
    }
}

/* The process that once was `file`'s has an id that another one has now: ours. */
static void become(struct rig *r, const char *guid, const char *file)
{
    char text[128];
    struct identity me;
    if (access(rig_path(r, guid, file), F_OK) == 0) {
        assert_int_equal(identity_of(getpid(), &me), 0);
        strcpy(me.boot, OTHER_BOOT);
        identity_print(&me, text, sizeof(text));
        write_file(rig_path(r, guid, file), text);
    }
}

/* Nothing of it but its files is left, and they are of an earlier boot. */
void rig_fall(struct rig *r, const char *guid)
{
    char command[1024];
    kill_noted(r, guid, "shim.pid");
    kill_noted(r, guid, "pid");
    snprintf(command, sizeof(command),
             "for m in $(awk '{print $5}' /proc/self/mountinfo | grep /%s/ | tac); do umount -l $m;"
             "done; for i in 1 2 3 4 5 6 7 8 9 10; do left=; for g in $(find /sys/fs/cgroup -type d"
             " -name '*-%s'); do rmdir $g || left=1; done 2>/dev/null; [ \"$left\" ] || exit 0;"
             "sleep 0.2; done; exit 1",
             guid, guid);
    assert_int_equal(system(command), 0);
    become(r, guid, "shim.pid");
    become(r, guid, "pid");
    write_file(rig_path(r, guid, "boot"), OTHER_BOOT);
}

static struct container_status status_of(struct rig *r, struct arena *a, const char *guid)
{
    struct container_status c = subject_find(&r->subject, a, guid);
    assert_non_null(c.guid);
    return c;
}

/* Of its steps one has ended and one runs, and then all of it is gone. */
void trial_rebooted_steps(void **state)
{
    static const char *const scripts[] = {"exit 4", "exec sleep 1000"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    rig_begin_steps(r, "parts", scripts, 2);
    rig_begin_step(r, "parts", 1);
    rig_begin_step(r, "parts", 2);
    rig_suspend(r); /* nobody has seen the end of the first */
    for (struct patience p = {0};
         access(rig_path(r, "parts", "steps/1/status"), F_OK) < 0 && patience(&p);) {
    }
    kill_noted(r, "parts", "steps/2/shim.pid");
    kill_noted(r, "parts", "steps/2/pid");
    rig_fall(r, "parts");
    become(r, "parts", "steps/2/shim.pid");
    become(r, "parts", "steps/2/pid");
    rig_resume(r);
    struct container_status c = status_of(r, &a, "parts");
    assert_int_equal(c.state, CONTAINER_EXITED);
    assert_true(c.rebooted);
    assert_string_equal(c.text, STEP_MACHINE_TEXT);
    size_t ends = 0, begins = 0;
    for (size_t i = 0; i < c.fact_count; i++) {
        begins += c.facts[i].kind == FACT_BEGUN;
        ends += c.facts[i].kind == FACT_ENDED && c.facts[i].step == 1 && c.facts[i].exit_code == 4;
    }
    assert_int_equal(begins, 2);
    assert_int_equal(ends, 1);
    assert_int_equal(c.fact_count, begins + ends); /* nothing is made up by another clock */
    subject_remove(&r->subject, "parts");
    assert_int_equal(rig_leftovers(r), 0);
}

void trial_rebooted(void **state)
{
    static const char *const guids[] = {"ran", "begun", "over", "made", "old"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    const char *args[4];
    rig_begin_shell(r, "ran", "exec sleep 1000");
    rig_begin_shell(r, "begun", "exec sleep 1000");
    rig_begin_shell(r, "over", "exit 3");
    assert_int_equal(subject_await_end(&r->subject, "over").exit_code, 3);
    rig_begin_shell(r, "old", "exec sleep 1000");
    struct container_spec spec = rig_shell(r, "exec sleep 1000", args);
    rig_done(subject_prepare(&r->subject, &a, "made", &spec));
    rig_suspend(r);
    for (size_t i = 0; i < sizeof(guids) / sizeof(guids[0]); i++) {
        rig_fall(r, guids[i]);
    }
    /* A shim writes who is the first process after it has noted itself; an earlier version wrote
     * nothing else of its boot; and a machine without power leaves files empty. */
    assert_int_equal(unlink(rig_path(r, "begun", "pid")), 0);
    assert_int_equal(unlink(rig_path(r, "old", "boot")), 0);
    write_file(rig_path(r, "made", "boot"), "");
    rig_resume(r);

    const char *const lost[] = {"ran", "begun", "old"};
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        struct container_status c = status_of(r, &a, lost[i]);
        assert_int_equal(c.state, CONTAINER_EXITED);
        assert_true(c.rebooted);
        assert_string_equal(c.text, STEP_MACHINE_TEXT);
        assert_int_equal(c.pid, 0);
    }
    struct container_status c = status_of(r, &a, "over");
    assert_int_equal(c.state, CONTAINER_EXITED);
    assert_int_equal(c.exit_code, 3);
    assert_string_equal(c.text, "");
    c = status_of(r, &a, "made");
    assert_int_equal(c.state, CONTAINER_PREPARED);
    assert_true(c.rebooted);
    assert_string_equal(c.text, STEP_MACHINE_TEXT);
    struct verb_answer start = subject_plain(&r->subject, &a, VERB_START, "made");
    assert_int_equal(start.outcome, VERB_FAILED);
    assert_string_equal(start.text, STEP_MACHINE_TEXT);
    for (size_t i = 0; i < sizeof(guids) / sizeof(guids[0]); i++) {
        subject_remove(&r->subject, guids[i]);
    }
    assert_int_equal(rig_leftovers(r), 0);
}
