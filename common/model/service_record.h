/* What the record of a service tells of its revisions (docs/systems.md, Services). Pure. */
#pragma once

#include "board.pb-c.h"

#include <stdbool.h>

/* The revision of that hash; NULL = there is none. Borrowed. */
Board__Revision *service_revision(const Board__ServiceRecord *s, const char *hash);

/* The revision that is to run; NULL = there is none yet. Borrowed. */
Board__Revision *service_target(const Board__ServiceRecord *s);

/* Whether the revision, one of the service's, runs, or is to: what it names is used. */
bool service_revision_stands(const Board__ServiceRecord *s, const Board__Revision *r);
