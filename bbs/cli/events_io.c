#include "bbs/cli/commands_io.h"
#include "bbs/cli/events.h"
#include "bbs/cli/feed_io.h"
#include "common/cli/cli_io.h"
#include "common/model/record.h"

#include <string.h>

const struct cli_option bbs_events_options[] = {
    {.name = "only",
     .value = "lrps|tasks|cells|settings",
     .help = "only what changes of these: of cells with the mass-loss limiter and who leads"},
    {.name = "time",
     .help = "when each change was heard of here (UTC): records do not keep when they changed"},
    {0},
};

struct printer {
    struct events events;
    const char *only; /* NULL = all */
};

static void connect(void *printer, bool compares)
{
    events_connect(&((struct printer *)printer)->events, compares);
}

static int take(void *printer, struct bytes bytes, struct err *err)
{
    struct events *e = &((struct printer *)printer)->events;
    e->now_ns = cli_wall_ns();
    int r = events_take(e, bytes, err);
    if (r == 0 && !e->out.size) {
        return cli_output_check(err); /* a quiet board would hide for long that nobody reads */
    }
    if (r == 0) {
        r = cli_print(buf_bytes(&e->out), err);
        buf_clear(&e->out);
    }
    return r;
}

static int follow(struct session *s, struct printer *p, struct err *err)
{
    Board__Selector selectors[RECORD_TYPE_COUNT], *list[RECORD_TYPE_COUNT];
    struct feed_follow f = {.selectors = list,
                            .board_generation = p->events.board_generation,
                            .revision = &p->events.revision,
                            .seen = &p->events.seen,
                            .caught_up = &p->events.caught_up,
                            .behind = &p->events.behind,
                            .connect = connect,
                            .take = take,
                            .owner = p};
    for (enum record_type type = 0; type < RECORD_TYPE_COUNT; type++) {
        const char *topic = record_kind(type)->topic;
        if (!topic || (p->only && strcmp(p->only, topic) != 0)) {
            continue;
        }
        Board__Selector *one = &selectors[f.selector_count];
        board__selector__init(one);
        one->type = arena_strdup(&s->arena, record_type_name(type));
        list[f.selector_count++] = one;
    }
    return feed_follow(s, &f, err);
}

int bbs_events_run(const struct invocation *call, struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    if (r == 0) {
        struct printer p = {.only = NULL};
        events_init(&p.events, s.json);
        p.events.show_secrets = s.show_secrets;
        p.events.times = cli_switch(call, "time");
        r = cli_choice(call, "only", &p.only, err);
        r = r < 0 ? r : follow(&s, &p, err);
        events_done(&p.events);
    }
    session_close(&s);
    return r;
}
