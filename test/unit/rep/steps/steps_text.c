#include "test/unit/rep/steps/steps_text.h"

#include "test/tool/cmocka.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Trees ----------------------------------------------------------------------------------- */

static void blanks(const char **at)
{
    *at += strspn(*at, " ");
}

static bool word(const char **at, const char *what)
{
    size_t n = strlen(what);
    blanks(at);
    if (strncmp(*at, what, n) != 0 || isalpha((unsigned char)(*at)[n])) {
        return false;
    }
    *at += n;
    return true;
}

static Models__Action *action_of(struct arena *a, const char **at);

static size_t members(struct arena *a, const char **at, Models__Action ***ret_list)
{
    size_t count = 0;
    *ret_list = ARENA_ARRAY(a, STEPS_MAX, Models__Action *);
    assert_int_equal(**at, '(');
    for (++*at; **at != ')'; blanks(at)) {
        (*ret_list)[count++] = action_of(a, at);
    }
    ++*at;
    return count;
}

static Models__Action *only(struct arena *a, const char **at)
{
    Models__Action **list;
    assert_int_equal(members(a, at, &list), 1);
    return list[0];
}

static Models__RunAction *run_of(struct arena *a, const char **at)
{
    Models__RunAction *run = arena_message(a, &models__run_action__descriptor);
    run->path = (char *)(uintptr_t)"/bin/true";
    run->user = (char *)(uintptr_t)"root";
    if (**at == ':') {
        size_t n = strspn(++*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        run->log_source = arena_strndup(a, *at, n);
        *at += n;
    }
    return run;
}

static char *name_of(struct arena *a, const char **at)
{
    size_t n = **at == ':' ? strspn(++*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
    char *name = arena_strndup(a, *at, n);
    *at += n;
    return name;
}

static Models__TimeoutAction *timeout_of(struct arena *a, const char **at)
{
    Models__TimeoutAction *t = arena_message(a, &models__timeout_action__descriptor);
    char *end;
    assert_int_equal(**at, ':');
    t->timeout_ms = strtoll(*at + 1, &end, 10);
    *at = end;
    t->action = only(a, at);
    return t;
}

static Models__EmitProgressAction *progress_of(struct arena *a, const char **at)
{
    Models__EmitProgressAction *say = arena_message(a, &models__emit_progress_action__descriptor);
    say->start_message = (char *)(uintptr_t)"begins";
    say->success_message = (char *)(uintptr_t)"done";
    say->failure_message_prefix = (char *)(uintptr_t)"bad";
    say->log_source = (char *)(uintptr_t)"SAY";
    say->action = only(a, at);
    return say;
}

static Models__Action *action_of(struct arena *a, const char **at)
{
    Models__Action *x = arena_message(a, &models__action__descriptor);
    if (word(at, "run")) {
        x->run_action = run_of(a, at);
    } else if (word(at, "get")) {
        x->download_action = arena_message(a, &models__download_action__descriptor);
        x->download_action->artifact = name_of(a, at);
    } else if (word(at, "put")) {
        x->upload_action = arena_message(a, &models__upload_action__descriptor);
        x->upload_action->artifact = name_of(a, at);
    } else if (word(at, "timeout")) {
        x->timeout_action = timeout_of(a, at);
    } else if (word(at, "say")) {
        x->emit_progress_action = progress_of(a, at);
    } else if (word(at, "try")) {
        x->try_action = arena_message(a, &models__try_action__descriptor);
        x->try_action->action = only(a, at);
    } else if (word(at, "serial")) {
        x->serial_action = arena_message(a, &models__serial_action__descriptor);
        x->serial_action->n_actions = members(a, at, &x->serial_action->actions);
    } else if (word(at, "parallel")) {
        x->parallel_action = arena_message(a, &models__parallel_action__descriptor);
        x->parallel_action->n_actions = members(a, at, &x->parallel_action->actions);
    } else {
        assert_true(word(at, "codependent"));
        x->codependent_action = arena_message(a, &models__codependent_action__descriptor);
        x->codependent_action->n_actions = members(a, at, &x->codependent_action->actions);
    }
    return x;
}

static void dependencies_of(struct arena *a, const char **at, struct tree_parts *parts)
{
    const Models__CachedDependency **list =
        ARENA_ARRAY(a, STEPS_MAX, const Models__CachedDependency *);
    for (++*at; word(at, "get");) {
        Models__CachedDependency *d = arena_message(a, &models__cached_dependency__descriptor);
        d->to = (char *)(uintptr_t)"/lifecycle";
        d->name = name_of(a, at);
        list[parts->dependency_count++] = d;
    }
    assert_true(word(at, "+"));
    parts->dependencies = list;
}

struct tree_parts steps_text_parts(struct arena *a, const char *text)
{
    static const char watched[] = "watched: ";
    struct tree_parts parts = {.log_source = "APP", .log_guid = "guid"};
    if (strncmp(text, watched, sizeof(watched) - 1) == 0) {
        parts.monitored = true;
        text += sizeof(watched) - 1;
    }
    const Models__Sidecar **sidecars = ARENA_ARRAY(a, STEPS_MAX, const Models__Sidecar *);
    if (word(&text, "with")) {
        dependencies_of(a, &text, &parts);
    }
    if (word(&text, "setup")) {
        text++;
        parts.setup = action_of(a, &text);
        assert_true(word(&text, "+"));
    }
    parts.action = action_of(a, &text);
    while (word(&text, "+")) {
        Models__Sidecar *sidecar = arena_message(a, &models__sidecar__descriptor);
        sidecar->action = action_of(a, &text);
        sidecars[parts.sidecar_count++] = sidecar;
    }
    assert_string_equal(text, "");
    parts.sidecars = sidecars;
    return parts;
}

struct action_tree steps_text_tree(struct arena *a, const char *text)
{
    struct tree_parts *parts = ARENA_NEW(a, struct tree_parts);
    const struct tree_leaf *leaves;
    struct action_tree tree;
    struct err err;
    *parts = steps_text_parts(a, text);
    if (tree_make(a, parts, &tree, &leaves, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return tree;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void end_of(struct arena *a, struct step_fact *f, const char *how)
{
    f->kind = FACT_ENDED;
    if (how[0] != '"' && strchr(how, ':')) {
        f->exit_code = atoi(how);
        f->moved = f->exit_code == 0 ? atoll(strchr(how, ':') + 1) : 0;
        f->text = f->exit_code == 0 ? "" : arena_strdup(a, strchr(how, ':') + 1);
    } else if (how[0] == '"') {
        f->exit_code = -1;
        f->text = arena_strndup(a, how + 1, strlen(how) - 2);
    } else if (strncmp(how, "sig", 3) == 0) {
        f->exit_signal = atoi(how + 3);
    } else {
        f->oom_killed = strcmp(how, "oom") == 0;
        f->disk_full = strcmp(how, "full") == 0;
        f->exit_code = f->oom_killed ? 137 : f->disk_full ? 1 : atoi(how);
    }
}

static enum cut_why why_of(const char *name)
{
    static const char *const names[] = {"stopped", "timeout", "beside", "stuck"};
    for (int i = 0; i < CUT_WHY_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum cut_why)i;
        }
    }
    fail_msg("no cut is called %s", name);
    return CUT_STOPPED;
}

struct step_fact *steps_text_facts(struct arena *a, const char *text, size_t *ret_count)
{
    enum { MOST = 100 };
    struct step_fact *facts = ARENA_ARRAY(a, MOST, struct step_fact);
    *ret_count = 0;
    for (char *at = arena_strdup(a, text), *one; (one = strsep(&at, ";")) && one[0];) {
        char kind[16], how[80] = "";
        long long ms;
        unsigned step;
        assert_true(*ret_count < MOST);
        assert_true(sscanf(one, " %lld %15s %u %79[^\n]", &ms, kind, &step, how) >= 3);
        struct step_fact *f = &facts[(*ret_count)++];
        *f = (struct step_fact){FACT_BEGUN, step, ms * MILLISECOND_NS, .text = ""};
        if (strcmp(kind, "ended") == 0) {
            end_of(a, f, how);
        } else if (strcmp(kind, "lost") == 0) {
            f->kind = FACT_LOST;
            f->text = arena_strdup(a, how);
        } else if (strcmp(kind, "cut") == 0) {
            f->kind = FACT_CUT;
            f->why = why_of(how);
        } else {
            assert_string_equal(kind, "begun");
        }
    }
    return facts;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static void add(struct arena *a, const char **text, const char *more)
{
    *text = arena_printf(a, "%s%s%s", *text, (*text)[0] ? "; " : "", more);
}

const char *steps_text_orders(struct arena *a, const struct steps_orders *o)
{
    static const char *const whys[] = {"stopped", "timeout", "beside", "stuck"};
    const char *text = "", *begins = "begin";
    for (size_t i = 0; i < o->begin_count; i++) {
        begins = arena_printf(a, "%s %u", begins, o->begins[i]);
    }
    if (o->begin_count > 0) {
        add(a, &text, begins);
    }
    for (size_t i = 0; i < o->cut_count; i++) {
        add(a, &text, arena_printf(a, "cut %u %s", o->cuts[i].step, whys[o->cuts[i].why]));
    }
    for (size_t i = 0; i < o->signal_count; i++) {
        add(a, &text,
            arena_printf(a, "%s %u", o->signals[i].kill ? "kill" : "term", o->signals[i].step));
    }
    if (o->kill) {
        add(a, &text, "stuck");
    }
    if (o->due_ns != NEVER_NS) {
        add(a, &text, arena_printf(a, "due %" PRId64, o->due_ns / MILLISECOND_NS));
    }
    if (o->start) {
        add(a, &text, "start");
    }
    if (o->ready) {
        add(a, &text, "ready");
    }
    if (o->over) {
        add(a, &text, !o->failed && o->first_well > 1 ? arena_printf(a, "well %u", o->first_well)
                      : !o->failed                    ? "well"
                      : o->cut                        ? "cut"
                                                      : arena_printf(a, "failed: %s", o->text));
    }
    return text;
}

const char *steps_text_lines(struct arena *a, const struct steps_orders *o)
{
    const char *text = "";
    for (size_t i = 0; i < o->line_count; i++) {
        const struct step_line *l = &o->lines[i];
        const char *stream = l->to_stderr ? "err" : "out";
        add(a, &text, arena_printf(a, "%s %s: %s", stream, l->source, l->text));
    }
    return text;
}
