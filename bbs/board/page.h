/* How many records a page of a long list has */
#pragma once

#include "etcd.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAGE_RECORDS_FIRST = 512, /* of the first page of a long list */
    PAGE_RECORDS_MAX = 8192,  /* of every page */
    PAGE_RECORDS_MIN = 32,    /* so few fit an answer whatever their size */
    READ_PAGE_BYTES = 2 * 1024 * 1024, /* that a page should have while others are served: one step
                                          takes it all */
};

/* Put after the last key of a page: the next page begins there. (Between the two stand only keys
 * with a NUL byte, which are not ours.) */
#define PAGE_NEXT "\x01"

struct page_size {
    size_t bytes;    /* that a page should have */
    int64_t records; /* of the next page */
    int64_t bound;   /* of every page; falls with each that was not answered */
};

/* For a list whose pages should have so many bytes. */
void page_size_init(struct page_size *p, size_t bytes);
/* The list begins again: nothing is known of its records, the bound stays. */
void page_size_first(struct page_size *p);
/* The next page has as many as make `bytes` if they weigh what those of this page did, at least
 * PAGE_RECORDS_MIN, at most PAGE_RECORDS_MAX. */
void page_size_answered(struct page_size *p, const Etcd__RangeResponse *page);
/* A page was not answered: too large for an answer, or for its time, maybe. The next has a quarter,
 * and none has more any longer. False if it was as small as pages get: then that is not why. */
bool page_size_shrink(struct page_size *p);
