/* What tests of the HTTP server share: the echo role behind it in a process of its own,
 * certificates, one client, and the numbers that the server tells of itself. Each function fails
 * the test when what it does is not possible. */
#pragma once

#include "test/tool/certs.h"
#include "test/tool/echo_role.h"
#include "test/tool/echo_server.h"
#include "test/tool/tls_client.h"

/* Of the whole program, from echo_rig_setup() on: a CA, and what it has signed. */
struct echo_tls {
    struct certs certs;
    struct tls_files server, client; /* the client is a rep, "cell-1" */
};
extern struct echo_tls echo_tls;

/* The set-up and the end of a group of tests, for cmocka. */
int echo_rig_setup(void **state);
int echo_rig_teardown(void **state);

/* What most tests need: a server, one client, a place for answers. */
struct echo_rig {
    struct echo_server server;
    struct tls_client client;
    struct buf head, body;
};

/* A server with short times. */
struct http_server_config echo_quick(void);

/* Starts a server and connects the client. echo_end() fails unless the server ended well. */
void echo_begin(struct echo_rig *w);
void echo_begin_with(struct echo_rig *w, const struct http_server_config *config);
void echo_end(struct echo_rig *w);

/* Connects another client; and the rig's own once more. On a slow machine the short times of some
 * servers end a connection before it is used: both try until it stands. */
void echo_connect(struct echo_rig *w, struct tls_client *c);
void echo_again(struct echo_rig *w);

/* A request on the client's connection, its answer's body in `body`. Gives the status, 0 = none. */
int echo_ask(struct echo_rig *w, const char *method, const char *target, const char *data);
/* The same on a connection of its own, again until it was answered. */
int echo_ask_again(struct echo_rig *w, const char *method, const char *target, const char *data);

/* Asks on a connection of its own for a number that stands behind NAME= in /counts or /stats. */
long echo_number(struct echo_rig *w, const char *target, const char *name);
/* Waits (bounded) until it has this value. */
void echo_becomes(struct echo_rig *w, const char *target, const char *name, long value);
