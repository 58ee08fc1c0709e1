#include "bbs/lrp/desired.h"

#include "common/model/service_owner.h"

#include <string.h>

void desired_split(struct arena *a, const Models__DesiredLRP *whole,
                   Models__DesiredLRP **ret_scheduling, Models__DesiredLRP **ret_run)
{
    Models__DesiredLRP *s = arena_message(a, &models__desired_lrp__descriptor);
    Models__DesiredLRP *run = arena_copy(a, whole, sizeof(*whole));
    run->base.n_unknown_fields = 0;
    run->base.unknown_fields = NULL;
#define MOVE_FIELD(field)                                                                          \
    do {                                                                                           \
        Models__DesiredLRP empty = MODELS__DESIRED_LRP__INIT;                                      \
        s->field = whole->field;                                                                   \
        run->field = empty.field;                                                                  \
    } while (0)
    MOVE_FIELD(process_guid);
    MOVE_FIELD(domain);
    MOVE_FIELD(log_guid);
    MOVE_FIELD(root_fs);
    MOVE_FIELD(instances);
    MOVE_FIELD(memory_mb);
    MOVE_FIELD(disk_mb);
    MOVE_FIELD(max_pids);
    MOVE_FIELD(routes);
    MOVE_FIELD(annotation);
    MOVE_FIELD(modification_tag);
    MOVE_FIELD(n_metric_tags);
    MOVE_FIELD(metric_tags);
    MOVE_FIELD(metrics_guid);
    MOVE_FIELD(n_placementtags);
    MOVE_FIELD(placementtags);
    MOVE_FIELD(n_volume_mounts);
    MOVE_FIELD(volume_mounts);
    MOVE_FIELD(owner);
    MOVE_FIELD(on_cell_loss);
    MOVE_FIELD(on_evacuate);
    MOVE_FIELD(slice);
#undef MOVE_FIELD
    *ret_scheduling = s;
    *ret_run = run;
}

void desired_gather(struct view *v, const char *process_guid, struct desired_snapshot *s)
{
    struct arena *a = view_arena(v);
    s->desired = view_message(v, key_desired(a, process_guid));
    s->job = view_message(v, key_job(a, process_guid, ""));
    s->board_generation = view_board_generation(v);
}

bool desired_owner_is_free(const Models__Owner *owner)
{
    return !owner || strcmp(owner->kind, SERVICE_OWNER_KIND) != 0;
}

/* A service's own changes are the bbs's. Its record is only for the words. */
void desired_gather_owned(struct view *v, const struct op_input *in, struct desired_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Models__Owner *owner = s->desired ? s->desired->owner : NULL;
    slice_use_gather(v, in, s->desired ? s->desired->slice : "", &s->use);
    if (in->actor != ACTOR_CLIENT || !service_owner_is(owner)) {
        return;
    }
    const char *app = service_owner_app(owner);
    const Board__ServiceRecord *service = view_peek_message(v, service_owner_key(a, owner));
    s->owned = app ? arena_printf(a, "belongs to the app %s: bbs apply, scale and rm change it",
                                  app)
                   : arena_printf(a, "belongs to service %s:%s; deploy a change",
                                  service ? service->system : service_owner_uid(a, owner),
                                  service_owner_path(owner));
}

bool desired_refuses(const struct desired_snapshot *s, const struct op_input *in,
                     const Board__Term *term, struct plan *p)
{
    if (s->owned) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s", s->owned);
    }
    return s->owned || !slice_use_permitted(&s->use, in, term, p);
}

static const char *removal_key(struct arena *a, const Models__DesiredLRP *desired)
{
    return key_removal(a, desired->process_guid, desired->modification_tag->epoch);
}

void desired_gather_removal(struct view *v, struct desired_snapshot *s)
{
    const char *key = removal_key(view_arena(v), s->desired);
    s->removal_unreadable = view_unreadable(v, key);
    if (!s->removal_unreadable) {
        view_get(v, key);
    }
}

void desired_put_removal(struct plan *p, const struct desired_snapshot *s, int32_t from_index,
                         const char *move, enum actor actor)
{
    if (s->removal_unreadable) {
        return;
    }
    Board__RemovalRecord *removal = arena_message(p->arena, &board__removal_record__descriptor);
    removal->process_guid = s->desired->process_guid;
    removal->definition_id = s->desired->modification_tag->epoch;
    removal->from_index = from_index;
    removal->board_generation = arena_strdup(p->arena, s->board_generation);
    plan_put(p, removal_key(p->arena, s->desired), move, actor, &removal->base);
}

void desired_gather_instances(struct view *v, const char *process_guid, int32_t wanted,
                              const char *definition_id, int32_t from, int32_t end,
                              struct desired_snapshot *s)
{
    if (s->job) {
        const Board__JobRecord__Instances left = instances_of_job(s->job);
        from = left.cursor < from ? left.cursor : from;
        end = left.end > end ? left.end : end;
    }
    instances_gather(v, process_guid, wanted, definition_id, from, end, &s->instances);
}
