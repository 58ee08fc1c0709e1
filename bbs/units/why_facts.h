/* What the explanations of why.c are made of: records by their keys, what stops a unit, and the
 * holds that come of it. Pure. */
#pragma once

#include "bbs/units/facts.h"
#include "bbs/units/why.h"

#include <string.h>

/* One explanation while it is made. */
struct explaining {
    const struct map *records;
    struct unit_why *why;
};

/* NULL = there is no such record. */
const void *why_find(const struct explaining *e, const char *key);

/* The records below a prefix. */
#define BELOW(e, prefix, n)                                                                        \
    for (struct map_node *n = map_from((e)->records, prefix);                                      \
         n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n))

/* One more thing that holds; beyond UNIT_HOLDS_MAX they are counted. */
void why_hold(struct explaining *e, const char *by, int64_t since_ns, const char *text,
              const char *ends);

/* Why nobody speaks for what is on the cell, and since when, 0 if no record says that; NULL if
 * somebody does. */
const char *why_absence(struct explaining *e, const char *cell_id, const char *identity,
                        int64_t *ret_since);

/* So many of several units are named. */
enum { NAMED_MAX = 3 };

struct told_lack {
    const char *text, *ends;
};

/* A unit, its status, and what stops them; texts NULL where nothing does. */
struct unit_facts {
    const Board__UnitRecord *unit;
    const Board__UnitStatusRecord *status; /* NULL = none */
    const char *name, *absent;
    const char *forced;   /* whom a client forces: of a subordinate its principal */
    int64_t absent_since; /* 0 = no record says it */
    bool in_error;
    bool emptied;      /* its cell is there, and is being emptied */
    const char *force; /* when the job ends it that a client asked for by force; NULL = none did */
};

/* When a job that forces an end does that: "60 s after it was asked for". */
const char *why_force_time(struct arena *a, const Board__JobRecord *job);

/* Of a unit that is there, by its record. */
struct unit_facts why_unit_facts(struct explaining *e, const Board__UnitRecord *u);

/* The hook that its agent runs, and what it lacks on its cell; while that is absent nobody knows.
 */
const Board__UnitHookRun *why_running_of(const struct unit_facts *f);
const Board__UnitLack *why_lack_of(const struct unit_facts *f);
/* The sentence of the hook that why_running_of() gave. */
const char *why_running_text(struct arena *a, const Board__UnitStatusRecord *s);
/* What ends a hold that only force ends, beside what else does ("the cell is back"): the command,
 * or that it was given. */
const char *why_force_ends(struct explaining *e, const struct unit_facts *f, const char *beside);
/* The sentence of what it lacks, which why_lack_of() gave, and what ends that. */
struct told_lack why_lack_told(struct explaining *e, const struct unit_facts *f);

/* What of the unit itself holds the thing that `text` begins with: an absent agent, a hook in
 * error, what it lacks, the hook that it runs; where none of these does, that its agent is at work,
 * as `works` says, since then. */
void why_hold_by_unit(struct explaining *e, const struct unit_facts *f, const char *by,
                      const char *text, const char *works, int64_t since_ns);
