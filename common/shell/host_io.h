/* The host: drives one role in the real world. It turns sockets, timers, signals, etcd and
 * containers into events, and carries out the effects with libevent, libcurl and a driver. */
#pragma once

#include "common/base/err.h"
#include "common/contract/role.h"

#include <stdbool.h>
#include <stddef.h>

struct event_base;

/* Files of this process's identity; all PEM. */
struct tls_files {
    const char *ca;
    const char *cert;
    const char *key;
};

struct host;
struct driver_shell;

#define TOOLS_SOCKET "rep"

struct host_config {
    const char *name;        /* process in log lines: "bbs-1" */
    const char *listen;      /* "127.0.0.1:8889"; NULL = no HTTPS server */
    const char *grpc;        /* "127.0.0.1:8891"; NULL = no gRPC server */
    const char *admin; /* a second HTTPS server, "127.0.0.1:1800": request.admin; NULL = none */
    const char *tools; /* a directory, where programs of containers reach it on the unix socket
                        * TOOLS_SOCKET: request.tools; NULL = nowhere */
    const char *health;      /* "127.0.0.1:8890" plain; answers 200 to anything; NULL = none */
    int stall_ms; /* then a reader that takes nothing is freed; 0 = HTTP_STALL_MS */
    struct tls_files tls;    /* of the server and of calls to peers */
    struct tls_files centre_tls; /* of calls as IDENTITY_CENTRE; no CA = it has no centre */
    const char *etcd;        /* "https://host:port,..."; NULL = this role has no store */
    struct tls_files etcd_tls;
    /* The container driver's shell; NULL = this role has no containers. Answers come back through
     * host_deliver(). */
    struct driver_shell *(*driver_new)(void *config, struct host *host, struct err *err);
    void *driver_config;
    /* Descriptors that the driver may come to hold: no connections take them. */
    unsigned driver_files;
    /* Reads definitions; NULL = this process has none: EFFECT_RESOLVE is answered with the fault
     * `no_resolver`. */
    struct resolver_shell *(*resolver_new)(void *config, struct host *host, struct err *err);
    void *resolver_config;
    const char *no_resolver; /* why; never NULL of a role that asks and has none */
    /* Makes an incarnation durable; NULL = this role has none. Blocks for as long as the disk
     * takes: it is asked once in the life of a loss. */
    int (*incarnation_keep)(void *owner, uint64_t incarnation, struct err *err);
    /* The same for what is to outlive the rep of an evacuation; NULL = this role has none. */
    int (*evacuation_keep)(void *owner, const struct kept_evacuation *kept, struct err *err);
    void *state_owner; /* of both */
    enum log_level log_level;
};

/* What a driver shell implements (rep/driver). */
struct driver_shell {
    const struct driver_shell_ops *ops;
};

struct driver_shell_ops {
    void (*call)(struct driver_shell *d, const struct verb_call *call); /* borrows `call` */
    void (*free)(struct driver_shell *d);                               /* containers run on */
    /* Answered once by host_reply(), now or later; the cursor outlives the driver. Borrows
     * `wanted`. */
    void (*output)(struct driver_shell *d, const struct output_request *wanted);
};

/* What reads definitions implements (converger/resolver). */
struct resolver_shell {
    const struct resolver_shell_ops *ops;
};

struct resolver_shell_ops {
    /* Borrows the request. Answered once by EVENT_RESOLVED through host_deliver(), never from
     * inside. */
    void (*resolve)(struct resolver_shell *s, const struct resolve_request *request);
    void (*free)(struct resolver_shell *s); /* ends what is open, untold */
};

/* Runs until EFFECT_EXIT; gives its code as the process's exit status. Errors before the first
 * event (port in use, unreadable certificate) are reported in `err` and give -code. The role stays
 * the caller's, to be freed after this. SIGTERM and SIGINT give EVENT_STOP, a second one ends at
 * once (128 + its number). Answers under way at EFFECT_EXIT get a second to arrive. */
int host_run(struct role *role, const struct host_config *config, struct err *err);

/* For shells that live in the host's loop: the loop, and the way in for their events. `ev` needs
 * kind and payload; the host adds time and entropy. Steps never nest: delivered inside a step it
 * waits. */
struct event_base *host_loop(struct host *h);
void host_deliver(struct host *h, const struct event *ev);

/* As EFFECT_REPLY, for requests that a role handed to a shell. */
void host_reply(struct host *h, const struct reply *reply);

/* As EFFECT_WAKE, for cursors of a shell's own. */
void host_wake(struct host *h, const char *channel);
