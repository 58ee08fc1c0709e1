/* A bbs in a process of its own, for tests of what it says on the wire, and a subscriber to its
 * event streams. */
#pragma once

#include "common/shell/host_io.h"
#include "test/tool/etcd_server.h"
#include "test/tool/tls_client.h"

#include <sys/types.h>

struct bbs_process {
    pid_t pid;
    int port;
    int health_port;
    char log_path[128];
    struct tls_files client; /* with which the functions below speak */
};

/* Starts one on this etcd; its log is at <dir>/<name>.log. Fails the test when it does not listen.
 * It need not be ready yet. */
void bbs_process_start(struct bbs_process *s, const char *dir, const char *name,
                      const struct etcd_server *etcd, const struct tls_files *server,
                      const struct tls_files *client);

/* Waits until it answers pings with 200. */
void bbs_process_wait_ready(const struct bbs_process *s);

/* SIGTERM; gives its exit code, or minus the signal that ended it. Prints the end of its log, and
 * removes it if it ended well. */
int bbs_process_end(struct bbs_process *s);

/* One request on a connection of its own; head (may be NULL) and answer (may be NULL) are
 * overwritten. Gives the status, 0 = no answer. `trace_id` NULL = none. */
int bbs_process_ask(const struct bbs_process *s, const char *method, const char *path,
                   const char *trace_id, struct bytes body, struct buf *head, struct buf *answer);

/* POST of a message, whose answer must be a 200. */
void bbs_process_post(const struct bbs_process *s, const char *path, const ProtobufCMessage *m,
                     struct buf *answer);

/* ---- subscribers ---- */

struct subscriber {
    struct tls_client client;
    struct buf head;
    struct buf text; /* of the stream, its chunks joined; not yet taken */
    int status;
    bool ended;      /* the terminating chunk has come */
};

struct stream_item {
    long id;
    char name[64];
    struct buf payload; /* decoded */
};

/* Subscribes and reads the head of the answer; a 503 is tried again, as Diego's clients do.
 * `cell_id` NULL = an empty body. */
void subscriber_open(struct subscriber *s, const struct bbs_process *server, const char *method,
                     const char *path, const char *cell_id, int receive_bytes);
void subscriber_close(struct subscriber *s);

/* The next event; false when none comes within `wait_ms`, or the stream ended. `item` is to be
 * initialised with {0} and ended with buf_done(&item.payload). */
bool subscriber_next(struct subscriber *s, int wait_ms, struct stream_item *item);

/* Reads what comes within `wait_ms` and adds it to `text`. False when the connection has ended. */
bool subscriber_read(struct subscriber *s, int wait_ms);
