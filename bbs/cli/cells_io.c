#include "bbs/cli/cells.h"

#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"

#include <string.h>

static void json_line(const ProtobufCMessage *m, struct buf *out)
{
    if (json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, out, NULL) == 0) {
        buf_append_string(out, "\n");
    }
}

static int show(struct session *s, struct err *err)
{
    const Board__CellsStatus *cells;
    int r = session_cells(s, &cells, err);
    if (r < 0) {
        return r;
    }
    struct buf out;
    buf_init(&out);
    for (size_t i = 0; s->json && i < cells->n_cells; i++) {
        json_line(&cells->cells[i]->base, &out);
    }
    if (!s->json) {
        cells_table(&s->arena, cells, cli_wall_ns(), &out);
    }
    r = cli_print(buf_bytes(&out), err);
    buf_done(&out);
    return r;
}

static int say(struct session *s, bool keep, struct err *err)
{
    ProtobufCMessage *m;
    Board__BrakeRequest request = BOARD__BRAKE_REQUEST__INIT;
    request.keep = keep;
    request.confirm = !keep;
    int r = cli_client_call(s->client, &s->arena, "/v1/board/brake", &request.base,
                            &board__brake_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__BrakeRecord *brake = ((const Board__BrakeResponse *)m)->brake;
    struct buf out;
    buf_init(&out);
    if (s->json) {
        json_line(&brake->base, &out);
    } else {
        buf_printf(&out, "%s\n", brake_text(&s->arena, brake));
    }
    r = cli_print(buf_bytes(&out), err);
    buf_done(&out);
    return r;
}

int bbs_cells_run(const struct invocation *call, struct err *err)
{
    const char *word = call->argument_count ? call->arguments[0] : "";
    bool keep = strcmp(word, "keep") == 0;
    if (word[0] && !keep && strcmp(word, "confirm") != 0) {
        return err_set(err, ERR_INVALID, "bbs cells takes \"confirm\" or \"keep\", not \"%.40s\"",
                       word);
    }
    struct session s;
    int r = session_open(call, &s, err);
    if (r == 0) {
        r = word[0] ? say(&s, keep, err) : show(&s, err);
    }
    session_close(&s);
    return r;
}
