/* Trees: their numbers, what is refused, their bounds, and what a note may hold. */
#include "common/base/bytes.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/steps/steps_text.h"

#include <string.h>

static void steps_are_numbered_depth_first(void **state)
{
    static const struct {
        Rep__Step__Kind kind;
        uint32_t end;
        const char *source;
    } want[] = {
        {REP__STEP__KIND__WHOLE, 9, "APP"},       {REP__STEP__KIND__RUN, 2, "APP"},
        {REP__STEP__KIND__SERIAL, 8, "APP"},      {REP__STEP__KIND__TRY, 5, "APP"},
        {REP__STEP__KIND__RUN, 5, "WEB"},         {REP__STEP__KIND__TIMEOUT, 8, "APP"},
        {REP__STEP__KIND__EMIT_PROGRESS, 8, "SAY"}, {REP__STEP__KIND__RUN, 8, "APP"},
        {REP__STEP__KIND__RUN, 9, "SIDE"},
    };
    SCOPED_ARENA(a);
    struct tree_parts parts =
        steps_text_parts(&a, "setup: run + serial(try(run:WEB) timeout:50(say(run))) + run:SIDE");
    const struct tree_leaf *leaves;
    struct action_tree tree;
    assert_int_equal(tree_make(&a, &parts, &tree, &leaves, NULL), 0);
    assert_int_equal(tree.count, sizeof(want) / sizeof(want[0]));
    for (uint32_t i = 0; i < tree.count; i++) {
        assert_int_equal(tree.steps[i]->kind, want[i].kind);
        assert_int_equal(tree.steps[i]->end, want[i].end);
        assert_string_equal(tree.steps[i]->source, want[i].source);
        assert_int_equal(tree_is_leaf(&tree, i), leaves[i].run != NULL);
    }
    assert_true(tree.steps[0]->setup);
    assert_int_equal(tree.steps[5]->timeout_ms, 50);
    assert_string_equal(tree.steps[6]->start_message, "begins");
    assert_ptr_equal(leaves[1].run, parts.setup->run_action);
    assert_ptr_equal(leaves[8].run, parts.sidecars[0]->action->run_action);
    parts.log_guid = "";
    assert_int_equal(tree_make(&a, &parts, &tree, &leaves, NULL), 0);
    assert_string_equal(tree.steps[4]->source, "LOG"); /* without a log_guid nobody is the source */
}

static void one_program_needs_no_tree(void **state)
{
    SCOPED_ARENA(a);
    struct tree_parts parts = steps_text_parts(&a, "run");
    assert_false(tree_is_needed(&parts));
    static const char *const others[] = {"try(run)", "serial(run)", "run + run",
                                         "setup: run + run"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        parts = steps_text_parts(&a, others[i]);
        assert_true(tree_is_needed(&parts));
    }
}

static void refused(const struct tree_parts *parts, enum err_code code, const char *text)
{
    SCOPED_ARENA(a);
    const struct tree_leaf *leaves;
    struct action_tree tree;
    struct err err;
    assert_int_equal(tree_make(&a, parts, &tree, &leaves, &err), -(int)code);
    assert_string_equal(err.text, text);
}

static void a_missing_action_is_named(void **state)
{
    SCOPED_ARENA(a);
    struct tree_parts parts = steps_text_parts(&a, "serial(run run)");
    parts.action->serial_action->actions[1] = NULL;
    refused(&parts, ERR_INVALID, "the definition has no action");
    parts.action->serial_action->n_actions = 0;
    refused(&parts, ERR_INVALID, "the definition has no action");
    parts.action = NULL;
    refused(&parts, ERR_INVALID, "the definition has no action");
}

static void transfers_are_leaves(void **state)
{
    SCOPED_ARENA(a);
    struct tree_parts parts =
        steps_text_parts(&a, "with: get:A get:B + setup: get:C + serial(run put:D)");
    const struct tree_leaf *leaves;
    struct action_tree tree;
    assert_int_equal(tree_make(&a, &parts, &tree, &leaves, NULL), 0);
    assert_int_equal(tree.count, 8);
    assert_true(tree.steps[0]->dependencies && tree.steps[0]->setup);
    assert_int_equal(tree.steps[1]->kind, REP__STEP__KIND__PARALLEL);
    assert_int_equal(tree_first_inside(&tree), 4);
    assert_int_equal(tree_action(&tree), 5);
    assert_string_equal(tree.steps[3]->artifact, "B");
    assert_ptr_equal(leaves[3].dependency, parts.dependencies[1]);
    assert_ptr_equal(leaves[4].download, parts.setup->download_action);
    assert_string_equal(tree.steps[7]->artifact, "D");
    assert_ptr_equal(leaves[7].upload,
                     parts.action->serial_action->actions[1]->upload_action);
    for (uint32_t i = 0; i < tree.count; i++) {
        bool transfer = i == 2 || i == 3 || i == 4 || i == 7;
        assert_int_equal(tree_is_transfer(&tree, i), transfer);
        assert_int_equal(tree_is_leaf(&tree, i), transfer || i == 6);
    }
}

/* As older clients see them, so the cell does them. */
static void image_layers_are_dependencies_and_downloads(void **state)
{
    SCOPED_ARENA(a);
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    Models__TaskDefinition task = MODELS__TASK_DEFINITION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__ImageLayer shared = MODELS__IMAGE_LAYER__INIT, own = MODELS__IMAGE_LAYER__INIT;
    Models__ImageLayer *layers[] = {&own, &shared};
    action.run_action = &run;
    shared.layer_type = MODELS__IMAGE_LAYER__TYPE__SHARED;
    own.layer_type = MODELS__IMAGE_LAYER__TYPE__EXCLUSIVE;
    lrp.action = task.action = &action;
    lrp.image_layers = task.image_layers = layers;
    lrp.n_image_layers = task.n_image_layers = 2;
    struct tree_parts parts = tree_parts_of(&a, &lrp);
    assert_int_equal(parts.dependency_count, 1);
    assert_non_null(parts.setup->parallel_action->actions[0]->download_action);
    assert_ptr_equal(parts.action, &action);
    parts = tree_parts_of_task(&a, &task);
    assert_int_equal(parts.dependency_count, 1);
    assert_null(parts.setup);
    assert_ptr_equal(parts.action->serial_action->actions[1], &action);
    assert_int_equal(lrp.n_image_layers, 2); /* the definitions stay as they are */
    assert_ptr_equal(task.action, &action);
    assert_true(tree_is_needed(&parts));
}

/* "serial(run run ...)" of so many runs. */
static struct tree_parts many(struct arena *a, const char *group, size_t count)
{
    SCOPED_BUF(text);
    buf_printf(&text, "%s(", group);
    for (size_t i = 0; i < count; i++) {
        buf_append_string(&text, "run ");
    }
    buf_append_string(&text, ")");
    return steps_text_parts(a, buf_string(&text));
}

static void the_bounds_are_named(void **state)
{
    SCOPED_ARENA(a);
    const struct tree_leaf *leaves;
    struct action_tree tree;
    struct tree_parts parts = many(&a, "serial", STEPS_MAX - 2);
    assert_int_equal(tree_make(&a, &parts, &tree, &leaves, NULL), 0);
    assert_int_equal(tree.count, STEPS_MAX);
    parts = many(&a, "serial", STEPS_MAX - 1);
    refused(&parts, ERR_TOO_LARGE, "the definition has more than 1000 steps");
    parts = many(&a, "parallel", STEPS_AT_ONCE_MAX);
    assert_int_equal(tree_make(&a, &parts, &tree, &leaves, NULL), 0);
    parts = many(&a, "codependent", STEPS_AT_ONCE_MAX + 1);
    refused(&parts, ERR_TOO_LARGE, "the definition has more than 100 steps at work at once");
    parts = many(&a, "parallel", STEPS_AT_ONCE_MAX);
    parts.setup = parts.action; /* the one after the other */
    assert_int_equal(tree_make(&a, &parts, &tree, &leaves, NULL), 0);
    parts.setup = NULL;
    Models__Sidecar sidecar = MODELS__SIDECAR__INIT;
    const Models__Sidecar *sidecars[] = {&sidecar};
    sidecar.action = (Models__Action *)(uintptr_t)parts.action;
    parts.sidecars = sidecars;
    parts.sidecar_count = 1;
    refused(&parts, ERR_TOO_LARGE, "the definition has more than 100 steps at work at once");
    parts = steps_text_parts(&a, "serial(say(run) run)");
    char *message = arena_alloc(&a, STEPS_TEXT_MAX + 1);
    memset(message, 'x', STEPS_TEXT_MAX);
    parts.action->serial_action->actions[0]->emit_progress_action->start_message = message;
    refused(&parts, ERR_TOO_LARGE, "the messages of its steps have more than 262144 bytes");
}

/* Whatever a disk makes of a tree is either one or refused. */
static void a_bent_tree_is_none(void **state)
{
    SCOPED_ARENA(a);
    struct action_tree tree = steps_text_tree(&a, "setup: run + serial(run try(run)) + run");
    assert_int_equal(tree_check(tree.steps, tree.count, NULL), 0);
    assert_int_equal(tree_check(NULL, 0, NULL), 0);
    for (uint32_t i = 0; i < tree.count; i++) {
        Rep__Step *step = tree.steps[i], was = *step;
        for (uint32_t end = 0; end <= tree.count + 1; end++) {
            step->end = end; /* a group may take in what stood beside it, and be a tree */
            bool leaf = tree_is_leaf(&tree, i);
            bool is_tree = tree_check(tree.steps, tree.count, NULL) == 0;
            assert_true(end == was.end ? is_tree : !is_tree || (!leaf && end > i + 1));
        }
        step->end = was.end;
        step->kind = (Rep__Step__Kind)99;
        assert_int_equal(tree_check(tree.steps, tree.count, NULL), -ERR_INVALID);
        step->kind = i == 0 ? REP__STEP__KIND__SERIAL : REP__STEP__KIND__WHOLE;
        assert_int_equal(tree_check(tree.steps, tree.count, NULL), -ERR_INVALID);
        *step = was;
    }
    assert_int_equal(tree_check(tree.steps, 1, NULL), -ERR_INVALID);
    struct action_tree alone = steps_text_tree(&a, "try(run)");
    alone.steps[0]->setup = true; /* and no action */
    assert_int_equal(tree_check(alone.steps, alone.count, NULL), -ERR_INVALID);
    alone = steps_text_tree(&a, "timeout:5(run)");
    alone.steps[1]->timeout_ms = -1;
    assert_int_equal(tree_check(alone.steps, alone.count, NULL), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_numbered_depth_first),
        cmocka_unit_test(one_program_needs_no_tree),
        cmocka_unit_test(a_missing_action_is_named),
        cmocka_unit_test(transfers_are_leaves),
        cmocka_unit_test(image_layers_are_dependencies_and_downloads),
        cmocka_unit_test(the_bounds_are_named),
        cmocka_unit_test(a_bent_tree_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
