/* Validation of actions (behaviour.md 9), of each kind. */
#include "test/decide/validate_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

static const char *action_text(struct arena *a, const Models__Action *action)
{
    struct validation v = {0};
    valid_action(&v, action);
    return said(a, &v);
}

static void actions(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    Models__Action *action = NEW(a, Models__Action, models__action), *empty = action;
    assert_string_equal(action_text(a, action), FIELD("inner-action"));
    assert_string_equal(action_text(a, run_action(a)), "");

    Models__Action download = MODELS__ACTION__INIT;
    download.download_action = NEW(a, Models__DownloadAction, models__download_action);
    assert_string_equal(action_text(a, &download),
                        FIELD("from") ", " FIELD("to") ", " FIELD("user"));
    download.download_action->from = TEXT("https://x");
    download.download_action->to = TEXT("/x");
    download.download_action->user = TEXT("u");
    assert_string_equal(action_text(a, &download), "");
    download.download_action->checksum_value = TEXT("abc");
    assert_string_equal(action_text(a, &download), FIELD("checksum algorithm"));
    download.download_action->checksum_algorithm = TEXT("SHA256");
    assert_string_equal(action_text(a, &download), "");
    download.download_action->checksum_algorithm = TEXT("crc");
    assert_string_equal(action_text(a, &download), FIELD("invalid algorithm"));
    download.download_action->checksum_algorithm = TEXT("md5");
    download.download_action->checksum_value = TEXT("");
    assert_string_equal(action_text(a, &download), FIELD("checksum value"));
    download.download_action->checksum_algorithm = TEXT("crc");
    assert_string_equal(action_text(a, &download), FIELD("checksum value"));

    Models__Action upload = MODELS__ACTION__INIT;
    upload.upload_action = NEW(a, Models__UploadAction, models__upload_action);
    assert_string_equal(action_text(a, &upload),
                        FIELD("to") ", " FIELD("from") ", " FIELD("user"));

    Models__Action timeout = MODELS__ACTION__INIT;
    timeout.timeout_action = NEW(a, Models__TimeoutAction, models__timeout_action);
    assert_string_equal(action_text(a, &timeout), FIELD("action") ", " FIELD("timeout_ms"));
    timeout.timeout_action->action = empty;
    timeout.timeout_action->timeout_ms = 1;
    assert_string_equal(action_text(a, &timeout), FIELD("inner-action"));
    timeout.timeout_action->action = run_action(a);
    assert_string_equal(action_text(a, &timeout), "");

    Models__Action try = MODELS__ACTION__INIT, emit = MODELS__ACTION__INIT;
    try.try_action = NEW(a, Models__TryAction, models__try_action);
    emit.emit_progress_action = NEW(a, Models__EmitProgressAction, models__emit_progress_action);
    assert_string_equal(action_text(a, &try), FIELD("action"));
    assert_string_equal(action_text(a, &emit), FIELD("action"));

    Models__Action parallel = MODELS__ACTION__INIT, serial = MODELS__ACTION__INIT,
                   codependent = MODELS__ACTION__INIT;
    parallel.parallel_action = NEW(a, Models__ParallelAction, models__parallel_action);
    serial.serial_action = NEW(a, Models__SerialAction, models__serial_action);
    codependent.codependent_action = NEW(a, Models__CodependentAction, models__codependent_action);
    assert_string_equal(action_text(a, &parallel), FIELD("actions"));
    assert_string_equal(action_text(a, &serial), FIELD("actions"));
    assert_string_equal(action_text(a, &codependent), FIELD("actions"));
    Models__Action *two[] = {empty, &try};
    serial.serial_action->actions = two;
    serial.serial_action->n_actions = 2;
    assert_string_equal(action_text(a, &serial), FIELD("inner-action") ", " FIELD("action"));

    /* The first member counts. */
    run_action(a);
    Models__Action both = *run_action(a);
    both.codependent_action = codependent.codependent_action;
    assert_string_equal(action_text(a, &both), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(actions),
    };
    return cmocka_run_group_tests_name("validate action", tests, NULL, NULL);
}
