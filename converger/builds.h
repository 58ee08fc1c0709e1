/* Builds that are not over: their definitions are read, and written as trees (docs/systems.md,
 * Builds; common/lifecycle/build.def). What was read is kept here until it is written: another
 * leader, or this one after it lost the lock, reads it again, and its tree has another id. Pure.
 *
 * The first that holds:
 *   1. the system goes                                        fail
 *   2. it was not read by this leader                         it waits: builds_resolve() asks, for
 *      the secrets that open its repositories first
 *   3. it cannot be read                                      fail
 *   4. its tree is not the one that was read                  accept
 *   5. components are not written yet                         write, a portion of them
 *   6. otherwise                                              succeed
 * And before 4: of a tree that was given up a portion goes      collect */
#pragma once

#include "common/base/random.h"
#include "common/client/boards.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "converger/watched_system.h"

/* One move `write` has at most so many components, and so many bytes of them but for one. */
enum { BUILD_PORTION_MAX = 48, BUILD_PORTION_BYTES_MAX = 700 * 1024 };

/* Secrets that open the repositories of one definition, at most; how long one is waited for. */
enum { BUILD_KEYS_MAX = 16 };
#define BUILD_KEY_NS (5 * SECOND_NS)

struct builds {
    struct map by_key; /* of the build -> struct build_read */
    struct random random;
    struct boards *boards; /* whom secrets are asked of */
    uint64_t next_id;
    size_t open; /* requests that are not answered */
};

/* `boards` must stay valid. */
void builds_init(struct builds *b, struct boards *boards);
void builds_done(struct builds *b);

/* Nothing of what was read is of use any more; answers that come are ignored. */
void builds_reset(struct builds *b);

/* Give it every event. The uid of the system of which a definition was read, valid until the next
 * call; NULL = none was. */
const char *builds_hear(struct builds *b, const struct event *ev);

/* Plans for the builds of the system; nothing is changed. */
void builds_run(const struct builds *b, const struct watched_system *v, struct system_moves *out);

/* Asks for what is to be read, as far as there is room for it, and forgets what is over. True: some
 * wait for room, or for a bbs that answers. */
bool builds_resolve(struct builds *b, const struct watched_system *v, struct effects *out);
