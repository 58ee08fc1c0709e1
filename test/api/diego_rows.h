/* The tables of the conformance test, test/api/diego/NAME.rows.
 *
 *   # a comment
 *   let NAME text              @NAME stands for the text from here on; @NAME(x, y) for the text
 * with %1 and %2 replaced; @REPEAT(text, n) for the text n times
 *   == name                    a sequence: a test of its own, with placeholders of its own
 *   - title                    the rule of the rows below
 *   + name METHOD PATH text    subscribes to an event stream; text is the request's
 *   > PATH text                a request by an ordinary client (POST)
 *   > PATH as WHO text         by one of our roles: cell-1, cell-2, auctioneer, converger
 *   > PATH trace ID text       with ID as X-Vcap-Request-Id
 *   >wait PATH text            repeated until the answer is the expected one, for 10 s at most
 *   >METHOD PATH               another method, no body
 *   >hex PATH bytes            the body as it is
 *   < text                     the answer; nothing: no bytes at all
 *   <error TYPE message        the same as  < error { type: TYPE message: "message" }
 *   <hex bytes                 the answer, byte by byte
 *   <http STATUS text          another status than 200; the body, without its line feed
 *   ! stream EVENT text        the next event of the stream, after this answer
 *
 * A line goes on in lines that begin with a space. Requests and answers are protobuf text of the
 * path's messages (test/conformance/spec/endpoints.tsv; placeholders: diego_text.h). */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum row_kind { ROW_REQUEST, ROW_STREAM };
enum row_answer { ANSWER_TEXT, ANSWER_HEX, ANSWER_HTTP };

struct row_event {
    struct row_event *next;
    const char *stream, *name, *text;
    int line;
};

struct row {
    struct row *next;
    enum row_kind kind;
    const char *title;
    int line;
    const char *method, *path, *who; /* who "" = an ordinary client */
    const char *trace_id;            /* "" = none */
    bool wait;
    bool hex;
    const char *request; /* text, or hex digits */
    const char *stream;  /* ROW_STREAM: its name */
    enum row_answer answer_kind;
    int status; /* ANSWER_HTTP */
    const char *answer;
    struct row_event *events;
};

struct sequence {
    struct sequence *next;
    const char *name; /* file_name */
    const char *file;
    struct row *rows;
    size_t row_count;
};

/* All sequences of a file, in the arena. A line that cannot be read ends the process with what is
 * wrong. */
struct sequence *rows_read(struct arena *a, const char *path);
