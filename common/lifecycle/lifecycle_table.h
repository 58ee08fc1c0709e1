/* Makes the struct lifecycle out of a .def file, in the .c file of that lifecycle. Include it with
 *     LIFECYCLE_PREFIX    e.g. ACTUAL_LRP
 *     LIFECYCLE_DEF       e.g. "common/lifecycle/actual_lrp.def"
 *     LIFECYCLE_VARIABLE  e.g. actual_lrp_lifecycle
 *     LIFECYCLE_NAME      e.g. "actual_lrp"
 * defined. */
#include "common/lifecycle/lifecycle.h"

#define LIFECYCLE_JOIN_(a, b) a##_##b
#define LIFECYCLE_JOIN(a, b) LIFECYCLE_JOIN_(a, b)

/* The list of guards ends with NULL, so that a lifecycle without guards is good C too. */
static const char *const state_names[] = {
#define STATE(id, text, words) text,
#include LIFECYCLE_DEF
};

static const char *const trigger_names[] = {
#define TRIGGER(id, text, words) text,
#include LIFECYCLE_DEF
};

static const char *const guard_names[] = {
#define GUARD(id, text, words) text,
#include LIFECYCLE_DEF
    NULL,
};

static const char *const state_words[] = {
#define STATE(id, text, words) words,
#include LIFECYCLE_DEF
};

static const char *const trigger_words[] = {
#define TRIGGER(id, text, words) words,
#include LIFECYCLE_DEF
};

static const char *const guard_words[] = {
#define GUARD(id, text, words) words,
#include LIFECYCLE_DEF
    NULL,
};

static const struct lifecycle_note notes[] = {
#define NOTE(from_, words_) {.from = LIFECYCLE_JOIN(LIFECYCLE_PREFIX, from_), .words = (words_)},
#include LIFECYCLE_DEF
    {.words = NULL},
};

#define IF(id) LIFECYCLE_JOIN(LIFECYCLE_PREFIX, IF_##id)
static const struct lifecycle_row rows[] = {
#define TRANSITION(from_, actors_, trigger_, guards_, to_)                                         \
    {                                                                                              \
        .from = LIFECYCLE_JOIN(LIFECYCLE_PREFIX, from_),                                           \
        .actors = (actors_),                                                                       \
        .trigger = LIFECYCLE_JOIN(LIFECYCLE_PREFIX, TRIGGER_##trigger_),                           \
        .guards = (guards_),                                                                       \
        .to = LIFECYCLE_JOIN(LIFECYCLE_PREFIX, to_),                                               \
    },
#include LIFECYCLE_DEF
};

const struct lifecycle LIFECYCLE_VARIABLE = {
    .name = LIFECYCLE_NAME,
#define ABOUT(title_, words) .title = (title_), .about = (words),
#include LIFECYCLE_DEF
    .states = state_names,
    .state_words = state_words,
    .state_count = sizeof(state_names) / sizeof(state_names[0]),
    .triggers = trigger_names,
    .trigger_words = trigger_words,
    .trigger_count = sizeof(trigger_names) / sizeof(trigger_names[0]),
    .guards = guard_names,
    .guard_words = guard_words,
    .guard_count = LIFECYCLE_JOIN(LIFECYCLE_PREFIX, GUARD_COUNT),
    .rows = rows,
    .row_count = sizeof(rows) / sizeof(rows[0]),
    .notes = notes,
};
