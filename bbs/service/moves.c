#include "bbs/service/moves.h"

#include "bbs/service/service.h"
#include "common/lifecycle/service.h"
#include "common/model/head.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

/* ---- What is read ---------------------------------------------------------------------------- */

/* The system is found by its id, which the move says; another one of that id tells nothing. */
static void gather_system(struct view *v, const char *uid, const char *id, unsigned reads,
                          struct service_snapshot *s)
{
    struct arena *a = view_arena(v);
    if (strcmp(uid, SERVICE_APPS_UID) == 0 || !id[0]) {
        return;
    }
    const Board__SystemRecord *system = view_message(v, key_system(a, id));
    s->system = system && strcmp(system->uid, uid) == 0 ? system : NULL;
    s->hold = view_message(v, key_hold(a, uid));
    if (reads & READS_HEAD) {
        s->head = view_message(v, key_head(a, uid));
    }
}

/* Whether what stands in the head has a component at the path. */
static void gather_wanted(struct view *v, const char *path, struct service_snapshot *s)
{
    const Board__Root *root = s->head ? head_root(s->head, path) : NULL;
    s->wanted = root && root->tree[0] && view_exists(v, key_tree(view_arena(v), root->tree, path));
}

static void service_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct service_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    unsigned reads = move_row_named(&service_moves, m->move)->reads;
    const char *uid = move_name(a, m), *path = move_part(a, m);
    const struct seen *seen = view_get(v, move_key(a, m));
    speaker_gather(v, in, &s->by);
    s->board_generation = view_board_generation(v);
    s->service = seen ? (const Board__ServiceRecord *)seen->message : NULL;
    s->revision = seen ? seen->mod_revision : 0;
    if (reads & READS_SYSTEM) {
        gather_system(v, uid, move_service(m)->system, reads, s);
    }
    if (reads & READS_COMPONENT) {
        target_gather(v, in, s);
    } else if (reads & READS_HEAD) {
        gather_wanted(v, path, s);
    }
    if (!s->service) {
        return;
    }
    if (reads & READS_REVISION) {
        roll_gather(v, in, s);
    } else if (reads & READS_STANDING) {
        unroute_gather(v, in, s);
    } else if (reads & READS_LEFT) {
        left_gather(v, s);
    }
}

/* ---- What is decided ------------------------------------------------------------------------- */

/* Rows whose move says which record was judged. */
static bool is_judged(const char *name)
{
#define MOVE_ROW(move, absents, read, guard, judged, refusal, decides)                             \
    if (strcmp(name, #move) == 0) {                                                                \
        return judged;                                                                             \
    }
#include "bbs/service/moves.def"
    return false;
}

static bool service_begin(struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    t->record = s->service ? &s->service->base : NULL;
    t->from = service_state(s->service);
    if (s->service && is_judged(t->row->name) && t->move->subject->revision != s->revision) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "the service is another by now: look again");
        return false;
    }
    return true;
}

static uint32_t none_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

/* ---- What a move must say -------------------------------------------------------------------- */

static void valid_text(struct validation *v, const char *text, const char *field)
{
    if (strlen(text) > SERVICE_MESSAGE_BYTES_MAX) {
        say_field(v, field);
    }
}

static bool good_counts(const Board__Counts *c)
{
    return !c || (c->total >= 0 && c->updated >= 0 && c->available >= 0 && c->terminating >= 0);
}

/* Its key is well formed (moves.h): uid and path are not empty. */
static void valid_service_move(struct validation *v, const Board__Move *move)
{
    const Board__ServiceMove *m = move_service(move);
    SCOPED_ARENA(a);
    if (move_part(&a, move)[0] != '/') {
        say_field(v, "path");
    }
    if (strcmp(move->move, "target") == 0 && (!m->tree[0] || !m->holder[0])) {
        say_field(v, m->tree[0] ? "holder" : "tree");
    }
    if (m->instances < 0 || m->index < 0) {
        say_field(v, m->index < 0 ? "index" : "instances");
    }
    if (!good_counts(m->counts)) {
        say_field(v, "counts");
    }
    valid_text(v, m->message, "message");
    valid_text(v, m->fault, "fault");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

#define MOVE_ROW(move, absents, read, guard, judged, refusal, decides)                             \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, refusal);                      \
    }
#include "bbs/service/moves.def"

static void service_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&service_moves, snapshot, in, p);
}

static const struct op_row service_move_op = {
    .name = "move of a service",
    .target = move_subject_key,
    .gather = service_gather,
    .decide = service_decide,
    .snapshot_size = sizeof(struct service_snapshot),
};

enum {
    SYSTEM = READS_SYSTEM,
    HEAD = READS_HEAD,
    COMPONENT = READS_COMPONENT,
    REVISION = READS_REVISION,
    STANDING = READS_STANDING,
    LEFT = READS_LEFT,
};

#define MOVE_ROW(move, absents, read, guard, judged, refusal, decides)                             \
    {                                                                                              \
        .name = #move, .valid = valid_service_move, .reads = read, .absent = ABSENT_##absents,     \
        .guards = guard##_guards, .refuse = refuse_##move, .decide = decides##_decide,             \
        .op = &service_move_op, .op_of_rep = &service_move_op,                                     \
    },
static const struct move_row rows[] = {
#include "bbs/service/moves.def"
};

const struct move_family service_moves = {
    .lifecycle = &service_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = service_begin,
};
