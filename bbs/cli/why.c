#include "bbs/cli/why.h"

#include "bbs/cli/lrps.h"
#include "bbs/cli/rootfs.h"
#include "bbs/cli/tasks.h"
#include "common/cli/check_text.h"
#include "common/cli/table.h"
#include "common/cli/unplaced_text.h"
#include "common/codec/json.h"
#include "common/contract/moment.h"

#include <stdarg.h>
#include <string.h>

static void say(struct why *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct why *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->count < WHY_LINES_MAX) {
        w->lines[w->count++] = arena_vprintf(w->arena, format, args);
    }
    va_end(args);
}

static const char *for_(const struct why *w, const struct why_facts *f, int64_t since_ns)
{
    return age_text(w->arena, f->now_ns - since_ns);
}

/* ---- Cells ---- */

static const Board__CellStatus *cell_of(const struct why_facts *f, const char *cell_id)
{
    for (size_t i = 0; f->cells && i < f->cells->n_cells; i++) {
        const Models__CellPresence *p = f->cells->cells[i]->presence;
        if (p && strcmp(p->cell_id, cell_id) == 0) {
            return f->cells->cells[i];
        }
    }
    return NULL;
}

static void say_cell(struct why *w, const struct why_facts *f, const char *cell_id)
{
    const Board__CellStatus *c = cell_of(f, cell_id);
    if (!c) {
        say(w, "its cell %s has left the board", cell_id);
    } else if (c->evacuating) {
        say(w, "its cell %s is being evacuated", cell_id);
    } else if (strcmp(c->state, "LOST (held)") == 0) {
        say(w, "its cell %s is silent, and held with others: bbs cells says what can be done",
            cell_id);
    } else if (strcmp(c->state, "PRESENT") != 0) {
        say(w, "its cell %s has been %s for %s", cell_id, c->state, for_(w, f, c->since));
    }
}

static void say_cells(struct why *w, const struct why_facts *f)
{
    size_t present = 0, evacuating = 0, count = f->cells ? f->cells->n_cells : 0;
    for (size_t i = 0; i < count; i++) {
        bool here = strcmp(f->cells->cells[i]->state, "PRESENT") == 0;
        evacuating += here && f->cells->cells[i]->evacuating;
        present += here && !f->cells->cells[i]->evacuating;
    }
    if (count == 0) {
        say(w, "there are no cells: start a rep");
    } else if (present < count) {
        size_t lost = count - present - evacuating;
        say(w, "cells that take work: %zu of %zu (%s%s%s)", present, count,
            evacuating ? arena_printf(w->arena, "%zu evacuating", evacuating) : "",
            evacuating && lost ? ", " : "",
            lost ? arena_printf(w->arena, "%zu lost", lost) : "");
    }
}

/* ---- Instances ---- */

static void say_crash(struct why *w, const struct why_facts *f, const Models__ActualLRP *r)
{
    int64_t at_ns = crash_restart_ns(&f->settings->crash, r->crash_count, r->since);
    if (*r->crash_reason) {
        say(w, "it crashed %s%s: %s", times_text(w->arena, r->crash_count),
            r->crash_count > 1 ? ", the last time" : "", r->crash_reason);
    }
    if (strcmp(r->state, "CRASHED") != 0) {
        return;
    }
    if (at_ns == NEVER_NS) {
        say(w, "it crashed too often: it is not started again; apply a change, or remove it");
    } else if (at_ns > f->now_ns) {
        /* `since` may be of a clock that is ahead: the converger waits no longer than this. */
        int64_t most_ns = crash_wait_ns(&f->settings->crash, r->crash_count);
        say(w, "it is started again in %s",
            age_text(w->arena, earlier_ns(at_ns - f->now_ns, most_ns)));
    } else {
        say(w, "it is started again when the converger looks next, within 30 s");
    }
}

static void say_rootfs(struct why *w, const struct why_facts *f, const char *rootfs)
{
    const char *why = rootfs_problem(w->arena, f->cells, rootfs);
    if (why) {
        say(w, "%s", why);
    }
}

static void say_unclaimed(struct why *w, const struct why_facts *f, const Models__DesiredLRP *lrp,
                          const Models__ActualLRP *r)
{
    w->waits = true;
    if (*r->placement_error) {
        say(w, "no cell takes it: %s", r->placement_error);
        if (lrp) {
            say_rootfs(w, f, lrp->root_fs);
        }
        say(w, "it is tried again whenever a cell changes, and every 10 s");
    } else {
        say(w, "it waits for the auctioneer to find a cell for it");
    }
    say_cells(w, f);
}

static void say_record(struct why *w, const struct why_facts *f, const Models__DesiredLRP *lrp,
                       const Models__ActualLRP *r)
{
    const Models__ActualLRPInstanceKey *at = r->actual_lrp_instance_key;
    bool placed = at && *at->cell_id;
    say(w, "%s%s%s for %s", state_text(w->arena, r), placed ? " on " : "",
        placed ? at->cell_id : "", for_(w, f, r->since));
    if (placed) {
        say_cell(w, f, at->cell_id);
    }
    if (r->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT) {
        say(w,
            "nobody knows whether it runs there; it is shown until the one that replaces it runs");
    } else if (r->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
        say(w, "it goes on there until the one that replaces it runs");
    }
    if (r->stopping) {
        say(w, "it was asked to stop; what does not end within 10 s is killed");
    }
    if (strcmp(r->state, "UNCLAIMED") == 0) {
        say_unclaimed(w, f, lrp, r);
    } else if (strcmp(r->state, "CLAIMED") == 0 && placed) {
        const Board__CellStatus *cell = cell_of(f, at->cell_id);
        say(w, "its cell makes its container, which this shows: rep containers --url %s",
            cell && *cell->presence->rep_url ? cell->presence->rep_url : "URL");
    }
    if (r->crash_count > 0) {
        say_crash(w, f, r);
    }
    if ((!lrp || r->actual_lrp_key->index >= lrp->instances) && !r->stopping) {
        say(w, "%s", f->domain_fresh
                         ? "it is not desired any more, and is stopped"
                         : "it is not desired any more, but nobody vouches for its domain now: "
                           "it is not stopped before somebody does (bbs apply does for its apps)");
    }
}

void why_instance(struct arena *a, const struct why_facts *f, const Models__DesiredLRP *lrp,
                  const char *process_guid, int32_t index, Models__ActualLRP *const *actuals,
                  size_t count, struct why *ret_why)
{
    const char *name = lrp && !f->by_guid ? lrp_name(lrp) : process_guid;
    struct why w = {.arena = a,
                    .subject = arena_printf(a, "%s/%d", name, (int)index),
                    .guid = process_guid,
                    .index = index};
    bool runs = false;
    for (size_t i = 0; i < count; i++) {
        if (actuals[i]->actual_lrp_key && actuals[i]->actual_lrp_key->index == index) {
            say_record(&w, f, lrp, actuals[i]);
            runs = strcmp(actuals[i]->state, "RUNNING") == 0;
        }
    }
    w.well = runs && w.count == 1;
    if (w.count == 0 && lrp && index < lrp->instances) {
        say(&w, "it has no record; the converger makes one when it looks next, within 30 s");
    } else if (w.count == 0 && lrp && lrp->instances == 0) {
        say(&w, "there is none: no instance is desired");
    } else if (w.count == 0 && lrp) {
        say(&w, "there is none: %d %s desired, 0 to %d", (int)lrp->instances,
            lrp->instances == 1 ? "instance is" : "instances are", (int)lrp->instances - 1);
    }
    *ret_why = w;
}

/* ---- Tasks ---- */

static void say_pending(struct why *w, const struct why_facts *f, const Models__Task *t)
{
    w->waits = true;
    if (t->rejection_count > 0) {
        say(w, "it was rejected %s%s: %s", times_text(w->arena, t->rejection_count),
            t->rejection_count > 1 ? ", the last time" : "",
            *t->rejection_reason ? t->rejection_reason : "no reason was given");
    }
    if (t->task_definition) {
        say_rootfs(w, f, t->task_definition->root_fs);
    }
    const struct task_times *times = &f->settings->tasks;
    say(w, "it is offered to the cells every %s; it fails when none has started it within %s",
        age_text(w->arena, times->unplaced_after_ns), age_text(w->arena, times->expire_pending_ns));
    bool given = t->optional_max_retries_case == MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
    int retries = given ? (int)t->max_retries : (int)times->max_retries;
    say(w, "after %d rejection%s the next one fails it (max_retries)", retries,
        retries == 1 ? "" : "s");
    say_cells(w, f);
}

/* When it is deleted if nobody does so before. */
static void say_kept(struct why *w, const struct why_facts *f, const Models__Task *t)
{
    bool said = t->optional_keep_s_case == MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
    int64_t keep_ns = said ? t->keep_s * SECOND_NS : f->settings->tasks.expire_completed_ns;
    int64_t left_ns = t->first_completed_at + keep_ns - f->now_ns;
    const char *rule =
        said ? "keep"
             : arena_printf(w->arena,
                            "%s after its end, unless the converger is configured otherwise",
                            age_text(w->arena, keep_ns));
    const char *when = left_ns > 0
                           ? arena_printf(w->arena, "in %s", age_text(w->arena, left_ns))
                           : "when the converger looks next";
    say(w, "it is deleted %s (%s), or now by: bbs task %s --rm", when, rule, t->task_guid);
}

static void say_over(struct why *w, const struct why_facts *f, const Models__Task *t)
{
    const char *url = t->task_definition ? t->task_definition->completion_callback_url : "";
    if (t->failed) {
        say(w, "it failed: %s",
            *t->failure_reason ? task_failure_text(w->arena, t) : "no reason was given");
    }
    if (*url) {
        say(w, "its callback is sent the outcome, then it is deleted: %s", url);
    } else if (t->state == MODELS__TASK__STATE__Resolving) {
        say(w, "somebody takes note of how it ended, and deletes it");
    } else {
        say_kept(w, f, t);
    }
}

void why_checks(struct why *w, const Cell__LRP *told, int64_t now_ns)
{
    for (size_t i = 0; i < told->n_checks; i++) {
        say(w, "check %s", check_text(w->arena, told->checks[i], now_ns));
    }
}

void why_task(struct arena *a, const struct why_facts *f, const Models__Task *t,
              struct why *ret_why)
{
    struct why w = {.arena = a, .subject = task_name(t), .guid = t->task_guid, .index = -1};
    const char *age = for_(&w, f, task_is_over(t) ? t->first_completed_at : t->updated_at);
    say(&w, task_is_over(t) ? "%s%s%s %s ago" : "%s%s%s for %s", task_state_text(a, t),
        *task_cell(t) ? " on " : "", task_cell(t), age);
    if (t->state == MODELS__TASK__STATE__Pending) {
        say_pending(&w, f, t);
    } else if (task_is_over(t)) {
        say_over(&w, f, t);
    } else if (*t->cell_id) {
        say_cell(&w, f, t->cell_id);
        const Board__CellStatus *cell = cell_of(f, t->cell_id);
        if (!cell || strcmp(cell->state, "LOST") == 0) {
            say(&w,
                "a task runs at most once, so it is started nowhere else; it fails when its cell "
                "stays away for %s",
                age_text(a, f->settings->tasks.loss_ns));
        }
    }
    *ret_why = w;
}

/* ---- Printing ---- */

static void print_json(const struct why *w, struct bytes auctioneer, struct buf *out)
{
    buf_append_string(out, "{\"subject\":");
    json_string_text(bytes_of(w->subject), out);
    buf_append_string(out, ",\"guid\":");
    json_string_text(bytes_of(w->guid), out);
    if (w->index >= 0) {
        buf_printf(out, ",\"index\":%d", (int)w->index);
    }
    buf_append_string(out, ",\"explanation\":[");
    for (size_t i = 0; i < w->count; i++) {
        buf_append_string(out, i ? "," : "");
        json_string_text(bytes_of(w->lines[i]), out);
    }
    buf_append_string(out, "],\"auctioneer\":");
    if (!auctioneer.size || json_compact(auctioneer, out, NULL) < 0) {
        buf_append_string(out, "null");
    }
    buf_append_string(out, "}\n");
}

/* What another process wrote is not trusted with a terminal. */
static void print_line(const char *text, struct buf *out)
{
    printable_append(out, text);
    buf_append_string(out, "\n");
}

/* As far as this version knows it. */
void why_auctioneer_print(struct arena *a, struct bytes answer, struct buf *out)
{
    ProtobufCMessage *m;
    const char *lines[UNPLACED_LINES_MAX];
    if (!answer.size ||
        json_decode(a, &auction__why__descriptor, answer, CODEC_OWN, &m, NULL) < 0) {
        return;
    }
    size_t count = unplaced_lines(a, (const Auction__Why *)m, lines);
    buf_append_string(out, "    the auctioneer says:\n");
    for (size_t i = 0; i < count; i++) {
        print_line(arena_printf(a, "      %s", lines[i]), out);
    }
}

void why_say(struct why *w, const char *text)
{
    say(w, "%s", text);
}

void why_print(const struct why *w, struct bytes auctioneer, bool json, struct buf *out)
{
    if (json) {
        print_json(w, auctioneer, out);
        return;
    }
    print_line(arena_printf(w->arena, "%s: %s", w->subject, w->count ? w->lines[0] : "unknown"),
               out);
    for (size_t i = 1; i < w->count; i++) {
        buf_append_string(out, "    ");
        print_line(w->lines[i], out);
    }
    why_auctioneer_print(w->arena, auctioneer, out);
}
