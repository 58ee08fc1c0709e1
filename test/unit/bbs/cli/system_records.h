/* Records of a system for the tests of its views. */
#pragma once

#include "bbs/cli/system_board.h"

/* A feed of one system, "shop": bytes of frames, as a bbs sends them. */
struct records_feed {
    struct arena *arena;
    struct buf bytes;
    int64_t revision;
};

void shown_reset(struct records_feed *f);
void shown_current(struct records_feed *f);
void shown_heartbeat(struct records_feed *f);
void shown_put(struct records_feed *f, const char *key, const ProtobufCMessage *m);
void shown_delete(struct records_feed *f, const char *key);

/* Gives what was sent to the board, at most `piece` bytes at once. */
void shown_give(struct records_feed *f, struct system_board *b, size_t piece);

enum { RECORDS_NOW_S = 100000 };

/* All of shop, uid "u1", at the time RECORDS_NOW_S: texts are the caller's. */
Board__SystemRecord *shown_record(struct arena *a, const char *state, const char *message);
Board__ServiceRecord *shown_service(struct arena *a, const char *path, const char *state,
                                    int instances, const int counts[4], const char *message);
Board__DeployRecord *shown_deploy(struct arena *a, const char *id, const char *path,
                                  const char *state, const char *message);
Board__HoldRecord *shown_hold(struct arena *a, const Board__DeployRecord *d, bool paused);
