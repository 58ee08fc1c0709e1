#include "rep/container/health_note.h"

#include "rep/container/health.h"
#include "rep/steps/tree.h"

#include <stdint.h>

#define CHECK_SOURCE_OF_NOBODY "HEALTH"

static int64_t bounded_ms(uint64_t ms)
{
    return ms < (uint64_t)HEALTH_TIME_MOST_MS ? (int64_t)ms : HEALTH_TIME_MOST_MS;
}

/* With "/" before it, as a URL needs it. */
static char *path_of(struct arena *a, const char *path)
{
    return (char *)(uintptr_t)(path[0] == '/' ? path : arena_printf(a, "/%s", path));
}

static int check_of(struct arena *a, const Models__Check *from, bool readiness, Rep__Check *to,
                    struct err *err)
{
    rep__check__init(to);
    to->readiness = readiness;
    if (from->http_check) {
        to->kind = REP__CHECK__KIND__HTTP;
        to->port = from->http_check->port;
        to->path = path_of(a, from->http_check->path);
        to->timeout_ms = bounded_ms(from->http_check->request_timeout_ms);
        to->interval_ms = bounded_ms(from->http_check->interval_ms);
    } else if (from->tcp_check) {
        to->kind = REP__CHECK__KIND__TCP;
        to->port = from->tcp_check->port;
        to->timeout_ms = bounded_ms(from->tcp_check->connect_timeout_ms);
        to->interval_ms = bounded_ms(from->tcp_check->interval_ms);
    } else {
        return err_set(err, ERR_INVALID, "a check of the definition is neither HTTP nor TCP");
    }
    return 0;
}

static int add_all(struct arena *a, Rep__Health *health, Models__Check *const *list, size_t count,
                   bool readiness, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (health->n_checks == HEALTH_CHECKS_MAX) {
            return err_set(err, ERR_TOO_LARGE, "the definition has more than %d checks",
                           HEALTH_CHECKS_MAX);
        }
        Rep__Check *check = ARENA_NEW(a, Rep__Check);
        int code = check_of(a, list[i], readiness, check, err);
        if (code < 0) {
            return code;
        }
        health->checks[health->n_checks++] = check;
    }
    return 0;
}

static void add_monitor(struct arena *a, Rep__Health *health)
{
    Rep__Check *check = ARENA_NEW(a, Rep__Check);
    rep__check__init(check);
    check->kind = REP__CHECK__KIND__MONITOR;
    health->checks[health->n_checks++] = check;
}

int health_make(struct arena *a, const Models__DesiredLRP *lrp, Rep__Health **ret,
                struct err *err)
{
    const Models__CheckDefinition *d = lrp->check_definition;
    const struct tree_parts parts = tree_parts_of(a, lrp);
    Rep__Health *health = ARENA_NEW(a, Rep__Health);
    rep__health__init(health);
    health->checks = ARENA_ARRAY(a, HEALTH_CHECKS_MAX + 1, Rep__Check *);
    int code = d ? add_all(a, health, d->checks, d->n_checks, false, err) : 0;
    if (code == 0 && parts.monitor) {
        add_monitor(a, health);
    }
    if (code == 0 && d) {
        code = add_all(a, health, d->readiness_checks, d->n_readiness_checks, true, err);
    }
    int64_t start_ms = lrp->start_timeout_ms;
    health->start_timeout_ms = start_ms > 0 ? bounded_ms((uint64_t)start_ms) : 0;
    health->log_source = (char *)(uintptr_t)tree_source("", &parts);
    health->check_source = d && d->log_source[0] ? d->log_source : (char *)CHECK_SOURCE_OF_NOBODY;
    *ret = code == 0 && health->n_checks > 0 ? health : NULL;
    return code;
}

static bool is_sound(const Rep__Note *note, const Rep__Check *c)
{
    switch (c->kind) {
    case REP__CHECK__KIND__HTTP:
        return c->path[0] == '/' && c->port > 0 && c->port <= UINT16_MAX;
    case REP__CHECK__KIND__TCP:
        return c->port > 0 && c->port <= UINT16_MAX;
    case REP__CHECK__KIND__MONITOR:
        return !c->readiness && note->n_monitor > 0;
    default:
        return false;
    }
}

int health_check(const Rep__Note *note, struct err *err)
{
    const Rep__Health *h = note->health;
    bool sound = !h || (h->n_checks > 0 && h->n_checks <= HEALTH_CHECKS_MAX + 1 && note->key &&
                        h->start_timeout_ms >= 0 && h->start_timeout_ms <= HEALTH_TIME_MOST_MS);
    size_t monitors = 0;
    for (size_t i = 0; sound && h && i < h->n_checks; i++) {
        monitors += h->checks[i]->kind == REP__CHECK__KIND__MONITOR;
        sound = is_sound(note, h->checks[i]) && monitors <= 1;
    }
    return sound ? 0 : err_set(err, ERR_INVALID, "the checks in the note are no instance's");
}
