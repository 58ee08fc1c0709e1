/* Repositories, read by the program git: mirrors in a directory, brought up to date once in the
 * life of the process and read from there. No hooks, no submodules, no questions, no configuration
 * of the machine; what a name may be is looked at before git sees it. */
#pragma once

#include "common/definition/definition.h"

enum {
    GIT_TIME_S = 50,                       /* of all that git does in this process together */
    GIT_READ_BYTES_MAX = 64 * 1024 * 1024, /* of all that is read out of mirrors */
    GIT_REPOSITORIES_MAX = 500,            /* different ones in a definition */
    GIT_TAGS_MAX = 100000,
};

/* Of one mirror: a definition is some files, so a larger repository is somebody's mistake. A lower
 * bound that the process was started with (RLIMIT_FSIZE) counts. */
#define GIT_REPOSITORY_BYTES_MAX (INT64_C(256) * 1024 * 1024)

/* Of all mirrors that one process brings up to date, and of all that are kept: of those what is
 * over it goes, the longest unused first. */
#define GIT_MIRRORS_BYTES_MAX (INT64_C(1024) * 1024 * 1024)

struct git_key {
    const char *name; /* path:name */
    const char *value;
};

struct git_config {
    const char *dir;      /* of the mirrors; NULL = there is none, */
    const char *no_git;   /* and why */
    const char *work_dir; /* for what is to go with this process: keys */
    const char *ca;       /* file of certificates; NULL = the machine's */
    bool allow_file;
    const struct git_key *keys; /* of secrets that open repositories */
    size_t key_count;
    const char *url;     /* of the system's own repository, */
    const char *url_key; /* and what opens it; "" = nothing */
};

struct git;

/* `config` and what it points to is borrowed. */
struct git *git_new(const struct git_config *config);
void git_free(struct git *g);

/* As definition_read and definition_tags, with a struct git as context. */
int git_read(void *context, struct arena *a, const struct definition_ask *ask,
             struct definition_file *ret, struct err *err);
int git_tags(void *context, struct arena *a, const char *url, const char ***ret_tags,
             size_t *ret_count, struct err *err);
