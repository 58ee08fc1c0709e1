/* Requests for logs of services and jobs: a bbs finds the cell that has them, and relays what its
 * rep says (docs/rest.md, Logs). */
#pragma once

#include "common/client/askers.h"

#include <sys/queue.h>

struct board;
struct log_request;

enum {
    LOGS_CELLS_ASKED_MAX = 16, /* at once, for what they keep */
    LOGS_FIND_S = 10,          /* until all of them have said it, and for the answer's head */
};

/* Those that are under way, until their answers have begun. */
struct log_requests {
    struct board *board;
    struct askers *askers;
    LIST_HEAD(, log_request) all;
};

/* Board and askers are borrowed. */
void log_requests_init(struct log_requests *s, struct board *board, struct askers *askers);

/* Nobody is answered. */
void log_requests_done(struct log_requests *s);
