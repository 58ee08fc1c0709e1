/* Runs rep-courier as a driver does, in a directory of its own: cache, container's root, answer,
 * file with the URL. */
#pragma once

#include "rep/courier/answer.h"
#include "rep/courier/courier.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

struct courier_rig {
    char top[64]; /* all of it */
    char cache[96], root[96], answer[96], url[96], key[96];
    int program;                /* the courier, opened */
    uid_t as;                   /* who runs it; 0: who runs the test */
    int progress_fd;            /* -1: none */
    bool traced;                /* it waits for its tracer before its first instruction */
    struct courier_answer told; /* the last answer */
    bool answered;              /* there was one */
    struct rusage used;         /* by the last courier and its child */
};

/* Makes the directories; down removes all of it. */
void courier_rig_up(struct courier_rig *r);
void courier_rig_down(struct courier_rig *r);

/* Starts it with these words, the verb first and NULL last; --answer, and the cache and the URL's
 * file where the verb takes them, are added. Gives its process id. */
pid_t courier_begin(struct courier_rig *r, const char *const *words);

/* Waits for its end and reads its answer. Gives the exit status, 128 + signal if it was killed. */
int courier_end(struct courier_rig *r, pid_t pid);

/* Both: courier(&rig, "fetch", "--idle=1s"). */
#define courier(r, ...)                                                                            \
    courier_end((r), courier_begin((r), (const char *const[]){__VA_ARGS__, NULL}))

/* Writes a file, whole. */
void file_put(const char *path, const void *data, size_t size);

/* A file's content as a text, in memory of its own; NULL when it cannot be read. */
char *file_text(const char *path, size_t *ret_size);

/* Below the rig's directory; valid until the fourth call after. */
const char *courier_path(const struct courier_rig *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How many names a directory has; -1: it cannot be read. */
int names_in(const char *path);

/* The child of a courier, once there is one. */
pid_t courier_child(pid_t courier);
