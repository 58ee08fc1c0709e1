/* A centre and its sites in one simulated world (docs/edge.md): each site is a whole cluster with
 * an etcd of its own, and one or two CRMs as they ship. Sites are acme/paris, acme/rome, acme/oslo
 * and acme/bern; a site's processes are called so: bbs-1.paris, cell-1.paris, crm-1.paris. What a
 * client asks of the centre goes by the centre's own routes; readers look into the stores. */
#pragma once

#include "edge_api.pb-c.h"
#include "test/sim/world/cluster.h"

enum { FEDERATION_SITES_MAX = 4, FEDERATION_CRMS_MAX = 3 };

/* What a client asks for waits for its answer so long. */
#define FEDERATION_CALL_NS (10 * SECOND_NS)

struct federation_site;

/* One CRM. What is changed here holds from its next start. */
struct federation_crm {
    struct federation_site *site;
    struct node *node;
    const char *version;
    const char *launch; /* NULL = it has none */
    bool wanted;        /* federation_tend() starts it when it has ended: as a supervisor would */
};

struct federation_site {
    struct federation *federation;
    const char *name;     /* "paris" */
    const char *cloudlet; /* "acme/paris" */
    struct cluster *cluster;
    struct federation_crm crms[FEDERATION_CRMS_MAX];
    unsigned crm_count;
    const char *boards; /* of its bbs */
    bool cut;           /* from the centre */
};

struct federation {
    struct cluster *centre;
    struct federation_site sites[FEDERATION_SITES_MAX];
    unsigned site_count;
    const char *centres; /* its bbs */
    struct arena arena;  /* whatever readers give, until federation_done() */
    char *refusal;       /* of the last call that was refused, in the arena; "" = it was not */
};

struct federation_options {
    unsigned sites;              /* 0 = 1 */
    unsigned crms;               /* of each, to begin with; 0 = 1 */
    const char *version;         /* of these; NULL = "1.0" */
    struct cluster_options site; /* of each; one without cells: as the centre, with 2 cells */
};

/* Adds sites to a cluster, which is the centre; their clusters are ready then, and no CRM is
 * started. They are freed with the centre. */
void federation_init(struct federation *f, struct cluster *centre,
                     const struct federation_options *options);
void federation_done(struct federation *f); /* the arena alone */

/* ---- CRMs ------------------------------------------------------------------------------------ */

/* Another CRM of a site, not started. It is called crm-<n>.<site>. */
struct federation_crm *federation_add_crm(struct federation_site *s, const char *version);
void federation_start_crm(struct federation_crm *c); /* and it is wanted from now on */
void federation_kill_crm(struct federation_crm *c);  /* as kill -9, and it is not wanted */
/* Starts each CRM that is wanted and has ended by itself. */
void federation_tend(struct federation *f);
/* world_run(), with CRMs tended each second. */
void federation_run(struct federation *f, int64_t duration_ns);
/* The one that leads at the site, by lead/site of its store; NULL = none does. */
struct federation_crm *federation_leading_crm(struct federation_site *s);

/* ---- The link, and a site that is slow ------------------------------------------------------- */

/* All CRMs of the site, both ways. One that is added later is cut off as the others are. */
void federation_cut(struct federation_site *s, bool cut);
/* The site's bbs stand still, as by SIGSTOP: whoever asks them waits. */
void federation_pause_site(struct federation_site *s, bool paused);
/* The site's cells stand still: what is desired there does not come to run, and what is to go stays
 * until they are woken, or are lost. */
void federation_pause_cells(struct federation_site *s, bool paused);
/* Each cell of the site refuses so many starts of containers from now on. */
void federation_refuse_starts(struct federation_site *s, unsigned count);

/* ---- A client of the centre ------------------------------------------------------------------ */

/* Each of these gives the error type of the answer, 0 = done, -1 = none came; f->refusal is its
 * text. They ask the first bbs of the centre that is up. An empty override is NONE. */

/* POST /v1/edge/<noun>/<verb> about `name`, with what is said of it; NULL = nothing. */
int federation_ask(struct federation *f, const char *noun, const char *verb, const char *name,
                   const Board__EdgeMove *says);
/* The same without waiting; `answered` (NULL = nobody) hears of it once. */
void federation_send(struct federation *f, const char *noun, const char *verb, const char *name,
                     const Board__EdgeMove *says, world_answered *answered, void *context);
/* What is to be said, in the arena: all empty but the override. */
Board__EdgeMove *federation_says(struct federation *f, Board__EdgeOperation__Override override);

/* A flavor of so many times what an instance of cluster_desire() takes. */
int federation_flavor(struct federation *f, const char *name, unsigned times);
int federation_remove(struct federation *f, const char *noun, const char *name);

struct federation_app {
    const char *name; /* "dev/shop/1.0" */
    const char *flavor;
    const char *text; /* told apart by it: another text is another revision; NULL = "" */
    uint32_t port;    /* public, TCP; 0 = none */
    bool scale_with_cluster, auto_delete;
};
int federation_app(struct federation *f, const struct federation_app *app);

int federation_create_cloudlet(struct federation_site *s);
int federation_maintain(struct federation_site *s, const char *verb); /* start, ..., end */
int federation_upgrade(struct federation_site *s, const char *version);

struct federation_cluster {
    const char *name;   /* "acme/paris/dev/web" */
    const char *flavor; /* NULL = of an update: as it is */
    unsigned nodes;
    bool dedicated, reservable;
    Board__EdgeOperation__Override override;
};
Board__EdgeMove *federation_says_cluster(struct federation *f, const struct federation_cluster *c);
int federation_create_cluster(struct federation *f, const struct federation_cluster *c);
int federation_update_cluster(struct federation *f, const struct federation_cluster *c);

struct federation_instance {
    const char *name;   /* "acme/paris/dev/web/dev/shop/1.0" */
    const char *flavor; /* NULL = the app's */
    const char *colour; /* an environment variable: another one is another spec; NULL = none */
    Board__EdgeOperation__Override override;
};
Board__EdgeMove *federation_says_instance(struct federation *f,
                                          const struct federation_instance *i);
int federation_create_instance(struct federation *f, const struct federation_instance *i);
int federation_update_instance(struct federation *f, const struct federation_instance *i);
int federation_refresh_instance(struct federation *f, const char *name, bool force);

/* A cloudlet, a cluster or an instance, as its name has two, four or seven parts. */
int federation_delete(struct federation *f, const char *name,
                      Board__EdgeOperation__Override override);

/* ---- What the centre's store holds ----------------------------------------------------------- */

/* Of a cloudlet, a cluster or an instance. Of what is not there all texts are "". */
struct federation_object {
    bool exists;
    const char *state, *uid, *digest, *former_digest;
    uint64_t request;
    const char *word, *error; /* of its operation */
    Board__EdgeOperation__Override override;
    bool overdue, restored;
    int64_t deadline;
    const char *health;       /* that was reported; of a cloudlet "" */
    const char *real_cluster; /* of an instance */
    uint32_t running;         /* that was reported */
    uint64_t revision;        /* of an instance: of its app */
    uint32_t instances;       /* of an instance: how many are wanted */
};
struct federation_object federation_object(struct federation *f, const char *name);
const char *federation_state(struct federation *f, const char *name); /* "" = it is not there */
bool federation_is(struct federation *f, const char *name, const char *state); /* the same */
/* The state of the cloudlet's info ("READY", "OFFLINE", ...), and of its maintenance. */
const char *federation_info_state(struct federation_site *s);
const char *federation_maintenance_state(struct federation_site *s);
uint64_t federation_session(struct federation_site *s);

/* How many lines of the progress of this uid have this text in them, and its end ("" = none). */
int federation_progress(struct federation *f, const char *uid, const char *text);
const char *federation_progress_end(struct federation *f, const char *uid);

/* Runs until the object is in this state ("" = it is gone); false if it is not within the limit. */
bool federation_await(struct federation *f, const char *name, const char *state, int64_t limit_ns);
bool federation_await_info(struct federation_site *s, const char *state, int64_t limit_ns);

/* ---- What a site's store holds --------------------------------------------------------------- */

/* Of a uid; "" = of all. */
struct federation_held {
    int slices, definitions; /* slice/... and desired/... */
    int instances;           /* ORDINARY actual/... of these definitions */
    int running;
    const char *digest; /* of its only slice, or its only definition; "" = none, or several */
};
struct federation_held federation_held(struct federation_site *s, const char *uid);
/* Of one definition of an instance, by its digest: how many RUNNING. */
int federation_running(struct federation_site *s, const char *uid, const char *digest);
