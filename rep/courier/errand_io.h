/* The part of a job that touches what others made, in a child process of its own: it is confined,
 * tells how many bytes moved, and its end, whatever it is, becomes an answer. */
#pragma once

#include "common/base/err.h"
#include "rep/courier/answer.h"

#include <stdint.h>

struct errand_tell; /* the child's way to tell */

struct errand {
    /* In the child. Fills in the answer, or gives an error code. */
    int (*work)(void *context, struct errand_tell *tell, struct courier_answer *answer,
                struct err *err);
    /* In the parent, at each progress; an error kills the child. May be NULL. */
    int (*moved)(void *context, int64_t bytes, int64_t total, struct err *err);
    /* In the parent: a line that the child told by errand_note(). May be NULL. */
    void (*noted)(void *context, const char *line);
    void *context;
    int progress_fd;  /* -1: none */
    int64_t whole_ms; /* as long as it may take */
};

/* Runs it to its end, and never longer than whole_ms. Gives the child's answer, or an error that
 * says what it told, or how it died. */
int errand_run(const struct errand *e, struct courier_answer *ret, struct err *err);

/* In the child: so many bytes moved, of so many (-1: unknown). Told once a second at most, but for
 * a total that is new. */
void errand_moved(struct errand_tell *tell, int64_t bytes, int64_t total);

/* In the child: a line for the parent, at most 2 KiB, without line feeds. */
void errand_note(struct errand_tell *tell, const char *line);

/* Monotonic. */
int64_t errand_now_ms(void);
