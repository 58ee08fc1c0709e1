/* Makes the enums of one lifecycle out of its .def file. Include it with
 *     LIFECYCLE_PREFIX  e.g. ACTUAL_LRP
 *     LIFECYCLE_DEF     e.g. "common/lifecycle/actual_lrp.def"
 * defined; both are gone afterwards. No include guard: it is included once a lifecycle.
 * A .def file begins with #include "common/lifecycle/lifecycle_begin.h" and holds, in this order
 * (the words are for people: docs/lifecycles.md is printed from them):
 *     ABOUT("title", "what it is")
 *     STATE(ID, "name", "words")   states; the first is NONE, "none"
 *     TRIGGER(ID, "name", "words")  what brings it about: the names of moves
 *     GUARD(ID, "name", "words")   predicates over the snapshot
 *     TRANSITION(FROM, actors, TRIGGER, guards, TO)
 *                          guards: 0 or IF(ID) | IF(ID), all needed; the first row that fits wins
 *     NOTE(FROM, "words")  between the transitions: why those of this state are so
 * and ends with #include "common/lifecycle/lifecycle_end.h". */
#define LIFECYCLE_JOIN_(a, b) a##_##b
#define LIFECYCLE_JOIN(a, b) LIFECYCLE_JOIN_(a, b)

enum {
#define STATE(id, text, words) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, id),
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, STATE_COUNT)
};

enum {
#define TRIGGER(id, text, words) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, TRIGGER_##id),
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, TRIGGER_COUNT)
};

enum {
#define GUARD(id, text, words) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, BIT_##id),
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, GUARD_COUNT)
};

enum {
#define GUARD(id, text, words)                                                                     \
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, IF_##id) = 1 << LIFECYCLE_JOIN(LIFECYCLE_PREFIX, BIT_##id),
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, IF_NOTHING) = 0
};

#undef LIFECYCLE_PREFIX
#undef LIFECYCLE_DEF
#undef LIFECYCLE_JOIN
#undef LIFECYCLE_JOIN_
