/* What the store held, revision by revision: each committed transaction as a list of changes, and
 * each record with all its pasts. Checkers and judges of answers read it; nothing else decides what
 * was true when. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/base/map.h"
#include "common/model/keys.h"
#include "test/sim/model/etcd.h"

#include <stdbool.h>

/* One version of a record. Lives as long as the history. */
struct past {
    struct past *before; /* the version that it replaced; NULL = none was ever there */
    const char *key;
    enum record_type type;
    int64_t revision;
    int64_t create_revision;
    int64_t at_ns;
    const ProtobufCMessage *message; /* NULL = deleted */
    const Board__CauseRecord__Change *cause; /* NULL = the transaction named none */
};

/* One revision: all records that it changed, but heartbeats and causes. */
struct passage {
    int64_t revision;
    int64_t at_ns;
    struct past **list;
    size_t count;
};

struct history {
    struct arena arena;
    struct map now; /* key -> struct past, the newest version */
    int64_t revision;
    unsigned restores; /* what stands now is of another past than what stood before one */
    unsigned commits;
    int64_t *taken_ns; /* when each revision was taken, by its number */
    size_t taken_capacity;
};

void history_init(struct history *h);
void history_done(struct history *h);

/* It holds records of this type: not the bbs' own heartbeats and causes, nor a stranger's. */
bool history_holds(enum record_type type);

/* Takes the next revision that the model etcd has and the history has not. False if there is none.
 */
bool history_next(struct history *h, struct model_etcd *etcd, int64_t now_ns,
                  struct passage *ret_passage);

/* etcd was restored as it was at `revision`: what came later has never been. */
void history_restored(struct history *h, int64_t revision);

/* The revision with which the board generation of now began: a domain is fresh only if it was
 * upserted later (design.md 2, Board generation). 0 = there is none. */
int64_t history_board_generation(const struct history *h);

/* The newest revision that was there at this time already. */
int64_t history_revision_at(const struct history *h, int64_t at_ns);

/* The version of the record that stood at `revision`; NULL or one without message: none. */
const struct past *history_at(const struct history *h, const char *key, int64_t revision);
const ProtobufCMessage *history_now(const struct history *h, const char *key);

/* Calls `each` for every record that stands under the prefix now. */
void history_each(const struct history *h, const char *prefix,
                  void (*each)(void *context, const struct past *p), void *context);
