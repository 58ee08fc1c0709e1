/* Reads: a row says of what (READ in routes.def). All pass the read barrier, so that every bbs
 * gives the same answer (design.md 2). */
#pragma once

#include "bbs/route/records.h"
#include "bbs/route/route.h"

/* What is NULL or false does not apply. */
struct read_row {
    /* Says what is wrong with the request. */
    void (*valid)(struct validation *v, const void *request);
    /* The whole answer, in the view's arena. Otherwise it is made of records: */
    const ProtobufCMessage *(*message)(const struct ask *ask, struct view *v);
    /* The same where it is asked in JSON, of one that is else made of records. */
    const ProtobufCMessage *(*json)(const struct ask *ask, struct view *v);
    /* Which; their array lives in the view's arena. */
    size_t (*pick)(struct view *v, const void *request, struct picked **ret_list);
    bool one;   /* is asked for: none is ResourceNotFound */
    bool whole; /* that one, where it stands and cannot be read whole, is 503 */
    /* How each is shown, if not as it stands on the board; with `differs`, only where that says of
     * its body that it differs. */
    const struct record_viewer *viewer;
    bool (*differs)(struct bytes body);
    /* Adds them, where not each is a message of its own; r2: without image layers. */
    void (*add)(struct records *records, struct view *v, const struct picked *list, size_t count,
                bool r2);
    bool r2;
    /* To a rep, the one that was picked, as the whole answer with its secrets opened; NULL = as to
     * anybody. */
    const ProtobufCMessage *(*opened)(const struct ask *ask, struct view *v,
                                      const struct picked *one);
};

/* For `pick`: a selector of records of this type, and the one record at a key, if it can be read.
 */
Board__Selector read_selector(struct view *v, enum record_type type);
size_t read_pick_one(struct view *v, const char *key, struct picked **ret_list);

/* For `message`: all records of a type that can be read, decoded, in the view's arena. */
size_t read_all(struct view *v, enum record_type type, ProtobufCMessage ***ret_list);
