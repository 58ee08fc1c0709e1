/* A system "shop" for stories: it is created, asked about in JSON through one bbs after the other,
 * and looked at in the store itself. */
#pragma once

#include "test/sim/stories/story.h"
#include "test/sim/world/definitions.h"

struct shop {
    struct cluster *c;
    struct definitions definitions;
    struct arena arena;
    unsigned asked; /* requests so far: each goes to the next bbs */
};

/* Creates it, with the repositories, and waits until it is open. */
void shop_open(struct shop *s, struct cluster *c);
void shop_close(struct shop *s);

/* A request; gives the status. What is said of a body is in JSON, "" = none. `path` is below
 * "/v1/systems". */
int shop_ask(struct shop *s, const char *method, const char *path, const char *body);
/* The same without waiting: *ret_status is -1 until it is answered. */
void shop_send(struct shop *s, const char *method, const char *path, const char *body,
               int *ret_status);

/* A deploy of this id: "version 1.0.0", "path /a", "buildId B", "undo D", "definition TEXT", each
 * with " back" behind it if it is to roll back by itself. A teardown. Each is answered 201. */
void shop_asks(struct shop *s, const char *id, const char *target);
void shop_asks_teardown(struct shop *s, const char *id);
/* pause, resume, abort; 200. */
void shop_change(struct shop *s, const char *id, const char *how);

/* The state of a record of the shop: kind "deploy", "teardown", "build" and an id, "service" and a
 * path, "pool" and path:name, "system" and ""; "" = it is not there. And what it says. In the
 * arena. */
const char *shop_state(struct shop *s, const char *kind, const char *name);
const char *shop_says(struct shop *s, const char *kind, const char *name);

/* Waits until it is so; fails when it is not within two minutes. */
void shop_await(struct shop *s, const char *kind, const char *name, const char *state);

/* Until the deploy or teardown is over; demands that it ended so. */
void shop_ends(struct shop *s, const char *kind, const char *id, const char *state);

/* Who holds what, "D1=/ D2=/a": in the order in which it was taken. */
const char *shop_held(struct shop *s);
/* Until that is so. */
void shop_await_held(struct shop *s, const char *held);

/* The services that stand, with their variants, by path: "/a:1 /b:2". */
const char *shop_services(struct shop *s);
