#include "bbs/cli/commands_io.h"
#include "bbs/cli/events.h"
#include "bbs/cli/feed_io.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"
#include "common/model/component_path.h"
#include "common/model/record.h"
#include "common/model/service_owner.h"

#include <string.h>

const struct cli_option bbs_events_options[] = {
    {.name = "only",
     .value = "lrps|tasks|cells|settings|systems|edge",
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

/* ---- What is followed ---- */

enum { EVENT_SELECTORS_MAX = 512 };

struct event_selection {
    struct arena *arena;
    const char *only; /* NULL = all topics */
    Board__Selector *list[EVENT_SELECTORS_MAX];
    size_t count;
};

/* NULL when the topic is not wanted, or no more fit. */
static Board__Selector *select_kind(struct event_selection *x, enum record_type type)
{
    const char *topic = record_kind(type)->topic;
    if (!topic || (x->only && strcmp(x->only, topic) != 0) || x->count == EVENT_SELECTORS_MAX) {
        return NULL;
    }
    Board__Selector *one = arena_message(x->arena, &board__selector__descriptor);
    one->type = arena_strdup(x->arena, record_type_name(type));
    x->list[x->count++] = one;
    return one;
}

static void select_key(struct event_selection *x, enum record_type type, const char *key,
                       bool whole)
{
    Board__Selector *one = select_kind(x, type);
    if (one) {
        one->key_prefix = arena_strdup(x->arena, key);
        one->whole_key = whole;
    }
}

static void select_owner(struct event_selection *x, const char *kind, const char *uid)
{
    static const enum record_type types[] = {RECORD_DESIRED, RECORD_ACTUAL, RECORD_TASK};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        Board__Selector *one = select_kind(x, types[i]);
        if (one) {
            one->owner = app_owner(x->arena, uid);
            one->owner->kind = arena_strdup(x->arena, kind);
        }
    }
}

static void select_system(struct event_selection *x, const Board__SystemRecord *system)
{
    static const enum record_type ranges[] = {RECORD_SERVICE, RECORD_BUILD, RECORD_DEPLOY,
                                              RECORD_TEARDOWN, RECORD_JOB_RUN};
    static const enum record_type types[] = {RECORD_DESIRED, RECORD_ACTUAL, RECORD_TASK};
    select_key(x, RECORD_SYSTEM, key_system(x->arena, system->id), true);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        select_key(x, ranges[i], key_range_of(x->arena, ranges[i], system->uid), false);
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        Board__Selector *one = select_kind(x, types[i]);
        if (one) {
            one->domain = arena_printf(x->arena, "system.%s", system->uid);
        }
    }
}

/* What stands at and below a path now, and what comes to stand there. */
static void select_part(struct event_selection *x, const struct system_view *v, const char *path)
{
    const char *key = key_service(x->arena, v->system->uid, path);
    select_key(x, RECORD_SERVICE, key, true);
    select_key(x, RECORD_SERVICE, arena_printf(x->arena, "%s%%2F", key), false);
    for (size_t i = 0; i < v->service_count; i++) {
        const char *at = v->services[i]->path;
        if (component_path_within(at, path)) {
            Models__Owner *o = service_owner_of(x->arena, v->system->uid, at);
            select_owner(x, o->kind, o->uid);
        }
    }
    for (size_t i = 0; i < v->deploy_count; i++) {
        if (!v->deploys[i]->completed_at && component_path_related(v->deploys[i]->path, path)) {
            select_key(x, RECORD_DEPLOY, key_deploy(x->arena, v->system->uid, v->deploys[i]->id),
                       true);
        }
    }
}

static void select_app(struct event_selection *x, const char *name)
{
    Models__Owner *o =
        service_owner_of(x->arena, SERVICE_APPS_UID, service_app_path(x->arena, name));
    select_owner(x, o->kind, o->uid);
    select_owner(x, APP_OWNER_KIND, name);
    select_key(x, RECORD_SERVICE, service_owner_key(x->arena, o), true);
    select_key(x, RECORD_DESIRED, key_desired(x->arena, name), true);
    select_key(x, RECORD_ACTUAL, key_actual_process(x->arena, name), false);
    select_key(x, RECORD_TASK, key_task(x->arena, name), true);
}

static int select_name(struct session *s, struct event_selection *x, const char *text,
                       struct err *err)
{
    const char *name, *system, *path = "/";
    struct system_view v;
    bool means = false;
    int32_t index;
    int r = name_read(&s->arena, text, NULL, &name, &index, err);
    if (r == 0 && (index >= 0 || !*name)) {
        return err_set(err, ERR_INVALID, "\"%.60s\": a NAME without an index is followed", text);
    }
    r = r < 0 ? r : session_means_system(s, name, &means, err);
    if (r < 0 || !means) {
        if (r == 0) {
            select_app(x, name);
        }
        return r;
    }
    system = name;
    (void)name_is_part(&s->arena, name, &system, &path);
    r = system_get(s, system, &v, err);
    if (r == 0 && strcmp(path, "/") == 0) {
        select_system(x, v.system);
    } else if (r == 0) {
        select_part(x, &v, path);
    }
    return r;
}

static int follow(struct session *s, struct printer *p, const char *name, struct err *err)
{
    struct event_selection x = {.arena = &s->arena, .only = p->only};
    for (enum record_type type = 0; !name && type < RECORD_TYPE_COUNT; type++) {
        (void)select_kind(&x, type);
    }
    int r = name ? select_name(s, &x, name, err) : 0;
    struct feed_follow f = {.selectors = x.list,
                            .selector_count = x.count,
                            .board_generation = p->events.board_generation,
                            .revision = &p->events.revision,
                            .seen = &p->events.seen,
                            .caught_up = &p->events.caught_up,
                            .behind = &p->events.behind,
                            .connect = connect,
                            .take = take,
                            .owner = p};
    if (r == 0 && x.count == 0) {
        r = err_set(err, ERR_INVALID, "--only %s: \"%.60s\" has none of these", p->only, name);
    }
    return r < 0 ? r : feed_follow(s, &f, err);
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
        r = r < 0 ? r : follow(&s, &p, call->argument_count ? call->arguments[0] : NULL, err);
        events_done(&p.events);
    }
    session_close(&s);
    return r;
}
