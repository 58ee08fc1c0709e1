/* What tests of running bbs share: some of them on a real etcd, the certificates of who speaks to
 * them, and what several tests ask. */
#ifndef TEST_API_BBS_RIG_H
#define TEST_API_BBS_RIG_H

#include "common/base/arena.h"
#include "test/tool/bbs_process.h"
#include "test/tool/certs.h"

enum { BBS_RIG_MAX = 2 };

/* Of the whole program, from bbs_rig_start() on. */
struct bbs_rig {
    struct certs certs; /* in whose directory the bbs keep their logs too */
    struct tls_files server, client, rep, auctioneer, converger; /* the rep is "cell-1" */
    struct etcd_server etcd;
    struct bbs_process bbs[BBS_RIG_MAX];
    int count; /* of bbs */
};
extern struct bbs_rig bbs_rig;

/* Starts an etcd and `count` bbs on it, and waits until each is ready. For the set-up of a group: 0,
 * or -1 after saying why on stderr. */
int bbs_rig_start(int count);
/* Ends them. 0, or -1 when one of the bbs did not end well. */
int bbs_rig_end(void);

/* One request on a connection of its own. Gives the status, 0 = no answer. The head is added to
 * `head`, the body overwrites `answer`; either may be NULL. */
int bbs_ask_as(const struct tls_files *files, int port, const char *method, const char *path,
               struct bytes body, struct buf *head, struct buf *answer);
/* POST of a message (NULL: an empty body) by the client. Gives the status. */
int bbs_post(int port, const char *path, const ProtobufCMessage *m, struct buf *answer);
/* Posts as one of our roles to the first bbs; the answer must be a 200. */
void bbs_post_as(const struct tls_files *files, const char *path, const ProtobufCMessage *m,
                 struct buf *answer);

/* The type of the error in an answer, whichever message it is: -1 = none. */
int32_t bbs_error_of(const struct buf *answer);

/* Desires an LRP, and opens a cell's session; give the error as bbs_error_of(). */
int32_t bbs_desire(int port, const char *guid, int32_t instances, struct buf *answer);
int32_t bbs_open_session(struct arena *a, const char *cell_id, uint64_t session,
                         struct buf *answer);

#endif
