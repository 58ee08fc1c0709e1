/* One op asked of a board, which puts domain/<name> whatever stands there; and what stands in etcd
 * then, read and written past every board. */
#pragma once

#include "bbs/board/inside.h"
#include "test/unit/bbs/board/board_rig.h"

/* An op that was asked, and how it was answered. Begins as {0}, or with what it is to decide; lives
 * until it is answered or its board is gone. */
struct asked {
    Board__DomainRecord request;
    struct op_input in;
    bool nothing; /* decide to do nothing */
    bool notice;  /* and to tell a rep */
    unsigned answers;
    struct op_result result;
    enum plan_verdict verdict;
    char text[200];
};

extern const struct bbs_config asked_config; /* of every board here, but where a test says more */

/* The snapshot of the op and its decision, for rows that gather in another way. */
struct asked_shot {
    const char *key;
};
void asked_gather(struct view *v, const struct op_input *in, void *snapshot);
void asked_decide(const void *snapshot, const struct op_input *in, struct plan *plan);

/* Asks board n for this domain; `domain` lives as long as the op. ask_row asks by
 * a row of the test's own. */
void ask(struct rig *r, unsigned n, struct asked *a, const char *domain);
void ask_row(struct rig *r, unsigned n, struct asked *a, const char *domain,
             const struct op_row *by);

/* The revision of etcd that wrote this key last; 0 when it is not there. */
int64_t mod_revision(struct rig *r, const char *key);
int64_t count_prefix(struct rig *r, const char *prefix); /* keys that begin so */

void put_raw(struct rig *r, const char *key, struct bytes value);
void put_record(struct rig *r, const char *key, const ProtobufCMessage *m); /* NULL: deletes it */

/* A rig of seed 1 whose boards are ready; fails the test when they are not within 10 s. */
struct rig *ready_rig(unsigned boards, const struct board_hooks *hooks);
