#include "test/unit/rep/drain/drain_rig.h"

#include "rep/drain/drain.h"
#include "test/tool/cmocka.h"

void drain_rig_term(struct rep_rig *g)
{
    drive_event(&g->d, (struct event){.kind = EVENT_STOP, .stop = STOP_IN_ORDER});
}

void drain_rig_send(struct rep_rig *g, bool admin, const char *unit)
{
    drive_event(&g->d, (struct event){.kind = EVENT_REQUEST,
                                      .request = {.id = ++g->request_id,
                                                  .method = "POST",
                                                  .path = "/evacuate",
                                                  .query = "",
                                                  .trace_id = "",
                                                  .accept = "",
                                                  .content_type = "",
                                                  .if_none_match = "",
                                                  .admin = admin,
                                                  .peer = {.unit = unit, .name = "admin"}}});
}

struct reply drain_rig_post(struct rep_rig *g, bool admin, const char *unit)
{
    drain_rig_send(g, admin, unit);
    return rep_rig_take_reply(g);
}

void drain_rig_answer(struct rep_rig *g, uint64_t id)
{
    drive_event(&g->d, (struct event){.kind = EVENT_RESPONSE,
                                      .response = {.id = id,
                                                   .outcome = CALL_ANSWERED,
                                                   .status = 200,
                                                   .content_type = "",
                                                   .etag = "",
                                                   .text = ""}});
}

void drain_rig_told(struct rep_rig *g)
{
    struct call c = rep_rig_take_call(g, "/v1/board/cell");
    Board__CellRequest *r = board__cell_request__unpack(NULL, c.body.size, c.body.data);
    assert_non_null(r);
    assert_true(r->cell->evacuating);
    int64_t left_ns = r->cell->evacuate_until - g->d.now.wall_ns;
    assert_in_range(left_ns, 1, EVACUATION_NS);
    assert_false(r->leave);
    board__cell_request__free_unpacked(r, NULL);
    drain_rig_answer(g, c.id);
}

void drain_rig_leaves(struct rep_rig *g)
{
    struct call c = rep_rig_take_call(g, "/v1/board/cell");
    Board__CellRequest *r = board__cell_request__unpack(NULL, c.body.size, c.body.data);
    assert_non_null(r);
    assert_true(r->leave);
    board__cell_request__free_unpacked(r, NULL);
    assert_false(g->exited);
    drain_rig_answer(g, c.id);
    assert_true(g->exited);
    assert_int_equal(g->exit_code, 0);
}

struct kept_evacuation drain_rig_kept(int64_t mono_s, int64_t wall_s, const char *boot,
                                      bool handed_on)
{
    struct drive d;
    drive_init(&d, NULL, NULL);
    struct kept_evacuation kept = {.on = true,
                                   .until_mono_ns = d.now.mono_ns + mono_s * SECOND_NS,
                                   .until_wall_ns = d.now.wall_ns + wall_s * SECOND_NS,
                                   .boot_id = boot,
                                   .handed_on = handed_on};
    drive_done(&d);
    return kept;
}
