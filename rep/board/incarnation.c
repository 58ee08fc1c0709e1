#include "rep/board/incarnation.h"

#include "rep/container/back_off.h"
#include "rep/inside.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_DECODED_MAX = 4 * 1024 * 1024 };

static Models__Provider *provider(struct arena *a, const char *scheme, const char *const *names)
{
    Models__Provider *p = arena_message(a, &models__provider__descriptor);
    p->name = (char *)(uintptr_t)scheme;
    p->n_properties = rep_list_size(names);
    p->properties = (char **)(uintptr_t)names;
    return p;
}

static void add_providers(const struct rep_config *config, struct arena *a,
                          Models__CellPresence *p)
{
    p->rootfs_providers = ARENA_ARRAY(a, 4, Models__Provider *);
    p->rootfs_providers[p->n_rootfs_providers++] = provider(a, "preloaded", config->rootfs_names);
    p->rootfs_providers[p->n_rootfs_providers++] =
        provider(a, "preloaded+layer", config->rootfs_names);
    if (config->pulls_images) {
        p->rootfs_providers[p->n_rootfs_providers++] = provider(a, "docker", NULL);
        p->rootfs_providers[p->n_rootfs_providers++] = provider(a, "oci", NULL);
    }
}

/* What the cell says of itself (rep-auctioneer.md 1). */
static Models__CellPresence *presence(const struct rep *r, struct arena *a)
{
    const struct rep_config *config = &r->config;
    Models__CellPresence *p = arena_message(a, &models__cell_presence__descriptor);
    p->cell_id = (char *)config->cell_id;
    p->rep_address = (char *)config->url;
    p->rep_url = (char *)config->url;
    p->zone = (char *)config->zone;
    p->capacity = arena_message(a, &models__cell_capacity__descriptor);
    p->capacity->memory_mb = config->memory_mb;
    p->capacity->disk_mb = config->disk_mb;
    p->capacity->containers = config->containers;
    add_providers(config, a, p);
    p->n_placement_tags = rep_list_size(config->placement_tags);
    p->placement_tags = (char **)config->placement_tags;
    p->n_optional_placement_tags = rep_list_size(config->optional_placement_tags);
    p->optional_placement_tags = (char **)config->optional_placement_tags;
    return p;
}

uint64_t incarnation_call(struct rep *r, bool leave, struct effects *out)
{
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    cell.presence = presence(r, out->arena);
    cell.state = BOARD__CELL_RECORD__STATE__PRESENT;
    cell.incarnation = r->config.incarnation;
    cell.identity = (char *)r->config.identity;
    cell.admin_url = (char *)r->config.admin_url;
    cell.evacuating = r->drain.on;
    cell.evacuate_until = r->drain.on ? r->drain.until_wall_ns : 0;
    Board__CellRequest request = BOARD__CELL_REQUEST__INIT;
    request.cell = &cell;
    request.leave = leave;
    request.known = !leave && r->incarnation.open;
    return boards_call(&r->boards, out, "/v1/board/cell", "", &request.base,
                       r->now.mono_ns + BOARD_CALL_TIMEOUT_NS);
}

static void ask(struct rep *r, struct effects *out)
{
    assert(!r->incarnation.call_id && !r->incarnation.raising);
    r->incarnation.tell = false;
    r->incarnation.url = boards_url(&r->boards);
    r->incarnation.call_id = incarnation_call(r, false, out);
    assert(r->incarnation.call_id);
}

/* Asked again later, at the next bbs; reported once for each reason, and once more when it is a
 * warning. */
static void wait_for_board(struct rep *r, const char *why, struct effects *out)
{
    struct incarnation *s = &r->incarnation;
    boards_failed(&r->boards, s->url);
    s->tell |= s->open;
    s->failures++;
    s->retry_ns = r->now.mono_ns + back_off_ns(&r->random, s->failures);
    bool calm = !s->was_open && s->failures <= INCARNATION_CALM_FAILURES;
    bool grave = !s->was_open && s->failures == INCARNATION_CALM_FAILURES + 1;
    if (grave || strncmp(s->why, why, sizeof(s->why) - 1) != 0) {
        snprintf(s->why, sizeof(s->why), "%s", why);
        effects_log(out, calm ? LOG_INFO_LEVEL : LOG_WARN_LEVEL, "waiting for a bbs",
                    "url=%s why=\"%s\"", s->url, why);
    }
}

static void end(struct rep *r, int code, const char *why, struct effects *out)
{
    assert(!r->ended);
    effects_log(out, LOG_ERROR_LEVEL, "the board refuses this cell",
                "cell_id=%s incarnation=%llu why=\"%s\"", r->config.cell_id,
                (unsigned long long)r->config.incarnation, why);
    effects_exit(out, code,
                 arena_printf(out->arena, "the board refuses cell %s: %s; its containers run on",
                              r->config.cell_id, why));
    r->ended = true;
}

/* Errors that say nothing about this cell. */
static bool passes_by_itself(Models__Error__Type type)
{
    return type == MODELS__ERROR__TYPE__UnknownError || type == MODELS__ERROR__TYPE__Timeout ||
           type == MODELS__ERROR__TYPE__Deadlock || type == MODELS__ERROR__TYPE__Unrecoverable;
}

/* The board lost us: nothing that we asked before it counts any more, and what we ask from now on
 * bears another number. */
static void raise_incarnation(struct rep *r, uint64_t above, struct effects *out)
{
    assert(above >= r->config.incarnation && above < UINT64_MAX);
    r->incarnation.raising = above + 1;
    effects_log(out, LOG_WARN_LEVEL, "this cell was lost",
                "cell_id=%s incarnation=%llu raised_to=%llu", r->config.cell_id,
                (unsigned long long)r->config.incarnation,
                (unsigned long long)r->incarnation.raising);
    effects_add(out, EFFECT_INCARNATION)->incarnation = r->incarnation.raising;
}

static void raised(struct rep *r, const struct incarnation_kept *kept, struct effects *out)
{
    r->incarnation.raising = 0;
    if (kept->text[0]) {
        wait_for_board(r, arena_printf(out->arena, "cannot keep an incarnation: %s", kept->text),
                       out);
        return;
    }
    assert(kept->incarnation > r->config.incarnation);
    r->config.incarnation = r->heartbeat.incarnation = kept->incarnation;
}

/* The record that refused us is that of a cell which is lost, with an incarnation not below ours.
 * */
static bool was_lost(const struct rep *r, const Board__CellResponse *answer)
{
    return answer->cell && answer->cell->state == BOARD__CELL_RECORD__STATE__LOST &&
           answer->cell->incarnation >= r->config.incarnation &&
           answer->cell->incarnation < UINT64_MAX;
}

static bool opened(struct rep *r, const Board__CellResponse *answer, struct effects *out)
{
    if (answer->error && passes_by_itself(answer->error->type)) {
        wait_for_board(r, answer->error->message, out);
        return false;
    }
    if (answer->error && answer->error->type == MODELS__ERROR__TYPE__ResourceNotFound) {
        incarnation_lost(r, answer->error->message, out);
        return false;
    }
    if (answer->error && was_lost(r, answer)) {
        incarnation_lost(r, answer->error->message, out);
        raise_incarnation(r, answer->cell->incarnation, out);
        return false;
    }
    if (answer->error) {
        end(r, EXIT_CELL_TAKEN, answer->error->message, out);
        return false;
    }
    if (*r->feed_client.board_generation &&
        strcmp(r->feed_client.board_generation, answer->board_generation) != 0) {
        /* Moves for the old one are all refused. */
        feed_client_hurry(&r->feed_client, out);
    }
    struct incarnation *s = &r->incarnation;
    bool changed = !s->open;
    s->open = s->was_open = true;
    s->failures = 0;
    s->why[0] = '\0';
    if (!changed) {
        return false;
    }
    r->containers.version++;
    effects_log(out, LOG_INFO_LEVEL, "incarnation begun", "cell_id=%s incarnation=%llu url=%s",
                r->config.cell_id, (unsigned long long)r->config.incarnation, s->url);
    return true;
}

static bool answered(struct rep *r, const struct response *response, struct effects *out)
{
    r->incarnation.call_id = 0;
    if (response->outcome == CALL_ANSWERED && response->status == 403) {
        end(r, EXIT_CELL_DENIED, "its certificate does not name this cell (403)", out);
        return false;
    }
    const char *why;
    const Board__CellResponse *answer = (const Board__CellResponse *)boards_answer(
        out->arena, response, &board__cell_response__descriptor, ANSWER_DECODED_MAX, &why);
    if (!answer) {
        wait_for_board(r, why, out);
        return false;
    }
    return opened(r, answer, out);
}

bool incarnation_step(struct rep *r, const struct event *ev, struct effects *out)
{
    struct incarnation *s = &r->incarnation;
    bool changed = false;
    if (s->call_id && ev->kind == EVENT_RESPONSE && ev->response.id == s->call_id) {
        changed = answered(r, &ev->response, out);
    }
    if (s->raising && ev->kind == EVENT_INCARNATION && ev->incarnation.incarnation == s->raising) {
        raised(r, &ev->incarnation, out);
    }
    if (r->ended || (s->open && !s->tell) || s->call_id || s->raising) {
        return changed;
    }
    if (r->now.mono_ns >= s->retry_ns) {
        ask(r, out);
    } else {
        effects_due(out, s->retry_ns);
    }
    return changed;
}

void incarnation_tell(struct rep *r)
{
    r->incarnation.tell = r->incarnation.open || r->incarnation.call_id;
}

void incarnation_lost(struct rep *r, const char *why, struct effects *out)
{
    struct incarnation *s = &r->incarnation;
    if (!s->open) {
        return;
    }
    s->open = false;
    s->failures++;
    s->retry_ns = r->now.mono_ns + back_off_ns(&r->random, s->failures);
    r->containers.version++;
    heartbeat_sender_stop(&r->heartbeat_sender);
    effects_log(out, LOG_WARN_LEVEL, "incarnation lost", "cell_id=%s incarnation=%llu why=\"%s\"",
                r->config.cell_id, (unsigned long long)r->config.incarnation, why);
}
