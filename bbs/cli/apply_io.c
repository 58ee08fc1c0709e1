#include "bbs/cli/commands_io.h"
#include "bbs/cli/file_kind.h"
#include "bbs/cli/session_io.h"
#include "common/appfile/app_file_io.h"
#include "common/cli/cli_io.h"
#include "common/model/service_owner.h"

#include <stdio.h>
#include <string.h>

/* How often a service is looked at that is to go. */
enum { POLL_MS = 200 };

static Board__ServiceRequest request_of(struct session *s, const struct app *app)
{
    Board__ServiceRequest request = BOARD__SERVICE_REQUEST__INIT;
    request.action = BOARD__SERVICE_REQUEST__ACTION__TARGET;
    request.name = arena_strdup(&s->arena, app->name);
    request.desired_lrp = app->lrp;
    request.instances = app->instances_given ? app->lrp->instances : -1;
    return request;
}

static bool is_being_removed(int r, const struct err *err)
{
    return r == -ERR_CONFLICT && strstr(err->text, SERVICE_IS_REMOVED_TEXT);
}

/* Says it to a bbs, which does the rest. One of the name that is being removed is waited for. */
static int apply_one(struct session *s, struct application *a, struct err *err)
{
    const Board__ServiceRequest request = request_of(s, a->app);
    const Board__ServiceResponse *answer;
    struct cli_progress shown = {0};
    const char *waits = arena_printf(&s->arena, "%s: waits until the removed app %s is gone",
                                     a->app->name, a->app->name);
    int r = session_service_call(s, &s->arena, &request, &answer, err);
    while (is_being_removed(r, err) && session_left_ms(s) > 0 && !cli_interrupted()) {
        cli_progress(&shown, waits);
        cli_sleep_ms(POLL_MS);
        r = session_service_call(s, &s->arena, &request, &answer, err);
    }
    cli_progress(&shown, NULL);
    if (r < 0) {
        return session_about(s, a->app->name, r, err);
    }
    apply_take(&s->arena, answer, cli_client_may_have_done(s->client), a);
    a->done = true;
    r = session_line(s, a->app->name, a->app->lrp->process_guid, a->text, err);
    if (strncmp(a->text, "created", strlen("created")) == 0) {
        session_warn_of_rootfs(s, a->app->name, a->app->lrp->root_fs);
    }
    return r;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Whether the old definition stands still; ERR_CONFLICT when somebody wants another one. */
static int look_at_old(struct session *s, const struct application *a, const char *old,
                       bool *ret_stands, struct err *err)
{
    SCOPED_ARENA(scratch);
    const Board__ServiceResponse *answer = NULL;
    int r = session_service(s, &scratch, BOARD__SERVICE_REQUEST__ACTION__NONE, a->app->name,
                            &answer, err);
    if (r < 0 && r != -ERR_NOT_FOUND) {
        return r;
    }
    const Board__ServiceRecord *now = r < 0 ? NULL : answer->service;
    const char *other = apply_other(&scratch, now, a->app->lrp->process_guid, a->instances);
    s->unled = now && answer->unled;
    *ret_stands = now && apply_stands(now, old);
    return other ? err_set(err, ERR_CONFLICT, "%.60s: %s", a->app->name, other) : 0;
}

static int wait_for_replacement(struct session *s, const struct application *a, const char *old,
                                struct err *err)
{
    struct cli_progress shown = {0};
    bool stands = true;
    int r = 0;
    const char *text =
        arena_printf(&s->arena, "%s: the old definition (%s) is about to go", a->app->name, old);
    for (;;) {
        cli_client_limit(s->client, session_look_ms(session_left_ms(s)));
        r = look_at_old(s, a, old, &stands, err);
        bool late = r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT;
        if ((r < 0 && !late) || !stands || session_left_ms(s) == 0 || cli_interrupted()) {
            break;
        }
        cli_progress(&shown, text);
        cli_sleep_ms(POLL_MS);
    }
    cli_progress(&shown, NULL);
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted; %.180s; it goes on", text);
    }
    if (r == 0 && stands) {
        fprintf(stderr, "bbs: %s\n", text);
        session_warn_of_unled(s, a->app->name);
        return CLI_TIMEOUT;
    }
    return r;
}

/* Other definitions of the app go when this one runs; before, they run on. */
static int replace(struct session *s, const struct application *a, struct err *err)
{
    const char *name = a->app->name;
    int status = 0; /* of the first that does not stop */
    for (size_t i = 0; i < a->old_count; i++) {
        const char *old = a->old[i];
        int r = wait_for_replacement(s, a, old, err);
        if (r == 0) {
            r = session_line(s, name, old, "replaced, the old one is removed", err);
        }
        const char *what = arena_printf(&s->arena, "%s: the old definition (%s)", name, old);
        r = r != 0 || !s->wait ? r : session_wait(s, what, old, 0, err);
        if (r < 0) {
            return r;
        }
        status = status ? status : r;
    }
    return status;
}

static bool waits(const struct session *s, const struct application *a)
{
    return s->wait || a->old_count > 0;
}

static int note_old(struct session *s, const struct application *a, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < a->old_count && r == 0; i++) {
        r = session_note_placed(s, a->app->name, a->old[i], 0, err);
    }
    return r;
}

static int wait_for(struct session *s, const struct application *a, struct err *err)
{
    if (!waits(s, a)) {
        return 0;
    }
    const char *guid = a->app->lrp->process_guid;
    int r = note_old(s, a, err);
    if (r < 0) {
        return r;
    }
    s->settle = a->old_count > 0;
    s->app = a->app->name;
    r = session_wait(s, a->app->name, guid, a->instances, err);
    s->settle = false;
    s->app = NULL;
    if (r == 0) {
        return replace(s, a, err);
    }
    if (a->old_count > 0 && r != -ERR_CONFLICT) {
        fprintf(stderr,
                "bbs: %s: the old definition (%s) runs on; apply again to wait for the new one, or "
                "bbs abort %s to give it up\n",
                a->app->name, a->old[0], a->app->name);
    }
    return r;
}

/* What was waited for runs; an apply that began later may have another end in mind, or have reached
 * it: of several at once the last one says that it is done, the others that they were not the last.
 */
static int look_last(struct session *s, const struct application *a, struct err *err)
{
    SCOPED_ARENA(scratch);
    const Board__ServiceResponse *answer = NULL;
    int r = a->ran ? session_service(s, &scratch, BOARD__SERVICE_REQUEST__ACTION__NONE,
                                     a->app->name, &answer, err)
                   : 0;
    if (!a->ran || (r < 0 && r != -ERR_NOT_FOUND)) {
        return 0; /* nobody could be asked: what was to be done is done */
    }
    const char *rival =
        apply_rival(&scratch, r < 0 ? NULL : answer->service, a->app->lrp->process_guid);
    return rival ? err_set(err, ERR_CONFLICT, "%.60s: %s", a->app->name, rival) : 0;
}

/* One that fails leaves the others to be applied. */
static int apply_all(struct session *s, const struct app *apps, size_t count, struct err *err)
{
    struct application *all = ARENA_ARRAY(&s->arena, count, struct application);
    size_t applied = 0;
    for (size_t i = 0; i < count && session_goes_on(s); i++) {
        all[i].app = &apps[i];
        int r = apply_one(s, &all[i], err);
        applied += all[i].done;
        session_count(s, apps[i].name, r, err);
    }
    if (!session_goes_on(s)) {
        s->undone = arena_printf(&s->arena, "%zu of %zu applied", applied, count);
        return session_end(s, err);
    }
    for (size_t i = 0; i < count && session_goes_on(s); i++) {
        if (all[i].done) {
            int r = wait_for(s, &all[i], err);
            all[i].ran = r == 0 && waits(s, &all[i]);
            session_count(s, apps[i].name, r, err);
        }
    }
    for (size_t i = 0; i < count && session_goes_on(s); i++) {
        session_count(s, apps[i].name, look_last(s, &all[i], err), err);
    }
    return session_end(s, err);
}

/* Within one file the parser looks; the later of two would replace the earlier. */
static int check_names(const struct app *all, const char *const *files, size_t count,
                       struct err *err)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(all[i].name, all[k].name) == 0) {
                return err_set(err, ERR_INVALID, "the app \"%.60s\" is in %.80s and in %.80s",
                               all[i].name, files[k], files[i]);
            }
        }
    }
    return 0;
}

/* "shop:/api" is no file, unless there is one. */
static int read_one(struct session *s, const char *file, struct bytes *ret_text, struct err *err)
{
    const char *system, *path;
    int r = app_file_read(&s->arena, file, ret_text, err);
    if (r < 0 && name_is_part(&s->arena, file, &system, &path)) {
        return err_set(err, ERR_INVALID,
                       "%.40s:%.60s is of a system, and apply takes files of apps: bbs deploy "
                       "%.40s --path %.60s, or bbs deploy %.40s --file FILE",
                       system, path, system, path, system);
    }
    return r;
}

/* Why a file is none of apps: some are definitions of systems, or charms. */
static int no_app_file(struct session *s, const char *file, struct bytes text, int r,
                       struct err *err)
{
    enum file_kind kind = file_kind_of(&s->arena, file, text);
    const char *why = kind == FILE_OF_APPS
                          ? NULL
                          : file_kind_text(&s->arena, file, kind, "apply takes files of apps");
    return why ? err_set(err, ERR_INVALID, "%s", why) : r;
}

/* All files are read before anything is done: a mistake in the last one leaves all as it was. */
static int read_files(struct session *s, const struct invocation *call, struct app **ret_apps,
                      size_t *ret_count, struct err *err)
{
    struct app *all = ARENA_ARRAY(&s->arena, call->argument_count * APPS_MAX, struct app);
    const char **files = ARENA_ARRAY(&s->arena, call->argument_count * APPS_MAX, const char *);
    size_t total = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        struct bytes text;
        struct app *apps;
        size_t count;
        int r = read_one(s, call->arguments[i], &text, err);
        if (r < 0) {
            return r;
        }
        r = appfile_parse(&s->arena, call->arguments[i], text, &apps, &count, err);
        if (r < 0) {
            return no_app_file(s, call->arguments[i], text, r, err);
        }
        for (size_t k = 0; k < count; k++) {
            all[total] = apps[k];
            files[total++] = call->arguments[i];
        }
    }
    *ret_apps = all;
    *ret_count = total;
    return check_names(all, files, total, err);
}

static int apply_files(struct session *s, const struct invocation *call, struct err *err)
{
    struct app *apps = NULL;
    size_t count = 0;
    int r = read_files(s, call, &apps, &count, err);
    return r < 0 ? r : apply_all(s, apps, count, err);
}

SESSION_RUN(bbs_apply_run, apply_files)
