#include "bbs/cli/commands_io.h"
#include "bbs/cli/events.h"
#include "bbs/cli/session_io.h"
#include "board.pb-c.h"
#include "common/cli/cli_io.h"
#include "common/model/keys.h"

#include <stdio.h>
#include <string.h>

/* A heartbeat comes each second; three missed: the next bbs. */
enum { SILENCE_MS = 3500, RECONNECT_MS = 500 };

const struct cli_option bbs_events_options[] = {
    {.name = "only",
     .value = "lrps|tasks|cells",
     .help = "only what changes of these: of cells with the brake and who leads"},
    {0},
};

/* The records that are followed, with the word that selects them. */
static const struct {
    enum record_type type;
    const char *only;
} followed[] = {
    {RECORD_ACTUAL, "lrps"}, {RECORD_DESIRED, "lrps"}, {RECORD_DOMAIN, "lrps"},
    {RECORD_TASK, "tasks"},  {RECORD_BRAKE, "cells"},  {RECORD_CELL, "cells"},
    {RECORD_LEAD, "cells"},
};
enum { FOLLOWED = sizeof(followed) / sizeof(followed[0]) };

struct follower_of_feed {
    const char *only; /* NULL = all */
    struct events events;
    struct err *err;
    bool gap; /* it was told that no news come */
};

static int take(void *owner, struct bytes bytes)
{
    struct follower_of_feed *f = owner;
    int64_t revision = f->events.revision;
    int r = events_take(&f->events, bytes, f->err);
    if (r == 0 && f->gap && f->events.revision != revision) {
        f->gap = false;
        fprintf(stderr, "bbs: news again\n");
    }
    if (r == 0 && f->events.out.size) {
        r = cli_print(buf_bytes(&f->events.out), f->err);
        buf_clear(&f->events.out);
    }
    return r;
}

static int follow_once(struct session *s, struct follower_of_feed *f, struct err *err)
{
    Board__Selector selectors[FOLLOWED], *list[FOLLOWED];
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    for (int i = 0; i < FOLLOWED; i++) {
        if (f->only && strcmp(f->only, followed[i].only) != 0) {
            continue;
        }
        Board__Selector *one = &selectors[request.n_selectors];
        board__selector__init(one);
        one->type = arena_strdup(&s->arena, record_type_name(followed[i].type));
        list[request.n_selectors++] = one;
    }
    request.selectors = list;
    request.epoch = f->events.epoch;
    request.revision = f->events.revision;
    events_connect(&f->events);
    cli_client_limit(s->client, -1);
    return cli_client_stream(s->client, "/v1/board/feed", &request.base, SILENCE_MS, take, f, err);
}

/* What another bbs, or the same one later, cannot put right. */
static bool is_final(int r)
{
    return r == -ERR_IO || r == -ERR_INVALID || r == -ERR_DENIED || r == -ERR_NOT_FOUND;
}

/* Once a gap, when the next bbs has no news either; that it is over says `take`. */
static void tell_gap(struct follower_of_feed *f, const struct err *err)
{
    if (f->events.seen && !f->gap && !cli_interrupted()) {
        f->gap = true;
        fprintf(stderr, "bbs: no news of the board, trying on: %s\n", err->text);
    }
}

static int follow(struct session *s, struct follower_of_feed *f, struct err *err)
{
    int64_t silent_since_ms = cli_now_ms();
    while (!cli_interrupted()) {
        int64_t revision = f->events.revision;
        int r = follow_once(s, f, err);
        if (is_final(r) && !cli_interrupted()) {
            return r;
        }
        bool heard = f->events.revision != revision;
        silent_since_ms = heard ? cli_now_ms() : silent_since_ms;
        if (r < 0 && !heard) {
            tell_gap(f, err);
        }
        if (r < 0 && !f->events.seen && cli_now_ms() - silent_since_ms > s->timeout_ms) {
            return r; /* there was never a bbs that answered */
        }
        cli_sleep_ms(RECONNECT_MS);
    }
    return err_set(err, ERR_UNKNOWN, "interrupted");
}

int bbs_events_run(const struct invocation *call, struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    if (r == 0) {
        struct follower_of_feed f = {.err = err};
        events_init(&f.events, s.json);
        f.events.show_secrets = s.show_secrets;
        r = cli_choice(call, "only", &f.only, err);
        r = r < 0 ? r : follow(&s, &f, err);
        events_done(&f.events);
    }
    session_close(&s);
    return r;
}
