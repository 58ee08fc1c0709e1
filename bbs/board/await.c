#include "bbs/board/await.h"

#include "common/contract/moment.h"

#include <stddef.h>

static int order(int64_t a, int64_t b, uint64_t a_number, uint64_t b_number)
{
    if (a != b) {
        return a < b ? -1 : 1;
    }
    return a_number < b_number ? -1 : a_number > b_number;
}

static int compare_revisions(const struct await *a, const struct await *b)
{
    return order(a->revision, b->revision, a->number, b->number);
}

static int compare_deadlines(const struct await *a, const struct await *b)
{
    return order(a->deadline_ns, b->deadline_ns, a->number, b->number);
}

#define TREE static __attribute__((unused))
RB_GENERATE_INTERNAL(await_revisions, await, by_revision, compare_revisions, TREE)
RB_GENERATE_INTERNAL(await_deadlines, await, by_deadline, compare_deadlines, TREE)

void awaits_init(struct awaits *w)
{
    *w = (struct awaits){0};
}

void await_start(struct awaits *w, struct await *a, int64_t revision, int64_t deadline_ns)
{
    await_stop(w, a);
    a->revision = revision;
    a->deadline_ns = deadline_ns;
    a->number = ++w->last_number;
    a->waiting = true;
    RB_INSERT(await_revisions, &w->revisions, a);
    RB_INSERT(await_deadlines, &w->deadlines, a);
}

void await_stop(struct awaits *w, struct await *a)
{
    if (!a->waiting) {
        return;
    }
    a->waiting = false;
    RB_REMOVE(await_revisions, &w->revisions, a);
    RB_REMOVE(await_deadlines, &w->deadlines, a);
}

struct await *awaits_reached(struct awaits *w, int64_t revision)
{
    struct await *a = RB_MIN(await_revisions, &w->revisions);
    if (!a || a->revision > revision) {
        return NULL;
    }
    await_stop(w, a);
    return a;
}

struct await *awaits_late(struct awaits *w, int64_t now_ns)
{
    struct await *a = RB_MIN(await_deadlines, &w->deadlines);
    if (!a || a->deadline_ns > now_ns) {
        return NULL;
    }
    await_stop(w, a);
    return a;
}

static const struct await *first_deadline(const struct awaits *w)
{
    const struct await *a = RB_ROOT(&w->deadlines);
    while (a && RB_LEFT(a, by_deadline)) {
        a = RB_LEFT(a, by_deadline);
    }
    return a;
}

int64_t awaits_due_ns(const struct awaits *w)
{
    const struct await *a = first_deadline(w);
    return a ? a->deadline_ns : NEVER_NS;
}
