/* Settings that operators change while everything runs (docs/operations.md, Settings). */
#include "test/sim/stories/story.h"

#include "setting.pb-c.h"

static int ask(struct cluster *c, const char *unit, const char *name, int64_t value)
{
    int status = -1;
    struct buf body;
    Board__SetSettingRequest request = BOARD__SET_SETTING_REQUEST__INIT;
    request.name = (char *)(uintptr_t)name;
    request.value = value;
    buf_init(&body);
    buf_message(&body, &request.base);
    world_note(c->world, unit, "sets %s to %lld", name, (long long)value);
    world_send_request(c->world, "https://bbs-1:8889",
                       &(struct world_request){.method = "POST",
                                               .path = "/v1/board/settings/set",
                                               .peer = {.unit = unit, .name = "olga"},
                                               .content_type = "application/x-protobuf",
                                               .accept = "application/x-protobuf",
                                               .trace_id = "",
                                               .body = buf_bytes(&body)},
                       SETTLE_NS, note_status, &status);
    buf_done(&body);
    while (status < 0) {
        world_step(c->world, world_now(c->world) + SECOND_NS);
    }
    return status;
}

void story_a_setting_shortens_a_wait(struct cluster *c)
{
    says(c, "web crashes until it waits for 30 s. An ordinary client may not change that.");
    assert_int_equal(cluster_desire(c, NULL, "web", 1), 0);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(c);
    }
    await(c, "web", "CRASHED", 1);
    assert_int_equal(ask(c, "client", "crash_first_wait", 2), 403);
    world_run(c->world, 4 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    says(c, "An operator sets the first wait to 2 s: web, which waits already, runs again at "
            "once.");
    assert_int_equal(ask(c, "operator", "crash_first_wait", 2), 200);
    world_run(c->world, SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "RUNNING"), 1);
    says(c, "It crashes again, and waits twice as long.");
    crash(c);
    world_run(c->world, 3 * SECOND_NS);
    assert_int_equal(cluster_count(c, "web", "CRASHED"), 1);
    await(c, "web", "RUNNING", 1);
}
