#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/codec/json.h"
#include "rep/cli/commands_io.h"
#include "rep/cli/state_table.h"

#include <string.h>

const struct cli_option rep_url_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the rep's URL (bbs cells shows it)",
     .env = "REP_URL",
     .required = true},
    {.name = "timeout", .value = "TIME", .help = "how long to try", .fallback = "10s"},
    {.name = "output",
     .value = "table|json",
     .help = "for people or for programs",
     .fallback = "table"},
    {0},
};

/* What is asked for, and how it is shown to people. */
struct face {
    const char *path;
    const ProtobufCMessageDescriptor *type;
    void (*table)(struct arena *a, const ProtobufCMessage *m, struct buf *out);
};

static int get(const struct invocation *call, const char *path, struct bytes *ret_body,
               struct err *err)
{
    struct cli_client *c = NULL;
    int64_t limit_ms = 0;
    int r = cli_duration_ms(call, "timeout", &limit_ms, err);
    r = r < 0 ? r : cli_client_open(call, cli_text(call, "url"), &c, err);
    if (r == 0) {
        cli_client_limit(c, limit_ms);
        r = cli_client_get(c, call->arena, path, ret_body, err);
    }
    cli_client_close(c);
    return r;
}

static int show(const struct invocation *call, const struct face *face, struct err *err)
{
    struct bytes body;
    const char *output = "table";
    int r = cli_choice(call, "output", &output, err);
    r = r < 0 ? r : get(call, face->path, &body, err);
    ProtobufCMessage *m = NULL;
    r = r < 0 ? r : json_decode(call->arena, face->type, body, CODEC_OWN, &m, err);
    if (r < 0) {
        return r;
    }
    struct buf out;
    buf_init(&out);
    if (strcmp(output, "json") == 0) {
        r = json_encode(m, CODEC_OWN, &out, err);
        buf_append_string(&out, "\n");
    } else {
        face->table(call->arena, m, &out);
    }
    r = r < 0 ? r : cli_print(buf_bytes(&out), err);
    buf_done(&out);
    return r;
}

static void state_table(struct arena *a, const ProtobufCMessage *m, struct buf *out)
{
    rep_state_table(a, (const Cell__CellState *)m, out);
}

static void containers_table(struct arena *a, const ProtobufCMessage *m, struct buf *out)
{
    rep_containers_table(a, (const Cell__CellState *)m, out);
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
    return show(call, &(struct face){"/state", &cell__cell_state__descriptor, containers_table},
                err);
}

int rep_metrics_run(const struct invocation *call, struct err *err)
{
    return show(call,
                &(struct face){"/container_metrics", &cell__cell_metrics__descriptor,
                               metrics_table},
                err);
}
