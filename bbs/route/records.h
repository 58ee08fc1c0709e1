/* A long answer made of records as the board holds them: each is one message in field 2 of the
 * response, nothing is decoded or copied before the reader takes it (DESIGN 2, 3.1c). */
#ifndef BBS_ROUTE_RECORDS_H
#define BBS_ROUTE_RECORDS_H

#include "common/base/bytes.h"
#include "common/contract/effect.h"

/* Parts of one message: their bytes joined are the message (a DesiredLRP is two records and, at
 * times, a few harmonised fields). */
enum { RECORD_PARTS = 3 };

struct records;

struct records *records_new(size_t capacity);

/* Adds one message of up to RECORD_PARTS records (NULL = none); takes references of its own. */
void records_add(struct records *r, struct blob *const parts[RECORD_PARTS]);

/* Answers with all of them, with Content-Length, and gives `r` to the shell. None: an empty
 * body. */
void records_answer(struct records *r, uint64_t request_id, struct effects *out);

void records_free(struct records *r);

#endif
