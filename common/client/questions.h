/* What a leader and its standbys are asked over HTTP: which route a request is for, who may take
 * it, and how it is answered. Pure. */
#ifndef COMMON_CLIENT_QUESTIONS_H
#define COMMON_CLIENT_QUESTIONS_H

#include "common/client/leading.h"

#define QUESTION_JSON "application/json"
#define QUESTION_TEXT "text/plain; charset=utf-8"

enum { QUESTION_ANYBODY = ~0 };

struct question_route {
    const char *method;
    const char *path; /* its own among all of them */
    int actors;       /* who may call: enum actor, or QUESTION_ANYBODY */
    size_t body_max;  /* 0 = none is read */
    void (*handle)(struct role *role, const struct request *q, struct effects *out);
};

struct questions {
    const struct question_route *routes;
    size_t count;
};

/* The body that may come with a request to `path`: as role_ops.body_limit wants it. */
size_t questions_body_max(const struct questions *all, const char *path);

/* Answers by its route, or by itself: 404 to an unknown path, 405 to another method, 403 to a
 * caller who may not ask this. */
void questions_answer(const struct questions *all, struct role *role, const struct request *q,
                      struct effects *out);

/* Answers with a text. Gives the reply, borrowed until the next effect, for what else is to be said
 * in its head. */
struct reply *question_reply(const struct request *q, int status, const char *type,
                             const char *text, struct effects *out);

/* Answers 200 with a message as JSON; 500 and why when it cannot be written. */
void question_reply_json(const struct request *q, const ProtobufCMessage *m, struct effects *out);

/* Answers 503: this one `does` something else than to answer ("stands by"), the leader is there. */
void question_refer(const struct leading *l, const struct request *q, const char *does,
                    struct effects *out);

#endif
