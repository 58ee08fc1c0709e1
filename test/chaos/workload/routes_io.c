#include "test/chaos/workload/routes_io.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char key[192];
    struct route route;
    uint64_t mark;
};

struct routes {
    pthread_mutex_t lock;
    struct entry entries[ROUTES_MAX];
    unsigned long count;
    uint64_t marks;
};

struct routes *routes_new(void)
{
    struct routes *r = calloc(1, sizeof(*r));
    if (!r) {
        abort();
    }
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

uint64_t routes_mark(struct routes *r)
{
    pthread_mutex_lock(&r->lock);
    uint64_t mark = ++r->marks;
    pthread_mutex_unlock(&r->lock);
    return mark;
}

static unsigned long find(const struct routes *r, const char *key)
{
    unsigned long i = 0;
    while (i < r->count && strcmp(r->entries[i].key, key) != 0) {
        i++;
    }
    return i;
}

static void drop(struct routes *r, unsigned long i)
{
    r->entries[i] = r->entries[--r->count];
}

void routes_drop(struct routes *r, const char *key, int64_t revision)
{
    pthread_mutex_lock(&r->lock);
    unsigned long i = find(r, key);
    if (i < r->count && r->entries[i].route.revision <= revision) {
        drop(r, i);
    }
    pthread_mutex_unlock(&r->lock);
}

void routes_put(struct routes *r, const char *key, const struct route *route, uint64_t mark)
{
    pthread_mutex_lock(&r->lock);
    unsigned long i = find(r, key);
    bool is_new = i == r->count;
    if (is_new && i < ROUTES_MAX && route->address[0]) {
        snprintf(r->entries[i].key, sizeof(r->entries[i].key), "%s", key);
        r->entries[i].route = *route;
        r->count++;
    } else if (!is_new && r->entries[i].route.revision <= route->revision) {
        r->entries[i].route = *route;
    }
    if (i < r->count && mark > r->entries[i].mark) {
        r->entries[i].mark = mark;
    }
    if (i < r->count && !r->entries[i].route.address[0]) {
        drop(r, i);
    }
    pthread_mutex_unlock(&r->lock);
}

void routes_sweep(struct routes *r, uint64_t mark, int64_t revision)
{
    pthread_mutex_lock(&r->lock);
    for (unsigned long i = r->count; i-- > 0;) {
        if (r->entries[i].mark < mark && r->entries[i].route.revision <= revision) {
            drop(r, i);
        }
    }
    pthread_mutex_unlock(&r->lock);
}

int routes_of(struct routes *r, const char *process)
{
    int running = 0;
    pthread_mutex_lock(&r->lock);
    for (unsigned long i = 0; i < r->count; i++) {
        running += strcmp(r->entries[i].route.process, process) == 0;
    }
    pthread_mutex_unlock(&r->lock);
    return running;
}

bool routes_get(struct routes *r, unsigned long n, struct route *ret_route)
{
    pthread_mutex_lock(&r->lock);
    bool some = r->count > 0;
    if (some) {
        *ret_route = r->entries[n % r->count].route;
    }
    pthread_mutex_unlock(&r->lock);
    return some;
}
