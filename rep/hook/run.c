/* run: becomes a hook. The rep says what that is: its environment, and a program or a script, which
 * is written to hooks/ under the hook's name, so that a shell's complaints name it. */
#include "rep/hook/answer.h"
#include "rep/hook/hook_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int read_token(char token[HOOK_TOKEN_BYTES])
{
    char path[HOOK_PATH_BYTES];
    if (hook_path(path, "token") < 0) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, token, HOOK_TOKEN_BYTES - 1);
    if (n < 0) {
        hook_say("cannot read %s: %s", path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    if (n < 0) {
        return -1;
    }
    token[n] = '\0';
    token[strcspn(token, "\n")] = '\0';
    return 0;
}

/* ---- What is to run -------------------------------------------------------------------------- */

/* The variable's place in the list; `count` = it has none. */
static size_t variable(const struct hook_answer *a, const char *name)
{
    size_t size = strlen(name), i = 0;
    while (i < a->count &&
           !(strncmp(a->environment[i], name, size) == 0 && a->environment[i][size] == '=')) {
        i++;
    }
    return i;
}

static const char *value_of(const struct hook_answer *a, const char *name, const char *otherwise)
{
    size_t i = variable(a, name);
    return i < a->count ? a->environment[i] + strlen(name) + 1 : otherwise;
}

static int set_variable(struct hook_answer *a, const char *name, const char *value,
                        const char *more)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s%s", name, value, more) < 0) {
        hook_say("out of memory");
        return -1;
    }
    size_t i = variable(a, name);
    a->environment[i] = text;
    a->count += i == a->count;
    return 0;
}

/* Its tools come first in PATH. */
static int add_own(struct hook_answer *a)
{
    char tools[HOOK_PATH_BYTES];
    const char *dir = getenv(HOOK_DIR_VARIABLE);
    int r = hook_path(tools, "tools:");
    r = r < 0 ? r : set_variable(a, "PATH", tools, value_of(a, "PATH", DEFAULT_PATH));
    r = r < 0 ? r : set_variable(a, HOOK_TOKEN_VARIABLE, a->token, "");
    r = r < 0 ? r : set_variable(a, HOOK_DIR_VARIABLE, dir && *dir ? dir : HOOK_DIR, "");
    a->environment[a->count] = NULL;
    return r;
}

/* ---- The script ------------------------------------------------------------------------------ */

static bool write_all(int fd, const char *text)
{
    for (size_t size = strlen(text); size > 0;) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* One hook runs at a time, so that a file of its name is of nobody else. */
static int write_script(char path[HOOK_PATH_BYTES], const struct hook_answer *a)
{
    char name[256];
    const char *hook = value_of(a, "CORKBOARD_HOOK", "hook");
    if (strchr(hook, '/') || strlen(hook) > sizeof(name) - sizeof("hooks/")) {
        hook_say("the rep's answer is malformed");
        return -1;
    }
    snprintf(name, sizeof(name), "hooks/%s", hook);
    if (hook_path(path, "hooks") < 0) {
        return -1;
    }
    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        hook_say("cannot make %s: %s", path, strerror(errno));
        return -1;
    }
    if (hook_path(path, name) < 0) {
        return -1;
    }
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    bool written = fd >= 0 && write_all(fd, a->script);
    int error = errno;
    if (fd >= 0 && close(fd) < 0) {
        written = false;
        error = errno;
    }
    if (!written) {
        hook_say("cannot write %s: %s", path, strerror(error));
        return -1;
    }
    return 0;
}

/* A script that names its interpreter is run by it, any other by the shell. What a hook writes goes
 * one way, errors too: by two, nobody could tell in which order it came. Ours keep their own. */
static int become(struct hook_answer *a)
{
    char path[HOOK_PATH_BYTES];
    static char shell[] = "/bin/sh";
    char *by_shell[] = {shell, path, NULL}, *alone[] = {path, NULL};
    bool named = *a->path || strncmp(a->script, "#!", 2) == 0;
    if (*a->path) {
        snprintf(path, sizeof(path), "%s", a->path);
    } else if (write_script(path, a) < 0) {
        return HOOK_CANNOT_RUN;
    }
    int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execve(named ? path : shell, named ? alone : by_shell, a->environment);
    int error = errno;
    dup2(own, STDERR_FILENO);
    hook_say("cannot run %s: %s", named ? path : shell, strerror(error));
    return HOOK_CANNOT_RUN;
}

int hook_run(const char *run)
{
    char token[HOOK_TOKEN_BYTES], *body;
    static struct hook_answer a;
    struct hook_words asked = {0};
    size_t size;
    if (read_token(token) < 0 || hook_words_add(&asked, token) < 0 ||
        hook_words_add(&asked, run) < 0) {
        return HOOK_CANNOT_RUN;
    }
    int status = hook_ask("/v1/hooks/run", &asked, &body, &size);
    hook_words_done(&asked);
    if (status != 200) {
        if (status >= 0) {
            hook_say("the rep gives no hook for run %s: %s", run, body);
        }
        return status == 400 ? HOOK_USAGE : HOOK_CANNOT_RUN;
    }
    if (hook_read_words(&a, body, size) < 0) {
        hook_say("the rep's answer is malformed");
        return HOOK_CANNOT_RUN;
    }
    return add_own(&a) < 0 ? HOOK_CANNOT_RUN : become(&a);
}
