/* Answers in JSON (docs/rest.md): an object, a list of them, or {"code", "message"}. */
#pragma once

#include "bbs/board/view.h"
#include "bbs/rest/rest.h"

#define REST_TYPE "application/json"

/* One object. */
void rest_answer(struct effects *out, uint64_t request_id, int status, const ProtobufCMessage *m);

/* {"code": ..., "message": ...} */
void rest_refuse(struct effects *out, uint64_t request_id, int status, const char *code,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* 503 UNAVAILABLE; after a message that begins with NOT_DONE nothing was done (not_done.h). */
void rest_unavailable(struct effects *out, uint64_t request_id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of a bbs that cannot do it now, and did nothing. */
void rest_not_now(struct effects *out, uint64_t request_id);

/* As rest_refuse(), and the ask ends: of a handler that asks for no op. */
void rest_refuse_now(struct rest *q, struct effects *out, int status, const char *code,
                     const char *text);

/* What an object is made of: the message of its record, of which nothing is kept. In the arena;
 * NULL = it is left out. */
typedef const ProtobufCMessage *rest_show(struct arena *a, const ProtobufCMessage *record);

/* Which records a list has. */
struct rest_range {
    enum record_type type;
    const char *key;   /* what their keys begin with */
    bool whole_key;    /* it is a key: that record alone, or none */
    bool newest_first; /* those made last first; otherwise by key */
};

/* Answers with a list of them. It is encoded as the reader takes it. */
void rest_answer_list(struct view *v, const struct rest_range *range, rest_show *show,
                      uint64_t request_id, struct effects *out);

/* Those of a type in a system, the newest first. */
void rest_answer_newest(const struct rest *q, struct view *v, enum record_type type,
                        const char *uid, rest_show *show, struct effects *out);

/* The record at the key as it is shown; none: 404 with this code, "no such <what>". */
void rest_answer_one(struct view *v, const char *key, rest_show *show, const struct rest *q,
                     const char *what, struct effects *out);
