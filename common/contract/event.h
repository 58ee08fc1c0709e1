/* What happens to a role: one event a step, carrying the time and fresh entropy (design.md 3.1).
 * Everything an event points to is borrowed until the step returns. */
#pragma once

#include "common/base/bytes.h"
#include "common/contract/driver.h"
#include "common/contract/launch.h"
#include "common/contract/moment.h"
#include "common/contract/probe.h"
#include "common/contract/resolver.h"
#include "common/contract/store.h"

enum event_kind {
    EVENT_START,     /* first event of every role */
    EVENT_TIMER,     /* the due time of the last step has come */
    EVENT_REQUEST,   /* a peer asks over HTTP or gRPC; answered by exactly one EFFECT_REPLY */
    EVENT_HANGUP,    /* the peer of an unanswered request or of a cursor went away */
    EVENT_RESPONSE,  /* the end of an EFFECT_CALL, the beginning of an EFFECT_RELAY */
    EVENT_STREAM,    /* bytes or the end of an EFFECT_SUBSCRIBE */
    EVENT_STORE,     /* the end of an EFFECT_STORE */
    EVENT_WATCH,     /* changes of the watch */
    EVENT_VERB,      /* the end of an EFFECT_VERB */
    EVENT_CONTAINER, /* a container's process ended, or there are more facts of its steps; before
                      * the answer to the verb that led to them. A hint, LIST says the same */
    EVENT_PROBED,    /* the end of an EFFECT_PROBE */
    EVENT_INCARNATION,   /* the end of an EFFECT_INCARNATION */
    EVENT_EVACUATION, /* the end of an EFFECT_EVACUATION */
    EVENT_RESOLVED,   /* the end of an EFFECT_RESOLVE */
    EVENT_LAUNCHED,   /* the end of an EFFECT_LAUNCH */
    EVENT_STOP,      /* end (SIGTERM, SIGINT): the role answers with EFFECT_EXIT when done */
    EVENT_KIND_COUNT
};

/* Who speaks, from the client certificate (design.md 8). */
struct peer {
    const char *unit; /* organisational unit: "bbs", "rep", "auctioneer", "converger", or another */
    const char *name; /* common name; a rep's is its cell id */
};

struct request {
    uint64_t id;        /* the shell's; never repeated within a process */
    const char *method; /* "GET", "POST", "PUT" */
    const char *path;   /* without query, percent-decoded nowhere */
    const char *query;  /* after "?", "" if none */
    const char *trace_id;     /* X-Vcap-Request-Id, "" if absent */
    const char *accept;       /* Accept, "" if absent */
    const char *content_type; /* Content-Type without parameters, "" if absent */
    const char *if_none_match;
    struct peer peer;
    bool tools;         /* it came to the socket that hooks reach (rep/unit/tools_face.h): from
                         * nobody in particular, a token says who asks */
    bool admin;         /* it came to the listener for this machine's own tools */
    struct bytes body;
    bool grpc;          /* a unary gRPC call: path is "/SERVICE/METHOD", body the message alone, and
                         * the reply is one of effects_grpc() or effects_grpc_refuse() */
    bool too_large;     /* the body exceeded the route's bound and was drained; body is empty */
};

enum call_outcome {
    CALL_ANSWERED, /* status and body are the peer's */
    CALL_REFUSED,  /* nothing was sent: no connection */
    CALL_UNKNOWN,  /* time-out or broken after sending: it may have been done */
};

/* What became of a call that was not answered. */
enum call_fault {
    CALL_FAULT_OTHER,     /* no such host, connection refused, a certificate, a URL, ... */
    CALL_FAULT_TIMED_OUT,
    CALL_FAULT_CLOSED,    /* the peer closed or reset the connection */
};

struct response {
    uint64_t id; /* of the EFFECT_CALL or EFFECT_RELAY */
    enum call_outcome outcome;
    enum call_fault fault; /* unless it is ANSWERED */
    int status;
    const char *content_type; /* without parameters, "" if absent */
    const char *etag;         /* "" if absent */
    struct bytes body;
    const char *text; /* what went wrong; never NULL */
};

struct stream_event {
    uint64_t id; /* of the EFFECT_SUBSCRIBE */
    bool closed; /* the last event of this id; text says why */
    bool complete; /* closed: the peer's answer came to its end */
    int status;  /* of the answer; 0 when it never came */
    struct bytes data;
    const char *text;
};

enum stop_kind {
    STOP_IN_ORDER, /* SIGTERM */
    STOP_AT_ONCE,  /* SIGINT: no more than what takes a moment */
};

struct incarnation_kept {
    uint64_t incarnation; /* of the EFFECT_INCARNATION */
    const char *text; /* "" = it is on the disk; else why it is not. Never NULL */
};

struct evacuation_kept {
    uint64_t id;      /* of the EFFECT_EVACUATION */
    const char *text; /* "" = the disk has it, or has it no more; else why not. Never NULL */
};

struct event {
    enum event_kind kind;
    struct moment now;
    uint64_t entropy[2];
    union {
        struct request request;
        uint64_t hangup; /* request id */
        struct response response;
        struct stream_event stream;
        struct store_answer store;
        struct watch_event watch;
        struct verb_answer verb;
        struct container_status container;
        struct probed probed;
        struct incarnation_kept incarnation;
        struct evacuation_kept evacuation;
        struct resolved resolved;
        struct launched launched;
        enum stop_kind stop;
    };
};
