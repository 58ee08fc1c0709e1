/* state, containers and metrics: what a running rep is asked. */
#include "common/cli/cli_io.h"
#include "common/cli/question_io.h"
#include "common/codec/json.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/state_table.h"

const struct cli_option rep_url_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the rep's URL (bbs cells shows it)",
     .env = "REP_URL",
     .required = true},
    {0},
};

/* What is asked for, and how it is shown to people. */
struct face {
    const char *path;
    const ProtobufCMessageDescriptor *type;
    void (*table)(struct arena *a, const ProtobufCMessage *m, struct buf *out);
};

static int show(const struct invocation *call, const struct face *face, struct err *err)
{
    struct question q;
    struct bytes body;
    ProtobufCMessage *m = NULL;
    int r = question_open(call, &q, err);
    r = r < 0 ? r : cli_client_get(q.client, call->arena, face->path, &body, err);
    r = r < 0 ? r : json_decode(call->arena, face->type, body, CODEC_OWN, &m, err);
    if (r == 0 && q.json) {
        r = json_encode(m, CODEC_OWN | CODEC_SNAKE_CASE, &q.out, err);
        buf_append_string(&q.out, "\n");
    } else if (r == 0) {
        face->table(call->arena, m, &q.out);
    }
    return question_close(&q, r, err);
}

static void state_table(struct arena *a, const ProtobufCMessage *m, struct buf *out)
{
    rep_state_table(a, (const Cell__CellState *)m, out);
}

static void containers_table(struct arena *a, const ProtobufCMessage *m, struct buf *out)
{
    rep_containers_table(a, (const Cell__CellState *)m, cli_wall_ns(), out);
}

static void metrics_table(struct arena *a, const ProtobufCMessage *m, struct buf *out)
{
    rep_metrics_table(a, (const Cell__CellMetrics *)m, out);
}

int rep_state_run(const struct invocation *call, struct err *err)
{
    return show(call, &(struct face){"/state", &cell__cell_state__descriptor, state_table}, err);
}

int rep_containers_run(const struct invocation *call, struct err *err)
{
    return show(
        call,
        &(struct face){"/state?checks=1", &cell__cell_state__descriptor, containers_table}, err);
}

int rep_metrics_run(const struct invocation *call, struct err *err)
{
    return show(
        call, &(struct face){"/container_metrics", &cell__cell_metrics__descriptor, metrics_table},
        err);
}
