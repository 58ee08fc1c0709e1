/* YL4: whatever of a system is not final explains itself, at each look: its record has a message,
 * or `bbs why` has more to say of it than its state. */
#include "bbs/cli/system_why.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

enum { PARTS_MOST = 512 };

struct part_view {
    struct checkers *k;
    struct arena *arena;
    struct system_view view;
};

#define TAKE(name, type, list, count)                                                              \
    static void name(void *context, const struct past *p)                                          \
    {                                                                                              \
        struct part_view *s = context;                                                             \
        if (s->view.count < PARTS_MOST) {                                                          \
            s->view.list[s->view.count++] = (type *)(uintptr_t)p->message;                         \
        }                                                                                          \
    }
TAKE(take_service, Board__ServiceRecord, services, service_count)
TAKE(take_build, Board__BuildRecord, builds, build_count)
TAKE(take_deploy, Board__DeployRecord, deploys, deploy_count)
TAKE(take_teardown, Board__TeardownRecord, teardowns, teardown_count)
TAKE(take_run, Board__JobRunRecord, runs, run_count)

static void view_of_system(struct part_view *s, const Board__SystemRecord *system)
{
    static const Board__HoldRecord none = BOARD__HOLD_RECORD__INIT;
    struct arena *a = s->arena;
    const struct history *h = &s->k->history;
    const ProtobufCMessage *hold = history_now(h, key_hold(a, system->uid));
    s->view = (struct system_view){
        .board_generation = "",
        .system = system,
        .head = (const Board__HeadRecord *)history_now(h, key_head(a, system->uid)),
        .hold = hold ? (const Board__HoldRecord *)hold : &none,
        .services = ARENA_ARRAY(a, PARTS_MOST, Board__ServiceRecord *),
        .builds = ARENA_ARRAY(a, PARTS_MOST, Board__BuildRecord *),
        .deploys = ARENA_ARRAY(a, PARTS_MOST, Board__DeployRecord *),
        .teardowns = ARENA_ARRAY(a, PARTS_MOST, Board__TeardownRecord *),
        .runs = ARENA_ARRAY(a, PARTS_MOST, Board__JobRunRecord *),
    };
    history_each(h, key_range_of(a, RECORD_SERVICE, system->uid), take_service, s);
    history_each(h, key_range_of(a, RECORD_BUILD, system->uid), take_build, s);
    history_each(h, key_range_of(a, RECORD_DEPLOY, system->uid), take_deploy, s);
    history_each(h, key_range_of(a, RECORD_TEARDOWN, system->uid), take_teardown, s);
    history_each(h, key_range_of(a, RECORD_JOB_RUN, system->uid), take_run, s);
}

/* The first line says the state; `message` is a part of it. */
static void demand(struct part_view *s, const char *what, const char *id, const char *state,
                   const char *message, const struct system_why *w)
{
    bool final = strcmp(state, "stable") == 0 || strcmp(state, "succeeded") == 0;
    s->k->seen[SEEN_EXPLAINED] += !final;
    if (!final && !*message && w->count < 2) {
        checkers_report(s->k, "YL4", "%s %s of %s is %s, and nothing says why", what, id,
                        s->view.system->id, state);
    }
}

#define EACH_PART(list, number, says, what, name)                                                  \
    for (size_t i = 0; i < s.view.number; i++) {                                                   \
        says;                                                                                      \
        demand(&s, what, s.view.list[i]->name, s.view.list[i]->state, s.view.list[i]->message,     \
               &w);                                                                                \
    }

static void explain_one(void *context, const struct past *p)
{
    SCOPED_ARENA(a);
    struct part_view s = {.k = context, .arena = &a};
    struct system_why w;
    int64_t now = world_wall(s.k->cluster->world);
    view_of_system(&s, (const Board__SystemRecord *)p->message);
    const struct system_view *v = &s.view;
    system_why(&a, v, "/", now, &w);
    demand(&s, "all", "", v->system->state, v->system->message, &w);
    EACH_PART(services, service_count, system_why(&a, v, v->services[i]->path, now, &w), "service",
              path)
    EACH_PART(builds, build_count, system_why_build(&a, v, v->builds[i], now, &w), "build", id)
    EACH_PART(deploys, deploy_count, system_why_deploy(&a, v, v->deploys[i], now, &w), "deploy",
              id)
    EACH_PART(teardowns, teardown_count, system_why_teardown(&a, v, v->teardowns[i], now, &w),
              "teardown", id)
    EACH_PART(runs, run_count, system_why_run(&a, v, v->runs[i], now, &w), "run", id)
}

void check_explained(struct checkers *k)
{
    history_each(&k->history, "system/", explain_one, k);
}
