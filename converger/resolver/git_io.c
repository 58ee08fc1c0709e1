#include "converger/resolver/git_io.h"

#include "common/base/memory.h"
#include "common/definition/file_name.h"
#include "common/definition/semver.h"
#include "converger/resolver/git_text.h"
#include "converger/resolver/mirrors_io.h"
#include "converger/resolver/program_io.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 32, VERSIONS_TOLD = 5 };

/* One that was brought up to date by this process. */
struct repository {
    char *url;
    char *dir;
    bool fresh; /* else it was needed for a commit that was there */
};

struct git {
    struct git_config config;
    struct repository repositories[GIT_REPOSITORIES_MAX];
    size_t count;
    size_t bytes_read;
    int64_t bytes_mirrored; /* of those that are fresh */
    int64_t end_ms;
    unsigned keys_written;
};

struct git *git_new(const struct git_config *config)
{
    struct git *g = mem_zeroed(sizeof(*g));
    g->config = *config;
    g->end_ms = program_now_ms() + GIT_TIME_S * 1000;
    return g;
}

void git_free(struct git *g)
{
    for (size_t i = 0; g && i < g->count; i++) {
        free(g->repositories[i].url);
        free(g->repositories[i].dir);
    }
    free(g);
}

/* ---- The program ----------------------------------------------------------------------------- */

/* The environment is made, not inherited: nothing of the machine's or of who started us. */
static const char *const *environment(struct git *g, struct arena *a, const char *key_file)
{
    const char **env = ARENA_ARRAY(a, 20, const char *);
    size_t n = 0;
    const char *path = getenv("PATH");
    env[n++] = arena_printf(a, "PATH=%s", path ? path : "/usr/bin:/bin");
    env[n++] = arena_printf(a, "HOME=%s", g->config.work_dir);
    env[n++] = arena_printf(a, "GIT_CONFIG_GLOBAL=%s/config", g->config.dir);
    env[n++] = "GIT_CONFIG_NOSYSTEM=1";
    env[n++] = "GIT_ATTR_NOSYSTEM=1";
    env[n++] = "GIT_TERMINAL_PROMPT=0";
    env[n++] = "GIT_ASKPASS=false";
    env[n++] = "SSH_ASKPASS=false";
    env[n++] = "LC_ALL=C";
    if (g->config.ca) {
        env[n++] = arena_printf(a, "GIT_SSL_CAINFO=%s", g->config.ca);
    }
    env[n++] = g->config.allow_file ? "GIT_ALLOW_PROTOCOL=https:ssh:file"
                                    : "GIT_ALLOW_PROTOCOL=https:ssh";
    env[n++] = arena_printf(a,
                            "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=10 "
                            "-o StrictHostKeyChecking=accept-new "
                            "-o UserKnownHostsFile=%s/known_hosts%s%s",
                            g->config.dir, key_file ? " -o IdentitiesOnly=yes -i " : "",
                            key_file ? key_file : "");
    env[n] = NULL;
    return env;
}

static int run_git(struct git *g, struct arena *a, const char *dir, const char *key_file,
                   size_t bytes_max, const char *const *words, struct bytes *ret, struct err *err)
{
    const char *argv[WORDS_MAX + 4] = {"git", "--git-dir", dir};
    size_t n = 3;
    for (; *words; words++) {
        assert(n < WORDS_MAX + 3);
        argv[n++] = *words;
    }
    struct program_run p = {argv, environment(g, a, key_file), bytes_max, g->end_ms};
    return program_run_to_end(a, &p, ret, err);
}

#define GIT(dir, key, max, ret, ...)                                                               \
    run_git(g, a, dir, key, max, (const char *const[]){__VA_ARGS__, NULL}, ret, err)

/* ---- Keys ------------------------------------------------------------------------------------ */

static const char *key_value(const struct git *g, const char *name)
{
    for (size_t i = 0; i < g->config.key_count; i++) {
        if (strcmp(g->config.keys[i].name, name) == 0) {
            return g->config.keys[i].value;
        }
    }
    return NULL;
}

/* In a file of this process's directory, which goes with it. */
static int write_key(struct git *g, struct arena *a, const char *value, const char **ret_file,
                     struct err *err)
{
    const char *file = arena_printf(a, "%s/key-%u", g->config.work_dir, g->keys_written++);
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t size = strlen(value);
    bool good = fd >= 0 && write(fd, value, size) == (ssize_t)size &&
                (size == 0 || value[size - 1] == '\n' || write(fd, "\n", 1) == 1);
    if (fd >= 0) {
        close(fd);
    }
    *ret_file = file;
    return good ? 0 : err_set(err, ERR_IO, "%s: %s", file, strerror(errno));
}

/* NULL where nothing opens it. -ERR_DENIED: the secret of that name is wanted and not at hand. */
static int key_file_of(struct git *g, struct arena *a, const char *url, const char *name,
                       const char **ret_file, struct err *err)
{
    const char *value = NULL;
    *ret_file = NULL;
    if (name[0]) {
        value = key_value(g, name);
        if (!value) {
            return err_set(err, ERR_DENIED, "%s needs the secret %s", url, name);
        }
    } else if (strcmp(url, g->config.url) == 0 && g->config.url_key[0]) {
        value = g->config.url_key;
    }
    return value ? write_key(g, a, value, ret_file, err) : 0;
}

/* ---- Repositories ---------------------------------------------------------------------------- */

static struct repository *repository_of(struct git *g, const char *url)
{
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->repositories[i].url, url) == 0) {
            return &g->repositories[i];
        }
    }
    return NULL;
}

static int usable(struct git *g, struct arena *a, const char *url, struct err *err)
{
    const char *fault = definition_url_fault(a, url, g->config.allow_file);
    if (fault) {
        return err_set(err, ERR_INVALID, "%s", fault);
    }
    if (!g->config.dir) {
        return err_set(err, ERR_UNAVAILABLE, "%s cannot be read: %s", url, g->config.no_git);
    }
    return g->count < GIT_REPOSITORIES_MAX
               ? 0
               : err_set(err, ERR_TOO_LARGE, "more than %d repositories", GIT_REPOSITORIES_MAX);
}

static int open_repository(struct git *g, struct arena *a, const char *url,
                           struct repository **ret, struct err *err)
{
    *ret = repository_of(g, url);
    if (*ret) {
        return 0;
    }
    char *dir = NULL;
    int r = usable(g, a, url, err);
    r = r < 0 ? r : mirror_open(g->config.dir, url, &dir, err);
    if (r < 0) {
        return r;
    }
    struct bytes none;
    if (access(mem_path(a, dir, "HEAD"), F_OK) != 0) {
        r = GIT(dir, NULL, 4096, &none, "init", "--quiet", "--bare");
    }
    if (r < 0) {
        free(dir);
        return err_prefix(err, "%s", url);
    }
    *ret = &g->repositories[g->count++];
    **ret = (struct repository){.url = mem_text(url), .dir = dir};
    return 0;
}

/* What is too large goes: the next one that asks is told the same, and the disk is free meanwhile.
 * `fetched`: how the fetch ended, which git tells as a file that is too large. */
static int bound_mirror(struct git *g, const struct repository *p, int fetched, struct err *err)
{
    int64_t most = mirror_bytes_max(), bytes = mirror_bytes(p->dir);
    bool large = bytes > most || (fetched < 0 && strstr(err->text, "File too large"));
    g->bytes_mirrored += bytes;
    if (large || g->bytes_mirrored > GIT_MIRRORS_BYTES_MAX) {
        directory_remove(p->dir);
        return large ? err_set(err, ERR_TOO_LARGE, "it is larger than %lld KiB",
                               (long long)(most >> 10))
                     : err_set(err, ERR_TOO_LARGE,
                               "with those read before it there are more than %lld MiB",
                               (long long)(GIT_MIRRORS_BYTES_MAX >> 20));
    }
    return fetched;
}

/* What git and ssh say of these tells nobody what to do. */
static int name_what_opens(const struct git *g, int r, struct err *err)
{
    if (r < 0 && strstr(err->text, "could not read Username")) {
        return err_set(err, ERR_DENIED,
                       "it wants a user's name and password, which are asked of nobody: name it "
                       "by ssh:// and give a key (ssh_key, bbs systems create --ssh-key)");
    }
    if (r < 0 && strstr(err->text, "Permission denied (publickey")) {
        return err_set(err, ERR_DENIED,
                       "no key that was given opens it (ssh_key, bbs systems create --ssh-key)");
    }
    if (r < 0 && strstr(err->text, "Host key verification failed")) {
        return err_set(err, ERR_DENIED,
                       "its host has another key than before; if that is right, take the host "
                       "out of known_hosts in the converger's --git-dir, %.80s",
                       g->config.dir);
    }
    return r;
}

/* As it is there now, once in the life of the process: all that is read of it is of one moment. */
static int fetch(struct git *g, struct arena *a, struct repository *p, const char *key_name,
                 struct err *err)
{
    if (p->fresh) {
        return 0;
    }
    const char *key = NULL;
    struct bytes none;
    int r = key_file_of(g, a, p->url, key_name, &key, err);
    if (r < 0) {
        return r;
    }
    int lock = -1;
    r = mirror_lock(p->dir, g->end_ms, &lock, err);
    r = r < 0 ? r
              : GIT(p->dir, key, 65536, &none, "fetch", "--quiet", "--prune", "--force",
                    "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
                    "--no-auto-gc", "--", p->url,
                    "+HEAD:refs/corkboard/head", "+refs/heads/*:refs/heads/*",
                    "+refs/tags/*:refs/tags/*");
    r = lock < 0 ? r : bound_mirror(g, p, r, err);
    mirror_unlock(lock);
    p->fresh = r == 0;
    r = name_what_opens(g, r, err);
    return r < 0 ? err_prefix(err, "%s cannot be read", p->url) : 0;
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static int list_tags(struct git *g, struct arena *a, const struct repository *p,
                     const char ***ret_tags, size_t *ret_count, struct err *err)
{
    struct bytes text;
    int r = GIT(p->dir, NULL, 16 * 1024 * 1024, &text, "for-each-ref",
                "--format=%(refname:lstrip=2)", "refs/tags");
    if (r < 0) {
        return err_prefix(err, "%s", p->url);
    }
    *ret_count = git_text_lines(a, text, GIT_TAGS_MAX, ret_tags);
    return 0;
}

int git_tags(void *context, struct arena *a, const char *url, const char ***ret_tags,
             size_t *ret_count, struct err *err)
{
    struct git *g = context;
    struct repository *p = NULL;
    int r = open_repository(g, a, url, &p, err);
    r = r < 0 ? r : fetch(g, a, p, "", err);
    return r < 0 ? r : list_tags(g, a, p, ret_tags, ret_count, err);
}

/* ---- Commits --------------------------------------------------------------------------------- */

static int find_commit(struct git *g, struct arena *a, const struct repository *p, const char *ref,
                       const char **ret_commit, struct err *err)
{
    struct bytes text;
    const char *wanted = arena_printf(a, "%s^{commit}", ref);
    int r = GIT(p->dir, NULL, 4096, &text, "rev-parse", "--quiet", "--verify", "--end-of-options",
                wanted);
    *ret_commit = r < 0 ? NULL : git_text_commit(a, text);
    return *ret_commit || r == -ERR_TIMEOUT ? r : err_set(err, ERR_NOT_FOUND, "there is none");
}

/* What a repository has, for who asked for another version. */
static int no_version(struct arena *a, const struct repository *p, const char *wanted,
                      const char **tags, size_t count, struct err *err)
{
    size_t valid = 0;
    const char *some = "";
    for (size_t i = 0; i < count; i++) {
        if (semver_is_valid(tags[i])) {
            tags[valid++] = tags[i];
        }
    }
    semver_sort(tags, valid);
    for (size_t i = valid > VERSIONS_TOLD ? valid - VERSIONS_TOLD : 0; i < valid; i++) {
        some = arena_printf(a, "%s%s%s", some, some[0] ? ", " : "", tags[i]);
    }
    return err_set(err, ERR_NOT_FOUND, "%s has no version %s: %s%s", p->url, wanted,
                   valid ? "its highest are " : "it has no tag that is a version", some);
}

/* The tag of that spelling, or one that differs by its v alone. */
static int find_tag(struct git *g, struct arena *a, const struct repository *p, const char *wanted,
                    const char **ret_tag, struct err *err)
{
    const char **tags;
    size_t count;
    int r = list_tags(g, a, p, &tags, &count, err);
    const char *bare = wanted[0] == 'v' ? wanted + 1 : wanted;
    for (size_t i = 0; r == 0 && i < count; i++) {
        bool same = strcmp(tags[i], wanted) == 0;
        if (same || (!*ret_tag[0] && semver_is_valid(wanted) &&
                     strcmp(tags[i][0] == 'v' ? tags[i] + 1 : tags[i], bare) == 0)) {
            *ret_tag = tags[i];
        }
        if (same) {
            return 0;
        }
    }
    if (r < 0 || *ret_tag[0]) {
        return r;
    }
    return semver_is_valid(wanted)
               ? no_version(a, p, wanted, tags, count, err)
               : err_set(err, ERR_NOT_FOUND, "%s has no tag %s", p->url, wanted);
}

/* The highest tag in the range. */
static int find_version(struct git *g, struct arena *a, const struct repository *p,
                        const char *range, const char **ret_tag, struct err *err)
{
    const char **tags;
    size_t count;
    int r = list_tags(g, a, p, &tags, &count, err);
    if (r < 0) {
        return r;
    }
    const char *highest = semver_range_is_valid(range) ? semver_highest(tags, count, range) : NULL;
    if (highest) {
        *ret_tag = highest;
        return 0;
    }
    return no_version(a, p, range, tags, count, err);
}

/* What is asked for, as git names it; and the tag, as it is spelled there, of a tag or version. */
static int ref_of(struct git *g, struct arena *a, const struct repository *p,
                  const struct definition_ask *ask, const char **ret_ref, const char **ret_tag,
                  struct err *err)
{
    *ret_tag = "";
    if (ask->version[0] || ask->tag[0]) {
        int r = ask->tag[0] ? find_tag(g, a, p, ask->tag, ret_tag, err)
                            : find_version(g, a, p, ask->version, ret_tag, err);
        if (r == 0) {
            *ret_ref = arena_printf(a, "refs/tags/%s", *ret_tag);
        }
        return r;
    }
    *ret_ref = ask->branch[0] ? arena_printf(a, "refs/heads/%s", ask->branch)
                              : "refs/corkboard/head";
    return 0;
}

static const char *what_is_missing(struct arena *a, const struct definition_ask *ask)
{
    return ask->commit[0]   ? arena_printf(a, "commit %.40s", ask->commit)
           : ask->branch[0] ? arena_printf(a, "branch %s", ask->branch)
                            : "branch: it is empty";
}

/* A commit that the mirror has needs nobody. */
static int commit_of(struct git *g, struct arena *a, struct repository *p,
                     const struct definition_ask *ask, const char **ret_commit,
                     const char **ret_tag, struct err *err)
{
    struct err none = {0};
    *ret_tag = "";
    if (ask->commit[0] && find_commit(g, a, p, ask->commit, ret_commit, &none) == 0) {
        return 0;
    }
    const char *ref = ask->commit;
    int r = fetch(g, a, p, ask->ssh_key, err);
    if (r == 0 && !ask->commit[0]) {
        r = ref_of(g, a, p, ask, &ref, ret_tag, err);
    }
    if (r == 0 && find_commit(g, a, p, ref, ret_commit, &none) < 0) {
        r = none.code == ERR_TIMEOUT
                ? err_set(err, ERR_TIMEOUT, "%s: %s", p->url, none.text)
                : err_set(err, ERR_NOT_FOUND, "%s has no %s", p->url, what_is_missing(a, ask));
    }
    return r;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int read_blob(struct git *g, struct arena *a, const struct repository *p, const char *blob,
                     struct bytes *ret, struct err *err)
{
    size_t left = GIT_READ_BYTES_MAX - g->bytes_read;
    size_t most = left < DEFINITION_FILE_BYTES_MAX ? left : DEFINITION_FILE_BYTES_MAX;
    int r = GIT(p->dir, NULL, most, ret, "cat-file", "blob", blob);
    g->bytes_read += r == 0 ? ret->size : 0;
    return r;
}

static int read_file(struct git *g, struct arena *a, const struct repository *p, const char *commit,
                     const char *file, struct bytes *ret, struct err *err)
{
    struct bytes line;
    const char *blob = NULL;
    int r = GIT(p->dir, NULL, 65536, &line, "ls-tree", "--full-tree", "-z", commit, "--",
                arena_printf(a, ":(literal)%s", file));
    r = r < 0 ? r : git_text_blob(a, line, &blob, err);
    return r < 0 ? r : read_blob(g, a, p, blob, ret, err);
}

/* The first that is there of the names that a repository's definition may have. */
static int read_definition(struct git *g, struct arena *a, const struct repository *p,
                           const char *commit, struct definition_file *ret, struct err *err)
{
    static const char *const names[] = {"lattice.yaml",   "lattice.yml",    "lattice.json",
                                        "corkboard.yaml", "corkboard.yml", "corkboard.json"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct err none = {0};
        int r = read_file(g, a, p, commit, names[i], &ret->text, &none);
        ret->name = names[i];
        if (r != -ERR_NOT_FOUND) {
            return r < 0 ? err_set(err, none.code, "%s: %s", names[i], none.text) : 0;
        }
    }
    return err_set(err, ERR_NOT_FOUND,
                   "it has no lattice.yaml, .yml or .json, nor such a corkboard.yaml");
}

static int ask_fault(struct arena *a, const struct definition_ask *ask, struct err *err)
{
    const char *fault = ask->file[0] ? definition_file_name_fault(a, ask->file) : NULL;
    fault = fault || !ask->branch[0] ? fault : definition_ref_fault(a, ask->branch);
    fault = fault || !ask->tag[0] ? fault : definition_ref_fault(a, ask->tag);
    fault = fault || !ask->commit[0] ? fault : definition_commit_fault(a, ask->commit);
    return fault ? err_set(err, ERR_INVALID, "%s", fault) : 0;
}

int git_read(void *context, struct arena *a, const struct definition_ask *ask,
             struct definition_file *ret, struct err *err)
{
    struct git *g = context;
    struct repository *p = NULL;
    struct definition_ask here = *ask; /* beside the file that refers to it: at its commit */
    if (!here.url[0]) {
        here.url = ask->from->url;
        here.commit = ask->from->commit;
    }
    const char *commit = NULL, *tag = "";
    int r = ask_fault(a, &here, err);
    r = r < 0 ? r : open_repository(g, a, here.url, &p, err);
    r = r < 0 ? r : commit_of(g, a, p, &here, &commit, &tag, err);
    if (r < 0) {
        return r;
    }
    *ret = (struct definition_file){.name = here.file};
    r = here.file[0] ? read_file(g, a, p, commit, here.file, &ret->text, err)
                     : read_definition(g, a, p, commit, ret, err);
    if (r < 0) {
        return err_prefix(err, "%s at %.12s%s%s", here.url, commit, here.file[0] ? ": " : "",
                          here.file);
    }
    ret->place = (struct definition_place){
        arena_strdup(a, here.url), commit, tag[0] ? tag : ask->url[0] ? "" : ask->from->version};
    return 0;
}
