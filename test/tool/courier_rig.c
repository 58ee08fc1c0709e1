#include "test/tool/courier_rig.h"

#include "rep/courier/paths_io.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_program(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
    assert_true(n > 0);
    path[n] = '\0';
    char *at = strstr(path, "/test/");
    while (at && strstr(at + 1, "/test/")) {
        at = strstr(at + 1, "/test/");
    }
    assert_non_null(at);
    strcpy(at, "/bin/rep-courier");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

void courier_rig_up(struct courier_rig *r)
{
    *r = (struct courier_rig){.progress_fd = -1, .program = open_program()};
    strcpy(r->top, "/tmp/courier-XXXXXX");
    assert_non_null(mkdtemp(r->top));
    snprintf(r->cache, sizeof(r->cache), "%s/cache", r->top);
    snprintf(r->root, sizeof(r->root), "%s/root", r->top);
    snprintf(r->answer, sizeof(r->answer), "%s/answer", r->top);
    snprintf(r->url, sizeof(r->url), "%s/url", r->top);
    snprintf(r->key, sizeof(r->key), "%s/key", r->top);
    assert_int_equal(mkdir(r->root, 0755), 0);
}

void courier_rig_down(struct courier_rig *r)
{
    assert_true(remove_whole(AT_FDCWD, r->top));
    close(r->program);
}

const char *courier_path(const struct courier_rig *r, const char *format, ...)
{
    static char paths[4][PATH_MAX];
    static int turn;
    char *path = paths[turn++ % 4];
    va_list args;
    va_start(args, format);
    int n = snprintf(path, PATH_MAX, "%s/", r->top);
    vsnprintf(path + n, (size_t)(PATH_MAX - n), format, args);
    va_end(args);
    return path;
}

/* ---- running ---- */

_Noreturn static void run(const struct courier_rig *r, char **argv)
{
    extern char **environ;
    const char *sanitizer = getenv("ASAN_OPTIONS");
    char options[512]; /* what was freed is not kept for long: its memory is looked at */
    snprintf(options, sizeof(options), "%s:quarantine_size_mb=8", sanitizer ? sanitizer : "");
    setenv("ASAN_OPTIONS", options, 1);
    if (r->traced) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    }
    if (r->as && (setgid(r->as) < 0 || setuid(r->as) < 0)) {
        _exit(126);
    }
    fexecve(r->program, argv, environ);
    _exit(127);
}

static const struct takes {
    const char *verb;
    bool cache, url;
} takes[] = {{"fetch", true, true},
             {"place", true, false},
             {"pack", false, false},
             {"send", false, true},
             {"sweep", true, false}};

pid_t courier_begin(struct courier_rig *r, const char *const *words)
{
    char answer[128], cache[128], url[128], progress[32];
    const char *argv[64] = {"rep-courier", words[0], answer};
    size_t n = 3;
    snprintf(answer, sizeof(answer), "--answer=%s", r->answer);
    snprintf(cache, sizeof(cache), "--cache=%s", r->cache);
    snprintf(url, sizeof(url), "--url-file=%s", r->url);
    snprintf(progress, sizeof(progress), "--progress-fd=%d", r->progress_fd);
    for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
        bool its = strcmp(takes[i].verb, words[0]) == 0;
        if (its && takes[i].cache) {
            argv[n++] = cache;
        }
        if (its && takes[i].url) {
            argv[n++] = url;
        }
    }
    if (r->progress_fd >= 0) {
        argv[n++] = progress;
    }
    for (words++; *words; words++) {
        argv[n++] = *words;
    }
    argv[n] = NULL;
    unlink(r->answer);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run(r, (char **)(uintptr_t)argv);
    }
    return pid;
}

int courier_end(struct courier_rig *r, pid_t pid)
{
    int status;
    size_t size;
    assert_int_equal(wait4(pid, &status, 0, &r->used), pid);
    char *text = file_text(r->answer, &size);
    struct bytes file = {(const uint8_t *)text, size};
    r->told = (struct courier_answer){0};
    r->answered = text && answer_parse(file, &r->told, NULL) == 0;
    free(text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t courier_child(pid_t courier)
{
    char path[64];
    size_t size;
    pid_t child = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)courier, (int)courier);
    for (struct patience p = {0}; child == 0 && patience(&p);) {
        char *text = file_text(path, &size);
        child = text ? atoi(text) : 0;
        free(text);
    }
    assert_true(child > 0);
    return child;
}

/* ---- files ---- */

void file_put(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    close(fd);
}

char *file_text(const char *path, size_t *ret_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    ssize_t n = fd < 0 ? 0 : 1;
    *ret_size = 0;
    while (n > 0) {
        text = realloc(text, *ret_size + 65537);
        assert_non_null(text);
        n = read(fd, text + *ret_size, 65536);
        *ret_size += n > 0 ? (size_t)n : 0;
        text[*ret_size] = '\0';
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

int names_in(const char *path)
{
    DIR *d = opendir(path);
    int count = d ? 0 : -1;
    for (struct dirent *e; d && (e = readdir(d));) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    if (d) {
        closedir(d);
    }
    return count;
}
