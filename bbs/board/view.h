/* The view: how gather reads the board. Every read is noted in the read set, so that the commit
 * compares all that was read (design.md 2). */
#pragma once

#include "common/base/arena.h"
#include "common/base/random.h"
#include "common/contract/read_set.h"
#include "common/model/freshness.h"
#include "common/model/record.h"
#include "common/model/sighting.h"

#include "board.pb-c.h"

struct view; /* the engine's */

/* A record as gather sees it; lives in the op's arena. */
struct seen {
    const char *key;
    enum record_type type;
    const ProtobufCMessage *message; /* decoded; never NULL in what the functions below give */
    struct blob *blob; /* encoded, with its version byte; take a reference to keep it */
    int64_t create_revision;
    int64_t mod_revision;
};

/* Of the op: what is read lives there. */
struct arena *view_arena(struct view *v);

/* The record at `key`, noted as unchanged; NULL if there is none, noted as absent. */
const struct seen *view_get(struct view *v, const char *key);

/* The same without noting it: for what the answer shows but the decision does not rest on. */
const struct seen *view_peek(struct view *v, const char *key);

/* The same, its message alone, of the type that such a key has; NULL if there is none. */
const void *view_message(struct view *v, const char *key);
const void *view_peek_message(struct view *v, const char *key);

/* Only that it exists is relied on: noted as exists, or absent. */
bool view_exists(struct view *v, const char *key);

/* A record of another format version stands there, which is kept and left alone: true, and noted as
 * existing. Nothing is noted otherwise. */
bool view_unreadable(struct view *v, const char *key);

/* All records whose key starts with `prefix`, sorted by key: each noted as unchanged, the range as
 * nothing newer (or empty). Gives their number. At most `max` are read; gives -1 if there are more:
 * the row must then be made divisible (a job). */
int view_range(struct view *v, const char *prefix, size_t max, const struct seen **ret_list);

/* The same of a few, for what must know that there is no other. The copy may lack an old record, of
 * which the watch left out the event; "nothing newer" does not tell. So each key is noted, and each
 * gap before, between and behind them as empty. */
int view_whole_range(struct view *v, const char *prefix, size_t max, const struct seen **ret_list);

/* Whether no key starts with `prefix`: noted as empty, or that its first one exists. */
bool view_range_empty(struct view *v, const char *prefix);

/* That no key starting with `prefix` is newer than those that stand is relied on: noted, and
 * nothing is read. That none of them is missing is not told by it. */
void view_nothing_newer(struct view *v, const char *prefix);

/* How many keys start with `prefix`; nothing is noted. */
size_t view_peek_count(struct view *v, const char *prefix);

/* The first key that starts with `prefix` and does not come before `from`, NULL = the first of all;
 * NULL if there is none. Borrowed until the step returns; nothing is noted. */
const char *view_peek_key(struct view *v, const char *prefix, const char *from);

/* The same without noting. */
int view_peek_range(struct view *v, const char *prefix, size_t max, const struct seen **ret_list);

/* A witness: a key that starts with `prefix` and is none of the `count` in `except`, drawn from
 * `random`, so that no two callers need name the same one. Noted as existing; NULL, and nothing is
 * noted, if there is none. In the arena. The time grows with `count` and the length of keys, not
 * with how many keys there are. */
const char *view_witness(struct view *v, const char *prefix, const char *const *except,
                         size_t count, struct random *random);

/* Encoded records that match the selector, in key order, without decoding them (the copy's index
 * answers type, key prefix, cell, domain, state and owner). For long lists. Gives their number; the
 * array lives in the arena, the blobs are borrowed until the step returns. */
size_t view_select(struct view *v, const Board__Selector *selector, struct blob ***ret_blobs);

/* A record that was picked and not decoded: what its key and the copy's index tell of it. Borrowed
 * until the step returns. */
struct picked {
    const char *key;
    const char *state;  /* of an ActualLRP or task, "" otherwise */
    const char *domain; /* "" where there is none */
    struct blob *blob;  /* with its version byte */
    struct version *version; /* which holds all of these: take a reference to keep them */
};

/* The same with their keys and states. */
size_t view_pick(struct view *v, const Board__Selector *selector, struct picked **ret_list);

/* The one at `key`; false if there is none. */
bool view_pick_one(struct view *v, const char *key, struct picked *ret);

/* So many ops inside another one share its transaction (nested.h); 0 = the op has it alone. */
unsigned view_nested(const struct view *v);

/* Position of the copy this view is of. */
int64_t view_revision(const struct view *v);

/* The board generation id. (Every transaction compares that epoch/<id> exists.) */
const char *view_board_generation(const struct view *v);

/* How this process knows the present revision of the record at this key, and its creation; as if
 * seen now if there is none. */
struct sighting view_seen(const struct view *v, const char *key);
struct sighting view_made(const struct view *v, const char *key);

/* How this process knows the domain at this key, for its freshness. */
struct domain_seen view_domain_seen(const struct view *v, const char *key);
