/* What a container leaves behind is read as the container sees it, and only if it is a file. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct verb_answer read_at(struct rig *r, struct arena *a, const char *path)
{
    return subject_verb(&r->subject, a,
                        (struct verb_call){.verb = VERB_READ, .guid = "left", .path = path});
}

/* A container that ran this script to its end. */
static void leave(struct rig *r, const char *script)
{
    rig_begin_shell(r, "left", script);
    struct ended e = subject_await_end(&r->subject, "left");
    assert_int_equal(e.exit_code, 0);
    assert_int_equal(e.exit_signal, 0);
}

void trial_read(void **state)
{
    enum { MOST = VERB_READ_BYTES_MAX };
    static const struct {
        const char *name;
        long size; /* of what is read; -1: refused */
        const char *why;
    } files[] = {
        {"most", MOST, ""},         {"more", -1, "too large"},       {"empty", 0, ""},
        {"pipe", -1, "not a file"}, {"directory", -1, "not a file"}, {"loop", -1, "symbolic links"},
        {"link", MOST, ""},         {"missing", -1, "No such file"},
    };
    struct rig *r = *state;
    struct arena a;
    char script[600], path[100];
    const char *at = r->file; /* a directory in this trial */
    snprintf(script, sizeof(script),
             "mkdir %s; cd %s; head -c %d /dev/zero >most; head -c %d /dev/zero >more; : >empty; "
             "mkfifo pipe; mkdir directory; ln -s loop loop; ln -s most link",
             at, at, MOST, MOST + 1);
    leave(r, script);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        arena_init(&a);
        snprintf(path, sizeof(path), "%s/%s", at, files[i].name);
        struct verb_answer got = read_at(r, &a, path);
        bool read = files[i].size >= 0;
        if ((got.outcome == VERB_DONE) != read || !strstr(got.text, files[i].why) ||
            got.data.size != (size_t)(read ? files[i].size : 0)) {
            fail_msg("%s: %zu bytes, outcome %d: %s", files[i].name, got.data.size,
                     (int)got.outcome, got.text);
        }
        arena_done(&a);
    }
    subject_remove(&r->subject, "left");
}

/* Links, and "..", lead to the container's own files, not to those of this machine; a path that is
 * not absolute begins where its program did. */
void trial_read_in_root(void **state)
{
    static const char *const inside[] = {"/up", "/out", "/../secret", "own", "../secret"};
    struct rig *r = *state;
    SCOPED_ARENA(a);
    char script[500], path[100], device[200];
    snprintf(path, sizeof(path), "%s/secret", r->dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "outside", 7), 7);
    close(fd);
    snprintf(device, sizeof(device), "%s/device", r->rootfs_path); /* no container may make one */
    assert_int_equal(mknod(device, S_IFCHR | 0600, makedev(1, 5)), 0);
    snprintf(script, sizeof(script),
             "printf inside >/secret; printf inside >own; mkdir -p %s; printf inside >%s; ln -s "
             "../../../secret /up; "
             "ln -s %s /out",
             r->dir, path, path);
    leave(r, script);
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        struct verb_answer got = read_at(r, &a, inside[i]);
        if (got.outcome != VERB_DONE || !bytes_equal(got.data, bytes_of("inside"))) {
            fail_msg("%s: outcome %d: %s", inside[i], (int)got.outcome, got.text);
        }
    }
    struct verb_answer got = read_at(r, &a, "/device");
    assert_int_equal(got.outcome, VERB_FAILED);
    assert_non_null(strstr(got.text, "not a file"));
    subject_remove(&r->subject, "left");
}
