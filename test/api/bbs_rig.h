/* What tests of running bbs share: two of them on a real etcd, the certificates of who speaks to
 * them, and what several tests ask. */
#pragma once

#include "common/base/arena.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/tool/bbs_process.h"
#include "test/tool/certs.h"

enum { BBS_RIG_COUNT = 2 };

/* Of the whole program, while BBS_RIG_RUN() runs. */
struct bbs_rig {
    struct certs certs; /* in whose directory the bbs keep their logs too */
    struct tls_files server, client, rep, auctioneer, converger; /* the rep is "cell-1" */
    struct etcd_server etcd;
    struct bbs_process bbs[BBS_RIG_COUNT]; /* ready */
    int count;                             /* of those that were started */
};
extern struct bbs_rig bbs_rig;

/* What main() gives: runs the tests one after another on one board. They fail when a bbs does not
 * end well; where there is no etcd they are skipped. */
#define BBS_RIG_RUN(name, tests)                                                                   \
    (bbs_rig_possible(name)                                                                        \
         ? cmocka_run_group_tests_name(name, tests, bbs_rig_setup, bbs_rig_teardown)               \
         : 0)
bool bbs_rig_possible(const char *name);
int bbs_rig_setup(void **state);
int bbs_rig_teardown(void **state);

/* One request on a connection of its own. Gives the status, 0 = no answer. The head and the body
 * overwrite `head` and `answer`; either may be NULL. */
int bbs_ask_as(const struct tls_files *files, int port, const char *method, const char *path,
               struct bytes body, struct buf *head, struct buf *answer);
/* POST of a message (NULL: an empty body) by the client. Gives the status. */
int bbs_post(int port, const char *path, const ProtobufCMessage *m, struct buf *answer);
/* Posts as one of our roles to the first bbs; the answer must be a 200. */
void bbs_post_as(const struct tls_files *files, const char *path, const ProtobufCMessage *m,
                 struct buf *answer);

/* The type of the error in an answer, whichever message it is: -1 = none. */
int32_t bbs_error_of(const struct buf *answer);

/* Requests for little: a DesiredLRP in domain "d", with its source_id and 7 s to start, and a task.
 */
Models__DesireLRPRequest *bbs_desire_of(struct arena *a, const char *guid, int32_t instances);
Models__DesireTaskRequest *bbs_desire_task_of(struct arena *a, const char *guid,
                                              const char *domain);

/* Desires an LRP, and opens a cell's incarnation; give the error as bbs_error_of(). */
int32_t bbs_desire(int port, const char *guid, int32_t instances, struct buf *answer);
int32_t bbs_open_incarnation(struct arena *a, const char *cell_id, uint64_t incarnation,
                             struct buf *answer);
