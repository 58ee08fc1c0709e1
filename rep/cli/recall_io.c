/* rep recall: has a unit ended that its board does not know. */
#include "common/cli/cli_io.h"
#include "common/cli/client_io.h"
#include "common/codec/json.h"
#include "rep/cli/commands_io.h"

#include "cell.pb-c.h"

#include <string.h>

enum { RECALL_MS = 30000 };

const struct cli_option rep_recall_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "the rep's admin URL, to be used on its own machine (bbs cells shows it)",
     .env = "REP_ADMIN_URL",
     .required = true},
    {0},
};

/* Of that guid, or the one of that name which is unknown: there may be a namesake. */
static const Cell__UnitHere *meant(const Cell__CellState *s, const char *name)
{
    const Cell__UnitHere *found = NULL;
    for (size_t i = 0; i < s->n_units; i++) {
        Cell__UnitHere *u = s->units[i];
        bool named = strcmp(u->unit, name) == 0;
        bool better = !found || strcmp(u->state, "unknown") == 0;
        found = strcmp(u->guid, name) == 0 || (named && better) ? u : found;
    }
    return found;
}

static int recall(struct cli_client *c, struct arena *a, const char *name, struct err *err)
{
    struct bytes body;
    ProtobufCMessage *m;
    int r = cli_client_get(c, a, "/state", &body, err);
    r = r < 0 ? r : json_decode(a, &cell__cell_state__descriptor, body, CODEC_OWN, &m, err);
    if (r < 0) {
        return r;
    }
    const Cell__UnitHere *u = meant((const Cell__CellState *)m, name);
    if (!u) {
        return err_set(err, ERR_NOT_FOUND, "there is no unit %.80s here: rep containers lists all",
                       name);
    }
    r = cli_client_post(c, a, arena_printf(a, "/v1/units/%s/recall", u->guid), &body, err);
    if (r == 0) {
        const char *text = arena_printf(a, "%s (%s) is ended\n", u->unit, u->guid);
        r = cli_print(bytes_of(text), err);
    }
    return r;
}

int rep_recall_run(const struct invocation *call, struct err *err)
{
    struct cli_client *c = NULL;
    int r = cli_client_open(call, cli_text(call, "url"), &c, err);
    if (r == 0) {
        cli_client_limit(c, RECALL_MS);
        r = recall(c, call->arena, call->arguments[0], err);
    }
    cli_client_close(c);
    return r;
}
