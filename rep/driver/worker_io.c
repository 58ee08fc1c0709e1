#include "rep/driver/worker_io.h"

#include <assert.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct queue {
    struct driver_work *first, **end;
    size_t count;
};

struct worker {
    pthread_t thread;
    pthread_mutex_t lock; /* of the two queues */
    pthread_cond_t changed;  /* there is work, or the end has come */
    struct queue waiting, finished;
    atomic_bool ending;
    int wake; /* eventfd: something is finished */
    struct event *on_wake;
};

/* ---- Queues ---- */

static void queue_init(struct queue *q)
{
    *q = (struct queue){.end = &q->first};
}

static void queue_put(struct queue *q, struct driver_work *work)
{
    work->next = NULL;
    *q->end = work;
    q->end = &work->next;
    q->count++;
}

static struct driver_work *queue_take(struct queue *q)
{
    struct driver_work *work = q->first;
    if (work) {
        q->first = work->next;
        q->end = q->first ? q->end : &q->first;
        q->count--;
    }
    return work;
}

/* ---- The thread ---- */

/* The next work; NULL: the end. */
static struct driver_work *wait_for_work(struct worker *w)
{
    struct driver_work *work = NULL;
    pthread_mutex_lock(&w->lock);
    while (!atomic_load(&w->ending) && !(work = queue_take(&w->waiting))) {
        pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return work;
}

static void finish(struct worker *w, struct driver_work *work)
{
    uint64_t one = 1;
    pthread_mutex_lock(&w->lock);
    queue_put(&w->finished, work);
    pthread_mutex_unlock(&w->lock);
    while (write(w->wake, &one, sizeof(one)) < 0) {
        /* only a signal could be the cause, and this thread takes none */
    }
}

static void *run(void *worker)
{
    struct worker *w = worker;
    for (struct driver_work *work; (work = wait_for_work(w));) {
        work->run(work, &w->ending);
        finish(w, work);
    }
    return NULL;
}

/* ---- The loop's side ---- */

static struct driver_work *take(struct worker *w, struct queue *q)
{
    pthread_mutex_lock(&w->lock);
    struct driver_work *work = queue_take(q);
    pthread_mutex_unlock(&w->lock);
    return work;
}

static void on_wake(evutil_socket_t fd, short what, void *worker)
{
    struct worker *w = worker;
    uint64_t count;
    (void)what;
    if (read(fd, &count, sizeof(count)) < 0) {
        return; /* not yet */
    }
    for (struct driver_work *work; (work = take(w, &w->finished));) {
        work->done(work);
    }
}

static void must(bool done)
{
    assert(done);
}

/* Its signals are blocked from its first moment on. */
static void begin(struct worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    must(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    must(pthread_create(&w->thread, NULL, run, w) == 0);
    must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

struct worker *worker_new(struct event_base *loop)
{
    struct worker *w = calloc(1, sizeof(*w));
    must(w != NULL);
    queue_init(&w->waiting);
    queue_init(&w->finished);
    atomic_init(&w->ending, false);
    must(pthread_mutex_init(&w->lock, NULL) == 0 && pthread_cond_init(&w->changed, NULL) == 0);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(w->wake >= 0);
    w->on_wake = event_new(loop, w->wake, EV_READ | EV_PERSIST, on_wake, w);
    must(w->on_wake && event_add(w->on_wake, NULL) == 0);
    begin(w);
    return w;
}

void worker_free(struct worker *w)
{
    if (!w) {
        return;
    }
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->ending, true);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    must(pthread_join(w->thread, NULL) == 0);
    struct queue *const queues[] = {&w->finished, &w->waiting};
    for (size_t i = 0; i < 2; i++) {
        for (struct driver_work *work; (work = queue_take(queues[i]));) {
            work->drop(work);
        }
    }
    event_free(w->on_wake);
    close(w->wake);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

bool worker_add(struct worker *w, struct driver_work *work)
{
    assert(work->run && work->done && work->drop);
    pthread_mutex_lock(&w->lock);
    bool room = w->waiting.count + w->finished.count < WORKER_QUEUE_MAX;
    if (room) {
        queue_put(&w->waiting, work);
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return room;
}
