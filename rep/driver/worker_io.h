/* A thread beside a loop, for what reads or deletes directories: that takes as long as the disk
 * likes, and the loop waits for no disk. It does one thing after the other, in the order in which
 * they came. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct event_base;
struct worker;

/* Most that wait, to be done or to be reported; one more is refused. */
enum { WORKER_QUEUE_MAX = 256 };

/* One thing to do, the first member of a larger struct that the caller allocates. From worker_add()
 * until done() or drop() it is the worker's, of which one is called, once; both free it. */
struct driver_work {
    /* In the thread. It uses nothing but its own struct, and no global; when *ending becomes true
     * its result is of no use any more, and it should return soon. */
    void (*run)(struct driver_work *w, const atomic_bool *ending);
    void (*done)(struct driver_work *w); /* in the loop, after run() */
    void (*drop)(struct driver_work *w); /* in worker_free(), instead of done() */
    struct driver_work *next;            /* the worker's */
};

/* The thread takes no signals: they are the loop's. Out of threads or descriptors the process ends.
 */
struct worker *worker_new(struct event_base *loop);

/* Waits for the work that runs, which is told to end; what waits does not run. Everything that is
 * not done is dropped. Accepts NULL. */
void worker_free(struct worker *w);

/* False: WORKER_QUEUE_MAX wait already; the work stays the caller's. */
bool worker_add(struct worker *w, struct driver_work *work);
