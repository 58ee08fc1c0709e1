/* rep-courier, killed at system calls all over its run: the cache has whole things and what is in
 * part/, a sweep removes that, and the next courier does the job. */
#include "rep/container/cache_plan.h"
#include "rep/courier/paths_io.h"
#include "test/tool/cmocka.h"
#include "test/tool/courier_rig.h"
#include "test/tool/file_server.h"
#include "test/tool/patience.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 5000, KILLS = 25 };

static struct courier_rig rig;
static struct file_server server;
static char digest_option[128];

/* ---- tracing ---- */

/* Lets it go to its next system call, or the end of one; false when it has ended. */
static bool next_stop(pid_t pid)
{
    int status, signal = 0;
    for (;;) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)signal), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFSTOPPED(status)) {
            return false;
        }
        signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            return true;
        }
    }
}

/* Runs it until that stop, where it is killed; or to its end. Gives how many stops there were, and
 * which was the first with something in part/: all before it concerns nobody. */
static int run_until(const char *const *words, int stop, int *ret_first)
{
    int status, at = 0;
    *ret_first = -1;
    rig.traced = true;
    pid_t pid = courier_begin(&rig, words);
    rig.traced = false;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(
        ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
    for (; next_stop(pid); at++) {
        if (at == stop) {
            kill(pid, SIGKILL);
            assert_int_equal(waitpid(pid, &status, 0), pid);
            return at;
        }
        if (*ret_first < 0 && names_in(courier_path(&rig, "cache/part")) > 0) {
            *ret_first = at;
        }
    }
    return at;
}

/* ---- what must hold ---- */

static void assert_object_whole(const char *name)
{
    size_t size;
    char *data = file_text(courier_path(&rig, "cache/objects/%s", name), &size);
    assert_true(cache_digest_valid(name));
    assert_int_equal(size, server.shared->size);
    assert_memory_equal(data, server.shared->content, size);
    free(data);
}

static void assert_tree_whole(const char *name)
{
    assert_true(cache_digest_valid(name));
    assert_int_equal(names_in(courier_path(&rig, "cache/trees/%s", name)), 2);
    assert_int_equal(names_in(courier_path(&rig, "cache/trees/%s/root", name)), 3);
}

static void assert_key_whole(const char *name)
{
    size_t size;
    struct cache_record record;
    char *data = file_text(courier_path(&rig, "cache/keys/%s", name), &size);
    assert_int_equal(cache_record_parse((struct bytes){(const uint8_t *)data, size}, &record, NULL),
                     0);
    free(data);
}

static void each_in(const char *part, void (*check)(const char *name))
{
    DIR *d = opendir(courier_path(&rig, "cache/%s", part));
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] != '.') {
            check(e->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
}

/* Once the child has followed its parent, a sweep leaves nothing in part/. */
static void assert_swept(void)
{
    struct courier_rig other = rig;
    snprintf(other.answer, sizeof(other.answer), "%s/other", rig.top);
    int left = -1;
    for (struct patience p = {0}; left != 0 && patience(&p);) {
        assert_int_equal(courier(&other, "sweep"), COURIER_DONE);
        left = names_in(courier_path(&rig, "cache/part"));
    }
    assert_int_equal(left, 0);
    assert_int_equal(names_in(courier_path(&rig, "cache")), 6); /* courier.h names them */
}

/* The object that a place starts from, where it is not what is made. */
static void (*begin_again)(void);

/* Each call stops it twice, before and behind it, so that an odd step meets both. */
static void killed_everywhere(const char *const *words, void (*check)(const char *name),
                              const char *where)
{
    int first, none;
    begin_again();
    int total = run_until(words, INT32_MAX, &first), step = (total - first) / KILLS | 1;
    assert_true(first > 0 && total - first > 3 * KILLS);
    for (int stop = first; stop < total; stop += step) {
        begin_again();
        run_until(words, stop, &none);
        each_in(where, check);
        each_in("keys", assert_key_whole);
        assert_swept();
        assert_int_equal(courier_end(&rig, courier_begin(&rig, words)), COURIER_DONE);
        assert_int_equal(names_in(courier_path(&rig, "cache/%s", where)), 1);
        each_in(where, check);
        assert_int_equal(names_in(courier_path(&rig, "cache/part")), 0);
    }
}

static void empty_cache(void)
{
    assert_true(remove_whole(AT_FDCWD, rig.cache));
}

static void a_fetch(void **state)
{
    static const char *const words[] = {"fetch", NULL};
    char url[64];
    file_server_serve(&server, SIZE, "\"one\"");
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/content", server.port);
    file_put(rig.url, url, strlen(url));
    begin_again = empty_cache;
    killed_everywhere(words, assert_object_whole, "objects");
}

/* ---- a tree ---- */

static void make_archive(void)
{
    static const char *const names[] = {"a", "b", "c"};
    struct archive *out = archive_write_new();
    archive_write_set_format_ustar(out);
    assert_int_equal(archive_write_open_memory(out, server.shared->content, FILE_SERVER_BYTES,
                                               &server.shared->size),
                     ARCHIVE_OK);
    for (size_t i = 0; i < 3; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, names[i]);
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, 1);
        assert_int_equal(archive_write_header(out, e), ARCHIVE_OK);
        assert_int_equal(archive_write_data(out, names[i], 1), 1);
        archive_entry_free(e);
    }
    archive_write_free(out);
}

static void only_the_object(void)
{
    empty_cache();
    assert_int_equal(courier(&rig, "fetch"), COURIER_DONE);
    snprintf(digest_option, sizeof(digest_option), "--digest=%s", rig.told.digest);
}

static void a_tree(void **state)
{
    static const char *const words[] = {"place", digest_option, "--tree", "--user=0:0", NULL};
    char url[64];
    file_server_serve(&server, SIZE, "\"two\"");
    make_archive();
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/content", server.port);
    file_put(rig.url, url, strlen(url));
    begin_again = only_the_object;
    killed_everywhere(words, assert_tree_whole, "trees");
}

static int set_up(void **state)
{
    /* who looks for leaks is no tracer's friend */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    courier_rig_up(&rig);
    file_server_start(&server);
    return 0;
}

static int tear_down(void **state)
{
    file_server_stop(&server);
    courier_rig_down(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fetch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tree, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
