#include "bbs/cli/feed_io.h"

#include "common/cli/cli_io.h"

#include <stdio.h>

/* A heartbeat comes each second; three missed: the next bbs. */
enum { SILENCE_MS = 3500, RECONNECT_MS = 500 };

struct call {
    struct feed_follow *follow;
    struct err *err;
};

static int take(void *call, struct bytes bytes)
{
    const struct call *c = call;
    struct feed_follow *f = c->follow;
    int64_t revision = *f->revision;
    f->taken = f->take(f->owner, bytes, c->err);
    if (f->taken == 0 && f->gap && *f->revision != revision) {
        f->gap = false;
        fprintf(stderr, "bbs: news again\n");
    }
    return f->taken;
}

static int follow_once(struct session *s, struct feed_follow *f, struct err *err)
{
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    struct call call = {f, err};
    request.selectors = f->selectors;
    request.n_selectors = f->selector_count;
    request.epoch = f->epoch;
    request.revision = *f->revision;
    f->connect(f->owner);
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

/* Once a gap, when the next bbs has no news either; that it is over says `take`. */
static void tell_gap(struct feed_follow *f, const struct err *err)
{
    if (*f->seen && !f->gap && !cli_interrupted()) {
        f->gap = true;
        fprintf(stderr, "bbs: no news of the board, trying on: %s\n", err->text);
    }
}

int feed_follow(struct session *s, struct feed_follow *f, struct err *err)
{
    while (!cli_interrupted()) {
        int64_t revision = *f->revision;
        int r = follow_once(s, f, err);
        if ((f->taken < 0 || is_final(r)) && !cli_interrupted()) {
            return r;
        }
        if (r < 0 && *f->revision == revision) {
            tell_gap(f, err);
        }
        if (r < 0 && !*f->seen && cli_now_ms() - s->begun_ms >= s->timeout_ms) {
            return r; /* there was never a bbs that answered */
        }
        r = f->idle ? f->idle(f->owner, err) : 0;
        if (r < 0) {
            return r;
        }
        cli_sleep_ms(RECONNECT_MS);
    }
    return err_set(err, ERR_UNKNOWN, "interrupted");
}
