/* What a container may not do to the cell and to others, tried from within, as its root. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include "rep/driver/volumes.h"
#include "rep/shim/identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ADD_KEY_USER_RING = -4 };

/* A static program of test/e2e/inside, put into the root filesystem as /NAME. */
void rig_install(struct rig *r, const char *name)
{
    char command[700], program[300];
    snprintf(program, sizeof(program), "%s", r->shim);
    char *at = strstr(program, "/bin/rep-shim");
    assert_non_null(at);
    snprintf(command, sizeof(command), "install -m 0755 %.*s/test/e2e/inside/%s %s/%s",
             (int)(at - program), program, name, r->rootfs_path, name);
    if (system(command) != 0) {
        fail_msg("%s: is it built (make tests)?", command);
    }
}

/* Runs a program of the root filesystem to its end; what it wrote to stdout. */
static const char *output_of(struct rig *r, struct container_spec *spec)
{
    SCOPED_ARENA(arena);
    rig_done(subject_prepare(&r->subject, &arena, "tries", spec));
    rig_done(subject_plain(&r->subject, &arena, VERB_START, "tries"));
    assert_int_equal(subject_await_end(&r->subject, "tries").exit_code, 0);
    const char *text = rig_wrote(r, "tries");
    subject_remove(&r->subject, "tries");
    return text;
}

static long neighbour_of(struct rig *r, char *text, size_t size)
{
    struct identity id = {0};
    int dir = open(rig_path(r, "neighbour", "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(identity_read(dir, "pid", &id), 0);
    close(dir);
    snprintf(text, size, "%ld", id.pid);
    return id.pid;
}

static bool was_done(const char *text, const char *name)
{
    char line[80];
    snprintf(line, sizeof(line), "%s done\n", name);
    return strstr(text, line) != NULL;
}

/* Nothing at all of it succeeds; with all rights, what a cell lets nobody else do does. */
void trial_break_out(void **state)
{
    static const char *const with_rights[] = {"mount", "settings", "device", "handle"};
    struct rig *r = *state;
    char neighbour[32];
    const char *args[2] = {neighbour, NULL};
    assert_true(r->choice.user_namespaces && r->choice.seccomp);
    rig_install(r, "break_out");
    syscall(SYS_add_key, "user", "corkboard-trial", "x", 1, ADD_KEY_USER_RING);
    rig_begin_shell(r, "neighbour", "exec sleep 1000");
    neighbour_of(r, neighbour, sizeof(neighbour));
    struct container_spec spec = {
        .rootfs = r->subject.rootfs, .path = "/break_out", .args = args, .user = "root"};
    const char *text = output_of(r, &spec);
    print_message("%s", text);
    assert_non_null(strstr(text, "mount "));
    assert_null(strstr(text, "done"));
    spec.privileged = true;
    text = output_of(r, &spec);
    for (size_t i = 0; i < sizeof(with_rights) / sizeof(with_rights[0]); i++) {
        if (!was_done(text, with_rights[i])) {
            fail_msg("a privileged container may not %s:\n%s", with_rights[i], text);
        }
    }
    subject_remove(&r->subject, "neighbour");
}

/* Its root owns all of its root filesystem, and what it makes belongs to nobody of this machine; no
 * two containers share an id. */
void trial_ids(void **state)
{
    struct rig *r = *state;
    struct stat one, other;
    const char *args[4];
    SCOPED_ARENA(arena);
    struct container_spec spec = rig_shell(
        r, "stat -c %u:%g / /bin/busybox /tmp; cat /proc/self/uid_map | tr -s ' '; "
           "touch /mine; chown 2000:2001 /mine; echo to >/dev/stdout; echo x >/bin/busybox-more",
        args);
    const char *text = output_of(r, &spec);
    assert_int_equal(strncmp(text, "0:0\n0:0\n0:0\n 0 ", 15), 0);
    assert_non_null(strstr(text, " 65536\nto\n"));
    rig_begin_shell(r, "one", "touch /mine; exec sleep 1000");
    rig_begin_shell(r, "other", "touch /mine; exec sleep 1000");
    for (struct patience p = {0}; patience(&p);) {
        if (stat(rig_path(r, "one", "rootfs/mine"), &one) == 0 &&
            stat(rig_path(r, "other", "rootfs/mine"), &other) == 0) {
            break;
        }
    }
    assert_true(one.st_uid >= RIG_IDS && other.st_uid >= RIG_IDS && one.st_uid != other.st_uid);
    assert_int_equal(one.st_uid, one.st_gid);
    /* A range that one has is no other's. */
    spec.ids_first = one.st_uid;
    struct verb_answer a = subject_prepare(&r->subject, &arena, "third", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_non_null(strstr(a.text, "range of ids"));
    /* Nor is one known only after a restart. */
    rig_restart(r);
    a = subject_prepare(&r->subject, &arena, "third", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    subject_remove(&r->subject, "one");
    rig_done(subject_prepare(&r->subject, &arena, "third", &spec));
    subject_remove(&r->subject, "third");
    subject_remove(&r->subject, "other");
    spec.ids_first = 0;
    spec.user = "70000:0";
    a = subject_prepare(&r->subject, &arena, "third", &spec);
    assert_int_equal(a.outcome, VERB_FAILED);
    assert_non_null(strstr(a.text, "beyond the 65536"));
}

static struct verb_answer prepared(struct rig *r, struct arena *a, struct container_spec *spec,
                                   const struct volume *volumes, size_t count)
{
    spec->volumes = volumes;
    spec->volume_count = count;
    return subject_prepare(&r->subject, a, "tries", spec);
}

/* A directory of the cell and memory, to write and to read only; two containers share the one, each
 * as its own root, and nothing of the cell is reached by a link. */
void trial_volumes(void **state)
{
    struct rig *r = *state;
    const char *args[4];
    char base[100], file[140];
    struct stat st;
    SCOPED_ARENA(a);
    snprintf(base, sizeof(base), "%s/data", r->dir);
    snprintf(file, sizeof(file), "%s/below", base);
    assert_int_equal(mkdir(base, 0755) | mkdir(file, 0755), 0);
    const struct volume_source source = {"data", base};
    r->config.volumes = &source;
    r->config.volume_count = 1;
    rig_restart(r);
    const struct volume all[] = {
        {"bind", "data", "", "/data", true},
        {"bind", "data/below", "", "/only", false},
        {"tmpfs", "", "size=1M", "/memory", true},
        {"tmpfs", "", "", "/none", false},
    };
    struct container_spec spec = rig_shell(
        r, "echo 1 >/data/file && stat -c %u /data/file; touch /only/x 2>/dev/null || echo ro; "
           "dd if=/dev/zero of=/memory/x bs=1M count=2 2>/dev/null || echo full; "
           "touch /none/x 2>/dev/null || echo none; ln -s /etc /data/out; touch /data/below/y",
        args);
    spec.volumes = all;
    spec.volume_count = 4;
    assert_string_equal(output_of(r, &spec), "0\nro\nfull\nnone\n");
    snprintf(file, sizeof(file), "%s/file", base);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_uid, 0); /* it stays, as the cell's root would have written it */
    spec = rig_shell(r, "cat /data/file; stat -c %u /data/file; ls /only", args);
    spec.volumes = all;
    spec.volume_count = 2;
    assert_string_equal(output_of(r, &spec), "1\n0\ny\n");
    snprintf(file, sizeof(file), "%s/below/program", base);
    int program = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_int_equal(write(program, "#!/bin/sh\necho $0\n", 18), 18);
    close(program);
    static const char *const places[] = {"/data/below/program", "/only/program", "./program"};
    for (size_t i = 0; i < 3; i++) {
        spec.path = places[i];
        spec.args = NULL;
        spec.dir = "/data/below";
        SCOPED_BUF(line);
        buf_printf(&line, "%s\n", places[i]);
        assert_string_equal(output_of(r, &spec), buf_string(&line));
    }
    static const struct volume bad[] = {
        {"bind", "data/out", "", "/data", true},
        {"bind", "data/nosuch", "", "/data", true},
        {"bind", "other", "", "/data", true},
        {"nfs", "data", "", "/data", true},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct verb_answer got = prepared(r, &a, &spec, &bad[i], 1);
        assert_int_equal(got.outcome, VERB_FAILED);
        assert_int_equal(strncmp(got.text, "failed to mount volume", 22), 0);
        assert_null(subject_find(&r->subject, &a, "tries").guid);
    }
    r->config.volume_count = 0;
}

/* What cannot be is told with its reason, and goes on without; unless all of it is wanted. */
void trial_isolation_probe(void **state)
{
    struct rig *r = *state;
    struct driver_choice choice;
    struct err err;
    struct driver_config config = r->config;
    config.ids_first = 0;
    config.seccomp = "/nonexistent/profile";
    assert_int_equal(driver_probe(&config, &choice, &err), 0);
    assert_false(choice.user_namespaces || choice.seccomp);
    assert_string_equal(choice.isolation,
                        "no user namespaces: no ids are set aside for it (--ids); "
                        "no seccomp: cannot read the profile /nonexistent/profile: "
                        "No such file or directory");
    assert_non_null(strstr(choice.text, choice.isolation));
    config.strict = true;
    assert_int_equal(driver_probe(&config, &choice, &err), -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "--isolation strict, but no user namespaces: "));
    config = r->config;
    config.strict = true;
    assert_int_equal(driver_probe(&config, &choice, &err), 0);
    assert_string_equal(choice.isolation, "user namespaces; seccomp");
    /* A file system that takes no other ids: an overlay over the root filesystem. */
    char command[600], path[100];
    snprintf(path, sizeof(path), "%s/over", r->dir);
    snprintf(command, sizeof(command),
             "mkdir -p %s/over %s/up %s/work && mount -t overlay none -o "
             "lowerdir=%s,upperdir=%s/up,workdir=%s/work %s", r->dir, r->dir, r->dir,
             r->rootfs_path, r->dir, r->dir, path);
    assert_int_equal(system(command), 0);
    const struct driver_rootfs rootfs = {"over", path};
    config.rootfs = &rootfs;
    int result = driver_probe(&config, &choice, &err);
    snprintf(command, sizeof(command), "umount %s", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(result, -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "with the ids of a container"));
}

/* A mount that a removal knows nothing of keeps the container; and what is mounted stays whole,
 * though it is of the same file system. */
void trial_mount_is_not_deleted(void **state)
{
    struct rig *r = *state;
    SCOPED_ARENA(a);
    char data[100], file[140], place[300], command[1000];
    struct stat st;
    snprintf(data, sizeof(data), "%s/data", r->dir);
    snprintf(file, sizeof(file), "%s/precious", data);
    rig_begin_shell(r, "holds", "exec sleep 1000");
    snprintf(place, sizeof(place), "%s", rig_path(r, "holds", "steps-of-nobody"));
    snprintf(command, sizeof(command), "mkdir %s %s && touch %s && mount --bind %s %s", data, place,
             file, data, place);
    assert_int_equal(system(command), 0);
    struct verb_answer got = subject_plain(&r->subject, &a, VERB_REMOVE, "holds");
    assert_int_equal(got.outcome, VERB_FAILED);
    assert_int_equal(stat(file, &st), 0);
    snprintf(command, sizeof(command), "umount %s", place);
    assert_int_equal(system(command), 0);
    subject_remove(&r->subject, "holds");
    assert_int_equal(stat(file, &st), 0);
}
