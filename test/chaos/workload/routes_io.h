/* Where the instances of apps answer, as the event streams tell it: what a router would know. For
 * any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ROUTES_MAX = 4096 };

struct route {
    char process[96], instance[64], address[64]; /* HOST:PORT; "" = it does not run */
    int index;
    int64_t revision; /* of the record that says so */
};

struct routes;
struct routes *routes_new(void);

/* For a snapshot that begins: a number above those of all before it. */
uint64_t routes_mark(struct routes *r);

/* What the record at a key of the board says; an older one than is known changes nothing. `mark`:
 * of the snapshot that it is from, or 0. Beyond ROUTES_MAX it is left out. */
void routes_put(struct routes *r, const char *key, const struct route *route, uint64_t mark);

/* It is gone, at that revision. */
void routes_drop(struct routes *r, const char *key, int64_t revision);

/* A snapshot is complete: what it does not have, up to its revision, is gone, but for what a later
 * one, which another bbs sends at the same time, has shown. */
void routes_sweep(struct routes *r, uint64_t mark, int64_t revision);

/* How many instances of this process run. */
int routes_of(struct routes *r, const char *process);

/* The n-th of all that run, round about. Gives whether there is one. */
bool routes_get(struct routes *r, unsigned long n, struct route *ret_route);
