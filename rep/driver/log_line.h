/* A line of a container's log, read (rep/shim/log_form.h), and given to readers as text. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/contract/effect.h"
#include "rep/shim/log_form.h"

#include <stdbool.h>

struct log_line_parts {
    const char *time; /* LOG_TIME_SIZE characters of the line */
    bool to_stderr, whole; /* whole: its end; else a part that goes on */
    struct bytes source, text;
};

/* `line` without its line feed; what is given points into it. False: it is none. */
bool log_line_parse(struct bytes line, struct log_line_parts *ret);

/* Which lines are given, and with what before each. */
struct output_choice {
    enum output_stream stream;
    char source[LOG_SOURCE_SIZE + 1]; /* only of this one; "" = of all */
    char since[LOG_TIME_SIZE + 1];    /* "" = of any time */
    bool times, sources;
};

/* Whether it is given, by its stream, source and time. */
bool output_chosen(const struct output_choice *choice, const struct log_line_parts *line);

enum { OUTPUT_UNFINISHED = 8 }; /* lines that are read in parts, at once; one more is cut */

/* Text in the making. Zeroed but for `choice` and `skip`. */
struct output_text {
    struct output_choice choice;
    int64_t skip[2]; /* so many lines of each stream are left out first */
    struct unfinished_line {
        bool used, shown; /* shown: a part of it was given */
        bool to_stderr;
        char source[LOG_SOURCE_SIZE + 1];
        struct buf text;
    } unfinished[OUTPUT_UNFINISHED];
    bool within[2]; /* of the files of a stream alone: amid a line */
};

void output_text_done(struct output_text *t);

/* A line of the log with its line feed, or what stands there in its place, which is given as it is.
 * Parts of a line are given together, or once they are many. */
void output_text_take(struct output_text *t, struct bytes line, struct buf *out);

/* Lines, or a part of one, of a file that holds one stream and no more than its text, as earlier
 * versions wrote them: of them neither time nor source is known, "-" stands for each. */
void output_text_plain(struct output_text *t, bool to_stderr, struct bytes bytes, struct buf *out);

/* No more comes: what has not ended is given as it is. */
void output_text_end(struct output_text *t, struct buf *out);
