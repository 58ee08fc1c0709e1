/* Systems, and that a bbs is well. */
#include "bbs/rest/show.h"
#include "bbs/system/system.h"

void rest_health(struct rest *q, struct view *v, const Board__SystemRecord *system,
                 struct effects *out)
{
    (void)v;
    (void)system;
    effects_reply(out, q->ask->request_id, 200, REST_TYPE, bytes_of("{}\n"));
}

void rest_systems(struct rest *q, struct view *v, const Board__SystemRecord *system,
                  struct effects *out)
{
    (void)system;
    const struct rest_range range = {.type = RECORD_SYSTEM, .key = "system/"};
    rest_answer_list(v, &range, show_system, q->ask->request_id, out);
}

/* One that is not there is a mistake in what is asked: there is nothing above it. */
void rest_system(struct rest *q, struct view *v, const Board__SystemRecord *system,
                 struct effects *out)
{
    if (system) {
        rest_answer(out, q->ask->request_id, 200, show_system(view_arena(v), &system->base));
    } else {
        rest_refuse(out, q->ask->request_id, 400, "INVALID_SYSTEM_ID", "there is no system %s",
                    q->system);
    }
}

void rest_create_system(struct rest *q, struct effects *out)
{
    const Board__RestSystemRequest *body = q->body;
    Board__CreateSystemRequest *r =
        arena_message(q->ask->arena, &board__create_system_request__descriptor);
    r->id = body->id;
    r->definition_url = body->definition_url;
    r->ssh_key = body->ssh_key;
    r->uid = rest_new_id(q);
    q->of_system = true;
    q->invalid = "INVALID_SYSTEM_OPTIONS";
    q->status = 201;
    q->show = show_system;
    valid_create_system(&q->ask->faults, r);
    rest_op(q, &create_system_row, &r->base, out);
}

static void change_system(struct rest *q, const struct op_row *row, struct effects *out)
{
    Board__SystemRequest *r = arena_message(q->ask->arena, &board__system_request__descriptor);
    r->system = arena_strdup(q->ask->arena, q->system);
    q->of_system = true;
    q->invalid = "INVALID_SYSTEM_ID";
    q->show = show_system;
    valid_system_request(&q->ask->faults, r);
    rest_op(q, row, &r->base, out);
}

void rest_delete_system(struct rest *q, struct effects *out)
{
    change_system(q, &delete_system_row, out);
}

void rest_confirm_system(struct rest *q, struct effects *out)
{
    change_system(q, &confirm_system_row, out);
}
