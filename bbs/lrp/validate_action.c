/* Actions (behaviour.md 9). The scan of the body has bounded the nesting. */
#include "bbs/lrp/validate.h"

#include <strings.h>

static void need(struct validation *v, const char *value, const char *field)
{
    if (!value[0]) {
        say_field(v, field);
    }
}

void valid_checksum(struct validation *v, const char *algorithm, const char *value)
{
    if (value[0] && !algorithm[0]) {
        say_field(v, "checksum algorithm");
    }
    if (!value[0] && algorithm[0]) {
        say_field(v, "checksum value");
    }
    if (value[0] && algorithm[0] && strcasecmp(algorithm, "md5") != 0 &&
        strcasecmp(algorithm, "sha1") != 0 && strcasecmp(algorithm, "sha256") != 0) {
        say_field(v, "invalid algorithm");
    }
}

static void valid_download(struct validation *v, const Models__DownloadAction *d)
{
    need(v, d->from, "from");
    need(v, d->to, "to");
    need(v, d->user, "user");
    valid_checksum(v, d->checksum_algorithm, d->checksum_value);
}

static void valid_upload(struct validation *v, const Models__UploadAction *u)
{
    need(v, u->to, "to");
    need(v, u->from, "from");
    need(v, u->user, "user");
}

/* An image may say both; a path beside it would be a word too many. */
static void valid_run(struct validation *v, const Models__RunAction *r)
{
    if (!r->from_image) {
        need(v, r->path, "path");
        need(v, r->user, "user");
    } else if (r->path[0]) {
        say_field(v, "from_image");
    }
}

static void valid_inner(struct validation *v, const Models__Action *inner)
{
    if (!inner) {
        say_field(v, "action");
    } else {
        valid_action(v, inner);
    }
}

static void valid_actions(struct validation *v, Models__Action *const *actions, size_t count)
{
    if (count == 0) {
        say_field(v, "actions");
    }
    for (size_t i = 0; i < count; i++) {
        valid_action(v, actions[i]);
    }
}

static void valid_timeout(struct validation *v, const Models__TimeoutAction *t)
{
    valid_inner(v, t->action);
    if (t->timeout_ms <= 0) {
        say_field(v, "timeout_ms");
    }
}

/* The first member counts, in the order of the fields. */
void valid_action(struct validation *v, const Models__Action *a)
{
    if (a->download_action) {
        valid_download(v, a->download_action);
    } else if (a->upload_action) {
        valid_upload(v, a->upload_action);
    } else if (a->run_action) {
        valid_run(v, a->run_action);
    } else if (a->timeout_action) {
        valid_timeout(v, a->timeout_action);
    } else if (a->emit_progress_action) {
        valid_inner(v, a->emit_progress_action->action);
    } else if (a->try_action) {
        valid_inner(v, a->try_action->action);
    } else if (a->parallel_action) {
        valid_actions(v, a->parallel_action->actions, a->parallel_action->n_actions);
    } else if (a->serial_action) {
        valid_actions(v, a->serial_action->actions, a->serial_action->n_actions);
    } else if (a->codependent_action) {
        valid_actions(v, a->codependent_action->actions, a->codependent_action->n_actions);
    } else {
        say_field(v, "inner-action");
    }
}
