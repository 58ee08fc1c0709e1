/* rep-shim remove, killed before each of its system calls, and short of descriptors at each of
 * them: nothing that runs is taken for gone, and what was written is kept. Without a rep: the
 * container is a directory made by hand and a process beside it. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"
#include "test/tool/cmocka.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { CALLS_MAX = 5000 };

struct place {
    char top[64], dir[80], kept[80], shim[PATH_MAX];
    pid_t process; /* of the container; a child of ours */
};

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool has(const struct place *p, const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", p->dir, name);
    return exists(path);
}

static void place_make(struct place *p)
{
    ssize_t n = readlink("/proc/self/exe", p->shim, sizeof(p->shim) - 32);
    assert_true(n > 0);
    p->shim[n] = '\0';
    char *at = strstr(p->shim, "/test/e2e/");
    assert_non_null(at);
    strcpy(at, "/bin/rep-shim");
    strcpy(p->top, "/tmp/shim-remove-XXXXXX");
    assert_non_null(mkdtemp(p->top));
    snprintf(p->dir, sizeof(p->dir), "%s/c", p->top);
    snprintf(p->kept, sizeof(p->kept), "%s/kept", p->top);
}

/* A container of a killed shim: whole, with output, and its process runs on. */
static void container_make(struct place *p)
{
    struct identity id;
    char text[128], log[200];
    p->process = fork();
    if (p->process == 0) {
        setsid();
        pause();
        _exit(0);
    }
    assert_int_equal(mkdir(p->dir, 0700), 0);
    snprintf(log, sizeof(log), "%s/log", p->dir);
    assert_int_equal(mkdir(log, 0700), 0);
    write_file(log, "stdout", "last words\n");
    write_file(p->dir, "note", "note");
    assert_int_equal(identity_of(p->process, &id), 0);
    identity_print(&id, text, sizeof(text));
    write_file(p->dir, "pid", text);
    id.start += 1; /* nobody: the shim was killed */
    identity_print(&id, text, sizeof(text));
    write_file(p->dir, "shim.pid", text);
}

static bool process_lives(struct place *p)
{
    return p->process && waitpid(p->process, NULL, WNOHANG) == 0;
}

static void clean(struct place *p)
{
    char command[200];
    if (process_lives(p)) {
        kill(p->process, SIGKILL);
        waitpid(p->process, NULL, 0);
    }
    snprintf(command, sizeof(command), "rm -rf %s/c %s/kept", p->top, p->top);
    assert_int_equal(system(command), 0);
    p->process = 0;
}

static pid_t spawn_remove(const struct place *p, bool unfinished, bool traced)
{
    char keep[100];
    snprintf(keep, sizeof(keep), "--keep=%s", p->kept);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd <= SHIM_REPORT_FD; fd++) {
            dup2(null, fd);
        }
        if (chdir(p->dir) < 0 || (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)) {
            _exit(126);
        }
        execl(p->shim, p->shim, "remove", "--guid=c", unfinished ? "--unfinished" : keep,
              (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int run_remove(const struct place *p, bool unfinished)
{
    int status;
    pid_t pid = spawn_remove(p, unfinished, false);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Tracing ---- */

enum fault { DIES, NO_DESCRIPTOR };

#ifdef __x86_64__
/* Whether the call that begins gives a descriptor. */
static bool opens(pid_t pid)
{
    struct user_regs_struct regs;
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
    return regs.orig_rax == SYS_open || regs.orig_rax == SYS_openat ||
           regs.orig_rax == SYS_pidfd_open || regs.orig_rax == SYS_dup;
}

static void fail_call(pid_t pid)
{
    struct user_regs_struct regs;
    int status;
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
    regs.orig_rax = (unsigned long long)-1;
    assert_int_equal(ptrace(PTRACE_SETREGS, pid, NULL, &regs), 0);
    assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
    regs.rax = (unsigned long long)-ENFILE;
    assert_int_equal(ptrace(PTRACE_SETREGS, pid, NULL, &regs), 0);
}
#else /* where calls are read and changed otherwise; the test is skipped */
static bool opens(pid_t pid)
{
    return false;
}

static void fail_call(pid_t pid)
{
}
#endif

/* Runs it with the fault at its n-th call (of those that give descriptors). Gives its exit status,
 * -1 when it died; *ret_reached says whether there was such a call. */
static int run_with(const struct place *p, enum fault fault, int n, bool *ret_reached)
{
    int status, calls = 0;
    bool entry = true;
    pid_t pid = spawn_remove(p, false, true);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSTOPPED(status)); /* by its exec */
    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    *ret_reached = false;
    for (int signal = 0;;) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFSTOPPED(status)) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal) {
            continue;
        }
        bool counts = entry && (fault == DIES || opens(pid));
        entry = !entry;
        if (!counts || ++calls != n) {
            continue;
        }
        *ret_reached = true;
        if (fault == DIES) {
            kill(pid, SIGKILL);
            assert_int_equal(waitpid(pid, &status, 0), pid);
            return -1;
        }
        fail_call(pid);
        entry = true;
    }
}

static int set_up(void **state)
{
    static struct place p;
    place_make(&p);
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    clean(p);
    return rmdir(p->top);
}

/* ---- The tests ---- */

static void a_removal_leaves_nothing_but_the_log(void **state)
{
    struct place *p = *state;
    container_make(p);
    assert_int_equal(run_remove(p, false), 0);
    assert_false(process_lives(p));
    assert_false(exists(p->dir));
    assert_true(exists(p->kept));
}

/* After each of its calls: a rep that starts clears away what has no note, and removes the rest
 * again. */
static void killed_at_any_call_it_loses_no_output(void **state)
{
    struct place *p = *state;
    bool reached = true;
    int n = 1;
    for (; reached && n < CALLS_MAX; n++) {
        container_make(p);
        run_with(p, DIES, n, &reached);
        if (exists(p->dir) && !has(p, "note")) {
            assert_int_equal(run_remove(p, true), 0);
        } else if (exists(p->dir)) {
            assert_int_equal(run_remove(p, false), 0);
        }
        if (exists(p->dir) || process_lives(p) || !exists(p->kept)) {
            fail_msg("killed at call %d: directory %d, process %d, kept output %d", n,
                     exists(p->dir), process_lives(p), exists(p->kept));
        }
        clean(p);
    }
    assert_in_range(n, 20, CALLS_MAX - 1);
}

/* Whatever could not be opened: either all is well, or it says that it is not, and the container is
 * still one, so that it is removed again. */
static void without_a_descriptor_nothing_is_taken_for_gone(void **state)
{
    struct place *p = *state;
    bool reached = true;
    int n = 1;
#ifndef __x86_64__
    skip();
#endif
    for (; reached && n < CALLS_MAX; n++) {
        container_make(p);
        int code = run_with(p, NO_DESCRIPTOR, n, &reached);
        bool lives = process_lives(p), gone = !exists(p->dir);
        if ((code == 0) != gone || (lives && (gone || !has(p, "note")))) {
            fail_msg("no descriptor at open %d: exit code %d, directory %d, note %d, process %d", n,
                     code, !gone, has(p, "note"), lives);
        }
        assert_true(gone || run_remove(p, false) == 0);
        assert_false(process_lives(p));
        assert_true(exists(p->kept));
        clean(p);
    }
    assert_in_range(n, 8, CALLS_MAX - 1);
}

#define TRIAL(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(a_removal_leaves_nothing_but_the_log),
        TRIAL(killed_at_any_call_it_loses_no_output),
        TRIAL(without_a_descriptor_nothing_is_taken_for_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
