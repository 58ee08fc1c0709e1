/* The journal of a unit: what its rep has told it, and the hook that runs (docs/units.md, The
 * journal). Pure: each function gives the journal as it is afterwards, in the arena; it shares what
 * did not change with the one before, which stays as it was, so both arenas must live. Who calls
 * them makes the outcome durable before it does what it says. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep/unit/hook.h"
#include "rep_unit.pb-c.h"

enum {
    JOURNAL_FORMAT = 1,
    JOURNAL_BYTES_MAX = 512 * 1024,
    JOURNAL_ATTEMPTS_MAX = 3, /* of a hook whose end is lost again and again */
    JOURNAL_TEXT_MAX = 4096,  /* bytes of what is kept of a bad end */
    JOURNAL_WRITES_MAX = 64,  /* keys that a hook sets in one relation */
    /* What hooks have set and the board lacks. Members of all scopes, the hook and this together
     * stay below JOURNAL_BYTES_MAX. */
    JOURNAL_WRITES_BYTES_MAX = 128 * 1024,
};

/* ---- What there is to be told ---------------------------------------------------------------- */

/* A unit that has entered the scope, of the side that this unit sees. */
struct sight_member {
    uint32_t unit;
    uint64_t version; /* of its settings, not 0 */
    bool departing;
};

/* A relation whose scope the unit has entered, by the board's record of its membership. */
struct sight_relation {
    uint32_t number;
    const char *guid;
    bool alive;
    bool silent;                        /* the unit's end has no hooks */
    const struct sight_member *members; /* by unit */
    size_t member_count;
};

/* The board, as the unit has to do with it. */
struct unit_sight {
    const char *epoch;
    bool alive;
    const char *charm; /* digest, of the service */
    uint64_t config_version;
    enum hook_resolution resolution;
    const struct sight_relation *relations; /* by number */
    size_t relation_count;
};

/* ---- From one to the next -------------------------------------------------------------------- */

/* Of a unit that was told nothing yet. */
Rep__UnitNote *journal_new(struct arena *a, const char *epoch);

/* The journal as the board has it: relations that it was not in are taken up, those that it is not
 * in any more go, as does what was to be published there. In another epoch each version is another
 * one, and `changed` comes once. `restarted`: the rep begins anew, and config-changed comes once.
 */
Rep__UnitNote *journal_adopt(struct arena *a, const Rep__UnitNote *j, const struct unit_sight *seen,
                             bool restarted);

/* As its next container begins with it, when the one before, and its files, are gone: what made
 * these comes again, and each `changed`; nobody is joined anew. What was set and not published is
 * kept. A hook that was lost with the container comes again by itself, and its attempts go on; one
 * in error is forgotten here, for the board says it. */
Rep__UnitNote *journal_anew(struct arena *a, const Rep__UnitNote *j);

/* What hook_next() looks at; borrows from both. A member that was told of and is not seen is one
 * that has gone. The journal was adopted for this sight after its last hook ended. */
struct hook_world journal_world(struct arena *a, const Rep__UnitNote *j,
                                const struct unit_sight *seen);

/* That the unit is reached at this address, and this port of it (0 = none): if that is another one
 * than before, it is to be published in each relation that it is in, but for what its hooks have
 * set there themselves. Nothing else waits to be published, or it is told first. */
Rep__UnitNote *journal_reached(struct arena *a, const Rep__UnitNote *j, const char *address,
                               uint32_t port);

/* That the hook of the step begins, which hook_next() gave: act HOOK_RUN. `token`: by which it asks
 * for the tools, another one each time. */
Rep__UnitNote *journal_begin(struct arena *a, const Rep__UnitNote *j, const struct hook_step *step,
                             const char *charm, const char *token);

/* How the hook that runs has ended. GOOD: what it was about is told, and what it set is to be
 * published. BAD: it is in error, and what it set is dropped. LOST: nobody can tell; it runs again,
 * and after JOURNAL_ATTEMPTS_MAX times it is in error. `text`: why, for people; its last
 * JOURNAL_TEXT_MAX bytes are kept. */
enum journal_end { JOURNAL_GOOD, JOURNAL_BAD, JOURNAL_LOST };
Rep__UnitNote *journal_end(struct arena *a, const Rep__UnitNote *j, enum journal_end end,
                           const char *text);

/* The hook in error counts as done: act HOOK_ACCEPT. */
Rep__UnitNote *journal_accept(struct arena *a, const Rep__UnitNote *j);

/* That the hook that runs has set a key of its unit's settings; "" takes the key away.
 * -ERR_NOT_FOUND: the unit is not in this relation. -ERR_TOO_LARGE: more than
 * JOURNAL_WRITES_MAX, or than JOURNAL_WRITES_BYTES_MAX. -ERR_CONFLICT: no hook runs. */
int journal_set(struct arena *a, const Rep__UnitNote *j, uint32_t relation, const char *key,
                const char *value, Rep__UnitNote **ret_journal, struct err *err);

/* What was to be published in the relation is on the board. */
Rep__UnitNote *journal_published(struct arena *a, const Rep__UnitNote *j, uint32_t relation);

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Reads one that a rep wrote: -ERR_INVALID if it is malformed, or of another format;
 * -ERR_TOO_LARGE. */
int journal_read(struct arena *a, struct bytes text, Rep__UnitNote **ret_journal, struct err *err);
