/* A system that is followed: as a tree that lives, or with a line of progress, until an end. */
#include "bbs/cli/system_tree.h"
#include "bbs/cli/systems_io.h"
#include "common/cli/cli_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_ELSEWHERE = 80, DRAW_MS = 100 };

/* What is shown of a system that is followed. */
struct live_view {
    struct session *s;
    const char *top;
    bool terminal;
    struct map said; /* elsewhere than on a terminal */
    size_t lines;    /* that stand on the terminal */
    bool begun;
    int64_t drawn_ms;
};

static void watch_init(struct live_view *w, struct session *s, const char *top)
{
    *w = (struct live_view){.s = s, .top = top, .terminal = isatty(STDOUT_FILENO)};
    map_init(&w->said);
}

static void watch_done(struct live_view *w)
{
    map_done(&w->said, free);
}

/* Columns of standard output, and its rows, 0 = without a bound. */
static void form_of(const char *top, bool live, struct tree_form *ret)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO);
    *ret = (struct tree_form){.now_ns = cli_wall_ns(), .top = top, .width = WIDTH_ELSEWHERE};
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        ret->width = size.ws_col < TREE_WIDTH_LEAST ? TREE_WIDTH_LEAST : size.ws_col;
        ret->rows = live && size.ws_row > 4 ? size.ws_row - 1u : 0;
    }
    ret->colours = terminal && !getenv("NO_COLOR");
}

/* A terminal that is narrower than a tree can be cuts its lines: one that it broke would be two to
 * go back over. */
static int draw(struct live_view *w, struct arena *a, const struct system_view *v, struct err *err)
{
    SCOPED_BUF(out);
    struct tree_form form;
    form_of(w->top, true, &form);
    if (w->lines > 0) {
        buf_printf(&out, "\033[%zuA\033[J", w->lines);
    }
    buf_append_string(&out, "\033[?7l");
    w->lines = tree_print(a, v, &form, &out);
    buf_append_string(&out, "\033[?7h");
    w->drawn_ms = cli_now_ms();
    return cli_print(buf_bytes(&out), err);
}

static int tell_changes(struct live_view *w, struct arena *a, const struct system_view *v,
                        struct err *err)
{
    SCOPED_BUF(out);
    SCOPED_BUF(unsaid);
    if (!w->begun) {
        struct tree_form form;
        form_of(w->top, false, &form);
        (void)tree_print(a, v, &form, &out);
        tree_changes(a, v, w->top, &w->said, &unsaid); /* the tree has said it */
    } else {
        tree_changes(a, v, w->top, &w->said, &out);
    }
    w->begun = true;
    return out.size > 0 ? cli_print(buf_bytes(&out), err) : cli_output_check(err);
}

/* `ends`: nothing is drawn later that would show what was left out now. */
static int show(struct live_view *w, struct arena *a, const struct system_view *v, bool ends,
                struct err *err)
{
    if (!v->system) {
        return 0;
    }
    if (!w->terminal) {
        return tell_changes(w, a, v, err);
    }
    return ends || cli_now_ms() - w->drawn_ms >= DRAW_MS ? draw(w, a, v, err) : 0;
}

/* ---- Trees ---- */

static int print_tree(struct session *s, const struct system_view *v, const char *top,
                      struct err *err)
{
    SCOPED_BUF(out);
    struct tree_form form;
    form_of(top, false, &form);
    (void)tree_print(&s->arena, v, &form, &out);
    return cli_print(buf_bytes(&out), err);
}

static int ends_of_state(const char *state)
{
    bool bad = strcmp(state, "degraded") == 0 || strcmp(state, "failed") == 0;
    return bad ? CLI_FAILED : CLI_DONE;
}

struct tree_watch {
    struct live_view shown;
    const char *state; /* at the end; NULL = it has gone */
    bool over;
};

static int look_at_tree(void *owner, struct arena *a, const struct system_view *v, bool fresh,
                        struct err *err)
{
    struct tree_watch *t = owner;
    bool over = tree_is_at_rest(v) && (v->system || fresh);
    int r = show(&t->shown, a, v, over, err);
    t->over = over;
    t->state = v->system ? arena_strdup(&t->shown.s->arena, v->system->state) : NULL;
    return r < 0 ? r : over;
}

static int watch_tree(struct session *s, const Board__SystemRecord *system, const char *top,
                      int64_t limit_ms, struct err *err)
{
    struct tree_watch t = {.over = false};
    watch_init(&t.shown, s, top);
    struct system_follow f = {.id = system->id,
                              .uid = system->uid,
                              .limit_ms = limit_ms,
                              .look = look_at_tree,
                              .owner = &t};
    int r = system_follow(s, &f, err);
    watch_done(&t.shown);
    return r < 0 ? r : t.state ? ends_of_state(t.state) : CLI_DONE;
}

int tree_show(struct session *s, const char *id, const char *top, bool watch, struct err *err)
{
    struct system_view v;
    int64_t limit_ms = system_patience(s);
    if (watch && s->json) {
        return err_set(err, ERR_INVALID,
                       "a tree that is followed is for people; for programs: bbs events %.63s "
                       "--output json",
                       id);
    }
    int r = system_get(s, id, &v, err);
    if (r < 0) {
        return r;
    }
    if (!tree_has(&v, top)) {
        return err_set(err, ERR_NOT_FOUND,
                       "nothing is deployed at %.200s: bbs systems tree %.63s shows all", top, id);
    }
    if (watch) {
        return watch_tree(s, v.system, top, limit_ms, err);
    }
    r = print_tree(s, &v, top, err);
    return r < 0 ? r : ends_of_state(v.system->state);
}

/* ---- Deploys and teardowns ---- */

/* One that is waited for. */
struct waited {
    struct live_view shown;
    const struct action_wait *what;
    struct cli_progress progress;
    const char *state, *message; /* as it was seen last; NULL = not seen yet */
    bool over, conflict, gone;
};

static void note_deploy(struct waited *w, const struct system_view *v)
{
    const Board__DeployRecord *d = system_view_deploy(v, w->what->id);
    struct arena *a = &w->shown.s->arena;
    if (d && (!w->state || strcmp(w->state, d->state) != 0 || d->completed_at)) {
        w->state = arena_strdup(a, d->state);
        w->message = arena_strdup(a, d->message);
        w->over = d->completed_at != 0;
        w->conflict = d->conflict;
    }
    w->gone = w->gone || (w->state && !d);
}

static void note_teardown(struct waited *w, const struct system_view *v)
{
    const Board__TeardownRecord *t = system_view_teardown(v, w->what->id);
    struct arena *a = &w->shown.s->arena;
    if (t && (!w->state || strcmp(w->state, t->state) != 0 || t->completed_at)) {
        w->state = arena_strdup(a, t->state);
        w->message = arena_strdup(a, t->message);
        w->over = t->completed_at != 0;
        w->conflict = t->conflict;
    }
    w->gone = w->gone || (w->state && !t);
}

static int look_at_action(void *owner, struct arena *a, const struct system_view *v, bool fresh,
                          struct err *err)
{
    struct waited *w = owner;
    if (w->what->teardown) {
        note_teardown(w, v);
    } else {
        note_deploy(w, v);
    }
    w->gone = w->gone || (fresh && !w->state && !v->system);
    bool ends = w->over || w->gone;
    int r = 0;
    if (w->what->watch) {
        r = show(&w->shown, a, v, ends, err);
    } else if (v->system) {
        cli_progress(&w->progress, tree_head(a, v, cli_wall_ns()));
    }
    return r < 0 ? r : ends;
}

static const char *kind_of(const struct action_wait *w)
{
    return w->teardown ? "teardown" : "deploy";
}

/* What was not seen to its end goes on. */
static int goes_on(const struct action_wait *w, int r, const char *state, struct err *err)
{
    const char *kind = kind_of(w), *id = w->id, *system = w->system->id;
    const char *how = w->teardown ? "" : "; bbs abort ";
    const char *whom = w->teardown ? "" : system;
    struct err inner = *err;
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN,
                       "interrupted; the %s goes on: bbs %ss %.63s %.36s%s%.63s%s", kind, kind,
                       system, id, how, whom, w->teardown ? "" : " ends it");
    }
    return err_set(err, inner.code, "%.63s: the %s is %s, and goes on (%.60s): bbs why %.63s",
                   system, kind, state ? state : "pending",
                   r == -ERR_TIMEOUT ? "not over in time" : inner.text, system);
}

/* A text of a record may be longer than an error's. */
static int tell_end(struct session *s, const struct waited *w)
{
    const struct action_wait *what = w->what;
    struct arena *a = &s->arena;
    if (strcmp(w->state, "succeeded") == 0) {
        fprintf(stderr, "%s: %s %s succeeded%s%s\n", what->system->id, kind_of(what),
                short_id(a, what->id), *w->message ? ": " : "", w->message);
        return CLI_DONE;
    }
    fprintf(stderr, "bbs: %s: %s %s failed%s%s\n", what->system->id, kind_of(what),
            short_id(a, what->id), *w->message ? ": " : "", w->message);
    if (w->conflict) {
        fprintf(stderr, "bbs: try again when that is over; bbs why %s tells how far it is\n",
                what->system->id);
    }
    return w->conflict ? CLI_CONFLICT : CLI_FAILED;
}

int action_wait(struct session *s, const struct action_wait *what, struct err *err)
{
    struct waited w = {.what = what};
    watch_init(&w.shown, s, "/");
    struct system_follow f = {.id = what->system->id,
                              .uid = what->system->uid,
                              .limit_ms = what->limit_ms,
                              .look = look_at_action,
                              .owner = &w};
    int r = system_follow(s, &f, err);
    watch_done(&w.shown);
    cli_progress(&w.progress, NULL);
    if (r < 0) {
        return goes_on(what, r, w.state, err);
    }
    if (!w.over) {
        return err_set(err, ERR_NOT_FOUND, "%.63s: the %s has gone with its system",
                       what->system->id, kind_of(what));
    }
    return tell_end(s, &w);
}
