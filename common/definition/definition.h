/* Definitions of systems: YAML or JSON files in, the components of a tree out (docs/systems.md,
 * Definitions). Files come through a table of one function, so that the same code reads git
 * repositories, directories, and what a test holds. Pure. */
#pragma once

#include "common/appfile/node.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "systems.pb-c.h"

enum {
    DEFINITION_COMPONENTS_MAX = 10000,
    DEFINITION_CHAIN_MAX = 500,     /* references of which each leads to the next */
    DEFINITION_NODES_MAX = 1000000, /* values, in all files and templates together */
    DEFINITION_FILE_BYTES_MAX = 1024 * 1024,
    DEFINITION_TEXT_BYTES_MAX = 64 * 1024, /* of one value that a template makes */
    DEFINITION_COMPONENT_BYTES_MAX = 64 * 1024,
    DEFINITION_TREE_BYTES_MAX = 32 * 1024 * 1024,
    /* A record has 1 MiB at most, and these are not all that is in it. */
    DEFINITION_INDEX_BYTES_MAX = 960 * 1024,
    DEFINITION_COMMITS_BYTES_MAX = 256 * 1024, /* URLs and commits of what was read */
    DEFINITION_LOG_BYTES_MAX = 64 * 1024,
    DEFINITION_FAULTS_MAX = 20, /* told; of more a count */
    DEFINITION_INSTANCES_MAX = 100000,
    DEFINITION_PORTS_MAX = 64,
    DEFINITION_SYSTEM_ID_MAX = 63,
};

/* Where a file is from. All are "" of what was given as a text, or lies on a disk. */
struct definition_place {
    const char *url;
    const char *commit;
    const char *version; /* the tag, when it was found by one */
};

/* A file that is wanted. */
struct definition_ask {
    const char *url; /* "" = where the reference itself stands: `from` */
    const char *branch, *commit, *tag, *version; /* of a url at most one is not "" */
    const char *ssh_key; /* path:name of the secret that opens the url; "" = none */
    const char *file;    /* "" = the repository's definition */
    const struct definition_place *from;
};

struct definition_file {
    struct bytes text;
    const char *name; /* for mistakes; JSON if it ends in .json */
    struct definition_place place;
};

/* Reads a file. -ERR_DENIED: the secret of ask->ssh_key is lacking. Other errors are told as they
 * are. */
typedef int definition_read(void *context, struct arena *a, const struct definition_ask *ask,
                            struct definition_file *ret, struct err *err);

struct definition_files {
    definition_read *read;
    void *context;
};

enum definition_kind {
    DEFINITION_SYSTEM,
    DEFINITION_SERVICE,
    DEFINITION_JOB,
    DEFINITION_REFERENCE,
    DEFINITION_KIND_COUNT
};

/* A component after templates and references. */
struct definition_part {
    const char *path;
    enum definition_kind kind; /* never a reference, but of one that was left */
    const struct node *node;
    const char *file;      /* where it stands, for mistakes */
    const char *reference; /* what led there, for people; "" = the definition itself */
    const char *commit;
};

struct definition_faults {
    const char **list; /* the first DEFINITION_FAULTS_MAX */
    size_t count;      /* of all */
};

/* A definition whose templates and references are resolved. */
struct definition_tree {
    struct definition_part *parts; /* by path, by segments */
    size_t count;
    const struct node *root; /* of the whole, references replaced */
    struct definition_place place;
    struct definition_faults faults;
    const char *needs;    /* a secret without which a repository was not read; "" = none */
    const char *log;      /* what was read, a line each */
    const char **commits; /* "url commit", each once */
    size_t commit_count;
};

struct definition_options {
    bool keep_repositories; /* references to git repositories stay as they are */
    const char *path; /* references that are neither above this path nor within it stay as they
                         are; NULL or "" = the whole is wanted */
};

/* Resolves what `ask` names. Faults are in the tree, and so is what could be resolved beside them:
 * it is good when it has none and needs nothing. */
void definition_resolve(struct arena *a, const struct definition_files *files,
                        const struct definition_ask *ask, const struct definition_options *options,
                        struct definition_tree *ret);

/* The faults as one text: "; " between them, and how many more. */
const char *definition_fault_text(struct arena *a, const struct definition_faults *faults);

/* Adds one; the text is printed into the arena. */
void definition_fault(struct arena *a, struct definition_faults *faults, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
