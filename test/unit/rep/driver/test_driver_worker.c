/* The thread beside a driver's loop: order, bounds, and an end that loses nothing. Nothing here
 * waits for time: what the thread is to wait for, the test holds. */
#include "rep/driver/worker_io.h"
#include "test/tool/cmocka.h"

#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* What became of all work of a test. */
struct account {
    int run, done, dropped;
    int order[WORKER_QUEUE_MAX + 8]; /* numbers, as they were done */
    pthread_mutex_t gate;            /* held by the test: work with `waits` stands before it */
    pthread_t loop;
    bool in_loop; /* every done() so far */
    atomic_bool began, told_to_end;
};

struct task {
    struct driver_work work;
    struct account *account;
    int number;
    bool waits, until_end;
};

static void run(struct driver_work *w, const atomic_bool *ending)
{
    struct task *t = (struct task *)w;
    t->account->run++; /* one thread, and the test looks only after its end or through done() */
    atomic_store(&t->account->began, true);
    if (t->waits) {
        pthread_mutex_lock(&t->account->gate);
        pthread_mutex_unlock(&t->account->gate);
    }
    while (t->until_end && !atomic_load(ending)) {
        sched_yield();
    }
    if (t->until_end) {
        atomic_store(&t->account->told_to_end, true);
    }
}

static void done(struct driver_work *w)
{
    struct task *t = (struct task *)w;
    struct account *a = t->account;
    a->order[a->done++] = t->number;
    a->in_loop &= pthread_equal(pthread_self(), a->loop) != 0;
    free(t);
}

static void drop(struct driver_work *w)
{
    ((struct task *)w)->account->dropped++;
    free(w);
}

static void account_init(struct account *a)
{
    *a = (struct account){.loop = pthread_self(), .in_loop = true};
    pthread_mutex_init(&a->gate, NULL);
}

static bool add(struct worker *w, struct account *a, int number, bool waits, bool until_end)
{
    struct task *t = calloc(1, sizeof(*t));
    *t = (struct task){.work = {.run = run, .done = done, .drop = drop},
                       .account = a,
                       .number = number,
                       .waits = waits,
                       .until_end = until_end};
    bool taken = worker_add(w, &t->work);
    if (!taken) {
        free(t);
    }
    return taken;
}

static void loop_until_done(struct event_base *loop, const struct account *a, int count)
{
    while (a->done < count) {
        event_base_loop(loop, EVLOOP_ONCE);
    }
}

static void each_is_done_in_its_turn(void **state)
{
    enum { COUNT = 100 };
    struct account a;
    struct event_base *loop = event_base_new();
    struct worker *w = worker_new(loop);
    account_init(&a);
    for (int i = 0; i < COUNT; i++) {
        assert_true(add(w, &a, i, false, false));
    }
    loop_until_done(loop, &a, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(a.order[i], i);
    }
    assert_true(a.in_loop);
    worker_free(w);
    assert_int_equal(a.run, COUNT);
    assert_int_equal(a.dropped, 0);
    event_base_free(loop);
}

/* The bound counts what waits; what runs has left the queue. */
static void one_more_than_the_bound_is_refused(void **state)
{
    struct account a;
    struct event_base *loop = event_base_new();
    struct worker *w = worker_new(loop);
    account_init(&a);
    pthread_mutex_lock(&a.gate);
    assert_true(add(w, &a, 0, true, false));
    while (!atomic_load(&a.began)) {
        sched_yield();
    }
    for (int i = 1; i <= WORKER_QUEUE_MAX; i++) {
        assert_true(add(w, &a, i, false, false));
    }
    assert_false(add(w, &a, -1, false, false));
    pthread_mutex_unlock(&a.gate);
    loop_until_done(loop, &a, WORKER_QUEUE_MAX + 1);
    assert_int_equal(a.order[WORKER_QUEUE_MAX], WORKER_QUEUE_MAX);
    assert_true(add(w, &a, 0, false, false)); /* there is room again */
    worker_free(w);
    assert_int_equal(a.done + a.dropped, WORKER_QUEUE_MAX + 2);
    event_base_free(loop);
}

/* What runs is told and waited for; what waits never runs; each is freed once. */
static void its_end_drops_what_is_not_done(void **state)
{
    struct account a;
    struct event_base *loop = event_base_new();
    struct worker *w = worker_new(loop);
    account_init(&a);
    assert_true(add(w, &a, 0, false, true));
    while (!atomic_load(&a.began)) {
        sched_yield();
    }
    for (int i = 1; i < 10; i++) {
        assert_true(add(w, &a, i, false, false));
    }
    worker_free(w);
    assert_true(atomic_load(&a.told_to_end));
    assert_int_equal(a.run, 1);
    assert_int_equal(a.done, 0);
    assert_int_equal(a.dropped, 10);
    event_base_free(loop);
    worker_free(NULL);
}

/* Signals are the loop's: the thread takes none, even while the loop has them blocked. */
static void its_thread_takes_no_signal(void **state)
{
    struct account a;
    struct event_base *loop = event_base_new();
    struct worker *w = worker_new(loop);
    sigset_t term, before, pending;
    account_init(&a);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &term, &before), 0);
    assert_int_equal(kill(getpid(), SIGTERM), 0); /* would end this process if the thread took it */
    assert_true(add(w, &a, 0, false, false));
    loop_until_done(loop, &a, 1);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGTERM), 1);
    int signal;
    assert_int_equal(sigwait(&term, &signal), 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    worker_free(w);
    event_base_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_done_in_its_turn),
        cmocka_unit_test(one_more_than_the_bound_is_refused),
        cmocka_unit_test(its_end_drops_what_is_not_done),
        cmocka_unit_test(its_thread_takes_no_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
