/* Many CRMs in one process, each as it ships: the real role, with a certificate and connections of
 * its own to a real centre. Its site is a board in memory (site_board.h), so that what a centre
 * takes is measured and not what a thousand clusters beside it take. A small host for many roles:
 * each has a timer, a queue of events and an HTTP client; steps never nest. */
#pragma once

struct sites;
struct event_base;

struct sites_config {
    struct event_base *loop;
    const char *centres; /* "https://127.0.0.1:8889,..." */
    const char *ca;      /* file of the centre's CA */
    /* Called when the number of CRMs whose session is READY and whose feed has caught up has
     * changed, and when one has ended. */
    void (*on_change)(void *context);
    void *context;
};

struct sites *sites_new(const struct sites_config *config);
void sites_free(struct sites *s);

/* Starts one more; it is cloudlet "acme/s<number>", numbered from 0. Its files are read
 * at each connection. */
void sites_add(struct sites *s, const char *cert, const char *key);

/* As when each CRM is stopped and started at its site; -1 = all of them. */
void sites_restart(struct sites *s, int number);

/* Each connection to a centre is shut down, as by a box in between that has forgotten all; gives
 * their number. */
int sites_break(struct sites *s);

int sites_count(const struct sites *s);
int sites_ready(const struct sites *s);
int sites_ended(const struct sites *s);
/* Warnings and errors that CRMs have logged; the first few are told on stderr. */
long sites_warnings(const struct sites *s);
