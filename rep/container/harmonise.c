#include "rep/container/harmonise.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct harmonise_row {
    int number;
    enum harmony_container container;
    enum harmony_record record;
    enum harmony_action action;
    const char *why;
};

/* The numbers are those of docs/instances.md, Harmonising. Row 1 and the rows numbered 100
 * and up stand for all records (containers) that no other row names. */
static const struct harmonise_row rows[] = {
    /* INITIALIZING or CREATED */
    {2, WITH_STARTING, RECORD_IS_NONE, HARMONY_DELETE, "not desired any more"},
    {3, WITH_STARTING, RECORD_IS_UNCLAIMED, HARMONY_CLAIM, "starting here"},
    {4, WITH_STARTING, RECORD_IS_CLAIMED_BY_A, HARMONY_GO_ON, "starting here"},
    {5, WITH_STARTING, RECORD_IS_CLAIMED_BY_O, HARMONY_DELETE, "starting elsewhere"},
    {6, WITH_STARTING, RECORD_IS_RUNNING_ON_A, HARMONY_GO_ON, "should not be possible"},
    {7, WITH_STARTING, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "running elsewhere"},
    {8, WITH_STARTING, RECORD_IS_CRASHED, HARMONY_DELETE, "crashed, will be started later"},
    /* RUNNING */
    {9, WITH_RUNNING, RECORD_IS_NONE, HARMONY_START, "runs without a record"},
    {10, WITH_RUNNING, RECORD_IS_UNCLAIMED, HARMONY_START, "runs already"},
    {11, WITH_RUNNING, RECORD_IS_CLAIMED_BY_A, HARMONY_START, "runs now"},
    {12, WITH_RUNNING, RECORD_IS_CLAIMED_BY_O, HARMONY_START, "runs already"},
    {13, WITH_RUNNING, RECORD_IS_RUNNING_ON_A, HARMONY_KEEP, "as recorded"},
    {14, WITH_RUNNING, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "running elsewhere"},
    {15, WITH_RUNNING, RECORD_IS_CRASHED, HARMONY_START, "runs and is not crashed"},
    /* COMPLETED (crashed); 16: bbs records it only if the LRP is still desired */
    {16, WITH_CRASHED, RECORD_IS_NONE, HARMONY_CRASH, "crashed without a record"},
    {17, WITH_CRASHED, RECORD_IS_UNCLAIMED, HARMONY_DELETE, "will be scheduled elsewhere"},
    {18, WITH_CRASHED, RECORD_IS_CLAIMED_BY_A, HARMONY_CRASH, "crashed while starting"},
    {19, WITH_CRASHED, RECORD_IS_CLAIMED_BY_O, HARMONY_DELETE, "starting elsewhere"},
    {20, WITH_CRASHED, RECORD_IS_RUNNING_ON_A, HARMONY_CRASH, "crashed while running"},
    {21, WITH_CRASHED, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "running elsewhere"},
    {22, WITH_CRASHED, RECORD_IS_CRASHED, HARMONY_DELETE, "the crash is recorded"},
    /* COMPLETED (shutdown); 23: a stop that was asked must not restart itself */
    {23, WITH_SHUTDOWN, RECORD_IS_NONE, HARMONY_DELETE, "stopped as asked"},
    {24, WITH_SHUTDOWN, RECORD_IS_UNCLAIMED, HARMONY_DELETE, "stopped as asked"},
    {25, WITH_SHUTDOWN, RECORD_IS_CLAIMED_BY_A, HARMONY_REMOVE, "stopped as asked"},
    {26, WITH_SHUTDOWN, RECORD_IS_CLAIMED_BY_O, HARMONY_DELETE, "starting elsewhere"},
    {27, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_A, HARMONY_REMOVE, "stopped as asked"},
    {28, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "running elsewhere"},
    {29, WITH_SHUTDOWN, RECORD_IS_CRASHED, HARMONY_DELETE, "stopped as asked"},
    /* No container */
    {30, WITHOUT, RECORD_IS_CLAIMED_BY_A, HARMONY_UNCLAIM, "is not starting here"},
    {31, WITHOUT, RECORD_IS_RUNNING_ON_A, HARMONY_UNCLAIM, "is not running here"},
    /* An explicit stop */
    {32, WITHOUT, RECORD_IS_STOPPING_BY_A, HARMONY_REMOVE, "to be stopped, and not here"},
    {33, WITH_STARTING, RECORD_IS_STOPPING_BY_A, HARMONY_STOP, "the board asks for its stop"},
    {34, WITH_RUNNING, RECORD_IS_STOPPING_BY_A, HARMONY_STOP, "the board asks for its stop"},
    {35, WITH_CRASHED, RECORD_IS_STOPPING_BY_A, HARMONY_REMOVE, "ended while its stop was asked"},
    {36, WITH_SHUTDOWN, RECORD_IS_STOPPING_BY_A, HARMONY_REMOVE, "stopped as asked"},
    /* SUSPECT by A: do nothing, when completed remove it */
    {37, WITH_STARTING, RECORD_IS_SUSPECT_BY_A, HARMONY_GO_ON, "suspect until resolved"},
    {38, WITH_RUNNING, RECORD_IS_SUSPECT_BY_A, HARMONY_NOTHING, "suspect until resolved"},
    {39, WITH_CRASHED, RECORD_IS_SUSPECT_BY_A, HARMONY_REMOVE, "ended while suspect"},
    {40, WITH_SHUTDOWN, RECORD_IS_SUSPECT_BY_A, HARMONY_REMOVE, "ended while suspect"},
    {41, WITHOUT, RECORD_IS_SUSPECT_BY_A, HARMONY_REMOVE, "suspect and not here"},
    /* EVACUATING by A */
    {42, WITH_STARTING, RECORD_IS_EVACUATING_BY_A, HARMONY_GO_ON, "evacuating"},
    {43, WITH_RUNNING, RECORD_IS_EVACUATING_BY_A, HARMONY_START, "stays: nothing is emptied now"},
    {44, WITH_CRASHED, RECORD_IS_EVACUATING_BY_A, HARMONY_REMOVE, "ended while evacuating"},
    {45, WITH_SHUTDOWN, RECORD_IS_EVACUATING_BY_A, HARMONY_REMOVE, "ended while evacuating"},
    {46, WITHOUT, RECORD_IS_EVACUATING_BY_A, HARMONY_REMOVE_EVACUATING, "evacuating and not here"},
    /* The feed shows no own record: ask for what would be right; bbs knows the record and
     * refuses. */
    {47, WITH_STARTING, RECORD_IS_UNSEEN, HARMONY_CLAIM, "starting here"},
    {48, WITH_RUNNING, RECORD_IS_UNSEEN, HARMONY_START, "runs here"},
    {49, WITH_CRASHED, RECORD_IS_UNSEEN, HARMONY_CRASH, "crashed here"},
    {50, WITH_SHUTDOWN, RECORD_IS_UNSEEN, HARMONY_REMOVE, "stopped as asked"},
};

/* While the cell is being emptied these come first; what they do not name is as above. A container
 * that starts goes, one that runs goes on until bbs says that another has its place. */
static const struct harmonise_row evacuating_rows[] = {
    {51, WITH_STARTING, RECORD_IS_UNSEEN, HARMONY_EVACUATE_CLAIMED, "to be started elsewhere"},
    {52, WITH_STARTING, RECORD_IS_UNCLAIMED, HARMONY_DELETE, "to be started elsewhere"},
    {53, WITH_STARTING, RECORD_IS_CLAIMED_BY_A, HARMONY_EVACUATE_CLAIMED,
     "to be started elsewhere"},
    {54, WITH_STARTING, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_CLAIMED,
     "to be started elsewhere"},
    {55, WITH_STARTING, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_CLAIMED,
     "was being started elsewhere"},
    {56, WITH_STARTING, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_CLAIMED,
     "is being started elsewhere"},
    {57, WITH_RUNNING, RECORD_IS_UNSEEN, HARMONY_EVACUATE_RUNNING, "runs until it is replaced"},
    {58, WITH_RUNNING, RECORD_IS_NONE, HARMONY_EVACUATE_RUNNING, "runs until it is replaced"},
    {59, WITH_RUNNING, RECORD_IS_UNCLAIMED, HARMONY_EVACUATE_RUNNING, "runs until it is replaced"},
    {60, WITH_RUNNING, RECORD_IS_CLAIMED_BY_O, HARMONY_EVACUATE_RUNNING,
     "runs until it is replaced"},
    {61, WITH_RUNNING, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_RUNNING,
     "runs until it is replaced"},
    {62, WITH_RUNNING, RECORD_IS_CRASHED, HARMONY_DELETE, "crashed elsewhere"},
    {63, WITH_RUNNING, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_RUNNING,
     "runs until it is replaced"},
    {64, WITH_RUNNING, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_RUNNING,
     "runs until it is replaced"},
    {65, WITH_CRASHED, RECORD_IS_UNSEEN, HARMONY_EVACUATE_CRASHED, "crashed here"},
    {66, WITH_CRASHED, RECORD_IS_CLAIMED_BY_A, HARMONY_EVACUATE_CRASHED, "crashed while starting"},
    {67, WITH_CRASHED, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_CRASHED, "crashed while running"},
    {68, WITH_CRASHED, RECORD_IS_STOPPING_BY_A, HARMONY_EVACUATE_STOPPED,
     "ended while its stop was asked"},
    {69, WITH_CRASHED, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_CRASHED, "ended while suspect"},
    {70, WITH_CRASHED, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_CRASHED,
     "ended before it was replaced"},
    {71, WITH_SHUTDOWN, RECORD_IS_UNSEEN, HARMONY_EVACUATE_STOPPED, "stopped as asked"},
    {72, WITH_SHUTDOWN, RECORD_IS_CLAIMED_BY_A, HARMONY_EVACUATE_STOPPED, "stopped as asked"},
    {73, WITH_SHUTDOWN, RECORD_IS_RUNNING_ON_A, HARMONY_EVACUATE_STOPPED, "stopped as asked"},
    {74, WITH_SHUTDOWN, RECORD_IS_STOPPING_BY_A, HARMONY_EVACUATE_STOPPED, "stopped as asked"},
    {75, WITH_SHUTDOWN, RECORD_IS_SUSPECT_BY_A, HARMONY_EVACUATE_STOPPED, "stopped as asked"},
    {76, WITH_SHUTDOWN, RECORD_IS_EVACUATING_BY_A, HARMONY_EVACUATE_STOPPED, "stopped as asked"},
};

static const struct harmony reserved_any = {1, HARMONY_NOTHING, "merely a reservation"};
static const struct harmony foreign = {100, HARMONY_NOTHING, "a state of a later version"};
static const struct harmony not_ours = {101, HARMONY_NOTHING, "not this cell's"};
static const struct harmony again = {110, HARMONY_NOTHING, "refused for now"};
static const struct harmony final = {111, HARMONY_DELETE, "refused for good"};

/* The row of this pair; number 0: none. */
static struct harmony find(const struct harmonise_row *list, size_t count,
                           enum harmony_container container, enum harmony_record record)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].container == container && list[i].record == record) {
            return (struct harmony){list[i].number, list[i].action, list[i].why};
        }
    }
    return (struct harmony){.row = 0};
}

struct harmony harmonise_evacuating(enum harmony_container container, enum harmony_record record)
{
    assert(container < HARMONY_CONTAINER_COUNT && record < HARMONY_RECORD_COUNT);
    struct harmony h = find(evacuating_rows, sizeof(evacuating_rows) / sizeof(evacuating_rows[0]),
                            container, record);
    return h.row ? h : harmonise(container, record);
}

struct harmony harmonise(enum harmony_container container, enum harmony_record record)
{
    assert(container < HARMONY_CONTAINER_COUNT && record < HARMONY_RECORD_COUNT);
    if (container == WITH_RESERVED) {
        return reserved_any;
    }
    struct harmony h = find(rows, sizeof(rows) / sizeof(rows[0]), container, record);
    if (h.row) {
        return h;
    }
    /* What is left: a foreign state, or a record without container that names somebody else. */
    return record == RECORD_IS_FOREIGN ? foreign : not_ours;
}

/* Which error types say that the very move can not succeed, whatever is repeated. Others
 * (incarnation or board generation outdated, an internal error) say nothing about the instance. */
static bool refusal_is_final(enum harmony_action refused, Models__Error__Type type)
{
    switch (refused) {
    case HARMONY_CLAIM:
        return type == MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed ||
               type == MODELS__ERROR__TYPE__ResourceNotFound;
    case HARMONY_START:
        return type == MODELS__ERROR__TYPE__ActualLRPCannotBeStarted;
    case HARMONY_CRASH:
        return type == MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed ||
               type == MODELS__ERROR__TYPE__ResourceNotFound;
    case HARMONY_REMOVE:
    case HARMONY_REMOVE_EVACUATING:
        return type == MODELS__ERROR__TYPE__ActualLRPCannotBeRemoved ||
               type == MODELS__ERROR__TYPE__ResourceNotFound;
    case HARMONY_EVACUATE_CLAIMED:
    case HARMONY_EVACUATE_STOPPED:
    case HARMONY_EVACUATE_CRASHED:
        return type == MODELS__ERROR__TYPE__ResourceNotFound;
    default:
        return false;
    }
}

static struct harmony judge_refused(struct harmony (*table)(enum harmony_container,
                                                            enum harmony_record),
                                    enum harmony_container container, enum harmony_record record,
                                    enum harmony_action refused, Models__Error__Type type)
{
    assert(harmony_is_move(refused));
    if (!refusal_is_final(refused, type)) {
        return again;
    }
    /* A reservation whose claim failed is judged like a container that starts (design.md 5). */
    struct harmony h = table(container == WITH_RESERVED ? WITH_STARTING : container, record);
    return h.action == refused ? final : h;
}

struct harmony harmonise_refused(enum harmony_container container, enum harmony_record record,
                                 enum harmony_action refused, Models__Error__Type type)
{
    return judge_refused(harmonise, container, record, refused, type);
}

struct harmony harmonise_evacuating_refused(enum harmony_container container,
                                            enum harmony_record record,
                                            enum harmony_action refused, Models__Error__Type type)
{
    return judge_refused(harmonise_evacuating, container, record, refused, type);
}

enum harmony_record harmony_record_of(const Models__ActualLRP *record, const char *guid,
                                      const char *cell_id)
{
    if (!record) {
        return RECORD_IS_NONE;
    }
    const Models__ActualLRPInstanceKey *key = record->actual_lrp_instance_key;
    bool by_a = key && strcmp(key->instance_guid, guid) == 0 && strcmp(key->cell_id, cell_id) == 0;
    bool claimed = strcmp(record->state, "CLAIMED") == 0;
    bool running = strcmp(record->state, "RUNNING") == 0;
    if (by_a && record->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT) {
        return RECORD_IS_SUSPECT_BY_A;
    }
    if (by_a && (claimed || running) && record->stopping) {
        return RECORD_IS_STOPPING_BY_A;
    }
    if (by_a && record->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
        return RECORD_IS_EVACUATING_BY_A;
    }
    if (claimed) {
        return by_a ? RECORD_IS_CLAIMED_BY_A : RECORD_IS_CLAIMED_BY_O;
    }
    if (running) {
        return by_a ? RECORD_IS_RUNNING_ON_A : RECORD_IS_RUNNING_ON_O;
    }
    if (strcmp(record->state, "UNCLAIMED") == 0) {
        return RECORD_IS_UNCLAIMED;
    }
    return strcmp(record->state, "CRASHED") == 0 ? RECORD_IS_CRASHED : RECORD_IS_FOREIGN;
}

const char *harmony_action_name(enum harmony_action action)
{
    static const char *const names[HARMONY_ACTION_COUNT] = {
        [HARMONY_NOTHING] = "nothing", [HARMONY_GO_ON] = "go_on",   [HARMONY_KEEP] = "keep",
        [HARMONY_CLAIM] = "claim",     [HARMONY_START] = "start",
        [HARMONY_CRASH] = "crash",     [HARMONY_REMOVE] = "remove", [HARMONY_UNCLAIM] = "unclaim",
        [HARMONY_STOP] = "stop",       [HARMONY_DELETE] = "delete", [HARMONY_COMPLETE] = "complete",
        [HARMONY_REJECT] = "reject",
        [HARMONY_EVACUATE_CLAIMED] = "evacuate_claimed",
        [HARMONY_EVACUATE_CRASHED] = "evacuate_crashed",
        [HARMONY_EVACUATE_STOPPED] = "evacuate_stopped",
        [HARMONY_EVACUATE_RUNNING] = "evacuate_running",
        [HARMONY_REMOVE_EVACUATING] = "remove_evacuating",
    };
    assert(action < HARMONY_ACTION_COUNT);
    assert(names[action]);
    return names[action];
}

bool harmony_is_move(enum harmony_action action)
{
    return !harmony_is_rest(action) && action != HARMONY_STOP && action != HARMONY_DELETE;
}

bool harmony_is_rest(enum harmony_action action)
{
    return action == HARMONY_NOTHING || action == HARMONY_GO_ON || action == HARMONY_KEEP;
}

bool harmony_record_is_own(enum harmony_record record)
{
    return record == RECORD_IS_CLAIMED_BY_A || record == RECORD_IS_RUNNING_ON_A ||
           record == RECORD_IS_STOPPING_BY_A || record == RECORD_IS_SUSPECT_BY_A ||
           record == RECORD_IS_EVACUATING_BY_A;
}
