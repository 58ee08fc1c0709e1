/* Makes the enums of one lifecycle out of its .def file. Include it with
 *     LIFECYCLE_PREFIX  e.g. ACTUAL_LRP
 *     LIFECYCLE_DEF     e.g. "common/lifecycle/actual_lrp.def"
 * defined; both are gone afterwards. No include guard: it is included once a lifecycle.
 * A .def file holds, in this order:
 *     STATE(ID, "name")    states; the first is NONE, "none"
 *     NEWS(ID, "name")     what happens: the names of moves
 *     GUARD(ID, "name")    predicates over the snapshot
 *     MOVE(FROM, actors, NEWS, guards, TO)
 *                          guards: 0 or IF(ID) | IF(ID), all needed; the first row that fits wins
 * and ends with #include "common/lifecycle/lifecycle_end.h". */
#define LIFECYCLE_JOIN_(a, b) a##_##b
#define LIFECYCLE_JOIN(a, b) LIFECYCLE_JOIN_(a, b)

enum {
#define STATE(id, text) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, id),
#define NEWS(id, text)
#define GUARD(id, text)
#define MOVE(from, actors, news, guards, to)
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, STATE_COUNT)
};

enum {
#define STATE(id, text)
#define NEWS(id, text) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, NEWS_##id),
#define GUARD(id, text)
#define MOVE(from, actors, news, guards, to)
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, NEWS_COUNT)
};

enum {
#define STATE(id, text)
#define NEWS(id, text)
#define GUARD(id, text) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, BIT_##id),
#define MOVE(from, actors, news, guards, to)
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, GUARD_COUNT)
};

enum {
#define STATE(id, text)
#define NEWS(id, text)
#define GUARD(id, text)                                                                            \
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, IF_##id) = 1 << LIFECYCLE_JOIN(LIFECYCLE_PREFIX, BIT_##id),
#define MOVE(from, actors, news, guards, to)
#include LIFECYCLE_DEF
    LIFECYCLE_JOIN(LIFECYCLE_PREFIX, IF_NOTHING) = 0
};

#undef LIFECYCLE_PREFIX
#undef LIFECYCLE_DEF
#undef LIFECYCLE_JOIN
#undef LIFECYCLE_JOIN_
