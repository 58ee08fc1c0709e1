/* Fuzz targets: what outsiders send, given to what reads it. A target is a row of targets.def and a
 * function fuzz_NAME; it returns when the input was handled well, however wrong the input is, and
 * aborts when a promise of the code under it is broken. The corpus of a target is the file
 * test/fuzz/corpus/NAME, an input a line, in base64: test_corpus replays it in each test run,
 * test/fuzz/fuzz makes it grow (`test/run fuzz --minutes 10`). */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/contract/role.h"

/* A longer input is cut: no decoder behaves otherwise beyond it, and runs stay short. */
enum { FUZZ_INPUT_MAX = 64 * 1024 };

struct fuzz_target {
    const char *name;
    const char *what; /* in one line, for people */
    void (*run)(struct bytes input);
};

/* All of them, in the order of targets.def. */
extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_count;

/* NULL if there is none of this name. */
const struct fuzz_target *fuzz_target_named(const char *name);

#define TARGET(name, what) void fuzz_##name(struct bytes input);
#include "test/fuzz/targets.def"
#undef TARGET

/* Aborts, naming the promise that was broken. */
#define FUZZ_REQUIRE(condition)                                                                    \
    ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_broken(const char *file, int line, const char *promise);

/* ---- taking an input apart ------------------------------------------------------------------- */

/* The first byte, taken off the front; 0 when nothing is left. */
uint8_t fuzz_byte(struct bytes *in);

/* A piece with its length before it, in two bytes; at most what is left. */
struct bytes fuzz_piece(struct bytes *in);

/* A piece as a text of the arena, up to its first zero byte. */
const char *fuzz_text(struct arena *a, struct bytes *in);

/* One of the message types that arrive from outside or stand on the board, drawn from a byte. */
const ProtobufCMessageDescriptor *fuzz_descriptor(uint8_t byte);

/* ---- requests to a role ---------------------------------------------------------------------- */

/* A caller, drawn from a byte: an ordinary client, or one of our roles. */
struct peer fuzz_peer(uint8_t byte);

/* Gives the role one request, made from the rest of the input: a byte for the caller, one for its
 * words (types, tag), and the body. A cursor is read to its end or until it waits. True if the role
 * answered within the step; never twice. */
bool fuzz_request(struct role *r, const char *method, const char *path, struct bytes in);
