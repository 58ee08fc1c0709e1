/* What the author of a unit's hooks knows, by those that ended well; and the order
 * that hooks keep (V10): each once, joined before changed before departed before broken. */
#pragma once

#include "common/base/random.h"
#include "rep/unit/journal.h"

enum { UNIT_MEMBERS_TOLD_MAX = 64 };

/* Another unit in a relation. */
struct author_member {
    char relation[GUID_BYTES];
    uint32_t unit;
    bool changed;  /* since it joined */
    bool given_up; /* its departed counts as done: the container could not be had */
};

struct unit_author {
    bool installed, configured, started, stopped;
    struct author_member members[UNIT_MEMBERS_TOLD_MAX];
    size_t count;
    char broken[UNIT_MEMBERS_TOLD_MAX][GUID_BYTES];
    size_t broken_count;
    char left[UNIT_MEMBERS_TOLD_MAX][GUID_BYTES]; /* without its hooks: a joined may end yet */
    size_t left_count;
};

/* NULL: it has not joined, or has departed. */
struct author_member *unit_author_knows(struct unit_author *o, const char *relation, uint32_t unit);
bool unit_author_heard_broken(const struct unit_author *o, const char *relation);

/* NULL: the hook that the journal notes may begin; else what it breaks, as it stands in the code.
 */
const char *unit_author_refuses(struct unit_author *o, const Rep__UnitNote *j);

/* The relation is left without its hooks. */
void unit_author_gives_up(struct unit_author *o, const char *relation);

/* The next container begins with this journal (NULL = none): what made the files is not done, and
 * what the journal does not know any more is forgotten. */
void unit_author_begins_anew(struct unit_author *o, const Rep__UnitNote *j);

/* It has ended well, or counts as done. */
void unit_author_learns(struct unit_author *o, const Rep__UnitNote *j);
