/* How many records a page of a long list has. etcd walks the rest of the range for each page, so
 * few large pages are cheap; but a page must fit an answer, whatever its records weigh. */
#include "bbs/board/inside.h"

void page_size_init(struct page_size *p, size_t bytes)
{
    *p = (struct page_size){.bytes = bytes, .bound = PAGE_RECORDS_MAX};
    page_size_first(p);
}

static int64_t within(const struct page_size *p, int64_t records)
{
    int64_t fit = records < p->bound ? records : p->bound;
    return fit > PAGE_RECORDS_MIN ? fit : PAGE_RECORDS_MIN;
}

void page_size_first(struct page_size *p)
{
    p->records = within(p, PAGE_RECORDS_FIRST);
}

void page_size_answered(struct page_size *p, const Etcd__RangeResponse *page)
{
    size_t bytes = 0;
    for (size_t i = 0; i < page->n_kvs; i++) {
        bytes += page->kvs[i]->key.len + page->kvs[i]->value.len;
    }
    if (page->n_kvs) {
        size_t each = bytes / page->n_kvs + 1;
        p->records = within(p, (int64_t)(p->bytes / each));
    }
}

bool page_size_shrink(struct page_size *p)
{
    bool smaller = p->records > PAGE_RECORDS_MIN;
    p->bound = p->records / 4;
    p->records = within(p, p->bound);
    return smaller;
}
