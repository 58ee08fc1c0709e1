#include "common/client/duty.h"

void duty_init(struct duty *d, struct leader *leader)
{
    *d = (struct duty){.leader = leader, .stop_ns = NEVER_NS};
}

void duty_refuse(struct duty *d, const struct err *why)
{
    d->unusable = true;
    d->unusable_why = *why;
}

static void end(struct duty *d, int code, const char *text, struct effects *out)
{
    d->ended = true;
    effects_exit(out, code, text);
}

bool duty_begin(struct duty *d, struct effects *out)
{
    if (d->unusable && !d->ended) {
        end(d, DUTY_EXIT_USAGE, d->unusable_why.text, out);
    }
    return !d->ended;
}

enum leader_change duty_lead(struct duty *d, const struct event *ev, struct effects *out)
{
    struct leader *l = d->leader;
    if (ev->kind == EVENT_STOP && d->stop_ns == NEVER_NS) {
        d->stop_ns = ev->now.mono_ns + DUTY_STOP_WAIT_NS;
        leader_stop(l, ev, out);
    }
    enum leader_change change = leader_step(l, ev, out);
    if (change == LEADER_ELECTED) {
        effects_log(out, LOG_INFO_LEVEL, "leads", "term=%lld epoch=%s", (long long)l->term,
                    l->epoch);
    } else if (change == LEADER_DEPOSED) {
        effects_log(out, LOG_WARN_LEVEL, "leads no more", "id=%s", l->id);
    }
    return change;
}

void duty_end(struct duty *d, const struct event *ev, struct effects *out)
{
    if (d->stop_ns == NEVER_NS) {
        return;
    }
    if (leader_stopped(d->leader) || ev->now.mono_ns >= d->stop_ns) {
        end(d, 0, "stopped as asked", out);
    }
    effects_due(out, d->stop_ns);
}
