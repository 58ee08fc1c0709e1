#include "crm/upgrade.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool state_is(const struct upgrade_facts *f, const char *state)
{
    return f->cloudlet && strcmp(f->cloudlet->state, state) == 0;
}

static bool is_target(const struct upgrade_facts *f)
{
    return f->cloudlet && strcmp(f->cloudlet->target_version, f->version) == 0;
}

/* This process is v1 of an upgrade that the site has begun. */
static bool is_former(const struct upgrade_facts *f)
{
    return f->own_session && state_is(f, "UPDATING") && !is_target(f);
}

static void launch(struct upgrade *u, const char *word, const char *version, struct effects *out)
{
    const char **words = ARENA_ARRAY(out->arena, 3, const char *);
    assert(*u->command && !u->launch_id);
    words[0] = u->command;
    words[1] = word;
    words[2] = arena_strdup(out->arena, version);
    u->launch_id = (*u->next_id)++;
    effects_add(out, EFFECT_LAUNCH)->launch =
        (struct launch){.id = u->launch_id, .words = words, .count = 3};
    effects_log(out, LOG_INFO_LEVEL, "a program is run for an upgrade",
                "command=%s word=%s version=%s", u->command, word, version);
}

__attribute__((format(printf, 2, 3))) static void fail_upgrade(struct upgrade *u,
                                                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(u->why, sizeof(u->why), format, args);
    va_end(args);
    u->stage = u->stage == UPGRADE_STOPPING ? UPGRADE_STOPPED : UPGRADE_FAILED;
}

/* ---- v1 -------------------------------------------------------------------------------------- */

static void begin(struct upgrade *u, const struct upgrade_facts *f, struct effects *out)
{
    assert(is_former(f) && u->request != f->cloudlet->request);
    u->request = f->cloudlet->request;
    u->why[0] = 0;
    if (!*u->command) {
        fail_upgrade(u, "this CRM has no program that starts another version (--launch)");
    } else if (!u->launch_id) {
        u->stage = UPGRADE_STARTING;
        launch(u, "start", f->cloudlet->target_version, out);
    }
}

static void on_started(struct upgrade *u, const struct launched *l, const struct upgrade_facts *f,
                       int64_t now_ns)
{
    if (*l->text) {
        fail_upgrade(u, "version %s was not started: %s",
                     f->cloudlet ? f->cloudlet->target_version : "", l->text);
        return;
    }
    assert(u->stage == UPGRADE_STARTING && !u->launch_id);
    u->stage = UPGRADE_AWAITED;
    u->due_ns = now_ns + UPGRADE_COMES_NS;
}

static void on_stopped(struct upgrade *u, const struct launched *l, const struct upgrade_facts *f)
{
    assert(u->stage == UPGRADE_STOPPING && !u->launch_id);
    fail_upgrade(u, "version %s did not come within %lld s%s%s",
                 f->cloudlet ? f->cloudlet->target_version : "",
                 (long long)(UPGRADE_COMES_NS / SECOND_NS),
                 *l->text ? ", and could not be stopped: " : " and was stopped", l->text);
}

static void on_launched(struct upgrade *u, const struct event *ev, const struct upgrade_facts *f,
                        struct effects *out)
{
    const struct launched *l = &ev->launched;
    u->launch_id = 0;
    if (*l->text) {
        effects_log(out, LOG_WARN_LEVEL, "a program for an upgrade failed", "status=%d why=\"%s\"",
                    l->status, l->text);
    }
    if (u->stage == UPGRADE_STARTING) {
        on_started(u, l, f, ev->now.mono_ns);
    } else if (u->stage == UPGRADE_STOPPING) {
        on_stopped(u, l, f);
    }
}

/* 1. An upgrade of a request that is new to it: v2 is started.
 * 2. v2 did not come in time: it is stopped. */
static void go_on_as_former(struct upgrade *u, const struct event *ev,
                            const struct upgrade_facts *f, struct effects *out)
{
    if (u->request != f->cloudlet->request) { /* 1 */
        begin(u, f, out);
    } else if (u->stage == UPGRADE_AWAITED && ev->now.mono_ns >= u->due_ns) { /* 2 */
        u->stage = UPGRADE_STOPPING;
        launch(u, "stop", f->cloudlet->target_version, out);
    } else if (u->stage == UPGRADE_AWAITED) {
        effects_due(out, u->due_ns);
    }
}

/* ---- v2 -------------------------------------------------------------------------------------- */

/* v1 has heard of the session, and is to end by itself. */
static void wait_for_former(struct upgrade *u, const struct event *ev,
                            const struct upgrade_facts *f, struct effects *out)
{
    bool waits = f->own_session && f->cloudlet && f->cloudlet->upgrading && is_target(f) &&
                 !f->leads && f->info && *f->info->former_version;
    if (!waits) {
        u->waits_since_ns = 0;
        u->told_to_end = false;
        return;
    }
    u->waits_since_ns = u->waits_since_ns ? u->waits_since_ns : ev->now.mono_ns;
    if (u->told_to_end || !*u->command) {
        return;
    }
    if (ev->now.mono_ns < u->waits_since_ns + UPGRADE_ENDS_NS) {
        effects_due(out, u->waits_since_ns + UPGRADE_ENDS_NS);
    } else if (!u->launch_id) {
        u->told_to_end = true;
        launch(u, "stop", f->info->former_version, out);
    }
}

void upgrade_step(struct upgrade *u, const struct event *ev, const struct upgrade_facts *facts,
                  struct effects *out)
{
    if (ev->kind == EVENT_LAUNCHED && u->launch_id && ev->launched.id == u->launch_id) {
        on_launched(u, ev, facts, out);
    }
    if (is_former(facts)) {
        go_on_as_former(u, ev, facts, out);
    }
    wait_for_former(u, ev, facts, out);
}

bool upgrade_takes_back(const struct upgrade *u, const struct upgrade_facts *f)
{
    bool stops = u->stage == UPGRADE_STOPPING || u->stage == UPGRADE_STOPPED;
    return stops && f->former_session && f->cloudlet && f->cloudlet->upgrading &&
           u->request == f->cloudlet->request;
}

const char *upgrade_failed(const struct upgrade *u, const struct upgrade_facts *f)
{
    bool failed = u->stage == UPGRADE_FAILED || u->stage == UPGRADE_STOPPED;
    bool own = (is_former(f) && u->request == f->cloudlet->request) || upgrade_takes_back(u, f);
    return failed && own ? u->why : "";
}
