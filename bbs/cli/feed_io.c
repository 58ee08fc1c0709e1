#include "bbs/cli/feed_io.h"

#include "common/cli/cli_io.h"

#include <stdio.h>

/* A heartbeat comes each second; three missed: the next bbs. */
enum { SILENCE_MS = 3500, RECONNECT_MS = 500, COMPARE_AGAIN_MS = 60 * 1000 };

struct feed_call {
    struct feed_follow *follow;
    struct err *err;
};

/* Once all is reported: from comparing back to following, or from following to comparing. True when
 * this connection ends for the next one, to the same bbs, which is not behind what it has sent. */
static bool turns(struct feed_follow *f, struct err *err)
{
    if (*f->caught_up && f->compares) {
        f->compares = false;
        f->turned = f->behind && *f->behind;
    } else if (*f->caught_up && f->to_compare && cli_now_ms() >= f->compare_at_ms) {
        f->to_compare = false;
        f->compares = f->turned = true;
    }
    return f->turned && err_set(err, ERR_UNAVAILABLE, "another feed of this bbs is asked for") < 0;
}

static int take(void *call, struct bytes bytes)
{
    const struct feed_call *c = call;
    struct feed_follow *f = c->follow;
    int64_t revision = *f->revision;
    f->taken = f->take(f->owner, bytes, c->err);
    if (f->taken == 0 && f->gap && *f->revision != revision) {
        f->gap = false;
        fprintf(stderr, "bbs: the feed goes on\n");
    }
    return f->taken < 0 || !turns(f, c->err) ? f->taken : -ERR_UNAVAILABLE;
}

static int follow_once(struct session *s, struct feed_follow *f, struct err *err)
{
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    struct feed_call call = {f, err};
    request.selectors = f->selectors;
    request.n_selectors = f->selector_count;
    request.board_generation = f->board_generation;
    request.revision = f->compares ? 0 : *f->revision;
    f->to_compare = f->to_compare || (*f->seen && !f->compares && !f->turned);
    f->turned = false;
    f->connect(f->owner, f->compares);
    f->taken = 0;
    /* Until a bbs has answered once, the time of the command is the limit. */
    cli_client_limit(s->client, *f->seen ? -1 : session_left_ms(s));
    return cli_client_stream(s->client, "/v1/board/feed", &request.base, SILENCE_MS, take, &call,
                             err);
}

/* What another bbs, or the same one later, cannot put right. */
static bool is_final(int r)
{
    return r == -ERR_IO || r == -ERR_INVALID || r == -ERR_DENIED || r == -ERR_NOT_FOUND;
}

/* Once a gap, when the next bbs does not give the feed either; that it is over says `take`. */
static void tell_gap(struct feed_follow *f, const struct err *err)
{
    if (*f->seen && !f->gap && !cli_interrupted()) {
        f->gap = true;
        fprintf(stderr, "bbs: no bbs gives the feed, trying on: %s\n", err->text);
    }
}

int feed_follow(struct session *s, struct feed_follow *f, struct err *err)
{
    while (!cli_interrupted()) {
        int64_t revision = *f->revision;
        int r = follow_once(s, f, err);
        bool ended = f->taken < 0 && f->taken != -ERR_UNAVAILABLE;
        if ((ended || is_final(r)) && !cli_interrupted()) {
            return r;
        }
        if (f->turned) {
            cli_client_stay(s->client);
            continue;
        }
        if (f->compares) { /* it broke off; following goes before */
            f->compares = false;
            f->compare_at_ms = cli_now_ms() + COMPARE_AGAIN_MS;
        }
        if (r < 0 && *f->revision == revision) {
            tell_gap(f, err);
        }
        if (r < 0 && !*f->seen && session_left_ms(s) <= RECONNECT_MS) {
            return r; /* there was never a bbs that answered, and no time is left for another */
        }
        r = f->idle ? f->idle(f->owner, err) : 0;
        if (r < 0) {
            return r;
        }
        cli_sleep_ms(RECONNECT_MS);
    }
    return err_set(err, ERR_UNKNOWN, "interrupted");
}
