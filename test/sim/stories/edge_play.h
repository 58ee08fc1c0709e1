/* What stories of a centre and its sites have in common (world/federation.h): a cloudlet acme/paris
 * that is READY, a cluster of two nodes there, and an app that runs in it. */
#pragma once

#include "test/sim/stories/story.h"
#include "test/sim/world/federation.h"

#include <string.h>

#define PARIS "acme/paris"
#define WEB "acme/paris/dev/web"
#define SHOP "acme/paris/dev/web/dev/shop/1.0"
#define APP "dev/shop/1.0"

/* What is to come about takes less than this, a CRM's back-off included. */
#define EDGE_SETTLE_NS (60 * SECOND_NS)

struct edge_play {
    struct federation f;
    struct federation_site *paris; /* the first site */
    int64_t empty_revision;        /* of its store, before its CRM has come */
};

/* The sites, whose cloudlets are made at the centre, and become READY; and a flavor "small". */
void edge_begin(struct edge_play *x, struct cluster *c, const struct federation_options *options);
void edge_end(struct edge_play *x);

/* What a client asked for was done; or it was refused, with this in the text. */
void edge_done(struct edge_play *x, int result);
void edge_refused(struct edge_play *x, int result, const char *text);

int edge_create_cluster(struct edge_play *x, const char *name, unsigned nodes);
int edge_create_instance(struct edge_play *x, const char *name);

/* WEB, of two nodes, is READY. */
void edge_with_web(struct edge_play *x);
/* The same, and SHOP in it, an instance a node, which goes with its cluster. */
void edge_with_shop(struct edge_play *x);

/* The object gets to this state ("" = gone), or the story fails. */
void edge_await(struct edge_play *x, const char *name, const char *state);
void edge_await_within(struct edge_play *x, const char *name, const char *state, int64_t limit_ns);

/* Nothing of the centre is left at the site. */
void edge_holds_nothing(struct edge_play *x);
/* Nothing changes in the next 10 s: what the record says is at the site, once. */
void edge_settled(struct edge_play *x);

/* SHOP's app, told apart by its text. */
void edge_apply_shop(struct edge_play *x, const char *text);
/* The text of SHOP's app changes, and SHOP is refreshed to it. */
int edge_refresh_shop(struct edge_play *x, const char *text);

/* Runs, an event at a time, until the object is in this state: true; or until a request above
 * `request` has come to its end, READY or gone, without that. Fails after EDGE_SETTLE_NS. */
bool edge_catch(struct edge_play *x, const char *name, const char *state, uint64_t request,
                const char *end);

/* The site holds of SHOP just its record's digest, and all of it runs. */
void edge_shop_runs(struct edge_play *x);
