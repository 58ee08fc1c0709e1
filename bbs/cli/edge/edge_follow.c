#include "bbs/cli/edge/edge_follow.h"

#include "common/cli/cli_io.h"
#include "common/cli/printable.h"
#include "common/codec/json.h"

#include <assert.h>
#include <string.h>

struct edge_thing edge_thing_of_cloudlet(const Board__CloudletRecord *c)
{
    return (struct edge_thing){"cloudlet", c->name,    c->uid,      c->state,
                               c->since,   c->request, c->operation};
}

struct edge_thing edge_thing_of_cluster(const Board__ClusterInstRecord *c)
{
    return (struct edge_thing){"cluster", c->name,    c->uid,      c->state,
                               c->since,  c->request, c->operation};
}

struct edge_thing edge_thing_of_instance(const Board__AppInstRecord *i)
{
    return (struct edge_thing){"app instance", i->name,    i->uid,      i->state,
                               i->since,       i->request, i->operation};
}

static bool ends_in_error(const char *state)
{
    static const char end[] = "_ERROR";
    size_t size = strlen(state);
    return size > strlen(end) && strcmp(state + size - strlen(end), end) == 0;
}

/* Whether the state is one that an operation ends in. */
static bool is_at_rest(const char *state)
{
    return strcmp(state, "READY") == 0 || ends_in_error(state);
}

static const char *why_of(struct arena *a, const char *text)
{
    return arena_strdup(a, text ? text : "");
}

static const char *error_of(const struct edge_thing *t)
{
    return t->operation ? t->operation->error : "";
}

static enum edge_end look_of_gone(struct arena *a, const struct edge_wanted *w,
                                  const Board__ProgressRecord *p, const char **ret_why)
{
    if (!w->uid && !w->goes) {
        *ret_why = "it is not there any more: it failed, or somebody removed it";
        return EDGE_UNSEEN;
    }
    if (w->goes) {
        return EDGE_GONE;
    }
    bool failed = p && strcmp(p->end, "failed") == 0;
    *ret_why = why_of(a, failed ? p->error : "somebody else removed it");
    return failed ? EDGE_FAILED : EDGE_OTHER;
}

enum edge_end edge_look(struct arena *a, struct edge_wanted *w, const struct edge_thing *t,
                        const Board__ProgressRecord *p, const char **ret_why)
{
    *ret_why = "";
    if (t && !w->uid && w->former && strcmp(t->uid, w->former) == 0) {
        return EDGE_GOES_ON; /* the bbs has not heard of the new one yet */
    }
    if (t && !w->uid) {
        w->uid = why_of(a, t->uid);
    }
    if (!t || strcmp(t->uid, w->uid) != 0) {
        return look_of_gone(a, w, p, ret_why);
    }
    bool at_rest = is_at_rest(t->state);
    if (!w->request && t->request == w->before && w->before) {
        return at_rest && !ends_in_error(t->state) ? EDGE_UNCHANGED : EDGE_GOES_ON;
    }
    w->request = w->request ? w->request : t->request;
    if (at_rest && *error_of(t) && !w->takes_errors) { /* an undo has a request of its own */
        *ret_why = why_of(a, error_of(t));
        return EDGE_FAILED;
    }
    bool undone = w->takes_errors && t->request == w->request + 1;
    if (t->request != w->request && !undone) {
        *ret_why = arena_printf(a, "somebody else asked for another change: it is %s", t->state);
        return EDGE_OTHER;
    }
    if (t->operation && t->operation->overdue) {
        *ret_why = "its time is over, and the site goes on";
        return EDGE_OVERDUE;
    }
    if (strcmp(t->state, "READY") == 0) {
        *ret_why = w->goes ? "it is READY as before" : "";
        return w->goes ? EDGE_FAILED : EDGE_READY;
    }
    return EDGE_GOES_ON;
}

enum edge_end edge_end_of(const Board__ProgressRecord *p)
{
    return strcmp(p->end, "deleted") == 0  ? EDGE_GONE
           : strcmp(p->end, "ready") == 0  ? EDGE_READY
           : strcmp(p->end, "failed") == 0 ? EDGE_FAILED
                                           : EDGE_GOES_ON;
}

void edge_lines(struct edge_wanted *w, const Board__ProgressRecord *p, bool json, struct buf *out)
{
    for (size_t i = 0; p && i < p->n_lines; i++) {
        const Board__ProgressLine *line = p->lines[i];
        if (line->number <= w->shown) {
            continue;
        }
        w->shown = line->number;
        if (json) {
            if (json_encode(&line->base, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
                buf_append_string(out, "\n");
            }
        } else {
            buf_printf(out, "%u ", line->number);
            printable_append(out, line->text);
            buf_append_string(out, "\n");
        }
    }
}

const char *edge_end_text(struct arena *a, const struct edge_wanted *w, enum edge_end end,
                          const char *why)
{
    const char *colon = *why ? ": " : "";
    switch (end) {
    case EDGE_READY:
        return arena_printf(a, "%s is ready", w->name);
    case EDGE_GONE:
        return arena_printf(a, "%s is gone", w->name);
    case EDGE_UNCHANGED:
        return arena_printf(a, "%s is as it was: nothing was to do", w->name);
    case EDGE_FAILED:
        return arena_printf(a, "%s %s failed%s%s", w->noun, w->name, colon, why);
    case EDGE_OTHER:
    case EDGE_OVERDUE:
    case EDGE_UNSEEN:
        return arena_printf(a, "%s %s: %s", w->noun, w->name, why);
    default:
        return arena_printf(a, "%s %s is under way: it goes on", w->noun, w->name);
    }
}

int edge_end_status(enum edge_end end)
{
    switch (end) {
    case EDGE_READY:
    case EDGE_GONE:
    case EDGE_UNCHANGED:
        return CLI_DONE;
    case EDGE_FAILED:
    case EDGE_UNSEEN:
        return CLI_FAILED;
    case EDGE_OTHER:
        return CLI_CONFLICT;
    default:
        return CLI_TIMEOUT;
    }
}

bool edge_needs_no_refresh(const Board__AppInstRecord *i, uint64_t newest, bool force)
{
    return !force && i->spec && i->spec->revision == newest && !ends_in_error(i->state);
}

size_t edge_refreshed_done(const struct edge_refreshed *r)
{
    return r->updated + r->skipped + r->failed + r->under_way;
}

const char *edge_refreshed_text(struct arena *a, const struct edge_refreshed *r)
{
    const char *more = r->under_way ? arena_printf(a, ", %zu under way", r->under_way) : "";
    return arena_printf(a, "%zu of %zu: %zu updated, %zu skipped, %zu failed%s",
                        edge_refreshed_done(r), r->all, r->updated, r->skipped, r->failed, more);
}
