/* A system as the converger sees it while it decides about it: its own records decoded, the state
 * of each service kept up with each change, all else found in the copy of the board. And the moves
 * that its passes plan. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/contract/moment.h"
#include "common/model/keys.h"
#include "common/model/moves.h"
#include "common/model/system_state.h"

/* Moves of one look at one system: a call's. */
enum { SYSTEM_MOVES_MAX = 256 };

/* What the passes need of a service. */
struct service_seen {
    int state; /* SERVICE_...; -1 = of a newer version */
    int64_t revision;
    char *path, *deploy, *component; /* owned */
    uint32_t pool_epoch; /* of its node pool, that its target goes to; 0 = of none */
};

/* A node pool. */
struct pool_seen {
    int state;      /* POOL_...; -1 = of a newer version */
    char *name;     /* path:name; owned */
    char *type;     /* of its cells; owned */
    int32_t wanted; /* cells */
    uint32_t epoch; /* that a new instance goes to; 0 = none */
    bool ready;     /* common/model/pool_state.h */
    bool own;       /* a service's */
    int64_t revision;
};

/* A build, deploy or teardown. */
struct action_seen {
    enum record_type type;
    bool over;
    int64_t created_at, completed_at;
    uint64_t generation; /* of the head that it made; 0 = none */
    uint64_t told;       /* the generation by which it has told every service under its path */
    struct spread *spread; /* what it has yet to tell, while it does (spread.h); owned */
};

/* Of how many it is over. */
struct actions_over {
    size_t deploys, teardowns;
};

struct watched_system {
    struct arena *arena;
    const struct map *records; /* of the board: key -> struct followed */
    struct moment now;
    const char *uid;
    const char *id;                    /* "" = never seen */
    const Board__SystemRecord *system; /* NULL = there is none */
    int state;                         /* of it; SYSTEM_NONE = there is none */
    bool confirmed;                    /* in the present board generation */
    const Board__HeadRecord *head;     /* empty ones when there are none */
    const Board__HoldRecord *hold;
    int64_t revision, head_revision;   /* of `system`, of `head` */
    const struct map *services; /* key -> struct service_seen */
    const struct map *pools;    /* key -> struct pool_seen */
    const struct map *actions;  /* key -> struct action_seen */
    const struct map *going;    /* of these, those that are not over */
    struct actions_over over;
    const struct system_tally *tally;
};

/* Whether it takes deploys, teardowns and builds: neither pending nor failed nor deleting. */
bool system_is_open(const struct watched_system *v);

/* Whether all that it owns is to go. */
bool system_is_gone(const struct watched_system *v);

/* The record at the key, decoded into the arena, and its revision; NULL and 0 when there is none.
 * *ret_revision may be NULL. One that this version cannot read: NULL, and its revision. */
const void *system_record(const struct watched_system *v, const char *key, int64_t *ret_revision);

/* The keys of the records of this type that the system has, at most `max` of them, in order.
 * Borrowed from the copy. Gives their number. */
size_t system_keys(const struct watched_system *v, enum record_type type, const char **ret,
                   size_t max);

/* The services at and below the path, in the order of their keys. Gives their number. */
size_t system_services_within(const struct watched_system *v, const char *path,
                              const struct service_seen ***ret);

/* Whether the pool belongs to the path, or to something below it. */
bool system_pool_within(const struct watched_system *v, const struct pool_seen *pool,
                        const char *path);

/* What is planned. */
struct system_moves {
    struct arena *arena;
    struct system_move {
        const char *pass;
        Board__Move *move;
    } list[SYSTEM_MOVES_MAX];
    size_t count;
    bool more; /* there was no room for all */
};

/* Adds one; false when there is no room. */
bool system_moves_add(struct system_moves *m, const char *pass, Board__Move *move);

/* A move about each kind, with its body, in the arena. The texts are borrowed. */
Board__Move *move_of_system(const struct watched_system *v, const char *move);
Board__Move *move_of_build(const struct watched_system *v, const char *move, const char *id);
Board__Move *move_of_deploy(const struct watched_system *v, const char *move, const char *id);
Board__Move *move_of_teardown(const struct watched_system *v, const char *move, const char *id);
Board__Move *move_of_pool(const struct watched_system *v, const char *move, const char *name);
Board__Move *move_of_service(const struct watched_system *v, const char *move, const char *path,
                             const char *holder);
