/* What a role wants done: a bounded list, made by one step, carried out by the shell in order
 * (design.md 3.1). Everything an effect points to lives in the arena of the step and is borrowed
 * until the shell has taken it; cursors change owner. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/contract/cursor.h"
#include "common/contract/driver.h"
#include "common/contract/launch.h"
#include "common/contract/moment.h"
#include "common/contract/probe.h"
#include "common/contract/resolver.h"
#include "common/contract/store.h"

enum effect_kind {
    EFFECT_REPLY,
    EFFECT_WAKE,
    EFFECT_CALL,
    EFFECT_SUBSCRIBE,
    EFFECT_CANCEL,
    EFFECT_RELAY,
    EFFECT_STORE,
    EFFECT_WATCH,
    EFFECT_UNWATCH,
    EFFECT_VERB,
    EFFECT_OUTPUT,
    EFFECT_PROBE,
    EFFECT_INCARNATION,
    EFFECT_EVACUATION,
    EFFECT_RESOLVE,
    EFFECT_LAUNCH,
    EFFECT_LOG,
    EFFECT_EXIT,
    EFFECT_KIND_COUNT
};

/* Most effects of one step; a step that needs more keeps the rest and asks to be woken at once. */
enum {
    EFFECTS_MAX = 4096,
    EFFECTS_ENOUGH = EFFECTS_MAX / 4, /* with so many a loop leaves the rest to the next step */
};

/* The answer to a request. With a cursor the body comes from it: `size` >= 0 is its whole length
 * (Content-Length), -1 means chunked until CURSOR_END. */
struct reply {
    uint64_t id;
    int status;
    const char *content_type; /* "" = none */
    const char *etag;         /* "" = none */
    const char *allow;        /* Allow header of a 405, e.g. "POST"; "" or NULL = none */
    int retry_after_s;        /* 0 = none */
    struct bytes body;
    struct cursor *cursor; /* NULL, or now the shell's */
    int64_t size;
    const char *channel; /* EFFECT_WAKE of this name makes a waiting cursor be asked again */
    /* Of a gRPC call: status, content type and cursor have no meaning then. 0 = OK, and `body` is
     * the message; another number of grpc_status.h, and the text says why. */
    int grpc_status;
    const char *grpc_message;
};

/* With whose certificate a process calls: its own, or that which it has for a centre (docs/edge.md,
 * Two certificates). A peer of the one is asked nothing with the other. */
enum call_identity { IDENTITY_OWN, IDENTITY_CENTRE, IDENTITY_COUNT };

struct call {
    enum call_identity identity;
    uint64_t id; /* chosen by the role, unique among its open calls and subscriptions */
    const char *method;
    const char *url; /* https://host:port/path */
    const char *content_type;
    const char *accept; /* "" = none */
    const char *if_none_match;
    const char *trace_id;
    struct bytes body;
    int64_t deadline_ns; /* monotonic; NEVER_NS for EFFECT_SUBSCRIBE: no end */
    /* CALL of a POST to a URL that a user gave: http or https, redirects are followed as Go's
     * client does, and the answer is its head alone, without a body. */
    bool outside;
};

/* The answer to a request that a peer gives: bytes go from the peer's answer to who asked past the
 * step, as they are taken. EVENT_RESPONSE of the call's id comes once: ANSWERED with 200 and no
 * body, and the request is answered; with anything else it still is to be. That of one more than
 * RELAYS_MAX is REFUSED. It ends when either side does. */
enum { RELAYS_MAX = 64, RELAY_REFUSAL_MAX = 4096 };

struct relay {
    uint64_t request_id;
    struct call call; /* a GET, as ourselves; its deadline is of the head of the answer */
    const char *content_type; /* of the answer */
    const char *broken; /* the last line of an answer that breaks off, without its line feed */
};

/* The answer to a request that asks for what a container wrote: its bytes go from the driver's
 * files to the peer past the step, in chunks, as the peer takes them (design.md 3.1b). 200 with
 * them, 404 when nothing is kept, 503 when too many follow. The peer's going ends it (EVENT_HANGUP
 * is of no use). */
enum output_stream { OUTPUT_BOTH, OUTPUT_STDOUT, OUTPUT_STDERR };

struct output_request {
    uint64_t id;      /* of the request */
    const char *guid; /* of the container, running, ended or removed; NULL: see `label` */
    const char *label; /* which removed containers of this label are kept, as JSON (driver.h) */
    bool label_begins; /* of all labels that begin with `label` */
    enum output_stream stream;
    const char *source; /* lines of this source alone; NULL = of all */
    int64_t lines; /* the last so many of each stream; -1 = all that is kept */
    int64_t tail;  /* instead of `lines`: the last so many of all that is wanted; 0 = see `lines` */
    int64_t since_ns; /* only lines of that time (since 1970) or later; 0 = of any time */
    bool times, sources; /* each line begins with its time, and its source */
    bool follow;   /* goes on until the container has ended */
};

/* What the state directory keeps of an evacuation that was asked for: its limit, by both clocks. */
struct kept_evacuation {
    bool on;               /* false = nothing; to be kept: what is kept is dropped */
    int64_t until_wall_ns; /* never negative, nor the next */
    int64_t until_mono_ns; /* by the monotonic clock of this boot of the machine */
    const char *boot_id;   /* "" = not known: the monotonic clock says nothing to the next rep */
    /* For the rep that is started: the one just before it has kept this, and has not ended it. Of
     * no meaning in an effect. */
    bool handed_on;
};

enum log_level { LOG_DEBUG_LEVEL, LOG_INFO_LEVEL, LOG_WARN_LEVEL, LOG_ERROR_LEVEL };

struct log_line {
    enum log_level level;
    const char *message; /* one short sentence, constant for one cause */
    const char *data;    /* "key=value key=\"two words\"", "" if none */
    bool single; /* tells of a thing of its own, of which there are not many a second: it is not
                    counted together with others of its message before LOG_SINGLES (log_io.h) */
};

struct effect {
    enum effect_kind kind;
    union {
        struct reply reply;
        const char *wake; /* channel */
        struct call call; /* CALL and SUBSCRIBE */
        uint64_t cancel;  /* id of a call or subscription: no more events of it come */
        struct relay relay;
        struct store_request store;
        struct {
            uint64_t id;
            int64_t start_revision; /* first revision wanted */
        } watch;
        uint64_t unwatch; /* no more events of it come */
        struct verb_call verb;
        struct output_request output;
        struct probe probe;
        /* To be kept in the state directory, through restarts: a number above the one that stands
         * there. Answered once, with EVENT_INCARNATION. */
        uint64_t incarnation;
        /* To be kept in the state directory, through restarts, or dropped from it. Answered once,
         * with EVENT_EVACUATION; no second one before that. */
        struct {
            uint64_t id; /* chosen by the role */
            struct kept_evacuation kept;
        } evacuation;
        struct resolve_request resolve;
        struct launch launch;
        struct log_line log;
        struct {
            int code; /* of the process: 0 well, else see text */
            const char *text;
        } exit;
    };
};

struct effects {
    struct arena *arena; /* of the step */
    struct effect *list;
    size_t count;
    size_t capacity;
    int64_t due_ns; /* when the role wants EVENT_TIMER, monotonic; NEVER_NS = no wish */
};

/* Empty, due never; everything is taken from the arena. */
void effects_init(struct effects *out, struct arena *arena);

/* Appends a zeroed effect of this kind and gives it for filling in. Asserts the bound. */
struct effect *effects_add(struct effects *out, enum effect_kind kind);

/* Lowers the due time to `due_ns` if that is earlier. */
void effects_due(struct effects *out, int64_t due_ns);

/* A whole answer. `body` is copied into the arena. */
void effects_reply(struct effects *out, uint64_t request_id, int status, const char *content_type,
                   struct bytes body);

/* An answer of one packed message, application/x-protobuf, status 200. */
void effects_reply_message(struct effects *out, uint64_t request_id, const ProtobufCMessage *m);

/* The answers to a gRPC call: a message, or why there is none. The text is copied into the arena.
 */
void effects_grpc(struct effects *out, uint64_t request_id, const ProtobufCMessage *m);
void effects_grpc_refuse(struct effects *out, uint64_t request_id, enum grpc_status status,
                         const char *text);

/* A POST of one packed message, application/x-protobuf both ways. */
void effects_call_message(struct effects *out, uint64_t call_id, const char *url,
                          const char *trace_id, const ProtobufCMessage *m, int64_t deadline_ns);

/* A log line; the data is printed into the arena. */
void effects_log(struct effects *out, enum log_level level, const char *message,
                 const char *data_format, ...) __attribute__((format(printf, 4, 5)));

/* The same for what happens to one thing and must not go missing among others of its kind. */
void effects_log_single(struct effects *out, enum log_level level, const char *message,
                        const char *data_format, ...) __attribute__((format(printf, 4, 5)));

/* Ends the process with this code; the text, copied, is its last line. */
void effects_exit(struct effects *out, int code, const char *text);
