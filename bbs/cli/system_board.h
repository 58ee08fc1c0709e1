/* What the board has of one system, kept from its feed: the records of its uid, by which trees are
 * shown, states explained and ends waited for. Pure. */
#pragma once

#include "bbs/cli/frames.h"
#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/model/record.h"
#include "systems.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct system_board {
    struct map records;        /* key -> struct system_record */
    char board_generation[64]; /* position to resume at; "" = none */
    int64_t revision;
    bool seen;      /* a snapshot was complete once */
    bool caught_up; /* all was taken up to a heartbeat, or to the end of a snapshot */
    bool confirmed; /* a heartbeat came: the snapshot was not of before the connection */
    bool changed;   /* since this was last set false */
    uint64_t listing;
    struct frames frames;
};

void system_board_init(struct system_board *b);
void system_board_done(struct system_board *b);

/* A new connection: what was cut off is dropped. */
void system_board_connect(struct system_board *b);

/* Takes bytes of the feed. ERR_INVALID when they are no feed. */
int system_board_take(struct system_board *b, struct bytes bytes, struct err *err);

/* The records, decoded. */
struct system_view {
    const char *board_generation;        /* the board's */
    Board__SystemRecord **systems;       /* all that were asked for, by id */
    size_t system_count;
    const Board__SystemRecord *system;   /* the first of them; NULL = there is none */
    const Board__HeadRecord *head;       /* NULL = there is none */
    const Board__HoldRecord *hold;       /* never NULL */
    const Board__LeaderLockRecord *converger; /* who leads; NULL = nobody */
    const Board__VersionsRecord *versions;
    Board__ServiceRecord **services;     /* by path */
    size_t service_count;
    Board__BuildRecord **builds;         /* these newest first */
    size_t build_count;
    Board__DeployRecord **deploys;
    size_t deploy_count;
    Board__TeardownRecord **teardowns;
    size_t teardown_count;
    Board__JobRunRecord **runs;
    size_t run_count;
    Board__PoolRecord **pools; /* by name */
    size_t pool_count;
    Board__IndexRecord **indexes;
    size_t index_count;
};

/* All of it, in the arena. */
void system_view_of(struct arena *a, const struct system_board *b, struct system_view *ret);

/* The one of the id, or of the only id that begins so (four characters at least); NULL if there is
 * none, or more than one. */
const Board__DeployRecord *system_view_deploy(const struct system_view *v, const char *id);
const Board__BuildRecord *system_view_build(const struct system_view *v, const char *id);
const Board__TeardownRecord *system_view_teardown(const struct system_view *v, const char *id);
const Board__JobRunRecord *system_view_run(const struct system_view *v, const char *id);

/* Of which system a build, deploy, teardown or run of a job is that an id means as above; NULL if
 * it means none. How many it means in *ret_count; of several, the system of one. */
const char *system_view_owner(const struct system_view *v, enum record_type type, const char *id,
                              size_t *ret_count);

/* The node pool of that name, path:name; NULL if there is none. */
const Board__PoolRecord *system_view_pool(const struct system_view *v, const char *name);

/* The service at a path; NULL if there is none. */
const Board__ServiceRecord *system_view_service(const struct system_view *v, const char *path);

/* The kind that a deployed definition says of the path, "system", "service" or "job"; NULL = it has
 * no such component. */
const char *system_view_kind(const struct system_view *v, const char *path);

/* Whether that path is in the tree that stands there: of two roots the longer path counts. */
const Board__Root *system_view_root(const struct system_view *v, const char *path);
