/* What needs a secret is made only when a bbs has opened it for this cell (docs/systems.md,
 * Secrets): a DesiredLRP, which every rep fetches, and a task, which is fetched for that alone. */
#include "common/model/sealed_values.h"
#include "models/task_requests.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

#define VALUE "geheim"
#define TASK_PATH "/v1/tasks/get_by_task_guid.r3"

/* Sealed as it stands on the board, or opened. */
static void give_variable(struct rep_rig *g, Models__RunAction *run, bool opened)
{
    Models__EnvironmentVariable *v =
        arena_message(&g->arena, &models__environment_variable__descriptor);
    v->name = (char *)"KEY";
    if (opened) {
        v->value = (char *)VALUE;
    } else {
        v->sealed = arena_message(&g->arena, &models__sealed__descriptor);
        v->sealed->key = 1;
        v->sealed->name = (char *)"/api:key";
    }
    run->env = arena_copy(&g->arena, &v, sizeof(v));
    run->n_env = 1;
}

static const char *key_of(const struct container_spec *spec)
{
    for (size_t i = 0; i < spec->env_count; i++) {
        if (strcmp(spec->env[i].name, "KEY") == 0) {
            return spec->env[i].value;
        }
    }
    return NULL;
}

/* ---- A DesiredLRP ---------------------------------------------------------------------------- */

static Models__DesiredLRP *web(struct rep_rig *g, bool opened)
{
    Models__DesiredLRP *lrp = rep_rig_desired(g, "web", NULL, 0);
    give_variable(g, lrp->action->run_action, opened);
    return lrp;
}

static void begin(struct rep_rig *g)
{
    rep_rig_open(g, NULL, 0);
    assert_int_equal(rep_rig_work(g, "web", 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    const Models__ActualLRP *claimed = rep_rig_record(g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(g, claim, claimed);
    rep_rig_feed_put(g, claimed);
}

static void an_instance_waits_for_its_secrets(void **state)
{
    SCOPED_REP_RIG(g);
    begin(&g);
    for (int i = 0; i < 3; i++) {
        rep_rig_answer_desired(&g, web(&g, false));
        assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
        for (int s = 0; s < 120 && rep_rig_calls(&g, "get_by_process_guid") == 0; s++) {
            rep_rig_advance(&g, 1000);
        }
    }
    assert_int_equal(rep_rig_said(&g, "its secrets are not opened for this cell yet"), 3);
    rep_rig_answer_desired(&g, web(&g, true));
    assert_string_equal(key_of(rep_rig_take_verb(&g, VERB_PREPARE).spec), VALUE);
    assert_int_equal(rep_rig_said(&g, VALUE), 0);
}

/* ---- A task ---------------------------------------------------------------------------------- */

static Models__Task *task(struct rep_rig *g, const char *attempt, bool opened)
{
    Models__Task *t =
        rep_rig_task(g, "t-1", MODELS__TASK__STATE__Running, RIG_CELL, attempt);
    give_variable(g, t->task_definition->action->run_action, opened);
    return t;
}

static const char *granted(struct rep_rig *g)
{
    rep_rig_open(g, NULL, 0);
    assert_true(rep_rig_task_work(g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(g, "start");
    const char *attempt = start.move->task->attempt;
    rep_rig_task_answer(g, start, MODELS__ERROR__TYPE__UnknownError, task(g, attempt, false));
    rep_rig_task_put(g, task(g, attempt, false));
    return attempt;
}

/* `t` NULL: there is none, an error. */
static void answer_task(struct rep_rig *g, Models__Task *t)
{
    Models__TaskResponse answer = MODELS__TASK_RESPONSE__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    error.message = (char *)"this bbs has no keys";
    answer.task = t;
    answer.error = t ? NULL : &error;
    drive_answer(&g->d, rep_rig_take_call(g, TASK_PATH).id, &answer.base);
}

static void until_it_asks_again(struct rep_rig *g)
{
    assert_int_equal(rep_rig_verbs(g, VERB_PREPARE), 0);
    for (int s = 0; s < 120 && rep_rig_calls(g, TASK_PATH) == 0; s++) {
        rep_rig_advance(g, 1000);
    }
}

static void a_task_is_made_when_its_secrets_are_opened(void **state)
{
    SCOPED_REP_RIG(g);
    const char *attempt = granted(&g);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    answer_task(&g, NULL);
    assert_int_equal(rep_rig_said(&g, "this bbs has no keys"), 1);
    until_it_asks_again(&g);
    answer_task(&g, task(&g, attempt, false));
    until_it_asks_again(&g);
    answer_task(&g, task(&g, "another", true)); /* another attempt's is not its own */
    until_it_asks_again(&g);
    answer_task(&g, task(&g, attempt, true));
    struct verb_call prepare = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_string_equal(key_of(prepare.spec), VALUE);
    rep_rig_verb(&g, prepare, VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    assert_int_equal(rep_rig_said(&g, VALUE), 0);
    assert_int_equal(rep_rig_calls(&g, TASK_PATH), 0);
}

/* The board takes the task back while its definition is on its way. */
static void what_was_cancelled_meanwhile_is_not_made(void **state)
{
    SCOPED_REP_RIG(g);
    const char *attempt = granted(&g);
    rep_rig_task_delete(&g, task(&g, attempt, false));
    answer_task(&g, task(&g, attempt, true));
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    assert_int_equal(rep_rig_calls(&g, TASK_PATH), 0);
}

static void a_task_without_secrets_is_not_fetched(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    rep_rig_task_answer(&g, start, MODELS__ERROR__TYPE__UnknownError,
                        rep_rig_task(&g, "t-1", MODELS__TASK__STATE__Running, RIG_CELL,
                                     start.move->task->attempt));
    assert_int_equal(rep_rig_calls(&g, TASK_PATH), 0);
    rep_rig_take_verb(&g, VERB_PREPARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instance_waits_for_its_secrets),
        cmocka_unit_test(a_task_is_made_when_its_secrets_are_opened),
        cmocka_unit_test(what_was_cancelled_meanwhile_is_not_made),
        cmocka_unit_test(a_task_without_secrets_is_not_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
