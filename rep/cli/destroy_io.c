#include "rep/cli/destroy_io.h"

#include <event2/event.h>
#include <stdlib.h>
#include <time.h>

#include "common/contract/moment.h"
#include "rep/driver/output_parts.h"

enum { LIST_ID = 1, FIRST_REMOVE_ID = 2 };

struct destroy {
    struct event_base *loop;
    struct driver_shell *driver;
    int64_t deadline_ns;
    size_t open;    /* removals without answer */
    int removed;
    bool listed;
    struct err *err; /* the first failure */
    int status;
};

static int64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static void remove_all(struct destroy *d, const struct verb_answer *list)
{
    for (size_t i = 0; i < list->container_count; i++) {
        d->driver->ops->call(d->driver, &(struct verb_call){.id = FIRST_REMOVE_ID + i,
                                                            .verb = VERB_REMOVE,
                                                            .guid = list->containers[i].guid,
                                                            .deadline_ns = d->deadline_ns});
        d->open++;
    }
}

static void on_event(void *owner, const struct event *ev)
{
    struct destroy *d = owner;
    if (ev->kind != EVENT_VERB) {
        return;
    }
    const struct verb_answer *a = &ev->verb;
    if (a->outcome != VERB_DONE && d->status == 0) {
        d->status = err_set(d->err, ERR_IO, "%s %s: %s", a->guid ? "cannot remove" : "cannot list",
                            a->guid ? a->guid : "the containers", a->text);
    }
    if (a->id == LIST_ID) {
        d->listed = true;
        remove_all(d, a);
    } else {
        d->open--;
        d->removed += a->outcome == VERB_DONE;
    }
    if (d->listed && d->open == 0) {
        event_base_loopbreak(d->loop);
    }
}

int rep_destroy(const struct driver_config *config, int64_t limit_ns, struct err *err)
{
    struct destroy d = {.err = err, .deadline_ns = monotonic_ns() + limit_ns};
    d.loop = event_base_new();
    if (!d.loop) {
        return err_set(err, ERR_IO, "cannot make an event loop");
    }
    struct driver_owner owner = {.context = &d, .deliver = on_event};
    d.driver = driver_open(config, d.loop, &owner, err);
    if (!d.driver) {
        event_base_free(d.loop);
        return -(int)err->code;
    }
    d.driver->ops->call(
        d.driver,
        &(struct verb_call){.id = LIST_ID, .verb = VERB_LIST, .deadline_ns = d.deadline_ns});
    event_base_loop(d.loop, EVLOOP_NO_EXIT_ON_EMPTY);
    if (d.status == 0) {
        d.status = driver_unmake(d.driver, err);
    }
    d.driver->ops->free(d.driver);
    event_base_free(d.loop);
    if (d.status == 0) {
        SCOPED_ARENA(a);
        kept_clear(arena_printf(&a, "%s/kept", config->state_dir));
    }
    return d.status < 0 ? d.status : d.removed;
}
