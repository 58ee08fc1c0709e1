/* What the checkers of units share: every unit that the board ever named, by its guid. */
#pragma once

#include "test/sim/checkers/checkers.h"
#include "test/tool/unit_author.h"

struct seen_unit {
    const char *guid;
    const char *key;   /* of its record */
    uint64_t cells;    /* to which it was ever assigned, a bit each */
    bool ended;        /* the board said that it is dead, or that it is not there */
    bool ended_by_rep; /* and its agent said so */
    /* Of the container that its cell has of it now: */
    struct unit_author *author;    /* NULL = none was made */
    bool lenient;                  /* a restore came between: what has ended may begin anew */
    uint32_t run;                  /* of the last hook that was noted */
    Rep__UnitNote *journal;        /* with it; in the arena of the history */
    struct hook_subject good_hook; /* which it is, */
    bool cut;                      /* its rep was ending it before it ended by itself, */
    bool good;                     /* or it is a fact that it ended well before that, */
    unsigned boots;                /* in this boot of the machine */
};

/* units.c: NULL = the board never named it. */
struct seen_unit *checkers_unit(const struct checkers *k, const char *guid);

/* unit_holds.c: appends what why says of the record at the key. */
void say_unit_holds(struct checkers *k, const char *key, struct buf *ret_text);

/* The record of its guid as it stands; NULL = none. */
const Board__UnitRecord *seen_unit_record(const struct checkers *k, const struct seen_unit *u);
