/* HTTP requests to a leader and its standbys: the route of a request, who may make it, and the
 * answer. Pure. */
#pragma once

#include "common/base/path_pattern.h"
#include "common/client/leading.h"
#include "common/lifecycle/actor.h"

#define QUESTION_JSON "application/json"
#define QUESTION_TEXT "text/plain; charset=utf-8"

struct question_route {
    struct path_row at; /* a body of 0 bytes: none is read */
    actor_set callers;
    void (*handle)(struct role *role, const struct request *q, struct effects *out);
};

/* Answers by its route, a struct question_route of the table, or by itself: 404 to an unknown path,
 * 405 to another method, 403 to a caller who may not ask this. */
void questions_answer(const struct path_table *all, struct role *role, const struct request *q,
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
