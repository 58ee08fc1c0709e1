#include "bbs/cli/cells.h"

#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "common/cli/commands.h"
#include "common/codec/json.h"

static void json_line(const ProtobufCMessage *m, struct buf *out)
{
    if (json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
        buf_append_string(out, "\n");
    }
}

/* The cells, or the one of this id. */
static int show(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__CellsStatus *cells;
    int r = session_cells(s, &cells, err);
    const char *id = call->argument_count ? call->arguments[0] : NULL;
    r = r < 0 || !id ? r : name_cell(cells, id, cli_verb_near(call, id), err);
    if (r < 0) {
        return r;
    }
    cells = id ? cells_only(&s->arena, cells, id) : cells;
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < cells->n_cells; i++) {
        json_line(&cells->cells[i]->base, &out);
    }
    if (!s->json) {
        cells_table(&s->arena, cells, cli_wall_ns(), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int say(struct session *s, bool keep, struct err *err)
{
    ProtobufCMessage *m;
    Board__LimiterRequest request = BOARD__LIMITER_REQUEST__INIT;
    request.keep = keep;
    request.confirm = !keep;
    int r = cli_client_call(s->client, &s->arena, "/v1/board/limiter", &request.base,
                            &board__limiter_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__LimiterRecord *limiter = ((const Board__LimiterResponse *)m)->limiter;
    SCOPED_BUF(out);
    if (s->json) {
        json_line(&limiter->base, &out);
    } else {
        buf_printf(&out, "%s\n", limiter_text(&s->arena, limiter));
    }
    return cli_print(buf_bytes(&out), err);
}

static int confirm(struct session *s, const struct invocation *call, struct err *err)
{
    (void)call;
    return say(s, false, err);
}

static int keep(struct session *s, const struct invocation *call, struct err *err)
{
    (void)call;
    return say(s, true, err);
}

static SESSION_RUN(run_show, show)
static SESSION_RUN(run_confirm, confirm)
static SESSION_RUN(run_keep, keep)

/* ---- The table ---- */

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);

static const char cells_details[] =
    "NAME is a cell's id; one that is a verb stands after --: bbs cells -- keep.\n"
    "\n"
    "ROOTFS names the root filesystems that a cell has (rootfs: preloaded:NAME). URL is for rep\n"
    "state, containers and metrics; ADMIN URL is for rep evacuate, on the cell's own machine.\n"
    "\n"
    "A cell is PRESENT, or LOST when no bbs has heard of it for 6 s: then what ran there is "
    "started\n"
    "elsewhere. Many that fall silent at once are held for a minute first, LOST (held), for the\n"
    "network is then the likelier fault. Until then you may confirm or keep them.\n";

static const char confirm_details[] =
    "They become LOST, a few at a time, unless they are heard again.\n"
    "Exit status 3: no cell is held; 4: they were released already.\n";

static const char keep_details[] =
    "They are held until you confirm, or until they are back.\n"
    "Exit status 3: no cell is held; 4: they were released already.\n";

static const struct cli_command verbs[] = {
    {"", "[NAME]", "shows the cells, or one", cells_details, question, 0, 1, run_show},
    {"confirm", "", "gives up the cells that are held: they are lost", confirm_details, question, 0,
     0, run_confirm},
    {"keep", "", "waits for the cells that are held: they are not lost", keep_details, question, 0,
     0, run_keep},
    {0},
};

const struct cli_group bbs_cells_group = {"cells", "Cells:", verbs};
