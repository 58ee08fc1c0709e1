/* What the keepers share of the board: for each cell, whether it is present and which records name
 * it; for each domain, whether it is fresh. Each change updates it before the keepers hear of the
 * change, so that a look decodes nothing and visits only what the change concerns. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/map.h"
#include "converger/keeper.h"

#include <bsd/sys/queue.h>
#include <stddef.h>

/* Part of a keeper's record that may name a cell. */
struct cell_user {
    LIST_ENTRY(cell_user) link;
    struct cached_cell *cell; /* NULL = none */
    bool names; /* it only names the cell, as a machine does: nothing of it is there */
};
LIST_HEAD(cell_users, cell_user);
#define CELL_USER_OF(user, type, member) ((type *)(void *)((char *)(user)-offsetof(type, member)))

/* A cell that is on the board, or that a record names. */
struct cached_cell {
    struct cell_users users[KEEPER_COUNT];
    size_t user_count;
    size_t on_count;      /* of these: what is there */
    bool present;         /* its record says so; without a record it is absent */
    bool known;           /* it has a record */
    bool turned;          /* its last change has made it present, or absent */
    struct sighting seen; /* of its record: of state or incarnation */
    char id[];
};

/* A domain that is on the board, or that a record bears. */
struct cached_domain {
    size_t bearers;
    bool known;  /* it has a record, which this version can read */
    bool turned; /* its last change has made it fresh */
    int64_t revision;
    struct sighting seen;       /* of this revision, also before a reset of the copy */
    Board__DomainRecord record; /* its strings are not kept */
    char name[];
};

struct cache {
    struct map cells;       /* id -> struct cached_cell */
    struct map domains;     /* name -> struct cached_domain */
    int64_t board_generation_revision; /* create-revision of its key; 0 = not known */
};

void cache_init(struct cache *c);
/* When no keeper's record names a cell or bears a domain any more. */
void cache_done(struct cache *c);

/* The copy was emptied. A domain's revision that was seen before keeps its age; in another board
 * generation revisions mean nothing any more, and no domain is fresh until it is upserted. */
void cache_reset(struct cache *c, bool other_board_generation);
/* A record; NULL = it is gone. `board_generation` is the present one. */
void cache_change(struct cache *c, const char *key, const struct followed *record,
                  const char *board_generation, struct moment now);
/* The copy is complete again: what it does not hold was deleted meanwhile. */
void cache_current(struct cache *c, const struct feed_client *f);

/* The cell or domain of this key, NULL when nothing is known of it. */
const struct cached_cell *cache_cell_at(const struct cache *c, const char *key);
const struct cached_domain *cache_domain_at(const struct cache *c, const char *key);

/* A record of a keeper names this cell, unless it is ""; names none any more. `user->names` is set
 * before that. */
void cell_use(struct cache *c, enum keeper_id keeper, struct cell_user *user, const char *id);
void cell_leave(struct cache *c, struct cell_user *user);

/* A record bears this domain; bears it no more (NULL is ignored). */
struct cached_domain *domain_bear(struct cache *c, const char *name);
void domain_bear_no_more(struct cache *c, struct cached_domain *d);

/* Whether nothing of it may be missed (common/model/freshness.h). */
bool domain_is_fresh(const struct cache *c, const struct cached_domain *d, struct moment now);
