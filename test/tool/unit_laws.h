/* What holds of units and relations after every commit (docs/units.md): of the records as they
 * stand, and of what this commit has changed. The schedules of ops hold them (test_unit_ops), and
 * the simulator (test/sim/checkers/units.c).
 *
 *   V1   a life never goes back, a guid is first seen alive, and no record changes its guid
 *   V2   who is dead is in no relation and has no subordinate; a subordinate's principal is there
 *        and not dead
 *   V3   each reference leads to a record of that guid
 *   V4   what is said twice is said alike: both ways of a relation, a membership, a machine's unit,
 *        a subordinate, which has no machine of its own
 *   V5   a dying relation has a member, a dying service a unit or a relation
 *   V6   a relation is alive only if its services are; a machine that is not alive has no unit; a
 *        unit's machine never changes
 *   V7   a principal has one subordinate of a service at most, and a member of a container scope
 *        sits on the principal of that scope
 *   V8   no new membership of a unit or relation that is not alive, no new unit or relation of a
 *        service that is not
 *   V13  a commit changes 64 records at most */
#pragma once

#include "common/base/arena.h"
#include "common/model/keys.h"

#include <protobuf-c/protobuf-c.h>

#include <stdint.h>

/* Records as a commit left them, and who hears of a law that does not hold: `key` is that of the
 * record that breaks it. */
struct unit_law_board {
    void *context;
    const ProtobufCMessage *(*get)(void *context, struct arena *a,
                                   const char *key); /* NULL = none */
    /* The keys of the records below a prefix, in order. */
    size_t (*keys)(void *context, struct arena *a, const char *prefix, const char ***ret);
    void (*broken)(void *context, const char *law, const char *key, const char *what);
};

/* A record of the commit. */
struct unit_law_change {
    const char *key;
    const ProtobufCMessage *before, *after; /* NULL = none */
};

/* One change at least. */
void unit_laws_hold(const struct unit_law_board *b, const struct unit_law_change *changes,
                    size_t count);

/* Nothing of this layer, and no job, is left but machines, their cells, and sequences (V11). */
void unit_laws_empty(const struct unit_law_board *b);
