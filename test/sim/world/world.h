/* The simulated world: drives the very roles that ship, on virtual time, with a model etcd, a model
 * network and model containers, everything drawn from one seed (design.md 3.4). Two runs with the
 * same seed and the same story give the same trace. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/random.h"
#include "common/contract/role.h"

#include <stdbool.h>

enum { WORLD_NODES_MAX = 256, WORLD_STORES_MAX = 16 };

/* How long things take, drawn uniformly from [low, high]. */
struct span {
    int64_t low_ns;
    int64_t high_ns;
};

struct world_options {
    uint64_t seed;
    struct span network;   /* one way between processes; default 0.2 ms */
    struct span store;     /* one way to etcd; default 0.3 ms */
    struct span watch_lag; /* commit to delivery of its watch event; default 0.4 ms */
};

struct world;
struct node;
struct store;
struct cluster;
struct model_etcd;
struct model_containers;

struct world *world_new(const struct world_options *options);
void world_free(struct world *w);

int64_t world_now(const struct world *w);  /* virtual, from 0 */
int64_t world_wall(const struct world *w); /* of a clock that never jumped */
struct random *world_random(struct world *w);

/* An etcd of the world, by its name; made when it is first named. The name is borrowed. */
struct store *world_store(struct world *w, const char *name);
struct model_etcd *store_etcd(struct store *s);

/* A stranger's put, past every role: they hear of it by their watches. */
void store_put(struct store *s, const char *key, struct bytes value);

/* A process. Its role is made again at each start. It is reached under `url`; its certificate names
 * `unit` and `certificate_name`. Containers outlive it. Strings are borrowed. */
struct node_config {
    const char *name;
    const char *unit;
    const char *certificate_name;
    const char *centre_name; /* in its certificate of a centre, of unit "crm"; NULL = it has none */
    const char *url;
    const struct cluster *cluster; /* that it is of; NULL = of none */
    struct store *store;           /* that it speaks to; NULL = to none */
    bool has_containers;
    struct role *(*make)(void *context, unsigned incarnation); /* of this start: 1, 2, ... */
    void *context;
};

/* NULL: there are WORLD_NODES_MAX already. */
struct node *world_add(struct world *w, const struct node_config *config);

void world_start(struct world *w, struct node *n); /* makes its role, delivers EVENT_START */
void world_kill(struct world *w, struct node *n);  /* as kill -9: containers run on */
void world_stop(struct world *w, struct node *n);  /* as SIGTERM */
const char *node_name(const struct node *n);
const struct cluster *node_cluster(const struct node *n);
unsigned node_incarnation(const struct node *n); /* as its state directory has it */

/* What its state directory keeps of an evacuation, for the role that is made. */
struct kept_evacuation node_evacuation(const struct node *n);
const char *node_url(const struct node *n);
bool node_up(const struct node *n);
int64_t node_started_ns(const struct node *n); /* when it was last started; virtual */

/* When a heartbeat of its last life last arrived anywhere; virtual. One that the network sends
 * again arrives when its process may be long dead. */
int64_t node_heard_ns(const struct node *n);
struct role *node_role(struct node *n);
struct model_containers *node_containers(struct node *n);

/* The process of the n-th running container of this node ends by itself; false if there is none. */
bool world_end_container(struct world *w, struct node *n, int which, int exit_code);

/* The same of a step of a container; `lost`: nobody has seen how. */
bool world_end_step(struct world *w, struct node *n, const char *guid, uint32_t step, int exit_code,
                    bool lost);

/* As kill -9 in the middle of its next step: only the first `effects` effects of it are done. */
void world_kill_within(struct world *w, struct node *n, unsigned effects);

/* As kill -9 right after the next step in which it asks for moves: what it asks comes `late_ns`
 * later, when its successor may be at work, and nobody closes its connections. 0: not any more. */
void world_kill_asking(struct world *w, struct node *n, int64_t late_ns);

/* As a machine that falls: its containers end with it, or are not even known any more when it is
 * back, and its monotonic clock begins again. Only while its process is down. */
void world_reboot(struct world *w, struct node *n, bool gone);
unsigned node_boots(const struct node *n); /* how often */
/* What its machine's monotonic clock says: its process, its driver and its containers go by that
 * one alone. */
int64_t node_mono_ns(const struct node *n);

/* As SIGSTOP and SIGCONT: what happens to a paused process waits, and comes late and in order. */
void world_pause(struct world *w, struct node *n);
void world_wake(struct world *w, struct node *n);
bool node_paused(const struct node *n);

/* The wall clock of this process jumps; its monotonic clock does not. */
void world_jump_clock(struct world *w, struct node *n, int64_t by_ns);
void world_set_clock(struct world *w, struct node *n); /* right again */

/* Cuts or heals one direction: what `from` sends to `to`, answers included. NULL = the store that
 * the other one speaks to. */
void world_cut(struct world *w, struct node *from, struct node *to, bool cut);

/* What befalls calls by chance, of a thousand each; 0 = never, the default. */
struct world_faults {
    unsigned request_lost; /* between processes */
    unsigned answer_lost;
    unsigned doubled;      /* a request arrives twice; the second answer goes nowhere */
    struct span doubled_by; /* so much later than it was sent, at least; {0} = as any */
    unsigned late;         /* a request or an answer takes late_by longer */
    unsigned torn;         /* a piece of a stream comes in two, each on its way for itself */
    unsigned store_request_lost; /* to etcd: the outcome is unknown, nothing lands */
    unsigned store_answer_lost;  /* it lands, the outcome is unknown */
    unsigned store_late;         /* it lands late_by later, maybe after its deadline */
    struct span late_by;
};
void world_faults(struct world *w, const struct world_faults *faults);

/* The watch of this process breaks; or is told nothing until it flows again. */
void world_break_watch(struct world *w, struct node *n);
void world_stall_watch(struct world *w, struct node *n, bool stalled);

/* What etcd 3.4's watches have done (design.md 2), all without an error: of a revision that comes
 * next and has what it takes. */
enum watch_slip {
    SLIP_NONE,
    SLIP_REVISION, /* it is left out */
    SLIP_CHANGE,   /* a record's change is left out, not the cause, which names it */
    SLIP_SILENT,   /* one of several records' changes is left out, and the cause, too */
    SLIP_REPEAT,   /* a record's change is told twice */
};
void world_slip_watch(struct world *w, struct node *n, enum watch_slip slip);

/* Whether it still awaits its revision. */
bool world_slip_waits(const struct node *n);

/* Every connection there is breaks: calls, streams and watches. */
void world_break_connections(struct world *w);

/* Its disk is full: writes are refused until it is not, and the alarm is off again. */
void store_fill(struct store *s, bool full);

/* It forgets its history up to now. */
void store_compact(struct store *s);

/* It is not there for so long: all connections to it break, and what is under way is lost in both
 * directions. What is sent meanwhile lands when it serves again. */
void store_down(struct store *s, int64_t down_ns);

/* The same, and then it is as a snapshot has it that was taken at `revision`. */
void store_restore(struct store *s, int64_t revision, int64_t down_ns);

/* It has a new leader: calls wait for `duration_ns`, and land then. */
void store_elect(struct store *s, int64_t duration_ns);

/* A transaction that changed something. Its sender decided it at some time from `decided_ns` to
 * `sent_ns`: long before it was sent only if it had to be sent again. */
struct world_commit {
    struct node *by; /* may have died meanwhile */
    const Etcd__TxnRequest *txn;
    int64_t decided_ns, sent_ns;
    int64_t clock_ahead_ns; /* of the sender's wall clock, at most, from `decided_ns` on */
};

struct world_answer {
    struct node *from, *by;
    const char *path;
    int64_t arrived_revision; /* that of the store of `by` when the request arrived */
    int status;
    struct bytes request, body;
};

/* Who looks on. Must not step the world. */
struct world_observer {
    void (*committed)(void *context, const struct world_commit *commit);
    /* One of our processes asks another. */
    void (*asked)(void *context, struct node *from, const struct call *call);
    /* A request of one of our processes was answered; the bodies are borrowed. */
    void (*answered)(void *context, const struct world_answer *answer);
    /* A stream that a process of ours asked for (its call) begins: the head of the answer is sent.
     */
    void (*streamed)(void *context, struct node *from, uint64_t call_id, int64_t arrived_revision);
    /* A rep asks its driver for this. */
    void (*verb)(void *context, struct node *n, const struct verb_call *call);
    void (*logged)(void *context, struct node *n, const struct log_line *line);
    /* A rep hears what became of its probe. */
    void (*probed)(void *context, struct node *n, const struct probe *probe,
                   const struct probed *end);
    /* A rep hears what became of a program of a monitor. */
    void (*executed)(void *context, struct node *n, const struct verb_answer *answer);
    void *context;
};
void world_observe(struct world *w, const struct world_observer *observer);

/* What a process hears may be changed first: each event before it is handed over, in place; what it
 * is given instead lives in the arena of the step. For fuzzing: whoever speaks to it may say
 * anything. A call to a URL that nobody has is then refused, and no mistake of the caller. */
typedef void world_bending(void *context, struct node *n, struct event *ev, struct arena *a);
void world_bend(struct world *w, world_bending *bend, void *context);

/* A request to a URL that no process of ours has: to a server of a user's (struct call, outside).
 * What it makes of it; nobody plays it: it refuses. An answer with a location is a redirect. */
struct world_outside_request {
    struct node *from;
    const char *method, *url;
    struct bytes body;
};

enum world_outside_how {
    OUTSIDE_ANSWERS, /* `status` */
    OUTSIDE_REFUSES, /* it has not heard it */
    OUTSIDE_CLOSES,  /* the connection, without an answer */
    OUTSIDE_SILENT,  /* for ever */
};

struct world_outside_answer {
    enum world_outside_how how;
    int status;
    int64_t after_ns;
    const char *location; /* NULL = no redirect */
};

typedef struct world_outside_answer world_outside_server(
    void *context, const struct world_outside_request *request);
void world_serve_outside(struct world *w, world_outside_server *serve, void *context);

/* Whoever plays the repositories that definitions are read of (test/sim/model/repositories.h is
 * one): it makes the answer to a request, in the arena. Nobody plays them: each is refused. */
typedef struct resolved world_resolve(void *context, struct node *from,
                                      const struct resolve_request *request, struct arena *a);
void world_serve_definitions(struct world *w, world_resolve *resolve, void *context);

/* A program of the operator's that a process launches (struct launch), as whoever plays it says. A
 * program is a process of its own: what it does is done also when its parent is killed meanwhile;
 * a parent that ends in order has killed it before. */
struct world_program {
    /* What it does to the world, `does_ns` after it began; NULL = nothing. */
    void (*does)(void *context, struct node *from, const struct launch *launch);
    void *context;
    int64_t does_ns;
    int64_t ends_ns;  /* after it began; from LAUNCH_TIME_S on its parent has killed it by then */
    int status;       /* 0 = well */
    const char *line; /* its last one; NULL = it says nothing */
};

/* Nobody plays them: there is no such program. */
typedef struct world_program world_programs(void *context, struct node *from,
                                            const struct launch *launch);
void world_serve_programs(struct world *w, world_programs *programs, void *context);

/* Runs the next thing that is due at or before `until_ns`: false if there is none, and the clock
 * then stands at `until_ns`. */
bool world_step(struct world *w, int64_t until_ns);
void world_run(struct world *w, int64_t duration_ns);

/* Runs until `done` says so; false when that is not the case within `limit_ns`. */
bool world_run_until(struct world *w, int64_t limit_ns, bool (*done)(void *context), void *context);

/* A call of an ordinary client; `answered` is called once with what came, or with status 0 when
 * nothing came within `limit_ns`. A path of models.Locket is a gRPC call: status 200 with the
 * message, or minus its grpc-status with its text as the body. */
typedef void world_answered(void *context, int status, struct bytes body);
void world_send(struct world *w, const char *url, const char *path, const ProtobufCMessage *m,
                int64_t limit_ns, world_answered *answered, void *context);

/* The same with a trace id (X-Vcap-Request-Id), which the board keeps in its causes. */
void world_send_traced(struct world *w, const char *url, const char *path, const char *trace_id,
                       const ProtobufCMessage *m, int64_t limit_ns, world_answered *answered,
                       void *context);

/* The same for a request of any shape by a caller of any kind: bodies that are no message, roles
 * that the world does not hold. */
struct world_request {
    const char *method, *path; /* the path may carry a query */
    struct peer peer;
    bool admin; /* at the listener for the machine's own tools */
    bool tools; /* at the socket that hooks of units reach */
    const char *content_type, *accept, *trace_id;
    struct bytes body;
};
void world_send_request(struct world *w, const char *url, const struct world_request *q,
                        int64_t limit_ns, world_answered *answered, void *context);

/* world_send, running the world until it is answered. Gives the status; the body is appended to
 * *ret_body (may be NULL). */
int world_call(struct world *w, const char *url, const char *path, const ProtobufCMessage *m,
               int64_t limit_ns, struct buf *ret_body);

/* The trace so far: lines "   12.345 bbs-1  put actual web/0 CLAIMED cell-1". */
const char *world_trace(struct world *w);
void world_note(struct world *w, const char *who, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A paragraph of whoever tells the story, between the lines. */
void world_tell(struct world *w, const char *text);

/* Whether calls between processes, but heartbeats, and PREPARE go to the trace as well. */
void world_trace_calls(struct world *w, bool on);

/* Whether the lines of roles' logs go to the trace as well. */
void world_trace_logs(struct world *w, bool on);
